//! Scenarios of decisions, context documents and questions between agents. None of them moves the
//! baton; the tester compares the run with a replay of its log after each command.

use super::fixture::*;
use super::states::{gate_on, in_state};
use crate::collaboration::{
    Collaboration, ContextVersion, DecisionState, DecisionText, RecordDecision, SetContext,
};
use crate::command::{Command, GateAnswer};
use crate::document::Node;
use crate::event::{DecisionEvent, Event};
use crate::gate::{Answer, GateKind};
use crate::names::{ContextKey, Principal};
use crate::outcome::Outcome;
use crate::run::State;

fn decide(by: Option<&str>, words: &str, supersedes: Option<u32>) -> Command {
    Command::Collaborate(Collaboration::Decide(RecordDecision {
        by: by.map(agent),
        principal: Principal::parse("ada").unwrap(),
        text: DecisionText { decision: words.to_owned(), ..DecisionText::default() },
        supersedes,
        depends_on: Vec::new(),
    }))
}

fn lock(decision: u32, by: &str) -> Command {
    let by = Principal::parse(by).unwrap();
    Command::Collaborate(Collaboration::LockDecision { decision, by, reason: None })
}

fn set(key: &str, expected: u32, text: &str, by: &str) -> Command {
    Command::Collaborate(Collaboration::SetContext(SetContext {
        key: ContextKey::parse(key).unwrap(),
        expected,
        text: reason(text),
        by: Some(agent(by)),
        principal: Principal::parse("ada").unwrap(),
    }))
}

fn ask(by: &str, to: &str) -> Command {
    let (by, to) = (agent(by), agent(to));
    Command::Collaborate(Collaboration::Ask { by, to, question: words("Which database?") })
}

fn answers_ask(ask: u32, by: Option<&str>) -> Command {
    let by = by.map(agent);
    Command::Collaborate(Collaboration::Reply { ask, by, answer: words("SQLite") })
}

fn lapse(ask: u32) -> Command {
    Command::Collaborate(Collaboration::Lapse { ask })
}

/// A plan that decides.
pub(super) fn deciding(decisions: &[(&str, &str)]) -> Node {
    let item = |(id, decision): &(&str, &str)| {
        Node::map([("id", Node::text(*id)), ("decision", Node::text(*decision))])
    };
    let list = Node::List(decisions.iter().map(item).collect());
    Node::map([("plan", Node::text("Do it")), ("decisions", list)])
}

fn recorded(tester: &Tester) -> Vec<Vec<u32>> {
    let of = |(event, _): &(Event, _)| {
        let Event::Decision(DecisionEvent::Recorded { decisions, .. }) = event else {
            return None;
        };
        Some(decisions.iter().map(|it| it.no).collect())
    };
    tester.log().iter().filter_map(of).collect()
}

fn refused(tester: &mut Tester, command: &Command) -> String {
    tester.tries(command).unwrap_err().to_string()
}

#[test]
fn what_a_package_decides_is_recorded_with_its_handoff_and_only_once() {
    let mut tester = Tester::started();
    tester.hands("analyst", "implementer", deciding(&[("D1", "Use SQLite"), ("D2", "No cache")]));
    assert_eq!(recorded(&tester), [vec![1, 2]]);
    let again = deciding(&[("D1", "Use SQLite"), ("D3", "One thread")]);
    tester.hands("implementer", "reviewer", again);
    assert_eq!(recorded(&tester), [vec![1, 2], vec![3]], "what is repeated is not recorded again");
    tester.does(&decide(None, "No cache at all", Some(2)));
    assert_eq!(tester.run.decision(2).unwrap().state, DecisionState::Superseded);
    let locked = refused(&mut tester, &decide(None, "x", Some(2)));
    assert!(locked.contains("superseded already"), "{locked}");
    let unknown = refused(&mut tester, &decide(None, "x", Some(9)));
    assert_eq!(
        unknown,
        "there is no decision 9 in this run, which has 4; `baton decision list` shows them"
    );
}

