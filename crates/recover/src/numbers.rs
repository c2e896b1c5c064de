//! Restores the number of each handoff; where it is lost, the only possible one, or else a new one.

use std::collections::{BTreeMap, HashMap};

use baton_core::event::{Event, HandoffEvent};
use baton_core::run::HandoffId;
use baton_store::StoreError;
use baton_store_sqlite::SalvageDatabase;

use crate::prove::ProvenRun;

/// The numbers of handoffs. They are assigned at creation, so in log order.
#[derive(Debug, Default)]
pub(crate) struct HandoffNumbers {
    made: BTreeMap<u64, HandoffId>,
    found: HashMap<HandoffId, u64>,
}

#[derive(Debug, Default)]
pub(crate) struct GivenNumbers {
    numbers: HashMap<HandoffId, u64>,
    /// How many may differ from their original.
    pub(crate) n_new: u64,
    pub(crate) last: u64,
}

impl HandoffNumbers {
    pub(crate) fn note(
        &mut self,
        salvaged: &SalvageDatabase,
        run: &ProvenRun,
    ) -> Result<(), StoreError> {
        for it in &run.events {
            if let Event::Handoff(HandoffEvent::Created(created)) = &it.event {
                self.made.insert(it.stored.position.0, created.id);
                if let Some(number) = salvaged.handoff_number(created.id)? {
                    self.found.insert(created.id, number);
                }
            }
        }
        Ok(())
    }

    /// Always in log order: `verify` checks that order.
    pub(crate) fn give(self) -> GivenNumbers {
        let ids: Vec<HandoffId> = self.made.values().copied().collect();
        let known = fitting(&ids, &self.found);
        let mut given = GivenNumbers::default();
        let mut lost: Vec<HandoffId> = Vec::new();
        for id in ids {
            match known.get(&id).copied() {
                // This many fit before it.
                Some(number) if number > given.last.saturating_add(lost.len() as u64) => {
                    given.fill(&mut lost, Some(number));
                    given.numbers.insert(id, number);
                    given.last = number;
                }
                Some(_) | None => lost.push(id),
            }
        }
        given.fill(&mut lost, None);
        given
    }
}

/// The numbers that grow with the log. Any other number is wrong.
fn fitting(ids: &[HandoffId], found: &HashMap<HandoffId, u64>) -> HashMap<HandoffId, u64> {
    let mut fitting = HashMap::new();
    let mut last = 0;
    // From the end, each must be lower than all behind it: a number that is too high affects only
    // itself.
    let mut least_behind = vec![u64::MAX; ids.len() + 1];
    for (index, id) in ids.iter().enumerate().rev() {
        let number = found.get(id).copied().unwrap_or(u64::MAX);
        least_behind[index] = least_behind[index + 1].min(number);
    }
    for (index, id) in ids.iter().enumerate() {
        let Some(number) = found.get(id).copied() else { continue };
        if number > last && number < least_behind[index + 1] {
            fitting.insert(*id, number);
            last = number;
        }
    }
    fitting
}

impl GivenNumbers {
    pub(crate) fn of(&self, id: HandoffId) -> Option<u64> {
        self.numbers.get(&id).copied()
    }

    /// Between two known numbers, lost ones are known too where exactly as many fit.
    fn fill(&mut self, lost: &mut Vec<HandoffId>, behind: Option<u64>) {
        let n_lost = lost.len() as u64;
        if behind.is_some_and(|it| it.saturating_sub(self.last).checked_sub(1) != Some(n_lost)) {
            self.n_new = self.n_new.saturating_add(n_lost);
        }
        for id in lost.drain(..) {
            self.last = self.last.saturating_add(1);
            self.numbers.insert(id, self.last);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn check(found: &[Option<u64>], expected: &[u64], n_new: u64) {
        let id = |n: usize| HandoffId(Uuid::from_u128(n as u128 + 1));
        let mut numbers = HandoffNumbers::default();
        for (index, number) in found.iter().enumerate() {
            numbers.made.insert(index as u64 * 3 + 1, id(index));
            if let Some(number) = number {
                numbers.found.insert(id(index), *number);
            }
        }
        let given = numbers.give();
        let all: Vec<u64> = (0..found.len()).map(|it| given.of(id(it)).unwrap()).collect();
        assert_eq!((all.as_slice(), given.n_new), (expected, n_new), "{found:?}");
    }

    #[test]
    fn lost_numbers_are_told_by_their_neighbours_or_are_new() {
        check(&[Some(1), Some(2), Some(3)], &[1, 2, 3], 0);
        check(&[Some(1), None, Some(3)], &[1, 2, 3], 0);
        check(&[None, None, Some(3), None], &[1, 2, 3, 4], 0);
        // Of two that fit between, one belongs to a lost run: which one is unknown.
        check(&[Some(1), None, Some(4)], &[1, 2, 4], 1);
        check(&[None, Some(4), None], &[1, 4, 5], 1);
        check(&[None, None], &[1, 2], 0);
        check(&[], &[], 0);
    }

    #[test]
    fn a_number_that_does_not_grow_with_the_log_is_not_believed() {
        check(&[Some(1), Some(900), Some(3)], &[1, 2, 3], 0);
        check(&[Some(5), Some(2), Some(6)], &[1, 2, 6], 0);
    }
}
