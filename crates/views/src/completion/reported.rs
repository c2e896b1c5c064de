//! What the packages of a run report, the newest first.

use std::collections::HashSet;

use baton_core::document::Node;
use baton_core::document::kind::{DocumentKind, Shape};
use baton_core::view::read::{field, first_text, items, text, text_at};
use baton_core::view::{Subject, View};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReportedResults {
    pub(super) summary: Option<String>,
    /// None where no package reports commits.
    pub(super) n_commits: Option<u64>,
    /// The commits that packages name, each once, in their order.
    pub(super) commits: Vec<String>,
    /// The branch of the newest package that names one.
    pub(super) branch: Option<String>,
    pub(super) tests_added: Option<String>,
    pub(super) coverage: Option<String>,
    pub(super) actions: Vec<String>,
    subject: Subject,
}

/// The XML handoff has its own fields at the top level, under `data`, and in two summaries.
const PLACES: [&str; 5] = ["", "data.", "metrics.", "validation_summary.", "verification."];

impl ReportedResults {
    /// From packages in the order in which they were handed on.
    pub(super) fn of(packages: &[Node]) -> Self {
        let (n_commits, commits) = (n_commits(packages), commits(packages));
        let mut said = Self { n_commits, commits, ..Self::default() };
        for document in packages.iter().rev() {
            let body = Shape::of(document).body;
            let view = View::of(document);
            keep(&mut said.summary, view.summary);
            let branch = document.member("branch").and_then(text).map(str::to_owned);
            keep(&mut said.branch, branch.filter(|_| is_payload(document)));
            // Fields may also stand beside a root.
            for place in [body, document] {
                keep(&mut said.tests_added, number(place, "tests_added"));
                keep(&mut said.coverage, anywhere(place, "coverage").map(str::to_owned));
            }
            let subject = &mut said.subject;
            keep(&mut subject.issue_url, view.subject.issue_url);
            keep(&mut subject.issue_number, view.subject.issue_number);
            keep(&mut subject.pr_url, view.subject.pr_url);
            keep(&mut subject.pr_number, view.subject.pr_number);
            if said.actions.is_empty() {
                said.actions = actions(body);
            }
            if said.actions.is_empty() {
                said.actions = actions(document);
            }
        }
        said
    }

    /// The issue and pull request, completed from the story key and the address.
    pub(super) fn subject(&self, story: &str, pr_url: Option<&str>) -> Subject {
        let mut subject = self.subject.clone();
        let (number, url) = issue(story).unzip();
        if subject.issue_number.is_none() && subject.issue_url.is_none() {
            (subject.issue_number, subject.issue_url) = (number.clone(), url.clone());
        }
        // Complete partial data; use the story only where it is about the same issue.
        keep(&mut subject.issue_number, last_number(subject.issue_url.as_deref(), "/issues/"));
        if subject.issue_number == number {
            keep(&mut subject.issue_url, url);
        }
        if subject.pr_number.is_none() {
            keep(&mut subject.pr_url, pr_url.map(str::to_owned));
        }
        let pulls = ["/pull/", "/merge_requests/"];
        let from_url = pulls.iter().find_map(|it| last_number(subject.pr_url.as_deref(), it));
        keep(&mut subject.pr_number, from_url);
        if last_number(pr_url, "/pull/") == subject.pr_number {
            keep(&mut subject.pr_url, pr_url.map(str::to_owned));
        }
        subject
    }
}

/// The newest value wins.
fn keep(newest: &mut Option<String>, older: Option<String>) {
    if newest.is_none() {
        *newest = older;
    }
}

fn anywhere<'a>(body: &'a Node, key: &str) -> Option<&'a str> {
    PLACES.iter().find_map(|it| text_at(body, &format!("{it}{key}")))
}

/// The pipeline API answers the same question with true or false, which is no number.
fn number(body: &Node, key: &str) -> Option<String> {
    let word = anywhere(body, key)?;
    is_number(word).then(|| word.to_owned())
}

/// The distinct commits that packages list, plus the counts of those that list none.
fn n_commits(packages: &[Node]) -> Option<u64> {
    let mut shas: HashSet<String> = HashSet::new();
    let mut n_counted: Option<u64> = None;
    for document in packages {
        let body = Shape::of(document).body;
        let is_beside = body.member("commits").is_none() && document.member("commits").is_some();
        let body = if is_beside { document } else { body };
        let listed = listed_commits(body);
        if listed.is_empty() {
            let count = first_text(body, &["commits_added", "data.commits_added", "commits"]);
            let count: Option<u64> = count.and_then(|it| it.parse().ok());
            if let Some(count) = count {
                n_counted = Some(n_counted.unwrap_or(0).saturating_add(count));
            }
        }
        shas.extend(listed);
    }
    let n_listed = u64::try_from(shas.len()).unwrap_or(u64::MAX);
    match (n_counted, n_listed) {
        (None, 0) => None,
        (counted, listed) => Some(counted.unwrap_or(0).saturating_add(listed)),
    }
}

fn listed_commits(body: &Node) -> Vec<String> {
    let commits = ["commits", "data.commits"].iter().find_map(|it| body.at(it));
    match commits {
        Some(Node::List(_) | Node::Map(_)) => {
            commits.map(items).unwrap_or_default().iter().filter_map(sha).collect()
        }
        Some(Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_)) | None => Vec::new(),
    }
}

/// True for an agent's package: the XML handoff's report is what its page prints, and the package that
/// begins a run names the branch that the story would have.
fn is_payload(document: &Node) -> bool {
    let begins = ["story", "story_id"].iter().any(|it| document.member(it).is_some());
    DocumentKind::of(document) == DocumentKind::Payload && !begins
}

/// More commits are counted, and not named.
const MOST_COMMITS: usize = 200;

fn commits(packages: &[Node]) -> Vec<String> {
    let mut seen: HashSet<String> = HashSet::new();
    let own = packages.iter().filter(|it| is_payload(it));
    let all = own.flat_map(|it| listed_commits(Shape::of(it).body));
    all.filter(|it| seen.insert(it.clone())).take(MOST_COMMITS).collect()
}

/// What identifies a commit: its hash, which comes first where there is only text.
fn sha(commit: &Node) -> Option<String> {
    let named = ["sha", "hash", "id", "commit"].iter().find_map(|it| field(commit, it));
    let first_word = || text(commit)?.split_whitespace().next();
    named.or_else(first_word).map(str::to_ascii_lowercase)
}

fn actions(body: &Node) -> Vec<String> {
    let taken = ["actions_taken", "data.actions_taken"].iter().find_map(|it| body.at(it));
    let taken = taken.map(items).unwrap_or_default();
    taken
        .iter()
        .filter_map(text)
        .map(|it| it.trim().to_owned())
        .filter(|it| !it.is_empty())
        .collect()
}

/// The number and the address of the issue that `owner/repo#123` names.
fn issue(story: &str) -> Option<(String, String)> {
    let (repository, number) = story.rsplit_once('#')?;
    let (owner, name) = repository.split_once('/')?;
    let is_name = |it: &str| {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
        !it.is_empty() && it.chars().all(is_plain)
    };
    if !is_name(owner) || !is_name(name) || !is_number(number) {
        return None;
    }
    Some((number.to_owned(), format!("https://github.com/{repository}/issues/{number}")))
}

/// The number behind `mark` in an address.
fn last_number(url: Option<&str>, mark: &str) -> Option<String> {
    let (_, rest) = url?.rsplit_once(mark)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    is_number(&digits).then_some(digits)
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.len() <= 18 && word.bytes().all(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests;
