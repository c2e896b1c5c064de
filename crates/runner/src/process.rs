//! Starts programs: the only file of the runner that does.
//!
//! Each program leads a process group of its own, which is ended as a whole, and sees exactly the
//! environment that it is given.
#![expect(clippy::disallowed_methods, reason = "this is the one place that may")]

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use baton_files::Dir;
use bytes::Bytes;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// What to start.
#[derive(Debug, Clone)]
pub(crate) struct ProgramSpec {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) folder: PathBuf,
    /// The whole environment.
    pub(crate) env: Vec<(String, String)>,
    /// What it reads from its standard input; nothing where left out.
    pub(crate) input: Option<String>,
}

/// Identifies a process beyond its life: its number may be another's by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessMark {
    pub(crate) pid: i32,
    /// In ticks since the system started; `None` where the system does not say.
    pub(crate) started: Option<u64>,
}

/// A program at work.
pub(crate) struct RunningProgram {
    pub(crate) child: Child,
    group: Option<Pid>,
    pub(crate) mark: ProcessMark,
    /// Both its outputs, as they come. Closed when no process of it has them open any more.
    pub(crate) output: mpsc::Receiver<OutputChunk>,
}

/// A part of what a program prints.
pub(crate) struct OutputChunk {
    pub(crate) bytes: Bytes,
    pub(crate) stream: OutputStream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputStream {
    Answers,
    Errors,
}

/// How a short program ended.
#[derive(Debug)]
pub(crate) struct ShortRun {
    /// `None` where it was ended because it took too long.
    pub(crate) status: Option<ExitStatus>,
    /// The end of what it printed.
    pub(crate) output: String,
    /// How many bytes it printed before that.
    pub(crate) n_before: usize,
    /// Its standard output alone.
    pub(crate) answer: String,
}

/// Chunks that wait to be taken: a program that prints faster waits.
const MOST_CHUNKS: usize = 32;
const CHUNK_BYTES: usize = 32 * 1024;
/// How long a group may take to end when it is asked to.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long output that is on its way is waited for once the program has ended.
const LAST_OUTPUT: Duration = Duration::from_millis(500);
const MOST_SHORT_OUTPUT: usize = 64 * 1024;
/// What git lists is read whole: a list without its beginning would be a wrong one.
const MOST_ANSWER: usize = 256 << 20;

impl RunningProgram {
    pub(crate) fn start(spec: &ProgramSpec) -> io::Result<Self> {
        let stdin = if spec.input.is_some() { Stdio::piped() } else { Stdio::null() };
        let (program, stdin) = Self::spawn(spec, stdin)?;
        if let (Some(mut stdin), Some(input)) = (stdin, spec.input.clone()) {
            // A program that does not read its input just closes it.
            tokio::spawn(async move { stdin.write_all(input.as_bytes()).await });
        }
        Ok(program)
    }

    /// Starts a program that is talked to while it works; its end of the conversation is the input.
    pub(crate) fn start_open(spec: &ProgramSpec) -> io::Result<(Self, ChildStdin)> {
        let (program, stdin) = Self::spawn(spec, Stdio::piped())?;
        let stdin = stdin.ok_or_else(|| io::Error::other("it has no standard input"))?;
        Ok((program, stdin))
    }

    fn spawn(spec: &ProgramSpec, stdin: Stdio) -> io::Result<(Self, Option<ChildStdin>)> {
        let mut child = Command::new(&spec.program)
            .args(&spec.args)
            .current_dir(&spec.folder)
            .env_clear()
            .envs(spec.env.iter().map(|(name, value)| (name, value)))
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let pid = child.id().and_then(|it| i32::try_from(it).ok()).unwrap_or_default();
        let stdin = child.stdin.take();
        let (sender, output) = mpsc::channel(MOST_CHUNKS);
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(pump(stdout, OutputStream::Answers, sender.clone()));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(pump(stderr, OutputStream::Errors, sender));
        }
        let mark = ProcessMark { pid, started: started_at(pid) };
        Ok((Self { child, group: Pid::from_raw(pid), mark, output }, stdin))
    }

