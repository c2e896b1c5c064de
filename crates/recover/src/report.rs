//! What was recovered, and what is missing: by run and by handoff.

use baton_core::document::Node;
use baton_core::names::StoryKey;
use baton_core::plural::{counted, counted_as};
use baton_core::run::HandoffNo;
use baton_store_sqlite::{ImageKind, LastMark, UnprovenTable};

use crate::archived::SessionCounts;
use crate::forks::ForkedSession;
use crate::images;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecoveryReport {
    pub method: RecoveryMethod,
    pub saved: SavedCounts,
    /// Runs of which something is missing, by number.
    pub missing: Vec<MissingPart>,
    pub lost_texts: Vec<LostText>,
    /// Stories of which only the key is known, from their runs.
    pub bare_stories: Vec<StoryKey>,
    /// Stories that are in no file any more, and that no run names.
    pub n_unknown_stories: u64,
    /// Events that are in no file any more, of runs that are not known.
    pub n_unknown_events: u64,
    /// Handoffs whose number may differ from the one that they had.
    pub n_new_numbers: u64,
    /// Rows that are proven or plausible, and could not be put into the database.
    pub n_leftovers: u64,
    /// Tables that no run proves, and that may have lost rows.
    pub unproven: Vec<UnprovenTable>,
    /// The problem with the mark, without which no file shows whether the newest events are
    /// present.
    pub mark_loss: Option<&'static str>,
    /// Parts of the log are damaged beyond recognition.
    pub has_unknown_log: bool,
    /// Archive sessions that diverge from the database.
    pub forked_sessions: Vec<ForkedSession>,
    /// Archive sessions of another project, which were ignored.
    pub foreign_sessions: SessionCounts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecoveryMethod {
    /// A whole database, as it was.
    Image(ImageKind),
    /// Row by row, from every page that has some.
    Rows,
    /// There was neither a database nor a log.
    #[default]
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SavedCounts {
    pub n_runs: u64,
    pub n_handoffs: u64,
    pub n_events: u64,
    pub n_stories: u64,
    /// The position of the newest event.
    pub last_position: u64,
}

/// A run that is missing or incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPart {
    pub run_number: u64,
    /// Where it is known.
    pub story: Option<StoryKey>,
    /// How many of its events were brought back, from the first on.
    pub n_saved: u64,
    /// How many it is known to have had.
    pub n_known: u64,
    /// Handoffs that are not there, or of which something is missing.
    pub handoffs: Vec<HandoffNo>,
    pub why: MissingReason,
}

/// Why a run is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingReason {
    /// An event is in no file any more, so nothing behind it can be proven.
    EventsLost,
    /// Nothing says which run its events are of.
    IdLost,
    /// Its first event is there, and is not as it was written, so nothing behind it can be proven.
    StartChanged,
    /// The workflow that it began with is in no file any more.
    WorkflowLost,
    /// Another run has its number: it is of another time, and from the archive.
    NumberTaken,
    /// With what is left of it, its story would have two open runs.
    SecondOpenRun,
    /// Its events are proven, but they do not form a valid run of Baton.
    Unsound,
}

/// A text that is in no file any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostText {
    pub run_number: u64,
    /// The handoff that it belongs to, if it does to one.
    pub handoff: Option<HandoffNo>,
    pub event: &'static str,
}

impl RecoveryReport {
    pub(crate) fn whole(method: RecoveryMethod, saved: SavedCounts) -> Self {
        Self { method, saved, ..Self::default() }
    }

    /// Counts losses that only the mark shows.
    pub(crate) fn compare_with(&mut self, mark: Option<&LastMark>) {
        let marked = mark.map_or(0, |it| it.position.0);
        let behind = marked.saturating_sub(self.saved.last_position);
        let missing = self.missing.iter().map(|it| it.n_known.saturating_sub(it.n_saved));
        let missing = missing.fold(0, u64::saturating_add);
        self.n_unknown_events = match self.method {
            RecoveryMethod::Image(_) | RecoveryMethod::Nothing => behind,
            // Positions have no gap, so a position without an event was lost.
            RecoveryMethod::Rows => {
                let last = marked.max(self.saved.last_position);
                last.saturating_sub(self.saved.n_events).saturating_sub(missing)
            }
        };
    }

