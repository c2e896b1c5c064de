//! What is recorded of decisions, context documents, questions, permissions, usage and redacted texts, and
//! where each limit is.

use super::fixture::*;
use super::{AgentBudget, BudgetedWork, redact, remaining, run_budget};
use crate::budget::{Budget, Usage};
use crate::collaboration::{
    Collaboration, ContextMark, ContextVersion, DecisionItem, DecisionMark, DecisionState,
    DecisionText, OpenAsk, RecordDecision, SetContext, fingerprint,
};
use crate::command::{AskPermission, Command, RecordUsage};
use crate::content::ContentKind;
use crate::document::Node;
use crate::event::{
    ContentEvent, ContextEvent, DecisionEvent, Event, HandoffEvent, MessageEvent, UsageEvent,
};
use crate::gate::{Answer, GateKind};
use crate::names::{ContextKey, ExecutorName, Principal};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{HandoffNo, Party, State};
use crate::workflow::Place;

fn share(it: Collaboration) -> Command {
    Command::Collaborate(it)
}

fn decision(by: Option<&str>, text: &str) -> RecordDecision {
    RecordDecision {
        by: by.map(agent),
        principal: Principal::parse("ada").unwrap(),
        text: DecisionText { decision: text.to_owned(), ..DecisionText::default() },
        supersedes: None,
        depends_on: Vec::new(),
    }
}

fn decide(it: RecordDecision) -> Command {
    share(Collaboration::Decide(it))
}

fn lock(decision: u32) -> Command {
    let by = Principal::parse("ada").unwrap();
    share(Collaboration::LockDecision { decision, by, reason: Some(reason("It is settled")) })
}

fn context(key: &str, expected: u32, text: &str, by: Option<&str>) -> Command {
    share(Collaboration::SetContext(SetContext {
        key: ContextKey::parse(key).unwrap(),
        expected,
        text: reason(text),
        by: by.map(agent),
        principal: Principal::parse("ada").unwrap(),
    }))
}

fn ask(by: &str, to: &str) -> Command {
    let question = words("Which database?");
    share(Collaboration::Ask { by: agent(by), to: agent(to), question })
}

#[track_caller]
fn code(tester: &mut Tester, command: &Command) -> &'static str {
    tester.tries(command).unwrap_err().code()
}

/// A plan with as many decisions.
fn deciding(n: usize) -> Node {
    let item = |n: usize| Node::text(format!("Decision {n}"));
    let list = Node::List((0..n).map(item).collect());
    Node::map([("plan", Node::text("Do it")), ("decisions", list)])
}

#[test]
fn a_decision_on_its_own_has_its_author_its_words_and_what_it_rests_on() {
    let mut tester = Tester::started();
    tester.does(&decide(decision(Some("analyst"), "Use SQLite")));
    let second = RecordDecision {
        supersedes: Some(1),
        depends_on: vec![1],
        ..decision(None, "Use PostgreSQL")
    };
    let recorded = tester.does(&decide(second));
    let [
        Event::Decision(DecisionEvent::Recorded {
            by,
            decisions,
            handoff,
            package,
            text,
            portrait,
            salt,
            ..
        }),
        superseded,
    ] = recorded.events.as_slice()
    else {
        panic!("{:?}", recorded.events)
    };
    assert_eq!(by.as_str(), "human", "nobody else is named");
    assert_eq!(*salt, None, "the first decision of the run brought it");
    let salt = tester.text(tester.run.decision_salt.unwrap());
    let expected = DecisionItem {
        no: 2,
        index: 0,
        fingerprint: fingerprint(salt, None, "Use PostgreSQL"),
        id_fingerprint: None,
        is_open: false,
        supersedes: Some(1),
        depends_on: vec![1],
    };
    assert_eq!(decisions, &[expected]);
    assert_eq!((handoff, package), (&None, &None), "no package states it");
    assert!(tester.text(text.unwrap()).contains("Use PostgreSQL"));
    assert_eq!(*portrait, tester.run.casts.last().map(|it| it.cast));
    let replaced = DecisionEvent::Superseded { decision: 1, replaced_by: 2 };
    assert_eq!(*superseded, Event::Decision(replaced));
    let on_nothing = RecordDecision { depends_on: vec![9], ..decision(None, "Use files") };
    assert_eq!(code(&mut tester, &decide(on_nothing)), "no_such_decision");
}

