//! Approvals by several people: who may answer a gate, how votes are given and passed on, and the one
//! reminder.

use jiff::Timestamp;

use super::draft::Draft;
use super::person::only_a_person;
use crate::approval::{GateApproval, PersonIdentity, Vote};
use crate::collaboration::{decisions_in_words, has_open_decisions};
use crate::command::{DelegateVote, GateAnswer};
use crate::content::ContentId;
use crate::event::GateEvent;
use crate::gate::{Answer, Gate, GateKind};
use crate::look_alike::is_same_person;
use crate::names::Principal;
use crate::person::is_unnamed;
use crate::refusal::Refusal;
use crate::run::{Handoff, HandoffNo, State};
use crate::workflow::EdgeGate;

/// The author of a package that comes with this command, where a gate of the workflow asks who that is:
/// the caller, or the one who held the work, where the caller states no name.
pub(super) fn author(draft: &Draft<'_>, package: Option<ContentId>) -> Option<Principal> {
    let is_asked_for =
        draft.workflow().has_approvers() && package.is_some_and(|it| draft.is_new(it));
    let caller = draft.ground.caller.filter(|_| is_asked_for)?;
    let held = draft.ended_holder().filter(|_| is_unnamed(caller));
    Some(held.unwrap_or(caller).clone())
}

/// The caller that takes work, where a gate of the workflow asks who made a package.
pub(super) fn holder(draft: &Draft<'_>) -> Option<Principal> {
    let caller = draft.ground.caller.filter(|it| !is_unnamed(it));
    caller.filter(|_| draft.workflow().has_approvers()).cloned()
}

/// With the approvals that the gate's edge asks for, and the time of the reminder. An advisory gate
/// stops nothing, and needs neither.
pub(super) fn asked_for(draft: &Draft<'_>, gate: Gate) -> Gate {
    if gate.kind == GateKind::Advisory {
        return gate;
    }
    let declared = gate.edge_in(draft.workflow()).and_then(|it| it.gate.as_ref());
    let approvers = declared.and_then(|it| it.approvers.as_ref());
    let approvers = approvers.filter(|_| gate.takes(&Answer::Approve));
    let made = |package| draft.run.authors.iter().find(|it| it.package == package);
    let author = gate.package.and_then(made).map(|it| it.by.clone());
    let after = declared.and_then(|it| it.remind_after).unwrap_or(EdgeGate::REMIND_AFTER);
    Gate {
        approval: approvers.map(|it| GateApproval::opened(it, author)),
        remind_at: draft.ground.now.checked_add(after).ok(),
        ..gate
    }
}

/// Whether this person may give this answer.
pub(super) fn check(row: &Handoff, gate: &Gate, answer: &GateAnswer) -> Result<(), Refusal> {
    let Some(asked) = &gate.approval else { return Ok(()) };
    let (handoff, by) = (row.no, &answer.by);
    let is_counted = !asked.is_for_all || answer.answer == Answer::Approve;
    if is_counted && is_unnamed(by) && (asked.is_for_all || asked.vote_of(by).is_none()) {
        return Err(Refusal::UnnamedCaller { handoff, by: by.clone() });
    }
    if answer.answer == Answer::Approve {
        check_new(handoff, asked, by)?;
    }
    match asked.is_for_all || asked.vote_of(by).is_some() {
        true => Ok(()),
        false => Err(not_an_approver(handoff, asked, by)),
    }
}

/// Neither the author approves, nor a person for the second time, under whatever spelling.
fn check_new(handoff: HandoffNo, asked: &GateApproval, by: &Principal) -> Result<(), Refusal> {
    if asked.is_author(by) {
        return Err(Refusal::OwnWork { handoff, by: by.clone() });
    }
    match asked.approved_as(by) {
        Some(before) => {
            let (by, before) = (by.clone(), before.clone());
            Err(Refusal::AlreadyApproved { handoff, by, before })
        }
        None => Ok(()),
    }
}

/// Records an approval. True where the gate has all that it needs.
pub(super) fn approve(
    draft: &mut Draft<'_>,
    row: &Handoff,
    answer: &GateAnswer,
    comment: Option<ContentId>,
) -> bool {
    let package = row.gate.as_ref().and_then(|it| it.package);
    let (handoff, by, identity) = (row.no, answer.by.clone(), PersonIdentity::Unauthenticated);
    let decisions = decisions_in_words(&draft.run, handoff, answer.comment.as_ref());
    draft.emit(GateEvent::Approved { handoff, by, package, comment, identity, decisions });
    let gate = draft.run.handoff(handoff).and_then(|it| it.gate.as_ref());
    gate.and_then(|it| it.approval.as_ref()).is_none_or(GateApproval::is_enough)
}

