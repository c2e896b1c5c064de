//! Work along an edge that has checks is parked until Baton's runner has run them. Passed, it goes on;
//! failed, it goes back to its sender and counts as a round; where no runner comes, a person is asked.

use super::draft::{Draft, wrong_state};
use super::gate::{
    Doubt, DoubtCause, Onward, edge_of, gate_between, open_gate_from, orchestrator, through_gate,
};
use super::offer::{AtOrchestrator, Offer, hand_over, offer};
use super::reject;
use crate::checked_work::CheckedWork;
use crate::command::{ClaimChecks, LoseLease, RanCheck, ReportChecks};
use crate::content::ContentId;
use crate::event::{ChecksEvent, EvidenceEvent, HandoffEvent, LeaseEvent};
use crate::evidence::{Evidence, PACKAGE_CHECK, Verdict};
use crate::gate::{Gate, GateCause, GateKind, ReachedLimit};
use crate::hash::Hash;
use crate::names::{CheckName, Reason};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Handoff, HandoffNo, Kind, RunStatus, State};
use crate::workflow::{Edge, Place};

/// How much of what failed is in the reason; the prompt of the sender shows all of it.
const MOST_TOLD_BYTES: usize = 48 * 1024;

/// Whether work along an edge has to be checked first: a check of it has not passed yet.
pub(super) fn is_needed(draft: &Draft<'_>, edge: &Edge, work: &Onward<'_>) -> bool {
    let evidence = draft.counting(work.evidence);
    let checks = checks_of(draft, edge);
    !checks.iter().all(|it| verdict(&evidence, it) == Some(Verdict::Passed))
}

/// Parks work on the checks of its edge.
pub(super) fn park(draft: &mut Draft<'_>, edge: &Edge, work: Onward<'_>) -> HandoffNo {
    let evidence = draft.counting(work.evidence);
    let checks = checks_of(draft, edge);
    let doubt = work.doubt.as_ref().filter(|it| it.stops(edge));
    let is_doubted = doubt.is_some();
    let is_raised = doubt.is_some_and(|it| it.cause == DoubtCause::Raised);
    let words = doubt.and_then(|it| it.words.as_ref());
    let reason = words.map(|it| draft.keep(it)).or(work.offer.reason);
    let parked = CheckedWork {
        checks,
        sender: work.offer.from.clone(),
        returns_to: work.asker,
        worker: work.offer.to.clone(),
        package: work.offer.package,
        reason,
        is_doubted,
        is_raised,
        edge: edge_of(&work.from, edge),
        came_by: work.came_by,
        warnings: work.offer.warning_words(),
        has_lost_lease: work.offer.has_lost_lease,
        entry: work.offer.entry,
        n_releases: 0,
    };
    draft.done.warnings.extend(work.offer.warnings);
    let handoff = request(draft, parked, 1, work.offer.follows);
    for Evidence { check, verdict, fence, .. } in evidence {
        let (detail, ran) = (None, None);
        draft.emit(EvidenceEvent::Recorded { handoff, check, verdict, detail, fence, ran });
    }
    settle(draft, handoff, &[]);
    draft.done.handoff.take().unwrap_or(handoff)
}

/// The checks of the edge itself, and those of its automatic gate that a runner can run.
fn checks_of(draft: &Draft<'_>, edge: &Edge) -> Vec<CheckName> {
    let gate = edge.gate.as_ref().filter(|it| it.kind == GateKind::Automatic);
    let of_gate = gate.map_or(&[][..], |it| &it.checks).iter();
    let of_gate = of_gate.filter(|it| draft.ground.checks.contains(it));
    let mut checks = edge.checks.clone();
    for check in of_gate {
        if !checks.contains(check) {
            checks.push(check.clone());
        }
    }
    checks
}

fn verdict(evidence: &[Evidence], check: &CheckName) -> Option<Verdict> {
    evidence.iter().find(|it| it.check == *check).map(|it| it.verdict)
}

fn request(
    draft: &mut Draft<'_>,
    work: CheckedWork,
    attempt: u32,
    follows: Option<HandoffNo>,
) -> HandoffNo {
    let until = draft.ground.now.checked_add(draft.workflow().limits.checks_within).ok();
    let waiting = Offer {
        reason: work.reason,
        forward: work.forward(),
        attempt,
        follows,
        told_warnings: work.warnings.clone(),
        // Its timer: if no runner has come by then, a person is asked.
        held_back_until: until,
        ..Offer::new(work.sender.clone(), orchestrator(), work.package)
    };
    let handoff = offer(draft, waiting);
    draft.emit(ChecksEvent::Requested { handoff, work });
    handoff
}

