//! What a step has sent before, what its sender had worked from, and what the packages of a run have
//! discovered: so that nothing has to be looked up or merged by hand.

use baton_core::content::ContentId;
use baton_core::document::Node;
use baton_core::event::{Event, HandoffEvent};
use baton_core::names::AgentId;
use baton_core::run::{HandoffNo, Kind};
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
        // The document with which it stopped to ask, with its partial work.
        if let Some(stopped) = self.clarified_row() {
            return Some(stopped).filter(|it| it.package.is_some());
        }
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
        // Without questions of its own, all of it stands beside the person's answer.
        let asks = |it: &Node| it.member("questions").is_some_and(|it| !it.is_blank());
        if self.clarified_row().is_some() && !own.document.as_ref().is_some_and(asks) {
            return None;
        }
        let reason = own.only_reason();
        let is_told = reason.is_some_and(|reason| {
            self.rounds().iter().any(|it| it.reason.expose().trim() == reason)
        });
        (!is_told).then_some(own)
    }

    /// Whether the work comes back to be done again: rejected, or sent along a back edge.
    pub(super) fn is_rework(&self) -> bool {
        self.is_rejected() && !self.is_resumed()
            || self.may_send_back(&self.row.from.place, &self.row.to.place)
    }

    /// Whether the workflow has a back edge between two steps.
    fn may_send_back(&self, from: &Place, to: &Place) -> bool {
        let (Place::Step(from), Place::Step(to)) = (from, to) else { return false };
        let edges = self.workflow.step(from).map_or(&[][..], |it| &it.edges);
        let leads_there = |target: &Target| match target {
            Target::Step(id) => id == to,
            Target::Complete => false,
        };
        edges.iter().any(|it| it.is_back && leads_there(&it.to))
    }

    /// What the sender had worked from, such as the plan: for a step that judges the sender's work, and
    /// may send it back.
    pub(super) fn sender_input_row(&self) -> Option<&HandoffRow> {
        let (sender, here) = (&self.row.from.place, &self.row.to.place);
        let is_judged = self.row.kind == Kind::Sequential && self.may_send_back(here, sender);
        let is_input = |it: &&HandoffRow| {
            let is_before = it.no < self.row.no && it.kind == Kind::Sequential;
            let from = &it.from.place;
            // The judge knows its own reviews, and the story has a section of its own.
            is_before && it.to.place == *sender && from != here && matches!(from, Place::Step(_))
        };
        let input = self.rows.iter().rev().find(is_input).filter(|_| is_judged)?;
        Some(input).filter(|it| it.package.is_some() && it.package != self.row.package)
    }

    fn is_rejected(&self) -> bool {
        self.row.kind == Kind::Return && self.caller.is_none() && self.row.to.place.is_work()
    }

    /// Who wrote the package of a handoff: the agent whose step ended with it, else its first sender. A
    /// person or a resolver that gives work back, and the orchestrator, only carry it.
    pub(super) fn author_of<'a>(&'a self, row: &'a HandoffRow) -> &'a AgentId {
        let has_it = |it: &&HandoffRow| it.package == row.package && it.no <= row.no;
        let first = self.rows.iter().find(has_it).unwrap_or(row);
        let ended = self.events.iter().find_map(|event| {
            let Event::Handoff(HandoffEvent::Completed { handoff, package, .. }) = event else {
                return None;
            };
            self.find(*handoff).filter(|it| *package == row.package && it.no < first.no)
        });
        ended.map_or(&first.from.agent, |it| &it.to.agent)
    }

    /// The packages that may hold discoveries, newest last.
    pub(super) fn earlier_packages(&self) -> Vec<EarlierPackage> {
        let is_earlier = |it: &&HandoffRow| it.no <= self.row.no && it.kind != Kind::Question;
        let mut packages: Vec<EarlierPackage> = Vec::new();
        for row in self.rows.iter().filter(is_earlier) {
            let Some(content) = row.package else { continue };
            // A return brings a package again that was sent before.
            if !packages.iter().any(|it| it.content == content) {
                packages.push(EarlierPackage {
                    no: row.no,
                    by: self.author_of(row).clone(),
                    content,
                });
            }
        }
        packages.drain(..packages.len().saturating_sub(MOST_PACKAGES));
        packages
    }
}

/// A package of the run, and who sent it first.
pub(super) struct EarlierPackage {
    no: HandoffNo,
    by: AgentId,
    pub(super) content: ContentId,
}

/// What earlier packages list under `discoveries` and no package that the prompt shows repeats: each
/// once, under the handoff that first had it.
pub(super) fn discoveries(
    earlier: &[EarlierPackage],
    texts: &Texts,
    shown: &[Option<Parcel>],
) -> Option<UntrustedText> {
    let mut known: Vec<(String, Vec<Node>)> = Vec::new();
    for document in shown.iter().flatten().filter_map(|it| it.document.as_ref()) {
        collect(document, &mut known);
    }
    let mut groups: Vec<(String, Node)> = Vec::new();
    for package in earlier {
        let text = texts.get(package.content).whole();
        let document = text.and_then(|it| formats::decode(formats::guess(it)?, it).ok());
        let mut own = Vec::new();
        if let Some(document) = &document {
            collect(document, &mut own);
        }
        for (key, items) in &mut own {
            let is_known =
                |item: &Node| known.iter().any(|(it, all)| it == key && all.contains(item));
            items.retain(|it| !is_known(it));
        }
        own.retain(|(_, items)| !items.is_empty());
        known.extend(own.iter().cloned());
        if !own.is_empty() {
            let lists = own.into_iter().map(|(key, items)| (key, Node::List(items)));
            let label = format!("{} from {}", package.no, package.by);
            groups.push((label, Node::Map(lists.collect())));
        }
    }
    (!groups.is_empty()).then(|| json::print_pretty(&Node::Map(groups)).into())
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
