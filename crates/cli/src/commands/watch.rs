//! `baton watch`: live events, one line each.

mod spinner;

use std::collections::HashMap;
use std::time::Duration;

use baton_api::{AgentProfile, HandoffDetail, Page, RunDocument};
use baton_core::agent::Agent;
use baton_core::names::AgentId;
use baton_wire::event;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use self::spinner::Spinner;
use super::stop::stop_signal;
use crate::api::{Api, Ask, Events, ReceivedEvent, warn_not_ready};
use crate::args::{Cli, Watch};
use crate::failure::Failure;
use crate::show::{self, OutputFormat, Telling, TimeFormat};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MOST_PAUSE: Duration = Duration::from_secs(2);
/// How often to ask a silent server whether it still records commands.
const READY_EVERY: Duration = Duration::from_secs(2);

/// The position before the first event.
const BEGINNING: &str = "0.0";

pub(crate) async fn run(cli: &Cli, args: &Watch) -> Result<(), Failure> {
    let api = Api::served(cli).await?;
    tokio::select! {
        followed = follow(cli, api, args) => followed,
        () = stop_signal() => Ok(()),
    }
}

async fn follow(cli: &Cli, mut api: Api, args: &Watch) -> Result<(), Failure> {
    let run: Option<RunDocument> = match &args.run {
        Some(name) => Some(api.get(&Ask::get(["runs", name])).await?),
        None => None,
    };
    let run = run.map(|it| it.id);
    let mut watcher = EventWatcher::new(run, args, cli.format());
    watcher.names = names(&api).await?;
    let mut events = watcher.listen(&api).await?;
    if !args.all
        && let Some(run) = run
        // Checked after the stream is open, so that the run's end is seen here or in the stream.
        && let ended = api.get::<RunDocument>(&Ask::get(["runs", &run.to_string()])).await?
        && !ended.status.is_open()
    {
        show::note(&format!("run {} is {}", ended.number, ended.status.name()));
        return Ok(());
    }
    loop {
        if watcher.hear_all(&api, &mut events).await? == Heeded::RunIsOver {
            return Ok(());
        }
        show::note("the server is gone; what it tells next goes on from here");
        (api, events) = reconnect(cli, async |api| watcher.listen(api).await).await?;
    }
}

/// Retries for ever: a restarted server may have another address.
pub(super) async fn reconnect(
    cli: &Cli,
    listen: impl AsyncFn(&Api) -> Result<Events, Failure>,
) -> Result<(Api, Events), Failure> {
    let mut pause = FIRST_PAUSE;
    loop {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MOST_PAUSE);
        let Ok(api) = Api::served(cli).await else { continue };
        match listen(&api).await {
            Ok(events) => return Ok((api, events)),
            Err(failure @ Failure::Refused { .. }) => return Err(failure),
            Err(_) => {}
        }
    }
}

/// How a stream ended.
#[derive(Debug, PartialEq, Eq)]
enum Heeded {
    RunIsOver,
    ConnectionLost,
}

struct EventWatcher {
    run: Option<Uuid>,
    format: OutputFormat,
    /// The last event id received.
    last: Option<String>,
    /// The last position printed, per run and for all others.
    printed_to: HashMap<Uuid, u64>,
    start: u64,
    times: TimeFormat,
    /// The names of agents, for events that are about no handoff.
    names: HashMap<String, String>,
    spinner: Spinner,
    /// Why the server records nothing, as last printed.
    not_ready: Option<String>,
}

/// The fields of every event message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    run_id: Uuid,
    story_id: String,
    status: Option<String>,
}

/// A message as printed for programs.
#[derive(Serialize)]
struct WatchLine<'a> {
    id: Option<&'a str>,
    event: &'a str,
    data: &'a RawValue,
}

impl EventWatcher {
    fn new(run: Option<Uuid>, args: &Watch, format: OutputFormat) -> Self {
        Self {
            run,
            format,
            last: args.all.then(|| BEGINNING.to_owned()),
            printed_to: HashMap::new(),
            start: 0,
            times: TimeFormat::local(),
            names: HashMap::new(),
            spinner: Spinner::new(format),
            not_ready: None,
        }
    }

    async fn listen(&self, api: &Api) -> Result<Events, Failure> {
        let run = self.run.map(|it| it.to_string());
        api.events(run.as_deref(), self.last.as_deref()).await
    }

    async fn hear_all(&mut self, api: &Api, events: &mut Events) -> Result<Heeded, Failure> {
        self.spinner.look(api, self.run).await;
        // Its first tick comes at once.
        let mut ready = tokio::time::interval(READY_EVERY);
        loop {
            let heard = tokio::select! {
                heard = events.next() => heard,
                _ = ready.tick() => {
                    self.look_if_ready(api).await;
                    continue;
                }
                () = self.spinner.turn() => continue,
            };
            let Some(heard) = heard else {
                self.spinner.clear();
                return Ok(Heeded::ConnectionLost);
            };
            if self.hear(api, &heard).await? == Some(Heeded::RunIsOver) {
                return Ok(Heeded::RunIsOver);
            }
        }
    }

    /// Warns once per reason why nothing is recorded.
    async fn look_if_ready(&mut self, api: &Api) {
        let why = api.not_ready().await;
        if let Some(why) = why.as_ref().filter(|it| self.not_ready.as_ref() != Some(*it)) {
            self.spinner.clear();
            warn_not_ready(why);
        }
        self.not_ready = why;
    }

