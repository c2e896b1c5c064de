//! The data that was read, and its meaning for one receiver: from rows and events to a [`Brief`].

use std::sync::Arc;

use baton_core::agent::Agent;
use baton_core::content::{ContentId, ContentKind};
use baton_core::document::Node;
use baton_core::event::{
    BlockerEvent, Event, EvidenceEvent, GateEvent, HandoffEvent, QuestionEvent, StepEvent,
};
use baton_core::evidence::{self, Evidence};
use baton_core::gate::GateCause;
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_core::run::{Ended, Handoff, HandoffNo, HandoffState, Kind, Party};
use baton_core::story::Story;
use baton_core::view::View;
use baton_core::workflow::{Place, RejectRule, Workflow};
use baton_store::{HandoffRow, RunRow};

use crate::handoff_queries::{QuestionAndAnswer, questions_about};
use crate::inbox::said_in;
use crate::prompt::brief::{
    AskedQuestion, Brief, BriefBlocker, BriefHandoff, BriefStory, DelegateResult, FailedAttempt,
    Parcel, PersonAnswer, Round, Settled, WaitingWork,
};
use crate::prompt::fence::one_line;
use crate::prompt::gather::shared::SharedBrief;
use crate::prompt::untrusted::UntrustedText;
use baton_engine::branch_of;
use baton_engine::stored;
use baton_engine::{LOST_TEXT, Repository, WholeTexts};
use baton_wire::project_file::ProjectFile;

pub(super) struct PromptInputs {
    pub(super) workflow: Arc<Workflow>,
    pub(super) agent: Agent,
    pub(super) story: Story,
    pub(super) row: HandoffRow,
    pub(super) open: Handoff,
    pub(super) run: RunRow,
    /// All handoffs of the run, oldest first.
    pub(super) rows: Vec<HandoffRow>,
    pub(super) events: Vec<Event>,
    /// The receiver's own waiting handoff.
    pub(super) caller: Option<HandoffNo>,
    pub(super) texts: WholeTexts,
    pub(super) repository: Repository,
    pub(super) project: ProjectFile,
    pub(super) discoveries: Option<UntrustedText>,
    pub(super) shared: SharedBrief,
}

impl PromptInputs {
    pub(super) fn into_brief(mut self) -> Brief {
        let rounds = self.rounds();
        let extra =
            self.run.run.rounds(self.open.branch, &self.open.forward).map_or(0, |it| it.n_extra);
        let forward = &self.open.forward;
        let package = self.package();
        let SharedBrief { decisions, n_earlier_decisions, documents } =
            std::mem::take(&mut self.shared);
        Brief {
            decisions,
            n_earlier_decisions,
            documents,
            branch: one_line(&branch_of(&self.story), Story::MOST_BRANCH),
            wanted: self.wanted(package.as_ref()),
            run: self.run.number,
            handoff: self.handoff(),
            work: self.work(),
            given: self.given_row().and_then(|it| self.parcel(it)),
            own_last: self.own_last(),
            sender_input: self.sender_input(),
            is_rework: self.is_rework(),
            exchanges: self.asked(),
            blockers: self.blockers(),
            failed: self.failed(),
            people: self.people(),
            brought: self.brought(),
            joined: self.joined(),
            forked: self.forked_row().and_then(|it| self.parcel(it)),
            most_rounds: self.workflow.rounds_of(&forward.from, &forward.to) + extra,
            rounds,
            warnings: self.row.warnings.clone(),
            evidence: self.evidence(),
            story: self.row.story.clone(),
            package,
            workflow: self.workflow,
            agent: self.agent,
            repository: self.repository,
            project: self.project,
            discoveries: self.discoveries,
        }
    }

    /// The package that the prompt is about.
    pub(super) fn package(&self) -> Option<Parcel> {
        self.package_row().and_then(|it| self.parcel(it))
    }