/// The parked work of a handoff.
fn parked(draft: &Draft<'_>, no: HandoffNo) -> Result<(Handoff, CheckedWork), Refusal> {
    let row = draft.open(no)?;
    match row.checks.as_deref().cloned() {
        Some(work) => Ok((row, work)),
        None => Err(Refusal::NoChecks { handoff: no }),
    }
}

/// A runner takes the checks.
pub(super) fn claim(draft: &mut Draft<'_>, claim: &ClaimChecks) -> Result<(), Refusal> {
    let (row, work) = parked(draft, claim.handoff)?;
    match row.state {
        State::Pending => {}
        State::Accepted | State::Parked | State::Clarification => {
            let holder = row.to.agent;
            return Err(Refusal::AlreadyAccepted { handoff: row.no, holder });
        }
    }
    if draft.run.status == RunStatus::Paused {
        return Err(Refusal::Paused);
    }
    let is_ours =
        |it: &&CheckName| draft.ground.checks.contains(it) || it.as_str() == PACKAGE_CHECK;
    let can_run = |it: &CheckName| claim.can_run.contains(it) || it.as_str() == PACKAGE_CHECK;
    let is_left =
        |it: &&CheckName| !row.evidence.iter().any(|seen| seen.is_observed && seen.check == **it);
    let ours: Vec<&CheckName> = work.checks.iter().filter(is_ours).filter(is_left).collect();
    if ours.is_empty() || !ours.iter().all(|it| can_run(it)) {
        return Err(Refusal::NoChecks { handoff: row.no });
    }
    let (handoff, by) = (row.no, row.to.agent);
    draft.emit(HandoffEvent::Accepted {
        handoff,
        by,
        is_implicit: false,
        acknowledgement: None,
        holder: None,
    });
    let fence = draft.open(handoff)?.fence;
    draft.emit(LeaseEvent::Granted { handoff, fence, seconds: claim.lease.seconds() });
    draft.done.handoff = Some(handoff);
    draft.done.fence = Some(fence);
    Ok(())
}

/// What a runner found.
pub(super) fn report(draft: &mut Draft<'_>, report: &ReportChecks) -> Result<(), Refusal> {
    let (row, _) = parked(draft, report.handoff)?;
    if row.lease.is_none() {
        return Err(Refusal::NoLease { handoff: row.no });
    }
    if row.fence != report.fence {
        let (fence, current) = (report.fence, Some(row.fence));
        return Err(Refusal::StaleFence { handoff: row.no, fence, current });
    }
    for RanCheck { check, verdict, detail, ran } in report.results.iter().cloned() {
        // What the project does not have, its runner cannot have run.
        let is_ours = draft.ground.checks.contains(&check) || check.as_str() == PACKAGE_CHECK;
        if !is_ours {
            return Err(Refusal::NoChecks { handoff: row.no });
        }
        let (detail, fence) = (Some(draft.keep(detail.as_str())), Some(row.fence));
        let (handoff, ran) = (row.no, Some(ran));
        draft.emit(EvidenceEvent::Recorded { handoff, check, verdict, detail, fence, ran });
    }
    draft.emit(LeaseEvent::Released { handoff: row.no, fence: row.fence });
    draft.done.handoff = Some(row.no);
    settle(draft, row.no, &report.results);
    if draft.run.handoff(row.no).is_some() {
        // The other checks are not a runner's: their results are posted.
        let (handoff, by) = (row.no, row.to.agent);
        draft.emit(HandoffEvent::Released { handoff, by, reason: None, is_counted: false });
    }
    Ok(())
}