    /// Asks the whole group to end, and ends what is left of it.
    pub(crate) async fn end(&mut self) {
        self.signal(Signal::TERM);
        // Only the leader can be waited for; the others have the same time.
        let _ = timeout(FAREWELL, self.child.wait()).await;
        self.signal(Signal::KILL);
        let _ = self.child.wait().await;
    }

    /// Ends whatever the program left running in its group.
    pub(crate) fn end_group(&self) {
        self.signal(Signal::KILL);
    }

    /// The output that is still on its way.
    pub(crate) async fn last_output(&mut self) -> Vec<OutputChunk> {
        let mut chunks = Vec::new();
        let collect = async {
            while let Ok(Some(chunk)) = timeout(LAST_OUTPUT, self.output.recv()).await {
                chunks.push(chunk);
            }
        };
        // Whatever has left the group may print for ever.
        let _ = timeout(FAREWELL, collect).await;
        chunks
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It fails where the group has ended.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

async fn pump(
    mut from: impl AsyncRead + Unpin,
    stream: OutputStream,
    to: mpsc::Sender<OutputChunk>,
) {
    let mut buffer = vec![0; CHUNK_BYTES];
    while let Ok(n_bytes @ 1..) = from.read(&mut buffer).await {
        let bytes = Bytes::copy_from_slice(&buffer[..n_bytes]);
        if to.send(OutputChunk { bytes, stream }).await.is_err() {
            return;
        }
    }
}

/// The end of a text of any length.
struct Tail {
    bytes: Vec<u8>,
    most: usize,
    /// How many bytes went away.
    n_dropped: usize,
}

impl Tail {
    fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), most, n_dropped: 0 }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * self.most {
            let n = self.bytes.len() - self.most;
            self.n_dropped += n;
            self.bytes.drain(..n);
        }
    }

    fn n_before(&self) -> usize {
        self.n_dropped + self.bytes.len().saturating_sub(self.most)
    }

    fn text(&self) -> String {
        let from = self.bytes.len().saturating_sub(self.most);
        String::from_utf8_lossy(&self.bytes[from..]).into_owned()
    }
}

/// Runs a program to its end, or ends it after `most`.
pub(crate) async fn run_to_end(spec: &ProgramSpec, most: Duration) -> io::Result<ShortRun> {
    let mut program = RunningProgram::start(spec)?;
    let (mut output, mut answer) = (Tail::new(MOST_SHORT_OUTPUT), Tail::new(MOST_ANSWER));
    let mut keep = |chunk: &OutputChunk| {
        output.keep(&chunk.bytes);
        match chunk.stream {
            OutputStream::Answers => answer.keep(&chunk.bytes),
            OutputStream::Errors => {}
        }
    };
    let deadline = tokio::time::sleep(most);
    tokio::pin!(deadline);
    let status = loop {
        tokio::select! {
            chunk = program.output.recv() => match chunk {
                Some(chunk) => keep(&chunk),
                // Its outputs are closed; the end is near.
                None => break tokio::select! {
                    status = program.child.wait() => Some(status?),
                    () = &mut deadline => None,
                },
            },
            status = program.child.wait() => break Some(status?),
            () = &mut deadline => break None,
        }
    };
    match status {
        Some(_) => program.end_group(),
        None => program.end().await,
    }
    for chunk in program.last_output().await {
        keep(&chunk);
    }
    let n_before = output.n_before();
    Ok(ShortRun { status, output: output.text(), n_before, answer: answer.text() })
}

/// The beginning of what a program printed.
pub(crate) struct BoundedRun {
    /// `None` where it was ended because it took too long, or printed more than was wanted.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) answer: Vec<u8>,
    pub(crate) is_whole: bool,
    /// The end of what it said of itself.
    pub(crate) errors: String,
}

