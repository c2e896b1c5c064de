//! Decisions and shared documents, as templates name them.

use minijinja::context;
use minijinja::value::Value;

use super::brief::{Brief, BriefDecision, BriefDocument};

pub(super) fn values(brief: &Brief) -> Value {
    context! {
        decisions => brief.decisions.iter().map(decision).collect::<Vec<_>>(),
        n_earlier_decisions => brief.n_earlier_decisions,
        documents => brief.documents.iter().map(document).collect::<Vec<_>>(),
    }
}

fn decision(it: &BriefDecision) -> Value {
    context! {
        number => it.no,
        status => it.status.name(),
        is_locked => it.is_locked,
        superseded_by => it.superseded_by,
        conflicts_with => it.conflicts_with.clone(),
        by => it.by.as_str(),
        words => it.words.clone(),
    }
}

fn document(it: &BriefDocument) -> Value {
    context! {
        key => it.key.as_str(),
        version => it.version,
        n_bytes => it.n_bytes,
        text => it.text.clone(),
    }
}