    pub fn is_complete(&self) -> bool {
        self.method != RecoveryMethod::Nothing
            && self.missing.is_empty()
            && self.lost_texts.is_empty()
            && self.bare_stories.is_empty()
            && self.n_unknown_stories == 0
            && self.n_unknown_events == 0
            && self.unproven.is_empty()
            && self.mark_loss.is_none()
            && !self.has_unknown_log
    }

    /// For a person, in lines. They are the same where the result is not kept.
    pub fn lines(&self) -> Vec<String> {
        let SavedCounts { n_runs, n_handoffs, n_events, n_stories, .. } = self.saved;
        let how = match self.method {
            RecoveryMethod::Image(kind) => format!("from {}", images::name(kind)),
            RecoveryMethod::Rows => "row by row, each proven by the chain of its run".to_owned(),
            RecoveryMethod::Nothing => {
                "from nothing: there is neither a database nor its log".to_owned()
            }
        };
        let mut lines = vec![format!(
            "can be recovered: {}, {}, {} and {}, {how}",
            counted(n_runs, "run"),
            counted(n_handoffs, "handoff"),
            counted(n_events, "event"),
            stories(n_stories),
        )];
        if self.is_complete() {
            lines.push("nothing is missing".to_owned());
        }
        lines.extend(self.missing.iter().map(MissingPart::line));
        lines.extend(self.lost_texts.iter().map(LostText::line));
        for key in &self.bare_stories {
            lines.push(format!("missing: story {key}, all but its key"));
        }
        if self.n_unknown_stories > 0 {
            let stories = stories(self.n_unknown_stories);
            lines.push(format!("missing: {stories} that never had a run, with their keys"));
        }
        if self.n_unknown_events > 0 {
            let events = counted(self.n_unknown_events, "event");
            lines.push(format!("missing: {events} of which no file tells which run they were of"));
        }
        lines.extend(self.unproven.iter().map(|it| not_proven(*it).to_owned()));
        if let Some(what) = self.mark_loss {
            lines.push(format!(
                "not proven: {what}, so no file tells whether the newest events are missing"
            ));
        }
        if self.has_unknown_log {
            lines.push(
                "not proven: the log `baton.db-wal` is damaged, and nothing tells what was in it, so \
                 what was written in the last second before it was damaged may be missing"
                    .to_owned(),
            );
        }
        if self.n_new_numbers > 0 {
            let handoffs = counted(self.n_new_numbers, "handoff");
            lines.push(format!(
                "changed: {handoffs} may have another number than before, because that is lost"
            ));
        }
        for ForkedSession { folder, run_number, n_events } in &self.forked_sessions {
            lines.push(format!(
                "left alone: session `{folder}` in the archive tells of another course of run \
                 {run_number}, with {}; they are in its `log.jsonl`",
                counted(*n_events, "event")
            ));
        }
        for (project, n_sessions) in &self.foreign_sessions {
            let sessions = counted(*n_sessions, "session");
            lines.push(format!(
                "left alone: {sessions} of other data in the archive; `baton recover --archived \
                 {project}` makes a database of them"
            ));
        }
        lines
    }