/// Hands parked work on once every check has passed, or sends it back once one has failed.
pub(super) fn settle(draft: &mut Draft<'_>, no: HandoffNo, results: &[RanCheck]) {
    let Ok((row, work)) = parked(draft, no) else { return };
    let evidence = draft.counting(&row.evidence);
    let workflow = draft.workflow();
    let Some(edge) = workflow.edge_between(&work.edge.from, &work.edge.to, work.edge.on) else {
        return;
    };
    let decides = |it: &&Evidence| {
        edge.checks.contains(&it.check) || it.is_observed && it.check.as_str() == PACKAGE_CHECK
    };
    let failed: Vec<CheckName> = evidence
        .iter()
        .filter(decides)
        .filter(|it| it.verdict == Verdict::Failed)
        .map(|it| it.check.clone())
        .collect();
    if !failed.is_empty() {
        send_back(draft, &row, &work, edge, &failed, results);
        return;
    }
    if !work.checks.iter().all(|it| verdict(&evidence, it).is_some()) {
        return;
    }
    draft.complete(no, Outcome::Success, None);
    let offer = Offer {
        reason: work.reason,
        forward: work.forward(),
        reject_to: work.returns_to.clone(),
        follows: Some(no),
        told_warnings: work.warnings.clone(),
        has_lost_lease: work.has_lost_lease,
        entry: work.entry,
        tree: results.iter().find_map(|it| it.ran.tree.clone()),
        ..Offer::new(work.sender.clone(), work.worker.clone(), work.package)
    };
    let cause = match work.is_raised {
        true => DoubtCause::Raised,
        false => DoubtCause::Confidence,
    };
    let onward = Onward {
        offer,
        then: AtOrchestrator::of(&edge.to),
        came_by: work.came_by,
        evidence: &evidence,
        asker: work.returns_to,
        from: work.edge.from,
        doubt: work.is_doubted.then_some(Doubt { cause, words: None }),
    };
    draft.done.handoff = Some(through_gate(draft, edge, onward));
}

fn send_back(
    draft: &mut Draft<'_>,
    row: &Handoff,
    work: &CheckedWork,
    edge: &Edge,
    failed: &[CheckName],
    results: &[RanCheck],
) {
    let reason = draft.keep(&failure_reason(work, failed, results));
    let to = work.returns_to().clone();
    let forward = work.forward();
    let before = draft.run.rounds(row.branch, &forward).and_then(|it| it.findings);
    draft.emit(HandoffEvent::Rejected {
        handoff: row.no,
        by: row.to.agent.clone(),
        reason,
        forward: forward.clone(),
        findings: findings(failed, results),
    });
    // With the orchestrator the baton is loose, and a person is asked anyway.
    let enough = if to.place.is_work() { reject::is_enough(draft, &forward, before) } else { None };
    match enough {
        None => {
            let back = Offer {
                kind: Kind::Return,
                reason: Some(reason),
                forward: work.came_by.clone(),
                follows: Some(row.no),
                has_lost_lease: work.has_lost_lease,
                ..Offer::new(row.to.clone(), to, work.package)
            };
            let returned = hand_over(draft, back, AtOrchestrator::LiesLoose);
            draft.done.returned = Some(returned);
        }
        Some(GateCause::Rounds) => {
            let limit = reject::rounds_used(draft, &forward);
            ask(draft, row, work, edge, GateCause::Checks, limit, reason);
        }
        Some(_) => ask(draft, row, work, edge, GateCause::NoProgress, None, reason),
    }
}

/// A person decides instead of the checks: on with the work as it is, or back.
fn ask(
    draft: &mut Draft<'_>,
    row: &Handoff,
    work: &CheckedWork,
    edge: &Edge,
    cause: GateCause,
    limit: Option<ReachedLimit>,
    reason: ContentId,
) {
    let asker = work.returns_to().clone();
    let gate = Gate {
        edge: Some(edge_of(&work.edge.from, edge)),
        has_lost_lease: work.has_lost_lease,
        evidence: row.evidence.clone(),
        warnings: work.warnings.clone(),
        limit,
        ..gate_between(cause, asker, work.worker.clone(), work.package, Some(reason), &work.came_by)
    };
    draft.done.handoff = Some(open_gate_from(draft, work.sender.clone(), gate, Some(row.no)));
}

/// No runner has come in time.
pub(super) fn nobody_came(draft: &mut Draft<'_>, row: &Handoff) -> Result<(), Refusal> {
    let (_, work) = parked(draft, row.no)?;
    let waited = draft.workflow().limits.checks_within;
    let why = format!(
        "No runner has run the checks of this work ({}) within {} seconds: none is there, or none \
         that has these checks and trusts them",
        listed(&work.checks),
        waited.as_secs()
    );
    give_up(draft, row, &work, &why);
    Ok(())
}

