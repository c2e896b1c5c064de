//! `baton backup` and `baton restore`: a verified copy, and the way back.

mod source;

use std::path::Path;

use baton_core::document::Node;
use baton_engine::{Verified, verify_all};
use baton_files::{Access, Dir, FileError};
use baton_store::Store as _;
use baton_store_sqlite::{DATABASE_FILE, OpenError, SqliteStore, exchange};

pub(crate) use self::source::BackupSource;
use crate::api::lock;
use crate::archive;
use crate::args::Cli;
use crate::data::{Data, finish_interrupted, staging_in, verify_copy};
use crate::failure::Failure;
use crate::no_file::{FileTool, refuse_database};
use crate::project::Project;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(cli: &Cli, to: &Path) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    refuse_database(&project, FileTool::Backup)?;
    let data = Data::open(project).await?;
    let result = back_up(&data, cli.format(), to).await;
    data.close().await;
    result
}

/// Copies the data into one file, even while it is in use, and verifies the copy before it gets its
/// name.
async fn back_up(data: &Data, format: OutputFormat, to: &Path) -> Result<(), Failure> {
    let Some(name) = to.file_name() else {
        return Err(Failure::Usage(format!("`{}` is no name for a file", to.display())));
    };
    let folder = Dir::open(to.parent().unwrap_or(Path::new("")))?;
    if folder.entry(name)?.is_some() {
        return Err(FileError::Exists { path: to.to_owned() }.into());
    }
    // In the same folder, so that the last step is a rename.
    let staging = staging_in(&folder)?;
    data.copy_into(staging.dir()).await?;
    let verified = prove(staging.dir()).await?;
    staging.dir().open_file(DATABASE_FILE, Access::Write)?.sync()?;
    staging.dir().rename_new(DATABASE_FILE, &folder, name)?;
    folder.sync()?;
    drop(staging);
    tell(format, &format!("wrote {}", to.display()), &verified);
    Ok(())
}

/// Replaces the data by a copy. The old data is kept beside it.
pub(crate) async fn restore(cli: &Cli, from: &Path, replace: bool) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    refuse_database(&project, FileTool::Restore)?;
    let source = BackupSource::open(from)?;
    let data = project.data_dir()?;
    if source.is_in(&data)? {
        return Err(Failure::Usage(format!(
            "`{}` is the data of this project itself; name a backup",
            from.display()
        )));
    }
    let lock = lock(&data).await?;
    let data = lock.dir();
    finish_interrupted(data)?;
    // An empty file counts as missing.
    if data.entry(DATABASE_FILE)?.is_some_and(|it| it.n_bytes > 0) && !replace {
        return Err(Failure::Conflict(format!(
            "`{}` has data already; `--replace` puts it aside",
            project.root.display()
        )));
    }
    let staging = staging_in(data)?;
    source.copy_into(staging.dir(), data)?;
    let proven = prove_and_begin_epoch(staging.dir()).await;
    let verified = proven.map_err(|it| source.as_typed(it))?;
    let aside = exchange(data, &staging)
        .map_err(|error| Failure::Open(OpenError::Interrupted(error)))?
        .map(|it| data.path().join(it));
    drop(staging);
    let n_ahead = n_ahead(&project, data).await;
    drop(lock);
    tell(cli.format(), &format!("restored {}", from.display()), &verified);
    match n_ahead {
        Some(0) | None => {}
        Some(n) => show::note(&format!(
            "{} more events in the archive than in this backup: `baton recover` brings them back; \
             `baton archive rebuild` follows the backup instead and keeps the others aside",
            show::counted_as(n, "run has", "runs have"),
        )),
    }
    if let Some(aside) = aside {
        show::note(&format!("what was there before is in {}", aside.display()));
    }
    Ok(())
}

/// How many runs have more events in the archive than in the data; `None` where unknown.
async fn n_ahead(project: &Project, data: &Dir) -> Option<u64> {
    let archive = archive::folders(project).ok()??;
    let store = SqliteStore::open_to_read(data).ok()?;
    let ahead = archive.ahead_of(&store).await;
    store.close().await;
    Some(ahead.ok()?.len() as u64)
}

async fn prove(dir: &Dir) -> Result<Verified, Failure> {
    sound(verify_copy(dir).await?)
}

/// Subscribers must not resume from positions of the old data: the copy gets a new epoch.
async fn prove_and_begin_epoch(dir: &Dir) -> Result<Verified, Failure> {
    let store = SqliteStore::open_in(dir).map_err(Failure::Open)?;
    let verified = match verify_all(&store).await {
        Ok(verified) => store.begin_epoch().await.map(|()| verified).map_err(Failure::Store),
        Err(error) => Err(error.into()),
    };
    store.close().await;
    sound(verified?)
}

fn sound(verified: Verified) -> Result<Verified, Failure> {
    if !verified.problems.is_empty() {
        let what = format!("the copy is not sound: {}", verified.problems.join("; "));
        return Err(Failure::Broken { what });
    }
    Ok(verified)
}

fn tell(format: OutputFormat, what: &str, verified: &Verified) {
    let Verified { n_runs, n_events, .. } = verified;
    match format {
        OutputFormat::Table => {
            let (runs, events) = (show::counted(*n_runs, "run"), show::counted(*n_events, "event"));
            show::answer(&format!("{what}: {runs} and {events}, all verified"));
        }
        OutputFormat::Json => {
            show::answer_json(&Node::map([
                ("runs", Node::count(*n_runs)),
                ("events", Node::count(*n_events)),
            ]));
        }
    }
}
