//! A handoff to a person: why it was opened, what it holds, and which answers it takes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::approval::GateApproval;
use crate::budget::ReachedBudget;
use crate::content::ContentId;
use crate::evidence::Evidence;
use crate::named::named;
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::plural::counted;
use crate::run::{EdgeKey, HandoffNo, Party, is_false};
use crate::workflow::{Edge, Place, Workflow};

/// A question that only a person may answer. It never times out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    pub cause: GateCause,
    #[serde(default, skip_serializing_if = "GateKind::is_blocking")]
    pub kind: GateKind,
    /// The agent that is stuck or asks; "accept" follows its success edge.
    pub asker: Party,
    /// The agent that works on after "continue".
    pub worker: Party,
    /// The package that "accept" hands on.
    pub package: Option<ContentId>,
    /// The package that the worker had been given: "continue" works from it.
    pub given: Option<ContentId>,
    pub reason: Option<ContentId>,
    /// The edge whose rounds are used up.
    pub forward: EdgeKey,
    /// Who gets the work back if the worker, given it again, rejects it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Party>,
    /// The handoff that goes on in the meantime, where the gate is advisory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<HandoffNo>,
    /// The handoff in question, where it is still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<HandoffNo>,
    /// The edge that has the gate, where the gate is on an edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<GateEdge>,
    /// A lease was lost: the previous holder may still be alive, so fencing tokens are checked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_lost_lease: bool,
    /// Results of the checks, where checks can open the gate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Broken rules of the edge's contract, for the final receiver of the package.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The limit that was reached, where that is why a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<ReachedLimit>,
    /// The budget that is used up, where that is why a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<ReachedBudget>,
    /// The approvals that it needs, where the workflow asks for those of several people, or of
    /// another than the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<GateApproval>,
    /// A rule of the edge about the package raised it to a blocking gate; the reason says which.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_raised: bool,
    /// When people are reminded of it, once. Gates of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remind_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminded_at: Option<Timestamp>,
}

/// How often something happened, and how often it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachedLimit {
    pub n: u32,
    pub most: u32,
}

/// One edge of a workflow: two places may have several between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateEdge {
    pub from: Place,
    pub to: Place,
    pub on: Outcome,
}

named! {
    /// How much work a gate blocks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GateKind {
        /// Everything, until a person answers.
        #[default]
        Blocking = "blocking",
        /// Nothing: the work goes on, and a person may object.
        Advisory = "advisory",
        /// Everything, until the checks pass or a person answers.
        Automatic = "automatic",
    }
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GateCause {
        /// The work has gone back as often as the edge allows.
        Rounds = "rounds",
        /// A step found twice in a row what it had found before.
        SameFindings = "same_findings",
        /// The work has entered a step as often as the step allows.
        Entries = "entries",
        /// The holder has delegated as many parts as its step allows.
        Delegations = "delegations",
        /// The step failed, and its retries are used up.
        Failure = "failure",
        /// The step failed with an error that the sender says cannot be recovered from.
        Unrecoverable = "unrecoverable",
        Blocked = "blocked",
        NeedsClarification = "needs_clarification",
        /// The sender asked for a person's review before the work goes on.
        NeedsReview = "needs_review",
        /// The workflow requires a person's review before the work goes on.
        Declared = "declared",
        /// The checks of the edge have not all passed.
        Checks = "checks",
        /// The work came back with nothing in it changed, or an agent printed the very same again.
        NoProgress = "no_progress",
        /// The run has taken as long, or as many handoffs, as its workflow allows.
        RunLimit = "run_limit",
        /// The run, the step or the agent has used what it may: money, tokens or time.
        Budget = "budget",
        /// The step was silent for long after it was marked as stale.
        Stalled = "stalled",
        /// The sender is less sure of its work than the edge asks for.
        Confidence = "confidence",
        /// The package says something for which a rule of the edge asks a person.
        Raised = "raised",
        /// An agent asks on its own initiative, and waits.
        Escalation = "escalation",
        /// The receiver has used up its questions about the handoff.
        Questions = "questions",
        /// The holder's lease was lost, and the work is not tried again: so was the lease of every retry, or the
        /// runner asks for a person.
        LostLease = "lost_lease",
        /// The work was accepted and released as often as the workflow allows.
        Releases = "releases",
        /// The receiver did not accept in time.
        Expired = "expired",
        /// The holder's program waits until a person allows or denies what it wants to do. The baton
        /// does not move.
        Permission = "permission",
    }
}

