//! `baton inbox`: what waits for a person, what happened so far, and what each answer would do.

use baton_core::document::Node;
use baton_core::evidence::Verdict;
use baton_engine::{InboxItem, Waits};

use crate::failure::Failure;
use crate::session::Session;
use crate::show::{self, Format};

/// Of a long story only the end is shown; `baton run show` has all of it.
const TRAIL: usize = 6;

pub(crate) async fn run(session: &Session) -> Result<(), Failure> {
    let items = session.engine.inbox(session.principal()).await?;
    match session.format {
        Format::Json => {
            let mut nodes = Vec::new();
            for item in &items {
                nodes.push(item_json(session, item).await?);
            }
            show::answer_json(&Node::List(nodes));
        }
        Format::Table if items.is_empty() => show::note("nothing waits for you"),
        Format::Table => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    show::answer("");
                }
                show_item(session, item).await?;
            }
        }
    }
    Ok(())
}

async fn show_item(session: &Session, item: &InboxItem) -> Result<(), Failure> {
    let story = show::visible(item.run.run.story.as_str());
    show::answer(&format!(
        "{} {}",
        show::bold(&story),
        show::warn(&show::visible(&item.sentence()))
    ));
    for line in asked(item) {
        show::answer(&line);
    }
    let n_before = item.trail.len().saturating_sub(TRAIL);
    if n_before > 0 {
        show::answer(&show::dim(&format!("{n_before} earlier handoffs")));
    }
    let trail = &item.trail[n_before..];
    let texts = session.engine.texts_of(trail).await?;
    show::answer(&show::handoffs_table(trail, &texts, session.engine.clock().now()));
    let rows = item
        .choices
        .iter()
        .map(|it| vec![item.command(it), show::visible(&item.consequence(it))])
        .collect();
    show::answer(&format!("\n{}", show::table(&["TYPE", "AND THEN"], rows)));
    Ok(())
}

/// What exactly is asked, a line each.
fn asked(item: &InboxItem) -> Vec<String> {
    let asked = &item.asked;
    let mut lines = Vec::new();
    lines.extend(asked.name.as_deref().map(show::visible));
    lines.extend(asked.words.as_deref().map(|it| format!("  {}", show::visible(it))));
    lines.extend(asked.items.iter().map(|it| format!("  ☐ {}", show::visible(it))));
    lines.extend(asked.blockers.iter().map(|it| format!("  ✘ {}", show::visible(it))));
    let verdict = |check| asked.evidence.iter().find(|it| it.check == check).map(|it| it.verdict);
    for check in &asked.checks {
        lines.push(match verdict(check.clone()) {
            Some(Verdict::Passed) => format!("  {} {check} passed", show::good("✔")),
            Some(Verdict::Failed) => format!("  {} {check} failed", show::warn("✘")),
            None => format!("  {} {check} has no result", show::warn("•")),
        });
    }
    lines
}

async fn item_json(session: &Session, item: &InboxItem) -> Result<Node, Failure> {
    let workflow = session.engine.workflow_of(&item.run).await?;
    let texts = session.engine.texts_of(&item.trail).await?;
    let choices = item.choices.iter().map(|it| {
        let meaning = item.asked.meaning(it.name);
        Node::map([
            ("choice", Node::text(it.name)),
            ("command", Node::text(item.command(it))),
            ("then", Node::text(item.consequence(it))),
            ("meaning", meaning.map_or(Node::Null, Node::text)),
        ])
    });
    let trail = item.trail.iter().map(|it| show::handoff_json(it, &texts));
    let list = |texts: &[String]| Node::List(texts.iter().map(Node::text).collect());
    let some = |text: &Option<String>| text.as_ref().map_or(Node::Null, Node::text);
    let evidence = item.asked.evidence.iter().map(|it| {
        Node::map([
            ("check", Node::text(it.check.as_str())),
            ("verdict", Node::text(it.verdict.name())),
        ])
    });
    let handoff = match &item.why {
        Waits::Gate { handoff, .. } | Waits::Question { handoff, .. } => {
            Node::text(handoff.label())
        }
        Waits::Loose { .. } => Node::Null,
    };
    Ok(Node::map([
        ("run", show::run_json(&item.run, &workflow)),
        ("handoff", handoff),
        ("why", Node::text(item.sentence())),
        ("name", some(&item.asked.name)),
        ("words", some(&item.asked.words)),
        ("items", list(&item.asked.items)),
        ("blockers", list(&item.asked.blockers)),
        ("evidence", Node::List(evidence.collect())),
        ("choices", Node::List(choices.collect())),
        ("trail", Node::List(trail.collect())),
    ]))
}