#[test]
fn what_a_package_decides_has_its_handoff_its_place_and_whether_it_is_open() {
    let mut tester = Tester::started();
    tester.accepts(1);
    let same = Node::text("Use SQLite");
    let open = Node::map([("id", Node::text("pending")), ("decision", Node::text("A or B?"))]);
    let list = Node::List(vec![same.clone(), same, open]);
    let package = Node::map([("plan", Node::text("Do it")), ("decisions", list)]);
    let handed = tester.hands("analyst", "implementer", package);
    let recorded = handed
        .events
        .iter()
        .find_map(|it| if let Event::Decision(it) = it { Some(it.clone()) } else { None });
    let Some(DecisionEvent::Recorded {
        by, decisions, handoff, package, text, portrait, salt, ..
    }) = recorded
    else {
        panic!("{:?}", handed.events)
    };
    assert_eq!((salt.is_some(), salt), (true, tester.run.decision_salt));
    assert_eq!((by.as_str(), handoff, text), ("analyst", Some(HandoffNo(2)), None));
    assert_eq!(package, tester.run.handoff(HandoffNo(2)).unwrap().package);
    assert_eq!(portrait, tester.run.casts.last().map(|it| it.cast));
    let told: Vec<_> = decisions.iter().map(|it| (it.no, it.index, it.is_open)).collect();
    assert_eq!(told, [(1, 0, false), (2, 2, true)], "what is said twice is one decision");
}

#[test]
fn a_run_records_so_many_decisions_and_no_more() {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.hands("analyst", "implementer", deciding(DecisionMark::MOST + 5));
    assert_eq!(tester.run.decisions.len(), DecisionMark::MOST);
    assert_eq!(code(&mut tester, &decide(decision(None, "One more"))), "too_many_decisions");

    let mut tester = Tester::started();
    tester.accepts(1);
    tester.hands("analyst", "implementer", deciding(DecisionMark::MOST - 1));
    tester.does(&decide(decision(None, "The last one")));
    assert_eq!(tester.run.decisions.len(), DecisionMark::MOST);
    tester.accepts(2);
    let handed = tester.hands("implementer", "reviewer", deciding(DecisionMark::MOST));
    let is_decision = |it: &Event| matches!(it, Event::Decision(_));
    assert!(!handed.events.iter().any(is_decision), "{:?}", handed.events);
}

#[test]
fn a_decision_is_locked_once_with_who_and_why_and_never_after_its_end() {
    let mut tester = Tester::started();
    tester.does(&decide(decision(Some("analyst"), "Use SQLite")));
    let locked = tester.does(&lock(1));
    let [Event::Decision(DecisionEvent::Locked { decision: 1, by, reason })] =
        locked.events.as_slice()
    else {
        panic!("{:?}", locked.events)
    };
    assert_eq!((by.as_str(), tester.text(reason.unwrap())), ("ada", "It is settled"));
    assert_eq!(tester.does(&lock(1)).events, [], "it is locked already");

    let by_human = RecordDecision { supersedes: Some(1), ..decision(Some("human"), "Use files") };
    tester.does(&decide(by_human));
    assert_eq!(tester.run.decision(1).unwrap().state, DecisionState::Superseded);
    assert_eq!(code(&mut tester, &lock(1)), "decision_superseded");
    assert_eq!(code(&mut tester, &lock(3)), "no_such_decision");

    tester.does(&lock(2));
    let principal = Principal::parse("analyst").unwrap();
    let by_agent = RecordDecision { supersedes: Some(2), principal, ..decision(None, "Use RAM") };
    assert_eq!(code(&mut tester, &decide(by_agent)), "decision_locked", "it calls itself a person");
}

#[test]
fn an_answered_decision_is_not_superseded() {
    let mut tester = Tester::started();
    tester.accepts(1);
    let open = Node::map([("id", Node::text("pending")), ("decision", Node::text("A or B?"))]);
    let package = Node::map([("plan", Node::text("x")), ("decisions", Node::List(vec![open]))]);
    tester.hands("analyst", "human", package);
    let gate = tester.run.handoffs.last().unwrap().no.0;
    tester.does(&says(gate, Answer::Reply, "B"));
    let again = RecordDecision { supersedes: Some(1), ..decision(None, "A") };
    assert_eq!(code(&mut tester, &decide(again)), "decision_superseded");
}

