//! Approvals at a gate by several people: what a workflow asks for, and what an open gate has of it.
//!
//! Until there is access control, a person is who the caller says they are, and each approval records
//! that. Names are compared strictly where they let a person in, and by their look where they keep one
//! out: `Ana` does not have the vote of `ana`, and cannot approve beside `ana` either.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::content::ContentId;
use crate::look_alike::is_same_person;
use crate::named::named;
use crate::names::Principal;
use crate::plural::counted;
use crate::run::is_false;

/// The people whose approvals a workflow asks for at a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approvers {
    /// How many of them have to approve. At least 1.
    pub need: u32,
    /// Who may approve; any person where it is empty.
    pub of: Vec<Principal>,
    /// The person who made the package may approve it.
    pub author_may_approve: bool,
}

impl Approvers {
    pub const MOST: usize = 20;
}

/// The approvals of an open gate. They are about its package, and end with the gate: a package that is
/// made again comes with another gate, which has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateApproval {
    pub need: u32,
    /// One for each person that the workflow names, in its order; else one for each approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// The workflow names no person: each has a vote.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_for_all: bool,
    /// The person who made the package and may not approve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Principal>,
}

/// One vote of a gate: it counts once, also after it was passed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// The person it was given to, then each one it was delegated to. Not empty.
    pub holders: Vec<Principal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

/// The last holder of a vote approves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub at: Timestamp,
    /// The package that was approved.
    pub package: Option<ContentId>,
    pub comment: Option<ContentId>,
    pub identity: PersonIdentity,
    /// The open decisions that the comment is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<u32>,
}

/// The caller who handed a package in, as they stated their name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageAuthor {
    pub package: ContentId,
    pub by: Principal,
}

impl PackageAuthor {
    /// A run remembers those of its newest packages: an older one comes to no gate any more.
    pub const MOST: usize = 64;
}

named! {
    /// How it is known that a person is who they say.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PersonIdentity {
        /// It is not: the caller stated the name.
        Unauthenticated = "unauthenticated",
    }
}

impl Vote {
    /// How often one vote is passed on at most.
    pub const MOST_HOLDERS: usize = 8;

    pub fn of(person: Principal) -> Self {
        Self { holders: vec![person], approval: None }
    }

    /// Who has it now.
    pub fn holder(&self) -> Option<&Principal> {
        self.holders.last()
    }

    fn is_held_by(&self, person: &Principal) -> bool {
        self.holder() == Some(person)
    }
}

impl GateApproval {
    /// What a gate asks for when it opens.
    pub fn opened(approvers: &Approvers, author: Option<Principal>) -> Self {
        Self {
            need: approvers.need,
            votes: approvers.of.iter().cloned().map(Vote::of).collect(),
            is_for_all: approvers.of.is_empty(),
            author: author.filter(|_| !approvers.author_may_approve),
        }
    }

    pub fn n_given(&self) -> u32 {
        let n_given = self.votes.iter().filter(|it| it.approval.is_some()).count();
        u32::try_from(n_given).unwrap_or(u32::MAX)
    }

    pub fn is_enough(&self) -> bool {
        self.n_given() >= self.need
    }

    /// The open decisions that those who have approved wrote about.
    pub fn decisions(&self) -> Vec<u32> {
        let given = self.votes.iter().filter_map(|it| it.approval.as_ref());
        let all: BTreeSet<u32> = given.flat_map(|it| it.decisions.iter().copied()).collect();
        all.into_iter().collect()
    }

    /// The vote that this person has now, used or not.
    pub fn vote_of(&self, person: &Principal) -> Option<&Vote> {
        self.votes.iter().find(|it| it.is_held_by(person))
    }

    pub fn vote_mut(&mut self, person: &Principal) -> Option<&mut Vote> {
        self.votes.iter_mut().find(|it| it.is_held_by(person))
    }

    /// The person, by the name they used, who looks like this one and has approved.
    pub fn approved_as(&self, person: &Principal) -> Option<&Principal> {
        let given = self.votes.iter().filter(|it| it.approval.is_some());
        given.filter_map(Vote::holder).find(|it| is_same_person(it.as_str(), person.as_str()))
    }

