//! What came of the work: branch, commits, diff, evidence, decisions, what is open, and what it cost.

use std::path::Path;

use baton_api::DecisionDocument;
use baton_core::budget::span;
use baton_core::document::Node;
use baton_core::package::Format;
use baton_core::plural::counted;
use baton_core::view::View;
use baton_runner::Workspaces;
use baton_wire::formats;
use uuid::Uuid;

use super::checkout::Checkout;
use super::follow::WorkFollower;
use super::shown;
use crate::commands::demo::programs::git;
use crate::commands::demo::viewer::Viewer;
use crate::failure::Failure;
use crate::project::Project;
use crate::runners::environment;
use crate::show;

const MOST_COMMITS: usize = 20;
const MOST_DECISIONS: usize = 10;
const MOST_OPEN: usize = 20;

pub(super) async fn show(
    follower: &WorkFollower<'_>,
    checkout: &Checkout,
    viewer: &Viewer,
) -> Result<(), Failure> {
    let run = &follower.run.run;
    let story = viewer.story(&run.story).await?;
    let root = &checkout.root;
    let mut lines = Vec::new();
    let mut has_commits = false;
    if let Some(branch) = &story.branch {
        lines.push(("branch", show::bold(&show::visible(branch))));
        let changes = changes(root, branch).await;
        has_commits = changes.has_commits;
        lines.extend(changes.lines);
        lines.extend(uncommitted(root, run.id).await);
    }
    if !follower.executors.is_empty() {
        lines.push(("programs", show::visible(&follower.executors.join(", "))));
    }
    let evidence: Vec<String> =
        follower.evidence.iter().map(|(check, verdict)| format!("{check} {verdict}")).collect();
    if !evidence.is_empty() {
        lines.push(("evidence", evidence.join(", ")));
    }
    if !follower.has_verified {
        lines.push(("verified", not_verified(root)));
    }
    let decisions = viewer.decisions(run.id).await?;
    for it in decisions.iter().take(MOST_DECISIONS) {
        let by = it.person.as_deref().unwrap_or(&it.decided_by.attribution.agent_name);
        lines.push((
            "decided",
            format!("{} ({})", show::shortened_line(&it.decision, 70), show::visible(by)),
        ));
    }
    let waiting = viewer.inbox(run.id).await?;
    let mut open: Vec<String> = waiting.iter().map(|it| show::visible(&it.why)).collect();
    let all = viewer.all_decisions(run.id).await?;
    open.extend(all.iter().filter(|it| is_open(it)).map(|it| {
        let by = show::visible(&it.decided_by.attribution.agent_name);
        format!("undecided: {} ({by})", show::shortened_line(&it.decision, 70))
    }));
    open.extend(questions(viewer, run.id).await?);
    let n_more = open.len().saturating_sub(MOST_OPEN);
    lines.extend(open.drain(..open.len() - n_more).map(|it| ("open", it)));
    match (n_more, lines.iter().any(|(name, _)| *name == "open")) {
        (0, true) => {}
        (0, false) => lines.push(("open", "nothing".to_owned())),
        (n, _) => lines.push(("open", format!("and {n} more"))),
    }
    if let Some(usage) = &follower.run.usage {
        lines.push(("used", show::usage_total(usage)));
    }
    let elapsed = u64::try_from(follower.elapsed().as_millis()).unwrap_or(u64::MAX);
    lines.push(("elapsed", span(elapsed)));
    let status = run.status.name();
    let title = if status == "completed" { show::good("✔ done") } else { show::warn(status) };
    show::answer(&format!("\n{title}\n{}", show::fields(lines)));
    if status != "completed" {
        return Err(Failure::Conflict(format!(
            "the run was {status}; `baton run show {}` tells how it went",
            run.number
        )));
    }
    if let Some(branch) = story.branch.as_ref().filter(|_| has_commits) {
        show::note(&format!("\nto take it: git merge {}", shown(Path::new(branch))));
    }
    Ok(())
}

/// Whether a decision is still open.
fn is_open(decision: &DecisionDocument) -> bool {
    decision.record.as_ref().is_some_and(|it| it.status == "open")
}

