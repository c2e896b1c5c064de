//! Watches over an agent's program: its output, its time, its silence, and whether the work is still
//! its own.

use std::sync::Arc;
use std::time::Duration;

use baton_api::ProblemDocument;
use baton_core::budget::{Budget, BudgetUnit};
use baton_wire::project_file::runner::ExecutorSettings;
use jiff::SignedDuration;
use tokio::process::ChildStdin;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::RunnerContext;
use crate::attempt::heartbeat_every;
use crate::client::ApiFailure;
use crate::conversation::{AgentConversation, ConversationBrief, ConversationOwner, Heard};
use crate::masking::Masking;
use crate::output::{AgentOutput, MOST_PRINTED};
use crate::process::{OutputChunk, RunningProgram, end_orphans, exit_parts};
use crate::record::{AgentEnd, AttemptRecord};
use crate::transcript::{AgentReport, Transcript};

/// A program, and how its output is read.
pub(crate) struct WatchedProgram {
    pub(crate) program: RunningProgram,
    pub(crate) reading: OutputReading,
    /// What is in nothing that it prints.
    pub(crate) masking: Masking,
}

/// How the output of a program is read.
pub(crate) enum OutputReading {
    Words,
    Transcript(Transcript),
    AgentConversation(Box<ConversationBrief>, ChildStdin),
}

/// What came of a program.
pub(crate) struct Supervised {
    pub(crate) end: AgentEnd,
    /// The end of what it printed.
    pub(crate) output: String,
    /// What the program said of itself, where its output is a transcript.
    pub(crate) report: AgentReport,
    /// Done when all of it is said on the run.
    pub(crate) said: JoinHandle<()>,
}

impl Supervised {
    /// True of a program that had to go on with a conversation, and failed before it was in one.
    pub(crate) fn has_lost_its_session(&self) -> bool {
        let has_failed = matches!(self.end, AgentEnd::Exited { code: Some(1..), .. });
        has_failed && self.report.session.is_none() && self.report.rate_limit.is_none()
    }
}

/// How often what was printed is said.
const SAID_EVERY: Duration = Duration::from_millis(500);
/// How long an agent may go on once it has handed off.
const GRACE: Duration = Duration::from_secs(5);
/// As [`GRACE`], where the next agent of the run waits for the workspace.
const SHORT_GRACE: Duration = Duration::from_millis(500);
/// Messages that wait to be sent; later ones are dropped.
const MOST_UNSENT: usize = 32;

pub(crate) async fn supervise(
    context: &Arc<RunnerContext>,
    record: &AttemptRecord,
    settings: &ExecutorSettings,
    watched: WatchedProgram,
    stop: &mut watch::Receiver<bool>,
) -> Supervised {
    let begun = Instant::now();
    let (messages, said) = send_messages(context, record);
    let mut program = watched.program;
    let mut conversation = None;
    let transcript = match watched.reading {
        OutputReading::Words => None,
        OutputReading::Transcript(transcript) => Some(transcript),
        OutputReading::AgentConversation(brief, stdin) => {
            let output = std::mem::replace(&mut program.output, mpsc::channel(1).1);
            let owner = ConversationOwner {
                context: context.clone(),
                key: record.key.clone(),
                agent: record.agent.clone(),
                masking: watched.masking.clone(),
            };
            conversation = Some(AgentConversation::start(*brief, owner, stdin, output));
            None
        }
    };
    let mut speech = Speech {
        output: AgentOutput::new(watched.masking),
        transcript,
        report: AgentReport::default(),
        n_denied: 0,
        session: None,
        asked_at: None,
        waited: Duration::ZERO,
        messages,
        heard_at: Instant::now(),
        silence: duration(settings.silence),
        is_told_silent: false,
    };
    let mut watched = (&mut program, &mut conversation, &mut speech);
    let end = watch_over(context, record, settings, &mut watched, stop).await;
    // Neither a person's time nor that of its end is the agent's.
    let worked = begun.elapsed().saturating_sub(speech.waited());
    // A program that ended in the middle of its turn has not said its last word.
    let is_cut_off = conversation.is_some() && matches!(end, AgentEnd::Exited { .. });
    // It may take its time, and the work is this attempt's until then.
    let ending = end_all(&end, &mut program, conversation, record);
    for heard in heartbeats_during(context, record, ending).await {
        speech.push(heard);
    }
    let mut report = speech.report();
    report.usage.work_ms = u64::try_from(worked.as_millis()).unwrap_or(u64::MAX);
    let words = speech.end();
    let output = if is_cut_off { String::new() } else { words };
    Supervised { end, output, report, said }
}