#[test]
fn a_context_document_has_a_version_a_size_and_the_agent_or_the_person() {
    let mut tester = Tester::started();
    let key = || ContextKey::parse("api").unwrap();
    for (expected, by, told) in [(0, Some("analyst"), "analyst"), (1, None, "ada")] {
        let changed = tester.does(&context("api", expected, "By path.", by));
        let [
            Event::Context(ContextEvent::Changed { key: changed_key, version, by, text, n_bytes }),
        ] = changed.events.as_slice()
        else {
            panic!("{:?}", changed.events)
        };
        assert_eq!((changed_key, *version, by.as_str(), *n_bytes), (&key(), expected + 1, told, 8));
        assert_eq!(tester.text(*text), "By path.");
    }
    assert_eq!(code(&mut tester, &context("new", 1, "x", None)), "context_changed");
    let nothing = Collaboration::ReadContext { by: agent("analyst"), documents: Vec::new() };
    assert_eq!(tester.does(&share(nothing)).events, [], "nothing was read");
    let documents = vec![ContextVersion { key: key(), version: 2 }];
    let read = Collaboration::ReadContext { by: agent("analyst"), documents: documents.clone() };
    let expected = ContextEvent::Read { by: agent("analyst"), documents };
    assert_eq!(tester.does(&share(read)).events, [Event::Context(expected)]);
}

#[test]
fn context_documents_have_room_for_so_many_and_so_much() {
    let mut tester = Tester::started();
    for n in 0..ContextMark::MOST_DOCUMENTS {
        tester.does(&context(&format!("k{n}"), 0, "x", None));
    }
    assert_eq!(code(&mut tester, &context("more", 0, "x", None)), "context_full");
    tester.does(&context("k0", 1, "xy", None));

    let mut tester = Tester::started();
    let part = ContextMark::MOST_BYTES / 4;
    for key in ["a", "b", "c", "d"] {
        tester.does(&context(key, 0, &"x".repeat(part), None));
    }
    let full = tester.tries(&context("e", 0, "x", None)).unwrap_err();
    let Refusal::ContextFull { n_bytes, n_documents } = full else { panic!("{full:?}") };
    assert_eq!((n_bytes, n_documents), (ContextMark::MOST_BYTES + 1, 4), "as it would be");
    assert_eq!(code(&mut tester, &context("a", 1, &"x".repeat(part + 1), None)), "context_full");
    tester.does(&context("a", 1, &"y".repeat(part), None));
    tester.does(&context("a", 2, "short", None));
    tester.does(&context("e", 0, "x", None));
}

#[test]
fn questions_are_counted_and_only_so_many_are_open() {
    let mut tester = Tester::started();
    let asked = tester.does(&ask("implementer", "analyst"));
    let [Event::Message(MessageEvent::Asked { ask: 1, by, to, text, due, portrait, .. })] =
        asked.events.as_slice()
    else {
        panic!("{:?}", asked.events)
    };
    assert_eq!((by.as_str(), to.as_str()), ("implementer", "analyst"));
    assert_eq!((*due - tester.now).get_seconds(), 30);
    assert_eq!(tester.text(*text), "Which database?");
    assert_eq!(*portrait, tester.run.casts.last().map(|it| it.cast));

    let answer = |by: Option<&str>, no: u32| {
        share(Collaboration::Reply { ask: no, by: by.map(agent), answer: words("SQLite") })
    };
    let replied = tester.does(&answer(Some("human"), 1));
    let [Event::Message(MessageEvent::Replied { ask: 1, by, text, portrait, .. })] =
        replied.events.as_slice()
    else {
        panic!("{:?}", replied.events)
    };
    assert_eq!((by.as_str(), tester.text(*text)), ("human", "SQLite"));
    assert_eq!(*portrait, tester.run.casts.last().map(|it| it.cast));

    for _ in 0..OpenAsk::MOST_OPEN {
        tester.does(&ask("implementer", "analyst"));
    }
    assert_eq!(code(&mut tester, &ask("implementer", "analyst")), "too_many_questions");
    let last = tester.run.asks.last().unwrap().no;
    assert_eq!(last, u32::try_from(OpenAsk::MOST_OPEN).unwrap() + 1, "the answered one counts");
    let replied = tester.does(&answer(None, last));
    assert!(
        matches!(replied.events.as_slice(), [Event::Message(MessageEvent::Replied { by, .. })] if by.is_human())
    );
    assert_eq!(tester.run.asks.last().unwrap().no, last - 1, "that one, and no other");
    tester.does(&ask("implementer", "analyst"));
}