/// Runs a program until it ends, has printed `n_bytes`, or has taken `most`; then it is ended. No more than that is
/// held of what it prints.
pub(crate) async fn run_to_bound(
    spec: &ProgramSpec,
    most: Duration,
    n_bytes: usize,
) -> io::Result<BoundedRun> {
    let mut program = RunningProgram::start(spec)?;
    let (mut answer, mut errors) = (Vec::new(), Tail::new(MOST_SHORT_OUTPUT));
    let deadline = tokio::time::sleep(most);
    tokio::pin!(deadline);
    let is_whole = loop {
        tokio::select! {
            chunk = program.output.recv() => match chunk {
                Some(OutputChunk { bytes, stream: OutputStream::Errors }) => errors.keep(&bytes),
                Some(OutputChunk { bytes, stream: OutputStream::Answers }) => {
                    answer.extend_from_slice(&bytes[..bytes.len().min(n_bytes - answer.len())]);
                    if answer.len() == n_bytes {
                        break false;
                    }
                }
                None => break true,
            },
            () = &mut deadline => break false,
        }
    };
    let status = match is_whole {
        true => Some(program.child.wait().await?),
        false => {
            program.end().await;
            None
        }
    };
    Ok(BoundedRun { status, answer, is_whole, errors: errors.text() })
}

/// What a short program prints, without a runtime; `None` where it fails.
pub(crate) fn answer_of(spec: &ProgramSpec) -> io::Result<Option<Vec<u8>>> {
    let output = std::process::Command::new(&spec.program)
        .args(&spec.args)
        .current_dir(&spec.folder)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()?;
    Ok(output.status.success().then_some(output.stdout))
}

/// The exit code and the signal of a program that has ended.
pub(crate) fn exit_parts(status: ExitStatus) -> (Option<i32>, Option<i32>) {
    (status.code(), status.signal())
}

/// Ends the processes of an attempt that outlived it: its group, if the mark is still that process, and
/// every process that has the attempt's token in its environment.
pub(crate) fn end_orphans(mark: Option<ProcessMark>, token: &str) -> usize {
    let mut n_ended = 0;
    if let Some(mark) = mark
        && mark.started.is_some()
        && started_at(mark.pid) == mark.started
        && let Some(group) = Pid::from_raw(mark.pid)
    {
        n_ended += usize::from(kill_process_group(group, Signal::KILL).is_ok());
    }
    n_ended + end_marked(&format!("BATON_TOKEN={token}"))
}

/// Ends every process that was started with this variable, and those that they start meanwhile.
pub(crate) fn end_marked(variable: &str) -> usize {
    /// What forks faster than it is ended is left to the next look.
    const MOST_LOOKS: usize = 10;
    let own = std::process::id();
    let mut n_ended = 0;
    for _ in 0..MOST_LOOKS {
        let found = with_variable(variable).into_iter().filter(|it| u32::try_from(*it) != Ok(own));
        let found: Vec<Pid> = found.filter_map(Pid::from_raw).collect();
        if found.is_empty() {
            break;
        }
        for pid in found {
            n_ended += usize::from(rustix::process::kill_process(pid, Signal::KILL).is_ok());
        }
    }
    n_ended
}

/// Marks the processes of a check: not a credential.
pub(crate) const CHECK_MARK: &str = "BATON_CHECK";

/// Ends what an earlier runner left of the checks with this mark.
pub(crate) fn end_checks(mark: &str) -> usize {
    end_marked(&format!("{CHECK_MARK}={mark}"))
}

/// Processes that were started with this variable, in whatever group and session they are by now. Empty
/// where the system does not show environments.
fn with_variable(variable: &str) -> Vec<i32> {
    const MOST_ENVIRONMENT: u64 = 4 << 20;
    let Ok(all) = Dir::open(Path::new("/proc")) else { return Vec::new() };
    let has_it = |pid: &i32| {
        let read = all.subdir(pid.to_string()).and_then(|it| it.read("environ", MOST_ENVIRONMENT));
        read.is_ok_and(|it| it.split(|byte| *byte == 0).any(|it| it == variable.as_bytes()))
    };
    let names = all.list().unwrap_or_default().into_iter().map(|(name, _)| name);
    let pids = names.filter_map(|it| it.to_str().and_then(|it| it.parse().ok()));
    pids.filter(has_it).collect()
}

