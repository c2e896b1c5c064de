//! Reads the input of a prompt: the current run, its rows, its log, and their texts.

mod inputs;
mod joined;
mod rework;
mod shared;
mod stops;

use baton_core::agent::Agent;
use baton_core::content::ContentId;
use baton_core::event::Event;
use baton_core::package::{Format, Package};
use baton_core::refusal::Refusal;
use baton_core::run::{Handoff, HandoffNo, Kind};
use baton_core::story::Story;
use baton_store::{EventFilter, HandoffFilter, HandoffRef, HandoffRow, Position, RunRef};
use baton_wire::{event, formats};

use self::inputs::PromptInputs;
use self::shared::SharedBrief;
use super::brief::Brief;
use crate::Views;
use baton_engine::EngineError;
use baton_engine::{WholeTexts, branch_of};

impl Views<'_> {
    pub(super) async fn brief(&self, which: &HandoffRef) -> Result<Brief, EngineError> {
        let row = self.handoff(which).await?;
        if !row.to.place.is_work() {
            return Err(EngineError::NoPrompt {
                handoff: row.no,
                number: row.number,
                to: row.to.agent,
            });
        }
        let run = self.run(&RunRef::Id(row.run)).await?;
        let Some(open) = run.run.handoff(row.no).cloned() else {
            let refusal = Refusal::Finished { handoff: row.no };
            return Err(EngineError::refused_about(refusal, row));
        };
        let workflow = self.workflow_of(&run).await?;
        let filter = HandoffFilter { run: Some(row.run), ..HandoffFilter::default() };
        let rows = self.handoffs(&filter).await?;
        let events = self.events_of(&row).await?;
        let caller = caller_behind(&open, &run.run);
        let catalog = self.fresh_catalog();
        let agent = catalog.agents().find(&row.to.agent).cloned();
        let agent = agent.unwrap_or_else(|| Agent::unknown(row.to.agent.clone()));
        let story = self.find_story(&row.story).await?;
        let mut story = story.map_or_else(|| Story::named(row.story.clone()), |it| it.story);
        if story.branch.is_none() {
            story.branch = self.named_branch(&rows).await?;
        }
        let repository = self.repository(&branch_of(&story)).await;
        let project = catalog.project().clone();
        let mut known = PromptInputs {
            repository,
            project,
            workflow,
            agent,
            story,
            row,
            open,
            run,
            rows,
            events,
            caller,
            texts: WholeTexts::default(),
            discoveries: None,
            shared: SharedBrief::default(),
        };
        // A prompt never contains a damaged text: the agent would work on what was not written.
        known.texts = self.whole_texts(known.row.run, known.texts_needed()).await?;
        let earlier = known.earlier_packages();
        let texts = self.texts(known.row.run, earlier.iter().map(|it| it.content)).await?;
        let shown = [known.package(), known.own_last(), known.sender_input()];
        known.discoveries = rework::discoveries(&earlier, &texts, &shown);
        // Boxed: most runs share nothing, and every prompt would be of this size.
        known.shared = Box::pin(self.shared_brief(&known.run, known.row.package)).await?;
        Ok(known.into_brief())
    }

    /// The branch that a package of the run named last: the agent that makes the workspace names it there.
    async fn named_branch(&self, rows: &[HandoffRow]) -> Result<Option<String>, EngineError> {
        let Some(run) = rows.first().map(|it| it.run) else { return Ok(None) };
        let packages: Vec<ContentId> = rows.iter().filter_map(|it| it.package).collect();
        let last = packages.len().saturating_sub(MOST_SEARCHED);
        let texts = self.texts(run, packages[last..].iter().copied()).await?;
        let named = packages[last..].iter().rev().find_map(|it| {
            let text = texts.get(*it).whole()?;
            let document = formats::decode(formats::guess(text)?, text).ok()?;
            let package = Package::new(Format::Json, "", document);
            package.text_at("branch").map(str::trim).filter(|it| is_branch(it)).map(str::to_owned)
        });
        Ok(named)
    }

    async fn events_of(&self, row: &HandoffRow) -> Result<Vec<Event>, EngineError> {
        let filter = EventFilter { after: Position::START, run: Some(row.run), limit: 0 };
        let stored = self.events(&filter).await?;
        Ok(stored.iter().filter_map(|it| event::decode(&it.body).ok()).collect())
    }
}

/// How many of the last packages are searched for the name of a branch.
const MOST_SEARCHED: usize = 30;

/// It stands outside of a fence, so only what a branch is usually called counts as one.
fn is_branch(name: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"._/-".contains(&it);
    let is_short = (1..=100).contains(&name.len());
    is_short && name.bytes().all(is_plain) && !name.starts_with(['-', '/']) && !name.contains("..")
}

/// What the receiver continues with after accepting, where that is not the handoff itself.
fn caller_behind(open: &Handoff, run: &baton_core::run::Run) -> Option<HandoffNo> {
    match open.kind {
        Kind::Return => run.caller_of(open).map(|it| it.no),
        Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Question => None,
    }
}