    async fn hear(&mut self, api: &Api, heard: &ReceivedEvent) -> Result<Option<Heeded>, Failure> {
        self.spinner.clear();
        let position = heard.id.as_deref().and_then(position);
        if self.format == OutputFormat::Json {
            show_line(heard);
        }
        if matches!(heard.name.as_str(), "snapshot" | "reset") {
            self.start = position.unwrap_or(self.start);
            self.printed_to.clear();
        }
        if heard.name == "reset" {
            show::note("the server does not know how far this has come; it goes on from now");
        }
        let about = serde_json::from_str::<About>(&heard.data).ok();
        if let (OutputFormat::Table, Some(about), Some(upto)) = (self.format, &about, position) {
            match self.tell(api, about, upto).await {
                // After a lost connection, the new one is asked for the events not printed yet.
                Err(Failure::Server { .. }) => return Ok(None),
                page => page?,
            }
        }
        self.remember(heard);
        let is_over = heard.name == "WORKFLOW_STATUS_CHANGED"
            && about.is_some_and(|it| {
                let is_ours = self.run == Some(it.run_id);
                is_ours && matches!(it.status.as_deref(), Some("completed" | "cancelled"))
            });
        Ok(is_over.then_some(Heeded::RunIsOver))
    }

    /// A message without an id does not move the cursor.
    fn remember(&mut self, heard: &ReceivedEvent) {
        if heard.id.is_some() {
            self.last.clone_from(&heard.id);
        }
    }

    /// Prints the events of a run that were not printed yet, up to this one.
    async fn tell(&mut self, api: &Api, about: &About, upto: u64) -> Result<(), Failure> {
        let run = about.run_id;
        let mut after = *self.printed_to.get(&run).unwrap_or(&self.start);
        let name = run.to_string();
        let story = show::mark(&show::visible(&about.story_id));
        while after < upto {
            let ask = Ask::get(["runs", &name, "events"]).with("after", after).with("limit", 100);
            let page: Page<baton_api::EventDocument> = api.get(&ask).await?;
            for it in page.items.iter().filter(|it| it.position <= upto) {
                let words = words(api, &name, it, &self.names).await?;
                let time = show::dim(&self.times.clock(it.at));
                show::answer(&format!("{time} {story}  {words}"));
                self.printed_to.insert(run, it.position);
            }
            after = page.items.last().map_or(upto, |it| it.position);
        }
        self.spinner.look(api, self.run).await;
        Ok(())
    }
}

/// `analyst → implementer  handoff 7 offered: "reason"`.
async fn words(
    api: &Api,
    run: &str,
    document: &baton_api::EventDocument,
    names: &HashMap<String, String>,
) -> Result<String, Failure> {
    let body = document.body.as_deref().map_or("", RawValue::get);
    let event = event::decode(body).ok();
    let row = match event.as_ref().and_then(|it| it.handoff()) {
        Some(no) => {
            let ask = Ask::get(["handoffs", &format!("{run}/{}", no.label())]);
            Some(api.get::<HandoffDetail>(&ask).await?)
        }
        None => None,
    };
    let name = |id: &AgentId| {
        let in_handoff = row.as_ref().and_then(|it| name_in(it, id));
        let name = in_handoff.or_else(|| names.get(id.as_str()).cloned());
        let name = name.unwrap_or_else(|| Agent::without_file(id.clone()).name);
        // The id stands beside a name that says nothing.
        if name == Agent::UNKNOWN { format!("{name} ({id})") } else { show::visible(&name) }
    };
    Ok(match &event {
        Some(event) => {
            let (row, message) = (row.as_ref().map(|it| &it.handoff.row), document.text.as_deref());
            Telling { event, row, message, name: &name }.words()
        }
        // A newer server may send unknown events.
        None => show::visible(&document.name),
    })
}

/// The name of an agent in a handoff.
fn name_in(detail: &HandoffDetail, id: &AgentId) -> Option<String> {
    let (row, names) = (&detail.handoff.row, &detail.beside);
    let parties = [(&row.from_agent, &names.from_name), (&row.to_agent, &names.to_name)];
    let name = parties.into_iter().find(|(agent, _)| *agent == id.as_str()).map(|(_, it)| it);
    name.filter(|it| !it.is_empty()).cloned()
}

/// The names of the agents as they are now, by id.
async fn names(api: &Api) -> Result<HashMap<String, String>, Failure> {
    let agents: Page<AgentProfile> = api.get(&Ask::get(["agents"])).await?;
    Ok(agents
        .items
        .into_iter()
        .map(|it| (it.attribution.agent_id, it.attribution.agent_name))
        .collect())
}

fn show_line(heard: &ReceivedEvent) {
    let Ok(data) = serde_json::from_str::<&RawValue>(&heard.data) else { return };
    let line = WatchLine { id: heard.id.as_deref(), event: &heard.name, data };
    match serde_json::to_string(&line) {
        Ok(line) => show::answer_json_line(&line),
        Err(error) => unreachable!("our own types always encode: {error}"),
    }
}

/// The position in an id `EPOCH-POS.K`.
pub(super) fn position(id: &str) -> Option<u64> {
    id.rsplit_once('-')?.1.split_once('.')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_an_id_does_not_forget_the_place() {
        let args = Watch { run: None, all: false };
        let mut watcher = EventWatcher::new(None, &args, OutputFormat::Json);
        let mut hear = |id: Option<&str>| {
            watcher
                .remember(&ReceivedEvent { id: id.map(str::to_owned), ..ReceivedEvent::default() });
            watcher.last.clone()
        };
        assert_eq!(hear(None), None);
        assert_eq!(hear(Some("e-7.0")).as_deref(), Some("e-7.0"));
        assert_eq!(hear(None).as_deref(), Some("e-7.0"));
        assert_eq!(hear(Some("e-8.1")).as_deref(), Some("e-8.1"));
    }
}