    pub fn is_author(&self, person: &Principal) -> bool {
        let is_it = |it: &Principal| is_same_person(it.as_str(), person.as_str());
        self.author.as_ref().is_some_and(is_it)
    }

    /// The people whose approval could still come. Empty where every person's could.
    pub fn open(&self) -> impl Iterator<Item = &Principal> {
        let open = self.votes.iter().filter(|it| it.approval.is_none());
        open.filter_map(Vote::holder).filter(|it| !self.is_author(it))
    }

    /// Whether too few of its people may approve: the author of the package has one of the votes.
    pub fn is_out_of_reach(&self) -> bool {
        !self.is_for_all && self.n_given() as usize + self.open().count() < self.need as usize
    }

    /// `1 of 2 approvals: ana at 2026-11-18T09:00:00Z (unauthenticated); ben or carl may approve`.
    /// The names are as they were stated.
    pub fn progress(&self) -> String {
        let (n, need) = (self.n_given(), self.need);
        let given: Vec<String> = self.votes.iter().filter_map(Vote::sentence).collect();
        let approvals = counted(need.into(), "approval");
        let mut parts = vec![match given.is_empty() {
            true => format!("{n} of {approvals}"),
            false => format!("{n} of {approvals}: {}", given.join(", ")),
        }];
        let open: Vec<&str> = self.open().map(Principal::as_str).collect();
        if !self.is_enough() {
            parts.push(match open[..] {
                [] if self.is_for_all => "any person may approve".to_owned(),
                [] => "nobody else may approve".to_owned(),
                _ => format!("{} may approve", open.join(" or ")),
            });
            parts.extend(self.author.as_ref().map(|it| format!("not {it}, who made the package")));
        }
        parts.join("; ")
    }
}

impl Vote {
    fn sentence(&self) -> Option<String> {
        let (holder, given) = (self.holder()?, self.approval.as_ref()?);
        let named = self.holders.first().filter(|it| *it != holder);
        let named = named.map(|it| format!(" for {it}")).unwrap_or_default();
        Some(format!("{holder}{named} at {} ({})", given.at, given.identity.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str) -> Principal {
        Principal::parse(name).unwrap()
    }

    fn gate(need: u32, of: &[&str], author: &str) -> GateApproval {
        let of = of.iter().map(|it| person(it)).collect();
        let approvers = Approvers { need, of, author_may_approve: false };
        GateApproval::opened(&approvers, Some(person(author)))
    }

    fn approve(gate: &mut GateApproval, by: &str) {
        let (package, comment, identity) = (None, None, PersonIdentity::Unauthenticated);
        let at = "2026-11-18T09:00:00Z".parse().unwrap();
        let approval = Some(Approval { at, package, comment, identity, decisions: Vec::new() });
        gate.vote_mut(&person(by)).unwrap().approval = approval;
    }

    #[test]
    fn progress_names_who_has_approved_and_who_may() {
        let mut gate = gate(2, &["ana", "ben", "carl"], "dora");
        assert_eq!(
            gate.progress(),
            "0 of 2 approvals; ana or ben or carl may approve; not dora, who made the package"
        );
        approve(&mut gate, "ana");
        gate.vote_mut(&person("ben")).unwrap().holders.push(person("emil"));
        assert_eq!(
            gate.progress(),
            "1 of 2 approvals: ana at 2026-11-18T09:00:00Z (unauthenticated); emil or carl may approve; \
             not dora, who made the package"
        );
        approve(&mut gate, "emil");
        assert_eq!(
            gate.progress(),
            "2 of 2 approvals: ana at 2026-11-18T09:00:00Z (unauthenticated), emil for ben at \
             2026-11-18T09:00:00Z (unauthenticated)"
        );
    }

    #[test]
    fn the_authors_vote_is_no_vote() {
        assert!(!gate(2, &["ana", "ben", "carl"], "ana").is_out_of_reach());
        assert!(gate(2, &["ana", "ben"], "Ana").is_out_of_reach());
        assert!(!gate(2, &[], "ana").is_out_of_reach());
        assert_eq!(
            gate(1, &["ana"], "ana").progress(),
            "0 of 1 approval; nobody else may approve; not ana, who made the package"
        );
    }
}
