//! The actions that the receiver of a handoff may take, as values for the templates: all ways to
//! hand on, and all alternatives. The packages are examples, to be filled in.

use baton_core::agent::AgentInterface;
use baton_core::contract::{Contract, Profile};
use baton_core::document::Node;
use baton_core::names::{AgentId, StepId};
use baton_core::outcome::Outcome;
use baton_core::run::{Kind, State};
use baton_core::skeleton::stuck_template;
use baton_core::workflow::{Delegate, Edge, FanOut, JoinNeed, Place, Step, Target, Workflow};
use minijinja::context;
use minijinja::value::Value;

use super::brief::{Brief, BriefDetour};
use super::forms::DocumentForm;
use super::{asks, rules};

const PIPELINE_API: &str = "/api/handoffs";

pub(super) fn values(brief: &Brief, interface: AgentInterface) -> Value {
    if brief.handoff.kind == Kind::Question {
        let answer = message(brief, interface, "answer", "answer", "<your answer>");
        let none =
            context! { edges => (), give_back => (), aside => (), rules => (), profile => () };
        return context! { accept => (), answer, resolve => (), form => (), ..none };
    }
    let asked = profile_of(brief, interface);
    let is_pending = brief.handoff.state == State::Pending;
    let edges = step(brief).map_or(&[][..], |it| &it.edges);
    let examples = examples(brief, edges);
    let mut letters = WayLetters::default();
    let edges: Vec<Value> = edges.iter().map(|it| letters.mark(edge(brief, asked, it))).collect();
    let give_back = delegated_by(brief).map(|it| letters.mark(give_back(brief, it)));
    let resolve = brief.handoff.detour.as_ref().map(|it| letters.mark(resolve(brief, it)));
    context! {
        profile => asked.name(),
        rules => rules::demanded(&examples, asked, &brief.project.lint),
        are_answers_required => examples.iter().any(|it| it.member(asks::REVIEW_ANSWERS).is_some()),
        accept => is_pending.then(|| on_handoff(brief, "accept", Vec::new())),
        answer => (),
        edges,
        give_back,
        resolve,
        form => DocumentForm::of(&brief.workflow).map(DocumentForm::name),
        aside => aside(brief, interface, &mut letters),
    }
}

/// Names every way with a letter: A, B and so on, in the order of the prompt.
#[derive(Default)]
struct WayLetters {
    n: u8,
}

impl WayLetters {
    fn mark(&mut self, way: Value) -> Value {
        let letter = char::from(b'A' + self.n.min(25)).to_string();
        self.n += 1;
        context! { letter, ..way }
    }
}

