//! The Agent Client Protocol, spoken with a program over its standard streams. Only this module uses the
//! protocol's crate, and that starts no program: `process.rs` does.

mod lines;
mod permission;
mod transcript;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, Implementation, InitializeRequest, LoadSessionRequest,
    NewSessionRequest, PromptRequest, PromptResponse, RequestPermissionRequest,
    ResumeSessionRequest, SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory,
    SessionId, SessionNotification, SessionUpdate, SetSessionConfigOptionRequest, StopReason,
    TextContent,
};
use agent_client_protocol::{Agent, Client, Error, Lines};
use futures_util::{sink, stream};
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::record::TurnStop;

pub(crate) use self::lines::{LineSplitter, OutputLine};
pub(crate) use self::permission::{PermissionDecision, PermissionQuestion, PermissionRule};
pub(crate) use self::transcript::{AcpTranscript, turn_usage};

/// What one turn of an agent needs.
#[derive(Debug, Clone)]
pub(crate) struct AcpBrief {
    pub(crate) prompt: String,
    /// The workspace.
    pub(crate) folder: PathBuf,
    /// The session to go on with, where the agent can.
    pub(crate) session: Option<String>,
    pub(crate) model: Option<String>,
}

/// What an agent does in its turn, in order.
pub(crate) enum AcpEvent {
    /// The name of its session, where it can be taken up again.
    Session(String),
    Update(Box<SessionUpdate>),
    /// It waits until this is answered. Dropped, it is denied.
    Permission(Box<RequestPermissionRequest>, oneshot::Sender<PermissionDecision>),
    /// Of a whole turn.
    Usage(Box<PromptResponse>),
    Ended(TurnStop),
}

/// One turn under way.
pub(crate) struct AcpTurn {
    pub(crate) events: mpsc::Receiver<AcpEvent>,
    /// Where the lines go that the program prints; `None` once it has ended.
    lines: Option<mpsc::Sender<String>>,
    cancel: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Starting a session takes an agent a few seconds.
const MOST_HANDSHAKE: Duration = Duration::from_secs(120);
/// How long an agent may take to end a turn that was cancelled.
const MOST_CANCEL: Duration = Duration::from_secs(2);
const MOST_UNREAD: usize = 64;

impl AcpTurn {
    pub(crate) fn start(brief: AcpBrief, stdin: ChildStdin) -> Self {
        let (lines, received) = mpsc::channel(MOST_UNREAD);
        let (sender, events) = mpsc::channel(MOST_UNREAD);
        let (cancel, cancelled) = watch::channel(false);
        let task = tokio::spawn(async move {
            let stop = match connect(&brief, stdin, received, sender.clone(), cancelled).await {
                Ok(stop) => stop,
                Err(error) => TurnStop::Error(sentence(&error)),
            };
            let _ = sender.send(AcpEvent::Ended(stop)).await;
        });
        Self { events, lines: Some(lines), cancel, task }
    }

    /// A line that the program has printed.
    pub(crate) async fn receive(&self, line: String) {
        if let Some(lines) = &self.lines {
            let _ = lines.send(line).await;
        }
    }

    /// The program has ended.
    pub(crate) fn close(&mut self) {
        self.lines = None;
    }

