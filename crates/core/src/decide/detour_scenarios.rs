//! Scenarios of blocked work: it goes to the agent that the workflow's table names, and comes back
//! with the resolution, or a person is asked.

use expect_test::expect;

use super::cycle_scenarios::{begun, check_asked, gate};
use super::fixture::*;
use super::scenarios::{check, check_refused};
use crate::command::{Command, Complete, Create, Reroute};
use crate::contract::{Check, Contract, ContractRule, Profile};
use crate::detour::RerouteCause;
use crate::document::Node;
use crate::event::{BlockerEvent, Event};
use crate::gate::Answer;
use crate::names::Principal;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Baton, CounterScope};
use crate::workflow::{BlockerRouting, OnExpire, Place, Resolver, ResolverRow, Workflow};

/// Security goes to the reviewer, architecture to the analyst, tests to the blocked agent itself,
/// the rest to a person.
pub(super) fn routed() -> Workflow {
    let row = |reason: &str, to: &str| ResolverRow {
        reason: reason.to_owned(),
        resolvers: vec![Resolver { domain: None, agent: agent(to) }],
    };
    let rows = vec![
        row("security_concern", "security-check"),
        row("architecture_decision", "architecture"),
        row("test_failures", "implementer"),
        row("missing_requirements", "human"),
        row("out_of_scope", "ghost"),
    ];
    let routing = BlockerRouting { domain: None, prefixes: Vec::new(), rows };
    Workflow { routing, ..pipeline() }
}

/// The implementer holds `HO-002`, with the analyst's plan.
pub(super) fn at_work() -> Tester {
    let mut tester = begun(routed(), "analyst");
    tester.hands("analyst", "implementer", plan());
    tester.accepts(2);
    tester
}

pub(super) fn blocked(reason: &str) -> Node {
    let attempted = Node::List(vec![Node::text("read the design")]);
    Node::map([
        ("blocked_reason", Node::text(reason)),
        ("attempted", attempted),
        ("context", Node::text("the token is kept in a cookie")),
    ])
}

pub(super) fn resolution() -> Node {
    Node::map([("resolution", Node::text("keep it in the server's session"))])
}

