//! The actions that the receiver of a handoff may take, as values for the templates: all ways to
//! hand on, and all alternatives. The packages are examples, to be filled in.

use baton_core::agent::AgentInterface;
use baton_core::contract::Contract;
use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_core::run::{Kind, State};
use baton_core::skeleton::stuck_template;
use baton_core::workflow::{Delegate, Edge, Place, Step, Target, Workflow};
use baton_wire::json;
use minijinja::context;
use minijinja::value::Value;

use super::asks;
use super::brief::Brief;

const PIPELINE_API: &str = "/api/handoffs";

pub(super) fn values(brief: &Brief, interface: AgentInterface) -> Value {
    if brief.handoff.kind == Kind::Question {
        let answer = message(brief, interface, "answer", "answer", "<your answer>");
        return context! { accept => (), answer, edges => (), give_back => (), aside => () };
    }
    let is_pending = brief.handoff.state == State::Pending;
    let edges = step(brief).map_or(&[][..], |it| &it.edges);
    let edges: Vec<Value> = edges.iter().map(|it| edge(brief, it)).collect();
    context! {
        accept => is_pending.then(|| on_handoff(brief, "accept", Vec::new())),
        answer => (),
        edges,
        give_back => delegated_by(brief).map(|it| give_back(brief, it)),
        aside => aside(brief, interface),
    }
}

fn step(brief: &Brief) -> Option<&Step> {
    match &brief.work.place {
        Place::Step(id) => brief.workflow.step(id),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
}

/// The agent that waits for the part that was delegated to the receiver.
fn delegated_by(brief: &Brief) -> Option<&AgentId> {
    match &brief.work.place {
        Place::Delegate(_) => brief.work.caller.as_ref().map(|it| &it.agent),
        Place::Step(_) | Place::Orchestrator | Place::Human => None,
    }
}

fn edge(brief: &Brief, edge: &Edge) -> Value {
    let workflow = &brief.workflow;
    let agents = workflow.agents_at(&Workflow::target_place(&edge.to));
    let names: Vec<String> = agents.iter().map(AgentId::to_string).collect();
    let contract = contract_of(workflow, edge.contract.as_ref());
    let create = HandoffExample {
        action: "hand_on",
        kind: None,
        to: agents.into_iter().next().unwrap_or_else(AgentId::orchestrator),
        outcome: Some(edge.on),
        example: asks::example(
            contract,
            Some(edge.on),
            "what you did, and what the receiver has to know",
        ),
    };
    let step = match &edge.to {
        Target::Complete => None,
        Target::Step(step) => Some(step.to_string()),
    };
    let gate = edge.gate.as_ref().map(|it| {
        let checks: Vec<String> = it.checks.iter().map(ToString::to_string).collect();
        context! { kind => it.kind.name(), name => it.name.to_string(), checks }
    });
    let check = edge.gate.as_ref().and_then(|it| it.checks.first());
    let record = check.map(|it| {
        let body =
            Node::map([("check", Node::text(it.as_str())), ("verdict", Node::text("passed"))]);
        let path = format!("/api/v1/handoffs/{}/evidence", brief.work.number);
        context! { action => "evidence", check => it.to_string(), ..request(&path, &body) }
    });
    let create = create.value(brief, contract);
    context! { agents => names, step, is_back => edge.is_back, gate, record, ..create }
}

fn give_back(brief: &Brief, caller: &AgentId) -> Value {
    let part = brief.work.caller.as_ref().and_then(|it| match &it.place {
        Place::Step(id) => brief.workflow.step(id)?.delegate(&brief.handoff.to.agent),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    });
    let contract = contract_of(&brief.workflow, part.and_then(|it| it.returns.as_ref()));
    let about = "what you found or made, for the agent that waits for it";
    let example = asks::example(contract, Some(Outcome::Success), about);
    returns(caller, Outcome::Success, example).value(brief, contract)
}

/// What to do where the work cannot simply be finished.
fn aside(brief: &Brief, interface: AgentInterface) -> Value {
    let delegates = step(brief).map_or(&[][..], |it| &it.delegates);
    let delegates: Vec<Value> = delegates.iter().map(|it| delegate(brief, it)).collect();
    let contract = contract_of(&brief.workflow, brief.workflow.escalation.as_ref());
    let escalate = HandoffExample {
        action: "escalate",
        kind: Some("escalation"),
        to: AgentId::human(),
        outcome: None,
        example: asks::example(
            contract,
            None,
            "what a person has to decide, and what each choice would cost",
        ),
    };
    let rejects_to = brief.handoff.rejects_to.as_ref();
    let why = "<what has to change, and where>";
    let reject = || {
        let value = on_handoff(brief, "reject", vec![("reason", Node::text(why))]);
        context! { example => why, ..value }
    };
    let is_step = matches!(brief.work.place, Place::Step(_));
    let blocked = HandoffExample {
        action: "hand_on",
        kind: None,
        to: AgentId::human(),
        outcome: Some(Outcome::Blocked),
        example: stuck_template(),
    };
    let blocked_return =
        |caller: &AgentId| returns(caller, Outcome::Blocked, stuck_template()).value(brief, None);
    context! {
        clarify => message(brief, interface, "clarify", "question", "<your question>"),
        delegates,
        escalate => escalate.value(brief, contract),
        reject => rejects_to.map(|_| reject()),
        rejects_to => rejects_to.map(AgentId::to_string),
        is_reject_to_person => rejects_to.is_some_and(|it| it.is_human() || it.is_orchestrator()),
        blocked => is_step.then(|| blocked.value(brief, None)),
        blocked_return => delegated_by(brief).map(blocked_return),
    }
}

fn delegate(brief: &Brief, delegate: &Delegate) -> Value {
    let contract = contract_of(&brief.workflow, delegate.contract.as_ref());
    let create = HandoffExample {
        action: "delegate",
        kind: Some("delegation"),
        to: delegate.agent.clone(),
        outcome: None,
        example: asks::example(contract, None, "what the specialist has to deliver, and from what"),
    };
    create.value(brief, contract)
}

fn returns(to: &AgentId, outcome: Outcome, example: Node) -> HandoffExample {
    let (to, outcome) = (to.clone(), Some(outcome));
    HandoffExample { action: "return", kind: Some("return"), to, outcome, example }
}

fn contract_of<'a>(workflow: &'a Workflow, name: Option<&String>) -> Option<&'a Contract> {
    workflow.contract(name?)
}