#[test]
fn a_locked_decision_is_superseded_only_by_a_person() {
    let mut tester = Tester::started();
    tester.does(&decide(Some("analyst"), "Use SQLite", None));
    assert!(refused(&mut tester, &lock(1, "analyst")).contains("only a person"));
    tester.does(&lock(1, "ada"));
    assert_eq!(
        refused(&mut tester, &decide(Some("analyst"), "Use files", Some(1))),
        "decision 1 is locked; only a person may supersede it"
    );
    tester.does(&decide(None, "Use PostgreSQL", Some(1)));
    assert_eq!(tester.run.decision(1).unwrap().state, DecisionState::Superseded);
    assert_eq!(tester.run.decision(2).unwrap().state, DecisionState::Standing);
}

#[test]
fn an_open_decision_is_closed_by_the_persons_answer() {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.hands("analyst", "human", deciding(&[("pending", "A or B?")]));
    assert_eq!(tester.run.decision(1).unwrap().state, DecisionState::Open);
    let gate = tester.run.handoffs.last().unwrap().no.0;
    tester.does(&says(gate, Answer::Reply, "B"));
    assert_eq!(tester.run.decision(1).unwrap().state, DecisionState::Answered);
}

#[test]
fn a_context_document_changes_only_at_the_version_that_the_caller_has_seen() {
    let mut tester = Tester::started();
    tester.does(&set("api-design", 0, "By path.", "analyst"));
    assert_eq!(
        refused(&mut tester, &set("api-design", 0, "By header.", "implementer")),
        "the context document `api-design` exists: `analyst` made version 1; read it, then change that"
    );
    tester.does(&set("api-design", 1, "By header.", "implementer"));
    assert_eq!(
        refused(&mut tester, &set("api-design", 1, "By host.", "analyst")),
        "the context document `api-design` is not at version 1: `implementer` made version 2; read it, then change that"
    );
    let long = "x".repeat(60_000);
    for key in ["a", "b", "c"] {
        tester.does(&set(key, 0, &long, "analyst"));
    }
    let full = refused(&mut tester, &set("d", 0, &long, "analyst"));
    assert!(full.contains("the most is 200000 bytes"), "{full}");
    let documents = vec![ContextVersion { key: ContextKey::parse("a").unwrap(), version: 1 }];
    let read = Collaboration::ReadContext { by: agent("analyst"), documents };
    tester.does(&Command::Collaborate(read));
    assert_eq!(tester.log().last().unwrap().0.name(), "context.read");
}

#[test]
fn agents_that_would_wait_for_each_other_are_refused() {
    let mut tester = Tester::started();
    tester.does(&ask("implementer", "analyst"));
    tester.does(&ask("analyst", "reviewer"));
    assert_eq!(
        refused(&mut tester, &ask("reviewer", "implementer")),
        "`reviewer` cannot ask `implementer` now: `implementer` waits for `analyst` waits for `reviewer`, so neither would ever get an answer; answer first"
    );
    let own = refused(&mut tester, &ask("analyst", "analyst"));
    assert!(own.contains("cannot ask `analyst`"), "{own}");
    assert!(refused(&mut tester, &answers_ask(2, Some("implementer"))).contains("for `reviewer`"));
    tester.does(&answers_ask(2, Some("reviewer")));
    tester.does(&ask("reviewer", "implementer"));
    tester.does(&answers_ask(1, None));
    assert!(refused(&mut tester, &answers_ask(1, None)).contains("is not open"));
}

#[test]
fn a_question_is_put_again_once_and_then_given_up() {
    let mut tester = Tester::started();
    tester.does(&ask("implementer", "analyst"));
    tester.wait_seconds(29);
    assert!(refused(&mut tester, &lapse(1)).contains("may still be answered"));
    tester.wait_seconds(1);
    tester.does(&lapse(1));
    assert_eq!(
        (tester.run.asks[0].attempt, tester.log().last().unwrap().0.name()),
        (2, "message.repeated")
    );
    tester.wait_seconds(30);
    tester.does(&lapse(1));
    assert_eq!(tester.log().last().unwrap().0.name(), "message.unanswered");
    assert!(tester.run.asks.is_empty());
}

fn fingerprints(tester: &Tester) -> Vec<u32> {
    tester.run.decisions.iter().map(|it| it.fingerprint).collect()
}

