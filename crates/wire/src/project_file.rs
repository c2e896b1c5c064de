//! `baton.toml`: what a project sets for itself.

use baton_core::contract::Profile;
use baton_core::lint::Settings;
use baton_core::names::WorkflowName;
use baton_core::problem::Problem;
use baton_core::workflow::Mode;

use self::runner::RunnerSettings;
use crate::database_url::DatabaseUrl;
use crate::fields::{FieldAt, Fields};
use crate::file_problem::{FileProblem, Problems};
use crate::located::toml;
use crate::shown::shown;
use crate::suggest::nearest;
use crate::workflow_file::{MODES, PROFILES};

pub mod agent_program;
pub(crate) mod audit;
pub(crate) mod checks;
pub(crate) mod lint;
pub(crate) mod retention;
pub mod runner;

pub use audit::AuditSettings;
pub use checks::{DEFAULT_TIMEOUT, ProjectCheck};
pub use retention::RetentionSettings;

pub const MOST_BYTES: usize = 16 * 1024;

/// The default data folder inside `.baton`.
pub const DEFAULT_DATA: &str = "data";

/// The default folder of an archive.
pub const DEFAULT_STATE: &str = "state";
pub const DEFAULT_SESSIONS: &str = ".project/07-audit/sessions";

/// Folders that no archive is written to, wherever they are.
const KEPT_FOLDERS: &[&str] = &[".git", ".baton"];

pub(crate) const KEYS: &[&str] = &[
    "project",
    "lint",
    "archive",
    "audit",
    "retention",
    "runner",
    "executors",
    "agents",
    "checks",
];
pub(crate) const ARCHIVE_KEYS: &[&str] = &["state", "sessions"];
pub(crate) const PROJECT_KEYS: &[&str] = &["workflow", "mode", "data", "database_url", "profile"];

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectFile {
    /// The default workflow of a run.
    pub default_workflow: Option<WorkflowName>,
    /// The default mode of a run whose workflow has it.
    pub default_mode: Option<Mode>,
    /// A folder inside `.baton`; see [`DEFAULT_DATA`].
    pub data: Option<String>,
    /// Set where the data is in PostgreSQL.
    pub database_url: Option<DatabaseUrl>,
    pub profile: Option<Profile>,
    /// Settings of the linter: `[lint]`.
    pub lint: Settings,
    /// Set where the project keeps an archive.
    pub archive: Option<ArchiveFolders>,
    /// How agents are run: `[runner]`, `[executors]` and `[agents]`.
    pub runner: RunnerSettings,
    /// The project's own checks: `[checks.NAME]`, in the order of the file.
    pub checks: Vec<ProjectCheck>,
    /// How often the log is signed: `[audit]`.
    pub audit: AuditSettings,
    /// How long texts are kept: `[retention]`.
    pub retention: RetentionSettings,
}

/// Folders of the project, relative to its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveFolders {
    /// Of `current.json` and `runs/`.
    pub state: String,
    pub sessions: String,
}

impl Default for ArchiveFolders {
    fn default() -> Self {
        Self { state: DEFAULT_STATE.to_owned(), sessions: DEFAULT_SESSIONS.to_owned() }
    }
}

/// Reads a `baton.toml` of at most [`MOST_BYTES`]. An empty file is valid.
pub fn parse(text: &str) -> Result<ProjectFile, Vec<FileProblem>> {
    Problems::collect(|it| read(text, it))
}

/// The sections `[agents.NAME]` for agents that are not among `known`: nothing reads them.
pub fn unknown_agents(text: &str, known: &[&str]) -> Vec<FileProblem> {
    let found = Problems::collect(|problems| {
        let root = toml::read(text, MOST_BYTES, problems)?;
        let top = FieldAt::root(&root);
        let entries = top.entries(problems).into_iter().find(|(it, _)| it.key == "agents");
        let agents = entries.map(|(_, it)| it.entries(problems)).unwrap_or_default();
        for (member, _) in agents {
            let name = member.key.as_str();
            if name == runner::EVERY_AGENT || known.contains(&name) {
                continue;
            }
            let hint = nearest(name, known).map(|it| format!("did you mean `{it}`? "));
            let hint = hint.unwrap_or_default();
            let message =
                format!("there is no agent `{name}`; {hint}`baton agent list` shows them all");
            let path = format!("agents.{name}");
            problems.push(member.key_at, Problem::new(path, "no_such_agent", message));
        }
        Some(())
    });
    found.err().unwrap_or_default()
}