/// A person's possible answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Let the worker go on, with as many additional rounds as the edge allows.
    Continue,
    /// Accept the work as it is and follow the asker's success edge.
    Accept,
    /// Let another agent do the worker's step.
    HandTo(AgentId),
    /// Cancel the run.
    Abort,
    /// The work is good: hand it on.
    Approve,
    /// The work is not good: send it back to its sender.
    Reject,
    /// The requested answer, as free text.
    #[serde(rename = "answer")]
    Reply,
    /// Ask the sender a question first.
    Question,
    /// Hand on the person's own package instead.
    Modify,
}

impl Gate {
    /// The answers that this gate accepts, by name.
    pub fn choices(&self) -> &'static [&'static str] {
        if self.kind == GateKind::Advisory && self.cause != GateCause::Permission {
            return &["approve", "reject"];
        }
        match self.cause {
            GateCause::Permission => &["approve", "continue", "reject"],
            GateCause::Rounds
            | GateCause::SameFindings
            | GateCause::Failure
            | GateCause::Unrecoverable
            | GateCause::Blocked
            | GateCause::NeedsClarification
                if self.is_between_delegate_and_caller() =>
            {
                &["continue", "abort"]
            }
            // An agent was stopped: it has left no result that could be accepted.
            GateCause::Budget if self.is_stuck() => &["continue", "hand_to", "abort"],
            GateCause::Rounds
            | GateCause::SameFindings
            | GateCause::Entries
            | GateCause::Budget
            | GateCause::RunLimit
            | GateCause::Delegations
            | GateCause::Failure
            | GateCause::Unrecoverable
            | GateCause::Blocked
            | GateCause::NeedsClarification => &["continue", "accept", "hand_to", "abort"],
            // It has handed on nothing: what the gate has is what it was given.
            GateCause::NoProgress if self.is_stuck() && self.package == self.given => {
                &["continue", "hand_to", "abort"]
            }
            // Not on its way along an edge: with an agent, or between two.
            GateCause::NoProgress if self.edge.is_none() => {
                &["continue", "accept", "hand_to", "abort"]
            }
            GateCause::NeedsReview
            | GateCause::Declared
            | GateCause::Checks
            | GateCause::NoProgress
            | GateCause::Confidence
            | GateCause::Raised => self.review_choices(),
            GateCause::Escalation => &["answer", "approve", "reject", "question", "abort"],
            GateCause::Questions => &["answer", "abort"],
            GateCause::LostLease
            | GateCause::Releases
            | GateCause::Stalled
            | GateCause::Expired => &["continue", "hand_to", "abort"],
        }
    }

    /// The answers to work on its way along an edge. Only an agent can be asked a question in return,
    /// and a package of one person's own is not the one that others approve.
    fn review_choices(&self) -> &'static [&'static str] {
        match (self.asker.place.is_work(), self.approval.is_some()) {
            (true, false) => &["approve", "reject", "question", "modify", "abort"],
            (true, true) => &["approve", "reject", "question", "abort"],
            (false, false) => &["approve", "reject", "modify", "abort"],
            (false, true) => &["approve", "reject", "abort"],
        }
    }

    pub fn takes(&self, answer: &Answer) -> bool {
        self.choices().contains(&answer.name())
    }

    /// The gate's edge, as the workflow declares it.
    pub fn edge_in<'a>(&self, workflow: &'a Workflow) -> Option<&'a Edge> {
        let edge = self.edge.as_ref()?;
        workflow.edge_between(&edge.from, &edge.to, edge.on)
    }

    /// Why a person is asked: with the limit that was reached, where there is one.
    pub fn sentence(&self) -> String {
        if let Some(reached) = &self.budget {
            return reached.to_string();
        }
        let Some(ReachedLimit { n, most }) = self.limit else {
            if self.cause == GateCause::Blocked {
                return self.blocked_sentence();
            }
            if let (GateCause::SameFindings, Place::Step(step)) = (self.cause, &self.asker.place) {
                return format!(
                    "`{step}` found the same twice in a row; a person decides how to go on"
                );
            }
            return self.cause.sentence().to_owned();
        };
        let times = if n == 1 { "once".to_owned() } else { format!("{n} times") };
        let (asker, worker) = (&self.asker.place, &self.worker.place);
        match self.cause {
            GateCause::Entries => format!("`{worker}` was entered {times}; its limit is {most}"),
            GateCause::RunLimit => {
                format!("The run has had {}; its limit is {most}", counted(n.into(), "handoff"))
            }
            GateCause::Rounds => {
                let EdgeKey { from, to } = &self.forward;
                format!("Work from `{from}` to `{to}` went back {times}; its limit is {most}")
            }
            GateCause::Delegations => {
                let parts = counted(n.into(), "part");
                format!("`{asker}` delegated {parts} of this work; its limit is {most}")
            }
            GateCause::Blocked => format!(
                "`{asker}` is blocked again; an agent was sent to help {times}, its limit is {most}"
            ),
            GateCause::Checks => {
                format!(
                    "The checks of what `{asker}` hands to `{worker}` failed again; they failed {times} before, the limit is {most}"
                )
            }
            GateCause::Releases => {
                format!("`{worker}` accepted and released this work {times}; its limit is {most}")
            }
            GateCause::SameFindings
            | GateCause::Budget
            | GateCause::Failure
            | GateCause::Unrecoverable
            | GateCause::NeedsClarification
            | GateCause::NeedsReview
            | GateCause::Declared
            | GateCause::NoProgress
            | GateCause::Confidence
            | GateCause::Raised
            | GateCause::Escalation
            | GateCause::Questions
            | GateCause::LostLease
            | GateCause::Stalled
            | GateCause::Expired
            | GateCause::Permission => self.cause.sentence().to_owned(),
        }
    }

    /// Whether it is about a step that does not get on, not about work on its way to one.
    pub(crate) fn is_stuck(&self) -> bool {
        self.worker == self.asker
    }

    /// The orchestrator asks for the agent that is blocked: this says which one.
    fn blocked_sentence(&self) -> String {
        let Party { agent, place } = &self.asker;
        let at = match place {
            Place::Step(step) => format!(" at `{step}`"),
            Place::Orchestrator | Place::Human | Place::Delegate(_) => String::new(),
        };
        format!("`{agent}` is blocked{at} until a person clears its blockers")
    }

    /// A delegate refuses its part, and only its caller can decide what to do: no other agent can
    /// take over for the caller, and there is no result to accept.
    fn is_between_delegate_and_caller(&self) -> bool {
        let is_delegate = matches!(self.asker.place, Place::Delegate(_));
        is_delegate && self.worker != self.asker && self.forward.to == self.asker.place
    }
}

