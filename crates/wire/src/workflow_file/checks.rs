//! Whether the checks that a workflow asks for are those that the project has commands for. A check
//! without a command is no error: its result is posted. A slip in its name is one.

use baton_core::evidence::PACKAGE_CHECK;
use baton_core::names::CheckName;
use baton_core::problem::Problem;
use baton_core::workflow::{Edge, Workflow};

use crate::suggest::nearest;

/// A check that an edge asks for.
struct AskedCheck<'a> {
    /// Of its list, in the workflow's file.
    path: String,
    index: usize,
    name: &'a CheckName,
}

/// The checks that are probably misspelt, each with its path in the workflow's file.
pub(super) fn problems(workflow: &Workflow, known: &[CheckName]) -> Vec<Problem> {
    let names: Vec<&str> = known.iter().map(CheckName::as_str).collect();
    let slip = |it: AskedCheck<'_>| {
        let near = nearest(it.name.as_str(), &names)?;
        let AskedCheck { path, index, name } = it;
        let message = format!(
            "`{name}` is no check of `[checks]` in baton.toml; did you mean `{near}`? If its result \
             comes from elsewhere, give it a name that is not so near"
        );
        Some(Problem::new(format!("{path}[{index}]"), "unknown_check", message))
    };
    without_command(workflow, known).filter_map(slip).collect()
}

/// The checks whose results have to be posted, in sentences.
pub fn posted_checks(workflow: &Workflow, known: &[CheckName]) -> Vec<String> {
    let sentence = |AskedCheck { path, name, .. }: AskedCheck<'_>| {
        format!(
            "`{path}`: `{name}` has no command in baton.toml; add `[checks.{name}]`, or post its \
             result with `baton evidence HANDOFF {name} passed`"
        )
    };
    without_command(workflow, known).map(sentence).collect()
}

fn without_command<'a>(
    workflow: &'a Workflow,
    known: &[CheckName],
) -> impl Iterator<Item = AskedCheck<'a>> {
    let start = [("start".to_owned(), &workflow.start)].into_iter();
    let of_steps = workflow.steps.iter().flat_map(|step| {
        step.edges.iter().enumerate().map(|(index, edge)| {
            let (id, on) = (&step.id, edge.on.name());
            let n_before = step.edges[..index].iter().filter(|it| it.on == edge.on).count();
            match step.edges_on(edge.on).count() {
                1 => (format!("steps.{id}.on.{on}"), edge),
                _ => (format!("steps.{id}.on.{on}[{n_before}]"), edge),
            }
        })
    });
    start
        .chain(of_steps)
        .flat_map(|(path, edge)| asked(&path, edge))
        .filter(|it| !(known.contains(it.name) || it.name.as_str() == PACKAGE_CHECK))
}

fn asked<'a>(path: &str, edge: &'a Edge) -> Vec<AskedCheck<'a>> {
    let list = |path: String, checks: &'a [CheckName]| {
        let of = move |(index, name)| AskedCheck { path: path.clone(), index, name };
        checks.iter().enumerate().map(of)
    };
    let of_gate = edge.gate.as_ref().map_or(&[][..], |it| &it.checks);
    let own = list(format!("{path}.checks"), &edge.checks);
    own.chain(list(format!("{path}.gate.checks"), of_gate)).collect()
}
