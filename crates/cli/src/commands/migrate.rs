//! `baton migrate`: all data from a folder to a database, or back. Every row is moved as it is, and
//! compared; the old side is only read.

mod source;
mod target;

use std::path::{Path, PathBuf};

use baton_core::document::Node;
use baton_engine::Verified;
use baton_files::Dir;
use baton_store::StoreResult;
use baton_store::moved_tables::{
    MOVED_TABLES, MovedRow, MovedTable, MovedValue, TableDigest, TableHasher,
};
use baton_store_sqlite::DATABASE_FILE;
use baton_wire::project_file::DEFAULT_DATA;

use self::source::MoveSource;
use self::target::{FoundTarget, MoveDestination, WholeCopy};
use crate::args::{Cli, MigrateArgs, TypedDatabase};
use crate::failure::Failure;
use crate::project::{FOLDER, ProjectDatabase};
use crate::show::{self, OutputFormat};

/// Data in a folder, or in a database.
enum MovePlace {
    Folder(PathBuf),
    Database(ProjectDatabase),
}

/// A row may hold a text of a mebibyte.
const LARGE: [&str; 3] = ["contents", "definitions", "shared_texts"];
const LARGE_ROWS: u32 = 64;
const ROWS: u32 = 1000;

pub(crate) async fn run(cli: &Cli, args: &MigrateArgs) -> Result<(), Failure> {
    let (from, to) = (MovePlace::parse(&args.from)?, MovePlace::parse(&args.to)?);
    match (&from, &to) {
        (MovePlace::Folder(_), MovePlace::Folder(_)) => {
            return Err(Failure::Usage(
                "both are folders: `baton backup` and `baton restore` copy from one to the other"
                    .to_owned(),
            ));
        }
        (MovePlace::Database(_), MovePlace::Database(_)) => {
            return Err(Failure::Usage(
                "both are databases: `pg_dump` and `pg_restore` copy from one to the other"
                    .to_owned(),
            ));
        }
        (MovePlace::Folder(_), MovePlace::Database(_))
        | (MovePlace::Database(_), MovePlace::Folder(_)) => {}
    }
    let source = MoveSource::open(&from).await?;
    let moved = move_all(&source, &to).await;
    source.close().await;
    let (counts, verified) = moved?;
    tell(cli.format(), (&from, &to), &counts, &verified);
    Ok(())
}

