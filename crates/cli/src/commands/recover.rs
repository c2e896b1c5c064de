//! `baton recover`: rebuilds what damaged data still proves, as a new database beside it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use baton_core::shell::shell_word;
use baton_engine::{Clock as _, SystemClock};
use baton_files::{Dir, FileError, FileMode, Staging};
use baton_recover::{
    LEFTOVERS, RESULT, RecoverError, RecoverJob, RecoveryMethod, RecoveryReport, recover,
};
use baton_store::Definition;
use baton_store_sqlite::DATABASE_FILE;
use baton_wire::{json, workflow_file};

use super::backup::BackupSource;
use crate::api::lock;
use crate::archive;
use crate::args::{Cli, Recover};
use crate::data::finish_interrupted;
use crate::failure::Failure;
use crate::no_file::{FileTool, refuse_database};
use crate::project::Project;
use crate::show::{self, OutputFormat};

/// The unfinished result.
const STAGING: &str = ".baton-recover-";
/// A copy of a named file, under the usual name.
const DAMAGED: &str = "damaged";
const RECOVERED: &str = "recovered-";
const REPORT_TEXT: &str = "report.txt";
const REPORT_JSON: &str = "report.json";

pub(crate) async fn run(cli: &Cli, args: &Recover) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    if args.from.is_none() {
        refuse_database(&project, FileTool::Recover)?;
    }
    // Lock the data even for `--from`: a restore may be moving that folder.
    let lock = lock(&project.data_dir()?).await?;
    finish_interrupted(lock.dir())?;
    let parent = match &args.to {
        Some(to) => Dir::open_or_make(to, FileMode::Private),
        None => lock.dir().again(),
    };
    let parent = parent.map_err(files)?;
    let staging = Staging::make(&parent, STAGING).map_err(files)?;
    let path = args.from.clone().unwrap_or_else(|| project.data());
    let data = damaged(&path, &staging, lock.dir())?;
    let job = RecoverJob {
        from: &data,
        scratch: staging.dir(),
        definitions: definitions(&project),
        archive: archive::folders(&project).map_err(files)?,
        archived: args.archived,
        now: SystemClock.now(),
        is_mark_expected: args.from.is_none(),
    };
    let report = recover(&job).await.map_err(Failure::Recover)?;
    let has_result = report.method != RecoveryMethod::Nothing;
    let place = if has_result && !args.dry_run {
        Some(move_in(&staging, &parent, &report).map_err(files)?)
    } else {
        None
    };
    tell(cli.format(), &report, place.as_ref());
    if report.is_complete() {
        return Ok(());
    }
    let what = if has_result {
        "not everything is proven to be there; what is or may be missing is named above".to_owned()
    } else if let Some(id) = args.archived {
        format!("the archive has no session of the data {id}")
    } else {
        let path = path.display();
        format!(
            "there is neither a database nor its log in `{path}`; \
             `baton restore FILE` brings back a backup"
        )
    };
    Err(Failure::Broken { what })
}

/// The folder with the damaged files. A person may name the database in it, or a backup, which has
/// a name of its own and is copied under the usual database name.
fn damaged(path: &Path, staging: &Staging, data: &Dir) -> Result<Dir, Failure> {
    match Dir::open(path) {
        Err(FileError::WrongKind { .. }) => {}
        opened => return opened.map_err(files),
    }
    if path.file_name() == Some(OsStr::new(DATABASE_FILE)) {
        return Dir::open(path.parent().unwrap_or(Path::new(""))).map_err(files);
    }
    let copied = staging.dir().make_dirs(DAMAGED, FileMode::Private).map_err(files)?;
    BackupSource::open_damaged(path)?.copy_into(&copied, data)?;
    Ok(copied)
}

fn files(error: FileError) -> Failure {
    Failure::Recover(RecoverError::Files(error))
}

/// The workflows of the project, each under its hash.
fn definitions(project: &Project) -> Vec<Definition> {
    let of_file = |(_, source): (String, crate::project::SourceFile)| {
        let text = source.text().ok()?;
        let workflow = workflow_file::parse(text).ok()?;
        Some(Definition { hash: workflow.hash, name: workflow.name, text: text.to_owned() })
    };
    project.workflows().into_iter().filter_map(of_file).collect()
}

/// Renames the result, once all of it is on disk.
fn move_in(staging: &Staging, parent: &Dir, report: &RecoveryReport) -> Result<PathBuf, FileError> {
    let result = staging.dir().subdir(RESULT)?;
    let lines = report.lines().join("\n") + "\n";
    result.write_atomic(REPORT_TEXT, lines.as_bytes(), FileMode::Private)?;
    let document = json::print_pretty(&report.document(Some(DATABASE_FILE)));
    result.write_atomic(REPORT_JSON, document.as_bytes(), FileMode::Private)?;
    if staging.dir().entry(LEFTOVERS)?.is_some() {
        staging.dir().rename(LEFTOVERS, &result, LEFTOVERS)?;
    }
    result.sync()?;
    let mut n = 1;
    let name = loop {
        let name = format!("{RECOVERED}{n}");
        if parent.entry(&name)?.is_none() {
            break name;
        }
        n += 1;
    };
    staging.dir().rename_new(RESULT, parent, &name)?;
    parent.sync()?;
    Ok(parent.path().join(name))
}

fn tell(format: OutputFormat, report: &RecoveryReport, place: Option<&PathBuf>) {
    let database = place.map(|it| it.join(DATABASE_FILE).display().to_string());
    if format == OutputFormat::Json {
        return show::answer_json(&report.document(database.as_deref()));
    }
    for line in report.lines() {
        show::answer(&show::visible(&line));
    }
    let Some(database) = database else {
        return show::note("nothing was written");
    };
    show::answer(&format!("wrote {database}"));
    if report.n_leftovers > 0 {
        show::note(&format!(
            "{} that could not be put into it: `{LEFTOVERS}` beside it",
            show::counted(report.n_leftovers, "line")
        ));
    }
    show::note("the old files are as they were");
    show::note(&format!(
        "`baton restore --replace {}` puts it in their place and keeps them aside",
        shell_word(&database)
    ));
}
