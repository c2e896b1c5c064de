//! `baton inbox`: what waits for a person, what happened so far, and what each answer would do.

use baton_core::document::Node;
use baton_core::workflow::Place;
use baton_engine::{Choice, InboxItem, Then, Waits};

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
    show::answer(&format!("{} {}", show::bold(&story), show::warn(&why(item))));
    let n_before = item.trail.len().saturating_sub(TRAIL);
    if n_before > 0 {
        show::answer(&show::dim(&format!("{n_before} earlier handoffs")));
    }
    let trail = &item.trail[n_before..];
    let texts = session.engine.texts_of(trail).await?;
    show::answer(&show::handoffs_table(trail, &texts, session.engine.clock().now()));
    let rows = item.choices.iter().map(|it| vec![what_to_type(item, it), then(it)]).collect();
    show::answer(&format!("\n{}", show::table(&["TYPE", "AND THEN"], rows)));
    Ok(())
}

fn why(item: &InboxItem) -> String {
    match &item.why {
        Waits::Gate { cause, .. } => cause.sentence().to_owned(),
        Waits::Loose { at } => format!("The baton lies loose at {at}"),
    }
}

/// The command that says it.
fn what_to_type(item: &InboxItem, choice: &Choice) -> String {
    let number = item.run.number;
    match &item.why {
        Waits::Gate { handoff, .. } => {
            let name = choice.name.replace('_', "-");
            let agent = if choice.name == "hand_to" { " AGENT" } else { "" };
            format!("baton answer {number}/{handoff} {name}{agent}")
        }
        Waits::Loose { .. } if choice.name == "start" => {
            format!("baton run start {}", show::shell_word(item.run.run.story.as_str()))
        }
        Waits::Loose { .. } => format!("baton run {} {number}", choice.name),
    }
}

fn then(choice: &Choice) -> String {
    match &choice.then {
        Then::Offered { handoff, to, place } => {
            let who = if choice.name == "hand_to" { "AGENT" } else { to.as_str() };
            match place {
                Place::Step(step) => format!("{handoff} goes to {who}, for the step {step}"),
                Place::Orchestrator | Place::Human => format!("{handoff} goes to {who}"),
            }
        }
        Then::Ended(status) => format!("the run is {}", status.name()),
        Then::Refused { why } => format!("it would be refused: {}", show::visible(why)),
    }
}

async fn item_json(session: &Session, item: &InboxItem) -> Result<Node, Failure> {
    let workflow = session.engine.workflow_of(&item.run).await?;
    let texts = session.engine.texts_of(&item.trail).await?;
    let choices = item.choices.iter().map(|it| {
        Node::map([
            ("choice", Node::text(it.name)),
            ("command", Node::text(what_to_type(item, it))),
            ("then", Node::text(then(it))),
        ])
    });
    let trail = item.trail.iter().map(|it| show::handoff_json(it, &texts));
    Ok(Node::map([
        ("run", show::run_json(&item.run, &workflow)),
        ("why", Node::text(why(item))),
        ("choices", Node::List(choices.collect())),
        ("trail", Node::List(trail.collect())),
    ]))
}