impl GateKind {
    pub fn is_blocking(&self) -> bool {
        *self == GateKind::Blocking
    }

    /// Parses the YAML handoff's words and their common synonyms.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word.trim().to_ascii_lowercase().as_str() {
            "blocking" => GateKind::Blocking,
            "advisory" | "informative" => GateKind::Advisory,
            "automatic" | "auto" => GateKind::Automatic,
            _ => return None,
        })
    }
}

impl GateCause {
    /// What [`GateCause::sentence`] was in earlier versions: it is stored with their gates.
    pub fn earlier_sentence(self) -> Option<&'static str> {
        (self == GateCause::SameFindings)
            .then_some("Two reviews in a row found the same; a person decides how to go on")
    }

    /// Why a person is asked: the default reason of the handoff to them.
    pub fn sentence(self) -> &'static str {
        match self {
            GateCause::Rounds => "The work went back as often as it may; a person decides now",
            GateCause::SameFindings => {
                "The same was found twice in a row; a person decides how to go on"
            }
            GateCause::Entries => {
                "The work came to the step as often as it may; a person decides how to go on"
            }
            GateCause::Delegations => {
                "The holder delegated as often as it may; a person decides how to go on"
            }
            GateCause::Failure => "The step failed and its retries are used up",
            GateCause::Unrecoverable => {
                "The step failed with an error that trying again would not help"
            }
            GateCause::Blocked => "The step is blocked until a person clears its blockers",
            GateCause::NeedsClarification => "The agent has a question that only a person answers",
            GateCause::NeedsReview => "The agent asks for a review before the work goes on",
            GateCause::Declared => "The workflow asks for a person's word before the work goes on",
            GateCause::Confidence => {
                "The agent is less sure of its work than the workflow asks for"
            }
            GateCause::Raised => "The package says something that a person has to approve",
            GateCause::Checks => "The checks have not all passed; a person may decide instead",
            GateCause::NoProgress => {
                "Two attempts gave the same result; a person decides what happens next"
            }
            GateCause::RunLimit => {
                "The run has taken as long as it may, or as many handoffs; a person decides how to go on"
            }
            GateCause::Budget => "A budget is used up; a person decides how to go on",
            GateCause::Stalled => "Nothing was heard of the step for too long, after a reminder",
            GateCause::Escalation => "The agent asks, and waits for the answer",
            GateCause::Questions => {
                "The receiver has asked as often as it may; a person settles it now"
            }
            GateCause::LostLease => "No attempt at this work came to a handoff",
            GateCause::Releases => {
                "The work was accepted and released as often as it may; a person decides how to go on"
            }
            GateCause::Expired => "The handoff was not accepted in time",
            GateCause::Permission => {
                "The agent asks for permission, and waits: approve (once), continue (this kind, until the \
                 attempt ends) or reject"
            }
        }
    }
}

