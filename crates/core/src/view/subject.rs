//! How a document identifies its work, and which story that is.

use super::read::{first_text, owned_at};
use crate::document::Node;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    pub story: Option<String>,
    pub issue_url: Option<String>,
    pub issue_number: Option<String>,
    pub pr_url: Option<String>,
    pub pr_number: Option<String>,
    pub feature_directory: Option<String>,
}

/// Path segments between the repository and the number in the URL of an issue or a change.
const SORTS: [&str; 4] = ["issues", "pull", "pulls", "merge_requests"];

impl Subject {
    pub(super) fn of(body: &Node) -> Self {
        Self {
            story: first_text(body, &["storyId", "story_id"]).map(str::to_owned),
            issue_url: owned_at(body, "issue_url"),
            issue_number: owned_at(body, "issue_number"),
            pr_url: owned_at(body, "pr_url"),
            pr_number: owned_at(body, "pr_number"),
            feature_directory: owned_at(body, "feature_directory"),
        }
    }

    /// The story's key, where the document says enough: its own key, `owner/repo#123` from a URL,
    /// or the last part of the feature's directory.
    pub fn key(&self) -> Option<String> {
        let story = || self.story.clone();
        story().or_else(|| self.issue_key()).or_else(|| self.feature().map(str::to_owned))
    }

    /// The suffix of the intended story key, where only a number is known.
    pub fn suffix(&self) -> Option<String> {
        self.issue_number.as_deref().filter(|it| is_number(it)).map(|it| format!("#{it}"))
    }

    /// The issue counts, not the change that closes it: the change gives only the repository where
    /// the issue's number is known.
    fn issue_key(&self) -> Option<String> {
        if let Some((repository, number)) = self.issue_url.as_deref().and_then(address) {
            return Some(format!("{repository}#{number}"));
        }
        let (repository, number) = self.pr_url.as_deref().and_then(address)?;
        let number = self.issue_number.as_deref().filter(|it| is_number(it)).unwrap_or(number);
        Some(format!("{repository}#{number}"))
    }

    fn feature(&self) -> Option<&str> {
        let directory = self.feature_directory.as_deref()?.trim_end_matches('/');
        directory.rsplit('/').next().filter(|it| !it.is_empty() && !matches!(*it, "." | ".."))
    }
}

/// `https://host/owner/repo/issues/123`: the repository and the number.
fn address(url: &str) -> Option<(String, &str)> {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty() && *it != "-").collect();
    let sort = parts.iter().rposition(|it| SORTS.contains(it))?;
    let number = parts.get(sort + 1).copied().filter(|it| is_number(it))?;
    // The host comes first, followed by both names.
    if sort < 3 {
        return None;
    }
    Some((format!("{}/{}", parts[sort - 2], parts[sort - 1]), number))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= 18 && text.bytes().all(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(text: &str) -> Option<String> {
        (!text.is_empty()).then(|| text.to_owned())
    }

    #[test]
    fn a_story_is_named_in_the_words_of_every_source_document() {
        let issue = "https://github.com/owner/repo/issues/123";
        let change = "https://github.com/owner/repo/pull/456";
        for (story, issue_url, number, pr_url, directory, expected) in [
            ("v0.1:1.1.1", issue, "9", change, "a/b", "v0.1:1.1.1"),
            ("", issue, "", "", "", "owner/repo#123"),
            ("", issue, "9", change, "", "owner/repo#123"),
            ("", "", "123", change, "", "owner/repo#123"),
            ("", "", "", change, "", "owner/repo#456"),
            ("", "https://gitlab.com/group/repo/-/issues/7?x=1#note", "", "", "", "group/repo#7"),
            ("", "issues/7", "", "", "", ""),
            ("", "https://github.com/issues/7", "", "", "", ""),
            ("", "https://github.com/owner/repo/issues/new", "", "", "", ""),
            ("", "", "123", "", "", ""),
            (
                "",
                "",
                "",
                "",
                ".claude/.output/features/2025-12-30-dashboard/",
                "2025-12-30-dashboard",
            ),
            ("", "", "", "", "..", ""),
        ] {
            let subject = Subject {
                story: some(story),
                issue_url: some(issue_url),
                issue_number: some(number),
                pr_url: some(pr_url),
                pr_number: None,
                feature_directory: some(directory),
            };
            assert_eq!(subject.key(), some(expected), "{subject:?}");
        }
    }

    #[test]
    fn a_number_alone_is_what_a_key_ends_in() {
        let of = |number: &str| Subject { issue_number: some(number), ..Subject::default() };
        assert_eq!(of("123").suffix(), some("#123"));
        assert_eq!(of("12 or 13").suffix(), None);
        assert_eq!(of("").suffix(), None);
    }
}
