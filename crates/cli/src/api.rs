//! Every command that works on data is a request to `/api/v1`: carried out in this process where
//! nobody else has the data, over the network where a server does. What it means is the same.

mod ask;
mod events;
mod network;
mod place;
mod reply;
mod url;

use baton_core::names::Principal;
use baton_engine::{Clock as _, SystemClock};
use baton_http::Local;
use baton_http::api::{AS, ProfileWord};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderValue};
use http::{Request, Response};
use jiff::Timestamp;
use serde::de::DeserializeOwned;

pub(crate) use self::ask::Ask;
pub(crate) use self::events::{Events, ReceivedEvent};
pub(crate) use self::network::RemoteServer;
pub(crate) use self::place::{DataHolder, holder, lock, note};
pub(crate) use self::reply::{ApiReply, Listed};
use crate::args::{Cli, ProfileArg, ProfileName};
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

enum Transport {
    Alone { session: Box<Session>, local: Local },
    Served { server: RemoteServer, project: Option<Box<Project>> },
}

/// By which a server that is started without further words is called.
const USUAL_HOST: HeaderValue = HeaderValue::from_static("127.0.0.1:4180");

/// As many as the API gives at once.
const MOST_ROWS: &str = "500";

pub(crate) fn warn_not_ready(why: &str) {
    show::note(&format!("{} {}", show::warn("warning:"), show::visible(why)));
}

impl Api {
    /// The server that somebody names, else the one that has the project's data, else none.
    pub(crate) async fn open(cli: &Cli) -> Result<Self, Failure> {
        let principal = principal(cli)?;
        let format = cli.format();
        if let Some(server) = RemoteServer::named(cli)? {
            let project = match Project::of(cli) {
                Ok(project) => Some(Box::new(project)),
                Err(Failure::NotFound(_)) if cli.project.is_none() => None,
                Err(failure) => return Err(failure),
            };
            return Ok(Self { way: Transport::Served { server, project }, principal, format });
        }
        let project = Project::of(cli)?;
        match holder(&project.data_dir()?).await? {
            DataHolder::Us(lock) => {
                let session = Session::of(project, lock, cli.command.purpose()).await?;
                Ok(Self::over(session, principal, format))
            }
            DataHolder::Server(server) => {
                let project = Some(Box::new(project));
                let way = Transport::Served { server, project };
                Ok(Self { way, principal, format })
            }
        }
    }

    /// As [`Api::open`], for what only a server can do.
    pub(crate) async fn served(cli: &Cli) -> Result<Self, Failure> {
        let server = match RemoteServer::named(cli)? {
            Some(server) => server,
            None => match holder(&Project::of(cli)?.data_dir()?).await? {
                DataHolder::Us(_) => return Err(Failure::NoServer),
                DataHolder::Server(server) => server,
            },
        };
        let way = Transport::Served { server, project: None };
        Ok(Self { way, principal: principal(cli)?, format: cli.format() })
    }

    /// Without a server.
    pub(crate) fn over(session: Session, principal: Principal, format: OutputFormat) -> Self {
        let local = Local::new(session.engine.clone());
        Self { way: Transport::Alone { session: Box::new(session), local }, principal, format }
    }

    /// Over data that is open already, ours or another's.
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

    /// The server that is asked, where there is one.
    pub(crate) fn server(&self) -> Option<&RemoteServer> {
        match &self.way {
            Transport::Alone { .. } => None,
            Transport::Served { server, .. } => Some(server),
        }
    }

    /// What is asked where no server is.
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

    /// How severe contracts are taken: as typed, else as the project says, else strictly.
    pub(crate) fn profile(&self, argument: &ProfileArg) -> ProfileWord {
        match argument.profile {
            Some(ProfileName::Lenient) => ProfileWord::Lenient,
            Some(ProfileName::Strict) => ProfileWord::Strict,
            None => self.project().map_or(ProfileWord::Strict, Project::profile),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    /// Sends one request. What is refused is a failure.
    pub(crate) async fn send(&self, ask: &Ask) -> Result<ApiReply, Failure> {
        let response = self.carry_out(self.request(ask)?).await?;
        ApiReply::read(response, self.server())
    }

    /// As [`Api::send`], for an answer of which there is a type.
    pub(crate) async fn get<T: DeserializeOwned>(&self, ask: &Ask) -> Result<T, Failure> {
        self.send(ask).await?.document()
    }

    /// All of a list, page after page.
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

    /// What happens from now on, or from an id that was heard before.
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

    /// Why the server answers and still records nothing, in the words of its `/readyz`. Without a
    /// server, opening the data has warned already.
    pub(crate) async fn not_ready(&self) -> Option<String> {
        match self.server()?.readiness().await {
            Ok((false, why)) => Some(why),
            Ok((true, _)) | Err(_) => None,
        }
    }

    /// Says so beside what a server shows: the table alone looks as if all were well.
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
        headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        Ok(request)
    }

    async fn carry_out(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        match &self.way {
            Transport::Alone { local, .. } => {
                request.headers_mut().insert(HOST, USUAL_HOST);
                Ok(local.send(request).await)
            }
            Transport::Served { server, .. } => server.send(request).await,
        }
    }
}
