//! One append: everything is checked and computed first, then written; nothing fails half-way.

use baton_core::run::RunId;
use jiff::Timestamp;

use super::{MemoryTables, at};
use baton_store::{
    Append, AppendError, Appended, EventRecord, HandoffRef, HandoffRow, OutboxRow, Position,
    RunRef, RunRow, StoreError, StoredEvent, TimerChange, TimerRow, Version, refuse_nul,
};

impl MemoryTables {
    pub(super) fn append(&mut self, append: Append) -> Result<Appended, AppendError> {
        refuse_nul(append.texts())?;
        self.refuse_repeated(&append)?;
        let number = self.place_for(&append)?;
        let Some(last) = append.events.last() else {
            return Err(damaged("an append without events").into());
        };
        let head = last.hash;
        let handoffs = self.numbered_handoffs(&append)?;

        let version = Version(append.expected.0 + append.events.len() as u64);
        let numbers = handoffs
            .iter()
            .filter(|it| it.number > self.handoffs.len() as u64)
            .map(|it| (it.no, it.number))
            .collect();
        self.keep_handoffs(handoffs);
        self.keep_events(append.run.id, append.expected, append.at, append.events);
        self.keep_outbox(append.run.id, append.at, append.outbox);
        for id in &append.dropped {
            self.contents.remove(&(append.run.id, *id));
        }
        for content in append.contents {
            self.contents.entry((append.run.id, content.id)).or_insert(content);
        }
        if let Some(story) = append.story
            && !self.stories.contains_key(&story.key)
        {
            self.keep_story(story, append.at);
        }
        if let Some(definition) = append.definition {
            self.definitions.entry(definition.hash).or_insert(definition);
        }
        if let Some(answered) = append.answered {
            let key = (answered.scope.clone(), answered.key.clone());
            self.answered.insert(key, answered);
        }
        self.keep_timers(append.run.id, number, &append.timers);
        match append.waiting {
            Some(true) => _ = self.waiting.insert(number),
            Some(false) => _ = self.waiting.remove(&number),
            None => {}
        }
        match append.blocked {
            Some(true) => _ = self.blocked.insert(number),
            Some(false) => _ = self.blocked.remove(&number),
            None => {}
        }
        self.change_due(number, append.due);
        self.keep_run(RunRow { number, version, head, run: append.run });
        Ok(Appended { version, run_number: number, position: self.last_position(), numbers })
    }

    fn refuse_repeated(&self, append: &Append) -> Result<(), AppendError> {
        let Some(answered) = &append.answered else { return Ok(()) };
        match self.answered.get(&(answered.scope.clone(), answered.key.clone())) {
            Some(first) => Err(AppendError::Repeated(Box::new(first.clone()))),
            None => Ok(()),
        }
    }

    /// The number of the run, if it is at the expected version and its new state is allowed.
    fn place_for(&self, append: &Append) -> Result<u64, AppendError> {
        let row = self.run(&RunRef::Id(append.run.id));
        let version = row.map_or(Version::NONE, |it| it.version);
        if version != append.expected {
            return Err(AppendError::Conflict);
        }
        let open = self.open_run(&append.run.story);
        if !append.run.is_finished() && open.is_some_and(|it| it.run.id != append.run.id) {
            return Err(AppendError::OpenRunExists(append.run.story.clone()));
        }
        Ok(row.map_or(self.runs.len() as u64 + 1, |it| it.number))
    }

    /// The rows that the append creates and changes, with their numbers.
    fn numbered_handoffs(&self, append: &Append) -> Result<Vec<HandoffRow>, StoreError> {
        let mut rows: Vec<HandoffRow> = Vec::new();
        for row in &append.opened {
            let is_known = self.handoff_numbers.contains_key(&(row.run, row.no))
                || self.handoff_ids.contains_key(&row.id)
                || rows.iter().any(|it| it.no == row.no || it.id == row.id);
            if is_known {
                return Err(damaged(&format!("{} is there already", row.no)));
            }
            let number = (self.handoffs.len() + rows.len()) as u64 + 1;
            rows.push(HandoffRow { number, ..row.clone() });
        }
        for row in &append.changed {
            let kept = self.handoff(&HandoffRef::InRun(append.run.id, row.no));
            let Some(kept) = kept.filter(|it| it.state.is_open()) else {
                return Err(damaged(&format!("{} is not there, or has ended", row.no)));
            };
            rows.push(HandoffRow { number: kept.number, ..row.clone() });
        }
        Ok(rows)
    }

    fn keep_run(&mut self, row: RunRow) {
        let (number, id) = (row.number, row.run.id);
        if at(&self.runs, number).is_some() {
            self.runs[number as usize - 1] = row;
            return;
        }
        self.run_numbers.insert(id, number);
        self.story_runs.entry(row.run.story.clone()).or_default().push(number);
        self.runs.push(row);
    }

    fn keep_handoffs(&mut self, rows: Vec<HandoffRow>) {
        for row in rows {
            if at(&self.handoffs, row.number).is_some() {
                let index = row.number as usize - 1;
                self.handoffs[index] = row;
                continue;
            }
            self.handoff_numbers.insert((row.run, row.no), row.number);
            self.handoff_ids.insert(row.id, row.number);
            self.handoffs.push(row);
        }
    }

    fn keep_events(
        &mut self,
        run: RunId,
        expected: Version,
        at: Timestamp,
        events: Vec<EventRecord>,
    ) {
        let first = self.next_position();
        for (index, event) in events.into_iter().enumerate() {
            self.events.push(StoredEvent {
                position: Position(first.0 + index as u64),
                run,
                version: Version(expected.0 + index as u64 + 1),
                at,
                name: event.name.to_owned(),
                by: event.by,
                body: event.body,
                hash: event.hash,
            });
        }
    }

    fn keep_outbox(&mut self, run: RunId, at: Timestamp, outbox: Vec<String>) {
        for about in outbox {
            self.last_outbox_id += 1;
            let id = self.last_outbox_id;
            self.outbox.insert(id, OutboxRow { id, run, about, at });
        }
    }

    fn keep_timers(&mut self, run: RunId, number: u64, timers: &[TimerChange]) {
        for change in timers {
            match *change {
                TimerChange::Set { no, what, due } => {
                    self.timers.insert((number, no), TimerRow { run, no, what, due });
                }
                TimerChange::Clear { no } => {
                    self.timers.remove(&(number, no));
                }
            }
        }
    }
}

fn damaged(what: &str) -> StoreError {
    StoreError::Damaged { what: what.to_owned() }
}