/// A handoff that the receiver may create.
struct HandoffExample {
    /// Its name in the templates.
    action: &'static str,
    kind: Option<&'static str>,
    to: AgentId,
    outcome: Option<Outcome>,
    example: Node,
}

impl HandoffExample {
    fn value(self, brief: &Brief, contract: Option<&Contract>) -> Value {
        let outcome = self.outcome.map(Outcome::name);
        let (is_to_person, to) = (self.to.is_human(), self.to.to_string());
        let printed = json::print_pretty(&self.example);
        let members = [
            ("action", Node::text("create")),
            ("storyId", Node::text(brief.story.as_str())),
            ("fromAgent", Node::text(brief.handoff.to.agent.as_str())),
            ("toAgent", Node::text(&to)),
        ];
        let kind = self.kind.map(|it| ("kind", Node::text(it)));
        let on = outcome.map(|it| ("outcome", Node::text(it)));
        let all = members.into_iter().chain(kind).chain(on);
        let body = Node::map(all.chain([("payload", self.example)]));
        context! {
            action => self.action,
            to,
            is_to_person,
            outcome,
            example => printed,
            contract => contract.map(asks::fields),
            ..request(PIPELINE_API, &body),
        }
    }
}

/// An action on the handoff itself, for the pipeline API. A block is read by the same rules.
fn on_handoff(brief: &Brief, action: &'static str, more: Vec<(&'static str, Node)>) -> Value {
    let members = [
        ("action", Node::text(action)),
        ("handoffId", Node::count(brief.handoff.number)),
        ("agent", Node::text(brief.handoff.to.agent.as_str())),
    ];
    let body = Node::map(members.into_iter().chain(more));
    context! { action, contract => (), ..request(PIPELINE_API, &body) }
}

/// A question or an answer. The pipeline API has no terms for these: the native API does.
fn message(
    brief: &Brief,
    interface: AgentInterface,
    action: &'static str,
    member: &'static str,
    example: &str,
) -> Value {
    let handoff = &brief.handoff;
    let said = (member, Node::text(example));
    if interface == AgentInterface::Block {
        return on_handoff(brief, action, vec![said]);
    }
    let fence = handoff.lease.map(|_| ("fence", Node::Number(i64::from(handoff.fence).into())));
    let agent = ("agent", Node::text(handoff.to.agent.as_str()));
    let body = Node::map([agent, said].into_iter().chain(fence));
    let path = format!("/api/v1/handoffs/{}/{action}", handoff.number);
    context! { action, example, contract => (), ..request(&path, &body) }
}

fn request(path: &str, body: &Node) -> Value {
    context! { path, body => json::print_pretty(body) }
}
