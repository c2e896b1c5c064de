//! Moves found rows to where they are proven to belong. Which event of which run a row is, and its
//! hash, follow from the hash chain: the columns that say so need not be trusted.

use std::collections::HashSet;

use baton_core::event::{Event, HandoffEvent};
use baton_core::hash::Hash;
use baton_core::run::RunId;
use baton_store::{Position, StoreError};
use baton_store_sqlite::{HeldEvent, SalvageDatabase, SalvagedEvent};
use baton_wire::event;

use crate::prove::ids_of;

/// How many strays are tried for one gap. Each is hashed, so there is a limit.
const MOST_TRIED: u32 = 256;
/// How many branches from a gap are followed at once, where an event was found in many versions.
const MOST_WAYS: usize = 16;

/// Where a chain that was followed ends.
#[derive(Debug)]
struct Gap {
    id: RunId,
    run_number: u64,
    end: ChainEnd,
}

/// The last event of a chain that is proven.
#[derive(Debug, Clone, Copy)]
struct ChainEnd {
    head: Hash,
    version: u64,
    position: Position,
}

impl ChainEnd {
    const START: Self = Self { head: Hash::ZERO, version: 0, position: Position::START };

    fn link(&self, id: RunId, it: &SalvagedEvent) -> Hash {
        event::link(&self.head, id, self.version + 1, it.at, &it.by, &it.body)
    }

    fn advance(&mut self, head: Hash, position: Position) {
        *self = Self { head, version: self.version + 1, position };
    }
}

/// Called once everything is held: rows in their stated place are followed first, and the rest is
/// tried where something is missing. So the time depends on the damage, not on all pairs.
pub(crate) fn place_rows(salvaged: &SalvageDatabase) -> Result<(), StoreError> {
    let mut gaps = Vec::new();
    for run_number in salvaged.run_numbers()? {
        gaps.extend(follow(salvaged, run_number)?);
    }
    for mut gap in gaps {
        while let Some((held, head)) = stray_for(salvaged, &gap)? {
            let version = gap.end.version + 1;
            salvaged.place_event(held.row, gap.run_number, version, head)?;
            place_handoff(salvaged, gap.run_number, &held.event)?;
            gap.end.advance(head, held.event.position);
            let events = salvaged.events(gap.run_number)?;
            let walk = Walk::begin(salvaged, gap.run_number, &events)?;
            gap.end = walk.go_on(gap.id, gap.end, &mut HashSet::new())?;
        }
    }
    salvaged.drop_doubled_strays()
}

/// Follows the chains of the runs with a number, and records the rows that are in none of them.
fn follow(salvaged: &SalvageDatabase, run_number: u64) -> Result<Vec<Gap>, StoreError> {
    let clues = salvaged.clues(run_number)?;
    let events = salvaged.events(run_number)?;
    let walk = Walk::begin(salvaged, run_number, &events)?;
    let mut placed = HashSet::new();
    let mut gaps = Vec::new();
    for id in ids_of(salvaged, run_number, &clues)? {
        let end = walk.go_on(id, ChainEnd::START, &mut placed)?;
        if end.version > 0 {
            renumber(salvaged, id, run_number)?;
        }
        let furthest = clues.iter().rfind(|it| it.id == id);
        if furthest.is_none_or(|it| it.head != end.head) {
            gaps.push(Gap { id, run_number, end });
        }
    }
    for held in events.iter().filter(|it| !placed.contains(&it.row)) {
        salvaged.note_stray(run_number, held)?;
    }
    Ok(gaps)
}

/// A row of the run may have another number, under which nothing of it is found.
fn renumber(salvaged: &SalvageDatabase, id: RunId, run_number: u64) -> Result<(), StoreError> {
    for other in salvaged.numbers_of_run(id)? {
        if other == run_number {
            continue;
        }
        let events = salvaged.events(other)?;
        let is_there = |it: &HeldEvent| ChainEnd::START.link(id, &it.event) == it.event.hash;
        if !events.iter().take_while(|it| it.event.version.0 <= 1).any(is_there) {
            salvaged.renumber_run(id, other, run_number)?;
        }
    }
    Ok(())
}

