//! Watches over an agent's program: its output, its time, its silence, and whether the work is still
//! its own.

use std::sync::Arc;
use std::time::Duration;

use baton_api::ProblemDocument;
use baton_wire::project_file::runner::ExecutorSettings;
use jiff::SignedDuration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::RunnerContext;
use crate::attempt::heartbeat_every;
use crate::client::ApiFailure;
use crate::output::{AgentOutput, MOST_PRINTED};
use crate::process::{RunningProgram, exit_parts};
use crate::record::{AgentEnd, AttemptRecord};

/// What came of a program.
pub(crate) struct Supervised {
    pub(crate) end: AgentEnd,
    /// The end of what it printed.
    pub(crate) output: String,
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
    mut program: RunningProgram,
    secrets: Vec<String>,
    stop: &mut watch::Receiver<bool>,
) -> Supervised {
    let mut output = AgentOutput::new(secrets);
    let (messages, sending) = send_messages(context, record);
    let begun = Instant::now();
    let timeout = begun + duration(settings.timeout);
    let silence = duration(settings.silence);
    let mut heard_at = begun;
    let mut is_told_silent = false;
    let mut over_at: Option<Instant> = None;
    let mut is_open = true;
    let turn = context.turns.of(record.run);
    let mut is_wanted = false;
    let mut beat = interval(heartbeat_every(record.lease_seconds));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The claim itself was the first one.
    beat.reset();
    let mut said = interval(SAID_EVERY);
    said.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let end = loop {
        tokio::select! {
            biased;
            status = program.child.wait() => {
                let (code, signal) = status.map_or((None, None), exit_parts);
                break AgentEnd::Exited { code, signal };
            }
            _ = beat.tick(), if over_at.is_none() => {
                match context.client.heartbeat(&record.key).await {
                    Ok(()) | Err(ApiFailure::Unreachable(_)) => {}
                    Err(ApiFailure::Refused(problem)) if is_lost(&problem) => break AgentEnd::Lost,
                    // It has handed on, asked or delegated: it should come to its end now.
                    Err(ApiFailure::Refused(_)) => over_at = Some(Instant::now() + GRACE),
                }
            }
            () = sleep_until(timeout) => {
                break AgentEnd::TimedOut { seconds: duration(settings.timeout).as_secs() };
            }
            () = sleep_until(over_at.unwrap_or(timeout)), if over_at.is_some() => {
                break AgentEnd::Over;
            }
            () = stopped(stop) => break AgentEnd::Stopped,
            () = turn.is_wanted(), if !is_wanted => {
                is_wanted = true;
                let soon = Instant::now() + SHORT_GRACE;
                over_at = Some(over_at.map_or(soon, |it| it.min(soon)));
            }
            _ = said.tick() => {
                say(&mut output, &messages);
                if heard_at.elapsed() > silence && !is_told_silent {
                    is_told_silent = true;
                    let text = format!("(nothing was heard of it for {} s)", silence.as_secs());
                    let _ = messages.try_send(text);
                }
            }
            // Last, so that a program that never stops printing keeps nothing else from its turn.
            chunk = program.output.recv(), if is_open => match chunk {
                Some(chunk) => {
                    (heard_at, is_told_silent) = (Instant::now(), false);
                    output.push(&chunk.bytes);
                    if output.is_much() {
                        say(&mut output, &messages);
                    }
                    if output.n_bytes > MOST_PRINTED {
                        break AgentEnd::TooMuchOutput { bytes: MOST_PRINTED };
                    }
                }
                None => is_open = false,
            },
        }
    };
    match &end {
        AgentEnd::Exited { .. } => program.end_group(),
        AgentEnd::TimedOut { .. }
        | AgentEnd::TooMuchOutput { .. }
        | AgentEnd::Over
        | AgentEnd::Lost
        | AgentEnd::Stopped => program.end().await,
    }
    for chunk in program.last_output().await {
        output.push(&chunk.bytes);
    }
    while let Some(message) = output.next_message() {
        let _ = messages.try_send(message);
    }
    let _ = output.left_out().map(|it| messages.try_send(it));
    drop(messages);
    // The result does not wait for what was said on the way.
    drop(sending);
    Supervised { end, output: output.text() }
}

/// The lease was lost: the work was taken away, not handed on.
pub(crate) fn is_lost(problem: &ProblemDocument) -> bool {
    let state = problem.handoff.as_ref().and_then(|it| {
        let value: serde_json::Value = serde_json::from_str(it.get()).ok()?;
        value["state"].as_str().map(str::to_owned)
    });
    matches!(state.as_deref(), Some("timed_out" | "cancelled" | "superseded"))
}

fn say(output: &mut AgentOutput, messages: &mpsc::Sender<String>) {
    if let Some(message) = output.next_message() {
        // A server that does not keep up is not waited for.
        let _ = messages.try_send(message);
    }
}

/// A task that posts messages one after the other, in the agent's name, so that the agent is not kept
/// waiting. It ends once all are sent.
fn send_messages(
    context: &Arc<RunnerContext>,
    record: &AttemptRecord,
) -> (mpsc::Sender<String>, tokio::task::JoinHandle<()>) {
    let (sender, mut receiver) = mpsc::channel(MOST_UNSENT);
    let (context, run, agent) = (context.clone(), record.run, record.agent.clone());
    let sending = tokio::spawn(async move {
        while let Some(text) = receiver.recv().await {
            let _ = context.client.say(run, Some(&agent), text).await;
        }
    });
    (sender, sending)
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
