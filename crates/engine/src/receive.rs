//! Receives a whole document as an agent writes it: resolves its run, its sender and its command.
//!
//! A face that takes documents passes on what it knows (a run, an agent, a token); the rest is read
//! from the document. Nothing is guessed: an ambiguous document is refused with the choices.

mod statements;

use baton_core::acknowledgement::Acknowledgement;
use baton_core::command::{Accept, Command, Complete, Create, LeaseTime, Token, Way};
use baton_core::contract::Profile;
use baton_core::decide::which_of_several;
use baton_core::document::kind::DocumentKind;
use baton_core::document::request::{PipelineRequest, RequestAction};
use baton_core::names::{AgentId, FreeText, StoryKey, WorkflowName};
use baton_core::outcome::Outcome as StepOutcome;
use baton_core::package::Package;
use baton_core::problem::Problem;
use baton_core::run::{self, Baton, HandoffNo, HandoffState};
use baton_core::view::{Meaning, View};
use baton_core::workflow::Mode;
use baton_store::{HandoffFilter, HandoffRef, RunRef, RunRow};

use self::statements::{agent, bad, named_sender, outcome_of, reason_of};
use crate::{Caller, CommandResult, Engine, EngineError, RunTarget};

/// What the caller knows besides the document.
#[derive(Debug, Clone)]
pub struct DocumentHints {
    /// Overrides the document's run.
    pub run: Option<RunRef>,
    /// The handoff that the document accepts or ends.
    pub handoff: Option<HandoffRef>,
    pub story: Option<StoryKey>,
    /// A story that the document names is new, however much its key looks like another's.
    pub new_story: bool,
    /// For a new run.
    pub workflow: Option<WorkflowName>,
    /// For a new run.
    pub mode: Option<Mode>,
    /// The sender, where the document names none.
    pub agent: Option<AgentId>,
    /// The receiver; overrides the document's suggestion.
    pub to: Option<AgentId>,
    /// The document is a part of the work that goes this way, to `to` or the receiver that it names.
    pub way: Option<Way>,
    /// The sender's fencing token.
    pub fence: Option<u32>,
    /// For an acknowledgement.
    pub lease: Option<LeaseTime>,
    pub profile: Profile,
}

/// The result of receiving a document.
#[derive(Debug)]
pub enum ReceiveResult {
    /// Work was handed on, or its step ended.
    Moved(CommandResult),
    /// A handoff was acknowledged.
    TakenUp(CommandResult),
    /// A progress report: recorded, and nothing moves.
    Noted(CommandResult),
}

/// How many open runs the refusal names where the document's run is ambiguous.
const MOST_NAMED: u32 = 10;
/// How many open handoffs of the sender are looked at for its run.
const MOST_LOOKED_AT: u32 = 100;

impl Engine {
    pub async fn receive(
        &self,
        caller: &Caller,
        package: Package,
        hints: &DocumentHints,
    ) -> Result<ReceiveResult, EngineError> {
        let hints = &self.hints_of(caller, hints).await?;
        if let Some(request) = PipelineRequest::of(&package.document) {
            let outcome = match self.repeated(caller).await? {
                Some(outcome) => outcome,
                None => self.carry_out_request(caller, request, hints).await?,
            };
            return Ok(match request.action {
                RequestAction::Create => ReceiveResult::Moved(outcome),
                RequestAction::Accept
                | RequestAction::Reject
                | RequestAction::Clarify
                | RequestAction::Answer => ReceiveResult::TakenUp(outcome),
            });
        }
        let view = View::of(&package.document);
        // A caller that says which way the document goes wants it handed over, whatever it reads like.
        let is_open = hints.way.is_none();
        let is_under_way = view.claim.as_ref().is_some_and(|it| it.meaning == Meaning::UnderWay);
        let is_note = is_open && is_under_way;
        let is_acknowledgement = is_open && matches!(view.kind, DocumentKind::Acknowledgement(_));
        // The first request may have changed what the document would mean now.
        let outcome = match self.repeated(caller).await? {
            Some(outcome) => outcome,
            None if is_note => self.note(caller, &view, hints).await?,
            None if is_acknowledgement => self.take_up(caller, &package, &view, hints).await?,
            None => self.hand_on(caller, package, &view, hints).await?,
        };
        Ok(match (is_note, is_acknowledgement) {
            (true, _) => ReceiveResult::Noted(outcome),
            (false, true) => ReceiveResult::TakenUp(outcome),
            (false, false) => ReceiveResult::Moved(outcome),
        })
    }

