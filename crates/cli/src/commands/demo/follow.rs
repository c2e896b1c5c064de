//! Follows a run to its end, through the death of its server, and keeps the promises on the way.

use std::time::Duration;

use baton_api::{EventDocument, RunDocument};
use baton_core::event::{Event, MessageEvent};
use baton_wire::event;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep};

use super::audience::Audience;
use super::crew::Crew;
use super::narrator::{Narrator, promise, shown};
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
/// The lease of whoever reaches for the first handoff.
const LEASE_SECONDS: u32 = 3;

/// A run on its way, as far as it was told.
pub(super) struct Follower<'a> {
    pub(super) viewer: &'a Viewer,
    pub(super) narrator: &'a Narrator,
    pub(super) story: &'a DemoStory,
    pub(super) run: RunDocument,
    /// The position of the last event that was told.
    pub(super) told: u64,
}

impl Follower<'_> {
    /// Two agents reach for the first handoff; the one that gets it is never heard of again.
    pub(super) async fn race(&mut self, crew: &Crew) -> Result<(), Failure> {
        self.tell_new().await?;
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
        let mut n_winners = 0;
        for (who, result) in [("1", first), ("2", second)] {
            let who = format!("{name} {who}");
            match result {
                Ok(()) => {
                    n_winners += 1;
                    self.narrator.line_now(&who, &show::mark("has the baton, with a lease of 3 s"));
                }
                Err(Failure::Refused { problem, .. }) => {
                    let why = format!("refused: {}", show::visible(&problem.detail));
                    self.narrator.line_now(&who, &show::warn(&why));
                }
                Err(failure) => return Err(failure),
            }
        }
        if n_winners != 1 {
            let what = format!("{n_winners} agents have got the same work");
            return Err(Failure::Broken { what });
        }
        self.skip_new().await?;
        shown("one holder, one refusal that says who has it");
        promise("work does not die with its agent: a holder that is not heard of loses its lease");
        self.narrator.line_now(&name, "is killed, and says nothing any more");
        let begun = Instant::now();
        while self.viewer.handoffs(self.run.id).await?.len() < 2 {
            if begun.elapsed() > MOST_SILENCE {
                return Err(Failure::Broken { what: "a dead agent kept its work".to_owned() });
            }
            sleep(LOOK_AGAIN).await;
        }
        self.tell_new().await?;
        let seconds = begun.elapsed().as_secs_f64();
        shown(&format!("after {seconds:.1} s the same work is offered again"));
        Ok(())
    }

    /// Until the run is over.
    pub(super) async fn to_the_end(
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
                        return self.tell_new().await.map(|_| ());
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
        let at_work = self.tell_new().await?;
        audience.attend(self.viewer, self.run.id, self.story.answer).await?;
        self.run = self.viewer.run(&self.run.id.to_string()).await?;
        Ok(at_work)
    }

    /// Kills the server while an agent is at work, starts it again and looks what is there.
    async fn kill_server(&mut self, crew: &mut Crew) -> Result<(), Failure> {
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

    /// Tells the events since, and returns the agent whose message was the last.
    async fn tell_new(&mut self) -> Result<Option<String>, Failure> {
        let mut at_work = None;
        loop {
            let events = self.viewer.events(self.run.id, self.told).await?;
            let Some(last) = events.last() else { return Ok(at_work) };
            let last = last.position;
            for document in &events {
                let body = document.body.as_deref().map_or("", RawValue::get);
                // A newer server may send events that are not known here.
                let Ok(event) = event::decode(body) else { continue };
                let text = self.text_of(document, &event).await?;
                self.narrator.tell(document, &event, &text);
                at_work = heard_of(&event).or(at_work);
            }
            self.told = last;
        }
    }

    /// Leaves out what the demo itself has just told.
    async fn skip_new(&mut self) -> Result<(), Failure> {
        while let Some(last) = self.viewer.events(self.run.id, self.told).await?.last() {
            self.told = last.position;
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
