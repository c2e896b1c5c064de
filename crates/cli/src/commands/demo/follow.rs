//! Follows a run to its end, through the death of its server, and keeps the promises on the way.

use std::time::Duration;

use baton_api::{EventDocument, RunDocument};
use baton_core::event::{Event, MessageEvent};
use baton_wire::event;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep};

use super::audience::Audience;
use super::crew::Crew;
use super::narrator::{Narrator, in_reading_order, promise, shown};
use super::story::{DemoStory, Promises};
use super::viewer::Viewer;
use crate::data::verify_project;
use crate::failure::Failure;
use crate::project::Project;
use crate::show;

/// How often the log is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(80);
/// How long a server that does not answer is waited for.
const MOST_SILENCE: Duration = Duration::from_secs(20);
/// How long an event is held back: what its agent printed before it comes a moment later.
const HELD_BACK: Duration = Duration::from_millis(700);
/// The lease of each agent that races for the first handoff.
const LEASE_SECONDS: u32 = 3;

/// A run on its way, as far as it was shown.
pub(super) struct Follower<'a> {
    viewer: &'a Viewer,
    narrator: &'a Narrator,
    story: &'a DemoStory,
    pub(super) run: RunDocument,
    /// The position of the last event that was read.
    read: u64,
    /// Those that were not shown yet.
    held_back: Vec<ReadEvent>,
}

/// An event with its text, and when it was read.
struct ReadEvent {
    document: EventDocument,
    event: Event,
    text: String,
    at: Instant,
}

/// Whether events are held back, to be shown in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TellMode {
    InOrder,
    AtOnce,
}

impl<'a> Follower<'a> {
    pub(super) fn new(
        viewer: &'a Viewer,
        narrator: &'a Narrator,
        story: &'a DemoStory,
        run: RunDocument,
    ) -> Self {
        Self { viewer, narrator, story, run, read: 0, held_back: Vec::new() }
    }

    /// Two agents reach for the first handoff; the one that gets it is never heard of again.
    pub(super) async fn race(&mut self, crew: &Crew) -> Result<(), Failure> {
        self.tell_new(TellMode::AtOnce).await?;
        let offered = self.viewer.handoffs(self.run.id).await?;
        let Some(offered) = offered.first() else {
            return Err(Failure::Broken { what: "the run offers nothing".to_owned() });
        };
        promise("two agents may reach for the same work; exactly one gets it");
        let url = crew.url();
        let one = Viewer::new(&url, "first-agent")?;
        let two = Viewer::new(&url, "second-agent")?;
        let (first, second) = tokio::join!(
            one.accept(offered.number, &offered.to_agent, LEASE_SECONDS),
            two.accept(offered.number, &offered.to_agent, LEASE_SECONDS),
        );
        let name = self.narrator.name_of(&offered.to_agent);
        let mut winners = Vec::new();
        for (who, result) in [("1", first), ("2", second)] {
            let who = format!("{name} {who}");
            match result {
                Ok(()) => {
                    winners.push(who.clone());
                    self.narrator.line_now(&who, &show::mark("has the baton, with a lease of 3 s"));
                }
                Err(Failure::Refused { problem, .. }) => {
                    let why = format!("refused: {}", show::visible(&problem.detail));
                    self.narrator.line_now(&who, &show::warn(&why));
                }
                Err(failure) => return Err(failure),
            }
        }
        let [winner] = winners.as_slice() else {
            let what = format!("{} agents have got the same work", winners.len());
            return Err(Failure::Broken { what });
        };
        self.skip_new().await?;
        shown("one holder, one refusal that says who has it");
        promise("work does not die with its agent: a holder that is not heard of loses its lease");
        self.narrator.line_now(winner, "is killed, and says nothing any more");
        let begun = Instant::now();
        while self.viewer.handoffs(self.run.id).await?.len() < 2 {
            if begun.elapsed() > MOST_SILENCE {
                return Err(Failure::Broken { what: "a dead agent kept its work".to_owned() });
            }
            sleep(LOOK_AGAIN).await;
        }
        self.tell_new(TellMode::AtOnce).await?;
        let seconds = begun.elapsed().as_secs_f64();
        shown(&format!("after {seconds:.1} s the same work is offered again"));
        Ok(())
    }

