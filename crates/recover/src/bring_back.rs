//! Row by row: everything found is held, proven run by run, and written into a new database.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use baton_core::event::{Event, HandoffEvent, RunEvent};
use baton_core::hash::Hash;
use baton_core::names::StoryKey;
use baton_core::run::{HandoffNo, RunId};
use baton_core::story::Story;
use baton_files::{Dir, FileMode};
use baton_store::{Definition, StoreError};
use baton_store_sqlite::{DamagedFiles, DatabaseBuilder, LastMark, SalvageDatabase, Trust};
use baton_wire::workflow_file;
use jiff::Timestamp;
use uuid::Uuid;

use crate::assemble::{RunAssembler, rebuilt};
use crate::leftovers::Leftovers;
use crate::numbers::HandoffNumbers;
use crate::place::place_rows;
use crate::prove::{FoundRuns, ProvenEvent, ProvenRun, prove};
use crate::report::{MissingPart, MissingReason, RecoveryMethod, RecoveryReport, SavedCounts};
use crate::survey::Positions;
use crate::{LEFTOVERS, RESULT, RecoverError, RecoverJob, survey};

const PAGE: u32 = 500;
const MOST_MARK: u64 = 1 << 48;

/// Holds every row that was found, in the files and in the archive.
pub(crate) fn gather(
    job: &RecoverJob<'_>,
    damaged: Option<&mut DamagedFiles>,
    survey: &survey::Survey,
    mark: Option<&LastMark>,
) -> Result<SalvageDatabase, RecoverError> {
    let mut salvaged = SalvageDatabase::make(job.scratch).map_err(RecoverError::Open)?;
    if let Some(damaged) = damaged {
        damaged.each_row(|row, trust| salvaged.put(&row, trust))?;
    }
    if let Some(archive) = &job.archive {
        for row in survey.sessions.iter().flat_map(|it| archive.rows_of(it)) {
            salvaged.put(&row, Trust::OF_THE_ARCHIVE)?;
        }
    }
    salvaged.drop_implausible_numbers(mark.map(|it| it.position))?;
    place_rows(&salvaged)?;
    Ok(salvaged)
}

/// Builds a database from the held rows, without the runs whose numbers are in `left_out`.
pub(crate) fn bring_back(
    job: &RecoverJob<'_>,
    salvaged: &SalvageDatabase,
    identity: Option<(Uuid, u64)>,
    left_out: &BTreeSet<u64>,
) -> Result<RecoveryReport, RecoverError> {
    for name in [RESULT, LEFTOVERS] {
        job.scratch.remove(name)?;
    }
    let mut plan = Plan::default();
    for run_number in salvaged.run_numbers()? {
        plan.note(job, salvaged, run_number, left_out)?;
    }
    let dir = job.scratch.make_dirs(RESULT, FileMode::Private)?;
    plan.carry_out(job, salvaged, &dir, identity)
}

/// The plan for each run. Their events are read again when it is executed: all at once would not
/// fit in memory.
#[derive(Default)]
struct Plan {
    runs: BTreeMap<RunId, Planned>,
    /// The numbers of runs that are taken.
    taken: BTreeSet<u64>,
    last_run_number: u64,
    handoffs: HandoffNumbers,
    missing: Vec<MissingPart>,
    definitions: HashMap<Hash, Option<Definition>>,
    /// The open run of each story that has the highest number.
    open: HashMap<StoryKey, u64>,
}

struct Planned {
    number: u64,
    n_events: u64,
    story: StoryKey,
    started_at: Timestamp,
    is_open: bool,
}

impl Plan {
    fn note(
        &mut self,
        job: &RecoverJob<'_>,
        salvaged: &SalvageDatabase,
        run_number: u64,
        left_out: &BTreeSet<u64>,
    ) -> Result<(), RecoverError> {
        if run_number > salvaged.most_number() {
            return Ok(());
        }
        let FoundRuns { runs, n_known, .. } = prove(salvaged, run_number)?;
        self.last_run_number = self.last_run_number.max(run_number);
        if runs.is_empty() {
            let handoffs = salvaged.handoffs(run_number)?;
            if n_known > 0 || !handoffs.is_empty() {
                let why = MissingReason::lost(salvaged, run_number)?;
                let (story, n_saved) = (story_of(salvaged, run_number)?, 0);
                self.missing.push(MissingPart {
                    run_number,
                    story,
                    n_saved,
                    n_known,
                    handoffs,
                    why,
                });
            }
        }
        for run in runs {
            self.note_run(job, salvaged, run_number, &run, left_out)?;
        }
        Ok(())
    }

