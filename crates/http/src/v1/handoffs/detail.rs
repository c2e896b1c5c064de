//! One handoff with everything that belongs to it: the gate and its answer, the questions about it,
//! its holder and lease, its checks, and the commands that it allows now.

use baton_core::gate::Gate;
use baton_core::run::Handoff as OpenHandoff;
use baton_engine::{Can, EngineError, Texts};
use baton_store::{HandoffRow, RunRow};
use baton_views::{PersonsAnswer, QuestionAndAnswer};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::document::HandoffDocument;
use crate::scope::RequestScope;
use crate::v1::flat::{part, whole};
use crate::v1::status::answer_command;

/// A handoff with everything that belongs to it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HandoffDetail)]
pub struct Detail {
    #[serde(flatten)]
    pub handoff: HandoffDocument,
    #[serde(flatten)]
    pub beside: HandoffExtras,
}

/// What belongs to a handoff besides its own members.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandoffExtras {
    /// The gate's question to a person, or its answer.
    pub question: Option<GateDocument>,
    /// The receiver's questions, and their answers.
    pub questions: Vec<Question>,
    /// The fencing token: how often the handoff has been accepted; null if it is not open.
    pub fence: Option<u32>,
    /// The lease: for how long the holder may be silent.
    pub lease_seconds: Option<u32>,
    pub evidence: Vec<EvidenceDocument>,
    /// Which commands are allowed now, and why the others are not.
    pub can: Vec<Allowed>,
}

impl<'de> Deserialize<'de> for Detail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = whole(deserializer)?;
        Ok(Self { handoff: part(&raw)?, beside: part(&raw)? })
    }
}

/// An open gate's question to a person, or the answer of a closed one.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum GateDocument {
    Open(OpenGate),
    Answered(AnsweredGate),
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OpenGate {
    pub cause: String,
    /// The cause as a sentence.
    pub why: String,
    pub choices: Vec<String>,
    /// The command to type to answer it.
    pub command: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AnsweredGate {
    pub answer: String,
    pub by: String,
    pub comment: Option<String>,
    pub at: Timestamp,
}

/// A question about a handoff, and the answer if there is one.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Question {
    /// Numbered over all runs.
    pub number: u64,
    pub label: String,
    pub from: String,
    pub to: String,
    pub question: String,
    pub answer: Option<String>,
    /// Whether it still waits for an answer. A closed question without an answer was withdrawn.
    #[serde(rename = "isOpen")]
    pub is_open: bool,
}

/// The newest result of one check.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EvidenceDocument {
    pub check: String,
    #[schema(example = "passed")]
    pub verdict: String,
}

/// A command that is or is not allowed now.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Allowed {
    /// The last part of the command's path.
    pub command: String,
    pub allowed: bool,
    /// Why it is not allowed.
    pub why: Option<String>,
}

impl Detail {
    pub(in crate::v1) async fn of(
        app: &RequestScope,
        row: &HandoffRow,
        run: &RunRow,
    ) -> Result<Self, EngineError> {
        let views = app.read();
        // A single handoff is shown whole or not at all: an agent works from it.
        let texts = Texts::from(views.whole_texts_of(row).await?);
        let open = run.run.handoff(row.no);
        let gate = open.and_then(|it| it.gate.as_ref());
        let question = match gate {
            Some(gate) => Some(open_gate(row.number, gate)),
            None if row.to.agent.is_human() => {
                views.answer_to(row.run, row.no).await?.map(answered)
            }
            None => None,
        };
        let beside = HandoffExtras {
            question,
            questions: views.exchanges(row).await?.into_iter().map(Question::from).collect(),
            fence: open.map(|it| it.fence),
            lease_seconds: open.and_then(|it| it.lease),
            evidence: evidence(open, gate),
            can: views.can(row).await?.into_iter().map(Allowed::from).collect(),
        };
        Ok(Self { handoff: HandoffDocument::new(row, &texts), beside })
    }
}

fn evidence(open: Option<&OpenHandoff>, gate: Option<&Gate>) -> Vec<EvidenceDocument> {
    let evidence = match (gate, open) {
        (Some(gate), _) => gate.evidence.as_slice(),
        (None, Some(open)) => open.evidence.as_slice(),
        (None, None) => &[],
    };
    evidence.iter().map(EvidenceDocument::from).collect()
}

fn open_gate(number: u64, gate: &Gate) -> GateDocument {
    GateDocument::Open(OpenGate {
        cause: gate.cause.name().to_owned(),
        why: gate.cause.sentence().to_owned(),
        choices: gate.choices().iter().map(|it| (*it).to_owned()).collect(),
        command: answer_command(&number.to_string(), gate.choices()),
    })
}

fn answered(it: PersonsAnswer) -> GateDocument {
    let PersonsAnswer { answer, by, comment, at } = it;
    let answer = answer.name().to_owned();
    GateDocument::Answered(AnsweredGate { answer, by: by.to_string(), comment, at })
}

impl From<QuestionAndAnswer> for Question {
    fn from(it: QuestionAndAnswer) -> Self {
        Self {
            number: it.row.number,
            label: it.row.no.label(),
            from: it.row.from.agent.to_string(),
            to: it.row.to.agent.to_string(),
            question: it.question,
            answer: it.answer,
            is_open: it.row.state.is_open(),
        }
    }
}

impl From<&baton_core::evidence::Evidence> for EvidenceDocument {
    fn from(it: &baton_core::evidence::Evidence) -> Self {
        Self { check: it.check.to_string(), verdict: it.verdict.name().to_owned() }
    }
}

impl From<Can> for Allowed {
    fn from(can: Can) -> Self {
        let command = can.command.to_owned();
        Self { command, allowed: can.why_not.is_none(), why: can.why_not }
    }
}
