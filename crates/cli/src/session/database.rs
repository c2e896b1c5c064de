//! Data in a PostgreSQL database, which any number of processes may use at the same time.

use std::sync::Arc;
use std::time::Duration;

use baton_core::document::Node;
use baton_core::shell::shell_word;
use baton_engine::ShiftedClock;
use baton_files::{Dir, FileMode};
use baton_store::{RunFilter, Store as _, StoryFilter};
use baton_store_postgres::{PostgresStore, PushedFile};
use baton_store_sqlite::{DATABASE_FILE, DataLock, SqliteStore, UNFINISHED_MOVE};
use baton_wire::json;
use uuid::Uuid;

use crate::archive;
use crate::args::Cli;
use crate::failure::Failure;
use crate::project::{DatabaseFiles, DatabaseNotNamed, Project, ProjectDatabase};
use crate::show;

/// An open database, and what only this backend has.
pub(crate) struct DatabaseStore {
    pub(crate) store: Arc<PostgresStore>,
    /// What belongs to this machine: keys, workspaces, and which database this project uses.
    pub(super) data: Dir,
    /// The workflow and agent files, where they are used.
    pub(crate) files: Option<Arc<DatabaseFiles>>,
}

/// In the data folder: the project that the database said it is of when it was first used here.
const BOUND_FILE: &str = "database.json";
const MOST_BOUND_BYTES: u64 = 4096;

impl DatabaseStore {
    pub(crate) async fn open(
        project: &Project,
        database: &ProjectDatabase,
    ) -> Result<Self, Failure> {
        let data = project.data_dir()?;
        let store = open_database(database).await?;
        let bound = bind(project, &data, database, &store).await;
        if let Err(failure) = bound {
            store.close().await;
            return Err(failure);
        }
        Ok(Self { store: Arc::new(store), data, files: None })
    }

    /// The database's clock: every process that uses it has the same time.
    pub(super) fn clock(&self) -> ShiftedClock {
        ShiftedClock::new(self.store.clock_offset())
    }
}

/// Opens the database, whichever project it is of.
pub(crate) async fn open_database(database: &ProjectDatabase) -> Result<PostgresStore, Failure> {
    let opened = PostgresStore::open(&database.settings()?).await;
    opened.map_err(|error| Failure::database(database, error))
}

/// The files that were pushed to the database of the project, if it has used that before.
pub(crate) async fn pushed_files(project: &Project) -> Result<Vec<PushedFile>, Failure> {
    let (Some(database), Some(data)) = (&project.database, project.present_data_dir()) else {
        return Ok(Vec::new());
    };
    if data.entry(BOUND_FILE)?.is_none() {
        return Ok(Vec::new());
    }
    let opened = DatabaseStore::open(project, database).await?;
    let files = opened.store.pushed_files().await;
    opened.store.close().await;
    Ok(files?)
}

/// The project as its nodes use it: with the files that were pushed, if any, where the database can be
/// asked for them.
pub(crate) async fn as_nodes_use_it(cli: &Cli, project: Project) -> Result<Project, Failure> {
    let project = project.with_database(cli.database_url.as_ref())?;
    Ok(match pushed_files(&project).await {
        Ok(files) => project.using_pushed(files),
        Err(failure) => {
            let why = show::visible(&failure.to_string());
            show::note(&format!(
                "{} these are the files of this folder: {why}",
                show::warn("careful:")
            ));
            project
        }
    })
}

/// As [`open_database`], where there has to be data: an empty database stays empty.
pub(crate) async fn open_existing_database(
    database: &ProjectDatabase,
) -> Result<PostgresStore, Failure> {
    let opened = PostgresStore::open_existing(&database.settings()?).await;
    opened.map_err(|error| Failure::database(database, error))
}

/// Refuses data in a folder, where the folder says that this project has its data in a database: none is
/// named, and what was written here would be a second project.
pub(crate) fn refuse_folder(project: &Project, data: &Dir) -> Result<(), Failure> {
    if data.entry(BOUND_FILE)?.is_some() {
        return Err(forgotten(data));
    }
    // Another folder, which has no data yet, is no answer to that.
    let is_empty = data.entry(DATABASE_FILE)?.is_none_or(|it| it.n_bytes == 0)
        && data.entry(UNFINISHED_MOVE)?.is_none();
    match project.own_folder_beside_named().filter(|_| is_empty) {
        Some(own) if own.entry(BOUND_FILE)?.is_some() => Err(forgotten(&own)),
        Some(_) | None => Ok(()),
    }
}