/// What happened to blockers, a line each.
fn blockers(tester: &Tester) -> String {
    let line = |event: &Event| {
        let Event::Blocker(event) = event else { return None };
        Some(match event {
            BlockerEvent::Raised { blocker, by, .. } => format!("{blocker} raised by {by}"),
            BlockerEvent::Resolved { blocker, by, how } => {
                let how = how.map(|it| tester.text(it)).unwrap_or_default();
                format!("{blocker} resolved by {}: {how}", by.as_str())
            }
            BlockerEvent::Waived { blocker, by, .. } => {
                format!("{blocker} waived by {}", by.as_str())
            }
            BlockerEvent::Routed { handoff, detour } => {
                format!("routed with {handoff}: {}", detour.reason)
            }
            BlockerEvent::Rerouted { handoff, cause, to, .. } => {
                format!("{handoff} rerouted to {to}: {}", cause.name())
            }
        })
    };
    tester.log().iter().filter_map(|(event, _)| line(event)).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_blocks_goes_to_the_resolver_and_the_work_comes_back_with_the_resolution() {
    let mut tester = at_work();
    let given = tester.run.handoff(crate::run::HandoffNo(2)).unwrap().package;
    tester.completes(2, Outcome::Blocked, blocked("security_concern"));
    check(&tester, expect!["HO-003 orchestrator→security-check pending; offered"]);
    assert_eq!(tester.run.blockers.len(), 1);
    let handoff = tester.run.current().unwrap();
    assert_eq!(handoff.to.place, Place::Delegate(agent("security-check")));
    assert!(tester.text(handoff.package.unwrap()).contains("the token is kept in a cookie"));
    tester.accepts(3);
    tester.completes(3, Outcome::Success, resolution());
    check(&tester, expect!["HO-004 security-check→implementer pending; offered"]);
    let back = tester.run.current().unwrap();
    assert_eq!(back.package, given, "its own package again");
    assert_eq!(tester.run.blockers.len(), 0);
    expect![[r#"
        1 raised by implementer
        routed with HO-003: security_concern
        1 resolved by security-check: keep it in the server's session"#]]
    .assert_eq(&blockers(&tester));
    // And on as ever.
    tester.accepts(4);
    tester.completes(4, Outcome::Success, nothing());
    check(&tester, expect!["HO-005 implementer→reviewer pending; offered"]);
}

/// What a project adds to the table of reasons is offered by the prompt, so it has to be taken.
#[test]
fn every_reason_that_the_workflow_routes_is_taken_when_work_is_blocked() {
    let known = ContractRule {
        field: "blocked_reason".to_owned(),
        others: Vec::new(),
        about: "what blocks".to_owned(),
        check: Check::OneOf(vec!["unknown".to_owned()]),
        when: Vec::new(),
    };
    let implied = |name: &str| Contract {
        name: name.to_owned(),
        must: vec![known.clone()],
        should: vec![known.clone()],
    };
    let at_work = || {
        let mut tester = at_work();
        tester.workflow.routing.rows[0].reason = "licence_question".to_owned();
        tester.implied = vec![implied("implied/blocked"), implied("metadata/*→*")];
        tester
    };
    let metadata = |reason: &str| {
        let Node::Map(mut members) = blocked(reason) else { unreachable!() };
        members.push(("status".to_owned(), Node::text("blocked")));
        members.push(("handoff".to_owned(), Node::map([("next_agent", Node::Null)])));
        Node::Map(members)
    };
    for document in [blocked("licence_question"), metadata("licence_question")] {
        let mut tester = at_work();
        let Command::Complete(done) = complete(2, Outcome::Blocked, document) else {
            unreachable!()
        };
        tester.does(&Command::Complete(Complete { profile: Profile::Lenient, ..done }));
        check(&tester, expect!["HO-003 orchestrator→security-check pending; offered"]);
    }
    let refusal = at_work().tries(&complete(2, Outcome::Blocked, metadata("licence"))).unwrap_err();
    let Refusal::Contract { problems, .. } = refusal else { panic!("{refusal:?}") };
    assert!(problems[0].message.contains("`licence_question`"), "{problems:?}");
}

#[test]
fn a_create_by_the_resolver_is_its_resolution_too() {
    let mut tester = at_work();
    tester.completes(2, Outcome::Blocked, blocked("architecture_decision"));
    tester.hands("architecture", "implementer", resolution());
    check(&tester, expect!["HO-004 architecture→implementer pending; offered"]);
    let mut other = at_work();
    other.completes(2, Outcome::Blocked, blocked("architecture_decision"));
    check_refused(
        &mut other,
        &Command::Create(create("architecture", "reviewer", resolution())),
        expect![
            "not_an_edge: there is no edge from `architecture` to `reviewer` here; what it resolves goes back to `implementer`"
        ],
    );
}

#[test]
fn no_route_a_route_to_itself_or_to_nobody_asks_a_person() {
    for reason in ["missing_requirements", "test_failures", "out_of_scope", "another", ""] {
        let mut tester = at_work();
        tester.completes(2, Outcome::Blocked, blocked(reason));
        let (_, gate) = gate(&tester);
        assert_eq!(gate.worker.agent, agent("implementer"), "{reason}");
        assert_eq!(tester.run.count_of(0, &blocks()), 0, "{reason}");
    }
}

fn blocks() -> CounterScope {
    CounterScope::Blocks(crate::names::StepId::parse("implement").unwrap())
}

#[test]
fn a_second_block_since_the_step_was_entered_asks_a_person() {
    let mut tester = at_work();
    tester.completes(2, Outcome::Blocked, blocked("security_concern"));
    tester.hands("security-check", "implementer", resolution());
    assert_eq!(tester.run.count_of(0, &blocks()), 1);
    tester.accepts(4);
    tester.completes(4, Outcome::Blocked, blocked("architecture_decision"));
    check_asked(
        &tester,
        expect![
            "`implement` is blocked again; an agent was sent to help once, its limit is 1; implement asks, implement would work; continue accept hand_to abort"
        ],
    );
    let (no, _) = gate(&tester);
    tester.answers(no, Answer::Continue);
    assert_eq!(tester.run.count_of(0, &blocks()), 0, "a person has decided");
    assert_eq!(tester.run.blockers.len(), 0);
}

#[test]
fn a_resolver_that_fails_rejects_or_is_blocked_itself_leaves_it_to_a_person() {
    for outcome in [
        Outcome::Failure,
        Outcome::Blocked,
        Outcome::NeedsReview,
        Outcome::NeedsClarification,
        Outcome::Skipped,
    ] {
        let mut tester = at_work();
        tester.completes(2, Outcome::Blocked, blocked("security_concern"));
        tester.accepts(3);
        tester.completes(3, outcome, Node::map([("reason", Node::text("it is a matter of law"))]));
        let (no, gate) = gate(&tester);
        let (gate, words) = (gate.clone(), gate.reason.map(|it| tester.text(it).to_owned()));
        assert_eq!(words.as_deref(), Some("it is a matter of law"), "{outcome:?}");
        assert_eq!(gate.worker.agent, agent("implementer"));
        assert_eq!(tester.run.blockers.len(), 1, "still open");
        tester.does(&says(no, Answer::Continue, "the law allows it"));
        assert_eq!(tester.run.current_agent(), Some(&agent("implementer")));
        assert_eq!(tester.run.blockers.len(), 0);
    }
    let mut tester = at_work();
    tester.completes(2, Outcome::Blocked, blocked("security_concern"));
    tester.rejects(3, "not my domain");
    let (_, gate) = gate(&tester);
    assert_eq!(gate.worker.agent, agent("implementer"));
}

#[test]
fn a_resolver_may_ask_the_blocked_agent_a_person_or_a_specialist_of_its_own() {
    let mut tester = at_work();
    tester.completes(2, Outcome::Blocked, blocked("security_concern"));
    tester.accepts(3);
    tester.does(&clarify(3, "which cookie?"));
    check(
        &tester,
        expect![
            "HO-003 orchestrator→security-check clarification, HO-004 security-check→implementer pending; offered"
        ],
    );
    tester.does(&reply(4, "the one of the login"));
    tester.accepts(3);
    tester.does(&super::outcome_scenarios::delegate("security-check", "crypto-check"));
    check(
        &tester,
        expect![
            "HO-003 orchestrator→security-check parked, HO-005 security-check→crypto-check pending; offered"
        ],
    );
    tester.hands("crypto-check", "security-check", plan());
    tester.accepts(6);
    tester.does(&Command::Create(create("security-check", "human", plan())));
    let (no, _) = gate(&tester);
    tester.does(&says(no, Answer::Reply, "it may stay"));
    tester.hands("security-check", "implementer", resolution());
    check(&tester, expect!["HO-009 security-check→implementer pending; offered"]);
}

#[test]
fn a_lost_lease_of_a_resolver_is_tried_again_and_then_a_person_is_asked() {
    let mut tester = at_work();
    tester.completes(2, Outcome::Blocked, blocked("security_concern"));
    for no in 3..6 {
        tester.wait(1);
        tester.does(&accept_with(no, 20));
        tester.does(&lose(no, 1));
    }
    let (_, gate) = gate(&tester);
    assert_eq!(gate.worker.agent, agent("implementer"));
    assert_eq!(tester.run.count_of(0, &blocks()), 1, "a retry is no other block");
}

#[test]
fn a_detour_that_an_operator_ends_leaves_the_work_at_the_blocked_step() {
    for end in [cancel(3), time_out(3), Command::CleanUp { reason: None }] {
        let mut tester = at_work();
        tester.completes(2, Outcome::Blocked, blocked("security_concern"));
        tester.does(&end);
        let Baton::Loose { at, .. } = tester.run.baton() else { panic!("{end:?}") };
        assert_eq!(at.to_string(), "implement");
        tester.hands("orchestrator", "implementer", nothing());
        tester.accepts(4);
        tester.completes(4, Outcome::Success, nothing());
        assert_eq!(tester.run.blockers.len(), 0, "the work went on without");
        assert!(blockers(&tester).ends_with("1 waived by implementer"), "{}", blockers(&tester));
    }
    let mut tester = at_work();
    tester.completes(2, Outcome::Blocked, blocked("security_concern"));
    tester.does(&goto("analyze"));
    check(&tester, expect!["HO-004 orchestrator→analyst pending; offered"]);
}

#[test]
fn a_detour_that_nobody_takes_in_time_follows_the_workflow() {
    for (then, expected) in [
        (OnExpire::Loose, "nothing open; loose"),
        (OnExpire::Ask, "HO-004 orchestrator→human pending; parked"),
        (OnExpire::Return, "HO-004 orchestrator→human pending; parked"),
    ] {
        let mut tester = at_work();
        let after = jiff::SignedDuration::from_mins(5);
        tester.workflow.limits.expiry = Some(crate::workflow::Expiry { after, then });
        tester.completes(2, Outcome::Blocked, blocked("security_concern"));
        tester.wait(6);
        tester.does(&Command::Expire { handoff: crate::run::HandoffNo(3) });
        assert_eq!(tester.shows(), expected);
    }
}

pub(super) fn reroute(to: &str) -> Command {
    Command::Reroute(Reroute {
        handoff: None,
        to: agent(to),
        cause: RerouteCause::MajorDecision,
        reason: reason("it concerns every team"),
        by: Principal::parse("ada").unwrap(),
    })
}

#[test]
fn an_operator_sends_blockers_elsewhere_on_record() {
    let mut tester = at_work();
    check_refused(
        &mut tester,
        &reroute("human"),
        expect![
            "no_detour: no agent is resolving blockers of this run, so there is nothing to send elsewhere: `implementer` holds it with HO-002"
        ],
    );
    tester.completes(2, Outcome::Blocked, blocked("security_concern"));
    check_refused(
        &mut tester,
        &reroute("implementer"),
        expect![
            "not_an_edge: there is no edge from `security-check` to `implementer` here; blockers go to another agent, or to `human`"
        ],
    );
    check_refused(
        &mut tester,
        &reroute("ghost"),
        expect!["unknown_agent: there is no agent `ghost`; add a file for it, or name another"],
    );
    tester.does(&reroute("architecture"));
    check(&tester, expect!["HO-004 orchestrator→architecture pending; offered"]);
    tester.accepts(4);
    tester.does(&reroute("human"));
    check(&tester, expect!["HO-005 orchestrator→human pending; parked"]);
    expect![[r#"
        1 raised by implementer
        routed with HO-003: security_concern
        HO-003 rerouted to architecture: major_decision
        routed with HO-004: security_concern
        HO-004 rerouted to human: major_decision"#]]
    .assert_eq(&blockers(&tester));
    let (no, _) = gate(&tester);
    tester.does(&says(no, Answer::Continue, "a cookie it is"));
    assert_eq!(tester.run.current_agent(), Some(&agent("implementer")));
}

#[test]
fn an_agent_does_not_reroute_what_blocks_it() {
    let mut tester = at_work();
    tester.completes(2, Outcome::Blocked, blocked("security_concern"));
    let Command::Reroute(asked) = reroute("human") else { unreachable!() };
    let by = Principal::parse("implementer").unwrap();
    check_refused(
        &mut tester,
        &Command::Reroute(Reroute { by, ..asked }),
        expect![
            "not_a_person: `implementer` is the name of an agent or of a part of Baton, and only a person may do that; a person says so under a name of their own"
        ],
    );
}

#[test]
fn a_resolver_is_superseded_with_better_words_and_stays_one() {
    let mut tester = at_work();
    tester.completes(2, Outcome::Blocked, blocked("security_concern"));
    let supersedes = Some(crate::run::HandoffNo(3));
    let better = create("orchestrator", "security-check", blocked("security_concern"));
    tester.does(&Command::Create(Create { supersedes, ..better }));
    assert!(tester.run.current().unwrap().detour.is_some());
    tester.hands("security-check", "implementer", resolution());
    assert_eq!(tester.run.current_agent(), Some(&agent("implementer")));
}

#[test]
fn the_agent_of_a_domain_resolves_and_receives() {
    let by_domain = |reason: &str, resolvers: &[(Option<&str>, &str)]| ResolverRow {
        reason: reason.to_owned(),
        resolvers: resolvers
            .iter()
            .map(|(domain, to)| Resolver { domain: domain.map(str::to_owned), agent: agent(to) })
            .collect(),
    };
    let routing = BlockerRouting {
        domain: Some("web".to_owned()),
        prefixes: vec![("python".to_owned(), "data".to_owned())],
        rows: vec![by_domain(
            "unknown",
            &[(Some("web"), "web-lead"), (Some("data"), "data-lead"), (None, "lead")],
        )],
    };
    let table = [
        ("web-coder", Some("web"), "web-lead"),
        ("python-coder", Some("data"), "data-lead"),
        ("data-coder", Some("data"), "data-lead"),
        ("coder", Some("web"), "web-lead"),
        ("other-coder", Some("web"), "web-lead"),
    ];
    for (who, domain, resolver) in table {
        assert_eq!(routing.domain_of(&agent(who)), domain, "{who}");
        assert_eq!(routing.resolver("unknown", &agent(who)), Some(&agent(resolver)), "{who}");
    }
    let without = BlockerRouting { domain: None, ..routing.clone() };
    assert_eq!(without.domain_of(&agent("other-coder")), None);
    assert_eq!(without.resolver("unknown", &agent("other-coder")), Some(&agent("lead")));
    assert_eq!(without.resolver("security", &agent("other-coder")), None);
    let workflow = Workflow { routing, ..pipeline() };
    let agents = [agent("web-tester"), agent("data-tester")];
    assert_eq!(workflow.agent_like(&agents, &agent("data-coder")), Some(agent("data-tester")));
    assert_eq!(workflow.agent_of_own_domain(&agents), Some(agent("web-tester")));
}

#[test]
fn blocked_work_that_names_a_receiver_is_routed_all_the_same() {
    let mut tester = at_work();
    let Command::Complete(done) = complete(2, Outcome::Blocked, blocked("security_concern")) else {
        unreachable!()
    };
    let to = Some(agent("reviewer").into());
    let decision = tester.does(&Command::Complete(Complete { to, ..done }));
    assert_eq!(tester.run.current_agent(), Some(&agent("security-check")));
    assert_eq!(decision.done.warnings[0].rule, "routed_by_outcome");
}