/// The open decisions that an answer closes: those that its words are about. An approval by several people
/// closes what any of them wrote about; without words nothing is decided, and nothing by a person who
/// sends the package back.
pub(super) fn answered(draft: &Draft<'_>, row: &Handoff, answer: &GateAnswer) -> Option<Vec<u32>> {
    let gate = draft.run.handoff(row.no).and_then(|it| it.gate.as_ref());
    let approval = gate.and_then(|it| it.approval.as_ref());
    match (&answer.answer, approval) {
        _ if !has_open_decisions(&draft.run, row.no) => None,
        (Answer::Approve, Some(approval)) => Some(approval.decisions()),
        (Answer::Reject | Answer::Abort, _) => Some(Vec::new()),
        (
            Answer::Continue
            | Answer::Accept
            | Answer::Approve
            | Answer::Reply
            | Answer::Question
            | Answer::Modify
            | Answer::HandTo(_),
            _,
        ) => Some(decisions_in_words(&draft.run, row.no, answer.comment.as_ref())),
    }
}

/// A person lets another one approve in their place.
pub(super) fn delegate(draft: &mut Draft<'_>, asked: &DelegateVote) -> Result<(), Refusal> {
    let DelegateVote { gate: no, by, to, comment } = asked;
    let row = draft.open(*no)?;
    let Some(gate) = &row.gate else { return Err(Refusal::NotAGate { handoff: *no }) };
    only_a_person(draft, by)?;
    only_a_person(draft, to)?;
    let approval = gate.approval.as_ref().filter(|it| !it.is_for_all);
    let Some(approval) = approval else { return Err(Refusal::NoVote { handoff: *no }) };
    check_new(*no, approval, by)?;
    let Some(vote) = approval.vote_of(by) else {
        return Err(not_an_approver(*no, approval, by));
    };
    if let Some(why) = why_not_to(approval, vote, to) {
        return Err(Refusal::BadDelegate { handoff: *no, by: by.clone(), to: to.clone(), why });
    }
    let comment = draft.keep_words(comment.as_ref());
    let (by, to, identity) = (by.clone(), to.clone(), PersonIdentity::Unauthenticated);
    draft.emit(GateEvent::Delegated { handoff: *no, by, to, comment, identity });
    draft.done.handoff = Some(*no);
    Ok(())
}

/// A vote goes to a new person: not back, and not to one who has a vote or may have none.
fn why_not_to(approval: &GateApproval, vote: &Vote, to: &Principal) -> Option<String> {
    if is_unnamed(to) {
        return Some("that is how callers go by that state no name".to_owned());
    }
    let is_it = |it: &Principal| is_same_person(it.as_str(), to.as_str());
    if vote.holder().is_some_and(is_it) {
        return Some("it is theirs already".to_owned());
    }
    if vote.holders.iter().any(is_it) {
        return Some("it came from them, and goes to no person twice".to_owned());
    }
    if approval.is_author(to) {
        return Some("they made the package".to_owned());
    }
    if approval.votes.iter().filter_map(Vote::holder).any(is_it) {
        return Some("they have a vote of their own, and one person counts once".to_owned());
    }
    let most = Vote::MOST_HOLDERS;
    (vote.holders.len() >= most).then(|| format!("{most} people have had it, and that is the most"))
}

fn not_an_approver(handoff: HandoffNo, asked: &GateApproval, by: &Principal) -> Refusal {
    let had = |it: &&Vote| it.holders.contains(by);
    let given = asked.votes.iter().find(had).and_then(Vote::holder);
    let holders = || asked.votes.iter().filter_map(Vote::holder);
    let alike = holders().find(|it| is_same_person(it.as_str(), by.as_str()));
    let instead = match (given, alike) {
        (Some(to), _) => format!("the vote is with `{to}` now"),
        (None, Some(name)) => format!("did you mean `{name}`? Names are compared letter by letter"),
        (None, None) => "one of them may pass the vote on with `baton delegate`".to_owned(),
    };
    let names: Vec<String> = holders().map(|it| format!("`{it}`")).collect();
    Refusal::NotAnApprover { handoff, by: by.clone(), approvers: names.join(", "), instead }
}

/// Reminds people of a gate, once.
pub(super) fn remind(draft: &mut Draft<'_>, no: HandoffNo) -> Result<(), Refusal> {
    let row = draft.open(no)?;
    if row.gate.is_none() {
        return Err(Refusal::NotAGate { handoff: no });
    }
    match remind_at(&row) {
        Some(due) if due <= draft.ground.now => {
            draft.emit(GateEvent::Reminded { handoff: no });
            draft.done.handoff = Some(no);
            Ok(())
        }
        due => Err(Refusal::NotDue { handoff: no, due }),
    }
}

/// When people are reminded of a gate. Not while its question is with the sender.
pub fn remind_at(handoff: &Handoff) -> Option<Timestamp> {
    let gate = handoff.gate.as_ref()?;
    match handoff.state {
        State::Pending if gate.reminded_at.is_none() => gate.remind_at,
        State::Pending | State::Clarification | State::Accepted | State::Parked => None,
    }
}
