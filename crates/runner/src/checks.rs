//! Runs the checks that parked work waits for, in the workspace of its run, and reports what came of
//! them. Each stage is on disk before the next one begins.

mod printed;
mod stored;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_api::{CheckClaim, CheckReport, ObservedResult};
use baton_core::document::Node;
use baton_core::evidence::{PACKAGE_CHECK, Verdict};
use baton_core::names::CheckName;
use baton_files::{Dir, FileError};
use baton_wire::formats;
use baton_wire::project_file::ProjectCheck;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::JoinSet;
use uuid::Uuid;

use self::printed::{PrintedText, ShownOutput, send_printed};
pub(crate) use self::stored::under_way;
use self::stored::{all, checks_dir, save};
use crate::RunnerContext;
use crate::attempt::heartbeat_every;
use crate::client::ApiFailure;
use crate::is_told;
use crate::output::plain;
use crate::package_check::check_package;
use crate::process::{CHECK_MARK, ProgramSpec, end_checks, run_to_end};
use crate::record::{AttemptKey, AttemptRetry};
use crate::trust::{foreign_program, own_command};
use crate::workspace::{WorkspaceError, WorkspaceRecord};

/// A text of the API has at most 10,000 characters.
const MOST_DETAIL_CHARS: usize = 9_500;
const WAIT_SECONDS: u32 = 20;
/// After a claim that failed, and while what would be started is not trusted.
const PAUSE: Duration = Duration::from_millis(500);

/// The checks of one claim, on disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CheckRecord {
    key: AttemptKey,
    stage: CheckStage,
    run: Uuid,
    run_number: u64,
    /// The handoff's.
    #[serde(default)]
    number: u64,
    story: String,
    label: String,
    checks: Vec<String>,
    lease_seconds: u32,
    /// The package as the API has it.
    package: Option<String>,
    /// There once every check has been run.
    results: Vec<StoredResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStage {
    Claimed,
    /// The results are in the record.
    Finished,
    /// They are on the run, or not wanted any more.
    Reported,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredResult {
    check: String,
    has_passed: bool,
    detail: String,
    exit_code: Option<i32>,
    millis: u64,
    commit: Option<String>,
    tree: Option<String>,
    /// What is kept of what it printed.
    #[serde(default)]
    printed: PrintedText,
}

/// Why checks were not run.
#[derive(Debug, thiserror::Error)]
enum CheckFailure {
    #[error(transparent)]
    Files(#[from] FileError),
    #[error("the workspace cannot be made ready: {0}")]
    Workspace(#[from] WorkspaceError),
    #[error("{0}")]
    Api(#[from] ApiFailure),
    #[error("`{check}` cannot be started: {error}")]
    Start { check: String, error: std::io::Error },
    #[error("this runner has no check `{0}`")]
    Unknown(String),
    #[error(
        "what would be started has changed since it was trusted; `baton trust` shows the difference"
    )]
    Untrusted,
    #[error(
        "`{check}` would start `{file}` of the workspace, which is not the one that was trusted (it was changed, added or \
         removed there); take the change over into the project and type `baton trust`, or name a file of the project \
         itself in `[checks.{check}]`"
    )]
    Foreign { check: String, file: String },
    #[error("the runner was told to stop")]
    Stopped,
    /// Another runner has it by now.
    #[error("its lease was lost")]
    Lost,
}