fn place_handoff(
    salvaged: &SalvageDatabase,
    run_number: u64,
    it: &SalvagedEvent,
) -> Result<(), StoreError> {
    match event::decode(&it.body) {
        Ok(Event::Handoff(HandoffEvent::Created(created))) => {
            salvaged.place_handoff(created.id, run_number, created.handoff)
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The stray that continues a chain, and its hash. One with the required hash is the right one,
/// whatever its other columns say.
fn stray_for(
    salvaged: &SalvageDatabase,
    gap: &Gap,
) -> Result<Option<(HeldEvent, Hash)>, StoreError> {
    let fits = |held: &HeldEvent| gap.end.link(gap.id, &held.event) == held.event.hash;
    let of_run = salvaged.strays_of_run(gap.run_number, MOST_TRIED)?;
    let mut found = of_run.into_iter().find(fits);
    if found.is_none() {
        let version = gap.end.version + 1;
        let others = salvaged.strays_with_version(version, gap.end.position, MOST_TRIED)?;
        found = others.into_iter().find(fits);
    }
    Ok(found.map(|held| {
        let hash = held.event.hash;
        (held, hash)
    }))
}

/// The events that were found under one number, to be followed.
struct Walk<'a> {
    salvaged: &'a SalvageDatabase,
    run_number: u64,
    /// By version.
    events: &'a [HeldEvent],
    /// How far the run had come, by its rows.
    heads: HashSet<Hash>,
}

impl<'a> Walk<'a> {
    fn begin(
        salvaged: &'a SalvageDatabase,
        run_number: u64,
        events: &'a [HeldEvent],
    ) -> Result<Self, StoreError> {
        let heads = salvaged.clues(run_number)?.iter().map(|it| it.head).collect();
        Ok(Self { salvaged, run_number, events, heads })
    }

    /// Follows the chain of a run from `end` on, and records the rows in it.
    fn go_on(
        &self,
        id: RunId,
        mut end: ChainEnd,
        placed: &mut HashSet<u64>,
    ) -> Result<ChainEnd, StoreError> {
        loop {
            let mut fitting = self.next(&end).filter(|it| end.link(id, &it.event) == it.event.hash);
            let Some(first) = fitting.next() else {
                let mended = self.without_hashes(id, &end);
                if mended.is_empty() {
                    return Ok(end);
                }
                for (held, hash) in mended {
                    let version = end.version + 1;
                    self.salvaged.place_event(held.row, self.run_number, version, hash)?;
                    place_handoff(self.salvaged, self.run_number, &held.event)?;
                    placed.insert(held.row);
                    end.advance(hash, held.event.position);
                }
                continue;
            };
            // It may have been found with two positions, which no hash proves.
            placed.extend(fitting.map(|it| it.row));
            placed.insert(first.row);
            place_handoff(self.salvaged, self.run_number, &first.event)?;
            end.advance(first.event.hash, first.event.position);
        }
    }

    fn next(&self, end: &ChainEnd) -> impl Iterator<Item = &'a HeldEvent> + use<'a> {
        let version = end.version + 1;
        let start = self.events.partition_point(|it| it.event.version.0 < version);
        self.events.iter().skip(start).take_while(move |it| it.event.version.0 == version)
    }

    /// Events whose own hashes are wrong, up to the first whose hash follows from theirs: by the
    /// event behind them or by a row of the run.
    fn without_hashes(&self, id: RunId, end: &ChainEnd) -> Vec<(&'a HeldEvent, Hash)> {
        let mut ways = vec![(*end, Vec::new())];
        while !ways.is_empty() {
            let mut longer: Vec<(ChainEnd, Vec<(&'a HeldEvent, Hash)>)> = Vec::new();
            for (end, way) in ways {
                for held in self.next(&end) {
                    let hash = end.link(id, &held.event);
                    if !way.is_empty() && hash == held.event.hash {
                        return way;
                    }
                    let (mut end, mut way) = (end, way.clone());
                    way.push((held, hash));
                    if self.heads.contains(&hash) {
                        return way;
                    }
                    end.advance(hash, held.event.position);
                    longer.push((end, way));
                }
            }
            longer.truncate(MOST_WAYS);
            ways = longer;
        }
        Vec::new()
    }
}
