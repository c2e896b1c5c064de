//! Does the store tell the truth? Every chain is walked, every run replayed, every text hashed.

use baton_core::event::replay;
use baton_core::hash::Hash;
use baton_core::run::{RunId, RunStatus};
use baton_store::{EventFilter, Position, RunFilter, RunRef, RunRow, Store, StoreError};
use baton_wire::event;

const PAGE: u32 = 500;

/// What was looked at, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    pub n_runs: u64,
    pub n_events: u64,
    /// Each names the run and what is wrong with it.
    pub problems: Vec<String>,
}

/// Verifies every run of a store, and the store itself.
pub async fn verify_all(store: &dyn Store) -> Result<Verified, StoreError> {
    let mut verified = Verified { problems: store.check().await?, ..Verified::default() };
    let mut after = 0;
    loop {
        let filter = RunFilter { after, limit: PAGE, ..RunFilter::default() };
        let page = store.runs(&filter).await?;
        for row in &page {
            verify_row(store, row, &mut verified).await?;
        }
        match page.last() {
            Some(last) => after = last.number,
            None => return Ok(verified),
        }
    }
}

/// Verifies one run.
pub async fn verify_run(store: &dyn Store, run: RunId) -> Result<Verified, StoreError> {
    let mut verified = Verified::default();
    if let Some(row) = store.run(&RunRef::Id(run)).await? {
        verify_row(store, &row, &mut verified).await?;
    }
    Ok(verified)
}

async fn verify_row(
    store: &dyn Store,
    row: &RunRow,
    verified: &mut Verified,
) -> Result<(), StoreError> {
    let id = row.run.id;
    verified.n_runs += 1;
    let mut events = Vec::new();
    let mut head = Hash::ZERO;
    let mut after = Position::START;
    let mut problem = |what: String| verified.problems.push(format!("run {}: {what}", row.number));
    loop {
        let filter = EventFilter { after, run: Some(id), limit: PAGE };
        let page = store.events(&filter).await?;
        for it in &page {
            let version = events.len() as u64 + 1;
            if it.version.0 != version {
                problem(format!("event {version} is missing, {} stands there", it.version.0));
            }
            head = event::link(&head, id, version, it.at, &it.by, &it.body);
            if head != it.hash {
                problem(format!("event {version} does not fit the chain"));
                head = it.hash;
            }
            match event::decode(&it.body) {
                Ok(event) => events.push((event, it.at)),
                Err(error) => problem(format!("event {version} cannot be read: {error}")),
            }
        }
        match page.last() {
            Some(last) => after = last.position,
            None => break,
        }
    }
    if row.version.0 != events.len() as u64 {
        problem(format!("it has {} events, and its row says {}", events.len(), row.version.0));
    }
    if row.head != head {
        problem("its row does not name the last event".to_owned());
    }
    verified.n_events += events.len() as u64;
    if replay(id, events).as_ref() != Some(&row.run) {
        verified
            .problems
            .push(format!("run {}: its events tell another state than its row", row.number));
    }
    check_rows(store, row, verified).await
}

/// The open handoffs of the rows are those of the run, and the texts are those that are named.
async fn check_rows(
    store: &dyn Store,
    row: &RunRow,
    verified: &mut Verified,
) -> Result<(), StoreError> {
    let filter = baton_store::HandoffFilter {
        run: Some(row.run.id),
        ..baton_store::HandoffFilter::default()
    };
    let rows = store.handoffs(&filter).await?;
    let mut problem = |what: String| verified.problems.push(format!("run {}: {what}", row.number));
    let open: Vec<_> = rows.iter().filter(|it| it.state.is_open()).map(|it| it.no).collect();
    let expected: Vec<_> = row.run.handoffs.iter().map(|it| it.no).collect();
    if open != expected {
        problem(format!("the open handoffs are {open:?}, and its state says {expected:?}"));
    }
    if rows.len() as u64 != u64::from(row.run.n_handoffs) {
        problem(format!("{} handoffs are there of {}", rows.len(), row.run.n_handoffs));
    }
    let is_done = matches!(row.run.status, RunStatus::Completed | RunStatus::Cancelled);
    if is_done != (row.run.baton() == &baton_core::run::Baton::Done) {
        problem(format!(
            "it is {} and its baton {}",
            row.run.status.name(),
            row.run.baton().name()
        ));
    }
    let ids: Vec<_> = rows
        .iter()
        .flat_map(|it| [Some(it.reason), it.package, it.ended_reason, it.acknowledgement])
        .flatten()
        .collect();
    let contents = store.contents(row.run.id, &ids).await?;
    for content in contents.iter().filter(|it| !it.is_intact()) {
        problem(format!("the text {:?} is not the one that was written", content.id));
    }
    Ok(())
}