/// Ends what is left of a program, and gives what was on its way to be heard.
async fn end_all(
    end: &AgentEnd,
    program: &mut RunningProgram,
    conversation: Option<AgentConversation>,
    record: &AttemptRecord,
) -> Vec<Heard> {
    let mut last = Vec::new();
    if let Some(mut conversation) = conversation {
        last = conversation.end().await;
    }
    match end {
        AgentEnd::Exited { .. } => program.end_group(),
        // Its input is closed, and so it ends.
        AgentEnd::TurnEnded { .. } => {
            let _ = tokio::time::timeout(GRACE, program.child.wait()).await;
            program.end().await;
        }
        AgentEnd::TimedOut { .. }
        | AgentEnd::TooMuchOutput { .. }
        | AgentEnd::Over
        | AgentEnd::Lost
        | AgentEnd::OverBudget { .. }
        | AgentEnd::Stopped => program.end().await,
    }
    // What left the group may hold its outputs open.
    let _ = end_orphans(None, &record.key.token);
    let printed = program.last_output().await;
    last.extend(printed.into_iter().map(|it| Heard::Printed(it.bytes)));
    last
}

/// Heartbeats while something else takes its time.
pub(crate) async fn heartbeats_during<T>(
    context: &RunnerContext,
    record: &AttemptRecord,
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(heartbeat_every(record.lease_seconds)) => {
                // A refusal is met again by whatever follows.
                let _ = context.client.heartbeat(&record.key).await;
            }
        }
    }
}

/// Until the program ends, or has to be ended.
async fn watch_over(
    context: &RunnerContext,
    record: &AttemptRecord,
    settings: &ExecutorSettings,
    (program, conversation, speech): &mut WatchedParts<'_>,
    stop: &mut watch::Receiver<bool>,
) -> AgentEnd {
    let mut timeout = Instant::now() + duration(settings.timeout);
    let left = record.budget.less(&record.used);
    let mut worked_out = left.work_ms.map(|it| Instant::now() + Duration::from_millis(it));
    let turn = context.turns.of(record.run);
    let (mut is_open, mut is_wanted) = (true, false);
    let mut over_at: Option<Instant> = None;
    let mut beat = interval(heartbeat_every(record.lease_seconds));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The claim itself was the first one.
    beat.reset();
    let mut said = interval(SAID_EVERY);
    said.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            status = program.child.wait() => {
                let (code, signal) = status.map_or((None, None), exit_parts);
                return AgentEnd::Exited { code, signal };
            }
            _ = beat.tick(), if over_at.is_none() => {
                match context.client.heartbeat(&record.key).await {
                    Ok(()) | Err(ApiFailure::Unreachable(_)) => {}
                    Err(ApiFailure::Refused(problem)) if is_lost(&problem) => return AgentEnd::Lost,
                    // It has handed on, asked or delegated: it should come to its end now.
                    Err(ApiFailure::Refused(_)) => {
                        let grace = if is_wanted { SHORT_GRACE } else { GRACE };
                        over_at = Some(Instant::now() + grace);
                    }
                }
            }
            () = sleep_until(timeout), if speech.asked_at.is_none() => {
                return AgentEnd::TimedOut { seconds: duration(settings.timeout).as_secs() };
            }
            () = sleep_until(worked_out.unwrap_or(timeout)), if worked_out.is_some() && speech.asked_at.is_none() => {
                return AgentEnd::OverBudget { unit: BudgetUnit::WorkMs };
            }
            () = sleep_until(over_at.unwrap_or(timeout)), if over_at.is_some() => {
                return AgentEnd::Over;
            }
            () = stopped(stop) => return AgentEnd::Stopped,
            () = turn.is_wanted(), if !is_wanted => {
                is_wanted = true;
                if over_at.is_some() {
                    over_at = Some(Instant::now() + SHORT_GRACE);
                } else {
                    // While the work is its own, the other one waits.
                    beat.reset_immediately();
                }
            }
            _ = said.tick() => speech.say_on(),
            // Last, so that a program that never stops printing keeps nothing else from its turn.
            heard = next(&mut program.output, conversation), if is_open => match heard {
                Some(Heard::TurnEnded(stop)) => return AgentEnd::TurnEnded { stop },
                Some(heard) => {
                    let waited = speech.hear(heard);
                    timeout += waited;
                    worked_out = worked_out.map(|it| it + waited);
                    if let Some(unit) = speech.used_up(&left) {
                        return AgentEnd::OverBudget { unit };
                    }
                    if let Some(session) = speech.new_session() {
                        keep_session(context, record, session);
                    }
                    if speech.output.n_bytes > MOST_PRINTED {
                        return AgentEnd::TooMuchOutput { bytes: MOST_PRINTED };
                    }
                }
                None => is_open = false,
            },
        }
    }
}