/// How many rows each table has.
type Counts = Vec<(&'static str, u64)>;

async fn move_all(source: &MoveSource, to: &MovePlace) -> Result<(Counts, Verified), Failure> {
    let verified = source.verify().await?;
    let project = source.project().await?;
    let mut target = match MoveDestination::open(to, project).await? {
        FoundTarget::Open(target) => target,
        FoundTarget::Whole(copy) => {
            let compared = compare_whole(source, &copy).await;
            copy.close().await;
            return Ok((compared?, verified));
        }
    };
    let counts = match fill(source, &mut target).await {
        Ok(counts) => counts,
        Err(failure) => {
            target.leave().await;
            return Err(failure);
        }
    };
    let moved = target.finish(project, source.last_numbers().await?).await?;
    if (moved.n_runs, moved.n_events) != (verified.n_runs, verified.n_events) {
        return Err(changed());
    }
    Ok((counts, moved))
}

/// Copies every table, from where it was left, and compares all of them. A table with rows that have
/// changed since then is copied once more.
async fn fill(source: &MoveSource, target: &mut MoveDestination) -> Result<Counts, Failure> {
    for table in MOVED_TABLES {
        copy(source, target, table).await?;
    }
    let mut counts = Vec::new();
    for table in MOVED_TABLES {
        let expected = digest(table, async |after| source.rows(table, after, page(table)).await);
        let expected = expected.await?;
        if target_digest(target, table).await? != expected {
            target.clear(table).await?;
            copy(source, target, table).await?;
            if target_digest(target, table).await? != expected {
                return Err(changed());
            }
        }
        counts.push((table.name, expected.n_rows));
    }
    Ok(counts)
}

async fn copy(
    source: &MoveSource,
    target: &mut MoveDestination,
    table: &'static MovedTable,
) -> Result<(), Failure> {
    let mut after = target.last_key(table).await?;
    loop {
        let rows = source.rows(table, after.as_deref(), page(table)).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(table.key_of(last).to_vec());
        target.put(table, &rows).await?;
        baton_files::fail_point::stage(&format!("moved {}", table.name));
    }
}

async fn target_digest(
    target: &MoveDestination,
    table: &'static MovedTable,
) -> StoreResult<TableDigest> {
    digest(table, async |after| target.rows(table, after, page(table)).await).await
}

/// The data was moved before: then it is all there, or something has changed since.
async fn compare_whole(source: &MoveSource, copy: &WholeCopy) -> Result<Counts, Failure> {
    let mut counts = Vec::new();
    for table in MOVED_TABLES {
        let expected = digest(table, async |after| source.rows(table, after, page(table)).await);
        let found = digest(table, async |after| copy.rows(table, after, page(table)).await);
        let (expected, found) = (expected.await?, found.await?);
        if expected != found {
            return Err(Failure::Conflict(
                "this project's data is there already, and has changed since on one side; name a folder \
                 without data, or an empty database"
                    .to_owned(),
            ));
        }
        counts.push((table.name, expected.n_rows));
    }
    show::note("all of it is there already");
    Ok(counts)
}

async fn digest(
    table: &'static MovedTable,
    read: impl AsyncFn(Option<&[MovedValue]>) -> StoreResult<Vec<MovedRow>>,
) -> StoreResult<TableDigest> {
    let mut hasher = TableHasher::default();
    let mut after: Option<Vec<MovedValue>> = None;
    loop {
        let rows = read(after.as_deref()).await?;
        let Some(last) = rows.last() else { return Ok(hasher.finish()) };
        after = Some(table.key_of(last).to_vec());
        rows.iter().for_each(|it| hasher.add(it));
    }
}

fn page(table: &MovedTable) -> u32 {
    if LARGE.contains(&table.name) { LARGE_ROWS } else { ROWS }
}

fn changed() -> Failure {
    Failure::Conflict(
        "the data has changed while it was moved; stop everything that uses it, and type the same again"
            .to_owned(),
    )
}

impl MovePlace {
    fn parse(typed: &TypedDatabase) -> Result<Self, Failure> {
        match typed.folder() {
            Some(path) => Ok(Self::Folder(path.to_owned())),
            None => ProjectDatabase::typed(typed, Path::new("")).map(Self::Database),
        }
    }

    /// The folder itself, or that of the project which it is.
    fn data_folder(path: &Path) -> Result<Dir, Failure> {
        let dir = Dir::open(path)?;
        if dir.entry(DATABASE_FILE)?.is_none() && dir.entry(FOLDER)?.is_some() {
            return Ok(dir.subdir(Path::new(FOLDER).join(DEFAULT_DATA))?);
        }
        Ok(dir)
    }

    /// For people.
    fn shown(&self) -> String {
        match self {
            Self::Folder(path) => path.display().to_string(),
            Self::Database(database) => database.url.to_string(),
        }
    }
}

fn tell(
    format: OutputFormat,
    (from, to): (&MovePlace, &MovePlace),
    counts: &Counts,
    verified: &Verified,
) {
    let moved = counts.iter().filter(|(_, n)| *n > 0);
    match format {
        OutputFormat::Json => show::answer_json(&Node::map([
            ("from", Node::text(from.shown())),
            ("to", Node::text(to.shown())),
            ("runs", Node::count(verified.n_runs)),
            ("events", Node::count(verified.n_events)),
            ("rows", Node::map(counts.iter().map(|(name, n)| (*name, Node::count(*n))))),
        ])),
        OutputFormat::Table => {
            let rows = moved.map(|(name, n)| vec![(*name).to_owned(), n.to_string()]);
            show::answer(&show::list(&["TABLE", "ROWS"], rows.collect()));
            show::answer(&format!(
                "\nmoved {} to {}: {} and {} verified, every row compared",
                from.shown(),
                to.shown(),
                show::counted(verified.n_runs, "run"),
                show::counted(verified.n_events, "event"),
            ));
            show::note(&format!("{} is as it was", from.shown()));
            match to {
                MovePlace::Database(database) if database.url.has_password() => {
                    show::note("from now on, set BATON_DATABASE_URL to that address");
                }
                MovePlace::Database(database) => show::note(&format!(
                    "from now on, name it: `database_url = \"{}\"` under [project] of .baton/baton.toml",
                    database.url
                )),
                MovePlace::Folder(_) => {
                    show::note("`baton restore FOLDER` makes it the data of a project");
                }
            }
        }
    }
}
