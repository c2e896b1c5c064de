//! `baton doctor`: the problems of this project, and what to type about them.

mod database;
mod left_over;

use std::ffi::OsStr;

use baton_api::{ArchiveDocument, HandoffSummary, InboxItemDocument, Page, RunDocument};
use baton_core::document::Node;
use baton_engine::Verified;
use baton_files::Dir;
use baton_store::{Order, RunFilter, StoreError, WriteFault};
use baton_store_sqlite::fault_of_folder;
use uuid::Uuid;

use crate::api::{Api, Ask, DataHolder, RemoteServer, holder};
use crate::archive;
use crate::args::Cli;
use crate::data::{Data, SETTLE_MARK};
use crate::failure::Failure;
use crate::project::{FileRole, PROJECT_FILE, Project, WorkflowUse};
use crate::runners::untrusted;
use crate::session::{Session, StoreBackend, cannot_tell, principal, pushed_files};
use crate::show::{self, OutputFormat};

/// One check.
struct HealthCheck {
    what: String,
    state: Health,
}

enum Health {
    Well,
    /// A file of an agent or a workflow: of many, a person reads how many there are.
    WellFile,
    /// The operator should act; nothing is broken.
    Waits {
        advice: String,
    },
    Ill {
        problem: String,
        advice: String,
    },
}

pub(crate) async fn run(cli: &Cli) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    let mut findings = Vec::new();
    // Where the database cannot be asked, that is reported with the data.
    let pushed = pushed_files(&project).await.unwrap_or_default();
    let project = project.using_pushed(pushed);
    look_at_files(&project, &mut findings);
    if let Some(why) = untrusted(&project) {
        let (what, advice) = ("what agents and checks would start".to_owned(), why.to_owned());
        findings.push(HealthCheck { what, state: Health::Waits { advice } });
    }
    look_at_data(cli, project, &mut findings).await?;
    tell(cli.format(), &findings);
    let n_ill = findings.iter().filter(|it| matches!(it.state, Health::Ill { .. })).count();
    match n_ill {
        0 => Ok(()),
        n => {
            let things = show::counted_as(n as u64, "thing is", "things are");
            Err(Failure::Broken { what: format!("{things} wrong") })
        }
    }
}

/// Everything that a command would load, with every problem of each file.
fn look_at_files(project: &Project, findings: &mut Vec<HealthCheck>) {
    let files = project.load();
    let catalog = files.catalog(&project.file);
    if project.n_pushed() > 0 {
        let n = show::counted(project.n_pushed() as u64, "pushed file");
        let what = format!("{n}, used by every node in place of the files here");
        findings.push(HealthCheck { what, state: Health::Well });
    }
    for (_, file) in &files.agents {
        let what = format!("the agent {}", file.agent.id);
        findings.push(HealthCheck { what, state: Health::WellFile });
    }
    for bad in &files.left_out {
        let role = match bad.role {
            FileRole::Agent => "agent",
            FileRole::Workflow => "workflow",
        };
        let (what, advice) = (format!("the {role} {}", bad.name), format!("edit {}", bad.origin));
        findings.push(HealthCheck { what, state: ill_file(&bad.failure, advice) });
    }
    for (name, used, result) in files.checked_workflows(&catalog) {
        let what = format!("the workflow {name}");
        let state = match (result, used) {
            (Ok(()), _) => Health::WellFile,
            (Err(failure), WorkflowUse::BuiltInDefault | WorkflowUse::BuiltIn) => Health::Waits {
                advice: format!(
                    "it is built in, and an agent of yours does not fit it: rename the agent, or \
                     name another workflow in `{PROJECT_FILE}`, or type `baton workflow eject \
                     {name}` and change it\n{}",
                    problem_lines(&failure)
                ),
            },
            (Err(failure), WorkflowUse::Own) => {
                ill_file(&failure, format!("`baton workflow check {name}` checks it again"))
            }
        };
        findings.push(HealthCheck { what, state });
    }
    if let Some(failure) = project.unknown_agents(&files) {
        let what = format!("[agents] of {PROJECT_FILE}");
        findings.push(HealthCheck { what, state: ill_file(&failure, "edit it".to_owned()) });
    }
    if let Some(problem) = catalog.no_default() {
        let (what, advice) = (PROJECT_FILE.to_owned(), "edit it".to_owned());
        findings.push(HealthCheck { what, state: Health::Ill { problem, advice } });
    }
}

fn ill_file(failure: &Failure, advice: String) -> Health {
    match failure.file_problems() {
        [] => Health::Ill { problem: failure.to_string(), advice },
        problems => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Health::Ill { problem: format!("{failure}\n{}", lines.join("\n")), advice }
        }
    }
}