/// The runner was lost with the checks, or says why it cannot run them. They are tried again, and then
/// asked of a person.
pub(super) fn lose(draft: &mut Draft<'_>, row: &Handoff, lose: &LoseLease) -> Result<(), Refusal> {
    let (fence, reason) = (lose.fence, lose.reason.as_ref());
    let (_, work) = parked(draft, row.no)?;
    if row.lease.is_none() {
        return Err(Refusal::NoLease { handoff: row.no });
    }
    if row.fence != fence {
        return Err(Refusal::StaleFence { handoff: row.no, fence, current: Some(row.fence) });
    }
    draft.emit(LeaseEvent::Lost { handoff: row.no, fence });
    let lost = reason.map_or("The runner of the checks stopped answering", Reason::as_str);
    // A runner that says what keeps it from running them would be kept from it again.
    if lose.asks || row.attempt > draft.workflow().limits.retries {
        give_up(draft, row, &work, &format!("The checks could not be run: {lost}"));
        return Ok(());
    }
    let lost = draft.keep(lost);
    draft.emit(HandoffEvent::TimedOut { handoff: row.no, reason: Some(lost) });
    draft.done.handoff = Some(request(draft, work, row.attempt + 1, Some(row.no)));
    Ok(())
}

/// A runner gives the checks back undone: it has to stop.
pub(super) fn release(
    draft: &mut Draft<'_>,
    row: &Handoff,
    fence: Option<u32>,
    reason: Option<&Reason>,
) -> Result<(), Refusal> {
    let (_, work) = parked(draft, row.no)?;
    if row.lease.is_none() {
        return Err(wrong_state("release", row, "no runner has it"));
    }
    if fence != Some(row.fence) {
        let fence = fence.unwrap_or_default();
        return Err(Refusal::StaleFence { handoff: row.no, fence, current: Some(row.fence) });
    }
    draft.emit(LeaseEvent::Released { handoff: row.no, fence: row.fence });
    if work.n_releases >= draft.workflow().limits.releases {
        give_up(draft, row, &work, "Runners have given the checks back too often");
        return Ok(());
    }
    let reason = draft.keep_some(reason);
    draft.emit(HandoffEvent::Superseded { handoff: row.no, reason });
    let work = CheckedWork { n_releases: work.n_releases + 1, ..work };
    draft.done.handoff = Some(request(draft, work, row.attempt, Some(row.no)));
    Ok(())
}

fn give_up(draft: &mut Draft<'_>, row: &Handoff, work: &CheckedWork, why: &str) {
    let reason = draft.keep(why);
    draft.emit(HandoffEvent::Superseded { handoff: row.no, reason: Some(reason) });
    let workflow = draft.workflow();
    let edge = workflow.edge_between(&work.edge.from, &work.edge.to, work.edge.on);
    if let Some(edge) = edge {
        ask(draft, row, work, edge, GateCause::Checks, None, reason);
    }
}

/// What failed, in words for the sender.
fn failure_reason(work: &CheckedWork, failed: &[CheckName], results: &[RanCheck]) -> String {
    let worker = match &work.worker.place {
        Place::Step(_) | Place::Delegate(_) | Place::Human => format!("`{}`", work.worker.agent),
        Place::Orchestrator => "the end of the run".to_owned(),
    };
    let mut words = format!(
        "{} failed when Baton checked this work, before {worker} gets it. Make it pass, then hand on \
         again.",
        listed(failed)
    );
    let mut shown: Vec<&RanCheck> =
        results.iter().filter(|it| failed.contains(&it.check)).collect();
    shown.sort_by_key(|it| failed.iter().position(|check| *check == it.check));
    let most = MOST_TOLD_BYTES / shown.len().max(1);
    for RanCheck { check, detail, ran, .. } in shown {
        let end = match ran.exit_code {
            Some(code) => format!(": exit code {code} after {} ms", ran.millis),
            None => String::new(),
        };
        let commit = ran.commit.as_ref().map(|it| format!(", at commit {it}")).unwrap_or_default();
        words += &format!("\n\n`{check}` failed{end}{commit}\n{}", end_of(detail.as_str(), most));
    }
    words
}

/// The end of a text: what failed is at the end of what a check prints.
fn end_of(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// The same failures of the very same tree are no progress. Without a tree, the same output is.
fn findings(failed: &[CheckName], results: &[RanCheck]) -> Option<Hash> {
    if results.is_empty() {
        return None;
    }
    let mut text = String::new();
    for check in failed {
        let result = results.iter().find(|it| it.check == *check);
        let tree = result.and_then(|it| it.ran.tree.as_ref()).map(|it| it.as_str().to_owned());
        let of = tree.or_else(|| result.map(|it| it.detail.as_str().to_owned()));
        text += &format!("{check}\n{}\n", of.unwrap_or_default());
    }
    Some(Hash::of(text.as_bytes()))
}

fn listed(checks: &[CheckName]) -> String {
    let names: Vec<String> = checks.iter().map(|it| format!("`{it}`")).collect();
    names.join(", ")
}
