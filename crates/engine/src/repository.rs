//! What the project's git repository says about the branch of a story, as far as that is known without
//! running git.

use baton_core::names::CommitId;

use crate::Engine;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repository {
    Found(GitRefs),
    /// Nothing is known; why, as a sentence without its full stop.
    Unknown(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitRefs {
    /// What is checked out; `None` for a commit that is on no branch.
    pub head: Option<GitBranch>,
    /// The branch that the work starts from and goes back to.
    pub base: Option<GitBranch>,
    /// The story's own branch, where it exists.
    pub branch: Option<GitBranch>,
}

/// A branch and its newest commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitBranch {
    /// Plain: it can stand in a sentence and in a command.
    pub name: BranchName,
    /// `None` before the first commit.
    pub commit: Option<CommitId>,
}

/// The name of a branch that needs no quotes anywhere: a repository may be hostile, and may name a
/// branch like an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchName(String);

const MOST_NAME_BYTES: usize = 200;

impl BranchName {
    /// `None` for names that are no plain words; git allows many of those.
    pub fn parse(name: &str) -> Option<Self> {
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"._/-+@#".contains(&it);
        let is_part = |it: &str| {
            !it.is_empty()
                && !it.starts_with(['.', '-'])
                && !it.ends_with('.')
                && !it.ends_with(".lock")
        };
        let is_name = name.len() <= MOST_NAME_BYTES
            && name.bytes().all(is_plain)
            && name.split('/').all(is_part)
            && !name.contains("..");
        is_name.then(|| Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Engine {
    /// The repository of the workspace, with the branch of a story.
    pub async fn repository(&self, branch: &str) -> Repository {
        const NONE: Repository =
            Repository::Unknown("Baton sees no folder of this project from here");
        let Some(workspace) = self.workspace.clone() else { return NONE };
        let Ok(_turn) = self.looks.acquire().await else { return NONE };
        let branch = branch.to_owned();
        tokio::task::spawn_blocking(move || workspace.repository(&branch)).await.unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_only_where_its_name_is_plain() {
        for name in ["main", "feat/story-1.1.1", "v1.2", "user@fix#12", "a-b_c+d"] {
            assert_eq!(BranchName::parse(name).map(|it| it.0), Some(name.to_owned()));
        }
        for name in [
            "", "/", "a/", "a//b", "-x", "a/-x", ".invalid", "a..b", "a b", "a`b", "a$(x)", "a;b",
            "é", "x.lock", "a\nb", "a'b",
        ] {
            assert_eq!(BranchName::parse(name), None, "{name:?}");
        }
        assert_eq!(BranchName::parse(&"x".repeat(201)), None);
    }
}
