//! What programs leave running when they have ended, in whatever group and session it is by then.
//!
//! Where the system allows it, processes whose parent has ended become children of the runner: it sees them at once,
//! however fast they start others, and takes what is left of them out of the table of processes.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use baton_files::Dir;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

use super::{ProcessMark, started_at};

/// Children that somebody waits for. Held while one is started: until it is in here, it looks like an orphan.
static AWAITED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// What starts others faster than it is ended is left after this time.
const MOST_ENDING: Duration = Duration::from_secs(5);
/// Listing all processes takes so long that those which fork and exit all the time are missing in it. Orphans are
/// seen at once, but for the moment in which one of them exits.
const LOOKS_FOR_NO_ORPHAN: usize = 500;
const LOOKS_FOR_NOTHING: usize = 2;
const MOST_ENVIRONMENT: u64 = 4 << 20;

/// A child that is waited for by somebody else, until this is dropped.
#[derive(Debug)]
pub(super) struct AwaitedChild(i32);

impl AwaitedChild {
    /// `start` gives the number of the process that it starts.
    pub(super) fn start<T>(start: impl FnOnce() -> io::Result<(T, i32)>) -> io::Result<(T, Self)> {
        let mut awaited = AWAITED.lock().unwrap_or_else(PoisonError::into_inner);
        let (started, pid) = start()?;
        awaited.insert(pid);
        Ok((started, Self(pid)))
    }

    pub(super) fn pid(&self) -> i32 {
        self.0
    }
}