    /// Until the run is over.
    pub(super) async fn follow(
        &mut self,
        crew: &mut Crew,
        audience: &mut Audience,
    ) -> Result<(), Failure> {
        let mut kill_with = match self.story.promises {
            Promises::All { killed_with } => Some(killed_with),
            Promises::None => None,
        };
        let mut heard = Instant::now();
        loop {
            match self.look(audience).await {
                Ok(at_work) => {
                    heard = Instant::now();
                    if kill_with.is_some() && kill_with == at_work.as_deref() {
                        kill_with = None;
                        self.kill_server(crew).await?;
                    }
                    if !self.run.status.is_open() {
                        // For what the last agent printed.
                        sleep(HELD_BACK).await;
                        return self.tell_new(TellMode::AtOnce).await.map(|_| ());
                    }
                }
                Err(Failure::Server { .. }) if heard.elapsed() < MOST_SILENCE => {}
                Err(failure) => return Err(failure),
            }
            crew.check()?;
            sleep(LOOK_AGAIN).await;
        }
    }

    /// Tells what is new and asks the viewer. Returns the agent that has just been heard of at work.
    async fn look(&mut self, audience: &mut Audience) -> Result<Option<String>, Failure> {
        let at_work = self.tell_new(TellMode::InOrder).await?;
        if self.held_back.is_empty() {
            audience.attend(self.viewer, self.run.id, self.story.answer).await?;
        }
        self.run = self.viewer.run(&self.run.id.to_string()).await?;
        Ok(at_work)
    }

    /// Kills the server while an agent is at work, starts it again and looks what is there.
    async fn kill_server(&mut self, crew: &mut Crew) -> Result<(), Failure> {
        self.tell_new(TellMode::AtOnce).await?;
        promise("what was answered is on disk: the server may be killed at any moment");
        let before = self.viewer.run(&self.run.id.to_string()).await?;
        let begun = Instant::now();
        crew.kill_server().await;
        self.narrator.line_now("You", &show::bad("kill -9 of the server, while an agent works"));
        crew.start_server().await?;
        let back = begun.elapsed().as_millis();
        self.narrator.line_now("Server", &format!("is back after {back} ms"));
        let after = self.viewer.run(&self.run.id.to_string()).await?;
        if after.version < before.version {
            let lost = before.version - after.version;
            return Err(Failure::Broken { what: format!("{lost} events are lost") });
        }
        let verified = verify_project(&Project::find(Some(&crew.folders.project))?).await?;
        if !verified.is_sound() {
            return Err(Failure::Unsound(Box::new(verified)));
        }
        shown(&format!(
            "all {} are there, every chain is whole, and the agent never stopped working",
            show::counted(verified.n_events, "event"),
        ));
        Ok(())
    }

    /// Reads the events since, and tells those whose time has come. Returns the agent whose message
    /// was the last.
    async fn tell_new(&mut self, mode: TellMode) -> Result<Option<String>, Failure> {
        let mut at_work = None;
        loop {
            let events = self.viewer.events(self.run.id, self.read).await?;
            if events.is_empty() {
                break;
            }
            for document in events {
                self.read = document.position;
                let body = document.body.as_deref().map_or("", RawValue::get);
                // A newer server may send events that are not known here.
                let Ok(event) = event::decode(body) else { continue };
                let text = self.text_of(&document, &event).await?;
                at_work = heard_of(&event).or(at_work);
                self.held_back.push(ReadEvent { document, event, text, at: Instant::now() });
            }
        }
        let mut held_back = in_reading_order(std::mem::take(&mut self.held_back), |it| &it.event);
        let is_due = |it: &ReadEvent| mode == TellMode::AtOnce || it.at.elapsed() >= HELD_BACK;
        let n_due = held_back.iter().rposition(is_due).map_or(0, |it| it + 1);
        for it in held_back.drain(..n_due) {
            self.narrator.tell(&it.document, &it.event, &it.text);
        }
        self.held_back = held_back;
        Ok(at_work)
    }

    /// Leaves out what the demo itself has just shown.
    async fn skip_new(&mut self) -> Result<(), Failure> {
        while let Some(last) = self.viewer.events(self.run.id, self.read).await?.last() {
            self.read = last.position;
        }
        Ok(())
    }

    async fn text_of(&self, document: &EventDocument, event: &Event) -> Result<String, Failure> {
        if document.is_text_cut && matches!(event, Event::Message(_)) {
            let whole = self.viewer.message(self.run.id, document.position).await?;
            return Ok(whole.unwrap_or_default());
        }
        Ok(document.text.clone().unwrap_or_default())
    }
}

/// The agent that an event shows to be at work: it has printed something.
fn heard_of(event: &Event) -> Option<String> {
    let Event::Message(MessageEvent::Posted { by: Some(by), .. }) = event else { return None };
    Some(by.to_string())
}
