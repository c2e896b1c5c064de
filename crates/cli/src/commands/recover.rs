//! `baton recover`: what damaged data still proves, as a new database beside it.

use std::path::PathBuf;

use baton_engine::{Clock as _, SystemClock};
use baton_files::{Dir, Mode, Staging};
use baton_recover::{LEFTOVERS, RESULT, RecoverJob, RecoveryReport, recover};
use baton_store::Definition;
use baton_store_sqlite::DATABASE_FILE;
use baton_wire::{json, workflow_file};

use crate::api::lock;
use crate::args::{Cli, Recover};
use crate::failure::Failure;
use crate::project::Project;
use crate::show::{self, Format};

/// What is being made, until it is whole.
const STAGING: &str = ".baton-recover-";
const RECOVERED: &str = "recovered-";
const REPORT_TEXT: &str = "report.txt";
const REPORT_JSON: &str = "report.json";

pub(crate) async fn run(cli: &Cli, args: &Recover) -> Result<(), Failure> {
    let project = Project::find(cli.project.as_deref())?;
    let path = args.from.clone().unwrap_or_else(|| project.data());
    let data = Dir::open(&path)?;
    // Also of a folder that was put aside: whoever has the data may be putting it back.
    let _lock = lock(&project.data()).await?;
    let parent = match &args.to {
        Some(to) => Dir::open_or_make(to, Mode::Private)?,
        None => Dir::open_or_make(&project.data(), Mode::Private)?,
    };
    let staging = Staging::make(&parent, STAGING)?;
    let job = RecoverJob {
        from: &data,
        workshop: staging.dir(),
        definitions: definitions(&project)?,
        now: SystemClock.now(),
    };
    let report = recover(&job).await.map_err(Failure::Recover)?;
    let place = if args.dry_run { None } else { Some(move_in(&staging, &parent, &report)?) };
    tell(cli.format(), &report, place.as_ref());
    if report.is_complete() {
        return Ok(());
    }
    let what = "not everything could be brought back; what is missing is named above";
    Err(Failure::Broken { what: what.to_owned() })
}

/// The workflows of the project, each under its hash.
fn definitions(project: &Project) -> Result<Vec<Definition>, Failure> {
    let of_file = |(_, source): (String, crate::project::Source)| {
        let workflow = workflow_file::parse(&source.text).ok()?;
        Some(Definition { hash: workflow.hash, name: workflow.name, text: source.text })
    };
    Ok(project.workflows()?.into_iter().filter_map(of_file).collect())
}

/// Gives the result its name, once all of it is on disk.
fn move_in(staging: &Staging, parent: &Dir, report: &RecoveryReport) -> Result<PathBuf, Failure> {
    let result = staging.dir().subdir(RESULT)?;
    let lines = report.lines().join("\n") + "\n";
    result.write_atomic(REPORT_TEXT, lines.as_bytes(), Mode::Private)?;
    let document = json::print_pretty(&report.document());
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
        let database = database.map_or(baton_core::document::Node::Null, |it| {
            baton_core::document::Node::text(it)
        });
        let document = report.document().with("database", database);
        return show::answer_json(&document);
    }
    for line in report.lines() {
        show::answer(&show::visible(&line));
    }
    let Some(database) = database else {
        return show::note("nothing was written, because of `--dry-run`");
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
        "`baton restore --replace {database}` puts it in their place and keeps them aside"
    ));
}
