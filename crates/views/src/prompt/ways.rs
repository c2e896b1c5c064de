//! The actions that the receiver of a handoff may take: all ways to hand on, and all alternatives.

use baton_core::contract::Contract;
use baton_core::document::Node;
use baton_core::gate::GateKind;
use baton_core::names::{AgentId, CheckName};
use baton_core::outcome::Outcome;
use baton_core::run::{Kind, State};
use baton_core::workflow::{Delegate, Edge, EdgeGate, Place, Step, Target, Workflow};

use super::asks;
use super::brief::Brief;

/// One action, with when to take it and what it requires.
pub(super) struct PromptWay<'a> {
    pub(super) when: String,
    pub(super) notes: Vec<String>,
    pub(super) contract: Option<&'a Contract>,
    /// The action to take before.
    pub(super) first: Option<PromptAction>,
    pub(super) act: PromptAction,
}

/// A message to Baton. The packages are examples, to be filled in.
pub(super) enum PromptAction {
    Accept,
    /// Along an edge, or to a person with what blocks the work.
    HandOn {
        to: AgentId,
        outcome: Outcome,
        example: Node,
    },
    Delegate {
        to: AgentId,
        example: Node,
    },
    Escalate {
        example: Node,
    },
    /// Back to the agent that delegated it.
    Return {
        to: AgentId,
        outcome: Outcome,
        example: Node,
    },
    Reject,
    Clarify,
    Answer,
    /// That a check has passed.
    Record {
        check: CheckName,
    },
}

impl<'a> PromptWay<'a> {
    fn new(when: impl Into<String>, act: PromptAction) -> Self {
        Self { when: when.into(), notes: Vec::new(), contract: None, first: None, act }
    }
}

/// How to accept the handoff, where it is not accepted yet.
pub(super) fn accept(brief: &Brief) -> Option<PromptWay<'_>> {
    if brief.handoff.state != State::Pending || brief.handoff.kind == Kind::Question {
        return None;
    }
    let mut way = PromptWay::new("Accept it before you work", PromptAction::Accept);
    way.notes.push("A refusal (conflict) means that another agent has it: stop.".to_owned());
    if brief.is_return_to_caller() {
        let number = brief.work.number;
        way.notes.push(format!("That gives you your own work back: it is handoff {number}."));
    }
    Some(way)
}

/// Where finished work goes: one action for every edge of the step.
pub(super) fn onward(brief: &Brief) -> Vec<PromptWay<'_>> {
    if brief.handoff.kind == Kind::Question {
        let asker = &brief.handoff.from.agent;
        return vec![PromptWay::new(
            format!("Answer `{asker}`; no need to accept first"),
            PromptAction::Answer,
        )];
    }
    match (&brief.work.place, step(brief), &brief.work.caller) {
        (Place::Step(_), Some(step), _) => {
            step.edges.iter().map(|it| along(&brief.workflow, it)).collect()
        }
        (Place::Delegate(_), _, Some(caller)) => vec![back_to(brief, &caller.agent)],
        (Place::Step(_) | Place::Delegate(_) | Place::Orchestrator | Place::Human, _, _) => {
            Vec::new()
        }
    }
}

/// What to do where the work cannot simply be finished.
pub(super) fn aside(brief: &Brief) -> Vec<PromptWay<'_>> {
    if brief.handoff.kind == Kind::Question {
        return Vec::new();
    }
    let asks = &brief.handoff.asks;
    let question = format!(
        "To ask `{asks}` what the handoff leaves open; then stop, it comes back to you with the answer"
    );
    let mut ways = vec![PromptWay::new(question, PromptAction::Clarify)];
    let delegates = step(brief).map_or(&[][..], |it| &it.delegates);
    ways.extend(delegates.iter().map(|it| delegate(&brief.workflow, it)));
    ways.push(escalate(&brief.workflow));
    ways.extend(reject(brief));
    ways.extend(blocked(brief));
    ways
}

