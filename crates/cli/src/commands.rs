//! Carries out what was typed: one file a noun.

mod agent;
mod answer;
mod archive;
mod backup;
mod convert;
mod demo;
mod doctor;
mod evidence;
mod extract;
mod handoff;
mod inbox;
mod init;
mod lint;
mod open;
mod outcome;
mod prompt;
mod recover;
mod run;
mod schema;
mod serve;
mod status;
mod stop;
mod story;
mod verify;
mod watch;
mod workflow;

use clap::CommandFactory as _;

use crate::api::Api;
use crate::args::{Cli, Command};
use crate::data::Data;
use crate::failure::Failure;
use crate::project::Project;
use crate::show;

pub(crate) async fn run(cli: Cli) -> Result<(), Failure> {
    if cli.server.is_some() && !asks_a_server(&cli.command) {
        let message = "this works on the project's own files and data; leave `--server` out";
        return Err(Failure::Usage(message.to_owned()));
    }
    match &cli.command {
        Command::Init { new_data: false } => init::run(&cli),
        Command::Init { new_data: true } => init::begin_anew(&cli).await,
        Command::Demo(demo) => demo::run(&cli, demo).await,
        Command::Serve(serve) => serve::run(&cli, serve).await,
        Command::Watch(watch) => watch::run(&cli, watch).await,
        Command::Open(open) => open::run(&cli, open).await,
        Command::Workflow(verb) => workflow::run(&cli, verb),
        Command::Agent(verb) => agent::run(&cli, verb),
        Command::Doctor => doctor::run(&cli).await,
        Command::Restore { file, replace } => backup::restore(&cli, file, *replace).await,
        Command::Recover(args) => recover::run(&cli, args).await,
        Command::Convert(convert) => convert::run(convert),
        Command::Lint(lint) => lint::run(&cli, lint),
        Command::Extract(extract) => extract::run(extract, cli.format()),
        Command::Schema { name } => schema::run(name.as_deref()),
        Command::Completions { shell } => {
            let mut command = Cli::command();
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command, "baton", &mut script);
            show::answer(&String::from_utf8_lossy(&script));
            Ok(())
        }
        Command::Backup { file } => {
            let data = Data::open(Project::of(&cli)?).await?;
            let result = backup::back_up(&data, cli.format(), file).await;
            data.close().await;
            result
        }
        Command::Verify => {
            let project = Project::of(&cli)?;
            verify::run(&project, cli.format()).await
        }
        Command::Status
        | Command::Story(_)
        | Command::Run(_)
        | Command::Handoff(_)
        | Command::Prompt(_)
        | Command::Inbox
        | Command::Approve(_)
        | Command::Reject(_)
        | Command::Modify(_)
        | Command::Answer(_)
        | Command::Evidence(_)
        | Command::Archive(_) => {
            let api = Api::open(&cli).await?;
            let result = ask(&api, &cli.command).await;
            api.close().await;
            result
        }
    }
}

/// True for what is a request to the API, or to a server's page.
fn asks_a_server(command: &Command) -> bool {
    match command {
        Command::Status
        | Command::Story(_)
        | Command::Run(_)
        | Command::Handoff(_)
        | Command::Prompt(_)
        | Command::Inbox
        | Command::Approve(_)
        | Command::Reject(_)
        | Command::Modify(_)
        | Command::Answer(_)
        | Command::Evidence(_)
        | Command::Archive(_)
        | Command::Watch(_)
        | Command::Open(_) => true,
        Command::Init { .. }
        | Command::Demo(_)
        | Command::Serve(_)
        | Command::Workflow(_)
        | Command::Agent(_)
        | Command::Doctor
        | Command::Verify
        | Command::Backup { .. }
        | Command::Restore { .. }
        | Command::Recover(_)
        | Command::Convert(_)
        | Command::Lint(_)
        | Command::Extract(_)
        | Command::Schema { .. }
        | Command::Completions { .. } => false,
    }
}

/// What is a request to the API.
async fn ask(api: &Api, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Status => status::run(api).await,
        Command::Story(verb) => story::run(api, verb).await,
        Command::Run(verb) => run::run(api, verb).await,
        Command::Handoff(verb) => handoff::run(api, verb).await,
        Command::Prompt(prompt) => prompt::run(api, prompt).await,
        Command::Inbox => inbox::run(api).await,
        Command::Approve(say) => answer::approve(api, say).await,
        Command::Reject(say) => answer::reject(api, say).await,
        Command::Modify(modify) => answer::modify(api, modify).await,
        Command::Answer(answer) => answer::run(api, answer).await,
        Command::Evidence(evidence) => evidence::run(api, evidence).await,
        Command::Archive(verb) => archive::run(api, *verb).await,
        Command::Init { .. }
        | Command::Demo(_)
        | Command::Serve(_)
        | Command::Watch(_)
        | Command::Open(_)
        | Command::Workflow(_)
        | Command::Agent(_)
        | Command::Doctor
        | Command::Verify
        | Command::Backup { .. }
        | Command::Restore { .. }
        | Command::Recover(_)
        | Command::Convert(_)
        | Command::Lint(_)
        | Command::Extract(_)
        | Command::Schema { .. }
        | Command::Completions { .. } => unreachable!("it is carried out without the API"),
    }
}
