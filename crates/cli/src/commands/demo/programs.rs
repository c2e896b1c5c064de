//! The programs that `baton demo` and `baton do` start: `baton serve`, `baton runner`, the tests of the demo's
//! project, and git, as the runner starts it.
//!
//! Whatever becomes of this process, its server and its runner end with it: they hold the other end of a pipe.
#![expect(clippy::disallowed_methods, reason = "these commands start programs of their own")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_runner::{GitError, git_answer};
use baton_wire::database_url::DatabaseUrl;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, Command};
use tokio::time::timeout;

use crate::args::DATABASE_VARIABLE;
use crate::failure::{Failure, UNAVAILABLE};
use crate::runners::environment;

/// How long a program may take to say that it is ready, and to end.
const MOST_STARTING: Duration = Duration::from_secs(30);
const MOST_ENDING: Duration = Duration::from_secs(40);
/// Lines of a program's log that are kept, to be shown if it ends by itself.
const KEPT_LINES: usize = 20;

/// The folders of a demo.
pub(in crate::commands) struct DemoFolders {
    /// The git repository, which is a Baton project too.
    pub(in crate::commands) project: PathBuf,
    /// The user's state, as far as the demo is concerned: what it trusts is in it.
    pub(in crate::commands) state: PathBuf,
}

/// Where a Baton that is started works.
#[derive(Clone, Copy)]
pub(in crate::commands) struct ChildPlace<'a> {
    pub(in crate::commands) project: &'a Path,
    /// The user's state, where it is not the user's own.
    pub(in crate::commands) state: Option<&'a Path>,
    /// Where the data is, if not in the project's folder.
    pub(in crate::commands) database: Option<&'a DatabaseUrl>,
}

/// A Baton that the demo has started.
pub(in crate::commands) struct BatonProcess {
    child: Child,
    /// Never written to: it ends with this process.
    _input: Option<ChildStdin>,
    log: Arc<Mutex<Vec<String>>>,
}

/// What a program printed, and whether it succeeded.
pub(in crate::commands) struct ProgramEnd {
    pub(in crate::commands) is_success: bool,
    pub(in crate::commands) output: String,
}

impl BatonProcess {
    /// Starts `baton` with these arguments, and waits for the line that begins with `ready`: returns
    /// what follows in it.
    pub(in crate::commands) async fn start(
        ChildPlace { project, state, database }: ChildPlace<'_>,
        args: &[&str],
        ready: &str,
    ) -> Result<(Self, String), Failure> {
        let program =
            std::env::current_exe().map_err(|error| Failure::io("find this program", error))?;
        let mut command = Command::new(program);
        command.arg("--project").arg(project).args(args).arg("--until-input-ends");
        command.env("NO_COLOR", "1");
        if let Some(state) = state {
            command.env("XDG_STATE_HOME", state);
        }
        for name in ["BATON_URL", "BATON_TOKEN", "BATON_RUNNER_TOKEN", "BATON_KILL_AT_STEP"] {
            command.env_remove(name);
        }
        match database {
            // Not as an argument: those can be read by every user of the machine.
            Some(url) => command.env(DATABASE_VARIABLE, url.with_password()),
            None => command.env_remove(DATABASE_VARIABLE),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        // Ctrl-C is for the demo: it ends the others in their order.
        command.process_group(0).kill_on_drop(true);
        let failed = |error| Failure::io(format!("start `baton {}`", args.join(" ")), error);
        let mut child = command.spawn().map_err(failed)?;
        let input = child.stdin.take();
        let Some(errors) = child.stderr.take() else {
            return Err(failed(std::io::Error::other("it has no log")));
        };
        let mut lines = BufReader::new(errors).lines();
        let log = Arc::new(Mutex::new(Vec::new()));
        let is_ready = async {
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some(rest) = line.strip_prefix(ready) {
                    return Some(rest.trim().to_owned());
                }
                keep(&log, line);
            }
            None
        };
        let said = timeout(MOST_STARTING, is_ready).await.ok().flatten();
        let mut process = Self { child, _input: input, log: log.clone() };
        let Some(said) = said else {
            let status = timeout(MOST_ENDING, process.child.wait()).await.ok().and_then(Result::ok);
            let why = without_marks(&process.last_lines());
            let what = format!("`baton {}` did not start: {why}", args.join(" "));
            return Err(match status.and_then(|it| it.code()) == Some(UNAVAILABLE.into()) {
                true => Failure::NotStarted { what },
                false => Failure::Broken { what },
            });
        };
        tokio::spawn(read_on(lines, log));
        Ok((process, said))
    }