#[test]
fn a_fingerprint_tells_nothing_without_the_salt_that_a_redaction_drops() {
    let mut tester = Tester::started();
    tester.hands("analyst", "implementer", deciding(&[("D1", "Use SQLite")]));
    let salt = tester.run.decision_salt.unwrap();
    let salt_text = tester.text(salt).to_owned();
    let guess = |salt: &str| crate::collaboration::fingerprint(salt, Some("D1"), "Use SQLite");
    assert_eq!(fingerprints(&tester), [guess(&salt_text)]);
    assert_ne!(guess(&salt_text), guess(&tester.run.id.to_string()), "the run's id is no secret");
    let reason = crate::names::FreeText::parse("it names a customer").unwrap();
    let some_text = tester.contents[0].id;
    let decision = super::redact(&tester.run, &[some_text], &reason, tester.ground()).unwrap();
    assert_eq!(decision.dropped, [some_text, salt], "whatever is redacted, the salt goes too");
    assert_eq!(decision.run.decision_salt, None);
    // What is decided later has a new salt.
    let later = decide(None, "Use SQLite", None);
    let later = crate::decide::decide(&decision.run, &later, tester.ground()).unwrap().run;
    assert!(later.decision_salt.is_some_and(|it| it != salt));
    let again = crate::collaboration::fingerprint(&salt_text, None, "Use SQLite");
    assert_ne!(later.decisions[1].fingerprint, again);
}

#[test]
fn an_open_run_keeps_its_messages() {
    let tester = Tester::started();
    let kept = jiff::SignedDuration::from_hours(24);
    let texts = vec![tester.contents[0].id];
    let messages = super::ExpiredMessages { up_to: 3, texts: texts.clone(), kept };
    let decision = super::expire(&tester.run, &messages, tester.ground());
    assert_eq!((decision.events, decision.dropped), (Vec::new(), Vec::new()));
    let mut finished = tester.run.clone();
    finished.status = crate::run::RunStatus::Completed;
    let decision = super::expire(&finished, &messages, tester.ground());
    let expired =
        crate::event::ContentEvent::Expired { up_to: 3, n_texts: 1, kept_seconds: 86_400 };
    assert_eq!((decision.events, decision.dropped), (vec![expired.into()], texts));
    assert_eq!(decision.run, finished, "nothing moves");
}

#[test]
fn an_answer_closes_the_open_decision_that_it_answers_and_no_other() {
    for (said, expected) in [
        ("B", ["answered", "open", "open"]),
        ("decision 2: B", ["open", "answered", "open"]),
        ("Decisions 1 and\n3) C", ["answered", "open", "answered"]),
        ("#3, in 2 weeks", ["open", "open", "answered"]),
    ] {
        let mut tester = Tester::started();
        tester.accepts(1);
        let asked = [("pending", "A or B?"), ("pending", "Who?"), ("pending", "When?")];
        tester.hands("analyst", "human", deciding(&asked));
        let gate = tester.run.handoffs.last().unwrap().no.0;
        tester.does(&says(gate, Answer::Reply, said));
        let states = [1, 2, 3].map(|no| tester.run.decision(no).unwrap().state.name());
        assert_eq!(states, expected, "{said}");
    }
}

/// Whoever speaks as an agent is held to the rules of agents, without saying so a second time.
#[test]
fn a_name_that_is_an_agents_replaces_no_locked_decision_answers_for_no_person_and_redacts_nothing()
{
    for name in ["agent:reviewer", "AGENT:reviewer", "reviewer", "human", "baton:runner"] {
        let by = Principal::parse(name).unwrap();
        let mut tester = Tester::started();
        tester.does(&decide(None, "Use SQLite", None));
        assert!(refused(&mut tester, &lock(1, name)).contains("only a person"), "{name}");
        tester.does(&lock(1, "ada"));
        let Command::Collaborate(Collaboration::Decide(it)) = decide(None, "Use MySQL", Some(1))
        else {
            unreachable!()
        };
        let it = RecordDecision { principal: by.clone(), ..it };
        let replaces = Command::Collaborate(Collaboration::Decide(it));
        assert_eq!(tester.tries(&replaces).unwrap_err().code(), "decision_locked", "{name}");
        tester.does(&ask("implementer", "analyst"));
        tester.caller = by;
        let answered = tester.tries(&answers_ask(1, None)).unwrap_err();
        assert_eq!(answered.code(), "not_a_person", "{name}");
        let (texts, why) = ([tester.run.decision_salt.unwrap()], words("secret"));
        let dropped = super::redact(&tester.run, &texts, &why, tester.ground());
        assert_eq!(dropped.unwrap_err().code(), "not_a_person", "{name}");
    }
}

