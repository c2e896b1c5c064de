//! A piece of work, waiting or in progress.

use crate::names::StoryKey;
use crate::problem::Problem;

const TOO_LONG: &str = "too_long";
const TOO_MANY: &str = "too_many";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    pub key: StoryKey,
    pub title: String,
    pub description: String,
    pub acceptance: Vec<String>,
    /// Stories that have to be finished before this one is ready.
    pub depends_on: Vec<StoryKey>,
    /// Higher goes first; ties go by key.
    pub priority: i64,
    pub branch: Option<String>,
    pub pr_url: Option<String>,
}

/// The branch for a story that names none, after its whole key: `feat/story-shop-12` for `shop:12`.
///
/// Only a version in front of it is left off, as the pipeline API has it: `feat/story-1.1.1` for `v0.1:1.1.1`.
pub fn branch_for_key(key: &str) -> String {
    let name = match key.split_once(':') {
        Some((before, name)) if is_version(before) => name,
        Some(_) | None => key,
    };
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '.' || it == '-';
    let slug: String =
        name.chars().map(|it| if is_plain(it) { it.to_ascii_lowercase() } else { '-' }).collect();
    format!("feat/story-{}", slug.trim_matches(['-', '.']))
}

/// `v0.1`, `v2`.
fn is_version(text: &str) -> bool {
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    text.strip_prefix('v').is_some_and(|it| it.split('.').all(is_number))
}

impl Story {
    /// In bytes.
    pub const MOST_TITLE: usize = 500;
    pub const MOST_DESCRIPTION: usize = 64 * 1024;
    pub const MOST_CRITERION: usize = 16 * 1024;
    pub const MOST_BRANCH: usize = 250;
    pub const MOST_URL: usize = 2_000;
    /// Criteria, and stories that it depends on.
    pub const MOST_ITEMS: usize = 100;
    /// In bytes, of all fields together.
    pub const MOST_BYTES: usize = 128 * 1024;

    /// Every field that exceeds its limit.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut text = |path: &str, text: &str, most: usize| {
            if text.len() > most {
                let message = format!("has {} bytes; the most is {most}", text.len());
                problems.push(Problem::new(path, TOO_LONG, message));
            }
        };
        text("title", &self.title, Self::MOST_TITLE);
        text("description", &self.description, Self::MOST_DESCRIPTION);
        text("branch", self.branch.as_deref().unwrap_or_default(), Self::MOST_BRANCH);
        text("pr_url", self.pr_url.as_deref().unwrap_or_default(), Self::MOST_URL);
        for (index, criterion) in self.acceptance.iter().enumerate().take(Self::MOST_ITEMS) {
            text(&format!("acceptance[{index}]"), criterion, Self::MOST_CRITERION);
        }
        let lists = [("acceptance", self.acceptance.len()), ("depends_on", self.depends_on.len())];
        for (path, n_items) in lists.into_iter().filter(|(_, it)| *it > Self::MOST_ITEMS) {
            let message = format!("has {n_items} items; the most is {}", Self::MOST_ITEMS);
            problems.push(Problem::new(path, TOO_MANY, message));
        }
        if problems.is_empty() && self.n_bytes() > Self::MOST_BYTES {
            let most = Self::MOST_BYTES;
            let message =
                format!("all fields together have {} bytes; the most is {most}", self.n_bytes());
            problems.push(Problem::new("acceptance", TOO_LONG, message));
        }
        problems
    }

    /// The size of all its texts.
    pub fn n_bytes(&self) -> usize {
        let maybe = |it: &Option<String>| it.as_ref().map_or(0, String::len);
        self.title.len()
            + self.description.len()
            + self.acceptance.iter().map(String::len).sum::<usize>()
            + self.depends_on.iter().map(|it| it.as_str().len()).sum::<usize>()
            + maybe(&self.branch)
            + maybe(&self.pr_url)
    }

    /// A story of which only the key is known.
    pub fn named(key: StoryKey) -> Self {
        Self {
            title: key.as_str().to_owned(),
            key,
            description: String::new(),
            acceptance: Vec::new(),
            depends_on: Vec::new(),
            priority: 0,
            branch: None,
            pr_url: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl Fn(&mut Story), expected: &[&str]) {
        let mut story = Story::named(StoryKey::parse("s").unwrap());
        change(&mut story);
        let found = story.problems();
        let found: Vec<String> =
            found.iter().map(|it| format!("{} {}", it.path, it.rule)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_field_has_its_bound() {
        let text = |most: usize| "x".repeat(most);
        check(|_| {}, &[]);
        check(|it| it.title = text(Story::MOST_TITLE), &[]);
        check(|it| it.title = text(Story::MOST_TITLE + 1), &["title too_long"]);
        check(|it| it.description = text(Story::MOST_DESCRIPTION), &[]);
        check(|it| it.description = text(Story::MOST_DESCRIPTION + 1), &["description too_long"]);
        check(|it| it.branch = Some(text(Story::MOST_BRANCH + 1)), &["branch too_long"]);
        check(|it| it.pr_url = Some(text(Story::MOST_URL + 1)), &["pr_url too_long"]);
        let long = || text(Story::MOST_CRITERION + 1);
        check(|it| it.acceptance = vec![text(1), long()], &["acceptance[1] too_long"]);
        check(|it| it.acceptance = vec![text(1); Story::MOST_ITEMS], &[]);
        check(|it| it.acceptance = vec![text(1); Story::MOST_ITEMS + 1], &["acceptance too_many"]);
        let large = || vec![text(Story::MOST_CRITERION); 9];
        check(|it| it.acceptance = large(), &["acceptance too_long"]);
        let key = StoryKey::parse("a").unwrap();
        check(
            |it| it.depends_on = vec![key.clone(); Story::MOST_ITEMS + 1],
            &["depends_on too_many"],
        );
    }
}
