//! `baton recover`: what damaged data still proves, as a new database beside it.

use std::path::PathBuf;

use baton_core::shell::shell_word;
use baton_engine::{Clock as _, SystemClock};
use baton_files::{Dir, FileError, Mode, Staging};
use baton_recover::{
    ArchiveFolders, LEFTOVERS, RESULT, RecoverError, RecoverJob, RecoveryMethod, RecoveryReport,
    recover,
};
use baton_store::Definition;
use baton_store_sqlite::DATABASE_FILE;
use baton_wire::{json, workflow_file};

use crate::api::lock;
use crate::args::{Cli, Recover};
use crate::data::finish_interrupted;
use crate::failure::Failure;
use crate::project::Project;
use crate::show::{self, Format};

/// What is being made, until it is whole.
const STAGING: &str = ".baton-recover-";
const RECOVERED: &str = "recovered-";
const REPORT_TEXT: &str = "report.txt";
const REPORT_JSON: &str = "report.json";

pub(crate) async fn run(cli: &Cli, args: &Recover) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    // Also of a folder that was put aside: whoever has the data may be putting it back.
    let lock = lock(&project.data_dir()?).await?;
    finish_interrupted(lock.dir())?;
    let path = args.from.clone().unwrap_or_else(|| project.data());
    let data = Dir::open(&path).map_err(files)?;
    let parent = match &args.to {
        Some(to) => Dir::open_or_make(to, Mode::Private),
        None => lock.dir().again(),
    };
    let parent = parent.map_err(files)?;
    let staging = Staging::make(&parent, STAGING).map_err(files)?;
    let job = RecoverJob {
        from: &data,
        workshop: staging.dir(),
        definitions: definitions(&project),
        archive: archive_of(&project).map_err(files)?,
        now: SystemClock.now(),
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
        "not everything could be brought back; what is missing is named above".to_owned()
    } else {
        let path = path.display();
        format!(
            "there is neither a database nor its log in `{path}`; \
             `baton restore FILE` brings back a backup"
        )
    };
    Err(Failure::Broken { what })
}

fn files(error: FileError) -> Failure {
    Failure::Recover(RecoverError::Files(error))
}

/// The workflows of the project, each under its hash.
fn definitions(project: &Project) -> Vec<Definition> {
    let of_file = |(_, source): (String, crate::project::Source)| {
        let text = source.text().ok()?;
        let workflow = workflow_file::parse(text).ok()?;
        Some(Definition { hash: workflow.hash, name: workflow.name, text: text.to_owned() })
    };
    project.workflows().into_iter().filter_map(of_file).collect()
}

/// The folders of the archive, as far as there are any. What leads out of the project is not read.
fn archive_of(project: &Project) -> Result<Option<ArchiveFolders>, FileError> {
    let Some(folders) = &project.file.archive else { return Ok(None) };
    let folder = |path: &str| match project.dir.subdir(path) {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    };
    let (sessions, state) = (folder(&folders.sessions)?, folder(&folders.state)?);
    Ok(Some(ArchiveFolders { sessions, state }))
}

/// Gives the result its name, once all of it is on disk.
fn move_in(staging: &Staging, parent: &Dir, report: &RecoveryReport) -> Result<PathBuf, FileError> {
    let result = staging.dir().subdir(RESULT)?;
    let lines = report.lines().join("\n") + "\n";
    result.write_atomic(REPORT_TEXT, lines.as_bytes(), Mode::Private)?;
    let document = json::print_pretty(&report.document(Some(DATABASE_FILE)));
    result.write_atomic(REPORT_JSON, document.as_bytes(), Mode::Private)?;
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

fn tell(format: Format, report: &RecoveryReport, place: Option<&PathBuf>) {
    let database = place.map(|it| it.join(DATABASE_FILE).display().to_string());
    if format == Format::Json {
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
