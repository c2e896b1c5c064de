//! `baton workflow new`: a workflow of one's own, as a chain of steps with a review at the end.

use std::fmt::Write as _;

use baton_core::names::{AgentId, StepId, WorkflowName};

use crate::args::NewWorkflow;
use crate::failure::Failure;

/// The text of the file.
pub(super) fn text(asked: &NewWorkflow) -> Result<String, Failure> {
    let usage = |it: &dyn std::fmt::Display| Failure::Usage(it.to_string());
    let name = WorkflowName::parse(&asked.name).map_err(|it| usage(&it))?;
    let steps = asked.steps.iter().map(|it| step(it)).collect::<Result<Vec<_>, _>>()?;
    let Some(((first, _), _)) = steps.split_first() else {
        let message = "name the steps in order: `--step STEP=AGENT`, once for each";
        return Err(Failure::Usage(message.to_owned()));
    };
    if let Some(review) = &asked.review {
        let index = steps.iter().position(|(id, _)| id.as_str() == review);
        if index.is_none_or(|it| it == 0) {
            let message = format!("`--review {review}` is none of the steps after the first");
            return Err(Failure::Usage(message));
        }
    }
    let mut file = format!("name: {name}\n");
    if let Some(title) = &asked.title {
        // A title that YAML could take for something else is quoted.
        let _ = writeln!(file, "title: \"{}\"", title.replace('\\', "\\\\").replace('"', "\\\""));
    }
    let _ = write!(
        file,
        "\nlimits: {{ rounds: 3, retries: 2, stale_after: 30m }}\n\nstart: {first}\n\nsteps:\n"
    );
    for (index, (id, agent)) in steps.iter().enumerate() {
        let next = steps.get(index + 1).map_or("complete", |(id, _)| id.as_str());
        let _ = write!(file, "  {id}:\n    agent: {agent}\n    on:\n      success: {next}\n");
        if asked.review.as_deref() == Some(id.as_str()) {
            let before = &steps[index - 1].0;
            let _ = writeln!(file, "      failure: {{ to: {before}, back: true }}");
        }
        file.push('\n');
    }
    Ok(file.trim_end().to_owned() + "\n")
}

/// `STEP=AGENT`; without an agent, the agent has the step's name.
fn step(text: &str) -> Result<(StepId, AgentId), Failure> {
    let (step, agent) = text.split_once('=').unwrap_or((text, text));
    let step = StepId::parse(step).map_err(|it| Failure::Usage(it.to_string()))?;
    let agent = AgentId::parse(agent).map_err(|it| Failure::Usage(it.to_string()))?;
    Ok((step, agent))
}
