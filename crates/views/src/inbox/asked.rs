//! What exactly a person is asked: the question, the checklist, the meaning of each answer, the
//! blockers, and the checks so far.

use baton_core::content::ContentId;
use baton_core::evidence::Evidence;
use baton_core::names::CheckName;
use baton_core::package::ValidationRequest;
use baton_core::workflow::EdgeGate;

use super::{WaitingRun, Waits, gate_of};
use crate::Views;
use baton_engine::EngineError;
use baton_engine::Texts;
use baton_engine::stored;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GateQuestion {
    /// The gate's name.
    pub name: Option<String>,
    /// The question, or why the gate was opened.
    pub words: Option<String>,
    /// The checklist: the workflow's items, then the sender's.
    pub items: Vec<String>,
    /// The meaning of each answer, by its name; the sender's description overrides the workflow's.
    pub options: Vec<(String, String)>,
    pub blockers: Vec<String>,
    /// Which texts are damaged and so left out: `words`, `blockers`, or the `package`, which
    /// contains the sender's name, items and options.
    pub damaged: Vec<&'static str>,
    /// The checks that an automatic gate requires.
    pub checks: Vec<CheckName>,
    pub evidence: Vec<Evidence>,
}

impl GateQuestion {
    /// The meaning of an answer at this gate, if the workflow or the sender gives one.
    pub fn meaning(&self, answer: &str) -> Option<&str> {
        self.options.iter().find(|(name, _)| name == answer).map(|(_, text)| text.as_str())
    }
}

impl Views<'_> {
    pub(super) async fn asked(
        &self,
        waiting: WaitingRun<'_>,
        why: &Waits,
    ) -> Result<GateQuestion, EngineError> {
        let run = waiting.run;
        let no = match why {
            Waits::Gate { handoff, .. } => *handoff,
            Waits::Question { handoff, .. } => {
                let words = run.handoff(*handoff).and_then(|it| it.asks);
                let texts = self.texts(run.id, words).await?;
                let damaged = damaged(&texts, &[("words", words)]);
                let words = text_of(&texts, words);
                return Ok(GateQuestion { words, damaged, ..GateQuestion::default() });
            }
            Waits::Loose { .. } => return Ok(GateQuestion::default()),
        };
        let Some(gate) = gate_of(run, no) else { return Ok(GateQuestion::default()) };
        let blockers = run.blockers.iter().map(|it| it.about);
        let ids = blockers.clone().chain(gate.reason).chain(gate.package);
        let texts = self.texts(run.id, ids).await?;
        let declared = gate.edge_in(waiting.workflow).and_then(|it| it.gate.as_ref());
        let requested = gate.package.and_then(|id| validation_of(&texts, id)).unwrap_or_default();
        let named = [("words", gate.reason), ("package", gate.package)];
        let named: Vec<_> =
            named.into_iter().chain(blockers.clone().map(|it| ("blockers", Some(it)))).collect();
        Ok(GateQuestion {
            name: requested.name.clone().or_else(|| declared.map(|it| it.name.clone())),
            words: text_of(&texts, gate.reason),
            items: items(declared, &requested),
            options: options(declared, requested.options),
            damaged: damaged(&texts, &named),
            blockers: blockers.filter_map(|it| text_of(&texts, Some(it))).collect(),
            checks: declared.map(|it| it.checks.clone()).unwrap_or_default(),
            evidence: gate.evidence.clone(),
        })
    }
}

fn items(declared: Option<&EdgeGate>, requested: &ValidationRequest) -> Vec<String> {
    let mut items = declared.map(|it| it.items.clone()).unwrap_or_default();
    for item in &requested.items {
        if !items.contains(item) {
            items.push(item.clone());
        }
    }
    items
}

fn options(declared: Option<&EdgeGate>, requested: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut options = requested;
    for (name, text) in declared.iter().flat_map(|it| &it.options) {
        if !options.iter().any(|(known, _)| known == name) {
            options.push((name.clone(), text.clone()));
        }
    }
    options
}

fn text_of(texts: &Texts, id: Option<ContentId>) -> Option<String> {
    texts.get(id?).whole().map(str::to_owned)
}

/// The names of the damaged texts, each once.
fn damaged(texts: &Texts, named: &[(&'static str, Option<ContentId>)]) -> Vec<&'static str> {
    let is_damaged = |id: &Option<ContentId>| id.is_some_and(|it| texts.get(it).is_damaged());
    let mut names: Vec<&str> =
        named.iter().filter(|(_, id)| is_damaged(id)).map(|(name, _)| *name).collect();
    names.dedup();
    names
}

/// The validation that the sender of a package requests.
fn validation_of(texts: &Texts, id: ContentId) -> Option<ValidationRequest> {
    stored::package(texts.content(id)?)?.view().validation
}
