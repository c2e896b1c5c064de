//! What a runner needs of this machine: the secret it shares with its server, what the user trusts, the
//! environment, and a way to the API.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use baton_core::decide::IdSource as _;
use baton_core::evidence::PACKAGE_CHECK;
use baton_core::hash::Hash;
use baton_core::names::AgentId;
use baton_core::workflow::Edge;
use baton_engine::{Catalog, Clock as _, SystemClock};
use baton_files::{Dir, FileMode};
use baton_http::{Local, RunnerKey, ServerNotice};
use baton_runner::{ApiTransport, Programs, RunnerOptions, TrustList, Unreachable};
use baton_wire::project_file::ProjectFile;
use bytes::Bytes;
use http::{Request, Response};

use crate::api::{DataHolder, RemoteServer, holder, node_of};
use crate::args::{DATABASE_VARIABLE, TOKEN_VARIABLE, TypedToken};
use crate::failure::Failure;
use crate::named_file;
use crate::project::{Project, ProjectDatabase};
use crate::server_list::ServerList;
use crate::show;

/// In the data folder, for its owner alone.
const KEY_FILE: &str = "runner.key";
const NEW_KEY_FILE: &str = ".runner.key.new";
const MOST_KEY_BYTES: u64 = 1024;

/// The secret of a server, and the file that was there before it.
pub(crate) struct ServerKey {
    pub(crate) key: RunnerKey,
    replaced: Option<PathBuf>,
}

/// The secret of the server that has this data. One that Baton did not make here for this user is not
/// taken: the one who prepared the folder would know it.
pub(crate) fn runner_key(data: &Dir) -> Result<ServerKey, Failure> {
    if let Some(key) = own_key(data)? {
        return Ok(ServerKey { key, replaced: None });
    }
    let replaced = data.entry(KEY_FILE)?.map(|_| data.path().join(KEY_FILE));
    let key = RunnerKey::new(fresh_secret());
    write_key(data, &key)?;
    Ok(ServerKey { key, replaced })
}

/// The secret of all nodes of a database, for the runners of this folder too.
pub(crate) fn shared_runner_key(data: &Dir, secret: [u8; 32]) -> Result<ServerKey, Failure> {
    let key = RunnerKey::new(secret);
    let known = own_key(data)?.map(|it| it.credential());
    if known.as_ref() != Some(&key.credential()) {
        write_key(data, &key)?;
    }
    Ok(ServerKey { key, replaced: None })
}

pub(crate) fn fresh_secret() -> [u8; 32] {
    let random = [SystemClock.nonce(), SystemClock.nonce(), SystemClock.nonce()].concat();
    Hash::of(&random).0
}

fn write_key(data: &Dir, key: &RunnerKey) -> Result<(), Failure> {
    // A killed process leaves it.
    data.remove(NEW_KEY_FILE)?;
    let mut file = data.create_new(NEW_KEY_FILE, FileMode::Private)?;
    let line = format!("{}\n{}\n", key.credential(), key_mark(data, NEW_KEY_FILE)?);
    file.write(line.as_bytes())?;
    file.sync()?;
    if data.entry(KEY_FILE)?.is_some() {
        data.remove(KEY_FILE)?;
    }
    data.rename(NEW_KEY_FILE, data, KEY_FILE)?;
    Ok(())
}

impl ServerKey {
    /// Says that there is a new secret, where it is in the place of another.
    pub(crate) fn tell_replaced(&self) {
        if let Some(path) = &self.replaced {
            show::note(&format!(
                "{} `{}` was not made here for you, so there is a new one; a runner on another machine needs it",
                show::warn("careful:"),
                path.display()
            ));
        }
    }
}

/// The secret, if there is one that Baton made here for this user.
fn own_key(data: &Dir) -> Result<Option<RunnerKey>, Failure> {
    let is_there = data.entry(KEY_FILE)?.is_some_and(|it| it.is_file());
    if !is_there || !data.is_for_owner_alone(KEY_FILE)? {
        return Ok(None);
    }
    let text = data.read_text(KEY_FILE, MOST_KEY_BYTES)?;
    let (credential, mark) = text.split_once('\n').unwrap_or((&text, ""));
    let is_own = mark.trim_end() == key_mark(data, KEY_FILE)?;
    Ok(RunnerKey::parse(credential).filter(|_| is_own))
}

/// The file's own number in its file system: a copy, or a file out of an archive, has another one.
fn key_mark(data: &Dir, name: &str) -> Result<String, Failure> {
    let identity = data.entry(name)?.and_then(|it| it.identity);
    Ok(format!("file {}", identity.map_or(0, |it| it.inode)))
}

