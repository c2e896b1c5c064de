//! What a step has sent before, and what the packages of a run have discovered: for work that comes
//! again, so that nothing has to be merged by hand.

use baton_core::content::ContentId;
use baton_core::document::Node;
use baton_core::run::Kind;
use baton_core::workflow::{Place, Target};
use baton_engine::Texts;
use baton_store::HandoffRow;
use baton_wire::{formats, json};

use super::inputs::PromptInputs;
use crate::prompt::brief::Parcel;
use crate::prompt::untrusted::UntrustedText;

/// How many of the last packages are searched for discoveries.
const MOST_PACKAGES: usize = 30;

/// Where packages write what they discovered.
const DISCOVERIES: &str = "discoveries";

impl PromptInputs {
    /// The last package that the receiver's step handed on, where the work has been here before.
    pub(super) fn own_last_row(&self) -> Option<&HandoffRow> {
        // A reject gives the sender its own package back.
        let is_given_back = |own: &HandoffRow| {
            self.rows.iter().any(|it| it.no < own.no && it.package == own.package)
        };
        let is_own = |it: &&HandoffRow| {
            let is_work = matches!(it.kind, Kind::Sequential | Kind::Return);
            let is_sent = is_work && it.from.place == self.row.to.place && it.no < self.row.no;
            is_sent && !is_given_back(it)
        };
        let is_step =
            matches!(self.row.to.place, Place::Step(_)) && self.row.kind != Kind::Question;
        let own = self.rows.iter().rev().find(is_own).filter(|_| is_step)?;
        Some(own).filter(|it| it.package.is_some() && it.package != self.row.package)
    }

    /// That package, unless an earlier reject tells all of it.
    pub(super) fn own_last(&self) -> Option<Parcel> {
        let own = self.own_last_row().and_then(|it| self.parcel(it))?;
        let reason = own.only_reason();
        let is_told = reason.is_some_and(|reason| {
            self.rounds().iter().any(|it| it.reason.expose().trim() == reason)
        });
        (!is_told).then_some(own)
    }

    /// Whether the work comes back to be done again: rejected, or sent along a back edge.
    pub(super) fn is_rework(&self) -> bool {
        let Place::Step(from) = &self.row.from.place else { return self.is_rejected() };
        let edges = self.workflow.step(from).map_or(&[][..], |it| &it.edges);
        let leads_here = |target: &Target| match (target, &self.row.to.place) {
            (Target::Step(to), Place::Step(here)) => to == here,
            (Target::Step(_) | Target::Complete, _) => false,
        };
        self.is_rejected() || edges.iter().any(|it| it.is_back && leads_here(&it.to))
    }

    fn is_rejected(&self) -> bool {
        self.row.kind == Kind::Return && self.caller.is_none() && self.row.to.place.is_work()
    }

    /// The packages that may hold discoveries, newest last.
    pub(super) fn earlier_packages(&self) -> Vec<ContentId> {
        let earlier =
            self.rows.iter().filter(|it| it.no <= self.row.no && it.kind != Kind::Question);
        let mut ids: Vec<ContentId> = earlier.filter_map(|it| it.package).collect();
        ids.dedup();
        ids.drain(..ids.len().saturating_sub(MOST_PACKAGES));
        ids
    }
}

/// Everything that earlier packages list under `discoveries`, each once; none where one of the packages
/// that the prompt shows anyway has all of it.
pub(super) fn discoveries(
    ids: &[ContentId],
    texts: &Texts,
    shown: &[Option<Parcel>],
) -> Option<UntrustedText> {
    let mut all: Vec<(String, Vec<Node>)> = Vec::new();
    for id in ids {
        let text = texts.get(*id).whole();
        let document = text.and_then(|it| formats::decode(formats::guess(it)?, it).ok());
        if let Some(document) = document {
            collect(&document, &mut all);
        }
    }
    all.retain(|(_, items)| !items.is_empty());
    let has_all = |parcel: &Parcel| {
        let mut own = Vec::new();
        if let Some(document) = &parcel.document {
            collect(document, &mut own);
        }
        let has = |key: &str, item: &Node| {
            own.iter().any(|(it, items): &(String, Vec<Node>)| it == key && items.contains(item))
        };
        all.iter().all(|(key, items)| items.iter().all(|it| has(key, it)))
    };
    if shown.iter().flatten().any(has_all) {
        return None;
    }
    let members = all.into_iter().map(|(key, items)| (key, Node::List(items)));
    let document = Node::Map(members.collect());
    (!document.is_blank()).then(|| json::print_pretty(&document).into())
}

fn collect(document: &Node, into: &mut Vec<(String, Vec<Node>)>) {
    let Some(Node::Map(members)) = document.member(DISCOVERIES) else { return };
    for (key, node) in members {
        let items = node.as_list().unwrap_or(std::slice::from_ref(node));
        let known = match into.iter_mut().find(|(it, _)| it == key) {
            Some((_, known)) => known,
            None => {
                into.push((key.clone(), Vec::new()));
                let Some((_, known)) = into.last_mut() else { continue };
                known
            }
        };
        for item in items.iter().filter(|it| !it.is_blank()) {
            if !known.contains(item) {
                known.push(item.clone());
            }
        }
    }
}
