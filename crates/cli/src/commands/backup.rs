//! `baton backup` and `baton restore`: a copy that has been proven whole, and the way back.

use std::fs::File;
use std::path::{Path, PathBuf};

use baton_core::document::Node;
use baton_engine::Verified;
use baton_store_sqlite::DATABASE_FILE;

use crate::api::lock;
use crate::args::Cli;
use crate::data::{Data, verify_copy, workshop_in};
use crate::failure::Failure;
use crate::project::Project;
use crate::show::{self, Format};

/// Copies the data into one file while it may be in use, and verifies the copy before it gets
/// its name.
pub(crate) async fn back_up(data: &Data, format: Format, to: &Path) -> Result<(), Failure> {
    if to.exists() {
        return Err(Failure::Conflict(format!("`{}` is there already", to.display())));
    }
    let workshop = workshop_beside(to)?;
    data.copy_into(workshop.path()).await?;
    let verified = prove(workshop.path()).await?;
    move_in(&workshop.path().join(DATABASE_FILE), to)?;
    tell(format, &format!("wrote {}", to.display()), &verified);
    Ok(())
}

/// Puts a copy in the place of the data. What was there is kept beside it.
pub(crate) async fn restore(cli: &Cli, from: &Path, replace: bool) -> Result<(), Failure> {
    let project = Project::find(cli.project.as_deref())?;
    let data = project.data();
    std::fs::create_dir_all(&data).map_err(|error| cannot("make", &data, error))?;
    let lock = lock(&data).await?;
    let place = data.join(DATABASE_FILE);
    if place.exists() && !replace {
        return Err(Failure::Conflict(format!(
            "`{}` has data already; `--replace` puts it aside",
            project.root.display()
        )));
    }
    let workshop = workshop_beside(&place)?;
    std::fs::copy(from, workshop.path().join(DATABASE_FILE))
        .map_err(|error| cannot("read", from, error))?;
    let verified = prove(workshop.path()).await?;
    let aside = put_aside(&data)?;
    move_in(&workshop.path().join(DATABASE_FILE), &place)?;
    drop(lock);
    tell(cli.format(), &format!("restored {}", from.display()), &verified);
    if project.file.archive.is_some() {
        show::note("the archive may tell of more than there is now; type `baton archive rebuild`");
    }
    if let Some(aside) = aside {
        show::note(&format!("what was there before is in {}", aside.display()));
    }
    Ok(())
}

async fn prove(dir: &Path) -> Result<Verified, Failure> {
    let verified = verify_copy(dir).await?;
    if !verified.problems.is_empty() {
        let what = format!("the copy is not sound: {}", verified.problems.join("; "));
        return Err(Failure::Broken { what });
    }
    Ok(verified)
}

/// A folder on the same disk, so that the last step is a rename.
fn workshop_beside(path: &Path) -> Result<tempfile::TempDir, Failure> {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    workshop_in(parent.unwrap_or(Path::new(".")))
}

/// Gives a finished file its name, and makes sure that both are on disk.
fn move_in(from: &Path, to: &Path) -> Result<(), Failure> {
    let sync = |path: &Path| File::open(path).and_then(|it| it.sync_all());
    let parent = to.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync(from)
        .and_then(|()| std::fs::rename(from, to))
        .and_then(|()| sync(parent))
        .map_err(|error| cannot("write", to, error))
}

/// Moves the database with its log into a folder of its own, out of the way.
fn put_aside(data: &Path) -> Result<Option<PathBuf>, Failure> {
    let parts: Vec<PathBuf> = ["", "-wal", "-shm"]
        .iter()
        .map(|ending| data.join(format!("{DATABASE_FILE}{ending}")))
        .filter(|it| it.exists())
        .collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let aside = tempfile::Builder::new()
        .prefix("before-restore-")
        .tempdir_in(data)
        .map_err(|error| cannot("write into", data, error))?
        .keep();
    for part in parts {
        let name = part.file_name().map(PathBuf::from).unwrap_or_default();
        std::fs::rename(&part, aside.join(name)).map_err(|error| cannot("move", &part, error))?;
    }
    Ok(Some(aside))
}

fn tell(format: Format, what: &str, verified: &Verified) {
    let Verified { n_runs, n_events, .. } = verified;
    match format {
        Format::Table => {
            let (runs, events) = (show::counted(*n_runs, "run"), show::counted(*n_events, "event"));
            show::answer(&format!("{what}: {runs} and {events}, all verified"));
        }
        Format::Json => {
            let count = |n: u64| Node::Number(i64::try_from(n).unwrap_or(i64::MAX).into());
            show::answer_json(&Node::map([("runs", count(*n_runs)), ("events", count(*n_events))]));
        }
    }
}

fn cannot(what: &str, path: &Path, error: std::io::Error) -> Failure {
    Failure::io(format!("{what} `{}`", path.display()), error)
}