fn read(text: &str, problems: &mut Problems) -> Option<ProjectFile> {
    let root = toml::read(text, MOST_BYTES, problems)?;
    let top = Fields::open(&FieldAt::root(&root), KEYS, problems)?;
    let lint = top.get("lint").map(|it| lint::settings(&it, problems)).unwrap_or_default();
    let archive = top.get("archive").and_then(|it| archive(&it, problems));
    let checks = top.get("checks").map(|it| checks::checks(&it, problems)).unwrap_or_default();
    let runner = runner::settings(&top, problems);
    let audit = top.get("audit").map(|it| audit::settings(&it, problems)).unwrap_or_default();
    let retention =
        top.get("retention").map(|it| retention::settings(&it, problems)).unwrap_or_default();
    let mut file =
        ProjectFile { lint, archive, checks, runner, audit, retention, ..ProjectFile::default() };
    if let Some(project) = top.get("project") {
        let fields = Fields::open(&project, PROJECT_KEYS, problems)?;
        file.default_workflow =
            fields.get("workflow").and_then(|it| it.parsed(WorkflowName::parse, problems));
        file.default_mode = fields.get("mode").and_then(|it| it.choice(MODES, problems));
        file.data = fields.get("data").and_then(|it| folder(&it, "`.baton`", "data", problems));
        file.database_url = fields.get("database_url").and_then(|it| database_url(&it, problems));
        file.profile = fields.get("profile").and_then(|it| it.choice(PROFILES, problems));
    }
    Some(file)
}

fn database_url(field: &FieldAt<'_>, problems: &mut Problems) -> Option<DatabaseUrl> {
    match DatabaseUrl::parse(&field.prose(problems)?) {
        Ok(url) => Some(url),
        Err(error) => {
            field.problem("bad_url", error.to_string(), problems);
            None
        }
    }
}

fn archive(field: &FieldAt<'_>, problems: &mut Problems) -> Option<ArchiveFolders> {
    let fields = Fields::open(field, ARCHIVE_KEYS, problems)?;
    let mut named = |key: &str, usual: &str| match fields.get(key) {
        Some(field) => archive_folder(&field, usual, problems),
        None => Some(usual.to_owned()),
    };
    let (state, sessions) = (named("state", DEFAULT_STATE), named("sessions", DEFAULT_SESSIONS));
    Some(ArchiveFolders { state: state?, sessions: sessions? })
}

/// The folders of git and of Baton are reserved. Some file systems do not distinguish `.GIT`.
fn archive_folder(field: &FieldAt<'_>, usual: &str, problems: &mut Problems) -> Option<String> {
    let folder = folder(field, "the project", usual, problems)?;
    let is_kept = |part: &str| KEPT_FOLDERS.iter().any(|it| part.eq_ignore_ascii_case(it));
    if folder.split('/').any(is_kept) {
        let message = format!(
            "`{}` is in a folder of git's or Baton's own: use another such as `{usual}`",
            shown(&folder)
        );
        field.problem("bad_folder", message, problems);
        return None;
    }
    Some(folder)
}

