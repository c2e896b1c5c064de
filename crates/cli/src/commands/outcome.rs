//! What a command that changed something says.

use baton_core::document::{Node, Number};
use baton_core::run::HandoffNo;
use baton_engine::Outcome;
use baton_store::{HandoffRow, RunRef};

use crate::args::Write;
use crate::failure::Failure;
use crate::session::Session;
use crate::show::{self, Format};

/// Tells what happened, or what would have.
pub(crate) async fn tell(
    session: &Session,
    write: &Write,
    outcome: &Outcome,
) -> Result<(), Failure> {
    if write.dry_run {
        return tell_dry(session, outcome);
    }
    let handoff = row(session, outcome, outcome.done.handoff).await?;
    let returned = row(session, outcome, outcome.done.returned).await?;
    let gate = row(session, outcome, outcome.done.gate).await?;
    let question = row(session, outcome, outcome.done.question).await?;
    let run = session.engine.run(&RunRef::Id(outcome.run)).await?;
    if session.format == Format::Json {
        let texts = session.engine.texts_of(&all(&[&handoff, &returned, &gate, &question])).await?;
        let one = |row: &Option<HandoffRow>| {
            row.as_ref().map_or(Node::Null, |it| show::handoff_json(it, &texts))
        };
        let workflow = session.engine.workflow_of(&run).await?;
        let warnings = outcome.done.warnings.iter().map(|it| Node::text(it.to_string()));
        show::answer_json(&Node::map([
            ("success", Node::Bool(true)),
            ("isRepeat", Node::Bool(outcome.is_repeat)),
            ("run", show::run_json(&run, &workflow)),
            ("handoff", one(&handoff)),
            ("returnHandoff", one(&returned)),
            ("gate", one(&gate)),
            ("question", one(&question)),
            (
                "fence",
                outcome.done.fence.map_or(Node::Null, |it| Node::Number(i64::from(it).into())),
            ),
            ("cancelled", labels(&outcome.done.cancelled)),
            ("kept", labels(&outcome.done.kept)),
            ("warnings", Node::List(warnings.collect())),
        ]));
        return Ok(());
    }
    let rows = all(&[&handoff, &returned, &gate, &question]);
    for row in &rows {
        show::answer(&line(row));
    }
    if !outcome.done.cancelled.is_empty() {
        show::answer(&format!("cancelled: {}", label_list(&outcome.done.cancelled)));
    }
    if !outcome.done.kept.is_empty() {
        show::answer(&format!("kept: {}", label_list(&outcome.done.kept)));
    }
    let is_leased = |no| run.run.handoff(no).is_some_and(|it| it.lease.is_some());
    if let (Some(no), Some(fence)) = (outcome.done.handoff, outcome.done.fence)
        && is_leased(no)
    {
        show::answer(&format!("fence {fence}: say it with `--fence` in what you do with it"));
    }
    let baton = show::whereabouts(&run.run);
    show::answer(&format!("run {} is {}; baton: {baton}", run.number, run.run.status.name()));
    for warning in &outcome.done.warnings {
        show::note(&format!("{} {}", show::warn("warning:"), show::visible(&warning.to_string())));
    }
    if outcome.is_repeat {
        show::note("this key had been used for the same command: nothing was done again");
    }
    Ok(())
}

fn tell_dry(session: &Session, outcome: &Outcome) -> Result<(), Failure> {
    let touched = outcome.touched.iter().map(|(no, state)| (no.label(), state.name()));
    match session.format {
        Format::Json => {
            let touched = touched.map(|(no, state)| {
                Node::map([("label", Node::Text(no)), ("state", Node::text(state))])
            });
            let version = i64::try_from(outcome.version.0).unwrap_or(i64::MAX);
            show::answer_json(&Node::map([
                ("dryRun", Node::Bool(true)),
                ("handoffs", Node::List(touched.collect())),
                ("version", Node::Number(Number::from(version))),
            ]));
        }
        Format::Table => {
            for (no, state) in touched {
                show::answer(&format!("{no} would be {state}"));
            }
            for warning in &outcome.done.warnings {
                show::note(&format!("{} {warning}", show::warn("warning:")));
            }
            show::note("nothing was changed");
        }
    }
    Ok(())
}

async fn row(
    session: &Session,
    outcome: &Outcome,
    no: Option<HandoffNo>,
) -> Result<Option<HandoffRow>, Failure> {
    match no {
        Some(no) => Ok(Some(session.engine.row_of(outcome, no).await?)),
        None => Ok(None),
    }
}

fn all(rows: &[&Option<HandoffRow>]) -> Vec<HandoffRow> {
    let mut all: Vec<HandoffRow> = Vec::new();
    for row in rows.iter().filter_map(|it| it.as_ref()) {
        if !all.iter().any(|it| it.number == row.number) {
            all.push(row.clone());
        }
    }
    all
}

fn line(row: &HandoffRow) -> String {
    let (from, to) = (&row.from.agent, &row.to.agent);
    format!("handoff {} ({}) {from} → {to}: {}", row.number, row.no, row.state.name())
}

fn labels(nos: &[HandoffNo]) -> Node {
    Node::List(nos.iter().map(|it| Node::text(it.label())).collect())
}

fn label_list(nos: &[HandoffNo]) -> String {
    nos.iter().map(|it| it.label()).collect::<Vec<_>>().join(", ")
}
