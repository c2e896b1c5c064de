//! Dispatches the command line: one file per noun.

mod agent;
mod answer;
mod archive;
mod audit;
mod backup;
mod complete;
mod context;
mod convert;
mod decision;
mod demo;
mod do_work;
mod doctor;
mod evidence;
mod explain;
mod extract;
mod handoff;
mod inbox;
mod init;
mod insights;
mod lint;
mod migrate;
mod mine;
mod open;
mod outcome;
mod play;
mod prompt;
mod push;
mod question;
mod recover;
mod run;
mod run_log;
mod runner;
mod schema;
mod serve;
mod status;
mod stop;
mod story;
mod trust;
mod verify;
mod watch;
mod workflow;
mod workspace;

#[cfg(test)]
pub(crate) use self::complete::shell_words;
use crate::api::Api;
use crate::args::{AuditCommand, Cli, CliCommand, RunCommand, WorkflowCommand};
use crate::failure::Failure;

pub(crate) async fn run(cli: Cli) -> Result<(), Failure> {
    if cli.server.is_some() && !asks_a_server(&cli.command) {
        let message = "this works on the project's own files and data; leave `--server` out";
        return Err(Failure::Usage(message.to_owned()));
    }
    match &cli.command {
        CliCommand::Init { new_data: true, .. } => init::begin_anew(&cli).await,
        CliCommand::Init { if_new: true, .. } => init::run(&cli, init::ProjectThere::Kept).await,
        CliCommand::Init { .. } => init::run(&cli, init::ProjectThere::Refused).await,
        CliCommand::Demo(demo) => demo::run(&cli, demo).await,
        CliCommand::Do(args) => do_work::run(&cli, args).await,
        CliCommand::Serve(serve) => serve::run(&cli, serve).await,
        CliCommand::Runner(args) => runner::run(&cli, args).await,
        CliCommand::Play { script } => play::run(&cli, script).await,
        CliCommand::Trust(args) => trust::run(&cli, args),
        CliCommand::Workspace(verb) => workspace::run(&cli, verb).await,
        CliCommand::Watch(watch) => watch::run(&cli, watch).await,
        CliCommand::Open(open) => open::run(&cli, open).await,
        CliCommand::Workflow(verb) => workflow::run(&cli, verb).await,
        CliCommand::Agent(verb) => agent::run(&cli, verb).await,
        CliCommand::Doctor => doctor::run(&cli).await,
        CliCommand::Restore { file, replace } => backup::restore(&cli, file, *replace).await,
        CliCommand::Recover(args) => recover::run(&cli, args).await,
        CliCommand::Migrate(args) => migrate::run(&cli, args).await,
        CliCommand::Push(args) => push::run(&cli, args).await,
        CliCommand::Convert(convert) => convert::run(convert),
        CliCommand::Lint(lint) => lint::run(&cli, lint),
        CliCommand::Extract(extract) => extract::run(extract, cli.format()),
        CliCommand::Schema { name } => schema::run(name.as_deref(), cli.format()),
        CliCommand::Explain { code } => explain::run(code.as_deref(), cli.format()),
        CliCommand::Completions { shell } => complete::script(*shell),
        CliCommand::Complete { shell, words } => {
            complete::run(&cli, shell, words).await;
            Ok(())
        }
        CliCommand::Backup { file } => backup::run(&cli, file).await,
        CliCommand::Verify => verify::run(&cli).await,
        CliCommand::Status => over_api(&cli, async |api| status::run(api).await).await,
        CliCommand::Story(verb) => over_api(&cli, async |api| story::run(api, verb).await).await,
        CliCommand::Run(RunCommand::Log(args)) if args.follow => run_log::follow(&cli, args).await,
        CliCommand::Run(verb) => over_api(&cli, async |api| run::run(api, verb).await).await,
        CliCommand::Take(args) => over_api(&cli, async |api| mine::take(api, args).await).await,
        CliCommand::Done(args) => over_api(&cli, async |api| mine::done(api, args).await).await,
        CliCommand::Handoff(it) => over_api(&cli, async |api| handoff::run(api, it).await).await,
        CliCommand::Prompt(it) => over_api(&cli, async |api| prompt::run(api, it).await).await,
        CliCommand::Inbox => over_api(&cli, async |api| inbox::run(api).await).await,
        CliCommand::Approve(it) => over_api(&cli, async |api| answer::approve(api, it).await).await,
        CliCommand::Delegate(it) => {
            over_api(&cli, async |api| answer::delegate(api, it).await).await
        }
        CliCommand::Reject(say) => over_api(&cli, async |api| answer::reject(api, say).await).await,
        CliCommand::Modify(it) => over_api(&cli, async |api| answer::modify(api, it).await).await,
        CliCommand::Answer(answer) => {
            over_api(&cli, async |api| answer::run(api, answer).await).await
        }
        CliCommand::Evidence(evidence) => {
            over_api(&cli, async |api| evidence::run(api, evidence).await).await
        }
        CliCommand::Decision(it) => over_api(&cli, async |api| decision::run(api, it).await).await,
        CliCommand::Context(it) => over_api(&cli, async |api| context::run(api, it).await).await,
        CliCommand::Question(it) => over_api(&cli, async |api| question::run(api, it).await).await,
        CliCommand::Audit(AuditCommand::Verify(args)) => audit::verify(&cli, args).await,
        CliCommand::Insights(args) => {
            over_api(&cli, async |api| insights::run(api, args).await).await
        }
        CliCommand::Audit(verb) => over_api(&cli, async |api| audit::run(api, verb).await).await,
        CliCommand::Archive(verb) => {
            over_api(&cli, async |api| archive::run(api, *verb).await).await
        }
    }
}