/// A step whose work goes through a gate, with a choice that its package leaves open.
fn asked_at_a_gate() -> Tester {
    let mut tester = in_state(State::Accepted);
    gate_on(&mut tester, GateKind::Blocking);
    tester.completes(2, Outcome::Success, deciding(&[("pending", "A or B?"), ("D1", "Use files")]));
    tester
}

#[test]
fn a_choice_that_comes_again_after_a_reject_is_open_again_under_its_number() {
    let mut tester = asked_at_a_gate();
    tester.does(&says(3, Answer::Reject, "tests fail"));
    assert_eq!(tester.run.decision(1).unwrap().state, DecisionState::Open, "a reject decides none");
    tester.accepts(4);
    tester.completes(4, Outcome::Success, deciding(&[("pending", "A or B?"), ("D1", "Use files")]));
    assert_eq!(recorded(&tester), [vec![1, 2], vec![1]], "only the choice is asked again");
    assert_eq!(tester.run.decisions.len(), 2);
    tester.does(&says(5, Answer::Approve, "B"));
    assert_eq!(tester.run.decision(1).unwrap().state, DecisionState::Answered);
    // Once a person has answered, it is not asked again.
    tester.accepts(6);
    tester.completes(6, Outcome::Success, deciding(&[("pending", "A or B?")]));
    assert_eq!(recorded(&tester).len(), 2);
}

#[test]
fn who_answers_with_a_package_and_without_words_decides_no_open_choice_and_owns_the_package() {
    let mut tester = asked_at_a_gate();
    let Command::Answer(said) = answer_gate(3, Answer::Modify) else { unreachable!() };
    let package = Some(sent(deciding(&[("D2", "Use SQLite")])));
    tester.does(&Command::Answer(GateAnswer { package, comment: None, ..said }));
    assert_eq!(tester.run.decision(1).unwrap().state, DecisionState::Open);
    let by = |(event, _): &(Event, _)| {
        let Event::Decision(DecisionEvent::Recorded { by, .. }) = event else { return None };
        Some(by.to_string())
    };
    let by: Vec<String> = tester.log().iter().filter_map(by).collect();
    assert_eq!(by, ["implementer", "human"]);
}

#[test]
fn a_package_names_what_its_decisions_replace_and_rest_on_by_number_or_by_id() {
    let decision = |members: &[(&'static str, &str)]| {
        Node::map(members.iter().map(|(key, text)| (*key, Node::text(*text))))
    };
    let plan = |decisions: Vec<Node>| {
        Node::map([("plan", Node::text("Do it")), ("decisions", Node::List(decisions))])
    };
    let mut tester = Tester::started();
    let first = decision(&[("id", "D-1"), ("decision", "Use files")]);
    tester.hands("analyst", "implementer", plan(vec![first]));
    let second = vec![
        decision(&[
            ("id", "D-2"),
            ("decision", "Use SQLite"),
            ("supersedes", "D-1"),
            ("depends_on", "D-3"),
        ]),
        decision(&[("id", "D-3"), ("decision", "One thread"), ("depends_on", "#1")]),
        decision(&[("id", "D-4"), ("decision", "No cache"), ("supersedes", "D-9")]),
    ];
    tester.hands("implementer", "reviewer", plan(second));
    let items = |tester: &Tester| {
        let of = |(event, _): &(Event, _)| {
            let Event::Decision(DecisionEvent::Recorded { decisions, .. }) = event else {
                return None;
            };
            Some(decisions.clone())
        };
        let items = tester.log().iter().filter_map(of).flatten();
        items.map(|it| (it.no, it.supersedes, it.depends_on)).collect::<Vec<_>>()
    };
    assert_eq!(
        items(&tester),
        [(1, None, vec![]), (2, Some(1), vec![3]), (3, None, vec![1]), (4, None, vec![])]
    );
    assert_eq!(
        tester.run.decision(1).unwrap().state,
        DecisionState::Standing,
        "it holds again where the package that replaces it is rejected"
    );
    tester.does(&lock(3, "ada"));
    let third = decision(&[("decision", "Two threads"), ("supersedes", "3")]);
    tester.hands("reviewer", "implementer", plan(vec![third]));
    assert_eq!(items(&tester)[4], (5, None, vec![]), "only a person replaces what is locked");
}
