//! When runs have to be checked.

use baton_core::run::{HandoffNo, RunId};
use jiff::Timestamp;

use super::{MemoryTables, at, filters};
use baton_store::{DueChange, DueRow, LeaseRenewal, LookAgain, RunSchedule, TimerKind};

impl MemoryTables {
    /// False where there is no such lease.
    pub(super) fn put_off(&mut self, lease: &LeaseRenewal) -> bool {
        let Some(number) = self.run_numbers.get(&lease.run) else { return false };
        let Some(timer) = self.timers.get_mut(&(*number, lease.no)) else { return false };
        // Of two nodes that extend a lease, the one that writes last may have heard of it first.
        let due = if self.is_shared { timer.due.max(lease.due) } else { lease.due };
        match timer.what {
            TimerKind::Lease { fence, .. } if fence == lease.fence => timer.due = due,
            TimerKind::Lease { .. } | TimerKind::Wake => return false,
        }
        true
    }

    pub(super) fn change_due(&mut self, number: u64, change: DueChange) {
        match change {
            DueChange::Keep => {}
            DueChange::NoLaterThan(due) => {
                let kept = self.due.entry(number).or_insert(due);
                *kept = due.min(*kept);
            }
            DueChange::Clear => _ = self.due.remove(&number),
        }
    }

    pub(super) fn due_runs(
        &self,
        due_by: Timestamp,
        after: Option<&DueRow>,
        limit: u32,
    ) -> Vec<DueRow> {
        let row = |(number, due): (&u64, &Timestamp)| {
            let run = at(&self.runs, *number)?.run.id;
            Some(DueRow { due: *due, number: *number, run })
        };
        let is_later =
            |it: &DueRow| after.is_none_or(|after| (it.due, it.number) > (after.due, after.number));
        let due = self.due.iter().filter_map(row).filter(|it| it.due <= due_by).filter(is_later);
        let mut due: Vec<DueRow> = due.collect();
        due.sort();
        filters::page(due.iter(), limit)
    }

    pub(super) fn schedule(&self, run: RunId) -> RunSchedule {
        let Some(number) = self.run_numbers.get(&run) else { return RunSchedule::default() };
        let of_run = (*number, HandoffNo(0))..=(*number, HandoffNo(u32::MAX));
        let timers = self.timers.range(of_run).map(|(_, it)| *it).collect();
        RunSchedule { timers, due: self.due.get(number).copied() }
    }

    /// False where the run has moved, or is over.
    pub(super) fn look_again(&mut self, it: &LookAgain) -> bool {
        let Some(number) = self.run_numbers.get(&it.run).copied() else { return false };
        let is_same = at(&self.runs, number).is_some_and(|row| row.version == it.version);
        if !is_same || !self.due.contains_key(&number) {
            return false;
        }
        match it.due {
            Some(due) => _ = self.due.insert(number, due),
            None => _ = self.due.remove(&number),
        }
        true
    }
}
