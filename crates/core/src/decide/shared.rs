//! Decisions, context documents and questions between agents: what is recorded, and what is refused.

use super::draft::Draft;
use super::person::only_a_person;
use crate::collaboration::{
    Collaboration, ContextMark, DecisionItem, DecisionMark, DecisionState, OpenAsk, RecordDecision,
    SetContext, fingerprint, id_fingerprint, unsalted_fingerprint, waits_for,
};
use crate::content::ContentId;
use crate::event::{ContextEvent, DecisionEvent, MessageEvent};
use crate::names::{AgentId, FreeText};
use crate::refusal::Refusal;
use crate::run::{HandoffNo, Run};
use crate::view::ReportedDecision;

pub(super) fn decide(draft: &mut Draft<'_>, command: &Collaboration) -> Result<(), Refusal> {
    match command {
        Collaboration::Decide(it) => record(draft, it),
        Collaboration::LockDecision { decision, by, reason } => {
            only_a_person(draft, by)?;
            let mark = known(draft, *decision)?;
            if mark.state == DecisionState::Superseded {
                return Err(Refusal::DecisionSuperseded { decision: *decision });
            }
            // Locking twice changes nothing.
            if !mark.is_locked {
                let reason = draft.keep_some(reason.as_ref());
                let (decision, by) = (*decision, by.clone());
                draft.emit(DecisionEvent::Locked { decision, by, reason });
            }
            Ok(())
        }
        Collaboration::SetContext(it) => set_context(draft, it),
        Collaboration::ReadContext { by, documents } => {
            if !documents.is_empty() {
                let (by, documents) = (by.clone(), documents.clone());
                draft.emit(ContextEvent::Read { by, documents });
            }
            Ok(())
        }
        Collaboration::Ask { by, to, question } => ask(draft, by, to, question),
        Collaboration::Reply { ask, by, answer } => reply(draft, *ask, by.as_ref(), answer),
        Collaboration::Lapse { ask } => lapse(draft, *ask),
    }
}

/// Records what the package of a new handoff decides, and no package of the run has decided before. A
/// choice that is asked again, because the answer to it did not come, is open again under its number.
pub(super) fn state(
    draft: &mut Draft<'_>,
    handoff: HandoffNo,
    by: &AgentId,
    package: ContentId,
    stated: &[ReportedDecision],
) {
    if stated.is_empty() || draft.run.decisions.len() >= DecisionMark::MOST {
        return;
    }
    let is_news = |it: &ReportedDecision| {
        let unsalted = unsalted_fingerprint(draft.run.id, it.id.as_deref(), &it.decision);
        draft.run.decisions.iter().all(|mark| mark.fingerprint != unsalted)
    };
    let news: Vec<(u32, &ReportedDecision)> =
        (0..).zip(stated).filter(|(_, it)| is_news(it)).collect();
    if news.is_empty() {
        return;
    }
    let (salt_text, salt) = draft.decision_salt();
    let decisions = items(&draft.run, &salt_text, &news);
    if decisions.is_empty() {
        return;
    }
    let (portrait, is_new_cast) = (draft.run.casts.last().map(|it| it.cast), false);
    let (by, handoff, package, text) = (by.clone(), Some(handoff), Some(package), None);
    draft.emit(DecisionEvent::Recorded {
        by,
        decisions,
        handoff,
        package,
        text,
        portrait,
        salt,
        is_new_cast,
    });
}