    /// Every text except the packages of handoffs that do not concern the receiver.
    pub(super) fn texts_needed(&self) -> Vec<ContentId> {
        let of_rows = self.rows.iter().flat_map(|it| [Some(it.reason), it.ended_reason]);
        let packages =
            [self.package_row(), self.given_row(), self.own_last_row(), self.sender_input_row()];
        let packages = packages.into_iter().flatten().chain(self.clarified_row());
        let joined = self.joined_rows().into_iter().map(|(it, _)| it).chain(self.forked_row());
        let packages = packages.chain(self.brought_rows()).chain(joined).map(|it| it.package);
        let failed = self.failed_package().map(|(_, _, package)| package);
        let mut ids: Vec<ContentId> = of_rows.chain(packages).chain([failed]).flatten().collect();
        for event in &self.events {
            if let Event::Gate(GateEvent::Answered { comment, .. }) = event {
                ids.extend(*comment);
            }
            if let Event::Blocker(BlockerEvent::Raised { about, .. }) = event {
                ids.push(*about);
            }
            if let Event::Blocker(
                BlockerEvent::Resolved { how: said, .. } | BlockerEvent::Waived { why: said, .. },
            ) = event
            {
                ids.extend(*said);
            }
            if let Event::Question(QuestionEvent::Answered { answer, .. }) = event {
                ids.push(*answer);
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    pub(super) fn sender_input(&self) -> Option<Parcel> {
        self.sender_input_row().and_then(|it| self.parcel(it))
    }

    fn caller_row(&self) -> Option<&HandoffRow> {
        self.find(self.caller?)
    }

    /// The receiver's earlier input, where the handoff only brings something back to it.
    fn given_row(&self) -> Option<&HandoffRow> {
        let is_given = |it: &&HandoffRow| {
            let is_work = matches!(it.kind, Kind::Sequential | Kind::Delegation);
            is_work && it.to.place == self.row.to.place && it.no < self.row.no
        };
        match self.row.kind {
            Kind::Return => {
                let before = || self.rows.iter().rev().find(is_given);
                self.caller_row().or_else(before).filter(|it| it.package != self.row.package)
            }
            Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Question => None,
        }
    }

    /// The person's gate that the work passed to get here.
    pub(super) fn gate_before(&self) -> Option<&HandoffRow> {
        let first = self.attempts().last().and_then(|it| self.find(*it))?;
        self.find(first.follows?).filter(|it| it.to.place == Place::Human)
    }

    pub(super) fn find(&self, no: HandoffNo) -> Option<&HandoffRow> {
        self.rows.iter().find(|it| it.no == no)
    }

    pub(super) fn words(&self, id: ContentId) -> UntrustedText {
        self.texts.get(id).unwrap_or(LOST_TEXT).into()
    }

    /// The handoff and its earlier attempts, newest first.
    fn attempts(&self) -> Vec<HandoffNo> {
        let mut attempts = vec![self.row.no];
        let mut last = Some(&self.row);
        while let Some(row) = last.filter(|it| it.attempt > 1) {
            last = row.follows.and_then(|it| self.find(it)).filter(|it| it.no < row.no);
            attempts.extend(last.map(|it| it.no));
        }
        attempts
    }

    /// The row whose package the prompt is about; for a question, the handoff that it is about.
    fn package_row(&self) -> Option<&HandoffRow> {
        match self.row.kind {
            Kind::Question => self.row.follows.and_then(|it| self.find(it)),
            Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Return => {
                Some(&self.row)
            }
        }
    }

    pub(super) fn parcel(&self, row: &HandoffRow) -> Option<Parcel> {
        let content = self.texts.content(row.package?)?;
        let ContentKind::Package { format, hash } = content.kind else { return None };
        let document = stored::document(content);
        let text = content.text.clone().into();
        let by = self.author_of(row).clone();
        Some(Parcel { number: row.number, by, format, hash: Some(hash), text, document })
    }

    /// The story, unless it has no more content than its key, or the package is the story.
    fn wanted(&self, package: Option<&Parcel>) -> Option<BriefStory> {
        let story = &self.story;
        let is_bare = story.title == story.key.as_str()
            && story.description.is_empty()
            && story.acceptance.is_empty();
        let document = package.and_then(|it| it.document.as_ref());
        let is_told = document.is_some_and(|it| matches!(it.member("story"), Some(Node::Map(_))));
        (!is_bare && !is_told).then(|| BriefStory {
            title: story.title.as_str().into(),
            description: Some(story.description.as_str())
                .filter(|it| !it.is_empty())
                .map(Into::into),
            acceptance: story.acceptance.iter().map(|it| it.as_str().into()).collect(),
        })
    }

    fn handoff(&self) -> BriefHandoff {
        let (row, open) = (&self.row, &self.open);
        let before = row.follows.and_then(|it| self.find(it));
        let is_rejected = |it: &&HandoffRow| it.state == HandoffState::Ended(Ended::Rejected);
        let rejected = before.filter(is_rejected);
        let is_own = rejected.is_some_and(|it| it.package == row.package);
        let is_by_sender = self.gate_before().is_none();
        let asked = open.reject_to.as_ref().unwrap_or(&open.from);
        let limit = self.workflow.limits.questions;
        let may_ask = asked.place.is_work() && open.n_questions < limit;
        BriefHandoff {
            number: row.number,
            no: row.no,
            kind: row.kind,
            from: row.from.clone(),
            to: row.to.clone(),
            state: open.state,
            attempt: row.attempt,
            fence: open.fence,
            lease: open.lease,
            reason: self.words(row.reason),
            reason_by: is_by_sender.then(|| self.speaker_of_reason()),
            is_own_package: is_own,
            rejected: rejected.map(|it| it.no),
            brings: open.brings,
            approved_by: row.approved_by.clone(),
            rejects_to: self.rejects_to(),
            asks: if may_ask { asked.agent.clone() } else { AgentId::human() },
            detour: self.detour(),
        }
    }

    /// Work that came back is offered again with the words of the party that had sent it back.
    fn speaker_of_reason(&self) -> AgentId {
        let first = self.rows.iter().find(|it| it.reason == self.row.reason);
        first.unwrap_or(&self.row).from.agent.clone()
    }

    fn rejects_to(&self) -> Option<AgentId> {
        // What a resolver cannot resolve is put before a person.
        if self.open.detour.is_some() {
            return Some(AgentId::human());
        }
        let sender = || self.open.reject_to.as_ref().unwrap_or(&self.open.from).agent.clone();
        // A result that a step requested itself may always go back to the agent that produced it.
        if self.caller.is_some() {
            return Some(self.open.from.agent.clone());
        }
        let step = match &self.open.to.place {
            Place::Step(id) => self.workflow.step(id),
            Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
        };
        match step.map(|it| &it.reject) {
            Some(RejectRule::Never) => None,
            Some(RejectRule::To(id)) => {
                let agents = self.workflow.agents_at(&Place::Step(id.clone()));
                Some(agents.into_iter().next().unwrap_or_else(sender))
            }
            Some(RejectRule::ToSender) | None => Some(sender()),
        }
    }

    fn work(&self) -> WaitingWork {
        let behind = self.caller_row().unwrap_or(&self.row);
        let open = self.run.run.handoff(behind.no);
        let caller = open.and_then(|it| self.run.run.caller_of(it));
        let caller: Option<Party> = match &behind.to.place {
            Place::Delegate(_) => caller.map(|it| it.to.clone()),
            Place::Step(_) | Place::Orchestrator | Place::Human => None,
        };
        WaitingWork { number: behind.number, place: behind.to.place.clone(), caller }
    }

    fn asked(&self) -> Vec<AskedQuestion> {
        // About the handoff, about the gate that it passed, and about its receiver's waiting work.
        let about = [self.caller_row(), self.gate_before(), Some(&self.row)];
        let questions = about.into_iter().flatten().flat_map(|it| questions_about(&self.rows, it));
        let answered =
            questions.map(|it| QuestionAndAnswer::of(it, &self.texts)).filter_map(|it| {
                Some(AskedQuestion {
                    asker: it.row.from.agent.clone(),
                    asked: it.row.to.agent.clone(),
                    question: it.question.into(),
                    answer: it.answer?.into(),
                })
            });
        answered.chain(self.settled_by_people()).collect()
    }

    /// Questions that went to a person because the limit of questions was reached.
    fn settled_by_people(&self) -> Vec<AskedQuestion> {
        let attempts = self.attempts();
        let settled = |event: &Event| {
            let Event::Question(QuestionEvent::Answered { handoff, question, answer }) = event
            else {
                return None;
            };
            let row = self.find(*question).filter(|it| it.kind == Kind::Escalation)?;
            attempts.contains(handoff).then(|| AskedQuestion {
                asker: row.from.agent.clone(),
                asked: AgentId::human(),
                question: self.words(row.reason),
                answer: self.words(*answer),
            })
        };
        self.events.iter().filter_map(settled).collect()
    }

    /// The blockers of the receiver's step, and what became of them.
    fn blockers(&self) -> Vec<BriefBlocker> {
        let place = &self.caller_row().unwrap_or(&self.row).to.place;
        let mut blockers: Vec<(u32, BriefBlocker)> = Vec::new();
        for event in &self.events {
            if let Event::Blocker(BlockerEvent::Raised { blocker, handoff, by, about, .. }) = event
                && self.find(*handoff).is_some_and(|it| it.to.place == *place)
            {
                let (raised_by, about) = (by.clone(), self.words(*about));
                blockers
                    .push((*blocker, BriefBlocker { raised_by, about, settled: Settled::Open }));
            }
            if let Event::Blocker(BlockerEvent::Resolved { blocker, by, how }) = event {
                let how = how.map(|it| self.words(it));
                settle(&mut blockers, *blocker, Settled::Resolved { by: by.clone(), how });
            }
            if let Event::Blocker(BlockerEvent::Waived { blocker, by, why }) = event {
                let why = why.map(|it| self.words(it));
                settle(&mut blockers, *blocker, Settled::Waived { by: by.clone(), why });
            }
        }
        blockers.into_iter().map(|(_, it)| it).collect()
    }

    /// What the step reported when its last attempt failed, unless that was work for another step.
    fn failed(&self) -> Option<FailedAttempt> {
        let (row, outcome, package) = self.failed_package()?;
        let content = self.texts.content(package)?;
        let document = stored::document(content)?;
        let before = self.gate_before().and_then(|it| it.follows);
        let is_this_work = self.attempts().contains(&row.no) || before == Some(row.no);
        if !is_this_work && View::of(&document).error.is_none() {
            return None;
        }
        let words = said_in(&document).unwrap_or_else(|| content.text.to_string());
        let (handoff, by) = (row.no, row.to.agent.clone());
        (!words.is_empty()).then(|| FailedAttempt { handoff, by, outcome, words: words.into() })
    }

    /// The package with which the step ended last, where it did not succeed.
    fn failed_package(&self) -> Option<(&HandoffRow, Outcome, ContentId)> {
        let place = &self.caller_row().unwrap_or(&self.row).to.place;
        let mut last = None;
        for event in &self.events {
            let Event::Handoff(HandoffEvent::Completed { handoff, outcome, package, .. }) = event
            else {
                continue;
            };
            let Some(row) = self.find(*handoff).filter(|it| it.to.place == *place) else {
                continue;
            };
            let failed = matches!(outcome, Outcome::Failure | Outcome::Blocked);
            last = package.filter(|_| failed).map(|package| (row, *outcome, package));
        }
        last.filter(|(row, _, _)| row.no < self.row.no)
    }

    /// People's answers at the gate before, and to the receiver's own questions.
    fn people(&self) -> Vec<PersonAnswer> {
        let mut holders = self.attempts();
        holders.extend(self.caller);
        let before = self.gate_before().map(|it| it.no);
        let is_own = |it: &HandoffRow| {
            it.to.place == Place::Human && it.follows.is_some_and(|it| holders.contains(&it))
        };
        let said = |event: &Event| {
            let Event::Gate(GateEvent::Answered { handoff, answer, by, comment, .. }) = event
            else {
                return None;
            };
            let row = self.find(*handoff)?;
            if before != Some(row.no) && !is_own(row) {
                return None;
            }
            Some(PersonAnswer {
                by: by.clone(),
                answer: answer.clone(),
                cause: self.cause_of(row.no),
                question: self.question_to_person(row, is_own(row)),
                asked_with: self
                    .parcel(row)
                    .filter(|it| is_own(row) && it.says_more_than_summary()),
                comment: comment.map(|it| self.words(it)),
            })
        };
        self.events.iter().filter_map(said).collect()
    }

    pub(super) fn cause_of(&self, gate: HandoffNo) -> Option<GateCause> {
        self.events.iter().find_map(|event| {
            let Event::Gate(GateEvent::Opened { handoff, gate: opened }) = event else {
                return None;
            };
            (*handoff == gate).then_some(opened.cause)
        })
    }

    /// Results that delegates returned to the receiver while it held this work.
    fn brought_rows(&self) -> impl Iterator<Item = &HandoffRow> {
        let held = self.caller_row().unwrap_or(&self.row);
        self.rows.iter().filter(move |it| {
            let is_part = matches!(it.from.place, Place::Delegate(_));
            let is_taken = it.state == HandoffState::Ended(Ended::Completed);
            it.kind == Kind::Return && is_part && is_taken && it.to == held.to && it.no > held.no
        })
    }

    fn brought(&self) -> Vec<DelegateResult> {
        let brought = self.brought_rows().map(|it| DelegateResult {
            from: it.from.agent.clone(),
            reason: self.words(it.reason),
            outcome: it.outcome,
            package: self.parcel(it),
        });
        brought.collect()
    }

    /// How often this work went back on its edge.
    pub(super) fn rounds(&self) -> Vec<Round> {
        let forward = &self.open.forward;
        let mut rounds: Vec<Round> = Vec::new();
        let mut is_counted = false;
        for event in &self.events {
            if let Event::Handoff(HandoffEvent::Rejected {
                handoff, by, reason, forward: on, ..
            }) = event
                && on == forward
            {
                let (by, reason) = (by.clone(), self.words(*reason));
                rounds.push(Round { n: rounds.len() + 1, handoff: Some(*handoff), by, reason });
            }
            // Nothing was rejected then; the reason is in the handoff that was created for it.
            if let Event::Step(StepEvent::RoundCounted { forward: on, .. }) = event {
                is_counted = on == forward;
            }
            if let Event::Handoff(HandoffEvent::Created(created)) = event
                && std::mem::take(&mut is_counted)
            {
                let (by, reason) = (created.from.agent.clone(), self.words(created.reason));
                rounds.push(Round { n: rounds.len() + 1, handoff: None, by, reason });
            }
        }
        rounds
    }

    /// The checks while the sender worked, and at the gate after that.
    fn evidence(&self) -> Vec<Evidence> {
        let gate = self.gate_before();
        let sender = gate.map_or(self.row.follows, |it| it.follows);
        // Checked by Baton before it was offered: then the sender's own came before that.
        let checked = sender.and_then(|it| self.find(it));
        let checked = checked.filter(|it| it.to.place == Place::Orchestrator);
        let own = checked.and_then(|it| it.follows);
        let looked_at = [own, sender, gate.map(|it| it.no)];
        let mut seen = Vec::new();
        for event in &self.events {
            if let Event::Evidence(EvidenceEvent::Recorded { handoff, check, verdict, ran, .. }) =
                event
                && looked_at.contains(&Some(*handoff))
            {
                let is_observed = ran.is_some();
                let (check, verdict, fence) = (check.clone(), *verdict, None);
                let newest = Evidence { check, verdict, fence, is_observed };
                evidence::record(&mut seen, newest);
            }
        }
        seen
    }
}

fn settle(blockers: &mut [(u32, BriefBlocker)], no: u32, settled: Settled) {
    if let Some((_, blocker)) = blockers.iter_mut().find(|(it, _)| *it == no) {
        blocker.settled = settled;
    }
}
