//! Carries out what was typed: one file a noun.

mod agent;
mod answer;
mod archive;
mod backup;
mod demo;
mod doctor;
mod evidence;
mod handoff;
mod inbox;
mod init;
mod outcome;
mod prompt;
mod run;
mod schema;
mod serve;
mod status;
mod stop;
mod story;
mod verify;
mod workflow;

use clap::CommandFactory as _;

use crate::args::{Cli, Command};
use crate::failure::Failure;
use crate::session::Session;
use crate::show;

pub(crate) async fn run(cli: Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Init => init::run(&cli),
        Command::Demo(demo) => demo::run(&cli, demo).await,
        Command::Serve(serve) => serve::run(&cli, serve).await,
        Command::Workflow(verb) => workflow::run(&cli, verb),
        Command::Agent(verb) => agent::run(&cli, verb),
        Command::Doctor => doctor::run(&cli).await,
        Command::Restore { file, replace } => backup::restore(&cli, file, *replace).await,
        Command::Schema { name } => schema::run(name.as_deref()),
        Command::Completions { shell } => {
            let mut command = Cli::command();
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command, "baton", &mut script);
            show::answer(&String::from_utf8_lossy(&script));
            Ok(())
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
        | Command::Archive(_)
        | Command::Backup { .. }
        | Command::Verify => {
            let session = Session::open(&cli).await;
            let session = session.map_err(|it| archive::while_served(&cli.command, it))?;
            let result = with_session(&session, &cli.command).await;
            session.close().await;
            result
        }
    }
}

async fn with_session(session: &Session, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Status => status::run(session).await,
        Command::Story(verb) => story::run(session, verb).await,
        Command::Run(verb) => run::run(session, verb).await,
        Command::Handoff(verb) => handoff::run(session, verb).await,
        Command::Prompt(prompt) => prompt::run(session, prompt).await,
        Command::Inbox => inbox::run(session).await,
        Command::Approve(say) => answer::approve(session, say).await,
        Command::Reject(say) => answer::reject(session, say).await,
        Command::Modify(modify) => answer::modify(session, modify).await,
        Command::Answer(answer) => answer::run(session, answer).await,
        Command::Evidence(evidence) => evidence::run(session, evidence).await,
        Command::Archive(verb) => archive::run(session, verb).await,
        Command::Backup { file } => backup::back_up(session, file).await,
        Command::Verify => verify::run(session).await,
        Command::Init
        | Command::Demo(_)
        | Command::Serve(_)
        | Command::Workflow(_)
        | Command::Agent(_)
        | Command::Doctor
        | Command::Restore { .. }
        | Command::Schema { .. }
        | Command::Completions { .. } => Ok(()),
    }
}
