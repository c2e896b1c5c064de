//! What came of the work: branch, commits, diff, evidence, decisions, what is open, and what it cost.

use std::path::Path;

use baton_core::budget::span;

use super::checkout::Checkout;
use super::follow::WorkFollower;
use super::shown;
use crate::commands::demo::programs::git;
use crate::commands::demo::viewer::Viewer;
use crate::failure::Failure;
use crate::show;

const MOST_COMMITS: usize = 20;
const MOST_DECISIONS: usize = 10;

pub(super) async fn show(
    follower: &WorkFollower<'_>,
    checkout: &Checkout,
    viewer: &Viewer,
) -> Result<(), Failure> {
    let run = &follower.run.run;
    let story = viewer.story(&run.story).await?;
    let root = &checkout.root;
    let mut lines = Vec::new();
    if let Some(branch) = &story.branch {
        lines.push(("branch", show::bold(&show::visible(branch))));
        lines.extend(changes(root, branch).await);
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
    let open: Vec<String> = viewer.inbox(run.id).await?.into_iter().map(|it| it.why).collect();
    for why in &open {
        lines.push(("open", show::visible(why)));
    }
    if open.is_empty() {
        lines.push(("open", "nothing".to_owned()));
    }
    if let Some(usage) = &follower.run.usage {
        lines.push(("used", show::usage(&usage.total)));
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
    if let Some(branch) = &story.branch {
        show::note(&format!("\nto take it: git merge {}", shown(Path::new(branch))));
    }
    Ok(())
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

/// The commits and the size of the change. A repository that cannot be read is no reason to fail now.
async fn changes(root: &Path, branch: &str) -> Vec<(&'static str, String)> {
    let branch = format!("refs/heads/{branch}");
    let Ok(base) = git(root, &["merge-base", "HEAD", &branch]).await else { return Vec::new() };
    let range = format!("{base}..{branch}");
    let mut lines = Vec::new();
    if let Ok(log) = git(root, &["log", "--no-show-signature", "--format=%h %s", &range]).await {
        let n = log.lines().count();
        for line in log.lines().take(MOST_COMMITS) {
            lines.push(("commit", show::shortened_line(line, 74)));
        }
        if n > MOST_COMMITS {
            lines.push(("commit", format!("and {} more", n - MOST_COMMITS)));
        }
    }
    let stat = ["diff", "--no-ext-diff", "--no-textconv", "--stat=76", &base, &branch];
    if let Ok(stat) = git(root, &stat).await {
        for line in stat.lines() {
            lines.push(("changed", show::visible(line.trim())));
        }
    }
    lines
}