/// Decisions of a package, each with its number: a new one, or that of the choice that it asks again.
fn items(run: &Run, salt: &str, news: &[(u32, &ReportedDecision)]) -> Vec<DecisionItem> {
    let mut items: Vec<(DecisionItem, &ReportedDecision)> = Vec::new();
    let mut n_decisions = run.decisions.len();
    for (index, it) in news {
        let fingerprint = fingerprint(salt, it.id.as_deref(), &it.decision);
        if items.iter().any(|(item, _)| item.fingerprint == fingerprint) {
            continue;
        }
        let before = (1..).zip(&run.decisions).find(|(_, mark)| mark.fingerprint == fingerprint);
        let no = match before {
            Some((no, mark)) if is_asked_again(run, mark) => no,
            Some(_) => continue,
            None if n_decisions >= DecisionMark::MOST => continue,
            None => {
                n_decisions += 1;
                u32::try_from(n_decisions).unwrap_or(u32::MAX)
            }
        };
        // `pending` is the id of every open one.
        let own_id = it.id.as_deref().filter(|_| !it.is_open());
        let item = DecisionItem {
            no,
            index: *index,
            fingerprint,
            id_fingerprint: own_id.map(|id| id_fingerprint(salt, id)),
            is_open: it.is_open(),
            supersedes: None,
            depends_on: Vec::new(),
        };
        items.push((item, *it));
    }
    let named = |of: &DecisionItem, name: &String| number_of(run, salt, &items, of.no, name);
    let referring = |(item, stated): &(DecisionItem, &ReportedDecision)| {
        let supersedes = stated.supersedes.as_ref().and_then(|it| named(item, it));
        // A locked decision is replaced by a person only, and in so many words.
        let is_locked = |no: &u32| run.decision(*no).is_some_and(|it| it.is_locked);
        let mut depends_on: Vec<u32> =
            stated.depends_on.iter().filter_map(|it| named(item, it)).collect();
        depends_on.dedup();
        let supersedes = supersedes.filter(|it| !is_locked(it));
        DecisionItem { supersedes, depends_on, ..item.clone() }
    };
    items.iter().map(referring).collect()
}

/// The choice is open, and the gate that asked for it does not wait any more.
fn is_asked_again(run: &Run, mark: &DecisionMark) -> bool {
    let asks = |no| run.handoff(no).is_some_and(|it| it.gate.is_some());
    mark.state == DecisionState::Open && !mark.asked_by.is_some_and(asks)
}

/// The decision that a package refers to: by its author's id in the same package, by its number in the
/// run, or by its author's id in an earlier package.
fn number_of(
    run: &Run,
    salt: &str,
    items: &[(DecisionItem, &ReportedDecision)],
    own: u32,
    name: &str,
) -> Option<u32> {
    let id = Some(id_fingerprint(salt, name));
    let beside = items.iter().find(|(it, _)| it.no != own && it.id_fingerprint == id);
    if let Some((item, _)) = beside {
        return Some(item.no);
    }
    let digits = name.trim().trim_start_matches('#');
    if let Some(no) = digits.parse().ok().filter(|it| *it != own && run.decision(*it).is_some()) {
        return Some(no);
    }
    let earlier =
        (1..).zip(&run.decisions).filter(|(no, it)| *no != own && it.id_fingerprint == id);
    earlier.last().map(|it| it.0)
}

fn record(draft: &mut Draft<'_>, it: &RecordDecision) -> Result<(), Refusal> {
    let n_before = draft.run.decisions.len();
    if n_before >= DecisionMark::MOST {
        return Err(Refusal::TooManyDecisions { n: n_before });
    }
    for no in &it.depends_on {
        known(draft, *no)?;
    }
    if let Some(no) = it.supersedes {
        let before = known(draft, no)?;
        if matches!(before.state, DecisionState::Superseded | DecisionState::Answered) {
            return Err(Refusal::DecisionSuperseded { decision: no });
        }
        if before.is_locked {
            let is_agent = it.by.as_ref().is_some_and(|it| !it.is_human());
            if is_agent || only_a_person(draft, &it.principal).is_err() {
                return Err(Refusal::DecisionLocked { decision: no });
            }
        }
    }
    let by = it.by.clone().unwrap_or_else(AgentId::human);
    let no = u32::try_from(n_before + 1).unwrap_or(u32::MAX);
    let (salt_text, salt) = draft.decision_salt();
    let item = DecisionItem {
        no,
        index: 0,
        fingerprint: fingerprint(&salt_text, None, &it.text.decision),
        id_fingerprint: None,
        is_open: false,
        supersedes: it.supersedes,
        depends_on: it.depends_on.clone(),
    };
    let text = Some(draft.keep(&it.text.to_text()));
    let (portrait, is_new_cast) = draft.portrait_now();
    let (decisions, handoff, package) = (vec![item], None, None);
    draft.emit(DecisionEvent::Recorded {
        by,
        decisions,
        handoff,
        package,
        text,
        portrait,
        salt,
        is_new_cast,
    });
    if let Some(decision) = it.supersedes {
        draft.emit(DecisionEvent::Superseded { decision, replaced_by: no });
    }
    Ok(())
}

fn known(draft: &Draft<'_>, no: u32) -> Result<DecisionMark, Refusal> {
    let n = draft.run.decisions.len();
    let mark = draft.run.decision(no).cloned();
    mark.ok_or(Refusal::NoSuchDecision { decision: no, n })
}

