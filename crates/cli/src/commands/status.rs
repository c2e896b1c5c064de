//! `baton status`: one screen: who has the baton, and what waits for you.

use baton_core::document::Node;
use baton_core::run::{Baton, RunStatus};
use baton_store::{RunFilter, RunRow};

use crate::failure::Failure;
use crate::session::Session;
use crate::show::{self, Format};

pub(crate) async fn run(session: &Session) -> Result<(), Failure> {
    let engine = &session.engine;
    let filter =
        RunFilter { statuses: vec![RunStatus::Open, RunStatus::Paused], ..RunFilter::default() };
    let runs = engine.store().runs(&filter).await?;
    let stories = engine.stories().await?;
    let n_waiting = stories.iter().filter(|it| it.latest.is_none()).count();
    match session.format {
        Format::Json => {
            let mut open = Vec::new();
            let mut for_you = Vec::new();
            for row in &runs {
                let run = show::run_json(row, engine.workflow_of(row).await?.as_ref());
                if what_to_type(row).is_some() {
                    for_you.push(run.clone());
                }
                open.push(run);
            }
            show::answer_json(&Node::map([
                ("runs", Node::List(open)),
                ("waitsForYou", Node::List(for_you)),
                (
                    "storiesWaiting",
                    Node::Number(i64::try_from(n_waiting).unwrap_or(i64::MAX).into()),
                ),
            ]));
        }
        Format::Table => show_screen(session, &runs, n_waiting),
    }
    Ok(())
}

fn show_screen(session: &Session, runs: &[RunRow], n_waiting: usize) {
    show::answer(&format!(
        "{} {}",
        show::bold("baton"),
        show::dim(&session.project.root.display().to_string())
    ));
    if runs.is_empty() {
        show::answer("\nno run is open");
    } else {
        show::answer("");
        show::answer(&show::runs_table(runs, session.engine.clock().now()));
    }
    let for_you: Vec<String> = runs.iter().filter_map(what_to_type).collect();
    if !for_you.is_empty() {
        show::answer(&format!("\n{}", show::bold("waits for you")));
        for line in for_you {
            show::answer(&format!("  {line}"));
        }
    }
    match n_waiting {
        0 => {}
        1 => show::answer("\n1 story waits; `baton run start` hands it in"),
        n => show::answer(&format!("\n{n} stories wait; `baton run start` hands the next one in")),
    }
}

/// What a person can do for a run that nobody else will move.
fn what_to_type(row: &RunRow) -> Option<String> {
    let story = show::visible(row.run.story.as_str());
    let asked = || row.run.questions().find(|it| it.to.agent.is_human());
    if let Some((handoff, gate)) = row.run.gate() {
        let which = format!("{}/{}", row.number, handoff.no);
        let type_this = show::what_to_answer(&which, gate);
        return Some(format!("{story}: {}\n    {type_this}", gate.cause.sentence()));
    }
    if let Some(question) = asked() {
        let from = &question.from.agent;
        let which = format!("{}/{}", row.number, question.no);
        let type_this = format!("baton answer {which} --comment TEXT");
        return Some(format!("{story}: {from} has a question\n    {type_this}"));
    }
    match row.run.baton() {
        Baton::Loose { at, .. } => {
            let word = show::shell_word(row.run.story.as_str());
            Some(format!("{story}: the baton lies loose at {at}\n    baton run start {word}"))
        }
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => None,
    }
}