/// The credential of a runner: of the file that was named, or of the environment, for a server elsewhere; else
/// of the data.
#[expect(
    clippy::disallowed_methods,
    reason = "a credential for another machine is in the environment"
)]
pub(crate) fn credential(data: &Dir, typed: Option<&TypedToken>) -> Result<String, Failure> {
    let in_file = typed.and_then(TypedToken::file).map(named_file::text).transpose()?;
    let in_environment = || std::env::var(TOKEN_VARIABLE).ok();
    match in_file.or_else(in_environment).filter(|it| !it.trim().is_empty()) {
        // The whole file was given: the first line of it is meant.
        Some(text) => Ok(text.trim().lines().next().unwrap_or_default().to_owned()),
        None if typed.is_some() => Err(Failure::Usage(format!(
            "`--token` is empty: give the first line of `runner.key` of the server, `@FILE`, or set {TOKEN_VARIABLE}"
        ))),
        None => own_key(data)?.map(|it| it.credential()).ok_or_else(|| {
            let path = data.path().join(KEY_FILE);
            Failure::NotFound(format!(
                "`{}` is missing, or was not made here for you: for a server of this project start that first; \
                 for one elsewhere give the first line of its `runner.key` with `--token` or in {TOKEN_VARIABLE}",
                path.display()
            ))
        }),
    }
}

/// The list of what this user trusts.
#[expect(clippy::disallowed_methods, reason = "where the user's state is, the environment says")]
pub(crate) fn trust_list() -> Result<TrustList, Failure> {
    let named = |name: &str| std::env::var(name).ok().filter(|it| it.starts_with('/'));
    let state = named("XDG_STATE_HOME").map(PathBuf::from);
    let home = || named("HOME").map(|it| PathBuf::from(it).join(".local/state"));
    let state = state.or_else(home).ok_or_else(|| {
        Failure::Usage(
            "neither XDG_STATE_HOME nor HOME is set, so nothing can be trusted".to_owned(),
        )
    })?;
    Ok(TrustList::new(state.join("baton/trusted")))
}

/// What a project would start, and what of that the user has allowed.
pub(crate) struct ProjectTrust {
    pub(crate) wanted: Programs,
    pub(crate) allowed: Programs,
}

impl ProjectTrust {
    pub(crate) fn of(project: &Project) -> Result<Self, Failure> {
        let (runner, checks) = (&project.file.runner, &project.file.checks);
        let wanted = Programs::of(&project.dir, runner, checks, &environment());
        if wanted.is_empty() {
            return Ok(Self { allowed: wanted.clone(), wanted });
        }
        let allowed = trust_list()?.trusted(&project.dir.real_path()?)?;
        Ok(Self { wanted, allowed })
    }

    pub(crate) fn is_given(&self) -> bool {
        self.wanted.is_allowed_by(&self.allowed)
    }
}

pub(crate) fn allow(project: &Project, programs: &Programs) -> Result<(), Failure> {
    Ok(trust_list()?.allow(&project.dir.real_path()?, programs)?)
}

/// Whether a runner would have nothing to do here: no agent has a program, and no work waits for checks. What
/// waits for the check `package` needs no command of the project.
pub(crate) fn is_idle(file: &ProjectFile, catalog: &Catalog) -> bool {
    let checks_package = |edge: &Edge| edge.checks.iter().any(|it| it.as_str() == PACKAGE_CHECK);
    let mut edges = catalog.workflows().flat_map(|it| it.workflow.edges().map(|(_, edge)| edge));
    file.runner.is_idle() && file.checks.is_empty() && !edges.any(checks_package)
}

/// What would be started if it were trusted, a line each.
pub(crate) fn tell_untrusted(trust: &ProjectTrust) {
    show::note(&format!(
        "{} no agents are run: this project would start what you have not allowed yet",
        show::warn("careful:")
    ));
    for (name, program) in &trust.wanted.0 {
        show::note(&format!("  {}: {}", show::visible(name), show::visible(program)));
    }
    show::note("`baton trust` shows what has changed, and allows it; the agents begin then");
}

/// Said wherever people look for work that does not move.
const NOT_STARTED: &str =
    "agents are not started: this project would start what you have not allowed; run `baton trust`";

/// Why no agents are started in this project, if they are not for want of trust.
pub(crate) fn untrusted(project: &Project) -> Option<&'static str> {
    let trust = ProjectTrust::of(project).ok()?;
    (!trust.is_given()).then_some(NOT_STARTED)
}

