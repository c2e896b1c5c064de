//! Every command that works on data is a request to `/api/v1`: handled in this process if no other
//! process has the data open, else sent to the server that has. The result is the same.

mod ask;
mod events;
mod network;
mod place;
mod reply;
mod url;

use baton_api::{AS, ProfileWord};
use baton_core::names::Principal;
use baton_engine::{Clock as _, SystemClock};
use baton_http::Local;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use jiff::Timestamp;
use serde::de::DeserializeOwned;

pub(crate) use self::ask::Ask;
pub(crate) use self::events::{Events, ReceivedEvent};
pub(crate) use self::network::RemoteServer;
use self::place::is_of_other;
pub(crate) use self::place::{DataHolder, holder, lock, node_of, note, server_of};
pub(crate) use self::reply::{ApiReply, Listed};
use crate::args::{Cli, ProfileArg};
use crate::data::Data;
use crate::failure::Failure;
use crate::project::Project;
use crate::session::{Session, principal};
use crate::show::{self, OutputFormat};

pub(crate) struct Api {
    way: Transport,
    principal: Principal,
    pub(crate) format: OutputFormat,
}

/// The token of an agent that a runner started, for the server that gave it.
#[expect(
    clippy::disallowed_methods,
    reason = "a runner gives its agent the token in the environment"
)]
fn token() -> Option<String> {
    std::env::var("BATON_TOKEN").ok().filter(|it| !it.trim().is_empty())
}

enum Transport {
    Alone { session: Box<Session>, local: Local },
    Served { server: RemoteServer, project: Option<Box<Project>> },
}

/// The API's maximum page size.
const MOST_ROWS: &str = "500";

pub(crate) fn warn_not_ready(why: &str) {
    show::note(&format!("{} {}", show::warn("warning:"), show::visible(why)));
}

fn warn_other_project(server: &RemoteServer, project: &Project) {
    show::note(&format!(
        "{} the server {}, {}, has the data of another project than `{}`, which has data of its own; leave \
         the server out to work on that",
        show::warn("warning:"),
        server.url,
        server.source(),
        show::visible(&project.root.display().to_string())
    ));
}

impl Api {
    /// The server that the user names, else the one that has the project's data, else none.
    pub(crate) async fn open(cli: &Cli) -> Result<Self, Failure> {
        let principal = principal(cli)?;
        let format = cli.format();
        if let Some(server) = RemoteServer::named(cli)? {
            let project = match Project::of(cli) {
                Ok(project) => Some(Box::new(project)),
                Err(Failure::NotFound(_)) if cli.project.is_none() => None,
                Err(failure) => return Err(failure),
            };
            if let Some(project) = &project
                && token().is_none()
                && is_of_other(&server, project).await
            {
                warn_other_project(&server, project);
            }
            return Ok(Self { way: Transport::Served { server, project }, principal, format });
        }
        let project = Project::of(cli)?;
        let purpose = cli.command.purpose();
        if let Some(database) = project.database.clone() {
            let session = Session::of_database(project, &database, purpose).await?;
            return Ok(Self::over(session, principal, format));
        }
        match holder(&project.data_dir()?).await? {
            DataHolder::Us(lock) => {
                let session = Session::of(project, lock, purpose).await?;
                Ok(Self::over(session, principal, format))
            }
            DataHolder::Server(server) => {
                let project = Some(Box::new(project));
                let way = Transport::Served { server, project };
                Ok(Self { way, principal, format })
            }
        }
    }

    /// As [`Api::open`], for commands that need a server.
    pub(crate) async fn served(cli: &Cli) -> Result<Self, Failure> {
        let server = match RemoteServer::named(cli)? {
            Some(server) => server,
            None => server_of(&Project::of(cli)?).await?.ok_or(Failure::NoServer)?,
        };
        let way = Transport::Served { server, project: None };
        Ok(Self { way, principal: principal(cli)?, format: cli.format() })
    }

    /// A server at a known address.
    pub(crate) fn at(server: RemoteServer, principal: Principal) -> Self {
        let way = Transport::Served { server, project: None };
        Self { way, principal, format: OutputFormat::Table }
    }

    /// Without a server.
    pub(crate) fn over(session: Session, principal: Principal, format: OutputFormat) -> Self {
        let local = Local::new(session.faces());
        Self { way: Transport::Alone { session: Box::new(session), local }, principal, format }
    }

    /// Over data that is open already: in this process, or in a server.
    pub(crate) fn over_data(data: Data, principal: Principal, format: OutputFormat) -> Self {
        match data {
            Data::Ours(session) => Self::over(*session, principal, format),
            Data::Beside { server, project, .. } => Self {
                way: Transport::Served { server, project: Some(project) },
                principal,
                format,
            },
        }
    }

    /// The server in use, if any.
    pub(crate) fn server(&self) -> Option<&RemoteServer> {
        match &self.way {
            Transport::Alone { .. } => None,
            Transport::Served { server, .. } => Some(server),
        }
    }