    /// A receiver acknowledges a handoff, or asks about it.
    async fn take_up(
        &self,
        caller: &Caller,
        package: &Package,
        view: &View,
        hints: &DocumentHints,
    ) -> Result<CommandResult, EngineError> {
        let acknowledgement = Acknowledgement::read(&package.document, package.text.clone());
        let acknowledgement = acknowledgement.map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(Problem::sentence).collect();
            EngineError::BadDocument { why: problems.join("; ") }
        })?;
        let which = match &hints.handoff {
            Some(which) => which.clone(),
            None => {
                let row = self.meant_run(view, hints).await?;
                let by = hints.agent.as_ref();
                HandoffRef::InRun(row.run.id, current_handoff(&row, by)?)
            }
        };
        let (by, lease) = (hints.agent.clone(), hints.lease);
        let accept = |handoff| {
            let acknowledgement = Some(acknowledgement);
            Command::Accept(Accept { handoff, by, acknowledgement, lease })
        };
        self.on_handoff(caller, &which, accept).await
    }

    /// Hands work to the receiver that the sender names, else to the one that the workflow names.
    async fn hand_on(
        &self,
        caller: &Caller,
        package: Package,
        view: &View,
        hints: &DocumentHints,
    ) -> Result<CommandResult, EngineError> {
        let outcome = outcome_of(view)?;
        // The metadata block of a blocked agent names no receiver. One that does goes to the
        // contract, which says so.
        let is_blocked = outcome == Some(StepOutcome::Blocked)
            && matches!(view.kind, DocumentKind::MetadataBlock(_));
        let receiver = match (&hints.to, &view.receiver) {
            (Some(to), _) => Some(to.clone()),
            (None, Some(_)) if is_blocked => None,
            (None, Some(named)) => Some(agent("the receiver", named)?),
            (None, None) => None,
        };
        if receiver.is_none() && hints.way.is_some() {
            let why = "it names no receiver, and neither does the caller".to_owned();
            return Err(EngineError::BadDocument { why });
        }
        let Some(to) = receiver else {
            let outcome = outcome.ok_or_else(|| EngineError::BadDocument { why: no_end(view) })?;
            return self.end_step(caller, package, view, hints, outcome).await;
        };
        // What a part asks for is no end of a step, whatever its status.
        let outcome = match hints.way {
            Some(Way::Delegation | Way::Escalation) => None,
            Some(Way::Return | Way::Sequential) | None => outcome,
        };
        let within = self.meant(view, hints).await?;
        let hands_on = self.at_hand(&within, hints).await?;
        let (from, token) = self.sender(&within, view, hints, hands_on).await?;
        let create = Create {
            from,
            to,
            package,
            outcome,
            reason: reason_of(view)?,
            supersedes: None,
            hands_on,
            way: hints.way,
            token,
            profile: hints.profile,
        };
        self.create(caller, within, create).await
    }

    /// The sender is done and names no receiver: the workflow decides who is next.
    async fn end_step(
        &self,
        caller: &Caller,
        package: Package,
        view: &View,
        hints: &DocumentHints,
        outcome: StepOutcome,
    ) -> Result<CommandResult, EngineError> {
        let row = self.meant_run(view, hints).await?;
        let handoff = match &hints.handoff {
            Some(which) => self.handoff_in(&RunTarget::Run(RunRef::Id(row.run.id)), which).await?,
            None => current_handoff(&row, named_sender(view, hints)?.as_ref())?,
        };
        let complete = Complete {
            handoff,
            by: named_sender(view, hints)?,
            outcome,
            package,
            to: None,
            reason: reason_of(view)?,
            fence: hints.fence,
            profile: hints.profile,
        };
        self.on_run(caller, row.run.id, Command::Complete(complete)).await
    }

    async fn note(
        &self,
        caller: &Caller,
        view: &View,
        hints: &DocumentHints,
    ) -> Result<CommandResult, EngineError> {
        let row = self.meant_run(view, hints).await?;
        let said = view.summary.as_ref().or(view.context.as_ref());
        let word = view.claim.as_ref().map(|it| &it.word);
        let words = said.or(word).map_or("", String::as_str);
        let words = FreeText::parse(words).map_err(bad)?;
        let by = named_sender(view, hints)?.or_else(|| row.run.current_agent().cloned());
        self.on_run(caller, row.run.id, Command::Post { by, words }).await
    }

    /// The run of a document: the caller's, else that of the story it names, else the one open run
    /// whose key ends in its number, else the only one that its sender has to move.
    async fn meant(&self, view: &View, hints: &DocumentHints) -> Result<RunTarget, EngineError> {
        if let Some(run) = &hints.run {
            let within = RunTarget::Run(run.clone());
            if let Some(handoff) = &hints.handoff {
                self.handoff_in(&within, handoff).await?;
            }
            return Ok(within);
        }
        if let Some(handoff) = &hints.handoff {
            return Ok(RunTarget::Run(RunRef::Id(self.resolve_handoff(handoff).await?.0)));
        }
        let (workflow, mode) = (hints.workflow.clone(), hints.mode);
        if let Some(key) = hints.story.clone() {
            return Ok(RunTarget::Story { key, workflow, mode });
        }
        if let Some(key) = view.subject.key() {
            let key = self.story_key(&key).await?;
            self.refuse_slip(&key, named_sender(view, hints)?.as_ref(), hints).await?;
            return Ok(RunTarget::Story { key, workflow, mode });
        }
        let suffix = view.subject.suffix();
        if let Some(suffix) = &suffix {
            let (fitting, _) = self.store.open_runs_ending(suffix, 2).await?;
            if let [only] = fitting.as_slice() {
                return Ok(RunTarget::Run(RunRef::Id(only.run.id)));
            }
        }
        let row = self.run_of_sender(view, hints).await?;
        Ok(RunTarget::Run(RunRef::Id(row.run.id)))
    }

    /// The only open run whose baton is offered to or held by the document's sender. Where the sender
    /// is not named either, the only open run.
    async fn run_of_sender(
        &self,
        view: &View,
        hints: &DocumentHints,
    ) -> Result<RunRow, EngineError> {
        let sender = match view.kind {
            // It names the sender of the handoff that it is about.
            DocumentKind::Acknowledgement(_) => hints.agent.clone(),
            DocumentKind::XmlHandoff
            | DocumentKind::WorkflowComplete
            | DocumentKind::MetadataBlock(_)
            | DocumentKind::YamlHandoff
            | DocumentKind::YamlGate
            | DocumentKind::Other(_)
            | DocumentKind::Payload => named_sender(view, hints)?,
        };
        let mut fitting = match &sender {
            Some(sender) => self.runs_with(sender).await?,
            None => self.store.open_runs_ending("", 2).await?.0,
        };
        let suffix = view.subject.suffix();
        fitting.retain(|it| !is_of_another(it.run.story.as_str(), suffix.as_deref()));
        match (fitting.as_slice(), sender) {
            ([_], _) => fitting.pop().ok_or(EngineError::Contended),
            ([], _) | (_, None) => self.unclear_run(suffix.as_deref()).await.and_then(Err),
            (several, Some(_)) => {
                Err(EngineError::RunUnknown { candidates: names_of(several, several.len() as u64) })
            }
        }
    }

    /// Open runs that an agent has to move: the baton is offered to it, or it holds it.
    pub(crate) async fn runs_with(&self, agent: &AgentId) -> Result<Vec<RunRow>, EngineError> {
        let states = [run::State::Pending, run::State::Accepted];
        let filter = HandoffFilter {
            to: Some(agent.clone()),
            states: states.map(HandoffState::Open).to_vec(),
            limit: MOST_LOOKED_AT,
            ..HandoffFilter::default()
        };
        let mut runs: Vec<RunRow> = Vec::new();
        for row in self.store.handoffs(&filter).await? {
            if runs.iter().any(|it| it.run.id == row.run) {
                continue;
            }
            let run = self.run(&RunRef::Id(row.run)).await?;
            if run.run.is_current(row.no) {
                runs.push(run);
            }
            if runs.len() > MOST_NAMED as usize {
                break;
            }
        }
        Ok(runs)
    }

    async fn meant_run(&self, view: &View, hints: &DocumentHints) -> Result<RunRow, EngineError> {
        match self.meant(view, hints).await? {
            RunTarget::Run(which) => self.run(&which).await,
            RunTarget::Story { key, .. } => {
                match self.store.run(&RunRef::LatestOf(key.clone())).await? {
                    Some(row) => Ok(row),
                    // The caller asked for the story by name, so the error is that it has no run; a
                    // document may have meant another story.
                    None if hints.story.is_some() => {
                        Err(EngineError::NoSuchRun { which: key.to_string() })
                    }
                    None => Err(self.unclear_run(None).await?),
                }
            }
        }
    }

    /// A handoff that the caller wants to end must be the run's current one.
    async fn at_hand(
        &self,
        within: &RunTarget,
        hints: &DocumentHints,
    ) -> Result<Option<HandoffNo>, EngineError> {
        let Some(which) = &hints.handoff else { return Ok(None) };
        let no = self.handoff_in(within, which).await?;
        let (run, _) = self.resolve_handoff(which).await?;
        let row = self.run(&RunRef::Id(run)).await?;
        if row.run.is_current(no) {
            return Ok(Some(no));
        }
        Err(EngineError::BadDocument { why: format!("its run is not at {no} any more") })
    }

    /// The sender: as the document or the caller says, else the holder of the run.
    async fn sender(
        &self,
        within: &RunTarget,
        view: &View,
        hints: &DocumentHints,
        hands_on: Option<HandoffNo>,
    ) -> Result<(AgentId, Option<Token>), EngineError> {
        let named = named_sender(view, hints)?;
        if let (Some(from), None) = (&named, hints.fence) {
            return Ok((from.clone(), None));
        }
        let row = self.row_within(within).await?;
        // A document of a phase names no sender. In lenient, handing on accepts: it is then of the agent
        // that has been offered the work.
        let is_of_phase = matches!(view.kind, DocumentKind::MetadataBlock(_));
        let may_be_offered = is_of_phase && hints.profile == Profile::Lenient;
        let mut held = row.iter().flat_map(|it| {
            let run = &it.run;
            run.branches.iter().filter_map(move |branch| match &branch.baton {
                Baton::Held { handoff } => run.handoff(*handoff),
                Baton::Offered { handoff } if may_be_offered => {
                    run.handoff(*handoff).filter(|it| it.state == run::State::Pending)
                }
                Baton::Offered { .. }
                | Baton::Parked { .. }
                | Baton::Loose { .. }
                | Baton::Done => None,
            })
        });
        // Of several branches, each has a sender of its own.
        let held = held.next().filter(|_| held.next().is_none());
        let token = token(row.as_ref(), named.as_ref(), hints, hands_on)?;
        match named.or_else(|| held.map(|it| it.to.agent.clone())) {
            Some(from) => Ok((from, token)),
            None => Err(EngineError::SenderUnknown),
        }
    }

    /// The sender's fencing token, for a sender that is known.
    pub(crate) async fn token_within(
        &self,
        within: &RunTarget,
        hints: &DocumentHints,
        hands_on: Option<HandoffNo>,
    ) -> Result<Option<Token>, EngineError> {
        if hints.fence.is_none() {
            return Ok(None);
        }
        let row = self.row_within(within).await?;
        token(row.as_ref(), hints.agent.as_ref(), hints, hands_on)
    }

    async fn row_within(&self, within: &RunTarget) -> Result<Option<RunRow>, EngineError> {
        match within {
            RunTarget::Run(which) => Ok(self.store.run(which).await?),
            RunTarget::Story { key, .. } => self.open_run(key).await,
        }
    }

    /// The refusal that names the candidate runs.
    async fn unclear_run(&self, suffix: Option<&str>) -> Result<EngineError, EngineError> {
        let (mut fitting, mut n_fitting) =
            self.store.open_runs_ending(suffix.unwrap_or_default(), MOST_NAMED).await?;
        if fitting.is_empty() {
            (fitting, n_fitting) = self.store.open_runs_ending("", MOST_NAMED).await?;
        }
        Ok(EngineError::RunUnknown { candidates: names_of(&fitting, n_fitting) })
    }
}

