//! What a run counts, so that every cycle of its workflow ends: one table, by branch, scope and
//! key. A limit compares `n` with what the workflow allows and people have granted.

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

use super::{EdgeKey, HandoffNo, Run, is_first_branch};
use crate::budget::BudgetOwner;
use crate::hash::Hash;
use crate::names::{CommitId, StepId};

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "StoredCounter")]
pub struct RunCounter {
    /// Each branch counts its own; there is one until a step fans out.
    pub branch: u16,
    pub scope: CounterScope,
    pub n: u32,
    /// What people have granted beyond the workflow's limit.
    pub n_extra: u32,
    /// On an edge, the findings of the last reject; at a step, those with which the step last asked
    /// for rework. The same twice in a row is a circle.
    pub findings: Option<Hash>,
    /// On an edge, the tree that the last rejected work had when it was checked.
    pub tree: Option<CommitId>,
}

/// What a counter counts, and the key: of which edge, step or handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CounterScope {
    /// Rejects of work that came along an edge. Only a person's answer grants more.
    Rounds(EdgeKey),
    /// Entries of a step by work. Only a person's answer resets it.
    Entries(StepId),
    /// Parts of the work that were delegated during one holding. Forgotten when the holding ends.
    Delegations(HandoffNo),
    /// Blocks of a step that other agents were sent to clear, since the step last ended with
    /// another outcome.
    Blocks(StepId),
    /// How often a handoff was accepted and released. Forgotten when the handoff ends.
    Releases(HandoffNo),
    /// The run as a whole: how often people have let it go on beyond its limits.
    WholeRun,
    /// A budget: how often people have let the work go on beyond it.
    Budget(BudgetOwner),
}