#[test]
fn a_question_that_is_put_again_is_due_later() {
    let mut tester = Tester::started();
    tester.does(&ask("implementer", "analyst"));
    tester.wait_seconds(40);
    let lapsed = tester.does(&share(Collaboration::Lapse { ask: 1 }));
    let [Event::Message(MessageEvent::Repeated { ask: 1, due })] = lapsed.events.as_slice() else {
        panic!("{:?}", lapsed.events)
    };
    assert_eq!((*due - tester.now).get_seconds(), 30);
    assert_eq!(code(&mut tester, &share(Collaboration::Lapse { ask: 2 })), "no_open_question");
}

#[test]
fn a_permission_is_an_advisory_gate_with_the_words_of_its_holder() {
    let mut tester = Tester::started();
    let fence = tester.does(&accept_with(1, 20)).done.fence.unwrap();
    let asks = |fence: u32| {
        let question = words("May it publish?");
        Command::AskPermission(AskPermission { handoff: HandoffNo(1), fence, question })
    };
    tester.does(&asks(fence));
    let (row, gate) = tester.run.gates().next().unwrap();
    let analyst = &tester.run.handoff(HandoffNo(1)).unwrap().to;
    assert_eq!((gate.kind, gate.beside), (GateKind::Advisory, Some(HandoffNo(1))));
    assert_eq!((&row.from, row.state), (analyst, State::Pending));
    assert_eq!(row.forward.to, Place::Human);
    assert_eq!(tester.text(gate.reason.unwrap()), "May it publish?");

    let withdrawn = tester.does(&Command::WithdrawPermission { gate: HandoffNo(2) });
    assert_eq!(withdrawn.done.handoff, Some(HandoffNo(2)));
    let [Event::Handoff(HandoffEvent::Cancelled { handoff: HandoffNo(2), reason })] =
        withdrawn.events.as_slice()
    else {
        panic!("{:?}", withdrawn.events)
    };
    let said = tester.text(reason.unwrap());
    assert_eq!(said, "No person answered in time, so it was denied");

    tester.hands("analyst", "human", Node::map([("summary", Node::text("A or B?"))]));
    assert_eq!(tester.run.handoff(HandoffNo(1)).unwrap().state, State::Parked);
    assert_eq!(code(&mut tester, &asks(fence)), "wrong_state", "its holder waits for a person");
    let gate = tester.run.handoffs.last().unwrap().no;
    let other = Command::WithdrawPermission { gate };
    assert_eq!(code(&mut tester, &other), "not_a_gate", "a gate of another kind stays");
}

fn used(no: u32, fence: u32, place: Place, tokens: u64) -> RecordUsage {
    RecordUsage {
        handoff: HandoffNo(no),
        fence,
        agent: agent("analyst"),
        place,
        from: Place::Orchestrator,
        executor: Some(ExecutorName::parse("claude").unwrap()),
        usage: Usage { input_tokens: tokens, work_ms: 1000, ..Usage::default() },
    }
}

#[test]
fn usage_is_recorded_with_its_step_and_its_program() {
    let mut tester = Tester::started();
    let fence = tester.does(&accept_with(1, 20)).done.fence.unwrap();
    let place = tester.run.handoff(HandoffNo(1)).unwrap().to.place.clone();
    let record = used(1, fence, place.clone(), 7);
    let recorded = tester.does(&Command::RecordUsage(record.clone()));
    let expected = UsageEvent::Recorded {
        handoff: HandoffNo(1),
        fence,
        agent: agent("analyst"),
        step: place.as_step().cloned(),
        from: None,
        executor: record.executor.clone(),
        usage: record.usage,
    };
    assert_eq!(recorded.events, [Event::Usage(expected)]);
    assert_eq!(recorded.done.handoff, Some(HandoffNo(1)));
    let of_none = Command::RecordUsage(used(0, 1, place.clone(), 7));
    assert_eq!(code(&mut tester, &of_none), "stale_fence");
    let of_next = Command::RecordUsage(used(2, 1, place, 7));
    assert_eq!(code(&mut tester, &of_next), "stale_fence", "there is one handoff");
}