pub(crate) fn tell_if_untrusted(project: &Project) {
    if let Some(why) = untrusted(project) {
        show::note(&format!("{} {why}", show::warn("careful:")));
    }
}

/// How long a look at what is trusted counts for the pages of a server.
const NOTICE_LASTS: Duration = Duration::from_secs(2);

/// For the pages of a server whose agents may have to wait.
pub(crate) fn untrusted_notice(root: PathBuf) -> ServerNotice {
    let last: Mutex<Option<(Instant, Option<String>)>> = Mutex::default();
    Arc::new(move || {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, notice)) = &*last
            && at.elapsed() < NOTICE_LASTS
        {
            return notice.clone();
        }
        let project = Project::find(Some(&root)).ok();
        let notice = project.and_then(|it| untrusted(&it)).map(str::to_owned);
        *last = Some((Instant::now(), notice.clone()));
        notice
    })
}

/// What to do where no agent has a program.
pub(crate) const NO_EXECUTOR: &str = "\
no agent has an executor, so each waits for you or for a program that calls the API.
`baton agent detect` prints the settings for the coding agents that are installed; for any other program:

  [executors.mine]                     # in .baton/baton.toml
  kind = \"command\"
  run = [\"python3\", \"tools/agent.py\"]  # reads a prompt, and prints its handoff

  [agents.\"*\"]
  executors = [\"mine\"]

then `baton trust`, and `baton serve`";

/// The environment of this process, as far as it is text, without the database and the runner's own credential:
/// no agent has a business there.
pub(crate) fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter(|(name, _)| name != DATABASE_VARIABLE && name != TOKEN_VARIABLE)
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// What a runner of this project works with.
pub(crate) fn options(
    project: &Project,
    data: Dir,
    url: String,
    credential: String,
    (agents, capabilities): (Option<Vec<AgentId>>, Vec<String>),
) -> Result<RunnerOptions, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::io("find this program", error))?;
    Ok(RunnerOptions {
        settings: project.file.runner.clone(),
        checks: project.file.checks.clone(),
        project: Dir::open(&project.dir.real_path()?)?,
        data,
        url,
        credential,
        agents,
        capabilities,
        env: environment(),
        program,
        trust: trust_list()?,
        now: || SystemClock.now(),
    })
}

/// The API in this very process.
pub(crate) struct InProcess(pub(crate) Arc<Local>);

#[async_trait]
impl ApiTransport for InProcess {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Unreachable> {
        Ok(self.0.send(request).await)
    }
}

/// A server: one of those that were named, or the one that has the data at the moment.
pub(crate) enum OverNetwork {
    Named(RemoteServer),
    List(ServerList),
    Holder(Dir),
    /// Any node of a database: another one, once the last does not answer.
    Node {
        database: ProjectDatabase,
        last: Mutex<Option<RemoteServer>>,
    },
}

impl OverNetwork {
    /// The servers of a project, of which this one is at work now.
    pub(crate) fn of(project: &Project, server: RemoteServer) -> Result<Self, Failure> {
        Ok(match &project.database {
            Some(database) => {
                Self::Node { database: database.clone(), last: Mutex::new(Some(server)) }
            }
            None => Self::Holder(project.data_dir()?),
        })
    }
}

#[async_trait]
impl ApiTransport for OverNetwork {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Unreachable> {
        let unreachable = |failure: Failure| Unreachable { why: failure.to_string() };
        let server = match self {
            Self::List(list) => return list.send(request).await.map_err(unreachable),
            Self::Named(server) => server.clone(),
            Self::Holder(data) => match holder(data).await.map_err(unreachable)? {
                DataHolder::Server(server) => server,
                DataHolder::Us(_) => {
                    return Err(Unreachable { why: Failure::NoServer.to_string() });
                }
            },
            Self::Node { database, last } => {
                let known = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
                match known {
                    Some(server) => server,
                    None => node_of(database)
                        .await
                        .and_then(|it| it.ok_or(Failure::NoServer))
                        .map_err(unreachable)?,
                }
            }
        };
        let sent = server.send(request).await;
        if let Self::Node { last, .. } = self {
            let next = sent.is_ok().then_some(server);
            *last.lock().unwrap_or_else(PoisonError::into_inner) = next;
        }
        sent.map_err(unreachable)
    }

    fn url(&self) -> Option<String> {
        match self {
            Self::List(list) => Some(list.url()),
            Self::Named(_) | Self::Holder(_) => None,
            Self::Node { last, .. } => {
                let last = last.lock().unwrap_or_else(PoisonError::into_inner);
                last.as_ref().map(|it| it.url.to_string())
            }
        }
    }
}