fn problem_lines(failure: &Failure) -> String {
    let lines: Vec<String> =
        failure.file_problems().iter().map(|it| format!("    - {it}")).collect();
    lines.join("\n")
}

async fn look_at_data(
    cli: &Cli,
    project: Project,
    findings: &mut Vec<HealthCheck>,
) -> Result<(), Failure> {
    if let Some(database) = project.database.clone() {
        return database::look(cli, project, &database, findings).await;
    }
    let folder = project.data_dir();
    let place = project.place();
    let server = match &folder {
        Ok(folder) => server_of(folder).await,
        // What prevents opening the folder is reported with the data.
        Err(_) => None,
    };
    let is_ill = server.as_ref().is_some_and(|it| matches!(it.state, Health::Ill { .. }));
    // Until the server is stopped, its own advice about the data and its copies applies.
    if let (Ok(folder), false) = (&folder, is_ill) {
        left_over::look(&project, folder, findings)?;
    }
    let data = match Data::open(project).await {
        Ok(data) => data,
        Err(failure) => {
            // A server may still have data open that can no longer be opened, and knows what
            // happened to it.
            findings.extend(server);
            if is_ill {
                return Ok(());
            }
            let advice = advice_on(failure.write_fault());
            findings.push(finding(format!("the data in {place}"), Err(failure), || advice));
            return Ok(());
        }
    };
    match &data {
        Data::Beside { .. } => findings.extend(server),
        Data::Ours(session) => {
            look_at_mark(session, findings).await?;
            let fault = session.engine.write_fault();
            let folder_fault = folder.as_ref().ok().and_then(fault_of_folder);
            if let Some(fault) = fault.or(folder_fault) {
                let advice = advice_on(Some(fault.clone()));
                let cannot = Err(Failure::Engine(StoreError::Unwritable(fault).into()));
                findings.push(finding(format!("the disk of {place}"), cannot, || advice));
            }
        }
    }
    look_inside(cli, data, &place, findings).await
}

/// What the mark of the file and the archive know, and the file does not.
async fn look_at_mark(session: &Session, findings: &mut Vec<HealthCheck>) -> Result<(), Failure> {
    let ahead = archive::ahead_of(&session.project, session.store.as_ref()).await?;
    let lost = match &session.backend {
        StoreBackend::Folder(it) => it.store.mark_state().loss(),
        StoreBackend::Database(_) => None,
    };
    if let Some(lost) = lost {
        let what = cannot_tell(lost);
        let state = match ahead.first() {
            Some(first) => Health::Ill { problem: first.clone(), advice: SETTLE_MARK.to_owned() },
            None => Health::Waits { advice: SETTLE_MARK.to_owned() },
        };
        findings.push(HealthCheck { what, state });
    }
    let advice = match &session.backend {
        StoreBackend::Folder(_) => {
            "`baton recover` brings it back; after the restore of an older backup it is what came \
             later"
        }
        StoreBackend::Database(_) => {
            "the database was set back to an older state: look for what came later in its backups"
        }
    };
    for what in ahead {
        findings.push(HealthCheck { what, state: Health::Waits { advice: advice.to_owned() } });
    }
    Ok(())
}

/// Every chain, the archive, and what waits.
async fn look_inside(
    cli: &Cli,
    data: Data,
    place: &str,
    findings: &mut Vec<HealthCheck>,
) -> Result<(), Failure> {
    let verified = data.verify().await;
    let api = Api::over_data(data, principal(cli)?, cli.format());
    let looked = match verified {
        Ok(verified) => look_at_runs(&api, &verified, place, findings).await,
        Err(failure) => {
            let advice = "mend that first, then type `baton doctor` again".to_owned();
            findings.push(finding(format!("the data in {place}"), Err(failure), || advice));
            Ok(())
        }
    };
    api.close().await;
    looked
}

/// The status of the server that has the data, if any.
async fn server_of(folder: &Dir) -> Option<HealthCheck> {
    match holder(folder).await {
        Ok(DataHolder::Server(server)) => Some(look_at_server(&server).await),
        // Any problem is reported when the data is opened.
        Ok(DataHolder::Us(_)) | Err(_) => None,
    }
}

/// The server's own status.
async fn look_at_server(server: &RemoteServer) -> HealthCheck {
    let what = format!("a server has the data: {}", server.url);
    let state = match server.readiness().await {
        Ok((true, text)) if text == "ready" => Health::Well,
        Ok((true, text)) => Health::Waits { advice: format!("it is {text}") },
        Ok((false, problem)) => {
            let advice = "do what it says, then type `baton doctor` again".to_owned();
            Health::Ill { problem, advice }
        }
        Err(failure) => {
            let advice = "look at what it printed, or start it again".to_owned();
            Health::Ill { problem: failure.to_string(), advice }
        }
    };
    HealthCheck { what, state }
}

