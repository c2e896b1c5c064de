//! What an agent asks permission for, and what the project's settings say to it.

use std::path::{Component, Path, PathBuf};

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionResponse,
    SelectedPermissionOutcome, ToolKind,
};
use baton_files::Dir;
use baton_wire::project_file::agent_program::AgentPermissions;

use crate::masking::Masking;

/// A request for permission, as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PermissionQuestion {
    /// What kind of tool: `edit`, `execute` and the like.
    pub(crate) kind: &'static str,
    /// The agent's own title for it.
    pub(crate) title: String,
    /// The files that it names.
    pub(crate) paths: Vec<PathBuf>,
    /// The command, or what is given to the tool.
    pub(crate) detail: String,
    /// The lines of what it would change, as far as it says.
    pub(crate) changes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermissionDecision {
    AllowOnce,
    /// This, and whatever else the agent asks of the same kind in this attempt.
    AllowKind,
    Deny,
}

/// What the settings say to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermissionRule {
    Allow,
    Deny,
    AskPerson,
}

impl PermissionRule {
    pub(crate) fn of(
        permissions: AgentPermissions,
        question: &PermissionQuestion,
        workspace: &Path,
    ) -> Self {
        match permissions {
            AgentPermissions::All => Self::Allow,
            AgentPermissions::Read if question.only_looks() => Self::Allow,
            AgentPermissions::Read => Self::Deny,
            AgentPermissions::Edit if question.only_looks() => Self::Allow,
            AgentPermissions::Edit if question.is_edit_inside(workspace) => Self::Allow,
            AgentPermissions::Edit => Self::Deny,
            AgentPermissions::Ask => Self::AskPerson,
        }
    }
}

impl PermissionQuestion {
    pub(crate) fn is_edit_inside(&self, workspace: &Path) -> bool {
        let is_edit = matches!(self.kind, "edit" | "delete" | "move");
        is_edit && !self.paths.is_empty() && self.paths.iter().all(|it| is_inside(workspace, it))
    }

    /// Reads or searches; it asks because of where, say.
    fn only_looks(&self) -> bool {
        matches!(self.kind, "read" | "search" | "think")
    }

    /// For a person: what would be done, and each file once.
    pub(crate) fn sentence(&self, agent: &str, masking: &Masking) -> String {
        let (title, detail) = (masking.mask(&self.title), masking.mask(&self.detail));
        let mut text = format!("`{agent}` asks for permission ({}): {title}", self.kind);
        if !detail.is_empty() && !title.contains(&detail) {
            text += &format!("\n\n{detail}");
        }
        let mut named = vec![detail];
        for path in self.paths.iter().take(20) {
            let path = masking.mask(&path.display().to_string());
            if !named.contains(&path) {
                text += &format!("\n- {path}");
                named.push(path);
            }
        }
        for change in &self.changes {
            text += &format!("\n\n{}", masking.mask(change));
        }
        text
    }
}

/// A path below the workspace that crosses no link, and is not the repository's own.
fn is_inside(workspace: &Path, path: &Path) -> bool {
    let relative = match path.is_absolute() {
        true => match path.strip_prefix(workspace) {
            Ok(relative) => relative,
            Err(_) => return false,
        },
        false => path,
    };
    let is_plain = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
    let names_git = |it: Component<'_>| it.as_os_str().eq_ignore_ascii_case(".git");
    if !relative.components().all(is_plain) || relative.components().any(names_git) {
        return false;
    }
    let Ok(dir) = Dir::open(workspace) else { return false };
    let mut below = PathBuf::new();
    for component in relative.components() {
        below.push(component);
        match dir.entry(&below) {
            // What is not there yet crosses nothing.
            Ok(None) => return true,
            Ok(Some(entry)) if entry.is_folder() || entry.is_file() => {}
            Ok(Some(_)) | Err(_) => return false,
        }
    }
    true
}

/// The agent's own answer for a decision: chosen by its kind, never by its place or name.
pub(super) fn response(
    options: &[PermissionOption],
    decision: PermissionDecision,
) -> RequestPermissionResponse {
    use PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let kinds: &[PermissionOptionKind] = match decision {
        PermissionDecision::AllowOnce => &[AllowOnce],
        // Baton itself remembers it, so that it ends with the attempt.
        PermissionDecision::AllowKind => &[AllowOnce, AllowAlways],
        PermissionDecision::Deny => &[RejectOnce, RejectAlways],
    };
    let chosen = kinds.iter().find_map(|kind| options.iter().find(|it| it.kind == *kind));
    RequestPermissionResponse::new(match chosen {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
            option.option_id.clone(),
        )),
        None => RequestPermissionOutcome::Cancelled,
    })
}

