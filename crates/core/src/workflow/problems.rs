//! What is wrong with a workflow as a state machine; `baton-wire` locates each problem in the file.

use std::collections::BTreeSet;

use super::{Delegate, Edge, EdgeGate, Place, RejectRule, Step, Target, Workflow};
use crate::approval::Approvers;
use crate::contract::{Contract, Profile};
use crate::gate::GateKind;
use crate::lint::{Facts, Settings};
use crate::look_alike::is_same_person;
use crate::names::{Principal, StepId};
use crate::outcome::Outcome;
use crate::person::{Speaker, speaker};
use crate::plural::{counted, counted_as};
use crate::problem::Problem;
use crate::registry::Agents;
use crate::skeleton::{self, PackageRules};

impl Workflow {
    /// Everything that is wrong with the workflow as a state machine, all at once.
    pub fn problems(&self) -> Vec<Problem> {
        let problems = self.reference_problems();
        // Reachability adds nothing where edges have no target.
        if !problems.is_empty() {
            return problems;
        }
        let fan_outs = self.fan_out_problems();
        if fan_outs.is_empty() { self.reach_problems() } else { fan_outs }
    }

    /// What each step, edge and contract says about the others. Of a workflow that could be read in
    /// part, this is true as well.
    pub fn reference_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.steps.is_empty() {
            problems.push(Problem::new("steps", "no_steps", "a workflow needs at least one step"));
            return problems;
        }
        self.edge_problems("start", &self.start, &mut problems);
        self.contract_problems("escalation", self.escalation.as_ref(), &mut problems);
        self.routing_problems(&mut problems);
        if self.start.to == Target::Complete {
            problems.push(Problem::new("start.to", "no_such_step", "must name a step"));
        }
        for step in &self.steps {
            self.step_problems(step, &mut problems);
        }
        problems
    }

    fn routing_problems(&self, problems: &mut Vec<Problem>) {
        for row in &self.routing.rows {
            let path = format!("routing.reasons.{}", row.reason);
            if row.resolvers.is_empty() {
                let message = "names no agent; write `human` for a person";
                problems.push(Problem::new(&path, "no_agent", message));
            }
            for it in row.resolvers.iter().filter(|it| it.agent.is_orchestrator()) {
                let path = it.domain.as_ref().map_or(path.clone(), |it| format!("{path}.{it}"));
                let message = "the orchestrator resolves nothing; name an agent, or `human`";
                problems.push(Problem::new(path, "reserved_agent", message));
            }
        }
    }

    fn step_problems(&self, step: &Step, problems: &mut Vec<Problem>) {
        let path = format!("steps.{}", step.id);
        if step.agents.is_empty() {
            problems.push(Problem::new(format!("{path}.agent"), "no_agent", "names no agent"));
        }
        for agent in step.agents.iter().filter(|it| it.is_human() || it.is_orchestrator()) {
            let message = format!("`{agent}` is reserved and cannot do a step");
            problems.push(Problem::new(format!("{path}.agent"), "reserved_agent", message));
        }
        for (index, delegate) in step.delegates.iter().enumerate() {
            self.delegate_problems(&format!("{path}.delegates[{index}]"), delegate, problems);
        }
        if let RejectRule::To(id) = &step.reject
            && self.step(id).is_none()
        {
            problems.push(self.no_such_step(&format!("{path}.reject_to"), id));
        }
        for (index, edge) in step.edges.iter().enumerate() {
            let path = format!("{path}.on.{}", step.edge_path(index));
            self.edge_problems(&path, edge, problems);
            let is_twin = |it: &Edge| it.on == edge.on && it.to == edge.to;
            if step.edges[..index].iter().any(is_twin) {
                problems.push(Problem::new(path, "twice", "says the same edge twice"));
            }
        }
    }

    fn edge_problems(&self, path: &str, edge: &Edge, problems: &mut Vec<Problem>) {
        let join = edge.fan_out.as_ref().map(|it| &it.join);
        if let Some(join) = join.filter(|it| self.step(it).is_none()) {
            problems.push(self.no_such_step(&format!("{path}.join"), join));
        }
        for id in edge.targets().iter().filter_map(|it| match it {
            Target::Step(id) if self.step(id).is_none() => Some(id),
            Target::Step(_) | Target::Complete => None,
        }) {
            let mut problem = self.no_such_step(&format!("{path}.to"), id);
            if path != "start" {
                problem.message += "; `complete` is the end of the run";
            }
            problems.push(problem);
        }
        if edge.is_back && edge.to == Target::Complete {
            let message = "a back edge leads to a step, not to the end";
            problems.push(Problem::new(format!("{path}.back"), "back_to_end", message));
        }
        if edge.is_back {
            let asking = [
                ("ask_in", !edge.ask_in.is_empty()),
                ("ask_below", edge.threshold.is_some()),
                ("raise", !edge.raise.is_empty()),
            ];
            for (key, _) in asking.into_iter().filter(|(_, is_there)| *is_there) {
                let message =
                    "a way back has no gate: a person is asked when it is taken too often";
                problems.push(Problem::new(format!("{path}.{key}"), "gate_on_back", message));
            }
        }
        self.contract_problems(&format!("{path}.contract"), edge.contract.as_ref(), problems);
        check_problems(path, edge, problems);
        if let Some(gate) = &edge.gate {
            let path = format!("{path}.gate");
            gate_problems(&path, edge, gate, problems);
            if let Some(approvers) = &gate.approvers {
                let path = format!("{path}.approvers");
                self.approver_problems(&path, edge, gate, approvers, problems);
            }
        }
    }

    fn approver_problems(
        &self,
        path: &str,
        edge: &Edge,
        gate: &EdgeGate,
        approvers: &Approvers,
        problems: &mut Vec<Problem>,
    ) {
        let Approvers { need, of, .. } = approvers;
        if !of.is_empty() && *need as usize > of.len() {
            let message = format!(
                "asks for {}, and `of` names {}; name more people, or ask for fewer",
                counted((*need).into(), "approval"),
                counted_as(of.len() as u64, "person", "people")
            );
            problems.push(Problem::new(format!("{path}.need"), "too_few_approvers", message));
        }
        for (index, person) in of.iter().enumerate() {
            let path = format!("{path}.of[{index}]");
            let is_it = |it: &&Principal| is_same_person(it.as_str(), person.as_str());
            if let Some(before) = of[..index].iter().find(is_it) {
                let message = format!("`{person}` and `{before}` are one person; name each once");
                problems.push(Problem::new(&path, "twice", message));
            }
            let agents = self.steps.iter().flat_map(|it| &it.agents);
            let message = match speaker(person, &Agents::default(), agents) {
                Speaker::Person => continue,
                Speaker::Agent(agent) => {
                    format!("`{agent}` is an agent, and only a person approves")
                }
                Speaker::Reserved => format!("`{person}` is reserved, and only a person approves"),
            };
            problems.push(Problem::new(&path, "agent_approves", message));
        }
        if gate.kind == GateKind::Advisory && edge.raise.is_empty() && edge.ask_in.is_empty() {
            let message = "an advisory gate needs no approvals: nothing waits for it; make it blocking, \
                           or say with `raise` beside `gate` when it is";
            problems.push(Problem::new(path, "useless_approvers", message));
        }
    }

    fn delegate_problems(&self, path: &str, delegate: &Delegate, problems: &mut Vec<Problem>) {
        let agent = &delegate.agent;
        if agent.is_human() || agent.is_orchestrator() {
            let message = format!("`{agent}` is reserved and cannot be a delegate");
            problems.push(Problem::new(path, "reserved_agent", message));
        }
        self.contract_problems(&format!("{path}.contract"), delegate.contract.as_ref(), problems);
        self.contract_problems(&format!("{path}.returns"), delegate.returns.as_ref(), problems);
    }

    fn contract_problems(&self, path: &str, name: Option<&String>, problems: &mut Vec<Problem>) {
        let Some(name) = name.filter(|it| self.contract(it).is_none()) else { return };
        let known: Vec<&str> = self.contracts.iter().map(|it| it.name.as_str()).collect();
        let message = match known[..] {
            [] => format!("there is no contract `{name}`; the workflow declares none"),
            _ => format!("there is no contract `{name}`; known: {}", known.join(", ")),
        };
        problems.push(Problem::new(path, "no_such_contract", message));
    }

    fn no_such_step(&self, path: &str, id: &StepId) -> Problem {
        let known: Vec<&str> = self.steps.iter().map(|it| it.id.as_str()).collect();
        let message = format!("there is no step `{id}`; known: {}", known.join(", "));
        Problem::new(path, "no_such_step", message)
    }

    /// Steps that no work reaches, and work that reaches no end. Only a workflow without other
    /// problems can be judged.
    fn reach_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut reached: BTreeSet<Place> = BTreeSet::from([Place::Orchestrator]);
        let mut ahead = vec![Place::Orchestrator];
        while let Some(place) = ahead.pop() {
            for target in self.edges_from(&place).iter().flat_map(Edge::targets) {
                // The end is the orchestrator too, which is already reached.
                let to = Self::target_place(&target);
                if reached.insert(to.clone()) {
                    ahead.push(to);
                }
            }
        }
        for step in &self.steps {
            if !reached.contains(&Place::Step(step.id.clone())) {
                let message =
                    "no edge leads here from the start; name it in `to` of an edge, or remove it";
                problems.push(Problem::new(format!("steps.{}", step.id), "unreachable", message));
            }
        }
        let ends = |edge: &Edge| edge.to == Target::Complete && edge.on == Outcome::Success;
        if let Some(problem) = self.no_way_to_the_end(&reached) {
            problems.insert(0, problem);
        } else if !self.edges().any(|(_, it)| ends(it)) {
            let message = "no step has `success: complete`, so no run could ever end";
            problems.push(Problem::new("steps", "no_end", message));
        }
        for step in &self.steps {
            if !step.edges.iter().any(|it| it.on == Outcome::Success) {
                let message = "has no edge on success, so good work would have nowhere to go";
                let path = format!("steps.{}.on", step.id);
                problems.push(Problem::new(path, "no_success", message));
            }
        }
        problems
    }

    /// Contracts that contradict themselves: no package could keep them, in lenient or in strict. A run
    /// that has one waits for a person, so it is not stopped by it.
    pub fn impossible_contracts(&self) -> Vec<Problem> {
        let (facts, settings) = (Facts::default(), Settings::default());
        let broken = |contract: &Contract, profile: Profile| {
            let rules = PackageRules {
                contract: Some(contract),
                facts: &facts,
                settings: &settings,
                profile,
                min_score: None,
                outcome: None,
            };
            let sample = skeleton::sample_of(&rules);
            let report = contract.check(&sample);
            report.refusing(profile).first().map(|it| it.path.clone())
        };
        let problem = |contract: &Contract| {
            let lenient = broken(contract, Profile::Lenient).map(|it| (it, ""));
            let (field, which) = lenient.or_else(|| {
                broken(contract, Profile::Strict).map(|it| (it, ", `must` and `should`,"))
            })?;
            let in_strict = if which.is_empty() { "" } else { " in strict" };
            let message = format!(
                "no package can keep this contract{in_strict}: its rules about `{field}`{which} \
                 contradict each other"
            );
            let path = format!("contracts.{}", contract.name);
            Some(Problem::new(path, "contradictory_contract", message))
        };
        self.contracts.iter().filter_map(problem).collect()
    }

    /// Steps that can neither reject what comes to them nor send it on as bad: their agent can only
    /// fail, and be tried again, until a person is asked.
    pub fn steps_without_a_no(&self) -> Vec<&Step> {
        let can_refuse = |step: &Step| {
            step.reject != RejectRule::Never || step.edges_on(Outcome::Failure).next().is_some()
        };
        self.steps.iter().filter(|it| !can_refuse(it)).collect()
    }

    /// Cycles that nothing leads out of: work in them never comes to the end of the run. It goes on
    /// until a person is asked, so a run that has such a workflow is not stopped by it.
    pub fn endless_cycles(&self) -> Vec<Problem> {
        let graph = self.graph();
        let endless = graph.cycles().iter().filter(|it| !graph.can_end(it));
        let problem = |cycle: &Vec<StepId>| {
            let steps: Vec<&str> = cycle.iter().map(StepId::as_str).collect();
            let steps = steps.join(", ");
            let path = cycle.first().map_or_else(String::new, |it| format!("steps.{it}"));
            let message = format!(
                "nothing leads out of the cycle {steps}: its work goes round until a person is \
                 asked, and never completes; give one of these steps an edge towards `complete`"
            );
            Problem::new(path, "endless_cycle", message)
        };
        endless.map(problem).collect()
    }
}

