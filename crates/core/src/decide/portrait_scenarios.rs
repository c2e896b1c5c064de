//! Scenarios of portraits: what is shown of an agent is kept with the first handoff that it has a part
//! in, and again when it has changed.

use super::fixture::*;
use crate::agent::Agent;
use crate::command::Command;
use crate::event::{Created, Event, HandoffEvent};
use crate::names::AgentId;
use crate::registry::Agents;
use crate::run::{Portrait, Run};

/// Whose portraits the last handoff brought, sender first.
fn brought(tester: &Tester) -> String {
    let created = |(event, _): &(Event, _)| {
        if let Event::Handoff(HandoffEvent::Created(it)) = event { Some(it.clone()) } else { None }
    };
    let Created { from, to, from_portrait, to_portrait, .. } =
        tester.log().iter().filter_map(created).next_back().unwrap();
    let shown = |agent: &AgentId, portrait: Option<_>| portrait.map(|_| agent.to_string());
    let both = [shown(&from.agent, from_portrait), shown(&to.agent, to_portrait)];
    both.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn renamed(id: &str) -> Agents {
    Agents::new([Agent { name: "Another name".to_owned(), ..Agent::unknown(agent(id)) }])
}

#[test]
fn a_portrait_is_kept_once_and_again_when_it_has_changed() {
    let mut tester = Tester::started();
    assert_eq!(brought(&tester), "analyst", "the orchestrator is no agent of the project");
    tester.hands("analyst", "implementer", plan());
    assert_eq!(brought(&tester), "implementer", "that of the analyst is known");
    tester.hands("implementer", "reviewer", nothing());
    assert_eq!(brought(&tester), "reviewer");
    tester.agents = renamed("implementer");
    tester.rejects(3, "a test is missing");
    assert_eq!(brought(&tester), "implementer", "it is shown by another name now");
    let text = tester.run.portrait(&agent("implementer"), tester.run.handoffs[0].no).unwrap();
    assert!(tester.text(text).contains("Another name"));
}

#[test]
fn work_that_an_agent_gives_itself_brings_its_portrait_once() {
    let mut workflow = pipeline();
    workflow.steps[1].agents = vec![agent("analyst")];
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.agents = renamed("analyst");
    tester.hands("analyst", "analyst", plan());
    let last = tester.run.current().unwrap();
    assert_eq!((last.from.agent.as_str(), last.to.agent.as_str()), ("analyst", "analyst"));
    assert_eq!(brought(&tester), "analyst");
}

#[test]
fn a_run_keeps_a_bounded_number_of_portraits() {
    let mut tester = Tester::started();
    let first = tester.run.portraits[0].clone();
    let other = |n: usize| Portrait { agent: agent(&format!("other-{n}")), ..first.clone() };
    tester.run.portraits.extend((1..Run::MOST_PORTRAITS - 1).map(other));
    let hand_on = Command::Create(create("analyst", "implementer", plan()));
    let n_after = |tester: &Tester| tester.would(&hand_on).unwrap().run.portraits.len();
    assert_eq!(n_after(&tester), Run::MOST_PORTRAITS, "one more");
    tester.run.portraits.push(other(Run::MOST_PORTRAITS));
    assert_eq!(n_after(&tester), Run::MOST_PORTRAITS, "no more");
}