fn step(brief: &Brief) -> Option<&Step> {
    match &brief.work.place {
        Place::Step(id) => brief.workflow.step(id),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
}

/// How severely a package of this interface is taken, unless its edge says otherwise.
fn profile_of(brief: &Brief, interface: AgentInterface) -> Profile {
    let usual = match interface {
        // The pipeline API takes what its document prints.
        AgentInterface::Curl => Profile::Lenient,
        AgentInterface::Cli | AgentInterface::Block => brief.project.profile.unwrap_or_default(),
    };
    brief.workflow.profile.unwrap_or(usual)
}

/// What the packages of all edges look like.
fn examples(brief: &Brief, edges: &[Edge]) -> Vec<Node> {
    let example = |it: &Edge| asks::example_along(&brief.workflow, step(brief), it, "");
    edges.iter().map(example).collect()
}

/// The agent that waits for the part that was delegated to the receiver.
fn delegated_by(brief: &Brief) -> Option<&AgentId> {
    match &brief.work.place {
        Place::Delegate(_) => brief.work.caller.as_ref().map(|it| &it.agent),
        Place::Step(_) | Place::Orchestrator | Place::Human => None,
    }
}

fn edge(brief: &Brief, asked: Profile, edge: &Edge) -> Value {
    let workflow = &brief.workflow;
    let fan_out = edge.fan_out.as_ref().map(|it| fan_out(brief, it));
    let agents = workflow.agents_at(&Workflow::target_place(&edge.to));
    let names: Vec<String> = agents.iter().map(AgentId::to_string).collect();
    let contract = contract_of(workflow, edge.contract.as_ref());
    let about = "what you did, and what the receiver has to know";
    let example = asks::example_along(workflow, step(brief), edge, about);
    let answers_review = brief.is_rework && !edge.is_back;
    let create = HandoffExample {
        action: "hand_on",
        kind: None,
        to: agents.into_iter().next().unwrap_or_else(AgentId::orchestrator),
        outcome: Some(edge.on),
        example: if answers_review { asks::with_review_answers(example) } else { example },
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
    let own_profile = edge.profile.filter(|it| *it != asked).map(Profile::name);
    let of_project = brief.project.lint.min_score.filter(|_| asked == Profile::Strict);
    let min_score = edge.min_score.or(of_project);
    let about = context! { own_profile, min_score, gate, record };
    // The body of the pipeline API names one receiver, which stands for all of them.
    let create = match &fan_out {
        Some(_) => context! { to => all_receivers(brief, edge).join(","), ..create },
        None => create,
    };
    let about = context! { fan_out, ..about };
    context! { agents => names, step, is_back => edge.is_back, ..context! { ..about, ..create } }
}

/// Who gets the work of a fan-out, and who goes on at its join.
fn fan_out(brief: &Brief, fan_out: &FanOut) -> Value {
    let names = |step: &StepId| -> Vec<String> {
        let agents = brief.workflow.agents_at(&Place::Step(step.clone()));
        agents.iter().map(AgentId::to_string).collect()
    };
    let part = |step: &StepId| context! { step => step.to_string(), agents => names(step) };
    let parts: Vec<Value> = fan_out.branches.iter().map(part).collect();
    let need = match fan_out.need {
        JoinNeed::All => "all".to_owned(),
        JoinNeed::Any => "one".to_owned(),
        JoinNeed::AtLeast(_) => fan_out.n_needed().to_string(),
    };
    context! { parts, need, join => fan_out.join.to_string(), joins_with => names(&fan_out.join) }
}

/// One for each branch, as the rules choose them.
fn all_receivers(brief: &Brief, edge: &Edge) -> Vec<String> {
    let workflow = &brief.workflow;
    let sender = &brief.handoff.to.agent;
    let receiver = |target: &Target| {
        let agents = workflow.agents_at(&Workflow::target_place(target));
        let alike = workflow.agent_like(&agents, sender);
        alike.or_else(|| agents.into_iter().next()).map(|it| it.to_string())
    };
    edge.targets().iter().filter_map(receiver).collect()
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

/// A resolver hands the answer back to the blocked agent, which works on with it.
fn resolve(brief: &Brief, detour: &BriefDetour) -> Value {
    let about = "how it is resolved: what the blocked agent has to do now, step by step";
    let resolved = HandoffExample {
        action: "hand_on",
        kind: None,
        to: detour.blocked.clone(),
        outcome: Some(Outcome::Success),
        example: asks::example(None, Some(Outcome::Success), about),
    };
    resolved.value(brief, None)
}

/// What to do where the work cannot simply be finished.
fn aside(brief: &Brief, interface: AgentInterface, letters: &mut WayLetters) -> Value {
    let delegates = step(brief).map_or(&[][..], |it| &it.delegates);
    let clarify = message(brief, interface, "clarify", "question", "<your question>");
    // A person is asked by an escalation: one way to them is enough.
    let clarify = (!brief.handoff.asks.is_human()).then(|| letters.mark(clarify));
    let delegates: Vec<Value> =
        delegates.iter().map(|it| letters.mark(delegate(brief, it))).collect();
    let contract = contract_of(&brief.workflow, brief.workflow.escalation.as_ref());
    let about = "what a person has to decide, and what each choice would cost";
    let example = asks::example(contract, None, about);
    let escalate = HandoffExample {
        action: "escalate",
        kind: Some("escalation"),
        to: AgentId::human(),
        outcome: None,
        example: if contract.is_none() { asks::with_open_questions(example) } else { example },
    };
    let failed = HandoffExample {
        action: "complete",
        kind: None,
        to: brief.handoff.to.agent.clone(),
        outcome: Some(Outcome::Failure),
        example: stuck_template(),
    };
    let has_failure = step(brief).is_some_and(|it| it.edges_on(Outcome::Failure).next().is_some());
    // Without a block, the work counts as failed.
    let may_fail = !has_failure && interface != AgentInterface::Block;
    // What is not good enough goes along the edge, with a package: one way is enough.
    let back = step(brief).and_then(|it| it.edges.iter().find(|it| it.is_back));
    let back = back.map(|it| brief.workflow.agents_at(&Workflow::target_place(&it.to)));
    let is_edge = |to: &&AgentId| back.as_ref().is_some_and(|it| it.contains(to));
    let rejects_to = brief.handoff.rejects_to.as_ref().filter(|it| !is_edge(it));
    let why = "<what has to change, and where>";
    let reject = || {
        let value = on_handoff(brief, "reject", vec![("reason", Node::text(why))]);
        context! { example => why, ..value }
    };
    let is_step = matches!(brief.work.place, Place::Step(_));
    let has_helpers = brief.workflow.blocked_reasons().next().is_some();
    let blocked = HandoffExample {
        action: "hand_on",
        kind: None,
        // Named, a person would be asked past the agents of the table.
        to: if has_helpers { AgentId::orchestrator() } else { AgentId::human() },
        outcome: Some(Outcome::Blocked),
        example: asks::blocked_example(&brief.workflow),
    };
    let blocked_return =
        |caller: &AgentId| returns(caller, Outcome::Blocked, stuck_template()).value(brief, None);
    context! {
        clarify,
        delegates,
        has_helpers,
        escalate => letters.mark(escalate.value(brief, contract)),
        reject => rejects_to.map(|_| letters.mark(reject())),
        rejects_to => rejects_to.map(AgentId::to_string),
        is_reject_to_person => rejects_to.is_some_and(|it| it.is_human() || it.is_orchestrator()),
        blocked => is_step.then(|| letters.mark(blocked.value(brief, None))),
        blocked_return => delegated_by(brief).map(|it| letters.mark(blocked_return(it))),
        failed => (is_step && may_fail).then(|| letters.mark(failed.value(brief, None))),
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
        let printed = asks::print(&self.example);
        let document = self.document(brief);
        if self.action == "complete" {
            return self.completes(brief, &printed);
        }
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
            document,
            contract => contract.map(asks::fields),
            ..request(PIPELINE_API, &body),
        }
    }

    /// Finished work as a whole document, where the workflow's agents hand off in one.
    fn document(&self, brief: &Brief) -> Option<Value> {
        let is_finished = self.action == "hand_on" && self.outcome != Some(Outcome::Blocked);
        let form = DocumentForm::of(&brief.workflow).filter(|_| is_finished)?;
        let from = &brief.handoff.to.agent;
        let text = form.print(from, &self.to, &self.example);
        let receiver = match self.to.is_orchestrator() {
            true => String::new(),
            false => format!("&to={}", self.to),
        };
        let number = brief.work.number;
        let path =
            format!("/api/v1/documents?handoff={number}&agent={from}{receiver}&profile=lenient");
        // Markdown has fences of its own.
        let ticks = if form == DocumentForm::Markdown { "````" } else { "```" };
        let (form, media_type) = (form.name(), form.media_type());
        Some(context! { text, path, form, media_type, ticks })
    }
}

impl HandoffExample {
    /// An outcome for which the workflow has no receiver: the pipeline API has no terms for it, and the
    /// native API does.
    fn completes(self, brief: &Brief, printed: &str) -> Value {
        let handoff = &brief.handoff;
        let outcome = self.outcome.map(Outcome::name);
        let fence = handoff.lease.map(|_| ("fence", Node::Number(i64::from(handoff.fence).into())));
        let members = [
            ("outcome", Node::text(outcome.unwrap_or_default())),
            ("agent", Node::text(handoff.to.agent.as_str())),
            ("package", self.example),
        ];
        let body = Node::map(members.into_iter().chain(fence));
        let path = format!("/api/v1/handoffs/{}/complete", brief.work.number);
        let request = request(&path, &body);
        context! { action => self.action, outcome, example => printed, contract => (), ..request }
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
    context! { path, body => asks::print(body), document => () }
}