impl Drop for AwaitedChild {
    fn drop(&mut self) {
        AWAITED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// From now on orphans of this process's children are its own children.
pub(crate) fn adopt_orphans() {
    // Without it they are found by their environment alone.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Takes orphans that have ended out of the table of processes.
pub(crate) fn reap_orphans() {
    let Some(children) = OwnChildren::open() else { return };
    // Nothing is started meanwhile.
    let awaited = AWAITED.lock().unwrap_or_else(PoisonError::into_inner);
    for pid in children.all().into_iter().filter(|it| !awaited.contains(it)) {
        let _ = waitpid(Pid::from_raw(pid), WaitOptions::NOHANG);
    }
}

/// Ends the processes of an attempt that outlived it: its group, if the mark is still that process, and
/// every process that has the attempt's token in its environment.
pub(crate) async fn end_orphans(mark: Option<ProcessMark>, token: &str) -> usize {
    apart(mark, format!("BATON_TOKEN={token}")).await
}

/// Marks the processes of a check: not a credential.
pub(crate) const CHECK_MARK: &str = "BATON_CHECK";

/// Ends what an earlier runner left of the checks with this mark.
pub(crate) async fn end_checks(mark: &str) -> usize {
    apart(None, format!("{CHECK_MARK}={mark}")).await
}

/// It may take a while, and looks through all processes.
async fn apart(mark: Option<ProcessMark>, variable: String) -> usize {
    let end = move || end_marked_group(mark) + end_marked(&variable);
    tokio::task::spawn_blocking(end).await.unwrap_or(0)
}

fn end_marked_group(mark: Option<ProcessMark>) -> usize {
    let is_there = |it: &ProcessMark| it.started.is_some() && started_at(it.pid) == it.started;
    let group = mark.filter(is_there).and_then(|it| Pid::from_raw(it.pid));
    group.map_or(0, |it| usize::from(kill_process_group(it, Signal::KILL).is_ok()))
}

/// Ends every process that was started with this variable, and those that they start meanwhile, until there is
/// none.
pub(crate) fn end_marked(variable: &str) -> usize {
    let Ok(processes) = Dir::open(Path::new("/proc")) else { return 0 };
    let children = OwnChildren::open();
    let begun = Instant::now();
    let (mut n_ended, mut n_looks_for_nothing) = (0, 0);
    while n_looks_for_nothing < LOOKS_FOR_NOTHING && begun.elapsed() < MOST_ENDING {
        let mut n_now = end_each(&processes, all(&processes), variable);
        // Each one that is ended makes its children orphans.
        let mut n_looks = 0;
        while let Some(children) = &children
            && n_looks < LOOKS_FOR_NO_ORPHAN
            && begun.elapsed() < MOST_ENDING
        {
            let n_orphans = end_each(&processes, children.all(), variable);
            n_looks = if n_orphans == 0 { n_looks + 1 } else { 0 };
            n_now += n_orphans;
        }
        n_looks_for_nothing = if n_now == 0 { n_looks_for_nothing + 1 } else { 0 };
        n_ended += n_now;
    }
    reap_orphans();
    n_ended
}

fn end_each(processes: &Dir, pids: Vec<i32>, variable: &str) -> usize {
    let own = rustix::process::getpid();
    let found = pids.into_iter().filter(|it| has_variable(processes, *it, variable));
    let found = found.filter_map(Pid::from_raw).filter(|it| *it != own);
    found.filter(|it| kill_process(*it, Signal::KILL).is_ok()).count()
}

/// Every process. None where the system does not show them.
fn all(processes: &Dir) -> Vec<i32> {
    let names = processes.list().unwrap_or_default();
    names.iter().filter_map(|(name, _)| name.to_str()?.parse().ok()).collect()
}

/// The children of this process's first thread: that is where orphans come to.
struct OwnChildren(Dir);

impl OwnChildren {
    /// `None` where the system does not show them.
    fn open() -> Option<Self> {
        let own = rustix::process::getpid().as_raw_nonzero();
        Dir::open(Path::new(&format!("/proc/{own}/task/{own}"))).ok().map(Self)
    }

    fn all(&self) -> Vec<i32> {
        /// A number for each, with a space.
        const MOST_BYTES: u64 = 4 << 20;
        let list = self.0.read_text("children", MOST_BYTES).unwrap_or_default();
        list.split_whitespace().filter_map(|it| it.parse().ok()).collect()
    }
}

/// Whether a process was started with this variable.
fn has_variable(processes: &Dir, pid: i32, variable: &str) -> bool {
    let process = processes.subdir(pid.to_string());
    let environment = process.and_then(|it| it.read("environ", MOST_ENVIRONMENT));
    environment.is_ok_and(|it| it.split(|byte| *byte == 0).any(|it| it == variable.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{is_gone, shell};
    use super::super::{RunningProgram, run_to_end};
    use super::*;

    fn marked(script: &str) -> (super::super::ProgramSpec, String) {
        let token = format!("baton-attempt.test.{}", uuid::Uuid::new_v4());
        let mut spec = shell(script);
        spec.env.push(("BATON_TOKEN".to_owned(), token.clone()));
        spec.env.push(("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()));
        (spec, token)
    }

    fn with_token(token: &str, pids: impl Fn(&Dir) -> Vec<i32>) -> Vec<i32> {
        let processes = Dir::open(Path::new("/proc")).unwrap();
        let variable = format!("BATON_TOKEN={token}");
        pids(&processes).into_iter().filter(|it| has_variable(&processes, *it, &variable)).collect()
    }

    #[tokio::test]
    async fn a_process_is_found_by_its_token_in_whatever_session_it_is() {
        // Its program ends only when it is in a session of its own: it is ended with the group before.
        let (spec, token) = marked(
            "f=$(mktemp); setsid sh -c 'echo up; exec sleep 60 > /dev/null 2>&1' > \"$f\" & \
             while [ ! -s \"$f\" ]; do sleep 0.05; done; rm \"$f\"",
        );
        let _ = run_to_end(&spec, Duration::from_secs(20)).await.unwrap();
        assert!(end_orphans(None, &token).await >= 1, "it has left its group");
        for pid in with_token(&token, all) {
            is_gone(pid).await;
        }
    }

    #[tokio::test]
    async fn processes_that_fork_and_exit_all_the_time_are_ended_too() {
        adopt_orphans();
        let (spec, token) = marked(
            "exec python3 -c '
import os, time
left, leaves = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        is_first = True
        while True:
            if os.fork():
                os._exit(0)
            os.setsid()
            if is_first:
                os.write(leaves, b\"x\")
            is_first = False
            time.sleep(0.001)
for _ in range(4):
    os.read(left, 1)
'",
        );
        let run = run_to_end(&spec, Duration::from_secs(20)).await.unwrap();
        assert!(run.status.unwrap().success(), "{}", run.output);
        let children = OwnChildren::open().unwrap();
        let orphans = || with_token(&token, |_| children.all());
        assert!((0..10_000).any(|_| !orphans().is_empty()), "they have left its group");
        assert!(end_orphans(None, &token).await >= 1);
        assert!((0..1000).all(|_| orphans().is_empty()));
        assert_eq!(with_token(&token, all), [0_i32; 0]);
        let is_reaped = |_| {
            reap_orphans();
            children.all().is_empty()
        };
        assert!((0..100_000).any(is_reaped), "none is left in the table of processes");
    }

    #[tokio::test]
    async fn what_is_waited_for_is_not_taken_away_by_the_reaping_of_orphans() {
        adopt_orphans();
        let mut program = RunningProgram::start(&shell("exit 3")).unwrap();
        while program.output.recv().await.is_some() {}
        for _ in 0..100 {
            reap_orphans();
        }
        assert_eq!(program.child.wait().await.unwrap().code(), Some(3));
    }
}
