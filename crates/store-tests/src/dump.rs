//! A whole store as text, to compare two of them.

use std::fmt::{Debug, Write as _};

use baton_store::{EventFilter, HandoffFilter, Position, RunFilter, Store, StoryFilter};

use crate::sample::whole_contents;

/// Every run, handoff, content, event, story, outbox row and timer, one a line, always in the same
/// order.
pub async fn dump(store: &dyn Store) -> String {
    let handoffs = store.handoffs(&HandoffFilter::default()).await.unwrap();
    let mut text = String::new();
    let runs = store.runs(&RunFilter::default()).await.unwrap();
    add(&mut text, "runs", &runs);
    for run in runs.iter().map(|it| &it.run) {
        let portraits = run.portraits.iter().map(|it| it.portrait);
        let ids: Vec<_> = run.casts.iter().map(|it| it.cast).chain(portraits).collect();
        let shown = whole_contents(store, run.id, &ids).await;
        add(&mut text, &format!("what is shown of the agents of run {}", run.id), &shown);
    }
    add(&mut text, "handoffs", &handoffs);
    for handoff in &handoffs {
        let mut ids = vec![handoff.reason];
        ids.extend(handoff.package);
        ids.extend(handoff.ended_reason);
        ids.extend(handoff.acknowledgement);
        let mut contents = whole_contents(store, handoff.run, &ids).await;
        contents.sort_by_key(|it| it.id);
        add(&mut text, &format!("contents of handoff {}", handoff.number), &contents);
    }
    let everything = EventFilter { after: Position::START, run: None, limit: 0 };
    add(&mut text, "events", &store.events(&everything).await.unwrap());
    add(&mut text, "stories", &store.stories(&StoryFilter::default()).await.unwrap());
    add(&mut text, "outbox", &store.outbox(0, 0).await.unwrap());
    add(&mut text, "timers", &store.timers(None, 0).await.unwrap());
    text
}

fn add(text: &mut String, what: &str, rows: &[impl Debug]) {
    let _ = writeln!(text, "{what}:");
    for row in rows {
        let _ = writeln!(text, "  {row:?}");
    }
}
