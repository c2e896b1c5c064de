//! `baton decision`: what was decided in a run, by whom and why.

use baton_api::{DecisionDocument, NewDecision, Why};

use super::outcome::{Deed, show_rehearsed, tell_deed};
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
            let deed = Deed::new("recorded", "record", "the decision");
            show_made(api, &api.send(&ask.writing(write)).await?, &deed)
        }
        DecisionCommand::Supersede { run, number, decision, write } => {
            let number = number.to_string();
            let path = ["runs", run, "decisions", &number, "supersede"];
            let ask = Ask::post(path, &body(decision)?);
            let deed = Deed::new("superseded", "supersede", &format!("decision {number}"));
            let reply = api.send(&ask.writing(write)).await;
            show_made(api, &of_those_that_stand(api, run, &number, reply).await?, &deed)
        }
        DecisionCommand::Lock { run, number, reason, write } => {
            let number = number.to_string();
            let body = Why { reason: reason.clone() };
            let ask = Ask::post(["runs", run, "decisions", &number, "lock"], &body);
            let deed = Deed::new("locked", "lock", &format!("decision {number}"));
            let answered = tell_deed(api, &ask.writing(write), &deed).await;
            of_those_that_stand(api, run, &number, answered).await
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
    match api.format {
        OutputFormat::Json => show::answer_document(&reply.body),
        OutputFormat::Table => show::answer(&show::decision(&reply.document()?)),
    }
    Ok(())
}

fn show_made(api: &Api, reply: &ApiReply, deed: &Deed) -> Result<(), Failure> {
    if api.format == OutputFormat::Json {
        show::answer_document(&reply.body);
        return Ok(());
    }
    match reply.rehearsed()? {
        Some(rehearsed) => {
            deed.show_rehearsed();
            show_rehearsed(&rehearsed);
        }
        None => {
            deed.show_done();
            show::answer(&show::decision(&reply.document()?));
        }
    }
    Ok(())
}

/// Names the decision that stands in the place of a superseded one.
async fn of_those_that_stand<T>(
    api: &Api,
    run: &str,
    number: &str,
    result: Result<T, Failure>,
) -> Result<T, Failure> {
    let failure = match result {
        Ok(it) => return Ok(it),
        Err(it) => it,
    };
    if failure.code() != "decision_superseded" {
        return Err(failure);
    }
    let mut newest = number.to_owned();
    // A chain has no circle, and is no longer than the decisions of a run.
    for _ in 0..MOST_SUPERSEDED {
        let ask = Ask::get(["runs", run, "decisions", &newest]);
        let Ok(decision) = api.get::<DecisionDocument>(&ask).await else { break };
        match decision.record.and_then(|it| it.superseded_by) {
            Some(next) => newest = next.to_string(),
            None => break,
        }
    }
    if newest == number {
        return Err(failure);
    }
    let hint =
        || format!("decision {newest} stands in its place: `baton decision show {run} {newest}`");
    Err(failure.with_hint("decision_superseded", hint))
}

/// How many decisions that superseded each other are followed.
const MOST_SUPERSEDED: usize = 100;
