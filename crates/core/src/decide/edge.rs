//! Which edge leads where, and what it requires of a package.

use std::borrow::Cow;

use super::draft::Draft;
use super::{DecisionContext, branch, dispositions};
use crate::contract::{Contract, ImpliedWay, Profile};
use crate::document::Node;
use crate::document::kind::{DocumentKind, Shape};
use crate::lint::{
    self, Facts, Finding, LintSubject, Parties, RunFact, Score, ScorePart, Settings, StepFact,
};
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::package::Package;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::skeleton::{self, PackageRules};
use crate::workflow::{Edge, Place, Step, Workflow};

/// The edge from `place` to an agent, or the refusal that lists the existing ones.
pub(super) fn edge_to<'a>(
    workflow: &'a Workflow,
    place: &Place,
    to: &AgentId,
    outcome: Option<Outcome>,
) -> Result<&'a Edge, Refusal> {
    let edges = workflow.edges_from(place);
    let leads_there = |it: &&Edge| {
        workflow.agents_along(it).contains(to) && outcome.is_none_or(|outcome| outcome == it.on)
    };
    // An agent that names the join's means the branches before it.
    let joins_there = |it: &&Edge| {
        workflow.agents_at_join(it).contains(to) && outcome.is_none_or(|outcome| outcome == it.on)
    };
    let edge = edges.iter().find(leads_there).or_else(|| edges.iter().find(joins_there));
    edge.ok_or_else(|| Refusal::NotAnEdge {
        from: place.to_string(),
        to: to.clone(),
        outcome,
        known: known_edges(workflow, edges),
    })
}

fn known_edges(workflow: &Workflow, edges: &[Edge]) -> String {
    let known: Vec<String> = edges
        .iter()
        .flat_map(|edge| {
            let agents = workflow.agents_along(edge);
            agents.into_iter().map(move |it| format!("`{it}` on {}", edge.on.name()))
        })
        .collect();
    if known.is_empty() {
        return "nothing leads on from there".to_owned();
    }
    format!("from there it may go to {}", known.join(", "))
}

/// Checks a package against the contract of an edge and with the linter; problems that do not
/// refuse become warnings.
pub(super) fn check_contract(
    draft: &mut Draft<'_>,
    edge: &Edge,
    package: &Package,
    asked: Profile,
) -> Result<Vec<Problem>, Refusal> {
    let ground = draft.ground;
    let profile = edge.profile.or(ground.workflow.profile).unwrap_or(asked);
    let declared = edge.contract.as_ref().and_then(|it| ground.workflow.contract(it));
    let contract = declared.or_else(|| match edge.on {
        Outcome::Blocked => implied(ground, ImpliedWay::Blocked, &package.document),
        Outcome::Success
        | Outcome::Failure
        | Outcome::NeedsReview
        | Outcome::NeedsClarification
        | Outcome::Skipped
        | Outcome::Unknown => None,
    });
    let asked =
        Requirements { contract, min_score: edge.min_score, outcome: Some(edge.on), profile };
    check(draft, asked, package)
}

/// As [`check_contract`], with this contract in the place of the edge's.
pub(super) fn check_only(
    draft: &mut Draft<'_>,
    edge: &Edge,
    contract: &Contract,
    package: &Package,
    asked: Profile,
) -> Result<Vec<Problem>, Refusal> {
    let profile = edge.profile.or(draft.workflow().profile).unwrap_or(asked);
    let outcome = Some(Outcome::Skipped);
    let asked = Requirements { contract: Some(contract), min_score: None, outcome, profile };
    check(draft, asked, package)
}

/// As [`check_contract`], for a package that goes along no edge.
pub(super) fn check_named(
    draft: &mut Draft<'_>,
    contract: Option<&String>,
    package: &Package,
    profile: Profile,
) -> Result<Vec<Problem>, Refusal> {
    let contract = contract.and_then(|it| draft.ground.workflow.contract(it));
    check(draft, Requirements { contract, min_score: None, outcome: None, profile }, package)
}

/// As [`check_contract`], for a package on a way that the workflow does not declare.
pub(super) fn check_implied(
    draft: &mut Draft<'_>,
    way: ImpliedWay,
    package: &Package,
    profile: Profile,
) -> Result<Vec<Problem>, Refusal> {
    let contract = implied(draft.ground, way, &package.document);
    let outcome = match way {
        ImpliedWay::Blocked => Outcome::Blocked,
        ImpliedWay::Error => Outcome::Failure,
        ImpliedWay::Clarification => Outcome::NeedsClarification,
    };
    let asked = Requirements { contract, min_score: None, outcome: Some(outcome), profile };
    check(draft, asked, package)
}

fn implied<'a>(
    ground: DecisionContext<'a>,
    way: ImpliedWay,
    document: &Node,
) -> Option<&'a Contract> {
    let name = way.contract_name(document);
    ground.implied.iter().find(|it| it.name == name)
}

/// A reason of being blocked that the workflow routes is taken by every contract.
fn taking_reasons<'a>(ground: DecisionContext<'a>, contract: &'a Contract) -> Cow<'a, Contract> {
    contract.with_blocked_reasons(ground.workflow.blocked_reasons())
}

/// What a package has to satisfy.
struct Requirements<'a> {
    contract: Option<&'a Contract>,
    min_score: Option<u8>,
    /// How the sender's step ended, where the edge says it.
    outcome: Option<Outcome>,
    profile: Profile,
}

impl Requirements<'_> {
    /// The edge's own minimum always applies, the project's only in strict.
    fn least_score(&self, settings: &Settings) -> Option<u8> {
        self.min_score.or(settings.min_score.filter(|_| self.profile == Profile::Strict))
    }
}