named! {
    /// The answers that a person may give, without what they say.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AnswerKind {
        Approve = "approve",
        Reject = "reject",
        Reply = "answer",
        Question = "question",
        Modify = "modify",
        Continue = "continue",
        Accept = "accept",
        HandTo = "hand_to",
        Abort = "abort",
    }
}

impl AnswerKind {
    /// The answer; `to` is the agent that [`Answer::HandTo`] needs, and the only one that does.
    pub fn answer(self, to: Option<AgentId>) -> Option<Answer> {
        Some(match self {
            AnswerKind::HandTo => Answer::HandTo(to?),
            AnswerKind::Approve => Answer::Approve,
            AnswerKind::Reject => Answer::Reject,
            AnswerKind::Reply => Answer::Reply,
            AnswerKind::Question => Answer::Question,
            AnswerKind::Modify => Answer::Modify,
            AnswerKind::Continue => Answer::Continue,
            AnswerKind::Accept => Answer::Accept,
            AnswerKind::Abort => Answer::Abort,
        })
    }
}

impl Answer {
    pub fn kind(&self) -> AnswerKind {
        match self {
            Answer::Continue => AnswerKind::Continue,
            Answer::Accept => AnswerKind::Accept,
            Answer::HandTo(_) => AnswerKind::HandTo,
            Answer::Abort => AnswerKind::Abort,
            Answer::Approve => AnswerKind::Approve,
            Answer::Reject => AnswerKind::Reject,
            Answer::Reply => AnswerKind::Reply,
            Answer::Question => AnswerKind::Question,
            Answer::Modify => AnswerKind::Modify,
        }
    }

    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// True where the answer requires a text.
    pub fn needs_words(&self) -> bool {
        matches!(self, Answer::Reply | Answer::Question)
    }
}
