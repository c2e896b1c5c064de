use baton_core::names::StepId;
use baton_core::run::{Ended, HandoffState, Party, State};

use super::*;

const SECOND: i64 = 1_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(1_750_000_000_000 + ms).unwrap()
}

fn party(agent: &str, step: &str) -> Party {
    let place = match step {
        "orchestrator" => Place::Orchestrator,
        "human" => Place::Human,
        step => Place::Step(StepId::parse(step).unwrap()),
    };
    Party { agent: AgentId::parse(agent).unwrap(), place }
}

fn fact(number: u64, run_number: u64, to: Party, state: HandoffState) -> HandoffFact {
    let start = i64::try_from(number).unwrap() * 100 * SECOND;
    let has_ended = !state.is_open();
    HandoffFact {
        number,
        run_number,
        no: HandoffNo(u32::try_from(number).unwrap()),
        score: None,
        workflow: WorkflowName::parse("story-pipeline").unwrap(),
        kind: Kind::Sequential,
        from: party("implementer", "implement"),
        to,
        state,
        n_warnings: 0,
        created_at: at(start),
        accepted_at: Some(at(start + 2 * SECOND)),
        ended_at: has_ended.then(|| at(start + 10 * SECOND)),
    }
}

const COMPLETED: HandoffState = HandoffState::Ended(Ended::Completed);
const REJECTED: HandoffState = HandoffState::Ended(Ended::Rejected);

/// Run 1 is sent back once and passes; run 2 passes; run 3 fails its checks, run 4 waits for a
/// person.
fn tale() -> Vec<HandoffFact> {
    let review = || party("reviewer", "review");
    let mut facts = vec![
        fact(1, 1, review(), REJECTED),
        fact(2, 2, review(), COMPLETED),
        fact(3, 1, review(), COMPLETED),
        fact(4, 3, party("orchestrator", "orchestrator"), REJECTED),
        fact(5, 4, party("human", "human"), HandoffState::Open(State::Pending)),
    ];
    facts[1].n_warnings = 2;
    facts[4].kind = Kind::Escalation;
    facts[4].accepted_at = None;
    facts.reverse();
    facts
}

#[test]
fn speed_is_the_receivers_and_quality_the_senders() {
    let insights =
        figures(&tale(), &UsedFor::new(), &GateRejects::new(), (at(0), at(600 * SECOND)));
    let of = |agent: &str| {
        let found = insights.agents.iter().find(|(it, _)| it.as_str() == agent);
        found.map(|(_, group)| group.clone()).unwrap()
    };
    let reviewer = of("reviewer");
    assert_eq!((reviewer.n_handoffs, reviewer.n_completed, reviewer.n_rejected), (3, 2, 0));
    assert_eq!(reviewer.to_accept.p50_ms, Some(2000));
    assert_eq!(reviewer.to_complete.p95_ms, Some(8000));
    assert_eq!(reviewer.first_pass_yield(), None, "it has sent nothing");
    let implementer = of("implementer");
    assert_eq!((implementer.n_handoffs, implementer.n_rejected), (0, 2));
    assert_eq!((implementer.n_first, implementer.n_first_passed), (3, 1));
    assert_eq!(implementer.n_with_warnings, 1);
    let rejected = RejectCounts { by_agent: 1, by_checks: 1, by_person: 0 };
    assert_eq!(implementer.rejected, rejected);
    // Who asks waits, and not the person.
    assert_eq!((implementer.n_escalations, implementer.waited_for_people_ms), (1, 100_000));
    let human = of("human");
    assert_eq!((human.n_handoffs, human.n_escalations, human.waited_for_people_ms), (1, 0, 0));
    let workflow = &insights.workflows[0].1;
    assert_eq!((workflow.n_escalations, workflow.waited_for_people_ms), (1, 100_000));
}

