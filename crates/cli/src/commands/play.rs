//! `baton play`: plays the part of an agent in a script. A runner starts it for the executor `scripted`.

use std::sync::Arc;

use baton_api::{HandoffSummary, QuestionAnswer};
use baton_core::names::AgentId;
use baton_runner::{PlayContext, PlayEnd, PlayError, play};
use baton_wire::script_file::{self, Script};

use crate::api::{Api, Ask, RemoteServer};
use crate::args::Cli;
use crate::failure::Failure;
use crate::named_file;
use crate::runners::{OverNetwork, environment};
use crate::session::principal;
use crate::show;

#[expect(clippy::disallowed_methods, reason = "a runner tells its agents in the environment")]
fn variable(name: &str) -> Result<String, Failure> {
    std::env::var(name).map_err(|_| {
        let why = "a runner starts this, for an executor of the kind `scripted`";
        Failure::Usage(format!("{name} is not set: {why}"))
    })
}

pub(crate) async fn run(cli: &Cli, file: &str) -> Result<(), Failure> {
    let text = named_file::text(file)?;
    let script = script_file::parse(&text)
        .map_err(|problems| Failure::File { file: file.to_owned(), problems })?;
    let program =
        std::env::current_exe().map_err(|error| Failure::io("find this program", error))?;
    let folder = std::env::current_dir().map_err(|error| Failure::io("see this folder", error))?;
    let context = PlayContext {
        agent: AgentId::parse(&variable("BATON_AGENT")?)?,
        handoff: variable("BATON_HANDOFF")?,
        run: variable("BATON_RUN")?,
        story: variable("STORY_ID")?,
        folder,
        written: variable("OUTPUT_DIRECTORY")?.into(),
        token: variable("BATON_TOKEN")?,
        env: environment(),
        program,
    };
    let Some(server) = RemoteServer::named(cli)? else { return Err(Failure::NoServer) };
    let api = Api::at(server.clone(), principal(cli)?);
    if answer_question(&api, &script, &context).await? {
        return Ok(());
    }
    let transport = Arc::new(OverNetwork::Named(server));
    // What the runner has to say is in the prompt; the script knows it already.
    match play(&script, context, transport, &mut std::io::stdout()).await {
        Ok(PlayEnd::Done) => Ok(()),
        Ok(PlayEnd::Exit(code)) => std::process::exit(code.into()),
        Ok(PlayEnd::Die) => {
            let own = rustix::process::getpid();
            let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
            std::future::pending().await
        }
        Err(error @ PlayError::Print(_)) => Err(Failure::io("print", std::io::Error::other(error))),
        Err(error) => Err(Failure::Conflict(error.to_string())),
    }
}

/// Answers the handoff where it is a question about work that the agent handed on, of which its turns know
/// nothing.
async fn answer_question(
    api: &Api,
    script: &Script,
    context: &PlayContext,
) -> Result<bool, Failure> {
    let Some(answer) = script.answer(&context.agent) else { return Ok(false) };
    let asked: HandoffSummary = api.get(&Ask::get(["handoffs", &context.handoff])).await?;
    if asked.kind.name() != "question" {
        return Ok(false);
    }
    let agent = Some(context.agent.to_string());
    let body = QuestionAnswer { answer: answer.to_owned(), agent, fence: None };
    api.send(&Ask::post(["handoffs", &context.handoff, "answer"], &body)).await?;
    show::answer("I was asked about my work, and have answered");
    Ok(true)
}