    /// For programs. `database` is where the new one was put, if it was.
    pub fn document(&self, database: Option<&str>) -> Node {
        let method = match self.method {
            RecoveryMethod::Image(ImageKind::ProvenLog) => "proven_log",
            RecoveryMethod::Image(ImageKind::DatabaseAlone) => "database_alone",
            RecoveryMethod::Rows => "rows",
            RecoveryMethod::Nothing => "nothing",
        };
        let SavedCounts { n_runs, n_handoffs, n_events, n_stories, .. } = self.saved;
        let texts = self.lost_texts.iter().map(|it| {
            let handoff = it.handoff.map_or(Node::Null, |no| Node::text(no.label()));
            Node::map([
                ("run", Node::count(it.run_number)),
                ("handoff", handoff),
                ("event", Node::text(it.event)),
            ])
        });
        let unproven = self.unproven.iter().map(|it| {
            Node::text(match it {
                UnprovenTable::Stories => "stories",
                UnprovenTable::Answers => "answers",
            })
        });
        let forked = self.forked_sessions.iter().map(|it| {
            Node::map([
                ("session", Node::text(&it.folder)),
                ("run", Node::count(it.run_number)),
                ("events", Node::count(it.n_events)),
            ])
        });
        let foreign = self.foreign_sessions.iter().map(|(project, n_sessions)| {
            Node::map([
                ("project", Node::text(project.to_string())),
                ("sessions", Node::count(*n_sessions)),
            ])
        });
        Node::map([
            ("database", database.map_or(Node::Null, Node::text)),
            ("complete", Node::Bool(self.is_complete())),
            ("method", Node::text(method)),
            ("runs", Node::count(n_runs)),
            ("handoffs", Node::count(n_handoffs)),
            ("events", Node::count(n_events)),
            ("stories", Node::count(n_stories)),
            ("missing", Node::List(self.missing.iter().map(MissingPart::document).collect())),
            ("lostTexts", Node::List(texts.collect())),
            (
                "bareStories",
                Node::List(self.bare_stories.iter().map(|it| Node::text(it.as_str())).collect()),
            ),
            ("unknownStories", Node::count(self.n_unknown_stories)),
            ("unknownEvents", Node::count(self.n_unknown_events)),
            ("newNumbers", Node::count(self.n_new_numbers)),
            ("leftovers", Node::count(self.n_leftovers)),
            ("unproven", Node::List(unproven.collect())),
            ("markLost", Node::Bool(self.mark_loss.is_some())),
            ("unknownLog", Node::Bool(self.has_unknown_log)),
            ("forkedSessions", Node::List(forked.collect())),
            ("foreignSessions", Node::List(foreign.collect())),
        ])
    }
}

impl MissingPart {
    fn line(&self) -> String {
        let story = self.story.as_ref().map_or_else(String::new, |it| format!(" ({it})"));
        let run = format!("missing: run {}{story}", self.run_number);
        let what = match (self.n_saved, self.n_known) {
            (0, 0) => "all of it".to_owned(),
            (0, n_known) => format!("all {}", counted(n_known, "event")),
            (n_saved, n_known) if n_saved.saturating_add(1) == n_known => {
                format!("event {n_known} of {n_known}")
            }
            (n_saved, n_known) => {
                format!("events {} to {n_known} of {n_known}", n_saved.saturating_add(1))
            }
        };
        let labels: Vec<String> = self.handoffs.iter().map(|it| it.label()).collect();
        let of =
            if labels.is_empty() { String::new() } else { format!(" [{}]", labels.join(", ")) };
        format!("{run}, {what}{of}: {}", self.why.words())
    }

    fn document(&self) -> Node {
        let labels = self.handoffs.iter().map(|it| Node::text(it.label()));
        let story = self.story.as_ref().map_or(Node::Null, |it| Node::text(it.as_str()));
        Node::map([
            ("run", Node::count(self.run_number)),
            ("story", story),
            ("savedEvents", Node::count(self.n_saved)),
            ("knownEvents", Node::count(self.n_known)),
            ("handoffs", Node::List(labels.collect())),
            ("why", Node::text(self.why.words())),
        ])
    }
}

impl MissingReason {
    fn words(self) -> &'static str {
        match self {
            MissingReason::EventsLost => "an event is in no file any more",
            MissingReason::IdLost => {
                "no file tells the id of the run, without which nothing proves it"
            }
            MissingReason::StartChanged => "its first event is not as it was written",
            MissingReason::WorkflowLost => "the workflow that it began with is in no file any more",
            MissingReason::NumberTaken => "another run has its number",
            MissingReason::SecondOpenRun => {
                "its end is lost, and with another open run its story would have two"
            }
            MissingReason::Unsound => "what its events tell does not verify",
        }
    }
}

impl LostText {
    fn line(&self) -> String {
        let of = self.handoff.map_or_else(String::new, |it| format!(", {}", it.label()));
        format!("missing: run {}{of}: the text of `{}`", self.run_number, self.event)
    }
}

fn not_proven(table: UnprovenTable) -> &'static str {
    match table {
        UnprovenTable::Stories => {
            "not proven: the stories are as they were found; one may be missing, or be an older \
             version"
        }
        UnprovenTable::Answers => {
            "not proven: the remembered answers to idempotency keys are as they were found; where \
             one is missing, a command that is sent again is carried out again"
        }
    }
}

fn stories(n: u64) -> String {
    counted_as(n, "story", "stories")
}