/// A project file may come with a foreign repository, so it cannot point outside of its folder.
fn folder(
    field: &FieldAt<'_>,
    inside: &str,
    usual: &str,
    problems: &mut Problems,
) -> Option<String> {
    let folder = field.line(problems)?;
    let is_plain = |it: &str| !it.is_empty() && it != "." && it != "..";
    if !folder.split('/').all(is_plain) || folder.contains(['\\', ':']) {
        let message = format!(
            "`{}` is not a folder inside {inside}: use a relative path such as `{usual}`",
            shown(&folder)
        );
        field.problem("bad_folder", message, problems);
        return None;
    }
    Some(folder)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_bad(text: &str, expected: &Expect) {
        let lines: Vec<String> = parse(text).unwrap_err().iter().map(ToString::to_string).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn a_section_for_an_agent_that_there_is_not_is_told_with_its_line() {
        let text = "[executors.one]\nkind = \"command\"\n\n[agents.\"*\"]\nexecutors = [\"one\"]\n\
                    [agents.implementor]\nexecutors = [\"one\"]\n[agents.reviewer]\n[agents.zed]\n";
        let found = unknown_agents(text, &["implementer", "reviewer"]);
        let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
        expect![[r#"
            line 6, column 9: agents.implementor: there is no agent `implementor`; did you mean `implementer`? `baton agent list` shows them all [no_such_agent]
            line 9, column 9: agents.zed: there is no agent `zed`; `baton agent list` shows them all [no_such_agent]"#]]
        .assert_eq(&lines.join("\n"));
        assert_eq!(unknown_agents("", &[]), []);
    }

    #[test]
    fn every_key_is_read_and_none_is_needed() {
        let text = "[project]\nworkflow = \"story-pipeline\"\nmode = \"supervised\"\ndata = \"my/data\"\nprofile = \"strict\"\n";
        let expected = ProjectFile {
            default_workflow: Some(WorkflowName::parse("story-pipeline").unwrap()),
            default_mode: Some(Mode::Supervised),
            data: Some("my/data".to_owned()),
            database_url: None,
            profile: Some(Profile::Strict),
            lint: Settings::default(),
            archive: None,
            runner: RunnerSettings::default(),
            checks: Vec::new(),
            audit: AuditSettings::default(),
            retention: RetentionSettings::default(),
        };
        assert_eq!(parse(text), Ok(expected));
        for text in ["", "# nothing yet\n", "[project]\n"] {
            assert_eq!(parse(text), Ok(ProjectFile::default()));
        }
    }

    #[test]
    fn a_database_is_named_by_its_address_and_a_bad_one_is_not_repeated() {
        let text = "[project]\ndatabase_url = \"postgres://ada:geheim@h/db\"\n";
        let url = parse(text).unwrap().database_url.unwrap();
        assert_eq!(url.with_password(), "postgres://ada:geheim@h/db");
        assert!(!format!("{:?}", parse(text)).contains("geheim"));
        let text = text.replace("postgres://", "mysql://");
        check_bad(
            &text,
            &expect![[
                r#"line 2, column 16: project.database_url: the address of a database begins with `postgres://` or `postgresql://` [bad_url]"#
            ]],
        );
    }

    #[test]
    fn messages_are_kept_for_ever_unless_the_project_says_how_long() {
        let read = |text: &str| parse(text).map(|it| it.retention.messages);
        assert_eq!(read("[retention]\n"), Ok(None));
        let days = SignedDuration::from_hours(90 * 24);
        assert_eq!(read("[retention]\nmessages = \"90d\"\n"), Ok(Some(days)));
        for bad in ["90", "0d", "-1d", "3 months", "99999d", "1h"] {
            let text = format!("[retention]\nmessages = \"{bad}\"\n");
            assert!(read(&text).is_err(), "{bad}");
        }
    }

    #[test]
    fn all_problems_come_at_once_with_their_lines() {
        check_bad(
            "projct = 1\n[project]\nworkfow = \"x\"\nworkflow = \"Story Pipeline\"\ndata = \"../..\"\nprofile = \"strickt\"\n",
            &expect![[r#"
                line 1, column 1: projct: is not a key here; did you mean `project`? [unknown_key]
                line 3, column 1: project.workfow: is not a key here; did you mean `workflow`? [unknown_key]
                line 4, column 12: project.workflow: `Story Pipeline` is not a workflow name: use 1 to 64 lower-case letters and digits, joined by `-` [bad_name]
                line 5, column 8: project.data: `../..` is not a folder inside `.baton`: use a relative path such as `data` [bad_folder]
                line 6, column 11: project.profile: cannot be `strickt`; did you mean `strict`? [wrong_value]"#]],
        );
        check_bad(
            "[project]\nworkflow = \"a\"\nworkflow = \"b\"\n",
            &expect!["line 3, column 1: is not TOML: duplicate key [toml_syntax]"],
        );
        check_bad(
            "[project\nworkflow = a\n",
            &expect!["line 1, column 9: is not TOML: unclosed table, expected `]` [toml_syntax]"],
        );
        check_bad(
            "project = 3\n",
            &expect!["line 1, column 11: project: is a number, not a map [wrong_type]"],
        );
        check_bad(
            "[project]\nworkflow = [\"a\"]\n",
            &expect!["line 2, column 12: project.workflow: is a list, not text [wrong_type]"],
        );
    }

    #[test]
    fn data_stays_inside_the_project() {
        for bad in ["/etc", "..", "a/../..", "C:/x", "a\\\\b", "", " ", "a//b", "./a"] {
            assert!(parse(&format!("[project]\ndata = \"{bad}\"\n")).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_archive_is_kept_where_the_file_has_a_section_for_it() {
        let folders = |state: &str, sessions: &str| ArchiveFolders {
            state: state.to_owned(),
            sessions: sessions.to_owned(),
        };
        for (text, expected) in [
            ("[project]\n", None),
            ("[archive]\n", Some(folders("state", ".project/07-audit/sessions"))),
            ("[archive]\nstate = \"a/b\"\n", Some(folders("a/b", ".project/07-audit/sessions"))),
            ("[archive]\nsessions = \"s\"\n[project]\n", Some(folders("state", "s"))),
        ] {
            assert_eq!(parse(text).unwrap().archive, expected, "{text}");
        }
    }

    #[test]
    fn an_archive_stays_inside_the_project() {
        for bad in ["/etc", "..", "a/../..", "C:/x", "a\\\\b", "", " ", "a//b", "./a", "~/../x"] {
            for key in ARCHIVE_KEYS {
                assert!(parse(&format!("[archive]\n{key} = \"{bad}\"\n")).is_err(), "{bad}");
            }
        }
        check_bad(
            "[archive]\nstat = 1\nsessions = \"../sessions\"\nstate = []\n",
            &expect![[r#"
                line 2, column 1: archive.stat: is not a key here; did you mean `state`? [unknown_key]
                line 3, column 12: archive.sessions: `../sessions` is not a folder inside the project: use a relative path such as `.project/07-audit/sessions` [bad_folder]
                line 4, column 9: archive.state: is a list, not text [wrong_type]"#]],
        );
    }

    #[test]
    fn an_archive_stays_out_of_the_folders_of_git_or_of_baton() {
        for key in ARCHIVE_KEYS {
            let parsed = |it: &str| parse(&format!("[archive]\n{key} = \"{it}\"\n"));
            for bad in [".git", ".git/hooks", ".GIT/x", ".baton", ".baton/data", "a/.git/b"] {
                assert!(parsed(bad).is_err(), "{key}: {bad}");
            }
            for good in [".github", "git", ".gitea/baton", "baton/.batons"] {
                assert!(parsed(good).is_ok(), "{key}: {good}");
            }
        }
        check_bad(
            "[archive]\nstate = \".baton/data\"\n",
            &expect![
                "line 2, column 9: archive.state: `.baton/data` is in a folder of git's or Baton's own: use another such as `state` [bad_folder]"
            ],
        );
    }

    #[test]
    fn a_huge_or_deep_file_is_refused() {
        assert!(parse(&"#".repeat(MOST_BYTES + 1)).is_err());
        assert!(parse(&format!("a = {}", "[".repeat(10_000))).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\[project\\]\n|[a-z]+ = |\"x\"\n|\n|1|\\[|\\]|\\{|\\}|\\.|é|\0|\"\"\"|'){0,20}") {
            let _ = parse(&text);
        }
    }
}
