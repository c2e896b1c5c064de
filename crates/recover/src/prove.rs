//! Which of the found events are true: those that the hash chain of a run proves, from its first
//! event on and without a gap.

use std::collections::{BTreeSet, HashSet};

use baton_core::event::Event;
use baton_core::hash::Hash;
use baton_core::run::RunId;
use baton_store::{Position, StoreResult};
use baton_store_sqlite::{HeldEvent, RunClue, SalvageDatabase, SalvagedEvent};
use baton_wire::event;

/// The beginning of a run, proven.
#[derive(Debug)]
pub(crate) struct ProvenRun {
    pub(crate) id: RunId,
    pub(crate) events: Vec<ProvenEvent>,
    /// How many events it had, as far as that is known.
    pub(crate) n_known: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct ProvenEvent {
    pub(crate) stored: SalvagedEvent,
    pub(crate) event: Event,
}

/// The rows found under one run number: usually one run.
#[derive(Debug)]
pub(crate) struct FoundRuns {
    pub(crate) runs: Vec<ProvenRun>,
    /// Events that are in none of them.
    pub(crate) others: Vec<SalvagedEvent>,
    /// How many events there were at least, of a run that could not be proven.
    pub(crate) n_known: u64,
}

pub(crate) fn prove(salvaged: &SalvageDatabase, run_number: u64) -> StoreResult<FoundRuns> {
    let events = salvaged.events(run_number)?;
    let clues = salvaged.clues(run_number)?;
    let ids = ids_of(salvaged, run_number, &clues)?;
    let mut used: BTreeSet<Hash> = BTreeSet::new();
    let mut runs = Vec::new();
    for id in ids {
        let chain = chain(id, &events);
        let n_events = last_boundary(salvaged, run_number, &chain, &events, &clues, id)?;
        if n_events == 0 {
            continue;
        }
        let n_known = n_known(id, &chain, &events, &clues);
        let mut proven = chain;
        proven.truncate(n_events);
        mend_positions(salvaged, run_number, &mut proven)?;
        used.extend(proven.iter().map(|it| it.stored.hash));
        runs.push(ProvenRun { id, events: proven, n_known });
    }
    let of_events = events.iter().filter(|it| it.is_committed).map(|it| it.event.version.0).max();
    let of_clues = clues.iter().filter(|it| it.is_committed).map(|it| it.version.0).max();
    let n_known = of_events.into_iter().chain(of_clues).max().unwrap_or(0);
    let mut others: Vec<SalvagedEvent> = events.into_iter().map(|it| it.event).collect();
    others.retain(|it| !used.contains(&it.hash));
    others.dedup_by(|one, other| one.hash == other.hash && one.body == other.body);
    Ok(FoundRuns { runs, others, n_known })
}

/// The ids that the run with this number may have.
pub(crate) fn ids_of(
    salvaged: &SalvageDatabase,
    run_number: u64,
    clues: &[RunClue],
) -> StoreResult<Vec<RunId>> {
    let mut ids: Vec<RunId> = Vec::new();
    // The id of the most advanced row first: where two runs claim a number, it keeps it.
    let of_clues = clues.iter().rev().map(|it| it.id);
    for id in of_clues.chain(salvaged.ids_with_number(run_number)?) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The events of the run with this id, as far as each continues the chain.
fn chain(id: RunId, events: &[HeldEvent]) -> Vec<ProvenEvent> {
    let mut chain: Vec<ProvenEvent> = Vec::new();
    let mut head = Hash::ZERO;
    loop {
        let version = chain.len() as u64 + 1;
        let start = events.partition_point(|it| it.event.version.0 < version);
        let next = events.iter().skip(start).take_while(|it| it.event.version.0 == version);
        let proven = next.filter_map(|held| {
            let it = &held.event;
            let is_true = event::link(&head, id, version, it.at, &it.by, &it.body) == it.hash;
            let event = event::decode(&it.body).ok().filter(|_| is_true)?;
            Some((held.is_committed, ProvenEvent { stored: it.clone(), event }))
        });
        // The same event may have been found with two positions, which no hash proves. And a run that
        // went on from an older backup has two ends: the database's own, which has the higher rank and
        // so comes last, and the one that the archive kept.
        let Some((_, next)) = proven.max_by_key(|(is_committed, _)| *is_committed) else {
            return chain;
        };
        head = next.stored.hash;
        chain.push(next);
    }
}

/// How many events the run is known to have had. Uncommitted ones do not count.
fn n_known(id: RunId, chain: &[ProvenEvent], events: &[HeldEvent], clues: &[RunClue]) -> u64 {
    let last = chain.last().map(|it| it.stored.hash);
    // The chain is more reliable than the row about which event is the last.
    let version = |it: &RunClue| {
        if Some(it.head) == last { chain.len() as u64 } else { it.version.0 }
    };
    let of_clues = clues.iter().filter(|it| it.id == id && it.is_committed).map(version);
    let proven: HashSet<Hash> = chain.iter().map(|it| it.stored.hash).collect();
    let committed = events.iter().filter(|it| it.is_committed);
    // Where another run has the number too, its events are its own.
    let is_own = clues.iter().all(|it| it.id == id);
    let of_events = committed.filter(|it| is_own || proven.contains(&it.event.hash));
    of_clues.chain(of_events.map(|it| it.event.version.0)).max().unwrap_or(0)
}

/// How many events of a chain end with a complete decision. A decision may be several events, and
/// half of one is a state that no run was ever in.
fn last_boundary(
    salvaged: &SalvageDatabase,
    run_number: u64,
    chain: &[ProvenEvent],
    events: &[HeldEvent],
    clues: &[RunClue],
    id: RunId,
) -> StoreResult<usize> {
    let Some(last) = chain.last() else { return Ok(0) };
    let version = chain.len() as u64;
    let head = last.stored.hash;
    // The row of the run was written with the last event of each decision.
    let is_here = |it: &RunClue| {
        it.head == head || (it.id == id && it.version.0 == version && is_nearly(it.head, head))
    };
    if clues.iter().any(is_here) {
        return Ok(chain.len());
    }
    // All events of a decision have one time.
    let mut after = events.iter().filter(|it| it.event.version.0.checked_sub(1) == Some(version));
    if after.any(|it| it.is_committed && it.event.at != last.stored.at) {
        return Ok(chain.len());
    }
    // And they are consecutive in the log of all runs.
    let behind = match last.stored.position {
        Position::START => Vec::new(),
        Position(position) => salvaged.runs_at(Position(position.saturating_add(1)))?,
    };
    if !behind.is_empty() && !behind.contains(&run_number) {
        return Ok(chain.len());
    }
    let is_earlier = |it: &ProvenEvent| it.stored.at != last.stored.at;
    Ok(chain.iter().rposition(is_earlier).map_or(0, |index| index + 1))
}

/// Two different hashes share about half of their bits. So nearly equal ones were equal once.
fn is_nearly(one: Hash, other: Hash) -> bool {
    let n_bits: u32 = one.0.iter().zip(other.0).map(|(it, other)| (it ^ other).count_ones()).sum();
    n_bits <= 8
}

/// No hash proves a position. One that does not grow with the run, or that another run has too, is
/// moved to where it must have been: next to the rest of its decision, or else to a free place.
fn mend_positions(
    salvaged: &SalvageDatabase,
    run_number: u64,
    events: &mut [ProvenEvent],
) -> StoreResult<()> {
    for index in 0..events.len() {
        let at = |index: Option<usize>| index.and_then(|it| events.get(it)).map(|it| &it.stored);
        let (before, behind) = (at(index.checked_sub(1)), at(Some(index + 1)));
        let Some(it) = at(Some(index)) else { break };
        let least = before.map_or(1, |it| it.position.0.saturating_add(1));
        let most = behind.map_or(u64::MAX, |it| it.position.0.saturating_sub(1));
        let is_next = before.is_some_and(|before| before.at == it.at);
        let is_taken = |position: u64| -> StoreResult<bool> {
            Ok(salvaged.runs_at(Position(position))?.iter().any(|it| *it != run_number))
        };
        let position = it.position.0;
        // A position behind the next one is the wrong one, if the next fits without it.
        let is_ahead = behind.is_some_and(|it| it.position.0 >= least && it.position.0 <= position);
        let fits = position >= least && (!is_next || position == least) && !is_ahead;
        // Of two runs with the same position, the older keeps it.
        let is_others = salvaged.runs_at(Position(position))?.iter().any(|it| *it < run_number);
        if fits && !is_others {
            continue;
        }
        let mut mended = least;
        while !is_next && mended < most && is_taken(mended)? {
            mended = mended.saturating_add(1);
        }
        if let Some(it) = events.get_mut(index) {
            it.stored.position = Position(mended);
        }
    }
    Ok(())
}
