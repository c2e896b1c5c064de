//! Which edge leads where, and what it requires of a package.

use super::DecisionContext;
use crate::contract::{Contract, Profile};
use crate::document::Node;
use crate::document::kind::Shape;
use crate::lint::{self, Facts, Finding, LintSubject, RunFact, Score, ScorePart, Settings};
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::package::Package;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::skeleton::{self, PackageRules};
use crate::workflow::{Edge, Place, Workflow};

/// The edge from `place` to an agent, or the refusal that lists the existing ones.
pub(super) fn edge_to<'a>(
    workflow: &'a Workflow,
    place: &Place,
    to: &AgentId,
    outcome: Option<Outcome>,
) -> Result<&'a Edge, Refusal> {
    let edges = workflow.edges_from(place);
    let leads_there = |it: &&Edge| {
        workflow.agents_at(&Workflow::target_place(&it.to)).contains(to)
            && outcome.is_none_or(|outcome| outcome == it.on)
    };
    edges.iter().find(leads_there).ok_or_else(|| Refusal::NotAnEdge {
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
            let agents = workflow.agents_at(&Workflow::target_place(&edge.to));
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
    ground: DecisionContext<'_>,
    edge: &Edge,
    package: &Package,
    asked: Profile,
) -> Result<Vec<Problem>, Refusal> {
    let profile = edge.profile.or(ground.workflow.profile).unwrap_or(asked);
    let asked = Requirements {
        contract: edge.contract.as_ref(),
        min_score: edge.min_score,
        outcome: Some(edge.on),
        profile,
    };
    check(ground, asked, package)
}

/// As [`check_contract`], for a package that goes along no edge.
pub(super) fn check_named(
    ground: DecisionContext<'_>,
    contract: Option<&String>,
    package: &Package,
    profile: Profile,
) -> Result<Vec<Problem>, Refusal> {
    check(ground, Requirements { contract, min_score: None, outcome: None, profile }, package)
}

/// What a package has to satisfy.
struct Requirements<'a> {
    contract: Option<&'a String>,
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
    ground: DecisionContext<'_>,
    asked: Requirements<'_>,
    package: &Package,
) -> Result<Vec<Problem>, Refusal> {
    let contract = asked.contract.and_then(|name| ground.workflow.contract(name));
    let document = package.document.as_ref();
    let facts = facts(ground, document);
    let report = lint::lint(&LintSubject {
        document,
        contract,
        facts: &facts,
        settings: ground.lint,
        file: None,
    });
    let is_contract_broken = report.refusing(asked.profile).any(|it| it.rule.is_none());
    let mut problems: Vec<Problem> =
        report.refusing(asked.profile).map(Finding::to_problem).collect();
    problems.extend(low_score(&report.score, &asked, ground.lint));
    if problems.is_empty() {
        return Ok(report.warnings().map(Finding::to_problem).collect());
    }
    let rules = PackageRules {
        contract,
        facts: &facts,
        settings: ground.lint,
        profile: asked.profile,
        min_score: asked.least_score(ground.lint),
        outcome: asked.outcome,
    };
    Err(Refusal::Contract {
        contract: contract.filter(|_| is_contract_broken).map(|it| it.name.clone()),
        problems,
        skeleton: Box::new(skeleton::skeleton(document, &rules)),
    })
}

/// A package that passes in strict with this contract and score, once its marks are filled in.
pub(super) fn template(
    ground: DecisionContext<'_>,
    contract: Option<&Contract>,
    min_score: Option<u8>,
    outcome: Option<Outcome>,
) -> Node {
    let rules = PackageRules {
        contract,
        facts: &Facts::default(),
        settings: ground.lint,
        profile: Profile::Strict,
        min_score: min_score.or(ground.lint.min_score),
        outcome,
    };
    skeleton::template(&rules, "what was done, and what the receiver has to know")
}

/// The core knows nothing of files: callers with a disk lint before they send. The run's position
/// is looked up only for a sender that states one.
fn facts(ground: DecisionContext<'_>, document: &Node) -> Facts {
    let says_state = Shape::of(document).body.member("workflow_state").is_some();
    let run = ground.visited.filter(|_| says_state).map(|visited| RunFact {
        workflow: ground.workflow.name.to_string(),
        steps: ground.workflow.steps.iter().map(|it| it.id.to_string()).collect(),
        visited: visited.iter().map(ToString::to_string).collect(),
    });
    Facts { run, ..Facts::default() }
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
