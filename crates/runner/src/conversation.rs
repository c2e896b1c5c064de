//! A program that speaks the Agent Client Protocol, between its streams and the run: its output is read,
//! its requests for permission are decided, and what it says goes on to be heard.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use baton_wire::project_file::agent_program::AgentPermissions;
use tokio::process::ChildStdin;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::RunnerContext;
use crate::acp::{
    AcpBrief, AcpEvent, AcpTranscript, AcpTurn, LineSplitter, OutputLine, PermissionDecision,
    PermissionQuestion, PermissionRule, is_cancelled, turn_usage,
};
use crate::client::{ApiFailure, PermissionAnswer};
use crate::masking::Masking;
use crate::process::{OutputChunk, OutputStream};
use crate::rate_limit::is_rate_limit;
use crate::record::{AttemptKey, TurnStop};
use crate::transcript::{AgentReport, TranscriptPart};

/// How a conversation is led.
#[derive(Debug, Clone)]
pub(crate) struct ConversationBrief {
    pub(crate) turn: AcpBrief,
    pub(crate) permissions: AgentPermissions,
    /// A person who has not answered by then has denied it.
    pub(crate) ask_within: Duration,
}

/// Whose conversation it is.
#[derive(Clone)]
pub(crate) struct ConversationOwner {
    pub(crate) context: Arc<RunnerContext>,
    pub(crate) key: AttemptKey,
    pub(crate) agent: String,
    /// What no question holds: secrets, and folders of the user's.
    pub(crate) masking: Masking,
}

/// What is heard of a program.
pub(crate) enum Heard {
    /// As it was printed.
    Printed(bytes::Bytes),
    /// What `n_bytes` of its output say.
    Said {
        n_bytes: usize,
        part: TranscriptPart,
    },
    /// What is known of it now.
    Report(Box<AgentReport>),
    /// A person is asked, and the agent waits.
    AskBegun,
    AskEnded,
    /// A person denied something.
    Denied,
    TurnEnded(TurnStop),
}

/// A conversation under way.
pub(crate) struct AgentConversation {
    heard: mpsc::Receiver<Heard>,
    cancel: watch::Sender<bool>,
    task: JoinHandle<()>,
}

const MOST_UNHEARD: usize = 64;
/// How often a person's answer is looked for.
const ASKED_EVERY: Duration = Duration::from_millis(500);
/// How long an agent that is to be ended may take to end its turn.
const FAREWELL: Duration = Duration::from_secs(3);
/// More requests of one attempt are denied: a person would not read them.
const MOST_ASKED: usize = 50;

impl AgentConversation {
    pub(crate) fn start(
        brief: ConversationBrief,
        owner: ConversationOwner,
        stdin: ChildStdin,
        output: mpsc::Receiver<OutputChunk>,
    ) -> Self {
        let (sender, heard) = mpsc::channel(MOST_UNHEARD);
        let (cancel, cancelled) = watch::channel(false);
        let listener = Listener {
            turn: AcpTurn::start(brief.turn.clone(), stdin),
            workspace: brief.turn.folder.clone(),
            permissions: brief.permissions,
            ask_within: brief.ask_within,
            owner,
            heard: sender,
            transcript: AcpTranscript::default(),
            report: AgentReport::default(),
            asked: JoinSet::new(),
            n_asked: 0,
            allowed_kinds: Arc::default(),
        };
        let task = tokio::spawn(listener.listen(output, cancelled));
        Self { heard, cancel, task }
    }

    pub(crate) async fn next(&mut self) -> Option<Heard> {
        self.heard.recv().await
    }

    /// Asks the agent to end its turn, and gives what it says until it has.
    pub(crate) async fn end(&mut self) -> Vec<Heard> {
        let _ = self.cancel.send(true);
        let mut last = Vec::new();
        let collect = async {
            while let Some(heard) = self.heard.recv().await {
                last.push(heard);
            }
        };
        let _ = tokio::time::timeout(FAREWELL, collect).await;
        last
    }
}

