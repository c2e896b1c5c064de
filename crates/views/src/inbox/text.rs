//! The inbox in words, the same on every face: why a person is asked, what to type, and the
//! consequence. Text of others is included as written; the faces escape it.

use baton_core::gate::{Gate, GateCause, GateKind};
use baton_core::names::AgentId;
use baton_core::run::{Baton, Branch, Ended, HandoffState, Kind};
use baton_core::shell::shell_word;
use baton_core::workflow::Place;
use baton_store::HandoffRow;

use super::{FanOffer, InboxChoice, InboxItem, Then, Waits};

/// How often the orchestrator offered work of the run again. That has no limit, so a person has to
/// see it.
fn n_offered_again<'a>(trail: impl Iterator<Item = &'a HandoffRow>) -> usize {
    let is_again = |it: &&HandoffRow| {
        let is_to_step = it.to.place.is_step() && it.kind != Kind::Return;
        it.from.place == Place::Orchestrator && is_to_step && it.no.0 > 1
    };
    trail.filter(is_again).count()
}

/// How the last handoff of a run ended, where nothing came of it.
fn how_it_ended(row: &HandoffRow) -> Option<String> {
    let how = match row.state {
        HandoffState::Ended(Ended::TimedOut) => "timed out",
        HandoffState::Ended(Ended::Cancelled) => "was cancelled",
        HandoffState::Ended(Ended::Completed | Ended::Rejected | Ended::Superseded)
        | HandoffState::Open(_) => return None,
    };
    Some(format!("{} to {} {how}", row.no, row.to.agent))
}

impl InboxItem {
    /// The gate that asks, where one does.
    pub fn gate(&self) -> Option<&Gate> {
        match &self.why {
            Waits::Gate { handoff, .. } => super::gate_of(&self.run.run, *handoff),
            Waits::Question { .. } | Waits::Loose { .. } => None,
        }
    }

    /// The handoffs of the branch whose baton is loose; else all.
    fn own_trail(&self) -> impl DoubleEndedIterator<Item = &HandoffRow> {
        self.trail.iter().filter(|it| self.of_branch.contains(&it.no))
    }

    /// Whom a start has to name, where another branch is loose too.
    pub fn starts_with<'a>(&self, choice: &'a InboxChoice) -> Option<&'a AgentId> {
        let is_loose = |it: &&Branch| matches!(it.baton, Baton::Loose { .. });
        let n_loose = self.run.run.branches.iter().filter(is_loose).count();
        let is_start = n_loose > 1 && choice.name == "start";
        let Then::Offered { to, .. } = &choice.then else { return None };
        Some(to).filter(|_| is_start)
    }

    pub fn sentence(&self) -> String {
        match &self.why {
            Waits::Gate { kind: GateKind::Advisory, cause, .. }
                if *cause != GateCause::Permission =>
            {
                "The work goes on; you may object while it does".to_owned()
            }
            Waits::Gate { handoff, cause, .. } => {
                let gate = super::gate_of(&self.run.run, *handoff);
                gate.map_or_else(|| cause.sentence().to_owned(), Gate::sentence)
            }
            Waits::Question { about, of, .. } if of.is_human() => {
                format!("You are asked a question about {about}")
            }
            Waits::Question { about, of, .. } => format!("{of} is asked about {about}"),
            Waits::Loose { at, branch } => {
                let again = match n_offered_again(self.own_trail()) {
                    0 => String::new(),
                    1 => "; the orchestrator has offered it again once".to_owned(),
                    n => format!("; the orchestrator has offered it again {n} times"),
                };
                let ended = match self.own_trail().next_back().and_then(how_it_ended) {
                    Some(ended) => format!("{ended}, and "),
                    None => String::new(),
                };
                let of = branch.as_ref().map(|it| format!(" of the branch `{it}`"));
                let of = of.unwrap_or_default();
                format!("The baton{of} lies loose at {at}: {ended}no agent has the work{again}")
            }
        }
    }

    /// The command line for this choice.
    pub fn command(&self, choice: &InboxChoice) -> String {
        let run = &self.run_name;
        let comment = if choice.needs_words { " --comment TEXT" } else { "" };
        match &self.why {
            Waits::Gate { handoff, .. } | Waits::Question { handoff, .. } => {
                let which = format!("{run}/{handoff}");
                match choice.name {
                    "answer" => format!("baton answer {which}{comment}"),
                    "approve" | "reject" => format!("baton {} {which}", choice.name),
                    "modify" => format!("baton modify {which} --payload JSON"),
                    "hand_to" => format!("baton answer {which} hand-to AGENT"),
                    name => format!("baton answer {which} {name}{comment}"),
                }
            }
            Waits::Loose { .. } if choice.name == "start" => {
                let start = format!("baton run start {}", shell_word(self.run.run.story.as_str()));
                match self.starts_with(choice) {
                    Some(agent) => format!("{start} --to {agent}"),
                    None => start,
                }
            }
            Waits::Loose { .. } => format!("baton run {} {run}", choice.name),
        }
    }

    /// The consequence of the answer by the rules, and the workflow's description of it.
    pub fn consequence(&self, choice: &InboxChoice) -> String {
        let then = Self::then(choice);
        match self.asked.meaning(choice.name) {
            Some(meaning) => format!("{meaning} ({then})"),
            None => then,
        }
    }

    /// The consequence of the answer by the rules.
    pub fn then(choice: &InboxChoice) -> String {
        let moved = Self::moved(choice);
        match &choice.budget {
            Some(budget) => format!("the budget becomes {budget}; {moved}"),
            None => moved,
        }
    }

    fn moved(choice: &InboxChoice) -> String {
        match &choice.then {
            Then::Offered { handoff, to, place } => {
                let who =
                    if choice.name == "hand_to" { "the agent that you name" } else { to.as_str() };
                match place {
                    Place::Step(step) => format!("{handoff} goes to {who}, for the step {step}"),
                    Place::Orchestrator => "the run is complete".to_owned(),
                    Place::Human | Place::Delegate(_) => format!("{handoff} goes to {who}"),
                }
            }
            Then::FannedOut { offers } => {
                let offer = |FanOffer { handoff, to, place }: &FanOffer| match place {
                    Place::Step(step) => format!("{handoff} goes to {to}, for the step {step}"),
                    Place::Orchestrator | Place::Human | Place::Delegate(_) => {
                        format!("{handoff} goes to {to}")
                    }
                };
                let offers: Vec<String> = offers.iter().map(offer).collect();
                format!("at once: {}", offers.join("; "))
            }
            Then::Arrived { at, n_arrived, n_needed } => {
                format!("the branch waits at {at} for the others: {n_arrived} of {n_needed}")
            }
            Then::Held { handoff, by } => {
                let with = match choice.name {
                    "answer" => ", with your answer",
                    "approve" => ", with your yes",
                    "reject" => ", with your no",
                    _ => "",
                };
                format!("{by} goes on with {handoff}{with}")
            }
            Then::Asked { question, of } => format!("{question} asks {of}; you decide after that"),
            Then::Parked { handoff } => format!("a person is asked again with {handoff}"),
            Then::Approved { n_given, need } => {
                format!("{n_given} of {need} approvals; the work waits for the others")
            }
            Then::Unchanged => "the work goes on as it does".to_owned(),
            Then::Loose { at } => format!("the baton lies loose at {at}"),
            Then::Ended(status) => format!("the run is {}", status.name()),
            Then::Refused { why } => format!("it would be refused: {why}"),
        }
    }
}
