//! `baton question`: agents ask each other inside a step.

use baton_api::{AskAnswer, AskDocument, NewAsk};

use super::outcome::{Deed, show_rehearsed, tell_deed};
use crate::api::{Api, Ask};
use crate::args::QuestionCommand;
use crate::failure::Failure;
use crate::payload;
use crate::show::{self, OutputFormat};

/// A question is given up after twice 30 seconds; the rest is for a slow machine.
const MOST_ROUNDS: usize = 4;

pub(crate) async fn run(api: &Api, verb: &QuestionCommand) -> Result<(), Failure> {
    match verb {
        QuestionCommand::List { run } => list(api, run).await,
        QuestionCommand::Ask { run, agent, to, question, wait, write } => {
            let question = payload::words(Some(question))?.unwrap_or_default();
            let body = NewAsk { agent: agent.clone(), to: to.clone(), question };
            let ask = Ask::post(["runs", run, "questions"], &body).writing(write);
            let reply = api.send(&ask).await?;
            if let Some(rehearsed) = reply.rehearsed()? {
                Deed::new("asked", "ask", to).show_rehearsed();
                show_rehearsed(&rehearsed);
                return Ok(());
            }
            let asked: AskDocument = reply.document()?;
            if *wait {
                return waits(api, run, asked.number).await;
            }
            match api.format {
                OutputFormat::Json => show::answer_document(&reply.body),
                OutputFormat::Table => show::answer(&line(&asked)),
            }
            Ok(())
        }
        QuestionCommand::Answer { run, number, answer, agent, write } => {
            let answer = payload::words(Some(answer))?.unwrap_or_default();
            let body = AskAnswer { answer, agent: agent.clone() };
            let number = number.to_string();
            let ask = Ask::post(["runs", run, "questions", &number, "answer"], &body);
            let deed = Deed::new("answered", "answer", &format!("question {number}"));
            tell_deed(api, &ask.writing(write), &deed).await
        }
        QuestionCommand::Wait { run, number } => waits(api, run, *number).await,
    }
}

/// Waits until the question is no longer open. Without an answer the command fails.
async fn waits(api: &Api, run: &str, number: u32) -> Result<(), Failure> {
    let name = number.to_string();
    for _ in 0..MOST_ROUNDS {
        let ask = Ask::get(["runs", run, "questions", &name]).with("waitSeconds", "25");
        let reply = api.send(&ask).await?;
        let asked: AskDocument = reply.document()?;
        match (asked.status.as_str(), &asked.answer, api.format) {
            ("open", _, _) => {}
            ("answered", _, OutputFormat::Json) => {
                show::answer_document(&reply.body);
                return Ok(());
            }
            ("answered", answer, OutputFormat::Table) => {
                show::answer(&show::block(answer.as_deref().unwrap_or("(lost)")));
                return Ok(());
            }
            (_, _, _) => break,
        }
    }
    let message = format!(
        "question {number} was not answered in time; decide it yourself and say so with `baton decision record`, or ask again"
    );
    Err(Failure::Conflict(message))
}

async fn list(api: &Api, run: &str) -> Result<(), Failure> {
    let listed = api.list::<AskDocument>(Ask::get(["runs", run, "questions"])).await?;
    match api.format {
        OutputFormat::Json => show::answer_json(&listed.into_json()),
        OutputFormat::Table if listed.items.is_empty() => show::note("no agent has asked another"),
        OutputFormat::Table => {
            let lines: Vec<String> = listed.items.iter().map(line).collect();
            show::answer(&lines.join("\n"));
        }
    }
    Ok(())
}

fn line(it: &AskDocument) -> String {
    let (from, to) = (
        show::visible(&it.from.attribution.agent_name),
        show::visible(&it.to.attribution.agent_name),
    );
    let question = show::one_line(it.question.as_deref().unwrap_or("(lost)"));
    let answer = it.answer.as_deref().map(|it| format!("\n  answer: {}", show::one_line(it)));
    let head = format!("{} {} asks {}, {}: {question}", it.number, from, to, it.status);
    head + &answer.unwrap_or_default()
}
