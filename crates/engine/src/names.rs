//! Resolves the names that callers write for a story, a run or a handoff: the only place that does.
//!
//! A bare run name may be a number or a story's key. Where it is both, and they are different runs,
//! it is refused: so a name that is valid today never silently changes its meaning. `run:2`,
//! `story:2` and `handoff:2` are explicit, and an id is always an id.

use baton_core::content::{Content, ContentKind};
use baton_core::names::{AgentId, StoryKey};
use baton_core::run::{HandoffId, HandoffNo, RunId, RunStatus};
use baton_core::view::View;
use baton_store::{HandoffFilter, HandoffRef, HandoffRow, Order, RunFilter, RunRef, RunRow};
use baton_wire::formats;
use baton_wire::suggest::nearest;
use uuid::Uuid;

use crate::{Engine, EngineError, RunTarget};

const RUN_PREFIX: &str = StoryKey::RUN_PREFIX;
const STORY_PREFIX: &str = StoryKey::STORY_PREFIX;
const HANDOFF_PREFIX: &str = StoryKey::HANDOFF_PREFIX;

/// A sender's own id is searched for in the newest packages: there is no index of them.
const MOST_SEARCHED: u32 = 100;
/// As many runs as a person would choose from.
const MOST_CANDIDATES: u32 = 5;

impl Engine {
    /// The key that `KEY` or `story:KEY` stands for, whether such a story exists or not.
    pub(crate) async fn story_key(&self, name: &str) -> Result<StoryKey, EngineError> {
        let typed = StoryKey::typed(name);
        match typed {
            Ok(key) if name.is_ascii() && key.as_str() == name => return Ok(key),
            Ok(_) | Err(_) => {}
        }
        // Keys from before normalization are found by their exact characters.
        let literal = self.stored_key(name).await?;
        let Some(rest) = name.strip_prefix(STORY_PREFIX) else {
            return match literal {
                Some(literal) => Ok(literal),
                None => self.in_one_form(typed?).await,
            };
        };
        let meant = match self.stored_key(rest).await? {
            Some(stored) => Ok(stored),
            None => StoryKey::typed(rest),
        };
        match (literal, meant) {
            (None, meant) => self.in_one_form(meant?).await,
            (Some(literal), Ok(meant)) if self.store.story(&meant).await?.is_some() => {
                let what = format!("story `{meant}` and story `{literal}`");
                Err(ambiguous(name, what, [meant.to_string(), format!("{STORY_PREFIX}{literal}")]))
            }
            (Some(literal), Ok(_) | Err(_)) => Ok(literal),
        }
    }

    /// A run by its number, its id, or its story (the story's newest run): `2`, `run:2`, `KEY` or
    /// `story:KEY`.
    pub(crate) async fn run_named(&self, name: &str) -> Result<RunRow, EngineError> {
        if let Some(rest) = name.strip_prefix(RUN_PREFIX) {
            return self.run_said(name, rest).await;
        }
        // Users cannot choose ids, so a match is unambiguous.
        if let Some(row) = self.run_of_id(name).await? {
            return Ok(row);
        }
        let numbered = self.run_of_number(name).await?;
        match numbered {
            Some(row) => match self.other_story(name, &row).await? {
                Some(story) => Err(two_runs(name, &row, &story)),
                None => Ok(row),
            },
            None => self.latest_of(name).await,
        }
    }

    /// What to type for a run: its number, with the prefix `run:` where a story has that key.
    pub(crate) async fn name_of_run(&self, row: &RunRow) -> Result<String, EngineError> {
        let number = row.number.to_string();
        Ok(match self.other_story(&number, row).await? {
            Some(_) => format!("{RUN_PREFIX}{number}"),
            None => number,
        })
    }

    /// A handoff by its number, its id, its label within a run (`7`, `handoff:7` or `RUN/HO-002`), its
    /// sender's own id, its run or story (the one that is open there), or `RUN/AGENT` (the open one
    /// that the agent received). Where the run is given too, the handoff has to belong to it.
    pub(crate) async fn handoff_named(
        &self,
        name: &str,
        run: Option<RunId>,
    ) -> Result<HandoffRef, EngineError> {
        let name = name.strip_prefix(HANDOFF_PREFIX).unwrap_or(name);
        let which = match (name.parse(), Uuid::parse_str(name), name.rsplit_once('/')) {
            (Ok(number), _, _) => HandoffRef::Number(number),
            (_, Ok(id), _) => HandoffRef::Id(HandoffId(id)),
            (Err(_), Err(_), Some((within, label))) if HandoffNo::parse_label(label).is_some() => {
                let no = label_of(name, label)?;
                HandoffRef::InRun(self.run_named(within).await?.run.id, no)
            }
            (Err(_), Err(_), _) => match (HandoffNo::parse_label(name), run) {
                (Some(no), Some(run)) => return Ok(HandoffRef::InRun(run, no)),
                (Some(no), None) => return Err(self.which_run(no).await?),
                (None, run) => self.handoff_otherwise_named(name, run).await?,
            },
        };
        // A handoff named with a run must belong to it.
        if let Some(run) = run {
            self.handoff_in(&RunTarget::Run(RunRef::Id(run)), &which).await?;
        }
        Ok(which)
    }

