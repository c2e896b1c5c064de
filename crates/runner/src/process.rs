//! Starts programs: the only file of the runner that does.
//!
//! Each program leads a process group of its own, which is ended as a whole, and sees exactly the
//! environment that it is given.
#![expect(clippy::disallowed_methods, reason = "this is the one place that may")]

mod leftovers;

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

use self::leftovers::AwaitedChild;
pub(crate) use self::leftovers::{
    CHECK_MARK, adopt_orphans, end_checks, end_marked, end_orphans, reap_orphans,
};

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
    _awaited: AwaitedChild,
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
        let mut command = Command::new(&spec.program);
        command
            .args(&spec.args)
            .current_dir(&spec.folder)
            .env_clear()
            .envs(spec.env.iter().map(|(name, value)| (name, value)))
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let (mut child, awaited) = AwaitedChild::start(|| {
            let child = command.spawn()?;
            let pid = child.id().and_then(|it| i32::try_from(it).ok()).unwrap_or_default();
            Ok((child, pid))
        })?;
        let pid = awaited.pid();
        let stdin = child.stdin.take();
        let (sender, output) = mpsc::channel(MOST_CHUNKS);
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(pump(stdout, OutputStream::Answers, sender.clone()));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(pump(stderr, OutputStream::Errors, sender));
        }
        let mark = ProcessMark { pid, started: started_at(pid) };
        let group = Pid::from_raw(pid);
        Ok((Self { child, group, mark, output, _awaited: awaited }, stdin))
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
    let mut command = std::process::Command::new(&spec.program);
    command
        .args(&spec.args)
        .current_dir(&spec.folder)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let (child, _awaited) = AwaitedChild::start(|| {
        let child = command.spawn()?;
        let pid = i32::try_from(child.id()).unwrap_or_default();
        Ok((child, pid))
    })?;
    let output = child.wait_with_output()?;
    Ok(output.status.success().then_some(output.stdout))
}

/// The exit code and the signal of a program that has ended.
pub(crate) fn exit_parts(status: ExitStatus) -> (Option<i32>, Option<i32>) {
    (status.code(), status.signal())
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

    pub(super) fn shell(script: &str) -> ProgramSpec {
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
    pub(super) async fn is_gone(pid: i32) {
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
