//! Budgets of runs, steps and agents: used up, they stop the work, and a person decides.

use uuid::Uuid;

use super::fixture::*;
use super::scenarios::at_review;
use super::{AgentBudget, BudgetedWork, First, RunStart};
use crate::budget::{Budget, BudgetOwner, BudgetUnit, Usage};
use crate::command::{Command, RecordUsage};
use crate::event::replay;
use crate::gate::{Answer, GateCause};
use crate::names::{ExecutorName, StepId};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{HandoffNo, RunId, RunStatus};
use crate::workflow::Target;

fn used(tester: &Tester, no: u32, tokens: u64) -> Command {
    let handoff = tester.run.handoff(HandoffNo(no)).unwrap();
    Command::RecordUsage(RecordUsage {
        handoff: handoff.no,
        fence: handoff.fence,
        agent: handoff.to.agent.clone(),
        place: handoff.to.place.clone(),
        from: handoff.from.place.clone(),
        executor: Some(ExecutorName::parse("claude").unwrap()),
        usage: Usage { input_tokens: tokens, work_ms: 1000, ..Usage::default() },
    })
}

fn budget(text: &str) -> Budget {
    Budget::parse(text).unwrap()
}

#[track_caller]
fn stopped_by(tester: &Tester) -> String {
    let (_, gate) = tester.run.gate().expect("a person is asked");
    assert_eq!(gate.cause, GateCause::Budget);
    gate.sentence()
}

#[test]
fn a_run_beyond_its_budget_does_not_go_on_to_the_next_step() {
    let mut tester = at_review();
    tester.workflow.limits.budget = budget("1000tokens");
    let no = tester.run.n_handoffs;
    let usage = used(&tester, no, 999);
    tester.does(&usage);
    tester.hands("reviewer", "refactorer", nothing());
    assert!(tester.run.gate().is_none(), "999 of 1000 tokens");
    let no = tester.run.n_handoffs;
    tester.accepts(no);
    let usage = used(&tester, no, 1);
    tester.does(&usage);
    tester.hands("refactorer", "documenter", nothing());
    assert_eq!(stopped_by(&tester), "The run has used 1000 tokens; its budget is 1000 tokens");
    let (_, gate) = tester.run.gate().unwrap();
    assert_eq!(gate.choices(), ["continue", "accept", "hand_to", "abort"]);
    let no = tester.run.n_handoffs;
    tester.answers(no, Answer::Continue);
    let held = tester.run.current().unwrap();
    assert_eq!(held.to.agent.as_str(), "documenter");
    let no = tester.run.n_handoffs;
    tester.accepts(no);
    let usage = used(&tester, no, 5000);
    tester.does(&usage);
    tester.hands("documenter", "orchestrator", nothing());
    assert_eq!(tester.run.status, RunStatus::Completed, "the end is not held up");
}

#[test]
fn an_agent_that_was_stopped_at_its_budget_is_not_tried_again_until_a_person_says_so() {
    for (owner, text) in [
        (BudgetOwner::Run, "The run has used 30 tokens; its budget is 20 tokens"),
        (
            BudgetOwner::Step(StepId::parse("analyze").unwrap()),
            "The step `analyze` has used 30 tokens; its budget is 20 tokens",
        ),
        (
            BudgetOwner::Agent(agent("analyst")),
            "`analyst` has used 30 tokens; its budget is 20 tokens",
        ),
    ] {
        let mut tester = Tester::started();
        let most = budget("20tokens");
        match &owner {
            BudgetOwner::Run => tester.workflow.limits.budget = most,
            BudgetOwner::Step(_) => tester.workflow.steps[0].limits.budget = most,
            BudgetOwner::Edge { .. } => unreachable!("no edge leads to the first step"),
            BudgetOwner::Agent(id) => {
                let agent = Some(id.clone());
                tester.budgets = vec![AgentBudget { agent, budget: most }];
            }
        }
        tester.does(&accept_with(1, 20));
        let usage = used(&tester, 1, 30);
        tester.does(&usage);
        let fence = tester.run.handoff(HandoffNo(1)).unwrap().fence;
        tester.does(&lose(1, fence));
        assert_eq!(stopped_by(&tester), text);
        let (row, gate) = tester.run.gate().unwrap();
        assert_eq!(gate.choices(), ["continue", "hand_to", "abort"]);
        assert_eq!(gate.budget.as_ref().map(|it| it.unit), Some(BudgetUnit::Tokens));
        let no = row.no.0;
        tester.answers(no, Answer::Continue);
        let again = tester.run.n_handoffs;
        tester.does(&accept_with(again, 20));
        let usage = used(&tester, again, 9);
        tester.does(&usage);
        let fence = tester.run.handoff(HandoffNo(again)).unwrap().fence;
        tester.does(&lose(again, fence));
        assert!(tester.run.gate().is_none(), "twice the budget holds 39 tokens: {owner:?}");
    }
}