/// Rounds are stored as they were when nothing else was counted: a state written then stays as it
/// is, letter for letter.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredCounter {
    Rounds {
        #[serde(default)]
        branch: u16,
        edge: EdgeKey,
        n_rejects: u32,
        n_extra: u32,
        findings: Option<Hash>,
        #[serde(default)]
        tree: Option<CommitId>,
    },
    Other {
        #[serde(default)]
        branch: u16,
        of: OtherScope,
        n: u32,
        #[serde(default)]
        n_extra: u32,
        #[serde(default)]
        findings: Option<Hash>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OtherScope {
    Entries(StepId),
    Delegations(HandoffNo),
    Blocks(StepId),
    Releases(HandoffNo),
    WholeRun,
    Budget(BudgetOwner),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum OtherScopeRef<'a> {
    Entries(&'a StepId),
    Delegations(HandoffNo),
    Blocks(&'a StepId),
    Releases(HandoffNo),
    WholeRun,
    Budget(&'a BudgetOwner),
}

impl From<StoredCounter> for RunCounter {
    fn from(stored: StoredCounter) -> Self {
        match stored {
            StoredCounter::Rounds { branch, edge, n_rejects, n_extra, findings, tree } => {
                let (scope, n) = (CounterScope::Rounds(edge), n_rejects);
                Self { branch, scope, n, n_extra, findings, tree }
            }
            StoredCounter::Other { branch, of, n, n_extra, findings } => {
                let scope = match of {
                    OtherScope::Entries(step) => CounterScope::Entries(step),
                    OtherScope::Delegations(handoff) => CounterScope::Delegations(handoff),
                    OtherScope::Blocks(step) => CounterScope::Blocks(step),
                    OtherScope::Releases(handoff) => CounterScope::Releases(handoff),
                    OtherScope::WholeRun => CounterScope::WholeRun,
                    OtherScope::Budget(of) => CounterScope::Budget(of),
                };
                Self { branch, scope, n, n_extra, findings, tree: None }
            }
        }
    }
}

impl Serialize for RunCounter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of = match &self.scope {
            CounterScope::Rounds(edge) => return self.serialize_rounds(edge, serializer),
            CounterScope::Entries(step) => OtherScopeRef::Entries(step),
            CounterScope::Delegations(handoff) => OtherScopeRef::Delegations(*handoff),
            CounterScope::Blocks(step) => OtherScopeRef::Blocks(step),
            CounterScope::Releases(handoff) => OtherScopeRef::Releases(*handoff),
            CounterScope::WholeRun => OtherScopeRef::WholeRun,
            CounterScope::Budget(of) => OtherScopeRef::Budget(of),
        };
        let mut row = serializer.serialize_struct("RunCounter", 5)?;
        if !is_first_branch(&self.branch) {
            row.serialize_field("branch", &self.branch)?;
        }
        row.serialize_field("of", &of)?;
        row.serialize_field("n", &self.n)?;
        if self.n_extra > 0 {
            row.serialize_field("n_extra", &self.n_extra)?;
        }
        if let Some(findings) = &self.findings {
            row.serialize_field("findings", findings)?;
        }
        row.end()
    }
}

impl RunCounter {
    fn serialize_rounds<S: Serializer>(
        &self,
        edge: &EdgeKey,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_struct("RunCounter", 5)?;
        if !is_first_branch(&self.branch) {
            row.serialize_field("branch", &self.branch)?;
        }
        row.serialize_field("edge", edge)?;
        row.serialize_field("n_rejects", &self.n)?;
        row.serialize_field("n_extra", &self.n_extra)?;
        row.serialize_field("findings", &self.findings)?;
        if let Some(tree) = &self.tree {
            row.serialize_field("tree", tree)?;
        }
        row.end()
    }

    fn is_of(&self, branch: u16, scope: &CounterScope) -> bool {
        self.branch == branch && self.scope == *scope
    }
}

impl Run {
    pub fn counter(&self, branch: u16, scope: &CounterScope) -> Option<&RunCounter> {
        self.counters.iter().find(|it| it.is_of(branch, scope))
    }

    /// How often it happened in a branch; 0 where nothing was counted yet.
    pub fn count_of(&self, branch: u16, scope: &CounterScope) -> u32 {
        self.counter(branch, scope).map_or(0, |it| it.n)
    }

    /// The rejects of work that came along an edge, in a branch.
    pub fn rounds(&self, branch: u16, edge: &EdgeKey) -> Option<&RunCounter> {
        let rounds = self.all_rounds().filter(|(it, _)| *it == edge).map(|(_, counter)| counter);
        rounds.into_iter().find(|it| it.branch == branch)
    }

    /// Every edge whose work was rejected, in the order of the first reject.
    pub fn all_rounds(&self) -> impl Iterator<Item = (&EdgeKey, &RunCounter)> {
        self.counters.iter().filter_map(|it| match &it.scope {
            CounterScope::Rounds(edge) => Some((edge, it)),
            CounterScope::Entries(_)
            | CounterScope::Delegations(_)
            | CounterScope::Blocks(_)
            | CounterScope::Releases(_)
            | CounterScope::WholeRun
            | CounterScope::Budget(_) => None,
        })
    }

    /// How often work entered a step, since a person last decided about it.
    pub fn entries(&self, branch: u16, step: &StepId) -> u32 {
        self.count_of(branch, &CounterScope::Entries(step.clone()))
    }

    pub(crate) fn counter_mut(&mut self, branch: u16, scope: CounterScope) -> &mut RunCounter {
        let known = self.counters.iter().position(|it| it.is_of(branch, &scope));
        let index = known.unwrap_or_else(|| {
            let (findings, tree) = (None, None);
            self.counters.push(RunCounter { branch, scope, n: 0, n_extra: 0, findings, tree });
            self.counters.len() - 1
        });
        &mut self.counters[index]
    }

    pub(crate) fn forget_counter(&mut self, branch: u16, scope: &CounterScope) {
        self.counters.retain(|it| !it.is_of(branch, scope));
    }
}
