//! The project around the work, as the templates name it: its branches, its checks, the folders that
//! Baton itself writes.

use baton_engine::{BranchName, GitBranch, Repository};
use baton_wire::project_file::{ProjectCheck, ProjectFile};
use jiff::SignedDuration;
use minijinja::context;
use minijinja::value::Value;

/// Enough of a commit's id to name it.
const SHORT_ID: usize = 12;

pub(super) fn values(repository: &Repository, branch: &str, project: &ProjectFile) -> Value {
    // A name that needs quotes stands at the top of the prompt, and in no command.
    let plain = BranchName::parse(branch);
    let archive = project.archive.as_ref().map(|it| vec![it.state.clone(), it.sessions.clone()]);
    let checks: Vec<Value> = project.checks.iter().map(check).collect();
    let branch = plain.as_ref().map(BranchName::as_str);
    let around = context! { branch, archive, checks };
    match repository {
        Repository::Unknown(why) => context! { unknown => *why, ..around },
        Repository::Found(refs) => context! {
            unknown => (),
            exists => refs.branch.as_ref().map(git_branch),
            base => refs.base.as_ref().map(git_branch),
            head => refs.head.as_ref().map(git_branch),
            ..around
        },
    }
}

fn git_branch(it: &GitBranch) -> Value {
    let commit =
        it.commit.as_ref().map(|it| it.as_str().chars().take(SHORT_ID).collect::<String>());
    context! { name => it.name.as_str(), commit }
}

fn check(it: &ProjectCheck) -> Value {
    let words: Vec<String> = it.run.iter().map(|it| word(it)).collect();
    context! { name => it.name.as_str(), command => words.join(" "), timeout => time(it.timeout) }
}

/// A word of a command as a shell reads it. One that begins with `-` is an option, and stays one.
fn word(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._:/@+-=,%".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// `90s`, `10m`.
fn time(duration: SignedDuration) -> String {
    match duration.as_secs() {
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}
