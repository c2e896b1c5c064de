//! `baton init`: creates a project folder.

use std::path::Path;

use baton_files::{Dir, FileMode};
use baton_store::Store as _;
use baton_store_sqlite::{OpenError, SqliteStore};
use baton_wire::project_file::MOST_BYTES;

use super::agent::detect::settings;
use crate::api::lock;
use crate::archive;
use crate::args::{Cli, DATABASE_VARIABLE};
use crate::data::finish_interrupted;
use crate::failure::Failure;
use crate::no_file::{FileTool, refuse_database};
use crate::project::{DatabaseSource, FOLDER, PROJECT_FILE, Project, ProjectDatabase};
use crate::runners::environment;
use crate::session::{DatabaseStore, open_database, refuse_folder};
use crate::show;

const TEMPLATE: &str = "\
# What this project sets for itself. `baton workflow list` shows what there is to choose from.
[project]
workflow = \"story-pipeline\"
# How severe contracts are taken on the command line: \"strict\" or \"lenient\".
# profile = \"strict\"

# Every run as files beside the data: where it is (`state`) and what happened in it (`sessions`).
# Without this section none are written.
[archive]
state = \"state\"
sessions = \".project/07-audit/sessions\"

# Who does the work: the program of each agent. `baton agent detect` prints this for the coding agents that are
# installed; any program that reads a prompt and prints its handoff will do. Then: `baton trust`, `baton serve`.
# [executors.mine]
# kind = \"command\"
# run = [\"python3\", \"tools/agent.py\"]
# [agents.\"*\"]
# executors = [\"mine\"]

# How the project builds and tests itself: prompts tell agents. A check passes where it exits with 0.
# [checks.tests]
# run = [\"cargo\", \"test\"]
# timeout = \"10m\"
";

/// What is done with a folder that is a project already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectThere {
    Refused,
    /// For what starts again and again: looked at, and left as it is.
    Kept,
}

pub(crate) async fn run(cli: &Cli, there: ProjectThere) -> Result<(), Failure> {
    let here = std::env::current_dir().map_err(|error| Failure::io("see this folder", error))?;
    let root = cli.project.clone().unwrap_or(here);
    let dir = Dir::open_or_make(&root, FileMode::Shared)?;
    if is_whole(&dir)? {
        if there == ProjectThere::Kept {
            return keep(cli, &root).await;
        }
        let message = format!("`{}` is a Baton project already", root.display());
        return Err(Failure::Conflict(message));
    }
    let is_new = !has_text(&dir, &Path::new(FOLDER).join(PROJECT_FILE))?;
    // Before anything is written: the address may be wrong.
    let database = named_database(cli, &root)?;
    if let Some(database) = &database {
        open_database(database).await?.close().await;
    }
    lay_out(&dir)?;
    let proposed = if is_new { propose(&dir).await? } else { Vec::new() };
    if let Some(database) = &database {
        use_database(cli, &dir, database).await?;
    }
    show::answer(&format!(
        "made {}\nevery run will also be written as files, to commit or to ignore: `state` and \
         `.project/07-audit/sessions`\n({FOLDER}/{PROJECT_FILE} says where, under `[archive]`)\n\nnext:\n  baton story add KEY --title \"...\"   add a piece of work\n  \
         baton run start                     hand it to the first agent\n  \
         baton status                        see who has the baton\n  \
         baton agent detect                  have it done by the coding agents that are installed\n\n\
         in git: commit `{}`. `state/` and `.project/` are generated: commit them for history, or ignore them",
        root.join(FOLDER).display(),
        FOLDER,
    ));
    if !proposed.is_empty() {
        show::note(&format!(
            "\nfound {}: {FOLDER}/{PROJECT_FILE} has the lines that let your agents use them, behind `#`; nothing is \
             started before you take that away and `baton trust` it",
            proposed.join(", "),
        ));
    }
    Ok(())
}

/// The database may be a new one, or that of another project.
async fn keep(cli: &Cli, root: &Path) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    match &project.database {
        Some(database) => DatabaseStore::open(&project, database).await?.store.close().await,
        None => refuse_folder(&project, &project.data_dir()?)?,
    }
    show::answer(&format!("`{}` is a Baton project already; nothing was changed", root.display()));
    Ok(())
}

/// The database that the new project is to use: there is no file yet that could name one.
fn named_database(cli: &Cli, root: &Path) -> Result<Option<ProjectDatabase>, Failure> {
    match &cli.database_url {
        Some(typed) => ProjectDatabase::typed(typed, root).map(Some),
        None => ProjectDatabase::in_environment(root),
    }
}