    fn note_run(
        &mut self,
        job: &RecoverJob<'_>,
        salvaged: &SalvageDatabase,
        run_number: u64,
        run: &ProvenRun,
        left_out: &BTreeSet<u64>,
    ) -> Result<(), RecoverError> {
        let n_events = run.events.len() as u64;
        if self.runs.get(&run.id).is_some_and(|it| it.n_events >= n_events) {
            return Ok(());
        }
        let Some(rebuilt) = rebuilt(run, run_number, job.now) else { return Ok(()) };
        let row = rebuilt.row;
        let missing = |n_saved, handoffs, why| MissingPart {
            run_number,
            story: Some(row.run.story.clone()),
            n_saved,
            n_known: run.n_known,
            handoffs,
            why,
        };
        let why_not = if left_out.contains(&run_number) {
            Some(MissingReason::Unsound)
        } else if self.definition(job, salvaged, row.run.pin)?.is_none() {
            Some(MissingReason::WorkflowLost)
        } else if !self.taken.insert(run_number) {
            Some(MissingReason::NumberTaken)
        } else {
            None
        };
        if let Some(why) = why_not {
            let all = rebuilt.handoffs.iter().map(|it| it.no).collect();
            self.missing.push(missing(0, all, why));
            return Ok(());
        }
        if n_events < run.n_known {
            let beyond = beyond(salvaged, run_number, run)?;
            self.missing.push(missing(n_events, beyond, MissingReason::EventsLost));
        }
        self.handoffs.note(salvaged, run)?;
        let planned = Planned {
            number: run_number,
            n_events,
            story: row.run.story.clone(),
            started_at: row.run.started_at,
            is_open: !row.run.is_finished(),
        };
        if planned.is_open {
            let newest = self.open.entry(planned.story.clone()).or_default();
            *newest = (*newest).max(run_number);
        }
        self.runs.insert(run.id, planned);
        Ok(())
    }

    /// The workflow with this hash, from any source.
    fn definition(
        &mut self,
        job: &RecoverJob<'_>,
        salvaged: &SalvageDatabase,
        pin: Hash,
    ) -> Result<Option<&Definition>, StoreError> {
        let definition = match self.definitions.entry(pin) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(definition_with(job, salvaged, pin)?),
        };
        Ok(definition.as_ref())
    }

    fn carry_out(
        mut self,
        job: &RecoverJob<'_>,
        salvaged: &SalvageDatabase,
        dir: &Dir,
        identity: Option<(Uuid, u64)>,
    ) -> Result<RecoveryReport, RecoverError> {
        let mut builder = DatabaseBuilder::begin(dir).map_err(RecoverError::Open)?;
        if let Some((project, number)) = identity {
            builder.belong_to(project, number)?;
        }
        let mut report = RecoveryReport::whole(RecoveryMethod::Rows, SavedCounts::default());
        let mut leftovers = Leftovers::begin(job.scratch)?;
        self.leave_out_second_open_runs();
        for definition in self.definitions.values().flatten() {
            builder.put_definition(definition)?;
        }
        let numbers = std::mem::take(&mut self.handoffs).give();
        report.n_new_numbers = numbers.n_new;
        self.put_stories(salvaged, &mut builder, &mut report)?;
        put_answered(salvaged, &mut builder)?;
        // New positions come after all others.
        let (now, positions, last) = (job.now, Positions::default(), salvaged.last_position()?.0);
        let mut assembler =
            RunAssembler { now, numbers, positions, last, promises: BTreeMap::new() };
        let mut written = HashSet::new();
        for run_number in salvaged.run_numbers()? {
            let FoundRuns { runs, mut others, .. } = prove(salvaged, run_number)?;
            for run in runs {
                let planned = self.runs.get(&run.id).filter(|it| it.number == run_number);
                match planned {
                    Some(planned) if written.insert(run.id) => {
                        let run =
                            assembler.assemble(salvaged, &run, planned.number, &mut report)?;
                        builder.put_run(&run)?;
                    }
                    Some(_) | None => others.extend(run.events.into_iter().map(|it| it.stored)),
                }
            }
            leftovers.keep(salvaged, run_number, &others)?;
        }
        for (run_number, about, at) in assembler.promises.into_values() {
            builder.put_promise(run_number, about, at)?;
        }
        builder.go_on_after(self.last_run_number, assembler.numbers.last, assembler.last)?;
        builder.finish()?;
        report.n_leftovers = leftovers.finish()?;
        report.missing = self.missing;
        report.missing.sort_by_key(|it| it.run_number);
        Ok(report)
    }

    /// A run whose end is lost is open again. Its story may have another open run by now.
    fn leave_out_second_open_runs(&mut self) {
        let (open, missing) = (&self.open, &mut self.missing);
        let indexes: HashMap<u64, usize> =
            missing.iter().enumerate().map(|(index, it)| (it.run_number, index)).collect();
        self.runs.retain(|_, it| {
            let is_second = it.is_open && open.get(&it.story).is_some_and(|n| *n != it.number);
            if is_second {
                let (n_saved, why) = (0, MissingReason::SecondOpenRun);
                let known = indexes.get(&it.number).and_then(|index| missing.get_mut(*index));
                match known {
                    Some(missing) => (missing.n_saved, missing.why) = (n_saved, why),
                    None => missing.push(MissingPart {
                        run_number: it.number,
                        story: Some(it.story.clone()),
                        n_saved,
                        n_known: it.n_events,
                        handoffs: Vec::new(),
                        why,
                    }),
                }
            }
            !is_second
        });
    }

    fn put_stories(
        &self,
        salvaged: &SalvageDatabase,
        builder: &mut DatabaseBuilder,
        report: &mut RecoveryReport,
    ) -> Result<(), StoreError> {
        let mut bare = salvaged.written_stories()?;
        for it in self.runs.values() {
            bare.entry(it.story.clone()).or_insert(it.started_at);
        }
        let mut after = String::new();
        loop {
            let page = salvaged.stories(&after, PAGE)?;
            let Some((last, _)) = page.last() else { break };
            last.key.as_str().clone_into(&mut after);
            for (story, created_at) in &page {
                builder.put_story(story, *created_at)?;
                bare.remove(&story.key);
                report.saved.n_stories += 1;
            }
        }
        let n_known = report.saved.n_stories.saturating_add(bare.len() as u64);
        report.n_unknown_stories = salvaged.last_story_row()?.saturating_sub(n_known);
        for (key, started_at) in bare {
            builder.put_story(&Story::named(key.clone()), started_at)?;
            report.bare_stories.push(key);
        }
        Ok(())
    }
}