    /// By what is neither number, id nor label. Baton's own names come first.
    async fn handoff_otherwise_named(
        &self,
        name: &str,
        run: Option<RunId>,
    ) -> Result<HandoffRef, EngineError> {
        if let Some(row) = found(self.run_named(name).await)? {
            let (number, status) = (row.number, row.run.status);
            let current = row.run.current().map(|it| it.no);
            let no = current.ok_or(EngineError::NothingAtHand { number, status })?;
            return Ok(HandoffRef::InRun(row.run.id, no));
        }
        if let Some((within, agent)) = name.rsplit_once('/')
            && let Ok(agent) = AgentId::parse(agent)
            && let Some(row) = found(self.run_named(within).await)?
            && let Some(received) = row.run.handoffs.iter().rev().find(|it| it.to.agent == agent)
        {
            return Ok(HandoffRef::InRun(row.run.id, received.no));
        }
        match self.handoff_of_sender_id(name, run).await? {
            Some(row) => Ok(HandoffRef::InRun(row.run, row.no)),
            None => {
                let near = match StoryKey::typed(name) {
                    Ok(key) => self.near_story(&key).await?,
                    Err(_) => None,
                };
                let near = match self.near_receiver(name).await? {
                    Some(near) => Some(format!(" (did you mean `{near}`?)")),
                    None => near.map(|it| format!(" (did you mean the story `{it}`?)")),
                };
                let which = format!("`{name}`{}", near.unwrap_or_default());
                Err(EngineError::NoSuchHandoff { which })
            }
        }
    }

    /// `RUN/AGENT` with the receiver of an open handoff whose name is nearest.
    async fn near_receiver(&self, name: &str) -> Result<Option<String>, EngineError> {
        let Some((within, agent)) = name.rsplit_once('/') else { return Ok(None) };
        let Some(row) = found(self.run_named(within).await)? else { return Ok(None) };
        let receivers: Vec<&str> = row.run.handoffs.iter().map(|it| it.to.agent.as_str()).collect();
        Ok(nearest(agent, &receivers).map(|it| format!("{within}/{it}")))
    }

    /// The handoff to which its sender gave this id: the open one, else the only one.
    async fn handoff_of_sender_id(
        &self,
        name: &str,
        run: Option<RunId>,
    ) -> Result<Option<HandoffRow>, EngineError> {
        let (order, limit) = (Order::NewestFirst, MOST_SEARCHED);
        let filter = HandoffFilter { run, order, limit, ..HandoffFilter::default() };
        let mut found: Vec<HandoffRow> = Vec::new();
        for row in self.store.handoffs(&filter).await? {
            let Some(package) = row.package else { continue };
            let Ok(texts) = self.whole_texts(row.run, [package]).await else { continue };
            if texts.content(package).is_some_and(|it| sender_id(it, name)) {
                found.push(row);
            }
        }
        let n_open = found.iter().filter(|it| it.state.is_open()).count();
        if n_open == 1 {
            found.retain(|it| it.state.is_open());
        }
        match found.as_slice() {
            [] => Ok(None),
            [_] => Ok(found.pop()),
            [one, other, ..] => {
                let what = format!("handoff {} and handoff {}", other.number, one.number);
                let spellings = [other.number.to_string(), one.number.to_string()];
                Err(ambiguous(name, what, spellings))
            }
        }
    }

    /// A label without a run: what could be meant.
    async fn which_run(&self, no: HandoffNo) -> Result<EngineError, EngineError> {
        let statuses = vec![RunStatus::Open, RunStatus::Paused];
        let filter = RunFilter { statuses, limit: MOST_CANDIDATES, ..RunFilter::default() };
        let mut candidates = Vec::new();
        for row in self.store.runs(&filter).await? {
            if let Some(handoff) = self.store.handoff(&HandoffRef::InRun(row.run.id, no)).await? {
                candidates.push((self.name_of_run(&row).await?, handoff.number));
            }
        }
        Ok(EngineError::WhichRun { label: no.label(), candidates })
    }

    /// `run:REST`, which may also be the key of a story from before this spelling.
    async fn run_said(&self, name: &str, rest: &str) -> Result<RunRow, EngineError> {
        let mut row = self.run_of_number(rest).await?;
        if row.is_none() {
            row = self.run_of_id(rest).await?;
        }
        match (row, self.stored_key(name).await?) {
            (Some(row), None) => Ok(row),
            (Some(row), Some(story)) if row.run.story == story => Ok(row),
            (Some(row), Some(story)) => {
                let what = format!("run {} and story `{story}`", row.number);
                Err(ambiguous(
                    name,
                    what,
                    [row.run.id.to_string(), format!("{STORY_PREFIX}{story}")],
                ))
            }
            (None, Some(story)) => self.run(&RunRef::LatestOf(story)).await,
            (None, None) => Err(EngineError::NoSuchRun { which: name.to_owned() }),
        }
    }

