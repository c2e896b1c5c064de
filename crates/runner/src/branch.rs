//! The name of a run's branch: letters, digits and hyphens, whatever the story is called.

use baton_api::StoryDocument;
use baton_core::story::branch_for_key;

/// A branch is `{type}/issue-{number}-{slug}` in at most so many characters.
const MOST_CHARS: usize = 50;

/// By the template of the project; else the story's own, else one after its key.
pub(crate) fn branch_name(template: Option<&str>, story: &StoryDocument, run: u64) -> String {
    let wanted = match (&story.branch, template) {
        (Some(own), _) => own.clone(),
        (None, Some(template)) => filled(template, story, run),
        (None, None) => branch_for_key(&story.key),
    };
    let safe = safe(&wanted);
    // git takes `HEAD` for what is checked out.
    if safe.is_empty() || safe == "HEAD" { format!("baton/run-{run}") } else { safe }
}

fn filled(template: &str, story: &StoryDocument, run: u64) -> String {
    let number = issue_number(&story.key).unwrap_or_else(|| run.to_string());
    let without_slug = template
        .replace("{type}", kind(&story.title))
        .replace("{number}", &number)
        .replace("{story}", &slug(&story.key))
        .replace("{run}", &run.to_string());
    let n_taken = without_slug.replace("{slug}", "").len();
    let mut slug = slug(&story.title);
    slug.truncate(MOST_CHARS.saturating_sub(n_taken));
    without_slug.replace("{slug}", slug.trim_end_matches('-'))
}

/// The digits at the end of `owner/repo#123`.
fn issue_number(key: &str) -> Option<String> {
    let (_, number) = key.rsplit_once('#')?;
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| number.to_owned())
}

/// The kind of work, by the words of its title.
fn kind(title: &str) -> &'static str {
    let title = title.to_lowercase();
    let has = |words: &[&str]| {
        title.split(|it: char| !it.is_alphanumeric()).any(|it| words.contains(&it))
    };
    if has(&["fix", "fixes", "bug", "crash", "broken"]) {
        "fix"
    } else if has(&["doc", "docs", "documentation", "readme"]) {
        "docs"
    } else if has(&["refactor", "refactoring", "clean"]) {
        "refactor"
    } else {
        "feat"
    }
}

fn slug(text: &str) -> String {
    let mut slug = String::new();
    for it in text.chars() {
        if it.is_ascii_alphanumeric() {
            slug.push(it.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    slug.trim_matches('-').to_owned()
}

/// What git takes as a branch and no program as an option: other characters become hyphens.
fn safe(name: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let parts = name.split('/').map(|part| {
        let plain: String =
            part.chars().take(100).map(|it| if is_plain(it) { it } else { '-' }).collect();
        let mut plain = plain;
        while plain.contains("..") {
            plain = plain.replace("..", ".");
        }
        trimmed(&plain).to_owned()
    });
    let mut safe = parts.filter(|it| !it.is_empty()).take(5).collect::<Vec<_>>().join("/");
    safe.truncate(200);
    let end = safe.rfind('/').map_or(0, |it| it + 1);
    let end = end + trimmed(&safe[end..]).len();
    safe[..end].trim_end_matches('/').to_owned()
}

/// Without what git takes at neither end of a part of a name.
fn trimmed(part: &str) -> &str {
    let mut part = part;
    loop {
        let less = part.trim_matches(['-', '.']);
        let less = less.strip_suffix(".lock").unwrap_or(less);
        if less == part {
            return part;
        }
        part = less;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(key: &str, title: &str, branch: Option<&str>) -> StoryDocument {
        let text = serde_json::json!({
            "key": key, "title": title, "description": "", "acceptance": [], "dependsOn": [],
            "priority": 0, "branch": branch, "prUrl": null, "status": "waiting", "run": null,
            "createdAt": "2026-01-01T00:00:00Z",
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_branch_is_named_after_its_story() {
        let template = "{type}/issue-{number}-{slug}";
        for (key, title, expected) in [
            ("owner/repo#12", "Fix the log-in", "fix/issue-12-fix-the-log-in"),
            ("s1", "Log in", "feat/issue-7-log-in"),
            ("s1", "", "feat/issue-7"),
            (
                "s1",
                "A very long title that goes on and on and would not fit at all",
                "feat/issue-7-a-very-long-title-that-goes-on-and-on",
            ),
        ] {
            assert_eq!(branch_name(Some(template), &story(key, title, None), 7), expected);
        }
        assert_eq!(branch_name(None, &story("v0.1:1.1.1", "x", None), 7), "feat/story-1.1.1");
    }

    #[test]
    fn no_text_of_others_makes_an_option_or_a_path_of_it() {
        for (branch, expected) in [
            ("--upload-pack=evil", "upload-pack-evil"),
            ("../../etc/passwd", "etc/passwd"),
            ("a..b", "a.b"),
            ("-b/-c", "b/c"),
            ("x\u{0}y z;$(rm)", "x-y-z---rm"),
            ("main.lock", "main"),
            ("...", "baton/run-7"),
            ("", "baton/run-7"),
            ("HEAD@{1}", "HEAD--1"),
            ("HEAD", "baton/run-7"),
            ("a.lock.lock/b.-.lock", "a/b"),
            (".lock", "lock"),
            ("refs/heads/main", "refs/heads/main"),
            ("a/\u{202e}/b", "a/b"),
            ("@", "baton/run-7"),
        ] {
            assert_eq!(branch_name(None, &story("s", "t", Some(branch)), 7), expected, "{branch}");
        }
    }
}
