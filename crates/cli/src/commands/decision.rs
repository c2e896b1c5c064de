//! `baton decision`: what was decided in a run, by whom and why.

use baton_api::{DecisionDocument, NewDecision, Why};

use super::outcome::{show_rehearsed, tell};
use crate::api::{Api, ApiReply, Ask};
use crate::args::{DecisionArgs, DecisionCommand};
use crate::failure::Failure;
use crate::payload;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(api: &Api, verb: &DecisionCommand) -> Result<(), Failure> {
    match verb {
        DecisionCommand::List { run, all } => list(api, run, *all).await,
        DecisionCommand::Show { run, number } => {
            let number = number.to_string();
            let reply = api.send(&Ask::get(["runs", run, "decisions", &number])).await?;
            show_one(api, &reply)
        }
        DecisionCommand::Record { run, decision, write } => {
            let ask = Ask::post(["runs", run, "decisions"], &body(decision)?);
            show_one(api, &api.send(&ask.writing(write)).await?)
        }
        DecisionCommand::Supersede { run, number, decision, write } => {
            let number = number.to_string();
            let path = ["runs", run, "decisions", &number, "supersede"];
            let ask = Ask::post(path, &body(decision)?);
            show_one(api, &api.send(&ask.writing(write)).await?)
        }
        DecisionCommand::Lock { run, number, reason, write } => {
            let number = number.to_string();
            let body = Why { reason: reason.clone() };
            let ask = Ask::post(["runs", run, "decisions", &number, "lock"], &body);
            tell(api, &ask.writing(write)).await
        }
    }
}

fn body(args: &DecisionArgs) -> Result<NewDecision, Failure> {
    Ok(NewDecision {
        decision: payload::words(Some(&args.decision))?.unwrap_or_default(),
        rationale: payload::words(args.because.as_ref())?,
        subject: args.subject.clone(),
        alternatives: args.alternatives.clone(),
        depends_on: args.depends_on.clone(),
        agent: args.agent.clone(),
    })
}

async fn list(api: &Api, run: &str, all: bool) -> Result<(), Failure> {
    let ask = Ask::get(["runs", run, "decisions"]).with_some("all", all.then_some("true"));
    let listed = api.list::<DecisionDocument>(ask).await?;
    match api.format {
        OutputFormat::Json => show::answer_json(&listed.into_json()),
        OutputFormat::Table if listed.items.is_empty() => show::note("nothing is decided yet"),
        OutputFormat::Table => {
            let lines: Vec<String> = listed.items.iter().map(show::decision_line).collect();
            show::answer(&lines.join("\n"));
        }
    }
    Ok(())
}

fn show_one(api: &Api, reply: &ApiReply) -> Result<(), Failure> {
    if api.format == OutputFormat::Json {
        show::answer_document(&reply.body);
        return Ok(());
    }
    match reply.rehearsed()? {
        Some(rehearsed) => show_rehearsed(&rehearsed),
        None => show::answer(&show::decision(&reply.document()?)),
    }
    Ok(())
}