/// However far an attempt went beyond its budget, the next one has half of one, and a person grants no more than that asks for.
#[test]
fn going_on_leaves_half_a_budget_beyond_what_was_used() {
    for (used_tokens, granted) in
        [(20, 40), (21, 40), (30, 40), (31, 60), (50, 60), (51, 80), (100, 120), (101, 120)]
    {
        let mut tester = Tester::started();
        tester.workflow.limits.budget = budget("20tokens");
        tester.does(&accept_with(1, 20));
        let usage = used(&tester, 1, used_tokens);
        tester.does(&usage);
        let fence = tester.run.handoff(HandoffNo(1)).unwrap().fence;
        tester.does(&lose(1, fence));
        let (row, _) = tester.run.gate().unwrap();
        let no = row.no.0;
        tester.answers(no, Answer::Continue);
        let most = super::run_budget(&tester.run, &tester.workflow);
        assert_eq!(most, budget(&format!("{granted}tokens")), "{used_tokens} were used");
        let current = tester.run.current().unwrap();
        let work = BudgetedWork::of(&current.from, &current.to);
        let left = super::remaining(&tester.run, &tester.workflow, &[], work);
        assert!(left.tokens >= Some(10) && left.tokens < Some(30), "{used_tokens}: {left}");
    }
}

/// The budget of an edge counts what came along it, and nothing that came to the step another way.
#[test]
fn rework_beyond_the_budget_of_its_edge_asks_a_person() {
    let step = |name| StepId::parse(name).unwrap();
    let mut tester = at_review();
    let onward = tester.workflow.steps.iter().position(|it| it.id == step("implement")).unwrap();
    let to_review = Target::Step(step("review"));
    for edge in &mut tester.workflow.steps[onward].edges {
        if edge.to == to_review {
            edge.budget = budget("100tokens");
        }
    }
    let no = tester.run.n_handoffs;
    let usage = used(&tester, no, 60);
    tester.does(&usage);
    let of_edge = BudgetOwner::Edge { from: step("implement"), to: step("review") };
    assert_eq!(tester.run.used_by(&of_edge).tokens(), 60);
    let current = tester.run.current().unwrap();
    let work = BudgetedWork::of(&current.from, &current.to);
    assert_eq!(super::remaining(&tester.run, &tester.workflow, &[], work), budget("40tokens"));

    tester.rejects(no, "the token is not checked");
    let again = tester.run.n_handoffs;
    tester.accepts(again);
    // The rework itself goes along no edge with a budget.
    let usage = used(&tester, again, 5000);
    tester.does(&usage);
    assert_eq!(tester.run.used_by(&of_edge).tokens(), 60);
    tester.hands("implementer", "reviewer", nothing());
    assert!(tester.run.gate().is_none(), "60 of 100 tokens");
    let no = tester.run.n_handoffs;
    tester.accepts(no);
    let usage = used(&tester, no, 40);
    tester.does(&usage);
    tester.rejects(no, "the token may be empty");
    let again = tester.run.n_handoffs;
    tester.accepts(again);
    tester.hands("implementer", "reviewer", nothing());
    assert_eq!(
        stopped_by(&tester),
        "The work from `implement` to `review` has used 100 tokens; its budget is 100 tokens"
    );
    let no = tester.run.n_handoffs;
    tester.answers(no, Answer::Continue);
    assert_eq!(tester.run.current().unwrap().to.agent.as_str(), "reviewer");
}