    /// Asks the agent to end its turn.
    pub(crate) fn cancel(&self) {
        let _ = self.cancel.send(true);
    }
}

impl Drop for AcpTurn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Connects, and plays one turn. The agent's input is closed when this returns.
async fn connect(
    brief: &AcpBrief,
    stdin: ChildStdin,
    lines: mpsc::Receiver<String>,
    events: mpsc::Sender<AcpEvent>,
    cancelled: watch::Receiver<bool>,
) -> Result<TurnStop, Error> {
    let outgoing = sink::unfold(stdin, |mut stdin, line: String| async move {
        stdin.write_all(format!("{line}\n").as_bytes()).await?;
        stdin.flush().await?;
        Ok::<_, io::Error>(stdin)
    });
    let incoming = stream::unfold(lines, |mut lines| async move {
        lines.recv().await.map(|line| (Ok::<_, io::Error>(line), lines))
    });
    // What an agent repeats of a session that is loaded was said in another attempt.
    // Nor is what it says of a session that is not this attempt's.
    let session: Arc<OnceLock<SessionId>> = Arc::default();
    let (heard, updates) = (session.clone(), events.clone());
    let asked = events.clone();
    Client
        .v1()
        .name("baton")
        .on_receive_notification(
            async move |it: SessionNotification, _| {
                if heard.get() == Some(&it.session_id) {
                    let _ = updates.send(AcpEvent::Update(Box::new(it.update))).await;
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest,
                        responder,
                        connection: ConnectionTo<Agent>| {
                let (decide, decided) = oneshot::channel();
                let options = request.options.clone();
                let _ = asked.send(AcpEvent::Permission(Box::new(request), decide)).await;
                // Not waited for here: the agent may say more in the meantime.
                connection.spawn(async move {
                    let decision = decided.await.unwrap_or(PermissionDecision::Deny);
                    responder.respond(permission::response(&options, decision))
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(Lines::new(outgoing, incoming), async |connection: ConnectionTo<Agent>| {
            turn(&connection, brief, &events, &session, cancelled).await
        })
        .await
}

async fn turn(
    connection: &ConnectionTo<Agent>,
    brief: &AcpBrief,
    events: &mpsc::Sender<AcpEvent>,
    heard: &OnceLock<SessionId>,
    mut cancelled: watch::Receiver<bool>,
) -> Result<TurnStop, Error> {
    let session = tokio::select! {
        opened = timeout(MOST_HANDSHAKE, open_session(connection, brief, events)) => match opened {
            Ok(session) => session?,
            Err(_) => {
                let seconds = MOST_HANDSHAKE.as_secs();
                let why = format!("it did not open a session within {seconds} seconds");
                return Ok(TurnStop::Error(why));
            }
        },
        () = is_cancelled(&mut cancelled) => return Ok(TurnStop::Cancelled),
    };
    let _ = heard.set(session.clone());
    let text = ContentBlock::Text(TextContent::new(brief.prompt.clone()));
    let answer =
        connection.send_request(PromptRequest::new(session.clone(), vec![text])).block_task();
    tokio::pin!(answer);
    let response = tokio::select! {
        response = &mut answer => response?,
        () = is_cancelled(&mut cancelled) => {
            connection.send_notification(CancelNotification::new(session))?;
            match timeout(MOST_CANCEL, answer).await {
                Ok(response) => response?,
                Err(_) => return Ok(TurnStop::Cancelled),
            }
        }
    };
    let stop = match response.stop_reason {
        StopReason::EndTurn => TurnStop::EndTurn,
        StopReason::MaxTokens => TurnStop::MaxTokens,
        StopReason::MaxTurnRequests => TurnStop::MaxTurnRequests,
        StopReason::Refusal => TurnStop::Refusal,
        StopReason::Cancelled => TurnStop::Cancelled,
        // The protocol may have more of them one day.
        _ => TurnStop::Error("it stopped for a reason that Baton does not know".to_owned()),
    };
    let _ = events.send(AcpEvent::Usage(Box::new(response))).await;
    Ok(stop)
}

/// A session of the agent's: the one to go on with, where it can be had, else a new one.
async fn open_session(
    connection: &ConnectionTo<Agent>,
    brief: &AcpBrief,
    events: &mpsc::Sender<AcpEvent>,
) -> Result<SessionId, Error> {
    // No file system and no terminal of ours: an agent has its own, in its own process.
    let hello = InitializeRequest::new(ProtocolVersion::V1)
        .client_info(Implementation::new("baton", env!("CARGO_PKG_VERSION")));
    let agent = connection.send_request(hello).block_task().await?;
    let can_load = agent.agent_capabilities.load_session;
    let can_resume = agent.agent_capabilities.session_capabilities.resume.is_some();
    let mut opened = None;
    if let Some(session) = &brief.session {
        let session = SessionId::new(session.as_str());
        opened = if can_resume {
            let request = ResumeSessionRequest::new(session.clone(), &brief.folder);
            let resumed = connection.send_request(request).block_task().await.ok();
            resumed.map(|it| (session, it.config_options))
        } else if can_load {
            let request = LoadSessionRequest::new(session.clone(), &brief.folder);
            let loaded = connection.send_request(request).block_task().await.ok();
            loaded.map(|it| (session, it.config_options))
        } else {
            None
        };
    }
    let (session, options) = match opened {
        Some(opened) => opened,
        None => {
            let request = NewSessionRequest::new(&brief.folder);
            let new = connection.send_request(request).block_task().await?;
            (new.session_id, new.config_options)
        }
    };
    if can_load || can_resume {
        let _ = events.send(AcpEvent::Session(session.to_string())).await;
    }
    if let Some(model) = &brief.model {
        set_model(connection, &session, &options.unwrap_or_default(), model).await?;
    }
    Ok(session)
}

async fn set_model(
    connection: &ConnectionTo<Agent>,
    session: &SessionId,
    options: &[SessionConfigOption],
    model: &str,
) -> Result<(), Error> {
    let is_model = |it: &&SessionConfigOption| {
        it.category == Some(SessionConfigOptionCategory::Model)
            && matches!(it.kind, SessionConfigKind::Select(_))
    };
    let Some(option) = options.iter().find(is_model) else {
        let why = "it offers no choice of a model: leave `model` out, and name the model in `run` or `env`";
        return Err(Error::invalid_params().data(why));
    };
    let request = SetSessionConfigOptionRequest::new(session.clone(), option.id.clone(), model);
    connection.send_request(request).block_task().await.map(|_| ())
}

/// An error of the protocol, for people: what the agent says of it, else its usual words.
fn sentence(error: &Error) -> String {
    let detail = match &error.data {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(serde_json::Value::Object(object)) => {
            let words = ["details", "message", "error"].iter().find_map(|it| object.get(*it));
            words.and_then(|it| it.as_str()).unwrap_or_default().to_owned()
        }
        Some(_) | None => String::new(),
    };
    match (error.message.is_empty(), detail.is_empty()) {
        (_, true) => error.message.clone(),
        (true, false) => detail,
        (false, false) => format!("{}: {detail}", error.message),
    }
}

pub(crate) async fn is_cancelled(cancelled: &mut watch::Receiver<bool>) {
    // Where no one can cancel any more, nothing is cancelled.
    if cancelled.wait_for(|it| *it).await.is_err() {
        std::future::pending::<()>().await;
    }
}
