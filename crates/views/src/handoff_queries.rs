//! What belongs to handoffs: questions and answers, blockers, a person's answer at a gate.

use baton_core::approval::PersonIdentity;
use baton_core::content::ContentId;
use baton_core::gate::Answer;
use baton_core::names::{AgentId, Principal, StoryKey};
use baton_core::run::{Blocker, Ended, HandoffNo, HandoffState, Kind, RunId};
use baton_engine::{EngineError, LOST_TEXT, WholeTexts};
use baton_store::{HandoffFilter, HandoffRow, RunFilter, RunRow};
use jiff::Timestamp;

use crate::Views;
use crate::gate_record::{GateAnswered, GateVote};

const PAGE: u32 = 200;

/// What a person said at a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonsAnswer {
    pub answer: Answer,
    pub by: Principal,
    pub comment: Option<String>,
    pub at: Timestamp,
    /// Every approval, where the gate needed those of several people.
    pub approvals: Vec<GivenApproval>,
    /// The votes that people passed on.
    pub passed_on: Vec<PassedVote>,
}

/// A vote that a person passed on to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedVote {
    pub by: Principal,
    pub to: Principal,
    pub at: Timestamp,
    pub comment: Option<String>,
}

/// One of the approvals of a gate that a person has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenApproval {
    pub by: Principal,
    pub at: Timestamp,
    pub comment: Option<String>,
    pub identity: PersonIdentity,
    /// Those who had the vote before, the one that the workflow names first.
    pub on_behalf_of: Vec<Principal>,
}

/// A question about a handoff, and the answer if there is one.
#[derive(Debug, Clone)]
pub struct QuestionAndAnswer {
    /// The handoff that asks the question.
    pub row: HandoffRow,
    pub question: String,
    pub answer: Option<String>,
}

/// A blocker of a run, and its handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocking {
    pub run: RunId,
    pub run_number: u64,
    pub story: StoryKey,
    /// Counted within its run, from 1.
    pub no: u32,
    pub handoff: HandoffNo,
    pub by: AgentId,
    /// None where it was lost in a recovery or is damaged.
    pub words: Option<String>,
    pub is_damaged: bool,
}

impl Views<'_> {
    /// The questions about a handoff and about its earlier attempts, oldest first.
    pub async fn exchanges(
        &self,
        about: &HandoffRow,
    ) -> Result<Vec<QuestionAndAnswer>, EngineError> {
        let filter = HandoffFilter { run: Some(about.run), ..HandoffFilter::default() };
        let rows = self.handoffs(&filter).await?;
        let asked = questions_about(&rows, about);
        let mut ids: Vec<ContentId> = asked.iter().map(|it| it.reason).collect();
        ids.extend(asked.iter().filter_map(|it| it.ended_reason));
        let texts = self.whole_texts(about.run, ids).await?;
        Ok(asked.into_iter().map(|it| QuestionAndAnswer::of(it, &texts)).collect())
    }

    async fn comment(
        &self,
        run: RunId,
        comment: Option<ContentId>,
    ) -> Result<Option<String>, EngineError> {
        let texts = self.whole_texts(run, comment).await?;
        Ok(comment.and_then(|it| texts.get(it)).map(str::to_owned))
    }

    /// A person's answer to a gate, if there is one.
    pub async fn answer_to(
        &self,
        run: RunId,
        gate: HandoffNo,
    ) -> Result<Option<PersonsAnswer>, EngineError> {
        let record = self.gate_record(run).await?;
        let Some(said) = record.answer_to(gate).cloned() else { return Ok(None) };
        let mut approvals = Vec::new();
        for vote in record.votes_at(gate) {
            let GateVote { by, identity, at, on_behalf_of, comment, .. } = vote.clone();
            let comment = self.comment(run, comment).await?;
            approvals.push(GivenApproval { by, at, comment, identity, on_behalf_of });
        }
        let mut passed_on = Vec::new();
        for it in record.delegations_at(gate) {
            let (by, to, at) = (it.by.clone(), it.to.clone(), it.at);
            let comment = self.comment(run, it.comment).await?;
            passed_on.push(PassedVote { by, to, at, comment });
        }
        let GateAnswered { answer, by, comment, at, .. } = said;
        let comment = self.comment(run, comment).await?;
        Ok(Some(PersonsAnswer { answer, by, comment, at, approvals, passed_on }))
    }

    /// The blockers of open runs after number `after`, until there are at least `most`; those of
    /// one run are never split. Also returns the number of the last run that was read; none at the
    /// end of the list.
    pub async fn blockers(
        &self,
        after: u64,
        most: usize,
    ) -> Result<(Vec<Blocking>, Option<u64>), EngineError> {
        let mut found = Vec::new();
        let mut after = after;
        let size = u32::try_from(most.saturating_add(1)).unwrap_or(PAGE).min(PAGE);
        loop {
            let filter =
                RunFilter { only_blocked: true, after, limit: size, ..RunFilter::default() };
            let page = self.runs(&filter).await?;
            for row in &page {
                if found.len() >= most {
                    return Ok((found, Some(after)));
                }
                found.extend(self.blockers_of(row).await?);
                after = row.number;
            }
            if page.len() < size as usize {
                return Ok((found, None));
            }
        }
    }

    pub async fn blockers_of(&self, row: &RunRow) -> Result<Vec<Blocking>, EngineError> {
        let texts = self.texts(row.run.id, row.run.blockers.iter().map(|it| it.about)).await?;
        let blocking = |it: &Blocker| Blocking {
            run: row.run.id,
            run_number: row.number,
            story: row.run.story.clone(),
            no: it.no,
            handoff: it.handoff,
            by: it.by.clone(),
            words: texts.get(it.about).whole().map(str::to_owned),
            is_damaged: texts.get(it.about).is_damaged(),
        };
        Ok(row.run.blockers.iter().map(blocking).collect())
    }
}

impl QuestionAndAnswer {
    /// A question and its answer.
    pub(crate) fn of(row: HandoffRow, texts: &WholeTexts) -> Self {
        let words = |id: ContentId| texts.get(id).unwrap_or(LOST_TEXT).to_owned();
        Self {
            question: words(row.reason),
            answer: match row.state {
                HandoffState::Ended(Ended::Completed) => row.ended_reason.map(words),
                HandoffState::Open(_) | HandoffState::Ended(_) => None,
            },
            row,
        }
    }
}

/// The questions in a run's handoffs about one of them and about its earlier attempts.
pub(crate) fn questions_about(rows: &[HandoffRow], about: &HandoffRow) -> Vec<HandoffRow> {
    let mut attempts = vec![about.no];
    let mut last = Some(about);
    while let Some(row) = last.filter(|it| it.attempt > 1) {
        last = rows.iter().find(|it| Some(it.no) == row.follows);
        attempts.extend(last.map(|it| it.no));
    }
    let is_about = |it: &&HandoffRow| {
        it.kind == Kind::Question && it.follows.is_some_and(|no| attempts.contains(&no))
    };
    rows.iter().filter(is_about).cloned().collect()
}