    async fn run_of_number(&self, name: &str) -> Result<Option<RunRow>, EngineError> {
        match name.parse() {
            Ok(number) => Ok(self.store.run(&RunRef::Number(number)).await?),
            Err(_) => Ok(None),
        }
    }

    async fn run_of_id(&self, name: &str) -> Result<Option<RunRow>, EngineError> {
        match Uuid::parse_str(name) {
            Ok(id) => Ok(self.store.run(&RunRef::Id(RunId(id))).await?),
            Err(_) => Ok(None),
        }
    }

    /// The story of that key, unless the name resolves to `row` as well.
    async fn other_story(&self, name: &str, row: &RunRow) -> Result<Option<StoryKey>, EngineError> {
        let Ok(key) = self.story_key(name).await else { return Ok(None) };
        let story = self.store.story(&key).await?;
        let is_same = |run: RunId| run == row.run.id;
        Ok(story
            .filter(|it| !it.latest.is_some_and(|(run, _)| is_same(run)))
            .map(|it| it.story.key))
    }

    async fn latest_of(&self, name: &str) -> Result<RunRow, EngineError> {
        let no_such = || EngineError::NoSuchRun { which: name.to_owned() };
        match self.story_key(name).await {
            Ok(key) => match self.store.run(&RunRef::LatestOf(key.clone())).await? {
                Some(row) => Ok(row),
                None if self.store.story(&key).await?.is_some() => {
                    Err(EngineError::StoryWithoutRun { key })
                }
                None => Err(no_such()),
            },
            // An invalid name names no run.
            Err(EngineError::BadName(_)) => Err(no_such()),
            Err(error) => Err(error),
        }
    }

    async fn stored_key(&self, name: &str) -> Result<Option<StoryKey>, EngineError> {
        match StoryKey::parse(name) {
            Ok(key) => Ok(self.store.story(&key).await?.map(|it| it.story.key)),
            Err(_) => Ok(None),
        }
    }

    /// The key itself, or that of the one story whose key was stored in another normalization form.
    async fn in_one_form(&self, key: StoryKey) -> Result<StoryKey, EngineError> {
        if key.as_str().is_ascii() || self.store.story(&key).await?.is_some() {
            return Ok(key);
        }
        let is_it = |it: &StoryKey| StoryKey::typed(it.as_str()).is_ok_and(|it| it == key);
        let mut forms: Vec<StoryKey> = self.store.look_alikes(&key).await?;
        forms.retain(is_it);
        match forms.as_slice() {
            [] => Ok(key),
            [one] => Ok(one.clone()),
            [one, another, ..] => {
                let what = "several stories whose keys differ in what cannot be seen".to_owned();
                Err(ambiguous(key.as_str(), what, [one.to_string(), another.to_string()]))
            }
        }
    }
}

fn label_of(name: &str, label: &str) -> Result<HandoffNo, EngineError> {
    let no_such = || EngineError::NoSuchHandoff { which: format!("`{name}`") };
    HandoffNo::parse_label(label).ok_or_else(no_such)
}

/// Whether the sender of a package gave its handoff this id.
fn sender_id(content: &Content, name: &str) -> bool {
    let ContentKind::Package { format, .. } = content.kind else { return false };
    content.text.contains(name)
        && formats::decode(format, &content.text)
            .is_ok_and(|it| View::of(&it).external_id.as_deref() == Some(name))
}

/// `None` where there is no such run.
fn found(row: Result<RunRow, EngineError>) -> Result<Option<RunRow>, EngineError> {
    match row {
        Ok(row) => Ok(Some(row)),
        Err(EngineError::NoSuchRun { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn two_runs(name: &str, row: &RunRow, story: &StoryKey) -> EngineError {
    let what = format!("run {} (of story `{}`) and story `{story}`", row.number, row.run.story);
    ambiguous(name, what, [format!("{RUN_PREFIX}{}", row.number), format!("{STORY_PREFIX}{story}")])
}

fn ambiguous(name: &str, what: String, spellings: [String; 2]) -> EngineError {
    let [one, other] = spellings;
    let spellings = format!("`{one}` or `{other}`");
    EngineError::AmbiguousName { name: name.to_owned(), what, spellings }
}

pub(crate) fn run_name(which: &RunRef) -> String {
    match which {
        RunRef::Id(id) => id.to_string(),
        RunRef::Number(number) => number.to_string(),
        RunRef::OpenOf(story) | RunRef::LatestOf(story) => story.to_string(),
    }
}

/// The name between quotes.
pub(crate) fn handoff_name(which: &HandoffRef) -> String {
    match which {
        HandoffRef::Number(number) => format!("`{number}`"),
        HandoffRef::Id(id) => format!("`{}`", id.0),
        HandoffRef::InRun(run, no) => format!("`{no}` in the run `{run}`"),
    }
}