fn forgotten(data: &Dir) -> Failure {
    let note = data.path().join(BOUND_FILE).display().to_string();
    Failure::DatabaseNotNamed(DatabaseNotNamed { note: shell_word(&note) })
}

/// The data of the project is in this folder from now on.
pub(crate) fn forget_database(data: &Dir) -> Result<(), Failure> {
    match data.entry(BOUND_FILE)? {
        Some(_) => Ok(data.remove(BOUND_FILE)?),
        None => Ok(()),
    }
}

/// Refuses the database of another project; remembers it when it is used for the first time.
async fn bind(
    project: &Project,
    data: &Dir,
    database: &ProjectDatabase,
    store: &PostgresStore,
) -> Result<(), Failure> {
    let found = store.identity().await?.project;
    let other = |known: String| Failure::OtherProject {
        url: database.url.to_string(),
        from: database.from.to_string(),
        known,
    };
    match bound_project(data)? {
        Some(known) if known == found => return Ok(()),
        Some(_) => {
            let note = data.path().join(BOUND_FILE);
            return Err(other(format!(
                "this project has used another one until now. Name that one, or, to go on with this \
                 one, type `rm {}`",
                note.display()
            )));
        }
        None => {}
    }
    if let Some(known) = used_before(project, data, database, found).await? {
        return Err(other(known));
    }
    let text = json::print_pretty(&Node::map([("project", Node::text(found.to_string()))]));
    Ok(data.write_atomic(BOUND_FILE, text.as_bytes(), FileMode::Private)?)
}

fn bound_project(data: &Dir) -> Result<Option<Uuid>, Failure> {
    match data.read_text(BOUND_FILE, MOST_BOUND_BYTES) {
        Ok(text) => {
            Ok(json::parse(&text).ok().and_then(|it| it.member("project")?.as_text()?.parse().ok()))
        }
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What this project has of its own, where that is not in the database: in its folder, or given by
/// its archive.
async fn used_before(
    project: &Project,
    data: &Dir,
    database: &ProjectDatabase,
    found: Uuid,
) -> Result<Option<String>, Failure> {
    if data.entry(DATABASE_FILE)?.is_some_and(|it| it.n_bytes > 0)
        && is_used_by_other(data, found).await
    {
        let path = shell_word(&data.path().display().to_string());
        let url = database.pasted();
        return Ok(Some(format!(
            "this project has its data in `{path}`. Type `baton migrate --from {path} --to {url}` to \
             move it, or put `{DATABASE_FILE}` away to begin with what is in the database"
        )));
    }
    let Ok(Some(folders)) = archive::folders(project) else { return Ok(None) };
    let Ok(sessions) = folders.session_counts() else { return Ok(None) };
    let is_there = |id: Uuid| sessions.iter().any(|(it, n)| *it == id && *n > 0);
    let others = sessions.iter().any(|(it, n)| *it != found && *n > 0);
    Ok((others && !is_there(found)).then(|| {
        "the archive of this project tells of the runs of another one. Name that one, or put the \
         archive's folders away"
            .to_owned()
    }))
}

/// Whether the SQLite file holds anything of a project other than `found`. One that cannot be opened
/// counts as used.
async fn is_used_by_other(data: &Dir, found: Uuid) -> bool {
    let Ok(_lock) = DataLock::take(data, Duration::ZERO) else { return true };
    let Ok(store) = SqliteStore::open_to_read(data) else { return true };
    let looked = async {
        if store.identity().await?.project == found {
            return Ok(false);
        }
        let runs = store.runs(&RunFilter { limit: 1, ..RunFilter::default() }).await?;
        let stories = store.stories(&StoryFilter { limit: 1, ..StoryFilter::default() }).await?;
        Ok::<_, baton_store::StoreError>(!runs.is_empty() || !stories.is_empty())
    };
    let is_used = looked.await.unwrap_or(true);
    store.close().await;
    is_used
}
