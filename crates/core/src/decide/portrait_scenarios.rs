//! Scenarios of portraits: what is shown of the agents is kept with the first handoff of a run, and
//! again with the first one after it has changed.

use super::fixture::*;
use crate::agent::Agent;
use crate::command::Command;
use crate::event::{Event, HandoffEvent};
use crate::registry::Agents;
use crate::run::Run;

/// What the last handoff brought, if anything.
fn brought(tester: &Tester) -> Option<String> {
    let created = |(event, _): &(Event, _)| {
        if let Event::Handoff(HandoffEvent::Created(it)) = event { Some(it.cast) } else { None }
    };
    let cast = tester.log().iter().filter_map(created).next_back().unwrap();
    cast.map(|it| tester.text(it).to_string())
}

fn renamed(id: &str) -> Agents {
    Agents::new([Agent { name: "Another name".to_owned(), ..Agent::unknown(agent(id)) }])
}

#[test]
fn what_is_shown_is_kept_once_and_again_when_it_has_changed() {
    let mut tester = Tester::started();
    let first = brought(&tester).unwrap();
    for known in ["analyst", "implementer", "reviewer"] {
        assert!(first.contains(&format!("\"{known}\":{{")), "{known} is not in {first}");
    }
    tester.hands("analyst", "implementer", plan());
    tester.hands("implementer", "reviewer", nothing());
    assert_eq!(brought(&tester), None, "nothing has changed");
    tester.agents = renamed("implementer");
    tester.rejects(3, "a test is missing");
    assert!(brought(&tester).unwrap().contains("Another name"));
    let since: Vec<u32> = tester.run.casts.iter().map(|it| it.since.0).collect();
    assert_eq!(since, [1, 4]);
    tester.hands("implementer", "reviewer", nothing());
    assert_eq!(brought(&tester), None, "and not again");
}

#[test]
fn what_is_said_after_a_handoff_does_not_change_how_that_was_shown() {
    let mut tester = Tester::started();
    tester.agents = renamed("implementer");
    tester.does(&Command::Post { by: Some(agent("analyst")), words: words("I begin") });
    let casts = |tester: &Tester| {
        tester.run.casts.iter().map(|it| (it.since.0, it.is_after)).collect::<Vec<_>>()
    };
    assert_eq!(casts(&tester), [(1, false), (1, true)], "from the next handoff on");
    tester.hands("analyst", "implementer", plan());
    assert_eq!(brought(&tester), None, "the run has had it");
    tester.agents = renamed("reviewer");
    tester.does(&Command::Post { by: Some(agent("implementer")), words: words("Built") });
    assert_eq!(casts(&tester), [(1, false), (1, true), (2, true)]);
}

#[test]
fn without_agents_nothing_is_kept() {
    let mut tester = Tester::started();
    tester.agents = Agents::default();
    tester.hands("analyst", "implementer", plan());
    assert_eq!(brought(&tester), None);
}

#[test]
fn a_run_keeps_what_was_shown_a_bounded_number_of_times() {
    let mut tester = Tester::started();
    let first = tester.run.casts[0].clone();
    tester.run.casts.resize(Run::MOST_CASTS - 1, first.clone());
    tester.agents = renamed("implementer");
    let hand_on = Command::Create(create("analyst", "implementer", plan()));
    let n_after = |tester: &Tester| tester.would(&hand_on).unwrap().run.casts.len();
    assert_eq!(n_after(&tester), Run::MOST_CASTS, "one more");
    tester.run.casts.push(first);
    assert_eq!(n_after(&tester), Run::MOST_CASTS, "no more");
}