/// Takes up what an earlier runner left, and then claims checks until the runner has to stop.
pub(crate) async fn run(context: Arc<RunnerContext>, stopped: watch::Receiver<bool>) {
    take_up(&context).await;
    let mut under_way = JoinSet::new();
    let most = context.settings.at_once.max(1);
    loop {
        while under_way.try_join_next().is_some() {}
        let may_claim = under_way.len() < most && context.is_trusted();
        let claim = async {
            if may_claim {
                return claim(&context, WAIT_SECONDS).await;
            }
            tokio::time::sleep(PAUSE).await;
            Ok(None)
        };
        let claimed = tokio::select! {
            claimed = claim => claimed,
            () = is_told(stopped.clone()) => break,
        };
        match claimed {
            Ok(Some(claim)) => {
                under_way.spawn(work(context.clone(), claim, stopped.clone()));
            }
            Ok(None) => {}
            Err(error) => {
                tracing::debug!(%error, "cannot claim checks");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    while under_way.join_next().await.is_some() {}
}

/// Runs the checks that wait now. False if there were none.
pub(crate) async fn once(context: &Arc<RunnerContext>, stopped: &watch::Receiver<bool>) -> bool {
    let mut has_run = take_up(context).await;
    while context.is_trusted() && !*stopped.borrow() {
        match claim(context, 0).await {
            Ok(Some(claim)) => {
                work(context.clone(), claim, stopped.clone()).await;
                has_run = true;
            }
            Ok(None) => break,
            Err(error) => {
                tracing::warn!(%error, "cannot claim checks");
                break;
            }
        }
    }
    has_run
}

/// Without a check of the project this takes the work that waits for the check `package` alone.
async fn claim(context: &RunnerContext, wait: u32) -> Result<Option<CheckClaim>, ApiFailure> {
    let names: Vec<String> = context.checks.iter().map(|it| it.name.to_string()).collect();
    let lease = u32::try_from(context.settings.lease.as_secs()).unwrap_or(20);
    context.client.claim_checks(&names, lease, wait).await
}

/// Goes on with what an earlier runner left: reports what was finished, and gives back what was not.
/// False if there was nothing.
async fn take_up(context: &Arc<RunnerContext>) -> bool {
    let records = match all(&context.state) {
        Ok(records) => records,
        Err(error) => {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::warn!(error, "the checks of earlier runners cannot be read");
            return false;
        }
    };
    let mut has_any = false;
    for mut record in records {
        match record.stage {
            CheckStage::Reported => {}
            CheckStage::Claimed => {
                has_any = true;
                let _ = end_checks(&record.key.folder());
                let why = "the runner was ended while the checks were run";
                give_back(context, &mut record, why).await;
            }
            CheckStage::Finished => {
                has_any = true;
                report(context, &mut record).await;
            }
        }
        // It is over, whatever came of it.
        let _ = checks_dir(&context.state).and_then(|it| it.remove(record.key.folder()));
    }
    has_any
}

async fn work(context: Arc<RunnerContext>, claim: CheckClaim, stopped: watch::Receiver<bool>) {
    let handoff = &claim.handoff.row;
    let token = String::new();
    let mut record = CheckRecord {
        key: AttemptKey { handoff: handoff.id, fence: claim.fence, token },
        stage: CheckStage::Claimed,
        run: claim.run.id,
        run_number: claim.run.number,
        number: handoff.number,
        story: handoff.story.clone(),
        label: handoff.label.clone(),
        checks: claim.checks.clone(),
        lease_seconds: claim.lease_seconds,
        package: claim.handoff.package.as_ref().map(|it| it.get().to_owned()),
        results: Vec::new(),
    };
    let run = async {
        save(&context.state, &record)?;
        run_all(&context, &record).await
    };
    let ended = tokio::select! {
        ended = run => ended,
        lost = until_lost(&context, &record) => Err(lost),
        () = is_told(stopped) => Err(CheckFailure::Stopped),
    };
    // What was dropped in the middle has ended its group; what has left that is found by its mark.
    let _ = end_checks(&record.key.folder());
    match ended {
        Ok(results) => {
            record.results = results;
            record.stage = CheckStage::Finished;
            if let Err(error) = save(&context.state, &record) {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, "the results of checks could not be recorded");
            }
            report(&context, &mut record).await;
        }
        Err(CheckFailure::Lost) => {}
        Err(why @ (CheckFailure::Stopped | CheckFailure::Untrusted)) => {
            give_back(&context, &mut record, &why.to_string()).await;
        }
        // It is not the agent's failure, and the next runner would not start it either.
        Err(why @ CheckFailure::Foreign { .. }) => {
            fail(&context, &mut record, &why.to_string(), AttemptRetry::AskFirst).await;
        }
        Err(why) => {
            fail(&context, &mut record, &why.to_string(), AttemptRetry::AsUsual).await;
        }
    }
    let _ = checks_dir(&context.state).and_then(|it| it.remove(record.key.folder()));
}

/// Heartbeats, until one is refused.
async fn until_lost(context: &RunnerContext, record: &CheckRecord) -> CheckFailure {
    loop {
        tokio::time::sleep(heartbeat_every(record.lease_seconds)).await;
        match context.client.heartbeat(&record.key).await {
            Ok(()) | Err(ApiFailure::Unreachable(_)) => {}
            Err(ApiFailure::Refused(_)) => return CheckFailure::Lost,
        }
    }
}

async fn run_all(
    context: &RunnerContext,
    record: &CheckRecord,
) -> Result<Vec<StoredResult>, CheckFailure> {
    // The agent that has handed on comes to its end first.
    let turn = context.turns.of(record.run);
    let _turn = turn.begin().await;
    let story = context.client.story(&record.story).await?;
    let workspace = context.workspaces.prepare(record.run, record.run_number, &story).await?;
    let state = match context.workspaces.checked_state(&workspace).await {
        Ok(state) => state,
        Err(why @ (WorkspaceError::OtherBranch { .. } | WorkspaceError::Git(_))) => {
            return Ok(not_run(context, record, &why.to_string()));
        }
        Err(why) => return Err(why.into()),
    };
    let (commit, tree) = (state.commit.clone(), state.tree.clone());
    let mut results = Vec::new();
    for name in record.checks.iter().filter(|it| *it != PACKAGE_CHECK) {
        let Some(check) = context.checks.iter().find(|it| it.name.as_str() == name) else {
            // Its result is posted over the API.
            continue;
        };
        if !context.is_trusted() {
            return Err(CheckFailure::Untrusted);
        }
        let result = run_check(context, record, check, (&workspace, &state.beside)).await?;
        results.push(StoredResult { commit: commit.clone(), tree: tree.clone(), ..result });
    }
    if results.is_empty() && !record.checks.iter().any(|it| it == PACKAGE_CHECK) {
        return Err(CheckFailure::Unknown(record.checks.join(", ")));
    }
    let seen = results.iter().filter_map(|it| {
        let verdict = if it.has_passed { Verdict::Passed } else { Verdict::Failed };
        Some((CheckName::parse(&it.check).ok()?, verdict))
    });
    let seen: Vec<(CheckName, Verdict)> = seen.collect();
    let begun = Instant::now();
    let document = record.package.as_deref().and_then(document).unwrap_or(Node::Null);
    let found = check_package(&context.workspaces, &workspace, &document, &seen).await;
    if !found.is_empty() || record.checks.iter().any(|it| it == PACKAGE_CHECK) {
        let lines: Vec<String> = found.problems.iter().chain(&found.seen).cloned().collect();
        let text = if lines.is_empty() { "it names nothing".to_owned() } else { lines.join("\n") };
        results.push(StoredResult {
            check: PACKAGE_CHECK.to_owned(),
            has_passed: found.problems.is_empty(),
            detail: beginning(&context.masking().clean(&text)),
            exit_code: None,
            millis: millis(begun),
            commit,
            tree,
            printed: PrintedText::default(),
        });
    }
    Ok(results)
}

/// Where what would be checked is on no commit of the run's branch: the agent gets its work back, with the reason.
fn not_run(context: &RunnerContext, record: &CheckRecord, why: &str) -> Vec<StoredResult> {
    let is_known = |it: &&String| {
        *it == PACKAGE_CHECK || context.checks.iter().any(|check| check.name.as_str() == *it)
    };
    let names = record.checks.iter().filter(is_known);
    let result = |check: &String| StoredResult {
        check: check.clone(),
        has_passed: false,
        detail: beginning(&format!("not run: {why}")),
        exit_code: None,
        millis: 0,
        commit: None,
        tree: None,
        printed: PrintedText::default(),
    };
    names.map(result).collect()
}

async fn run_check(
    context: &RunnerContext,
    record: &CheckRecord,
    check: &ProjectCheck,
    (workspace, beside): (&WorkspaceRecord, &[String]),
) -> Result<StoredResult, CheckFailure> {
    let tree = Dir::open(&workspace.path)?;
    let own_env = &context.settings.env;
    if let Some(file) = foreign_program(&context.project, &tree, &check.run, own_env) {
        let check = check.name.to_string();
        return Err(CheckFailure::Foreign { check, file: file.display().to_string() });
    }
    let mut env = context.workspaces.environment(workspace);
    env.push((CHECK_MARK.to_owned(), record.key.folder()));
    let own = own_command(&context.project, &check.run);
    let command = command_line(&check.run, &own.programs) + &beside_line(beside);
    let mut words = own.words.into_iter();
    let spec = ProgramSpec {
        program: words.next().unwrap_or_default(),
        args: words.collect(),
        folder: workspace.path.clone(),
        env,
        input: None,
    };
    let most = Duration::try_from(check.timeout).unwrap_or(Duration::from_secs(1));
    let begun = Instant::now();
    let ended = run_to_end(&spec, most).await;
    let ended =
        ended.map_err(|error| CheckFailure::Start { check: check.name.to_string(), error })?;
    let (exit_code, note) = match ended.status {
        Some(status) => (status.code(), None),
        None => (None, Some(format!("(ended: it took longer than {} s)", most.as_secs()))),
    };
    let masking = context.masking().with_workspace(&workspace.path);
    let shown = ShownOutput::of(&plain(&ended.output), ended.n_before, &masking);
    let printed = match note {
        Some(note) => format!("{}\n{note}", shown.text.trim_end()),
        None => shown.text,
    };
    let command = masking.clean(&command);
    Ok(StoredResult {
        check: check.name.to_string(),
        has_passed: ended.status.is_some_and(|it| it.success()),
        detail: detail(&command, printed.trim_end(), shown.n_before),
        exit_code,
        millis: millis(begun),
        commit: None,
        tree: None,
        printed: PrintedText::of(&command, &printed, shown.n_before),
    })
}

/// The command, and which of its files were not the workspace's.
fn command_line(words: &[String], programs: &[PathBuf]) -> String {
    let names: Vec<String> = programs.iter().map(|it| it.display().to_string()).collect();
    match names.is_empty() {
        true => words.join(" "),
        false => format!(
            "{}\n(with the project's own {}, as it was trusted)",
            words.join(" "),
            names.join(", ")
        ),
    }
}

/// What a check may depend on besides the commit that it is said of.
fn beside_line(beside: &[String]) -> String {
    const MOST_NAMES: usize = 5;
    const MOST_CHARS: usize = 80;
    if beside.is_empty() {
        return String::new();
    }
    // Names are an agent's: nothing in them may act on a terminal.
    let shown = |it: &String| it.escape_debug().take(MOST_CHARS).collect::<String>();
    let mut names: Vec<String> = beside.iter().take(MOST_NAMES).map(shown).collect();
    if beside.len() > MOST_NAMES {
        names.push(format!("{} more", beside.len() - MOST_NAMES));
    }
    format!("\n(beside what is in no commit: {})", names.join(", "))
}

/// The command, and the end of what it printed.
fn detail(command: &str, printed: &str, n_before: usize) -> String {
    let command = format!("$ {command}");
    let room = MOST_DETAIL_CHARS.saturating_sub(command.chars().count());
    let n_chars = printed.chars().count();
    if n_chars <= room && n_before == 0 {
        return format!("{command}\n{printed}");
    }
    let n_left_out = n_chars.saturating_sub(room);
    let end: String = printed.chars().skip(n_left_out).collect();
    let before = match n_before {
        0 => format!("{n_left_out} characters"),
        n => format!("more than {n} bytes"),
    };
    format!("{command}\n[{before} before this]\n{end}")
}

fn beginning(text: &str) -> String {
    text.chars().take(MOST_DETAIL_CHARS).collect()
}

fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The package as a document: JSON as it was written, or a text of another format.
fn document(package: &str) -> Option<Node> {
    let text = match serde_json::from_str::<String>(package) {
        Ok(text) => text,
        Err(_) => package.to_owned(),
    };
    formats::decode(formats::guess(&text)?, &text).ok()
}

async fn report(context: &RunnerContext, record: &mut CheckRecord) {
    let observed = |it: &StoredResult| ObservedResult {
        check: it.check.clone(),
        verdict: if it.has_passed { Verdict::Passed } else { Verdict::Failed }.into(),
        detail: it.detail.clone(),
        exit_code: it.exit_code,
        millis: it.millis,
        commit: it.commit.clone(),
        tree: it.tree.clone(),
    };
    let printed: Vec<_> = record.results.iter().map(|it| (&*it.check, &it.printed)).collect();
    send_printed(context, &record.key, &printed).await;
    let results = record.results.iter().map(observed).collect();
    let report = CheckReport { fence: record.key.fence, results };
    end_with(context, record, context.client.report_checks(&record.key, &report).await);
}

async fn give_back(context: &RunnerContext, record: &mut CheckRecord, why: &str) {
    let why = &context.masking().clean(why);
    end_with(context, record, context.client.release(&record.key, why).await);
}

async fn fail(context: &RunnerContext, record: &mut CheckRecord, why: &str, retry: AttemptRetry) {
    // What a set-up has printed may be in it.
    let why = &context.masking().clean(why);
    end_with(context, record, context.client.lose(&record.key, why, None, retry).await);
}

fn end_with(context: &RunnerContext, record: &mut CheckRecord, sent: Result<(), ApiFailure>) {
    if let Err(error) = sent {
        let label = &record.label;
        tracing::warn!(%error, label, "what came of checks was not taken");
    }
    record.stage = CheckStage::Reported;
    // The folder goes next; this is for a runner that is killed in between.
    let _ = save(&context.state, record);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_much_output_the_end_is_told_and_how_much_is_not() {
        assert_eq!(detail("cargo test", "ok", 0), "$ cargo test\nok");
        let long = format!("{}the end", "ä".repeat(20_000));
        let told = detail("cargo test", &long, 0);
        assert!(told.chars().count() < 10_000);
        assert!(
            told.starts_with("$ cargo test\n[10519 characters before this]"),
            "{}",
            &told[..60]
        );
        assert!(told.ends_with("the end"));
        let much = detail("cargo test", "the end", 20_000_000);
        assert_eq!(much, "$ cargo test\n[more than 20000000 bytes before this]\nthe end");
    }

    #[test]
    fn a_package_is_read_in_whatever_format_it_is() {
        for package in [r#"{"a": "b"}"#, r#""a: b\n""#, r#""<a>b</a>""#] {
            assert!(document(package).is_some(), "{package}");
        }
        assert_eq!(document("\"\""), None);
    }
}