#[test]
fn an_edge_counts_the_first_handoff_of_each_run_once() {
    let insights =
        figures(&tale(), &UsedFor::new(), &GateRejects::new(), (at(0), at(600 * SECOND)));
    let edge = insights.edges.iter().find(|(it, _)| it.to == "review").unwrap();
    assert_eq!((edge.1.n_handoffs, edge.1.n_first, edge.1.n_first_passed), (3, 2, 1));
    assert_eq!(edge.1.first_pass_yield(), Some(0.5));
    assert_eq!(insights.workflows.len(), 1);
    assert_eq!(insights.workflows[0].1.n_handoffs, 5);
    let weeks: Vec<String> = insights.weeks.iter().map(|(it, _)| it.to_string()).collect();
    assert_eq!(weeks, ["2025-06-09"], "a Monday");
}

#[test]
fn completeness_is_the_senders_and_cost_the_receivers() {
    let mut facts = tale();
    for (fact, score) in facts.iter_mut().zip([90, 70]) {
        fact.score = Some(score);
    }
    let usage = |tokens, micro_usd| Usage { input_tokens: tokens, micro_usd, ..Usage::default() };
    // The third handoff of run 1 and the second of run 2 were the reviewer's.
    let used = UsedFor::from([
        ((1, HandoffNo(3)), usage(1000, Some(250_000))),
        ((2, HandoffNo(2)), usage(500, None)),
    ]);
    let found = figures(&facts, &used, &GateRejects::new(), (at(0), at(1_000_000)));
    let of = |id: &str| &found.agents.iter().find(|(it, _)| it.as_str() == id).unwrap().1;
    assert_eq!(of("implementer").mean_score(), Some(80.0));
    assert_eq!(of("implementer").n_measured, 0);
    let reviewer = of("reviewer");
    assert_eq!((reviewer.mean_score(), reviewer.n_measured), (None, 2));
    assert_eq!((reviewer.used.input_tokens, reviewer.used.micro_usd), (1500, Some(250_000)));
    let workflow = &found.workflows[0].1;
    assert_eq!((workflow.mean_score(), workflow.used.input_tokens), (Some(80.0), 1500));
    assert_eq!(found.edges.iter().map(|it| it.1.used.input_tokens).sum::<u64>(), 1500);
    assert_eq!(found.weeks.iter().map(|it| it.1.n_measured).sum::<u64>(), 2);
}

/// The gate stands between the implementer's work and the review.
#[test]
fn what_a_person_rejects_at_a_gate_counts_for_the_agent_and_the_edge_of_the_work() {
    let mut gate = fact(1, 1, party("human", "human"), COMPLETED);
    gate.kind = Kind::Escalation;
    let review = || party("reviewer", "review");
    let mut facts = vec![gate, fact(2, 1, review(), COMPLETED), fact(3, 2, review(), COMPLETED)];
    facts.reverse();
    let edge = InsightEdge {
        workflow: WorkflowName::parse("story-pipeline").unwrap(),
        from: "implement".to_owned(),
        to: "review".to_owned(),
    };
    let reject = gate_rejects::GateReject {
        agent: AgentId::parse("implementer").unwrap(),
        edge: edge.clone(),
        text: "more tests".to_owned(),
        at: at(5),
    };
    let at_gates = GateRejects::from([(1, reject)]);
    let insights = figures(&facts, &UsedFor::new(), &at_gates, (at(0), at(600 * SECOND)));
    let by_person = RejectCounts { by_person: 1, ..RejectCounts::default() };
    let is_it = |it: &&(AgentId, InsightGroup)| it.0.as_str() == "implementer";
    let of_agent = &insights.agents.iter().find(is_it).unwrap().1;
    let of_edge = &insights.edges.iter().find(|it| it.0 == edge).unwrap().1;
    for group in [of_agent, of_edge, &insights.workflows[0].1, &insights.weeks[0].1] {
        assert_eq!((group.n_first, group.n_first_passed, group.n_rejected), (2, 1, 1));
        assert_eq!(group.rejected, by_person);
    }
}

#[test]
fn what_baton_takes_back_in_no_time_is_no_span() {
    let mut own = fact(1, 1, party("orchestrator", "orchestrator"), COMPLETED);
    own.accepted_at = own.ended_at;
    let facts = [own, fact(2, 1, party("reviewer", "review"), COMPLETED)];
    let insights = figures(&facts, &UsedFor::new(), &GateRejects::new(), (at(0), at(600 * SECOND)));
    assert_eq!(insights.workflows[0].1.to_accept.p50_ms, Some(2000));
}