/// The first of the runs with their numbers, and how many more there are.
fn names_of(runs: &[RunRow], n_runs: u64) -> String {
    let name = |it: &RunRow| format!("{} ({})", it.number, it.run.story);
    let mut names: Vec<String> = runs.iter().take(MOST_NAMED as usize).map(name).collect();
    let n_more = n_runs - names.len() as u64;
    if n_more > 0 {
        names.push(format!("{n_more} more"));
    }
    names.join(", ")
}

/// Whether a run is of another issue than the one that the document's key would end in.
fn is_of_another(story: &str, suffix: Option<&str>) -> bool {
    let number = story.rsplit_once('#').map(|(_, number)| number);
    let is_issue =
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
    suffix.is_some_and(|it| is_issue && !story.ends_with(it))
}

/// Why a document neither goes to an agent nor ends a step, and what to add.
fn no_end(view: &View) -> String {
    const NO_END: &str = "names no receiver, and no outcome with which its step would have ended";
    match view.kind {
        DocumentKind::Other(system) => {
            format!("it looks like {}, which {NO_END}: add `to_agent`", system.title())
        }
        DocumentKind::Payload => {
            format!("it {NO_END}: add `to_agent`, or name the receiver with `to`")
        }
        DocumentKind::XmlHandoff
        | DocumentKind::WorkflowComplete
        | DocumentKind::MetadataBlock(_)
        | DocumentKind::YamlHandoff
        | DocumentKind::YamlGate
        | DocumentKind::Acknowledgement(_) => format!("it {NO_END}"),
    }
}

/// A fencing token needs a held handoff: a sender that holds nothing any more is refused.
fn token(
    row: Option<&RunRow>,
    sender: Option<&AgentId>,
    hints: &DocumentHints,
    hands_on: Option<HandoffNo>,
) -> Result<Option<Token>, EngineError> {
    match (row, hints.fence) {
        (Some(row), Some(fence)) => {
            let handoff = match hands_on {
                Some(handoff) => handoff,
                None => current_handoff(row, sender)?,
            };
            Ok(Some(Token { handoff, fence }))
        }
        (Some(_) | None, None) => Ok(None),
        (None, Some(_)) => Err(EngineError::SenderUnknown),
    }
}

/// The handoff that the baton is with; of several branches, that of the sender, which has to be one.
fn current_handoff(row: &RunRow, sender: Option<&AgentId>) -> Result<HandoffNo, EngineError> {
    if let (Some(fork), Some(sender)) = (&row.run.fork, sender) {
        let what = format!("`{sender}` has the work of several branches");
        which_of_several(fork, &row.run.currents_of(sender), what).map_err(EngineError::refused)?;
    }
    let current = row.run.current_of(sender).map(|it| it.no);
    current.ok_or(EngineError::NothingAtHand { number: row.number, status: row.run.status })
}