/// Remembers the database, and writes its address into the project file where it was typed. A password
/// has no business in a file that is committed.
async fn use_database(cli: &Cli, root: &Dir, database: &ProjectDatabase) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    DatabaseStore::open(&project, database).await?.store.close().await;
    let url = &database.url;
    show::answer(&format!("the data is in {url}"));
    if url.has_password() || database.from != DatabaseSource::Flag {
        show::note(&format!(
            "{FOLDER}/{PROJECT_FILE} does not name it: set {DATABASE_VARIABLE} for every command"
        ));
        return Ok(());
    }
    let folder = root.subdir(FOLDER)?;
    let text = folder.read_text(PROJECT_FILE, MOST_BYTES as u64)?;
    // A JSON string is a TOML string too.
    let address = serde_json::Value::from(url.with_password());
    let named = format!("[project]\ndatabase_url = {address}\n");
    let text = text.replacen("[project]\n", &named, 1);
    Ok(folder.write_atomic(PROJECT_FILE, text.as_bytes(), FileMode::Shared)?)
}

/// Writes the settings for the coding agents that are installed, as a comment.
async fn propose(root: &Dir) -> Result<Vec<&'static str>, Failure> {
    let found = baton_runner::detect(&environment()).await;
    let Some(lines) = settings(&found) else { return Ok(Vec::new()) };
    let commented = lines.lines().map(|it| format!("# {it}").trim_end().to_owned());
    let commented = commented.collect::<Vec<_>>().join("\n");
    let text = format!(
        "{TEMPLATE}\n# The coding agents that `baton agent detect` found when this file was written.\n{commented}\n"
    );
    root.subdir(FOLDER)?.write_atomic(PROJECT_FILE, text.as_bytes(), FileMode::Shared)?;
    let installed = found.iter().filter(|it| it.version.is_some());
    Ok(installed.map(|it| it.program.name()).collect())
}

/// Creates an empty database in a project that has lost its data.
pub(crate) async fn begin_anew(cli: &Cli) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    refuse_database(&project, FileTool::NewData)?;
    let lock = lock(&project.data_dir()?).await?;
    finish_interrupted(lock.dir())?;
    let store = SqliteStore::begin_anew(lock.dir()).map_err(|error| {
        if matches!(error, OpenError::InTheWay { .. }) {
            return Failure::Conflict(error.to_string());
        }
        Failure::Open(error)
    })?;
    store.close().await;
    show::answer(&format!("began with an empty database in {}", lock.dir().path().display()));
    let counts = archive::folders(&project)?.map(|it| it.session_counts()).transpose()?;
    for (id, n_sessions) in counts.unwrap_or_default() {
        let sessions = show::counted(n_sessions, "session");
        show::note(&format!(
            "the archive has {sessions} of the data before; `baton recover --archived {id}` makes a \
             database of them"
        ));
    }
    Ok(())
}

/// In this order: the ignore file exists before there can be data, and the project file comes last,
/// because `init` resumes while it is missing.
const FILES: [(&str, &str); 2] = [(".gitignore", "/data/\n"), (PROJECT_FILE, TEMPLATE)];

/// Whether [`lay_out`] has nothing left to do.
fn is_whole(root: &Dir) -> Result<bool, Failure> {
    for (name, _) in FILES {
        if !has_text(root, &Path::new(FOLDER).join(name))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A full disk may have left an empty file behind.
fn has_text(root: &Dir, path: &Path) -> Result<bool, Failure> {
    match root.entry(path) {
        Ok(entry) => Ok(entry.is_some_and(|it| it.n_bytes > 0)),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Writes the missing folders and files of a project.
pub(crate) fn lay_out(root: &Dir) -> Result<(), Failure> {
    let folder = root.make_dirs(FOLDER, FileMode::Shared)?;
    let [ignored, project] = FILES;
    write_missing(&folder, ignored)?;
    for part in ["agents", "workflows"] {
        folder.make_dirs(part, FileMode::Shared)?;
    }
    write_missing(&folder, project)
}

pub(crate) fn write_missing(folder: &Dir, (name, text): (&str, &str)) -> Result<(), Failure> {
    if has_text(folder, Path::new(name))? {
        return Ok(());
    }
    Ok(folder.write_atomic(name, text.as_bytes(), FileMode::Shared)?)
}

/// Writes a file that must not exist yet.
pub(crate) fn write_new(dir: &Dir, path: &Path, text: &str) -> Result<(), Failure> {
    Ok(dir.create_new(path, FileMode::Shared)?.write(text.as_bytes())?)
}
