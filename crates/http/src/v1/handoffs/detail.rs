//! One handoff with everything that belongs to it: the gate and its answer, the questions about it,
//! its holder and lease, its checks, and the commands that it allows now.

use baton_api::{
    Allowed, AnsweredGate, AnsweredTag, ApprovalDocument, DelegatedVote, EvidenceDocument,
    GateDocument, HandoffDetail, HandoffExtras, OpenGate, OpenTag, Question,
};
use baton_core::gate::{Answer, Gate};
use baton_core::run::Handoff as OpenHandoff;
use baton_engine::{Can, EngineError, Texts, stored};
use baton_store::{HandoffRow, RunRow};
use baton_views::{
    GivenApproval, ObservedEvidence, PassedVote, PersonsAnswer, QuestionAndAnswer,
    unverified_claims,
};

use super::document::with_package;
use crate::scope::RequestScope;
use crate::v1::approvals::{ShownGate, is_authenticated, names_of, shown_gate};
use crate::v1::status::answer_command;

pub(in crate::v1) async fn handoff_detail(
    app: &RequestScope,
    row: &HandoffRow,
    run: &RunRow,
) -> Result<HandoffDetail, EngineError> {
    let views = app.read();
    // A single handoff is shown whole or not at all: an agent works from it.
    let texts = Texts::from(views.whole_texts_of(row).await?);
    let open = run.run.handoff(row.no);
    let gate = open.and_then(|it| it.gate.as_ref());
    let question = match gate {
        Some(gate) => Some(open_gate(app, row, gate).await?),
        None if row.to.agent.is_human() => views.answer_to(row.run, row.no).await?.map(answered),
        None => None,
    };
    let cast = views.cast(&run.run).await?;
    let evidence = evidence(app, row, open, gate).await?;
    let document = row.package.and_then(|it| texts.content(it)).and_then(stored::document);
    let beside = HandoffExtras {
        from_name: cast.at(&row.from.agent, row.no).name,
        to_name: cast.at(&row.to.agent, row.no).name,
        question,
        questions: views.exchanges(row).await?.into_iter().map(exchange).collect(),
        fence: open.map(|it| it.fence),
        lease_seconds: open.and_then(|it| it.lease),
        unverified: document.map(|it| unverified_claims(&it, &evidence)).unwrap_or_default(),
        evidence: evidence.iter().map(observed).collect(),
        can: views.can(row).await?.into_iter().map(allowed).collect(),
    };
    let mut handoff = with_package(row, &texts);
    let gates = views.gate_record(row.run).await?;
    handoff.row.approved_by = names_of(&gates.approved_by(row));
    // How a gate ended is what the person said, and a reject is no success.
    let is_reject = gates.answer_to(row.no).is_some_and(|it| it.answer == Answer::Reject);
    handoff.row.outcome = handoff.row.outcome.filter(|_| !is_reject);
    for (name, agent) in [("fromName", &row.from.agent), ("toName", &row.to.agent)] {
        if cast.is_damaged(agent, row.no) {
            handoff.row.damaged.push(name.to_owned());
        }
    }
    Ok(HandoffDetail { handoff, beside })
}

async fn evidence(
    app: &RequestScope,
    row: &HandoffRow,
    open: Option<&OpenHandoff>,
    gate: Option<&Gate>,
) -> Result<Vec<ObservedEvidence>, EngineError> {
    let evidence = match (gate, open) {
        (Some(gate), _) => gate.evidence.as_slice(),
        (None, Some(open)) => open.evidence.as_slice(),
        (None, None) => &[],
    };
    let mut seen = app.read().observed(row.run, evidence).await?;
    for checked in app.read().checked_evidence(row).await? {
        if !seen.iter().any(|it| it.evidence.check == checked.evidence.check) {
            seen.push(checked);
        }
    }
    Ok(seen)
}

pub(in crate::v1) fn observed(it: &ObservedEvidence) -> EvidenceDocument {
    let ran = it.ran.as_ref();
    EvidenceDocument {
        detail: it.detail.clone(),
        by: it.by.as_ref().map(ToString::to_string),
        is_claim: it.is_claim,
        exit_code: ran.and_then(|it| it.exit_code),
        millis: ran.map(|it| it.millis),
        commit: ran.and_then(|it| it.commit.as_ref()).map(ToString::to_string),
        tree: ran.and_then(|it| it.tree.as_ref()).map(ToString::to_string),
        ..EvidenceDocument::from(&it.evidence)
    }
}

async fn open_gate(
    app: &RequestScope,
    row: &HandoffRow,
    gate: &Gate,
) -> Result<GateDocument, EngineError> {
    let ShownGate { approvals, content_hash } = shown_gate(app, row.run, gate).await?;
    Ok(GateDocument::Open(OpenGate {
        state: OpenTag::Open,
        cause: gate.cause.name().to_owned(),
        why: gate.sentence(),
        choices: gate.choices().iter().map(|it| (*it).to_owned()).collect(),
        command: answer_command(&row.number.to_string(), gate.choices()),
        approvals,
        content_hash,
        reminded_at: gate.reminded_at,
    }))
}

fn answered(it: PersonsAnswer) -> GateDocument {
    let PersonsAnswer { answer, by, comment, at, approvals, passed_on } = it;
    let approval = |it: GivenApproval| ApprovalDocument {
        by: it.by.to_string(),
        on_behalf_of: it.on_behalf_of.first().map(ToString::to_string),
        at: it.at,
        comment: it.comment,
        authenticated: is_authenticated(it.identity),
    };
    let answer = answer.name().to_owned();
    GateDocument::Answered(AnsweredGate {
        state: AnsweredTag::Answered,
        answer,
        by: by.to_string(),
        comment,
        at,
        approvals: approvals.into_iter().map(approval).collect(),
        delegated: passed_on.into_iter().map(passed).collect(),
    })
}

fn passed(it: PassedVote) -> DelegatedVote {
    let (by, to) = (it.by.to_string(), it.to.to_string());
    DelegatedVote { by, to, at: it.at, comment: it.comment }
}

fn exchange(it: QuestionAndAnswer) -> Question {
    Question {
        id: it.row.id.0,
        number: it.row.number,
        label: it.row.no.label(),
        from: it.row.from.agent.to_string(),
        to: it.row.to.agent.to_string(),
        question: it.question,
        answer: it.answer,
        is_open: it.row.state.is_open(),
    }
}

fn allowed(can: Can) -> Allowed {
    let command = can.command.to_owned();
    Allowed { command, allowed: can.why_not.is_none(), why: can.why_not }
}