/// What to do about data that cannot be opened or written.
fn advice_on(fault: Option<WriteFault>) -> String {
    match fault {
        Some(WriteFault::DiskFull) => {
            "make room on that disk, then type `baton doctor` again".to_owned()
        }
        Some(WriteFault::ReadOnly) => {
            "make the folder writable for you, then type `baton doctor` again".to_owned()
        }
        Some(WriteFault::DatabaseReadOnly) => {
            "make the database writable, then type `baton doctor` again".to_owned()
        }
        Some(WriteFault::Unmarked { .. }) => {
            "make `baton.mark` writable for you, then type `baton doctor` again".to_owned()
        }
        Some(WriteFault::Replaced { .. } | WriteFault::Failing) | None => {
            "type `baton recover`, or `baton restore FILE --replace` with a backup".to_owned()
        }
    }
}

async fn look_at_runs(
    api: &Api,
    verified: &Verified,
    place: &str,
    findings: &mut Vec<HealthCheck>,
) -> Result<(), Failure> {
    let runs = show::counted(verified.n_runs, "run");
    let what = format!("{runs} and {} in {place}", show::counted(verified.n_events, "event"));
    let sound = match verified.problems.as_slice() {
        [] => Ok(()),
        problems => Err(Failure::Broken { what: problems.join("; ") }),
    };
    let is_database = api.project().is_some_and(|it| it.database.is_some());
    let advice = || match api.server() {
        Some(_) => "stop the server, then type `baton recover`, which saves all that is whole",
        None if is_database => {
            "stop the nodes, and restore the last backup that `baton verify` finds sound"
        }
        None => "type `baton recover`, which saves all that is whole",
    };
    findings.push(finding(what, sound, || advice().to_owned()));
    look_at_archive(api, findings).await?;
    let n_waiting = api.list::<InboxItemDocument>(Ask::get(["inbox"])).await?.items.len();
    if n_waiting > 0 {
        let advice = "type `baton inbox`".to_owned();
        let items = show::counted_as(n_waiting as u64, "item waits", "items wait");
        let what = format!("{items} for a person");
        findings.push(HealthCheck { what, state: Health::Waits { advice } });
    }
    let open = "pending,clarification,accepted,parked";
    let stale = Ask::get(["handoffs"]).with("stale", true).with("state", open);
    let n_stale = api.list::<HandoffSummary>(stale).await?.items.len();
    if n_stale > 0 {
        let advice = "type `baton handoff list --stale`; \
                      `baton handoff timeout HANDOFF` gives up on one"
            .to_owned();
        let handoffs = show::counted_as(n_stale as u64, "handoff is", "handoffs are");
        let what = format!("{handoffs} stale");
        findings.push(HealthCheck { what, state: Health::Waits { advice } });
    }
    Ok(())
}

async fn look_at_archive(api: &Api, findings: &mut Vec<HealthCheck>) -> Result<(), Failure> {
    if api.project().is_none_or(|it| it.file.archive.is_none()) {
        return Ok(());
    }
    if let Some(session) = api.session() {
        findings.push(look_at_own_archive(session).await?);
        return Ok(());
    }
    let archive: ArchiveDocument = match api.get(&Ask::get(["archive"])).await {
        Ok(archive) => archive,
        Err(Failure::Refused { problem, .. }) if problem.code == "no_archive" => {
            let advice = "start the server again: its project file had no `[archive]` yet";
            let state = Health::Waits { advice: advice.to_owned() };
            findings.push(HealthCheck { what: "the archive".to_owned(), state });
            return Ok(());
        }
        Err(failure) => return Err(failure),
    };
    let written = archive.problem.map_or(Ok(()), |what| Err(Failure::Broken { what }));
    let what = format!("the archive in {}", archive.sessions);
    let advice = || "make room or mend the path, then type `baton archive rebuild`".to_owned();
    let mut check = finding(what, written, advice);
    if matches!(check.state, Health::Well)
        && archive.behind == 0
        && let Some(project) = api.project()
    {
        let newest = Ask::get(["runs"]).with("order", "newest").with("limit", "1");
        let runs: Page<RunDocument> = api.get(&newest).await?;
        check.state = health_of_sessions(project, runs.items.first().map_or(0, |it| it.number))?;
    }
    findings.push(check);
    Ok(())
}