fn definition_with(
    job: &RecoverJob<'_>,
    salvaged: &SalvageDatabase,
    pin: Hash,
) -> Result<Option<Definition>, StoreError> {
    // Its name is in its text, which the hash proves; the column beside it is not proven.
    let proven = |it: Definition| {
        let workflow = workflow_file::parse(&it.text).ok().filter(|it| it.hash == pin)?;
        Some(Definition { hash: pin, name: workflow.name, text: it.text })
    };
    let found = salvaged.definitions(pin)?;
    let archived = job.archive.iter().flat_map(|it| it.definitions());
    let mut all = found.into_iter().chain(job.definitions.iter().cloned()).chain(archived);
    Ok(all.find_map(proven))
}

fn put_answered(
    salvaged: &SalvageDatabase,
    builder: &mut DatabaseBuilder,
) -> Result<(), StoreError> {
    let mut after = 0;
    loop {
        let page = salvaged.answered(after, PAGE)?;
        let Some((last, _)) = page.last() else { return Ok(()) };
        after = *last;
        for (_, answered) in &page {
            builder.put_answered(answered)?;
        }
    }
}

/// The last known mark number.
pub(crate) fn last_mark(salvaged: &SalvageDatabase, mark: Option<&LastMark>) -> u64 {
    let found = salvaged.identity().ok().flatten().map_or(0, |it| it.1);
    // It increments twice a second. A higher number was never written.
    let found = if found < MOST_MARK { found } else { 0 };
    found.max(mark.map_or(0, |it| it.number))
}

/// The handoffs of a run that are incomplete.
fn beyond(
    salvaged: &SalvageDatabase,
    run_number: u64,
    run: &ProvenRun,
) -> Result<Vec<HandoffNo>, StoreError> {
    let created = |it: &ProvenEvent| {
        if let Event::Handoff(HandoffEvent::Created(created)) = &it.event {
            Some(created.handoff)
        } else {
            None
        }
    };
    let there: BTreeSet<HandoffNo> = run.events.iter().filter_map(created).collect();
    let mut beyond: BTreeSet<HandoffNo> = salvaged.handoffs(run_number)?.into_iter().collect();
    beyond.retain(|it| !there.contains(it));
    let n_events = run.events.len() as u64;
    for held in salvaged.events(run_number)? {
        if held.event.version.0 > n_events
            && let Ok(event) = baton_wire::event::decode(&held.event.body)
        {
            beyond.extend(event.handoff());
        }
    }
    Ok(beyond.into_iter().collect())
}

fn story_of(salvaged: &SalvageDatabase, run_number: u64) -> Result<Option<StoryKey>, StoreError> {
    let started = salvaged.events(run_number)?.into_iter().find_map(|held| {
        match baton_wire::event::decode(&held.event.body) {
            Ok(Event::Run(RunEvent::Started { story, .. })) => Some(story),
            Ok(_) | Err(_) => None,
        }
    });
    Ok(started)
}

impl MissingReason {
    /// Why nothing of a run is proven.
    fn lost(salvaged: &SalvageDatabase, run_number: u64) -> Result<Self, StoreError> {
        let has_start = salvaged.events(run_number)?.iter().any(|it| it.event.version.0 == 1);
        let has_id = !salvaged.clues(run_number)?.is_empty();
        Ok(match (has_id, has_start) {
            (false, true) => Self::IdLost,
            (true, true) => Self::StartChanged,
            (_, false) => Self::EventsLost,
        })
    }
}