/// The open questions of the packages that agents have handed on, each once. Whether a later one answers them,
/// only a person can tell.
async fn questions(viewer: &Viewer, run: Uuid) -> Result<Vec<String>, Failure> {
    let mut found: Vec<String> = Vec::new();
    for row in viewer.handoffs(run).await? {
        if row.state.name() == "rejected" {
            continue;
        }
        let Some(package) = viewer.package(&row).await? else { continue };
        let Some(document) = document(&package) else { continue };
        for it in View::of(&document).open_questions {
            let priority = it.priority.map_or_else(String::new, |it| format!("{it}, "));
            let question = show::shortened_line(&it.question, 70);
            let by = show::visible(&format!("{priority}{}", row.from_agent));
            let line = format!("question: {question} ({by})");
            if !found.contains(&line) {
                found.push(line);
            }
        }
    }
    Ok(found)
}

/// A package that is no JSON is a text in it.
fn document(package: &str) -> Option<Node> {
    let document = formats::decode(Format::Json, package).ok()?;
    let Node::Text(text) = &document else { return Some(document) };
    formats::decode(formats::guess(text)?, text).ok()
}

/// What agents say of their work was not checked; and with what it could be.
fn not_verified(root: &Path) -> String {
    /// A file of a project, and the command that its tests are usually run by.
    const USUAL: [(&str, &str); 5] = [
        ("Cargo.toml", r#"["cargo", "test"]"#),
        ("package.json", r#"["npm", "test"]"#),
        ("go.mod", r#"["go", "test", "./..."]"#),
        ("pyproject.toml", r#"["pytest"]"#),
        ("pytest.ini", r#"["pytest"]"#),
    ];
    let none = "nothing: this work had no checks, so what its agents say is not verified";
    match USUAL.iter().find(|(file, _)| root.join(file).is_file()) {
        Some((_, run)) => format!(
            "{none}\na check in .baton/baton.toml would be `[checks.tests]` with `run = {run}`, and `checks: [tests]` at an \
             edge of the workflow"
        ),
        None => none.to_owned(),
    }
}

/// What is on a branch that the user does not have.
#[derive(Default)]
struct BranchChanges {
    lines: Vec<(&'static str, String)>,
    has_commits: bool,
}

/// The commits and the size of the change. A repository that cannot be read is no reason to fail now.
async fn changes(root: &Path, branch: &str) -> BranchChanges {
    let branch = format!("refs/heads/{branch}");
    let mut changes = BranchChanges::default();
    let Ok(base) = git(root, &["merge-base", "HEAD", &branch]).await else { return changes };
    let range = format!("{base}..{branch}");
    if let Ok(log) = git(root, &["log", "--no-show-signature", "--format=%h %s", &range]).await {
        let n = log.lines().count();
        changes.has_commits = n > 0;
        for line in log.lines().take(MOST_COMMITS) {
            changes.lines.push(("commit", show::shortened_line(line, 74)));
        }
        if n > MOST_COMMITS {
            changes.lines.push(("commit", format!("and {} more", n - MOST_COMMITS)));
        }
        if n == 0 {
            changes.lines.push(("commit", show::warn("none: nothing was changed on this branch")));
        }
    }
    let stat = ["diff", "--no-ext-diff", "--no-textconv", "--stat=76", &base, &branch];
    if let Ok(stat) = git(root, &stat).await {
        for line in stat.lines() {
            changes.lines.push(("changed", show::visible(line.trim())));
        }
    }
    changes
}

/// Whether the workspace of the run has more than its branch.
async fn uncommitted(root: &Path, run: Uuid) -> Option<(&'static str, String)> {
    let project = Project::find(Some(root)).ok()?;
    let (dir, data) = (project.dir.again().ok()?, project.data_dir().ok()?);
    let workspaces =
        Workspaces::open(dir, &data, &project.file.runner, &environment()).await.ok()?;
    let record = workspaces.record(run).ok()?.filter(|it| it.is_worktree)?;
    let n = workspaces.count_changes(&record).await? as u64;
    let folder = show::visible(&record.path.to_string_lossy());
    let what = format!("{} in {folder} not on the branch", counted(n, "change"));
    (n > 0).then(|| ("uncommitted", show::warn(&what)))
}