/// What is watched over.
type WatchedParts<'a> = (&'a mut RunningProgram, &'a mut Option<AgentConversation>, &'a mut Speech);

async fn next(
    output: &mut mpsc::Receiver<OutputChunk>,
    conversation: &mut Option<AgentConversation>,
) -> Option<Heard> {
    match conversation {
        Some(conversation) => conversation.next().await,
        None => output.recv().await.map(|it| Heard::Printed(it.bytes)),
    }
}

/// On disk while the program is at work: where the runner is killed, the next one goes on with it.
fn keep_session(context: &RunnerContext, record: &AttemptRecord, session: String) {
    let mut record = record.clone();
    record.report.session = Some(session);
    if let Err(error) = record.save(&context.state) {
        let error: &(dyn std::error::Error + 'static) = &error;
        tracing::warn!(error, "the session of an agent could not be recorded");
    }
}

/// What the program prints, on its way to the run.
struct Speech {
    output: AgentOutput,
    transcript: Option<Transcript>,
    /// What a conversation has reported.
    report: AgentReport,
    /// How often a person denied something.
    n_denied: usize,
    /// The session that is on disk.
    session: Option<String>,
    /// Since when a person is asked, and the agent waits.
    asked_at: Option<Instant>,
    /// How long the agent has waited for people before that.
    waited: Duration,
    /// A server that does not keep up is not waited for: messages are dropped.
    messages: mpsc::Sender<String>,
    heard_at: Instant,
    silence: Duration,
    is_told_silent: bool,
}

impl Speech {
    /// How much longer the agent may take, because it waited for a person.
    fn hear(&mut self, heard: Heard) -> Duration {
        (self.heard_at, self.is_told_silent) = (Instant::now(), false);
        let waited = match &heard {
            Heard::AskEnded => self.asked_at.take().map_or(Duration::ZERO, |it| it.elapsed()),
            Heard::Printed(_)
            | Heard::Said { .. }
            | Heard::Report(_)
            | Heard::AskBegun
            | Heard::Denied
            | Heard::TurnEnded(_) => Duration::ZERO,
        };
        self.waited += waited;
        self.push(heard);
        if self.output.is_much() {
            self.say();
        }
        waited
    }

    /// How long the agent has waited for people, until now.
    fn waited(&self) -> Duration {
        self.waited + self.asked_at.map_or(Duration::ZERO, |it| it.elapsed())
    }

    fn push(&mut self, heard: Heard) {
        match (heard, &mut self.transcript) {
            (Heard::Printed(bytes), None) => self.output.push(&bytes),
            (Heard::Printed(bytes), Some(transcript)) => {
                self.output.push_read(bytes.len(), &transcript.push(&bytes));
            }
            (Heard::Said { n_bytes, part }, _) => self.output.push_read(n_bytes, &part),
            (Heard::Report(report), _) => self.report = *report,
            (Heard::AskBegun, _) => self.asked_at = Some(Instant::now()),
            (Heard::Denied, _) => self.n_denied += 1,
            (Heard::AskEnded | Heard::TurnEnded(_), _) => {}
        }
    }

    /// The name of its session, once, as soon as it is known.
    fn new_session(&mut self) -> Option<String> {
        let session = self.known().session.clone();
        if session == self.session {
            return None;
        }
        self.session.clone_from(&session);
        session
    }

    /// The first of what it may use that is used up, as far as the program says so.
    fn used_up(&self, left: &Budget) -> Option<BudgetUnit> {
        left.reached(&self.known().usage)
    }

    /// What is known of the program so far.
    fn known(&self) -> &AgentReport {
        self.transcript.as_ref().map_or(&self.report, Transcript::report)
    }

    /// What the transcript has reported, to its last line.
    fn report(&mut self) -> AgentReport {
        let Some(transcript) = self.transcript.take() else {
            let n_denied = self.report.n_denied + self.n_denied;
            return AgentReport { n_denied, ..self.report.clone() };
        };
        let (part, report) = transcript.finish();
        self.output.push_read(0, &part);
        report
    }

    fn say(&mut self) {
        if let Some(message) = self.output.next_message() {
            let _ = self.messages.try_send(message);
        }
    }

    /// What came since; or, once, that nothing comes.
    fn say_on(&mut self) {
        self.say();
        let is_silent = self.heard_at.elapsed() > self.silence && self.asked_at.is_none();
        if is_silent && !self.is_told_silent {
            self.is_told_silent = true;
            let text = format!("(nothing was heard of it for {} s)", self.silence.as_secs());
            let _ = self.messages.try_send(text);
        }
    }

    /// The rest. The result does not wait until it is sent.
    fn end(mut self) -> String {
        self.output.finish();
        while let Some(message) = self.output.next_message() {
            let _ = self.messages.try_send(message);
        }
        if let Some(message) = self.output.left_out() {
            let _ = self.messages.try_send(message);
        }
        self.output.text()
    }
}

/// The work was taken away, not handed on: its lease was lost, it was given back or cancelled, or the server
/// takes this runner's word no more.
pub(crate) fn is_lost(problem: &ProblemDocument) -> bool {
    let state = problem.handoff.as_ref().and_then(|it| {
        let value: serde_json::Value = serde_json::from_str(it.get()).ok()?;
        value["state"].as_str().map(str::to_owned)
    });
    let is_taken =
        matches!(state.as_deref(), Some("timed_out" | "cancelled" | "superseded" | "pending"));
    is_taken || is_unknown_runner(&problem.code)
}

/// The server refused the credential itself.
pub(crate) fn is_unknown_runner(code: &str) -> bool {
    matches!(code, "bad_token" | "not_a_runner")
}

/// A task that posts messages one after the other, in the agent's name, so that the agent is not kept
/// waiting. It ends once all are sent.
fn send_messages(
    context: &Arc<RunnerContext>,
    record: &AttemptRecord,
) -> (mpsc::Sender<String>, JoinHandle<()>) {
    let (sender, mut receiver) = mpsc::channel(MOST_UNSENT);
    let (context, run, agent) = (context.clone(), record.run, record.agent.clone());
    let said = tokio::spawn(async move {
        while let Some(text) = receiver.recv().await {
            let _ = context.client.say(run, Some(&agent), text).await;
        }
    });
    (sender, said)
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // The sender lives as long as the runner.
    if stop.wait_for(|it| *it).await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn duration(span: SignedDuration) -> Duration {
    Duration::try_from(span).unwrap_or(Duration::from_secs(1))
}