impl Drop for AgentConversation {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One request that goes to a person.
struct AskedPermission {
    owner: ConversationOwner,
    /// Counted in the attempt, from 1.
    n: usize,
    within: Duration,
    allowed_kinds: Arc<Mutex<BTreeSet<&'static str>>>,
    heard: mpsc::Sender<Heard>,
}

impl AskedPermission {
    async fn ask(self, question: PermissionQuestion, decide: oneshot::Sender<PermissionDecision>) {
        // One at a time; and the answer to the first may settle the next.
        let kinds = self.allowed_kinds.clone();
        let mut allowed = kinds.lock().await;
        if allowed.contains(question.kind) {
            let _ = decide.send(PermissionDecision::AllowKind);
            return;
        }
        let _ = self.heard.send(Heard::AskBegun).await;
        let (decision, how) = self.decision(&question).await;
        let _ = decide.send(decision);
        if decision == PermissionDecision::AllowKind {
            allowed.insert(question.kind);
        }
        let mut part = TranscriptPart::default();
        let word = if decision == PermissionDecision::Deny { "denied" } else { "allowed" };
        part.use_tool(word, &format!("{} ({}): {how}", question.title, question.kind));
        let _ = self.heard.send(Heard::Said { n_bytes: 0, part }).await;
        if decision == PermissionDecision::Deny {
            let _ = self.heard.send(Heard::Denied).await;
        }
        let _ = self.heard.send(Heard::AskEnded).await;
    }

    /// What a person says within the time, and how it came about.
    async fn decision(&self, question: &PermissionQuestion) -> (PermissionDecision, String) {
        let ConversationOwner { context, key, agent, .. } = &self.owner;
        let client = &context.client;
        let words = question.sentence(agent, &self.owner.masking);
        let gate = match client.ask_permission(key, self.n, &words).await {
            Ok(gate) => gate,
            Err(error) => {
                return (PermissionDecision::Deny, format!("no person can be asked: {error}"));
            }
        };
        let deadline = tokio::time::Instant::now() + self.within;
        loop {
            match client.permission(gate).await {
                Ok(Some(PermissionAnswer::Once)) => {
                    return (PermissionDecision::AllowOnce, "a person allowed it once".to_owned());
                }
                Ok(Some(PermissionAnswer::Kind)) => {
                    let how = "a person allowed this kind in this attempt".to_owned();
                    return (PermissionDecision::AllowKind, how);
                }
                Ok(Some(PermissionAnswer::Deny)) => {
                    return (PermissionDecision::Deny, "a person denied it".to_owned());
                }
                // A server that is started again still has the question: whatever it says meanwhile is no answer.
                Ok(None) | Err(ApiFailure::Unreachable(_) | ApiFailure::Refused(_)) => {}
            }
            if tokio::time::Instant::now() >= deadline {
                let _ = client.withdraw_permission(gate).await;
                let seconds = self.within.as_secs();
                let how = format!("no person answered within {seconds} s");
                return (PermissionDecision::Deny, how);
            }
            tokio::time::sleep(ASKED_EVERY).await;
        }
    }
}

/// The task of a conversation.
struct Listener {
    turn: AcpTurn,
    workspace: PathBuf,
    permissions: AgentPermissions,
    ask_within: Duration,
    owner: ConversationOwner,
    heard: mpsc::Sender<Heard>,
    transcript: AcpTranscript,
    report: AgentReport,
    /// Requests that a person has before them, one at a time.
    asked: JoinSet<()>,
    n_asked: usize,
    /// Kinds of tools that a person has allowed for the rest of the attempt.
    allowed_kinds: Arc<Mutex<BTreeSet<&'static str>>>,
}

impl Listener {
    async fn listen(
        mut self,
        mut output: mpsc::Receiver<OutputChunk>,
        mut cancelled: watch::Receiver<bool>,
    ) {
        let mut lines = LineSplitter::default();
        let (mut is_open, mut is_ended) = (true, false);
        loop {
            tokio::select! {
                event = self.turn.events.recv() => {
                    let Some(event) = event else { return };
                    // Without its program a turn cannot but break: what counts is how the program ended.
                    if self.take(event, is_open).await {
                        return;
                    }
                }
                chunk = output.recv(), if is_open => match chunk {
                    Some(chunk) => self.read(&chunk, &mut lines).await,
                    None => {
                        is_open = false;
                        self.turn.close();
                    }
                },
                () = is_cancelled(&mut cancelled), if !is_ended => {
                    is_ended = true;
                    self.asked.abort_all();
                    self.turn.cancel();
                }
                Some(_) = self.asked.join_next() => {}
            }
        }
    }