pub(super) fn kind_word(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch mode",
        ToolKind::Other => "other",
        // The protocol may have more of them one day.
        _ => "other",
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use super::*;

    fn question(kind: &'static str, paths: &[&Path]) -> PermissionQuestion {
        PermissionQuestion {
            kind,
            title: "Do it".to_owned(),
            paths: paths.iter().map(|it| it.to_path_buf()).collect(),
            detail: String::new(),
            changes: Vec::new(),
        }
    }

    #[test]
    fn a_question_names_each_file_once_and_shows_what_would_be_written() {
        let masking = Masking::default().with_workspace(Path::new("/home/ada/w"));
        let question = PermissionQuestion {
            title: "Write auth.txt".to_owned(),
            detail: "/home/ada/w/auth.txt".to_owned(),
            changes: vec!["+ key = 1\n+ user = ada".to_owned()],
            ..question(
                "edit",
                &[Path::new("auth.txt"), Path::new("/home/ada/w/auth.txt"), Path::new("/auth.txt")],
            )
        };
        assert_eq!(
            question.sentence("coder", &masking),
            "`coder` asks for permission (edit): Write auth.txt\n- /auth.txt\n\n+ key = 1\n+ user = ada"
        );
    }

    #[test]
    fn only_edits_inside_the_workspace_are_allowed_by_edit() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("work");
        std::fs::create_dir_all(workspace.join("src")).unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(folder.path(), workspace.join("out")).unwrap();
        let rule = |kind, paths: &[&Path]| {
            PermissionRule::of(AgentPermissions::Edit, &question(kind, paths), &workspace)
        };
        let inside = workspace.join("src/new/app.txt");
        assert_eq!(rule("edit", &[&inside]), PermissionRule::Allow);
        assert_eq!(rule("edit", &[Path::new("src/app.txt")]), PermissionRule::Allow);
        assert_eq!(rule("read", &[]), PermissionRule::Allow);
        for outside in [
            folder.path().join("secret"),
            workspace.join("../secret"),
            workspace.join("out/secret"),
            workspace.join("out"),
            workspace.join(".git/hooks/pre-commit"),
            PathBuf::from("../secret"),
            PathBuf::from("/etc/passwd"),
        ] {
            assert_eq!(rule("edit", &[&inside, &outside]), PermissionRule::Deny, "{outside:?}");
        }
        assert_eq!(rule("edit", &[]), PermissionRule::Deny, "it does not say where");
        assert_eq!(rule("execute", &[&inside]), PermissionRule::Deny);
    }

    #[test]
    fn the_other_words_allow_deny_and_ask() {
        let run = question("execute", &[]);
        let rule = |it| PermissionRule::of(it, &run, Path::new("/"));
        assert_eq!(rule(AgentPermissions::All), PermissionRule::Allow);
        assert_eq!(rule(AgentPermissions::Read), PermissionRule::Deny);
        assert_eq!(rule(AgentPermissions::Ask), PermissionRule::AskPerson);
    }

    #[test]
    fn an_answer_is_chosen_by_its_kind_and_once_goes_before_always() {
        let options = [
            PermissionOption::new("1", "Sure, always", PermissionOptionKind::AllowAlways),
            PermissionOption::new("2", "Yes", PermissionOptionKind::AllowOnce),
            PermissionOption::new("3", "No", PermissionOptionKind::RejectOnce),
        ];
        let chosen =
            |options: &[PermissionOption], decision| match response(options, decision).outcome {
                RequestPermissionOutcome::Selected(it) => it.option_id.to_string(),
                RequestPermissionOutcome::Cancelled => "cancelled".to_owned(),
                other => panic!("{other:?}"),
            };
        assert_eq!(chosen(&options, PermissionDecision::AllowOnce), "2");
        assert_eq!(chosen(&options, PermissionDecision::AllowKind), "2");
        assert_eq!(chosen(&options, PermissionDecision::Deny), "3");
        assert_eq!(chosen(&options[..1], PermissionDecision::AllowOnce), "cancelled");
        assert_eq!(chosen(&options[..1], PermissionDecision::Deny), "cancelled");
    }
}