fn set_context(draft: &mut Draft<'_>, it: &SetContext) -> Result<(), Refusal> {
    let before = draft.run.context.iter().find(|mark| mark.key == it.key);
    let actual = before.map_or(0, |it| it.version);
    if actual != it.expected {
        let by = before.map_or_else(String::new, |it| it.by.clone());
        let (key, expected) = (it.key.clone(), it.expected);
        return Err(Refusal::ContextChanged { key, expected, actual, by });
    }
    let is_new = before.is_none();
    let others = draft.run.context.iter().filter(|mark| mark.key != it.key);
    let n_others: usize = others.map(|it| it.n_bytes as usize).sum();
    let n_bytes = it.text.as_str().len();
    let is_many = is_new && draft.run.context.len() >= ContextMark::MOST_DOCUMENTS;
    if is_many || n_others + n_bytes > ContextMark::MOST_BYTES {
        let (n_bytes, n_documents) = (n_others + n_bytes, draft.run.context.len());
        return Err(Refusal::ContextFull { n_bytes, n_documents });
    }
    let text = draft.keep(it.text.as_str());
    let by = it.by.as_ref().map_or_else(|| it.principal.to_string(), ToString::to_string);
    let n_bytes = u32::try_from(n_bytes).unwrap_or(u32::MAX);
    let (key, version) = (it.key.clone(), actual + 1);
    draft.emit(ContextEvent::Changed { key, version, by, text, n_bytes });
    Ok(())
}

fn ask(
    draft: &mut Draft<'_>,
    by: &AgentId,
    to: &AgentId,
    question: &FreeText,
) -> Result<(), Refusal> {
    if let Some(path) = waits_for(&draft.run.asks, to, by) {
        let path = match path.as_slice() {
            [_] => "an agent would wait for itself".to_owned(),
            path => {
                let path: Vec<String> = path.iter().map(|it| format!("`{it}`")).collect();
                path.join(" waits for ")
            }
        };
        return Err(Refusal::AskCycle { by: by.clone(), to: to.clone(), path });
    }
    if draft.run.asks.len() >= OpenAsk::MOST_OPEN {
        return Err(Refusal::TooManyAsks { n: draft.run.asks.len() });
    }
    let text = draft.keep(question.as_str());
    let (portrait, is_new_cast) = draft.portrait_now();
    let (ask, correlation) = (draft.run.n_asks + 1, draft.ground.fresh.id());
    let due = draft.ground.now + OpenAsk::TIME_OUT;
    let (by, to) = (by.clone(), to.clone());
    draft.emit(MessageEvent::Asked { ask, correlation, by, to, text, due, portrait, is_new_cast });
    Ok(())
}

fn reply(
    draft: &mut Draft<'_>,
    no: u32,
    by: Option<&AgentId>,
    answer: &FreeText,
) -> Result<(), Refusal> {
    let open = open_ask(draft, no)?;
    // A person may always answer, and only a person in the place of the agent.
    if let Some(caller) = draft.ground.caller.filter(|_| by.is_none_or(AgentId::is_human)) {
        only_a_person(draft, caller)?;
    }
    if let Some(by) = by.filter(|it| !it.is_human() && **it != open.to) {
        return Err(Refusal::NotAsked { ask: no, to: open.to, by: by.clone() });
    }
    let by = by.cloned().unwrap_or_else(AgentId::human);
    let text = draft.keep(answer.as_str());
    let (portrait, is_new_cast) = draft.portrait_now();
    draft.emit(MessageEvent::Replied { ask: no, by, text, portrait, is_new_cast });
    Ok(())
}

fn lapse(draft: &mut Draft<'_>, no: u32) -> Result<(), Refusal> {
    let open = open_ask(draft, no)?;
    let now = draft.ground.now;
    if now < open.due {
        return Err(Refusal::AskNotDue { ask: no, due: open.due });
    }
    if open.attempt < OpenAsk::MOST_ATTEMPTS {
        draft.emit(MessageEvent::Repeated { ask: no, due: now + OpenAsk::TIME_OUT });
    } else {
        draft.emit(MessageEvent::Unanswered { ask: no });
    }
    Ok(())
}

fn open_ask(draft: &Draft<'_>, no: u32) -> Result<OpenAsk, Refusal> {
    let open = draft.run.asks.iter().find(|it| it.no == no).cloned();
    open.ok_or(Refusal::NoOpenAsk { ask: no, n: draft.run.n_asks })
}