/// When a process started; `None` where there is none, or the system does not say.
fn started_at(pid: i32) -> Option<u64> {
    let dir = Dir::open(&Path::new("/proc").join(pid.to_string())).ok()?;
    let text = dir.read_text("stat", 4096).ok()?;
    // The name of the program is in parentheses, and may hold anything.
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> ProgramSpec {
        ProgramSpec {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            folder: std::env::temp_dir(),
            env: vec![("ONLY".to_owned(), "this".to_owned())],
            input: None,
        }
    }

    async fn output(script: &str) -> String {
        run_to_end(&shell(script), Duration::from_secs(20)).await.unwrap().output
    }

    #[tokio::test]
    async fn a_program_sees_only_its_own_environment_and_its_input() {
        let env = output("/usr/bin/env || /bin/env").await;
        let names: Vec<&str> = env.lines().filter_map(|it| it.split('=').next()).collect();
        assert!(names.contains(&"ONLY"), "{env}");
        assert!(
            names.iter().all(|it| ["ONLY", "PWD", "OLDPWD", "SHLVL", "_"].contains(it)),
            "{env}"
        );
        let spec = ProgramSpec { input: Some("hello".to_owned()), ..shell("cat") };
        assert_eq!(run_to_end(&spec, Duration::from_secs(20)).await.unwrap().output, "hello");
    }

    #[tokio::test]
    async fn a_group_is_ended_as_a_whole_and_in_time() {
        let spec = shell("sleep 60 & echo $!; trap '' TERM; sleep 60; sleep 60");
        let run = run_to_end(&spec, Duration::from_millis(300)).await.unwrap();
        assert_eq!(run.status, None, "it took too long");
        is_gone(run.output.trim().parse().unwrap()).await;
    }

    #[tokio::test]
    async fn a_child_that_outlives_its_program_is_ended_and_keeps_no_one_waiting() {
        let spec = shell("sleep 60 & echo $!");
        let run = run_to_end(&spec, Duration::from_secs(20)).await.unwrap();
        assert!(run.status.unwrap().success());
        is_gone(run.output.trim().parse().unwrap()).await;
    }

    #[tokio::test]
    async fn a_process_is_found_by_its_token_in_whatever_session_it_is() {
        let token = format!("baton-attempt.test.{}", uuid::Uuid::new_v4());
        // Its program ends only when it is in a session of its own: it is ended with the group before.
        let mut spec = shell(
            "f=$(mktemp); setsid sh -c 'echo up; exec sleep 60 > /dev/null 2>&1' > \"$f\" & \
             while [ ! -s \"$f\" ]; do sleep 0.05; done; rm \"$f\"",
        );
        spec.env.push(("BATON_TOKEN".to_owned(), token.clone()));
        spec.env.push(("PATH".to_owned(), "/usr/bin:/bin".to_owned()));
        let _ = run_to_end(&spec, Duration::from_secs(20)).await.unwrap();
        assert!(end_orphans(None, &token) >= 1, "it has left its group");
        for pid in with_variable(&format!("BATON_TOKEN={token}")) {
            is_gone(pid).await;
        }
    }

    #[tokio::test]
    async fn a_program_that_prints_without_end_is_ended_at_the_bound_and_no_more_is_held() {
        let run = run_to_bound(&shell("yes"), Duration::from_secs(20), 100_000).await.unwrap();
        assert_eq!((run.answer.len(), run.is_whole), (100_000, false));
        let spec = shell("echo a; echo b >&2; exit 3");
        let run = run_to_bound(&spec, Duration::from_secs(20), 9).await.unwrap();
        assert_eq!(
            (&run.answer[..], run.is_whole, run.errors.as_str()),
            (&b"a\n"[..], true, "b\n")
        );
        assert_eq!(run.status.unwrap().code(), Some(3));
    }

    /// Waits until a process has ended; it may be left as an entry of the process table.
    async fn is_gone(pid: i32) {
        for _ in 0..1000 {
            if started_at(pid).is_none() || is_zombie(pid) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{pid} is still there");
    }

    fn is_zombie(pid: i32) -> bool {
        let dir = Dir::open(&Path::new("/proc").join(pid.to_string()));
        let text = dir.and_then(|it| it.read_text("stat", 4096)).unwrap_or_default();
        text.rsplit_once(')').is_none_or(|(_, rest)| rest.trim().starts_with('Z'))
    }
}
