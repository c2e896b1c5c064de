//! One handoff with all that belongs to it: what a person is asked and said, what was asked about
//! it, who holds it and how, what was checked, and what may be done to it now.

use baton_core::gate::Gate;
use baton_core::run::Handoff as OpenHandoff;
use baton_engine::{Can, EngineError, Exchange, PersonsAnswer};
use baton_store::{HandoffRow, RunRow};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::document::Handoff;
use crate::App;

/// A handoff with all that belongs to it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HandoffDetail)]
pub(in crate::v1) struct Detail {
    #[serde(flatten)]
    handoff: Handoff,
    /// What a person is asked, or said.
    question: Option<Asked>,
    /// What its receiver asked, and what was answered.
    questions: Vec<Question>,
    /// How often it has been accepted; null where it is not open.
    fence: Option<u32>,
    /// For how long its holder may be silent.
    lease_seconds: Option<u32>,
    evidence: Vec<Evidence>,
    /// What may be done to it now, and why not.
    can: Vec<Allowed>,
}

/// What a person is asked while it is open; what they said after that.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum Asked {
    Open(OpenGate),
    Answered(AnsweredGate),
}

#[derive(Serialize, ToSchema)]
struct OpenGate {
    cause: &'static str,
    choices: Vec<&'static str>,
}

#[derive(Serialize, ToSchema)]
struct AnsweredGate {
    answer: &'static str,
    by: String,
    comment: Option<String>,
    at: Timestamp,
}

/// A question about a handoff, and the answer if there is one.
#[derive(Serialize, ToSchema)]
struct Question {
    label: String,
    from: String,
    to: String,
    question: String,
    answer: Option<String>,
}

/// The newest result of one check.
#[derive(Serialize, ToSchema)]
pub(in crate::v1) struct Evidence {
    check: String,
    #[schema(example = "passed")]
    verdict: &'static str,
}

/// Something that may or may not be done now.
#[derive(Serialize, ToSchema)]
struct Allowed {
    /// The last part of its path.
    command: &'static str,
    allowed: bool,
    /// Why not.
    why: Option<String>,
}

impl Detail {
    pub(in crate::v1) async fn of(
        app: &App,
        row: &HandoffRow,
        run: &RunRow,
    ) -> Result<Self, EngineError> {
        let engine = &app.engine;
        let open = run.run.handoff(row.no);
        let gate = open.and_then(|it| it.gate.as_ref());
        let question = match gate {
            Some(gate) => Some(open_gate(gate)),
            None if row.to.agent.is_human() => {
                engine.answer_to(row.run, row.no).await?.map(answered)
            }
            None => None,
        };
        Ok(Self {
            handoff: Handoff::of(app, row).await?,
            question,
            questions: engine.exchanges(row).await?.into_iter().map(Question::from).collect(),
            fence: open.map(|it| it.fence),
            lease_seconds: open.and_then(|it| it.lease),
            evidence: evidence(open, gate),
            can: engine.can(row).await?.into_iter().map(Allowed::from).collect(),
        })
    }
}

fn evidence(open: Option<&OpenHandoff>, gate: Option<&Gate>) -> Vec<Evidence> {
    let evidence = match (gate, open) {
        (Some(gate), _) => gate.evidence.as_slice(),
        (None, Some(open)) => open.evidence.as_slice(),
        (None, None) => &[],
    };
    evidence.iter().map(Evidence::from).collect()
}

fn open_gate(gate: &Gate) -> Asked {
    Asked::Open(OpenGate { cause: gate.cause.name(), choices: gate.choices().to_vec() })
}

fn answered(it: PersonsAnswer) -> Asked {
    let PersonsAnswer { answer, by, comment, at } = it;
    Asked::Answered(AnsweredGate { answer: answer.name(), by: by.to_string(), comment, at })
}

impl From<Exchange> for Question {
    fn from(it: Exchange) -> Self {
        Self {
            label: it.row.no.label(),
            from: it.row.from.agent.to_string(),
            to: it.row.to.agent.to_string(),
            question: it.question,
            answer: it.answer,
        }
    }
}

impl From<&baton_core::evidence::Evidence> for Evidence {
    fn from(it: &baton_core::evidence::Evidence) -> Self {
        Self { check: it.check.to_string(), verdict: it.verdict.name() }
    }
}

impl From<Can> for Allowed {
    fn from(can: Can) -> Self {
        Self { command: can.command, allowed: can.why_not.is_none(), why: can.why_not }
    }
}
