//! `baton workflow new`: a workflow of one's own, as a chain of steps with a review at the end. What the
//! options leave open is asked at a terminal.

use std::fmt::Write as _;

use baton_core::names::{AgentId, StepId, WorkflowName};

use crate::args::NewWorkflow;
use crate::failure::Failure;
use crate::show;

/// What the file will say.
pub(super) struct NewWorkflowPlan<'a> {
    pub(super) name: WorkflowName,
    title: Option<&'a str>,
    /// At least one, in order.
    steps: Vec<(StepId, AgentId)>,
    /// The index of the step that may send work back to the one before it.
    review: Option<usize>,
}

/// The plan, from the options and from a person's answers.
pub(super) fn plan(options: &NewWorkflow) -> Result<NewWorkflowPlan<'_>, Failure> {
    let name = match &options.name {
        Some(name) => name.clone(),
        None => show::typed_line("Name of the workflow, such as `hotfix`:").ok_or_else(unasked)?,
    };
    let name = WorkflowName::parse(&name).map_err(|it| usage(&it))?;
    let steps = options.steps.iter().map(|it| step(it)).collect::<Result<Vec<_>, _>>()?;
    let is_told = !steps.is_empty();
    let steps = if is_told { steps } else { ask_for_steps()? };
    if steps.is_empty() {
        return Err(Failure::Usage("a workflow has at least one step".to_owned()));
    }
    let review = match &options.review {
        Some(review) => Some(review.clone()),
        // Who names the steps by options has no review unless it is an option too.
        None if is_told || steps.len() < 2 => None,
        None => show::typed_line("Which step may send work back to the one before it? [none]"),
    };
    let review = review.filter(|it| !it.is_empty());
    let review = review.map(|it| reviewing(&steps, &it)).transpose()?;
    Ok(NewWorkflowPlan { name, title: options.title.as_deref(), steps, review })
}

/// One line for each step; a blank one ends the list.
fn ask_for_steps() -> Result<Vec<(StepId, AgentId)>, Failure> {
    let mut steps = Vec::new();
    loop {
        let question = match steps.len() {
            0 => "Step 1 and its agent, such as `fix=implementer`:".to_owned(),
            n => format!("Step {}: [no more]", n + 1),
        };
        let line = show::typed_line(&question).ok_or_else(unasked)?;
        if line.is_empty() {
            return Ok(steps);
        }
        match step(&line) {
            Ok(step) => steps.push(step),
            Err(failure) => show::note(&failure.to_string()),
        }
    }
}

fn unasked() -> Failure {
    let message = "name the workflow, and its steps in order: `baton workflow new NAME --step \
                   STEP=AGENT`, with `--step` once for each; only at a terminal they are asked for";
    Failure::Usage(message.to_owned())
}

fn reviewing(steps: &[(StepId, AgentId)], review: &str) -> Result<usize, Failure> {
    let index = steps.iter().position(|(id, _)| id.as_str() == review);
    index.filter(|it| *it > 0).ok_or_else(|| {
        let after: Vec<&str> = steps.iter().skip(1).map(|(id, _)| id.as_str()).collect();
        let known = if after.is_empty() { "none".to_owned() } else { after.join(", ") };
        let message =
            format!("`--review {review}` is none of the steps after the first, which are: {known}");
        Failure::Usage(message)
    })
}

impl NewWorkflowPlan<'_> {
    /// The text of the file.
    pub(super) fn text(&self) -> String {
        let Self { name, title, steps, review } = self;
        let mut file = format!("name: {name}\n");
        if let Some(title) = title {
            // A title that YAML could take for something else is quoted.
            let quoted = title.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(file, "title: \"{quoted}\"");
        }
        let first = steps.first().map_or("", |(id, _)| id.as_str());
        let _ = write!(
            file,
            "\nlimits: {{ rounds: 3, retries: 2, stale_after: 30m }}\n\nstart: {first}\n\nsteps:\n"
        );
        let mut before = "";
        for (index, (id, agent)) in steps.iter().enumerate() {
            let next = steps.get(index + 1).map_or("complete", |(id, _)| id.as_str());
            let _ = write!(file, "  {id}:\n    agent: {agent}\n    on:\n      success: {next}\n");
            if *review == Some(index) {
                let _ = writeln!(file, "      failure: {{ to: {before}, back: true }}");
            }
            before = id.as_str();
            file.push('\n');
        }
        file.trim_end().to_owned() + "\n"
    }
}

/// `STEP=AGENT`; without an agent, the agent has the step's name.
fn step(text: &str) -> Result<(StepId, AgentId), Failure> {
    let (step, agent) = text.split_once('=').unwrap_or((text, text));
    let step = StepId::parse(step).map_err(|it| usage(&it))?;
    let agent = AgentId::parse(agent).map_err(|it| usage(&it))?;
    Ok((step, agent))
}

fn usage(error: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(error.to_string())
}