fn check_problems(path: &str, edge: &Edge, problems: &mut Vec<Problem>) {
    if edge.is_back && !edge.checks.is_empty() {
        let message = "a way back has no checks: the work is on its way to be done again";
        problems.push(Problem::new(format!("{path}.checks"), "checks_on_back", message));
    }
}

fn gate_problems(path: &str, edge: &Edge, gate: &EdgeGate, problems: &mut Vec<Problem>) {
    if edge.is_back {
        let message = "a way back has no gate: a person is asked when it is taken too often";
        problems.push(Problem::new(path, "gate_on_back", message));
    }
    if gate.kind == GateKind::Advisory && edge.to == Target::Complete {
        let message = "an advisory gate at the end would be over at once: nothing goes on after it";
        problems.push(Problem::new(path, "advisory_at_end", message));
    }
    for (answer, _) in &gate.options {
        let is_taken = matches!(answer.as_str(), "approve" | "reject");
        if gate.kind == GateKind::Advisory && !is_taken {
            let message =
                "an advisory gate takes `approve` and `reject` only: nothing waits for it";
            problems.push(Problem::new(
                format!("{path}.options.{answer}"),
                "useless_option",
                message,
            ));
        }
    }
    match (gate.kind, gate.checks.is_empty()) {
        (GateKind::Automatic, true) => {
            let message = "an automatic gate needs checks that could pass";
            problems.push(Problem::new(format!("{path}.checks"), "no_checks", message));
        }
        (GateKind::Blocking | GateKind::Advisory, false) => {
            let message = "only an automatic gate has checks";
            problems.push(Problem::new(format!("{path}.checks"), "useless_checks", message));
        }
        (GateKind::Automatic, false) | (GateKind::Blocking | GateKind::Advisory, true) => {}
    }
}