/// Runs a command that is requests to the API: to a server, or to the same routes in this process.
async fn over_api(
    cli: &Cli,
    command: impl AsyncFnOnce(&Api) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let api = Api::open(cli).await?;
    let result = command(&api).await;
    api.close().await;
    result
}

/// True for a request to the API, or to a server's page.
fn asks_a_server(command: &CliCommand) -> bool {
    match command {
        CliCommand::Status
        | CliCommand::Story(_)
        | CliCommand::Run(_)
        | CliCommand::Take(_)
        | CliCommand::Done(_)
        | CliCommand::Handoff(_)
        | CliCommand::Prompt(_)
        | CliCommand::Inbox
        | CliCommand::Approve(_)
        | CliCommand::Delegate(_)
        | CliCommand::Reject(_)
        | CliCommand::Modify(_)
        | CliCommand::Answer(_)
        | CliCommand::Evidence(_)
        | CliCommand::Decision(_)
        | CliCommand::Context(_)
        | CliCommand::Question(_)
        | CliCommand::Archive(_)
        | CliCommand::Insights(_)
        | CliCommand::Audit(
            AuditCommand::Log { .. }
            | AuditCommand::Export { .. }
            | AuditCommand::Checkpoint { .. }
            | AuditCommand::Redact(_)
            | AuditCommand::Retain { .. },
        )
        | CliCommand::Workflow(WorkflowCommand::Diff { .. })
        | CliCommand::Watch(_)
        | CliCommand::Runner(_)
        | CliCommand::Play { .. }
        | CliCommand::Workspace(_)
        | CliCommand::Open(_) => true,
        CliCommand::Init { .. }
        | CliCommand::Demo(_)
        | CliCommand::Do(_)
        | CliCommand::Serve(_)
        | CliCommand::Trust(_)
        | CliCommand::Workflow(_)
        | CliCommand::Agent(_)
        | CliCommand::Doctor
        | CliCommand::Verify
        | CliCommand::Audit(AuditCommand::Verify(_))
        | CliCommand::Backup { .. }
        | CliCommand::Restore { .. }
        | CliCommand::Recover(_)
        | CliCommand::Migrate(_)
        | CliCommand::Push(_)
        | CliCommand::Convert(_)
        | CliCommand::Lint(_)
        | CliCommand::Extract(_)
        | CliCommand::Schema { .. }
        | CliCommand::Explain { .. }
        | CliCommand::Complete { .. }
        | CliCommand::Completions { .. } => false,
    }
}
