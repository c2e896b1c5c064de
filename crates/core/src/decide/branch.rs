//! The branch that a package names, where its contract asks for the branch of an issue: a plain name, not
//! the base branch, and that of this issue. A project's own form of names is taken as it is.

use crate::contract::{Body, Contract};
use crate::document::Node;
use crate::package::Package;
use crate::problem::Problem;
use crate::view::read::field;

const BRANCH: &str = "branch";
const ISSUE: &str = "issue_number";

/// A branch of an issue has at most so many characters.
const MOST_CHARS: usize = 50;
const BASES: [&str; 7] = ["main", "master", "trunk", "develop", "development", "dev", "head"];

/// In the grammar of skeletons; see `docs/contracts.md`.
const MARK: &str =
    "<text: the branch the work goes to, as `{type}/issue-{number}-{slug}` in lower case>";

/// `None` where the contract asks for no branch of an issue, or the branch is one.
pub(super) fn problem(contract: Option<&Contract>, package: &Package) -> Option<Problem> {
    let contract = contract?;
    let asks = |key: &str| contract.must.iter().chain(&contract.should).any(|it| it.field == key);
    if !asks(BRANCH) || !asks(ISSUE) {
        return None;
    }
    let body = Body::of(&package.document);
    let name = field(body.fields(), BRANCH)?;
    let why = fault(name, field(body.fields(), ISSUE))?;
    let message = format!("{why}; name it `{{type}}/issue-{{number}}-{{slug}}`");
    Some(Problem::new(body.field_path(BRANCH), "branch_name", message))
}

fn fault(name: &str, issue: Option<&str>) -> Option<String> {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"._/-".contains(&it);
    if !name.bytes().all(is_plain) || name.starts_with(['-', '/']) || name.contains("..") {
        return Some("is no plain name of a branch".to_owned());
    }
    if BASES.contains(&name.to_ascii_lowercase().as_str()) {
        return Some("is the base branch, on which no work is done".to_owned());
    }
    // A project's runner may name branches in another form.
    let number = issue_of(name)?;
    if issue.is_some_and(|it| it != number) {
        return Some(format!("is the branch of issue {number}, and `{ISSUE}` says another"));
    }
    if name.len() > MOST_CHARS {
        return Some(format!("has {} characters, and at most {MOST_CHARS} fit", name.len()));
    }
    let has_capitals = name.bytes().any(|it| it.is_ascii_uppercase());
    has_capitals.then(|| "has capital letters".to_owned())
}

/// The number in `feature/issue-12-log-in`.
fn issue_of(name: &str) -> Option<&str> {
    let (_, rest) = name.split_once('/')?;
    let prefix = rest.get(..6).filter(|it| it.eq_ignore_ascii_case("issue-"))?;
    let rest = &rest[prefix.len()..];
    let number = rest.split('-').next().unwrap_or(rest);
    (!number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())).then_some(number)
}

/// The skeleton with a mark in the place of the branch.
pub(super) fn marked(mut skeleton: Node) -> Node {
    let root = Body::of(&skeleton).inside.map(|(key, _)| key.to_owned());
    let fields = match (&root, &mut skeleton) {
        (Some(root), Node::Map(members)) => {
            members.iter_mut().find(|(it, _)| it == root).map(|(_, node)| node)
        }
        (_, node) => Some(node),
    };
    if let Some(Node::Map(members)) = fields
        && let Some((_, branch)) = members.iter_mut().find(|(it, _)| it == BRANCH)
    {
        *branch = Node::text(MARK);
    }
    skeleton
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_a_plain_name_of_this_issue_and_not_the_base_branch() {
        for (name, expected) in [
            ("feature/issue-123-user-auth", None),
            ("fix/issue-123", None),
            // The names that a runner gives without a number, or by a template.
            ("feat/story-s", None),
            ("team/anything", None),
            ("master", Some("base branch")),
            ("HEAD", Some("base branch")),
            ("Feature Branch!! x", Some("no plain name")),
            ("-x", Some("no plain name")),
            ("a/../b", Some("no plain name")),
            ("feature/issue-999-x", Some("issue 999")),
            ("Feature/issue-123-x", Some("capital letters")),
            ("feature/issue-123-a-very-long-title-that-goes-on-and-on", Some("at most 50")),
        ] {
            let found = fault(name, Some("123"));
            let has = |it: &str| found.as_ref().is_some_and(|found| found.contains(it));
            assert_eq!(found.is_none(), expected.is_none(), "{name}: {found:?}");
            assert!(expected.is_none_or(has), "{name}: {found:?}");
        }
        assert_eq!(fault("feature/issue-999-x", None), None);
    }
}
