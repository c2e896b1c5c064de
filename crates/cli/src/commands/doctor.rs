//! `baton doctor`: what is wrong with this project, and what to type about it.

use std::path::Path;

use baton_core::document::Node;
use baton_engine::verify_all;
use baton_store::HandoffFilter;
use baton_wire::agent_file;

use super::workflow;
use crate::archive::{archive_of, failure};
use crate::args::Cli;
use crate::failure::Failure;
use crate::project::{Project, parsed};
use crate::session::{Session, principal};
use crate::show::{self, Format};

/// One thing that was looked at.
struct Finding {
    what: String,
    state: Health,
}

enum Health {
    Well,
    /// Somebody should do something; nothing is broken.
    Waits {
        advice: String,
    },
    Ill {
        problem: String,
        advice: String,
    },
}

pub(crate) async fn run(cli: &Cli) -> Result<(), Failure> {
    let project = Project::find(cli.project.as_deref())?;
    let mut findings = Vec::new();
    look_at_files(&project, &mut findings)?;
    let are_files_well = findings.iter().all(|it| matches!(it.state, Health::Well));
    if are_files_well {
        look_at_data(cli, project, &mut findings).await?;
    } else {
        let advice = "mend the files first; then type `baton doctor` again".to_owned();
        findings.push(Finding { what: "the data".to_owned(), state: Health::Waits { advice } });
    }
    tell(cli.format(), &findings);
    let n_ill = findings.iter().filter(|it| matches!(it.state, Health::Ill { .. })).count();
    match n_ill {
        0 => Ok(()),
        1 => Err(Failure::Broken { what: "1 thing is wrong".to_owned() }),
        n => Err(Failure::Broken { what: format!("{n} things are wrong") }),
    }
}

fn look_at_files(project: &Project, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    for (name, source) in project.agents()? {
        let read = parsed(Path::new(&source.origin), agent_file::parse(&source.text));
        let advice = || format!("edit {}", source.origin);
        findings.push(finding(format!("the agent {name}"), read.map(|_| ()), advice));
    }
    for (name, _) in project.workflows()? {
        let advice = || format!("type `baton workflow check {name}` for every problem");
        let checked = workflow::check_named(project, &name).map(|_| ());
        findings.push(finding(format!("the workflow {name}"), checked, advice));
    }
    Ok(())
}

async fn look_at_data(
    cli: &Cli,
    project: Project,
    findings: &mut Vec<Finding>,
) -> Result<(), Failure> {
    let data = project.data().display().to_string();
    let opened = Session::of(project, principal(cli)?, cli.format()).await;
    let session = match opened {
        Ok(session) => session,
        Err(failure) => {
            let advice =
                || "put it right, or type `baton restore FILE --replace` with a backup".to_owned();
            findings.push(finding(format!("the data in {data}"), Err(failure), advice));
            return Ok(());
        }
    };
    let looked = look_at_runs(&session, &data, findings).await;
    session.close().await;
    looked
}

async fn look_at_runs(
    session: &Session,
    data: &str,
    findings: &mut Vec<Finding>,
) -> Result<(), Failure> {
    let engine = &session.engine;
    let verified = verify_all(engine.store()).await?;
    let what = format!("{} runs and {} events in {data}", verified.n_runs, verified.n_events);
    let sound = match verified.problems.as_slice() {
        [] => Ok(()),
        problems => Err(Failure::Broken { what: problems.join("; ") }),
    };
    let advice = || "type `baton restore FILE --replace` with a backup".to_owned();
    findings.push(finding(what, sound, advice));
    if let Some(archive) = archive_of(session) {
        let written = archive.catch_up().await.map(|_| ()).map_err(failure);
        let what = format!("the archive in {}", archive.places().sessions.display());
        let advice = || "make room or mend the path, then type `baton archive rebuild`".to_owned();
        findings.push(finding(what, written, advice));
    }
    let n_waiting = engine.inbox(session.principal()).await?.len();
    if n_waiting > 0 {
        let advice = "type `baton inbox`".to_owned();
        let what = format!("{n_waiting} waiting for a person");
        findings.push(Finding { what, state: Health::Waits { advice } });
    }
    let filter = HandoffFilter { is_stale: Some(true), ..HandoffFilter::default() };
    let n_stale =
        engine.store().handoffs(&filter).await?.iter().filter(|it| it.state.is_open()).count();
    if n_stale > 0 {
        let advice = "type `baton handoff list --stale`; \
                      `baton handoff timeout HANDOFF` gives up on one"
            .to_owned();
        let what = format!("{n_stale} that nobody has moved for long");
        findings.push(Finding { what, state: Health::Waits { advice } });
    }
    Ok(())
}

fn finding(what: String, result: Result<(), Failure>, advice: impl FnOnce() -> String) -> Finding {
    let state = match result {
        Ok(()) => Health::Well,
        Err(failure) => Health::Ill { problem: failure.to_string(), advice: advice() },
    };
    Finding { what, state }
}

fn tell(format: Format, findings: &[Finding]) {
    if format == Format::Json {
        let nodes = findings.iter().map(|it| {
            let (state, problem, advice) = match &it.state {
                Health::Well => ("well", Node::Null, Node::Null),
                Health::Waits { advice } => ("waits", Node::Null, Node::text(advice)),
                Health::Ill { problem, advice } => ("ill", Node::text(problem), Node::text(advice)),
            };
            Node::map([
                ("what", Node::text(&it.what)),
                ("state", Node::text(state)),
                ("problem", problem),
                ("advice", advice),
            ])
        });
        show::answer_json(&Node::List(nodes.collect()));
        return;
    }
    for Finding { what, state } in findings {
        let what = show::visible(what);
        show::answer(&match state {
            Health::Well => format!("{} {what}", show::good("✔")),
            Health::Waits { advice } => format!("{} {what}: {advice}", show::warn("•")),
            Health::Ill { problem, advice } => {
                format!("{} {what}: {}\n    {advice}", show::warn("✘"), show::visible(problem))
            }
        });
    }
}