    /// The in-process API, where there is no server.
    /// Whether the user has named the server, so that its project may be any.
    pub(crate) fn is_named_server(&self) -> bool {
        self.server().is_some_and(RemoteServer::is_named)
    }

    pub(crate) fn session(&self) -> Option<&Session> {
        match &self.way {
            Transport::Alone { session, .. } => Some(session),
            Transport::Served { .. } => None,
        }
    }

    pub(crate) fn project(&self) -> Option<&Project> {
        match &self.way {
            Transport::Alone { session, .. } => Some(&session.project),
            Transport::Served { project, .. } => project.as_deref(),
        }
    }

    /// The strictness of contracts: as typed, else as the project says, else strict.
    pub(crate) fn profile(&self, argument: &ProfileArg) -> ProfileWord {
        let of_project = || self.project().and_then(Project::profile).unwrap_or_default();
        argument.profile.unwrap_or_else(of_project).into()
    }

    /// The name under which this command is recorded.
    pub(crate) fn caller(&self) -> &str {
        self.principal.as_str()
    }

    pub(crate) fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    /// Sends one request. A refusal is a failure.
    pub(crate) async fn send(&self, ask: &Ask) -> Result<ApiReply, Failure> {
        let response = self.carry_out(self.request(ask)?).await?;
        ApiReply::read(response, self.server())
    }

    /// The bytes of an answer that is no document.
    pub(crate) async fn bytes(&self, ask: &Ask) -> Result<Bytes, Failure> {
        let response = self.carry_out(self.request(ask)?).await?;
        if response.status().is_success() {
            return Ok(response.into_body());
        }
        match ApiReply::read(response, self.server()) {
            Ok(_) => unreachable!("what did not succeed is refused"),
            Err(failure) => Err(failure),
        }
    }

    /// As [`Api::send`], with a typed answer.
    pub(crate) async fn get<T: DeserializeOwned>(&self, ask: &Ask) -> Result<T, Failure> {
        self.send(ask).await?.document()
    }

    /// A complete list, page after page.
    pub(crate) async fn list<T: DeserializeOwned>(&self, ask: Ask) -> Result<Listed<T>, Failure> {
        let first = ask.clone().with("limit", MOST_ROWS);
        let reply = self.send(&first).await?;
        let mut listed = Listed::begin(&reply)?;
        while let Some(next) = listed.next.take() {
            let page = self.send(&first.clone().with("after", &next)).await?;
            listed.go_on(&page)?;
        }
        Ok(listed)
    }

    /// A list that the API gives as a whole, without pages.
    pub(crate) async fn whole_list<T: DeserializeOwned>(
        &self,
        ask: &Ask,
    ) -> Result<Listed<T>, Failure> {
        Listed::begin(&self.send(ask).await?)
    }

    /// Subscribes to events from now on, or after a known event id.
    pub(crate) async fn events(
        &self,
        run: Option<&str>,
        after: Option<&str>,
    ) -> Result<Events, Failure> {
        let Some(server) = self.server() else { return Err(Failure::NoServer) };
        let mut ask = Ask::get(["events"]).with_some("run", run);
        if let Some(id) = after {
            ask = ask.header("last-event-id", id);
        }
        Events::open(server, self.request(&ask)?).await
    }

    /// Why a server that answers still records nothing, in the words of its `/readyz`. Without a
    /// server, opening the data has already warned.
    pub(crate) async fn not_ready(&self) -> Option<String> {
        match self.server()?.readiness().await {
            Ok((false, why)) => Some(why),
            Ok((true, _)) | Err(_) => None,
        }
    }

    /// Prints that warning beside a server's table, which alone looks as if all were well.
    pub(crate) async fn warn_if_not_ready(&self) {
        if let Some(why) = self.not_ready().await {
            warn_not_ready(&why);
        }
    }

    pub(crate) async fn close(self) {
        match self.way {
            Transport::Alone { session, .. } => session.close().await,
            Transport::Served { .. } => {}
        }
    }

    fn request(&self, ask: &Ask) -> Result<Request<Bytes>, Failure> {
        let mut request = ask.request()?;
        let name = HeaderValue::from_bytes(self.principal.as_str().as_bytes())
            .map_err(|_| Failure::Usage("your name cannot be sent".to_owned()))?;
        let headers = request.headers_mut();
        headers.insert(AS, name);
        if let (Some(token), Transport::Served { .. }) = (token(), &self.way) {
            let value = HeaderValue::try_from(format!("Bearer {}", token.trim()));
            let value = value.map_err(|_| Failure::Usage("BATON_TOKEN is no token".to_owned()))?;
            headers.insert(AUTHORIZATION, value);
        }
        headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        Ok(request)
    }

    async fn carry_out(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        match &self.way {
            Transport::Alone { local, .. } => Ok(local.send(request).await),
            Transport::Served { server, .. } => server.send(request).await,
        }
    }
}
