//! Which events there are, anywhere in the files: what a whole database has to have.

use std::collections::HashMap;
use std::convert::Infallible;

use baton_store_sqlite::{SalvagedRow, Wreck};

/// Positions of events, a bit each: there may be millions.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    words: HashMap<u64, u64>,
    n_positions: u64,
}

impl Positions {
    /// False where it was there already.
    pub(crate) fn insert(&mut self, position: u64) -> bool {
        let word = self.words.entry(position / 64).or_default();
        let bit = 1 << (position % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        self.n_positions += u64::from(is_new);
        is_new
    }

    pub(crate) fn len(&self) -> u64 {
        self.n_positions
    }
}

pub(crate) fn survey(wreck: &mut Wreck) -> Positions {
    let mut positions = Positions::default();
    let surveyed = wreck.each_row(|row, _| {
        if let SalvagedRow::Event { event, .. } = row {
            positions.insert(event.position.0);
        }
        Ok::<(), Infallible>(())
    });
    match surveyed {
        Ok(()) => positions,
        Err(never) => match never {},
    }
}