fn step(brief: &Brief) -> Option<&Step> {
    match &brief.work.place {
        Place::Step(id) => brief.workflow.step(id),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
}

fn along<'a>(workflow: &'a Workflow, edge: &'a Edge) -> PromptWay<'a> {
    let place = Workflow::target_place(&edge.to);
    let agents = workflow.agents_at(&place);
    let contract = contract_of(workflow, edge.contract.as_ref());
    let (done, to) = (done_words(edge), receivers(&agents));
    let when = match &edge.to {
        Target::Complete => format!("{done}: end the run, back to {to}"),
        Target::Step(step) if edge.is_back => {
            format!("{done}: send it back to {to} (step `{step}`)")
        }
        Target::Step(step) => format!("{done}: hand it to {to} (step `{step}`)"),
    };
    let first = agents.into_iter().next().unwrap_or_else(AgentId::orchestrator);
    let example = example(contract, "what you did, and what the receiver has to know");
    let act = PromptAction::HandOn { to: first, outcome: edge.on, example };
    let checks = edge.gate.iter().flat_map(|it| &it.checks);
    let first = checks.into_iter().next().map(|it| PromptAction::Record { check: it.clone() });
    let notes = edge.gate.iter().map(gate_words).collect();
    PromptWay { notes, contract, first, ..PromptWay::new(when, act) }
}

fn done_words(edge: &Edge) -> String {
    let words = match edge.on {
        Outcome::Success => "When the work is done",
        Outcome::Failure if edge.is_back => "When what you were given is not good enough",
        Outcome::Failure | Outcome::Unknown => "When the work failed",
        Outcome::Blocked => "When something keeps you from going on",
        Outcome::NeedsReview => "When it has to be reviewed first",
        Outcome::NeedsClarification => "When a question has to be answered first",
        Outcome::Skipped => "When there is nothing to do",
    };
    format!("{words} (`{}`)", edge.on.name())
}

fn receivers(agents: &[AgentId]) -> String {
    let names: Vec<String> = agents.iter().map(|it| format!("`{it}`")).collect();
    match names.as_slice() {
        [one] => one.clone(),
        _ => format!("one of {}", names.join(", ")),
    }
}

fn gate_words(gate: &EdgeGate) -> String {
    let name = &gate.name;
    match gate.kind {
        GateKind::Blocking => format!("A person looks at it before it goes on: {name}."),
        GateKind::Advisory => {
            format!("It goes on at once, and a person may call it back: {name}.")
        }
        GateKind::Automatic => {
            let checks: Vec<String> = gate.checks.iter().map(|it| format!("`{it}`")).collect();
            format!(
                "It goes on by itself once these checks are recorded as passed: {} ({name}). Run and \
                 record each before you hand on, as `passed` or `failed`; what failed or is missing \
                 is put before a person.",
                checks.join(", ")
            )
        }
    }
}

fn back_to<'a>(brief: &'a Brief, caller: &AgentId) -> PromptWay<'a> {
    let contract = contract_of(&brief.workflow, part_of(brief).and_then(|it| it.returns.as_ref()));
    let example = example(contract, "what you found or made, for the agent that waits for it");
    let act = PromptAction::Return { to: caller.clone(), outcome: Outcome::Success, example };
    let when = format!("When your part is done: give it back to `{caller}`, who waits for it");
    PromptWay { contract, ..PromptWay::new(when, act) }
}

/// The workflow's definition of the part that was delegated to the receiver.
fn part_of(brief: &Brief) -> Option<&Delegate> {
    let caller = brief.work.caller.as_ref()?;
    match &caller.place {
        Place::Step(id) => brief.workflow.step(id)?.delegate(&brief.handoff.to.agent),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
}

fn delegate<'a>(workflow: &'a Workflow, delegate: &'a Delegate) -> PromptWay<'a> {
    let to = &delegate.agent;
    let contract = contract_of(workflow, delegate.contract.as_ref());
    let example = example(contract, "what the specialist has to deliver, and from what");
    let when = format!(
        "To have `{to}` do a part of it; then stop, your work waits until the part comes back"
    );
    PromptWay {
        contract,
        ..PromptWay::new(when, PromptAction::Delegate { to: to.clone(), example })
    }
}

fn escalate(workflow: &Workflow) -> PromptWay<'_> {
    let contract = contract_of(workflow, workflow.escalation.as_ref());
    let example = example(contract, "what a person has to decide, and what each choice would cost");
    let when = "To ask a person; then stop, your work waits for the answer";
    PromptWay { contract, ..PromptWay::new(when, PromptAction::Escalate { example }) }
}

fn reject(brief: &Brief) -> Option<PromptWay<'_>> {
    let to = brief.handoff.rejects_to.as_ref()?;
    let when = if brief.is_return_to_caller() {
        format!(
            "To send it back to `{to}` because it is not what you asked for (before you accept)"
        )
    } else if to.is_human() || to.is_orchestrator() {
        "To reject it because it cannot be worked on; a person decides then".to_owned()
    } else {
        format!("To reject it because it cannot be worked on: it goes back to `{to}`")
    };
    Some(PromptWay::new(when, PromptAction::Reject))
}

fn blocked(brief: &Brief) -> Option<PromptWay<'_>> {
    let example = Node::map([
        ("reason", Node::text("<what keeps you from going on, in one sentence>")),
        ("blockers", Node::List(vec![Node::text("<what has to be cleared before you can go on>")])),
        ("attempted", Node::List(vec![Node::text("<what you have tried>")])),
    ]);
    let outcome = Outcome::Blocked;
    match (&brief.work.place, &brief.work.caller) {
        (Place::Delegate(_), Some(caller)) => {
            let to = caller.agent.clone();
            let when = format!("When you are blocked: tell `{to}`, who waits for your part");
            Some(PromptWay::new(when, PromptAction::Return { to, outcome, example }))
        }
        (Place::Step(_), _) => {
            let when = "When you are blocked: a person clears the way, and you get the work again";
            Some(PromptWay::new(
                when,
                PromptAction::HandOn { to: AgentId::human(), outcome, example },
            ))
        }
        (Place::Delegate(_) | Place::Orchestrator | Place::Human, _) => None,
    }
}

fn contract_of<'a>(workflow: &'a Workflow, name: Option<&String>) -> Option<&'a Contract> {
    workflow.contract(name?)
}

/// An example for the contract, or a summary where there is no contract.
fn example(contract: Option<&Contract>, about: &str) -> Node {
    let asked = contract.map(asks::example).filter(|it| !it.is_blank());
    asked.unwrap_or_else(|| Node::map([("summary", Node::Text(format!("<{about}>")))]))
}