/// Budgets of the next agent say nothing about what the one before has used.
#[test]
fn work_of_an_agent_that_went_beyond_its_own_budget_is_not_handed_on() {
    let step = |name| StepId::parse(name).unwrap();
    for (owner, text) in [
        (
            BudgetOwner::Step(step("review")),
            "The step `review` has used 101 tokens; its budget is 100 tokens",
        ),
        (
            BudgetOwner::Edge { from: step("implement"), to: step("review") },
            "The work from `implement` to `review` has used 101 tokens; its budget is 100 tokens",
        ),
        (
            BudgetOwner::Agent(agent("reviewer")),
            "`reviewer` has used 101 tokens; its budget is 100 tokens",
        ),
    ] {
        let mut tester = at_review();
        let most = budget("100tokens");
        for it in &mut tester.workflow.steps {
            match &owner {
                BudgetOwner::Step(id) if *id == it.id => it.limits.budget = most,
                BudgetOwner::Edge { from, to } if *from == it.id => {
                    let to = Target::Step(to.clone());
                    let edges = it.edges.iter_mut().filter(|it| it.to == to);
                    edges.for_each(|it| it.budget = most);
                }
                BudgetOwner::Step(_) | BudgetOwner::Edge { .. } => {}
                BudgetOwner::Agent(id) => {
                    let agent = Some(id.clone());
                    tester.budgets = vec![AgentBudget { agent, budget: most }];
                }
                BudgetOwner::Run => unreachable!("no case of this test"),
            }
        }
        let no = tester.run.n_handoffs;
        let usage = used(&tester, no, 101);
        tester.does(&usage);
        tester.hands("reviewer", "refactorer", nothing());
        assert_eq!(stopped_by(&tester), text);
        let no = tester.run.n_handoffs;
        tester.answers(no, Answer::Continue);
        assert_eq!(tester.run.current().unwrap().to.agent.as_str(), "refactorer");
    }
}

#[test]
fn work_that_took_exactly_its_budget_is_handed_on() {
    let mut tester = at_review();
    let agent = Some(agent("reviewer"));
    tester.budgets = vec![AgentBudget { agent, budget: budget("100tokens") }];
    let usage = used(&tester, tester.run.n_handoffs, 100);
    tester.does(&usage);
    tester.hands("reviewer", "refactorer", nothing());
    assert!(tester.run.gate().is_none());
}

#[test]
fn a_program_that_reports_for_itself_is_stopped_when_it_goes_on_beyond_its_budget() {
    let own = |tester: &Tester, no: u32, tokens: u64| {
        let Command::RecordUsage(it) = used(tester, no, tokens) else { unreachable!("it is one") };
        Command::RecordUsage(RecordUsage { executor: None, ..it })
    };
    let mut tester = Tester::started();
    let most = budget("20tokens");
    tester.budgets = vec![AgentBudget { agent: Some(agent("analyst")), budget: most }];
    tester.does(&accept_with(1, 20));
    let usage = own(&tester, 1, 30);
    tester.does(&usage);
    assert!(tester.run.gate().is_none(), "that may have been its last report");
    let runners = used(&tester, 1, 1);
    tester.does(&runners);
    assert!(tester.run.gate().is_none(), "a runner stops its program by itself");
    let usage = own(&tester, 1, 10);
    tester.does(&usage);
    assert_eq!(stopped_by(&tester), "`analyst` has used 41 tokens; its budget is 20 tokens");
    let (row, gate) = tester.run.gate().unwrap();
    assert_eq!(gate.choices(), ["continue", "hand_to", "abort"]);
    let no = row.no.0;
    tester.answers(no, Answer::Continue);
    assert_eq!(tester.run.current().unwrap().to.agent.as_str(), "analyst");

    // Without a lease the loss of the work goes unnoticed: it is held up when it is handed on.
    let mut tester = Tester::started();
    tester.budgets = vec![AgentBudget { agent: Some(agent("analyst")), budget: most }];
    tester.accepts(1);
    for tokens in [30, 10] {
        let usage = own(&tester, 1, tokens);
        tester.does(&usage);
    }
    assert!(tester.run.gate().is_none());
}

