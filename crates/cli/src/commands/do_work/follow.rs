//! Follows a run to its end, and tells what happens: a line for each event at a pipe, and a line below them at a
//! terminal with who is at work, what it has cost and how long it took.

use std::io::IsTerminal as _;
use std::time::Duration;

use baton_api::{EventDocument, RunDetail, RunDocument};
use baton_core::budget::{dollars, span};
use baton_core::event::{Event, EvidenceEvent, MessageEvent, UsageEvent};
use baton_core::evidence::PACKAGE_CHECK;
use baton_runner::{RunnerNote, runner_note};
use baton_wire::event;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep};

use crate::commands::demo::audience::Audience;
use crate::commands::demo::narrator::{Narrator, in_reading_order};
use crate::commands::demo::programs::BatonProcess;
use crate::commands::demo::viewer::Viewer;
use crate::failure::Failure;
use crate::show::{self, TimeFormat};

const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How long a server that does not answer is waited for.
const MOST_SILENCE: Duration = Duration::from_secs(30);
const MOST_SILENCE_OF_OTHERS: Duration = Duration::from_secs(3);

pub(super) struct WorkFollower<'a> {
    viewer: &'a Viewer,
    narrator: Narrator,
    pub(super) run: RunDetail,
    /// Checks that Baton or an agent recorded, with what came of them.
    pub(super) evidence: Vec<(String, &'static str)>,
    /// Baton itself has run a check.
    pub(super) has_verified: bool,
    /// The executor that was started last: the program at work.
    executor: Option<String>,
    /// The executors that did work, each once.
    pub(super) executors: Vec<String>,
    read: u64,
    begun: Instant,
    has_status: bool,
}

impl<'a> WorkFollower<'a> {
    pub(super) async fn new(viewer: &'a Viewer, run: RunDocument) -> Result<Self, Failure> {
        let narrator = Narrator::new(viewer.names().await?, run.started_at);
        let run = viewer.detail(&run.id.to_string()).await?;
        let (evidence, begun) = (Vec::new(), Instant::now());
        let (has_verified, has_status, read) = (false, false, 0);
        let (executor, executors) = (None, Vec::new());
        Ok(Self {
            viewer,
            narrator,
            run,
            evidence,
            has_verified,
            executor,
            executors,
            read,
            begun,
            has_status,
        })
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Leaves out what was shown before the run was left.
    pub(super) async fn skip_told(&mut self) -> Result<(), Failure> {
        self.read_new(|_, _, _, _| {}).await
    }

    /// Until the run is over.
    pub(super) async fn follow(
        &mut self,
        server: &mut Option<BatonProcess>,
        audience: &mut Audience,
    ) -> Result<(), Failure> {
        let mut heard = Instant::now();
        // Another command's server ends with that command, and does not come back.
        let patience = if server.is_some() { MOST_SILENCE } else { MOST_SILENCE_OF_OTHERS };
        loop {
            match self.look(audience).await {
                Ok(()) => {
                    heard = Instant::now();
                    if !self.run.run.status.is_open() {
                        // What the last agent printed and used comes a moment later.
                        sleep(LOOK_AGAIN).await;
                        return self.look(audience).await;
                    }
                }
                Err(Failure::Server { .. }) if heard.elapsed() < patience => {}
                Err(failure) => return Err(failure),
            }
            if let Some(why) = server.as_mut().and_then(BatonProcess::has_ended) {
                return Err(Failure::Broken { what: format!("the server has ended: {why}") });
            }
            if audience.is_asked() {
                // What is being typed stands on that line.
                self.clear_status();
            } else {
                self.show_status();
            }
            sleep(LOOK_AGAIN).await;
        }
    }

    async fn look(&mut self, audience: &mut Audience) -> Result<(), Failure> {
        self.read_new(tell).await?;
        self.run = self.viewer.detail(&self.run.run.id.to_string()).await?;
        if self.run.run.status.is_open() {
            audience.attend(self.viewer, self.run.run.id, "").await?;
        }
        Ok(())
    }

    async fn read_new(
        &mut self,
        tell: impl Fn(&Narrator, &EventDocument, &Event, &str),
    ) -> Result<(), Failure> {
        loop {
            let documents = self.viewer.events(self.run.run.id, self.read).await?;
            if documents.is_empty() {
                return Ok(());
            }
            self.clear_status();
            let mut events = Vec::new();
            for document in documents {
                self.read = document.position;
                let body = document.body.as_deref().map_or("", RawValue::get);
                // A newer server may send events that are not known here.
                let Ok(event) = event::decode(body) else { continue };
                if let Event::Evidence(EvidenceEvent::Recorded { check, verdict, ran, .. }) = &event
                {
                    self.has_verified |= ran.is_some() && check.as_str() != PACKAGE_CHECK;
                    self.evidence.retain(|(name, _)| name != check.as_str());
                    self.evidence.push((check.to_string(), verdict.name()));
                }
                if let Event::Message(MessageEvent::Posted { by: None, .. }) = &event
                    && let Some(RunnerNote::Started { executor }) =
                        document.text.as_deref().and_then(runner_note)
                {
                    self.executors.retain(|it| it != executor);
                    self.executors.push(executor.to_owned());
                    self.executor = Some(executor.to_owned());
                }
                events.push((document, event));
            }
            for (document, event) in in_reading_order(events, |it| &it.1) {
                let text = document.text.clone().unwrap_or_default();
                tell(&self.narrator, &document, &event, &text);
            }
        }
    }

    /// `implementer at work (claude) · $0.0417 · 1 min 20 s`, on the line where the cursor is.
    fn show_status(&mut self) {
        if !std::io::stderr().is_terminal() {
            return;
        }
        let run = &self.run.run;
        let who = run.current_agent.as_deref().unwrap_or("no agent");
        let doing = match (run.baton.name(), &run.held_back_until, &self.executor) {
            (_, Some(until), _) => format!("waits until {}", TimeFormat::local().show(*until)),
            ("held", None, Some(executor)) => format!("at work ({})", show::visible(executor)),
            ("held", None, None) => "at work".to_owned(),
            ("parked", None, _) => "is waited for".to_owned(),
            (_, None, _) => "is next".to_owned(),
        };
        let cost = self.run.usage.as_ref().and_then(|it| it.total.micro_usd).map(dollars);
        let cost = cost.map(|it| format!(" · {it}")).unwrap_or_default();
        let elapsed = span(u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX));
        anstream::eprint!(
            "\r\u{1b}[2K{}",
            show::dim(&format!("  {who} {doing}{cost} · {elapsed}"))
        );
        self.has_status = true;
    }

    fn clear_status(&mut self) {
        if std::mem::take(&mut self.has_status) {
            anstream::eprint!("\r\u{1b}[2K");
        }
    }
}

/// One event; with the program that did the work, and why another one goes on.
fn tell(narrator: &Narrator, document: &EventDocument, event: &Event, text: &str) {
    if let Event::Usage(UsageEvent::Recorded { agent, executor, usage, .. }) = event {
        let by = executor.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
        let used = show::dim(&format!("{}used {usage}", show::visible(&by)));
        return narrator.line(document.at, &narrator.name_of(agent.as_str()), &used);
    }
    if let Event::Message(MessageEvent::Posted { by: None, .. }) = event
        && runner_note(text) == Some(RunnerNote::Switched)
    {
        return narrator.line(document.at, "Runner", &show::warn(&show::visible(text)));
    }
    narrator.tell(document, event, text);
}

impl Drop for WorkFollower<'_> {
    fn drop(&mut self) {
        self.clear_status();
    }
}
