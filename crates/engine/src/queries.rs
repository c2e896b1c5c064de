//! Finds one run or handoff, and the rows that a command result refers to.

use baton_core::event::Event;
use baton_core::hash::Hash;
use baton_core::run::{HandoffNo, RunId};
use baton_store::{
    EventFilter, HandoffRef, HandoffRow, Position, RunRef, RunRow, StoreError, Version,
};
use baton_wire::event;
use jiff::Timestamp;

use crate::rebuild::{handoff_rows, rebuild_run};
use crate::{CommandResult, Engine, EngineError};

impl Engine {
    pub(crate) async fn run(&self, which: &RunRef) -> Result<RunRow, EngineError> {
        let row = self.store.run(which).await?;
        row.ok_or_else(|| EngineError::NoSuchRun { which: crate::names::run_name(which) })
    }

    pub(crate) async fn handoff(&self, which: &HandoffRef) -> Result<HandoffRow, EngineError> {
        if let Some(row) = self.store.handoff(which).await? {
            return Ok(row);
        }
        let run = match which {
            HandoffRef::InRun(run, no) => {
                self.store.run(&RunRef::Id(*run)).await?.map(|it| (it.number, no))
            }
            HandoffRef::Number(_) | HandoffRef::Id(_) => None,
        };
        let which = match run {
            Some((number, no)) => format!("`{no}` in run {number}"),
            None => crate::names::handoff_name(which),
        };
        Err(EngineError::NoSuchHandoff { which })
    }

    /// A handoff of a command result. One that the command neither created nor changed is read.
    pub(crate) async fn row_of(
        &self,
        outcome: &CommandResult,
        no: HandoffNo,
    ) -> Result<HandoffRow, EngineError> {
        match outcome.rows.iter().find(|it| it.no == no) {
            Some(row) => Ok(row.clone()),
            None => self.handoff(&HandoffRef::InRun(outcome.run, no)).await,
        }
    }

    /// A run as it was after a command: as it is, unless the command is repeated.
    pub(crate) async fn run_after(&self, result: &CommandResult) -> Result<RunRow, EngineError> {
        let now = self.run(&RunRef::Id(result.run)).await?;
        if !result.is_repeat || now.version == result.version {
            return Ok(now);
        }
        let (events, head) = self.events_until(result.run, result.version).await?;
        let head = head.unwrap_or(now.head);
        let then = rebuild_run(result.run, now.number, head, &events, result.at);
        let damaged = || StoreError::Damaged { what: "the events of a run".to_owned() };
        Ok(then.ok_or_else(damaged)?.row)
    }

    /// The events of a run up to a version, and the hash of the last one.
    async fn events_until(
        &self,
        run: RunId,
        version: Version,
    ) -> Result<(Vec<(Event, Timestamp)>, Option<Hash>), EngineError> {
        let filter = EventFilter { after: Position::START, run: Some(run), limit: 0 };
        let (mut events, mut head) = (Vec::new(), None);
        for stored in self.store.events(&filter).await? {
            if stored.version <= version {
                let event = event::decode(&stored.body);
                let damaged = |error| StoreError::Damaged { what: format!("an event: {error}") };
                events.push((event.map_err(damaged)?, stored.at));
                head = Some(stored.hash);
            }
        }
        Ok((events, head))
    }

    /// The rows of some handoffs as they were at a version of their run, as its events tell.
    pub(crate) async fn rows_at(
        &self,
        run: RunId,
        version: Version,
        nos: &[HandoffNo],
    ) -> Result<Vec<HandoffRow>, EngineError> {
        let (events, _) = self.events_until(run, version).await?;
        let row = self.run(&RunRef::Id(run)).await?;
        let rebuilt = handoff_rows(&row.run, events.iter().map(|(event, at)| (event, *at)));
        let mut rows = Vec::with_capacity(nos.len());
        for no in nos {
            let number = self.handoff(&HandoffRef::InRun(run, *no)).await?.number;
            let row = rebuilt.iter().find(|it| it.no == *no).cloned();
            rows.extend(row.map(|it| HandoffRow { number, ..it }));
        }
        Ok(rows)
    }
}