#[test]
fn a_run_keeps_the_budget_that_it_is_started_with() {
    let tester = Tester::started();
    let start = RunStart {
        run: RunId(Uuid::from_u128(2)),
        story: tester.run.story.clone(),
        owner: tester.run.owner.clone(),
        mode: tester.run.mode,
        budget: budget("5usd"),
        first: First::Handoff(create("orchestrator", "analyst", story())),
    };
    let decision = super::start(&start, tester.ground()).unwrap();
    assert_eq!(decision.run.budget, budget("5usd"));
    let log = decision.events.iter().cloned().map(|it| (it, tester.now));
    assert_eq!(replay(decision.run.id, log), Some(decision.run));
}

#[test]
fn what_the_run_is_started_with_stands_in_place_of_the_workflows_budget() {
    let mut tester = at_review();
    tester.workflow.limits.budget = budget("10tokens,1h");
    tester.run.budget = budget("50tokens");
    let current = tester.run.current().unwrap();
    let left = super::remaining(
        &tester.run,
        &tester.workflow,
        &[],
        BudgetedWork::of(&current.from, &current.to),
    );
    assert_eq!(left, budget("50tokens,1h"));
}

#[test]
fn usage_is_taken_from_holders_before_and_after_the_end_and_of_no_later_holding() {
    let mut tester = at_review();
    let no = tester.run.n_handoffs;
    let late = used(&tester, no, 5);
    let Command::RecordUsage(mut early) = late.clone() else { unreachable!() };
    early.fence += 1;
    let refused = tester.would(&Command::RecordUsage(early.clone())).unwrap_err();
    assert!(matches!(refused, Refusal::StaleFence { .. }), "{refused}");
    early.handoff = HandoffNo(99);
    assert!(tester.would(&Command::RecordUsage(early)).is_err(), "there is none yet");
    tester.does(&Command::CancelRun { reason: None });
    tester.does(&late);
    assert_eq!(tester.run.used().tokens(), 5, "the run was cancelled while it worked");
    assert_eq!(tester.run.spent.len(), 1);
}

/// Whatever agents use and however people answer: no agent gets work beyond a budget that nobody raised,
/// and a person can always let it go on.
#[test]
fn no_walk_hands_work_on_beyond_a_budget_that_no_person_raised() {
    let mut n_stopped = 0;
    for seed in 0..200_u64 {
        let mut chance = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut roll = move |n: u64| {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            chance % n
        };
        let mut tester = Tester::started();
        tester.workflow.limits.budget = budget("100tokens");
        for _ in 0..40 {
            if tester.run.is_finished() {
                break;
            }
            if let Some((row, _)) = tester.run.gate() {
                let is_budget = row.gate.as_ref().is_some_and(|it| it.cause == GateCause::Budget);
                n_stopped += u64::from(is_budget);
                let no = row.no.0;
                tester.answers(no, Answer::Continue);
                continue;
            }
            let Some(current) = tester.run.current().cloned() else { break };
            let no = current.no.0;
            if current.held_back_until.is_some() {
                tester.wait(60);
                tester.does(&Command::Wake { handoff: current.no });
            }
            tester.does(&accept_with(no, 20));
            let usage = used(&tester, no, roll(60));
            tester.does(&usage);
            let most = super::run_budget(&tester.run, &tester.workflow).tokens;
            let is_over = Some(tester.run.used().tokens()) >= most;
            let fence = tester.run.handoff(current.no).unwrap().fence;
            let is_handed_on =
                roll(3) > 0 && tester.tries(&complete(no, Outcome::Success, nothing())).is_ok();
            if !is_handed_on {
                tester.does(&lose(no, fence));
            }
            let is_stopped = tester.run.gate().is_some_and(|(_, it)| it.cause == GateCause::Budget);
            // The end is not held up.
            assert_eq!(is_stopped, is_over && !tester.run.is_finished(), "seed {seed}");
        }
    }
    assert!(n_stopped > 100, "{n_stopped}");
}