    /// Ends it as a crash would.
    pub(in crate::commands) async fn kill(mut self) {
        // It fails where the process has ended already.
        let _ = self.child.start_kill();
        let _ = self.child.wait().await;
    }

    /// Tells it to stop, and waits until it has.
    pub(in crate::commands) async fn stop(mut self) {
        let pid = self.child.id().and_then(|it| i32::try_from(it).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM);
        }
        if timeout(MOST_ENDING, self.child.wait()).await.is_err() {
            self.kill().await;
        }
    }

    /// Why it has ended by itself; `None` while it is there.
    pub(in crate::commands) fn has_ended(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) | Err(_) => None,
            Ok(Some(status)) => Some(format!("{status}: {}", self.last_lines())),
        }
    }

    fn last_lines(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).join("; ")
    }
}

/// An error of a Baton without the word and the code that stand around it: this one has its own.
fn without_marks(error: &str) -> String {
    let text = error.strip_prefix("error: ").unwrap_or(error);
    let is_code = |it: &str| it.ends_with(']') && !it.contains(' ');
    match text.rsplit_once(" [") {
        Some((text, code)) if is_code(code) => text.to_owned(),
        Some(_) | None => text.to_owned(),
    }
}

/// Its log is read to the end, so that it never waits for a reader.
async fn read_on(mut lines: Lines<BufReader<ChildStderr>>, log: Arc<Mutex<Vec<String>>>) {
    while let Ok(Some(line)) = lines.next_line().await {
        keep(&log, line);
    }
}

fn keep(log: &Mutex<Vec<String>>, line: String) {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    if log.len() == KEPT_LINES {
        log.remove(0);
    }
    log.push(line);
}

/// git in the repository of a demo or of a user, with no settings but those of the repository, and without the programs
/// that these name.
pub(in crate::commands) async fn git(project: &Path, args: &[&str]) -> Result<String, Failure> {
    let failed =
        |why: String| Failure::Broken { what: format!("`git {}` failed: {why}", args.join(" ")) };
    git_answer(project, &environment(), args).await.map_err(|error| match error {
        GitError::Start(error) => Failure::io("start `git`, which this needs", error),
        GitError::Failed { output, .. } => failed(output),
        error @ GitError::TooSlow { .. } => failed(error.to_string()),
    })
}

/// A program of the project and its arguments, by `sh`.
pub(in crate::commands) async fn sh(project: &Path, args: &[&str]) -> Result<ProgramEnd, Failure> {
    let mut command = Command::new("sh");
    command.args(args);
    run(command, project, "sh").await
}

async fn run(mut command: Command, project: &Path, name: &str) -> Result<ProgramEnd, Failure> {
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"] {
        command.env_remove(name);
    }
    command.current_dir(project).stdin(Stdio::null()).kill_on_drop(true);
    let what = format!("start `{name}`, which this needs");
    let output = command.output().await.map_err(|error| Failure::io(&what, error))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text += &String::from_utf8_lossy(&output.stderr);
    Ok(ProgramEnd { is_success: output.status.success(), output: text.trim_end().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_program_that_was_started_is_said_once() {
        let said = without_marks("error: cannot serve: the address is in use [unavailable]");
        assert_eq!(said, "cannot serve: the address is in use");
        assert_eq!(without_marks("it is [so] said"), "it is [so] said");
    }
}