/// Where no server writes the archive, it is checked and not written.
async fn look_at_own_archive(session: &Session) -> Result<HealthCheck, Failure> {
    let sessions = session.project.file.archive.as_ref().map(|it| it.sessions.as_str());
    let what = format!("the archive in {}", sessions.unwrap_or_default());
    if let Err(error) = archive::folders(&session.project) {
        let advice = || "make room or mend the path, then type `baton archive rebuild`".to_owned();
        return Ok(finding(what, Err(error.into()), advice));
    }
    let behind = match &session.archive {
        Some(archive) => archive.behind().await?,
        None => 0,
    };
    let state = match behind {
        0 => {
            let newest = RunFilter { order: Order::NewestFirst, limit: 1, ..RunFilter::default() };
            let runs = session.store.runs(&newest).await?;
            health_of_sessions(&session.project, runs.first().map_or(0, |it| it.number))?
        }
        n => Health::Waits {
            advice: format!(
                "{} not in it yet; the next command that changes something writes them",
                show::counted_as(n, "event is", "events are")
            ),
        },
    };
    Ok(HealthCheck { what, state })
}

/// Whether the archive has a folder for each run. Runs are numbered without a gap.
fn health_of_sessions(project: &Project, n_runs: u64) -> Result<Health, Failure> {
    let sessions = archive::folders(project)?.and_then(|it| it.sessions);
    let entries = sessions.map_or(Ok(Vec::new()), |it| it.list())?;
    let is_session = |name: &OsStr| name.to_str().is_some_and(|it| Uuid::try_parse(it).is_ok());
    let n_sessions =
        entries.iter().filter(|(name, it)| it.is_folder() && is_session(name)).count() as u64;
    if n_sessions >= n_runs {
        return Ok(Health::Well);
    }
    let advice = format!(
        "it has {n_sessions} of {}; type `baton archive rebuild` to write the rest",
        show::counted(n_runs, "run")
    );
    Ok(Health::Waits { advice })
}

fn finding(
    what: String,
    result: Result<(), Failure>,
    advice: impl FnOnce() -> String,
) -> HealthCheck {
    let state = match result {
        Ok(()) => Health::Well,
        Err(failure) => Health::Ill { problem: failure.to_string(), advice: advice() },
    };
    HealthCheck { what, state }
}

fn tell(format: OutputFormat, findings: &[HealthCheck]) {
    if format == OutputFormat::Json {
        let pasted = |text: &str| Node::text(show::pasted(text));
        let nodes = findings.iter().map(|it| {
            let (state, problem, advice) = match &it.state {
                Health::Well | Health::WellFile => ("well", Node::Null, Node::Null),
                Health::Waits { advice } => ("waits", Node::Null, pasted(advice)),
                Health::Ill { problem, advice } => ("ill", pasted(problem), pasted(advice)),
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
    let n_files = findings.iter().filter(|it| matches!(it.state, Health::WellFile)).count() as u64;
    if n_files > 0 {
        let files = show::counted_as(n_files, "agent or workflow", "agents and workflows");
        show::answer(&format!("{} {files}", show::good("✔")));
    }
    for HealthCheck { what, state } in findings {
        let what = show::visible(what);
        show::answer(&match state {
            Health::WellFile => continue,
            Health::Well => format!("{} {what}", show::good("✔")),
            Health::Waits { advice } => {
                format!("{} {what}: {}", show::warn("•"), show::pasted(advice))
            }
            Health::Ill { problem, advice } => {
                let (problem, advice) = (show::pasted(problem), show::pasted(advice));
                format!("{} {what}: {}\n    {advice}", show::warn("✘"), show::visible(&problem))
            }
        });
    }
    show::answer(&verdict(findings));
}

/// The last line: what is well is only counted.
fn verdict(findings: &[HealthCheck]) -> String {
    let n_of = |is: fn(&Health) -> bool| findings.iter().filter(|it| is(&it.state)).count() as u64;
    let n_well = n_of(|it| matches!(it, Health::Well | Health::WellFile));
    let n_waiting = n_of(|it| matches!(it, Health::Waits { .. }));
    let n_ill = n_of(|it| matches!(it, Health::Ill { .. }));
    let looked = show::counted(findings.len() as u64, "check");
    match (n_ill, n_waiting) {
        (0, 0) => format!("{} all is well: {looked}", show::good("✔")),
        (0, n) => {
            let waits = show::counted_as(n, "thing waits", "things wait");
            format!(
                "{} nothing is wrong; {waits} for you; {looked}, {n_well} well",
                show::warn("•")
            )
        }
        // How many are wrong is the error of the command.
        (_, _) => format!("{looked}, {n_well} well"),
    }
}