#[test]
fn what_is_left_is_the_least_of_the_budgets_of_run_step_and_agent() {
    let budget = |text: &str| Budget::parse(text).unwrap();
    let mut tester = Tester::started();
    tester.workflow.limits.budget = budget("100tokens,1usd");
    tester.workflow.steps[0].limits.budget = budget("50tokens");
    let fence = tester.does(&accept_with(1, 20)).done.fence.unwrap();
    let place = tester.run.handoff(HandoffNo(1)).unwrap().to.place.clone();
    tester.does(&Command::RecordUsage(used(1, fence, place.clone(), 20)));
    let of = |name: Option<&str>, text: &str| AgentBudget {
        agent: name.map(agent),
        budget: budget(text),
    };
    let left = |of_agents: &[AgentBudget], place: &Place| {
        let from = &tester.run.handoff(HandoffNo(1)).unwrap().from;
        let to = Party { agent: agent("analyst"), place: place.clone() };
        let work = BudgetedWork::of(from, &to);
        remaining(&tester.run, &tester.workflow, of_agents, work)
    };
    assert_eq!(left(&[], &place), budget("30tokens,1usd"));
    assert_eq!(left(&[], &Place::Orchestrator), budget("80tokens,1usd"), "at no step");
    let others = [of(None, "25tokens")];
    assert_eq!(left(&others, &place), budget("5tokens,1usd"), "for every agent");
    let own = [of(None, "25tokens"), of(Some("analyst"), "45tokens")];
    assert_eq!(left(&own, &place), budget("25tokens,1usd"), "its own goes before");
    let another = [of(Some("reviewer"), "21tokens")];
    assert_eq!(left(&another, &place), budget("30tokens,1usd"), "another agent's does not count");
    assert_eq!(run_budget(&tester.run, &tester.workflow), budget("100tokens,1usd"));
}

#[test]
fn a_budget_that_a_person_let_go_on_leaves_half_of_one() {
    let budget = |text: &str| Budget::parse(text).unwrap();
    let mut tester = Tester::started();
    tester.workflow.limits.budget = budget("20tokens");
    let fence = tester.does(&accept_with(1, 20)).done.fence.unwrap();
    let place = tester.run.handoff(HandoffNo(1)).unwrap().to.place.clone();
    tester.does(&Command::RecordUsage(used(1, fence, place, 30)));
    tester.does(&complete(1, Outcome::Success, plan()));
    let gate = tester.run.gate().expect("it is used up").0.no.0;
    tester.answers(gate, Answer::Continue);
    assert_eq!(run_budget(&tester.run, &tester.workflow), budget("40tokens"));
}

#[test]
fn redacting_moves_nothing_and_says_why_once() {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.rejects(1, "ada@example.com asked for it");
    let texts: Vec<_> = {
        let rows = tester.run.handoffs.iter();
        rows.filter_map(|it| it.package).chain(tester.run.package).collect()
    };
    let why = words("It names a person");
    let none = redact(&tester.run, &[], &why, tester.ground()).unwrap();
    assert_eq!((none.run, none.events.len(), none.contents.len()), (tester.run.clone(), 0, 0));

    let ids = [texts[0], tester.run.casts[0].cast];
    let done = redact(&tester.run, &ids, &why, tester.ground()).unwrap();
    let [kept] = done.contents.as_slice() else { panic!("{:?}", done.contents) };
    assert_eq!((kept.kind, &*kept.text), (ContentKind::Words, "It names a person"));
    let event =
        |text| Event::from(ContentEvent::Redacted { text, reason: kept.id, is_salt: false });
    assert_eq!(done.events, ids.map(event));
    let mut expected = tester.run.clone();
    for it in &done.events {
        crate::event::evolve(&mut expected, it, tester.now);
    }
    assert_eq!(done.run, expected);
}