    /// What the program prints: messages of the protocol, and whatever else.
    async fn read(&mut self, chunk: &OutputChunk, lines: &mut LineSplitter) {
        let mut part = TranscriptPart::default();
        match chunk.stream {
            OutputStream::Errors => part.shown += &String::from_utf8_lossy(&chunk.bytes),
            OutputStream::Answers => {
                for line in lines.push(&chunk.bytes) {
                    match line {
                        OutputLine::Message(line) => {
                            self.turn.receive(line).await;
                        }
                        OutputLine::Other(text) => part.use_tool("output", &text),
                        OutputLine::TooLong => {
                            part.use_tool("output", "a message that is too long is left out");
                        }
                    }
                }
            }
        }
        self.tell(Heard::Said { n_bytes: chunk.bytes.len(), part }).await;
    }

    /// True at the end of the turn.
    async fn take(&mut self, event: AcpEvent, is_open: bool) -> bool {
        match event {
            AcpEvent::Session(session) => {
                self.report.session = Some(session);
                self.tell(Heard::Report(Box::new(self.report.clone()))).await;
            }
            AcpEvent::Update(update) => {
                let part = self.transcript.update(&update, &mut self.report);
                if part != TranscriptPart::default() {
                    self.tell(Heard::Said { n_bytes: 0, part }).await;
                }
            }
            AcpEvent::Permission(request, decide) => {
                let question = self.transcript.question(&request);
                self.permit(question, decide).await;
            }
            AcpEvent::Usage(response) => turn_usage(&response, &mut self.report),
            AcpEvent::Ended(stop) => {
                let mut part = self.transcript.finish();
                if let TurnStop::Error(why) = &stop
                    && is_open
                {
                    part.show(why);
                    if is_rate_limit(why) {
                        self.report.limited(why, None);
                    }
                }
                self.tell(Heard::Said { n_bytes: 0, part }).await;
                self.tell(Heard::Report(Box::new(self.report.clone()))).await;
                if is_open {
                    self.tell(Heard::TurnEnded(stop)).await;
                }
                return true;
            }
        }
        false
    }

    async fn permit(
        &mut self,
        question: PermissionQuestion,
        decide: oneshot::Sender<PermissionDecision>,
    ) {
        let rule = PermissionRule::of(self.permissions, &question, &self.workspace);
        match rule {
            PermissionRule::Allow => {
                let _ = decide.send(PermissionDecision::AllowOnce);
            }
            PermissionRule::Deny => self.deny(&question, decide, "the settings deny it").await,
            PermissionRule::AskPerson if self.n_asked >= MOST_ASKED => {
                self.deny(&question, decide, "it has asked too often").await;
            }
            PermissionRule::AskPerson => {
                self.n_asked += 1;
                let asked = AskedPermission {
                    owner: self.owner.clone(),
                    n: self.n_asked,
                    within: self.ask_within,
                    allowed_kinds: self.allowed_kinds.clone(),
                    heard: self.heard.clone(),
                };
                self.asked.spawn(asked.ask(question, decide));
            }
        }
    }

    async fn deny(
        &mut self,
        question: &PermissionQuestion,
        decide: oneshot::Sender<PermissionDecision>,
        why: &str,
    ) {
        let _ = decide.send(PermissionDecision::Deny);
        self.report.n_denied += 1;
        let mut part = TranscriptPart::default();
        part.use_tool("denied", &format!("{} ({}): {why}", question.title, question.kind));
        self.tell(Heard::Said { n_bytes: 0, part }).await;
    }

    async fn tell(&self, heard: Heard) {
        let _ = self.heard.send(heard).await;
    }
}
