//! Plays the part of an agent in a script: a process of its own, started like any agent.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_files::{Dir, FileError, FileMode};
use baton_wire::json;
use baton_wire::script_file::{HandOnWay, Script, ScriptedAction, ScriptedHandoff};

use crate::client::{ApiFailure, Client};
use crate::git::{GitError, GitFolder};
use crate::process::{ProgramSpec, run_to_end};
use crate::transport::ApiTransport;

/// What a scripted agent is started with: its environment, named.
pub struct PlayContext {
    pub agent: AgentId,
    /// The number of its handoff.
    pub handoff: String,
    pub run: String,
    pub story: String,
    /// The workspace.
    pub folder: PathBuf,
    /// `OUTPUT_DIRECTORY`.
    pub written: PathBuf,
    pub token: String,
    pub env: Vec<(String, String)>,
    /// This program.
    pub program: PathBuf,
}

/// How a script ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayEnd {
    Done,
    Exit(u8),
    /// The process has to end as if it had crashed.
    Die,
}

#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error("the script has no turn for `{0}`")]
    NoTurn(AgentId),
    #[error(transparent)]
    Files(#[from] FileError),
    #[error("`{command}` {what}")]
    Command { command: String, what: String },
    #[error("`{file}` does not hold what is to be replaced")]
    NothingToReplace { file: String },
    #[error("{0}")]
    Api(String),
    #[error("{0}")]
    Git(String),
    #[error("cannot print: {0}")]
    Print(#[from] std::io::Error),
}

impl From<ApiFailure> for PlayError {
    fn from(failure: ApiFailure) -> Self {
        Self::Api(failure.to_string())
    }
}

impl From<GitError> for PlayError {
    fn from(error: GitError) -> Self {
        Self::Git(error.to_string())
    }
}

const MOST_FILE_BYTES: u64 = 16 << 20;
const MOST_COMMAND: Duration = Duration::from_secs(600);

/// Plays the turn that is due: the one for so many handoffs, and answers to its questions, as the
/// agent has had in this run.
pub async fn play(
    script: &Script,
    context: PlayContext,
    transport: Arc<dyn ApiTransport>,
    out: &mut (dyn Write + Send),
) -> Result<PlayEnd, PlayError> {
    let client = Client::new(transport, context.token.clone());
    let n = client.count_turns(&context.run, context.agent.as_str()).await?;
    let actions =
        script.turn(&context.agent, n).ok_or_else(|| PlayError::NoTurn(context.agent.clone()))?;
    let dir = Dir::open(&context.folder)?;
    let player = Player { client, context, dir };
    for action in actions {
        match player.act(action, out).await? {
            PlayEnd::Done => {}
            end @ (PlayEnd::Exit(_) | PlayEnd::Die) => return Ok(end),
        }
    }
    Ok(PlayEnd::Done)
}

struct Player {
    client: Client,
    context: PlayContext,
    dir: Dir,
}

impl Player {
    async fn act(
        &self,
        action: &ScriptedAction,
        out: &mut (dyn Write + Send),
    ) -> Result<PlayEnd, PlayError> {
        match action {
            ScriptedAction::Say(text) => say(out, text)?,
            ScriptedAction::Print(text) => {
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            ScriptedAction::Wait(span) => {
                tokio::time::sleep(Duration::try_from(*span).unwrap_or_default()).await;
            }
            ScriptedAction::Write { file, text } => self.write(file, text)?,
            ScriptedAction::Append { file, text } => {
                let before = self.read(file)?;
                self.write(file, &format!("{before}{text}"))?;
            }
            ScriptedAction::Replace { file, text, with } => {
                let before = self.read(file)?;
                if !before.contains(text.as_str()) {
                    return Err(PlayError::NothingToReplace { file: file.clone() });
                }
                self.write(file, &before.replacen(text.as_str(), with, 1))?;
            }
            ScriptedAction::Remove { file } => self.dir.remove(file)?,
            ScriptedAction::Run(command) => {
                if let Some(what) = self.run(command, out).await? {
                    return Err(PlayError::Command { command: command.clone(), what });
                }
            }
            ScriptedAction::Try(command) => {
                if let Some(what) = self.run(command, out).await? {
                    let first = command.lines().next().unwrap_or_default();
                    say(out, &format!("`{first}` {what}"))?;
                }
            }
            ScriptedAction::Commit(message) => {
                let git = GitFolder::new(self.context.folder.clone(), &self.context.env);
                if let Some(commit) = git.commit_all(message).await? {
                    say(out, &format!("committed {commit}: {message}"))?;
                } else {
                    say(
                        out,
                        &format!("nothing has changed, so there is nothing to commit: {message}"),
                    )?;
                }
            }
            ScriptedAction::HandOn(handoff) => self.hand_on(handoff, out).await?,
            ScriptedAction::Reject(reason) => self.send("reject", "reason", reason).await?,
            ScriptedAction::Ask(question) => self.send("clarify", "question", question).await?,
            ScriptedAction::Answer(answer) => self.send("answer", "answer", answer).await?,
            ScriptedAction::Exit(code) => return Ok(PlayEnd::Exit(*code)),
            ScriptedAction::Die => return Ok(PlayEnd::Die),
            ScriptedAction::Hang => std::future::pending::<()>().await,
        }
        Ok(PlayEnd::Done)
    }

    fn read(&self, file: &str) -> Result<String, PlayError> {
        match self.dir.read_text(file, MOST_FILE_BYTES) {
            Err(error) if error.is_not_found() => Ok(String::new()),
            text => Ok(text?),
        }
    }

    fn write(&self, file: &str, text: &str) -> Result<(), PlayError> {
        if let Some((folder, _)) = file.rsplit_once('/') {
            self.dir.make_dirs(folder, FileMode::Shared)?;
        }
        Ok(self.dir.write_atomic(file, text.as_bytes(), FileMode::Shared)?)
    }

    /// What was wrong with a command line; `None` where it succeeded.
    async fn run(
        &self,
        command: &str,
        out: &mut (dyn Write + Send),
    ) -> Result<Option<String>, PlayError> {
        say(out, &format!("$ {command}"))?;
        let args = vec!["-c".into(), command.into()];
        self.start("/bin/sh".into(), args, None, out).await
    }

    async fn start(
        &self,
        program: std::ffi::OsString,
        args: Vec<std::ffi::OsString>,
        input: Option<String>,
        out: &mut (dyn Write + Send),
    ) -> Result<Option<String>, PlayError> {
        let (folder, env) = (self.context.folder.clone(), self.context.env.clone());
        let spec = ProgramSpec { program, args, folder, env, input };
        let run = run_to_end(&spec, MOST_COMMAND).await?;
        out.write_all(run.output.as_bytes())?;
        out.flush()?;
        Ok(match run.status {
            Some(status) if status.success() => None,
            Some(status) => Some(format!("failed: {status}")),
            None => Some("took too long".to_owned()),
        })
    }

    async fn hand_on(
        &self,
        handoff: &ScriptedHandoff,
        out: &mut (dyn Write + Send),
    ) -> Result<(), PlayError> {
        let context = &self.context;
        let package = json::print(&handoff.package);
        match handoff.by {
            HandOnWay::Http => {
                let mut body = vec![
                    ("outcome", Node::text(handoff.outcome.name())),
                    ("package", handoff.package.clone()),
                ];
                body.extend(handoff.to.as_ref().map(|it| ("toAgent", Node::text(it.as_str()))));
                let body = json::print(&Node::map(body));
                Ok(self.client.command_as_agent(&context.handoff, "complete", body).await?)
            }
            HandOnWay::Cli => {
                let mut args: Vec<std::ffi::OsString> =
                    ["handoff", "complete", &context.handoff, "--payload", "-", "--outcome"]
                        .map(Into::into)
                        .to_vec();
                args.push(handoff.outcome.name().into());
                if let Some(to) = &handoff.to {
                    args.extend(["--to".into(), to.as_str().into()]);
                }
                let program = context.program.clone().into_os_string();
                match self.start(program, args, Some(package), out).await? {
                    None => Ok(()),
                    Some(what) => {
                        let command = "baton handoff complete".to_owned();
                        Err(PlayError::Command { command, what })
                    }
                }
            }
            HandOnWay::Block => {
                say(out, &format!("I am done.\n\n```baton\n{}\n```", self.request(handoff)))
            }
            HandOnWay::File => {
                let text =
                    format!("# Report\n\n## Metadata\n\n```json\n{}\n```\n", self.request(handoff));
                let file = format!("{}-report.md", context.agent);
                let written = Dir::open(&context.written)?;
                Ok(written.write_atomic(file, text.as_bytes(), FileMode::Shared)?)
            }
        }
    }

    /// A handoff as a request of the pipeline API.
    fn request(&self, handoff: &ScriptedHandoff) -> String {
        let to = handoff.to.as_ref().map_or("orchestrator", AgentId::as_str);
        json::print(&Node::map([
            ("action", Node::text("create")),
            ("storyId", Node::text(&self.context.story)),
            ("fromAgent", Node::text(self.context.agent.as_str())),
            ("toAgent", Node::text(to)),
            ("outcome", Node::text(handoff.outcome.name())),
            ("payload", handoff.package.clone()),
        ]))
    }

    async fn send(&self, verb: &str, name: &'static str, text: &str) -> Result<(), PlayError> {
        let body = json::print(&Node::map([(name, Node::text(text))]));
        Ok(self.client.command_as_agent(&self.context.handoff, verb, body).await?)
    }
}

fn say(out: &mut (dyn Write + Send), text: &str) -> Result<(), PlayError> {
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}