fn check(
    draft: &mut Draft<'_>,
    asked: Requirements<'_>,
    package: &Package,
) -> Result<Vec<Problem>, Refusal> {
    let ground = draft.ground;
    let contract = asked.contract.map(|it| taking_reasons(ground, it));
    let contract = contract.as_deref();
    let document = package.document.as_ref();
    let facts = Facts { outcome: asked.outcome, ..facts(ground, document) };
    let report = lint::lint(&LintSubject {
        document,
        contract,
        facts: &facts,
        settings: ground.lint,
        file: None,
    });
    let mut is_contract_broken = report.refusing(asked.profile).any(|it| it.rule.is_none());
    let mut problems: Vec<Problem> =
        report.refusing(asked.profile).map(Finding::to_problem).collect();
    problems.extend(low_score(&report.score, &asked, ground.lint));
    let unanswered = dispositions::missing(contract, ground.to_answer, package, asked.outcome);
    let answers = unanswered.iter().flat_map(|it| &it.problems).cloned();
    let branch_problem = branch::problem(contract, package);
    let is_branch_refused = branch_problem.is_some() && asked.profile == Profile::Strict;
    let is_unanswered = unanswered.as_ref().is_some_and(|it| it.refuses(asked.profile));
    if problems.is_empty() && !is_unanswered && !is_branch_refused {
        draft.note_score(report.score.points);
        let warnings = report.warnings().map(Finding::to_problem);
        return Ok(warnings.chain(answers).chain(branch_problem).collect());
    }
    if is_unanswered {
        problems.extend(answers);
        is_contract_broken = true;
    }
    if is_branch_refused {
        problems.extend(branch_problem);
        is_contract_broken = true;
    }
    let rules = PackageRules {
        contract,
        facts: &facts,
        settings: ground.lint,
        profile: asked.profile,
        min_score: asked.least_score(ground.lint),
        outcome: asked.outcome,
    };
    let skeleton = skeleton::skeleton(document, &rules);
    let skeleton = match &unanswered {
        Some(it) => it.marked(skeleton, package),
        None => skeleton,
    };
    let skeleton = if is_branch_refused { branch::marked(skeleton) } else { skeleton };
    Err(Refusal::Contract {
        contract: contract.filter(|_| is_contract_broken).map(|it| it.name.clone()),
        problems,
        skeleton: Box::new(skeleton),
    })
}

/// A package that passes in strict with this contract and score, once its marks are filled in. Along an
/// edge, `phases` are the one that ends and the one that comes next.
pub(super) fn template(
    ground: DecisionContext<'_>,
    contract: Option<&Contract>,
    min_score: Option<u8>,
    outcome: Option<Outcome>,
    phases: Option<(&str, &str)>,
) -> Node {
    let facts = Facts { parties: Parties::Known, ..Facts::default() };
    let contract = contract.map(|it| taking_reasons(ground, it));
    let rules = PackageRules {
        contract: contract.as_deref(),
        facts: &facts,
        settings: ground.lint,
        profile: Profile::Strict,
        min_score: min_score.or(ground.lint.min_score),
        outcome,
    };
    let about = "what was done, and what the receiver has to know";
    match phases {
        Some((phase, next)) => skeleton::template_of_phase(&rules, about, phase, next),
        None => skeleton::template(&rules, about),
    }
}

/// As [`template`], for an agent that cannot go on, on a way that the workflow may not declare.
pub(super) fn stuck_template(
    ground: DecisionContext<'_>,
    way: Option<ImpliedWay>,
    min_score: Option<u8>,
    outcome: Option<Outcome>,
) -> Node {
    let facts = Facts::default();
    let contract = way.and_then(|it| implied(ground, it, &skeleton::stuck_template()));
    let contract = contract.map(|it| taking_reasons(ground, it));
    let rules = PackageRules {
        contract: contract.as_deref(),
        facts: &facts,
        settings: ground.lint,
        profile: Profile::Strict,
        min_score: min_score.or(ground.lint.min_score),
        outcome,
    };
    skeleton::stuck_template_for(&rules)
}

/// The core looks at no file: callers with a disk bring what they saw. The run's position is looked
/// up only for a sender that states one.
fn facts(ground: DecisionContext<'_>, document: &Node) -> Facts {
    let Shape { kind, body } = Shape::of(document);
    let says_phase = matches!(kind, DocumentKind::MetadataBlock(_))
        && (body.member("phase").is_some() || body.at("handoff.next_phase").is_some());
    let says_state = body.member("workflow_state").is_some() || says_phase;
    let workflow = ground.workflow;
    let step = |it: &Step| StepFact { id: it.id.to_string(), phase: it.phase.clone() };
    let run = ground.visited.filter(|_| says_state).map(|visited| RunFact {
        workflow: workflow.name.to_string(),
        steps: workflow.steps.iter().map(|it| it.id.to_string()).collect(),
        visited: visited.iter().map(ToString::to_string).collect(),
        at: ground.at.and_then(|it| workflow.step(it)).map(step),
        phases: workflow.steps.iter().map(step).collect(),
    });
    let files = ground.files.cloned().unwrap_or_default();
    Facts { files, run, parties: Parties::Known, outcome: None }
}

fn low_score(score: &Score, asked: &Requirements<'_>, settings: &Settings) -> Option<Problem> {
    let least = asked.least_score(settings)?;
    (score.points < least).then(|| {
        let part = |it: &ScorePart| format!("{} {} of {} ({})", it.name, it.points, it.of, it.why);
        let parts: Vec<String> = score.parts.iter().map(part).collect();
        let message = format!(
            "is {} where {least} are asked for: {}; {} taken off for findings",
            score.points,
            parts.join(", "),
            score.taken
        );
        Problem::new("score", "low_score", message)
    })
}
