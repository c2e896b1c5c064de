//! Corrections of what a document says in single values: its sides, its status and its time, words
//! from a closed list, numbers, results of checks, and acknowledgements.

use super::fields::{FieldMarks, dotted, last_key, relative};
use super::mark::{FieldMark, TextKind, Wanted};
use super::members;
use super::repair::{add_part, put_instead, replace};
use super::sketch::{PathStep, Sketch, at, below, steps};
use crate::contract::Body;
use crate::document::Node;
use crate::document::kind::DocumentKind;
use crate::lint::nature::{
    failed_results, meant_phase, needs_of_items, number_in_address, usual_statuses, words_of_field,
    words_of_member,
};
use crate::lint::{Facts, RunFact};
use crate::view::read::{field, text_at};
use crate::view::{Meaning, OutcomeClaim};

/// Names the agent of one side.
pub(super) fn name_party(sketch: &mut Sketch, path: &[PathStep]) {
    let is_from = |it: &PathStep| matches!(it, PathStep::Key(key) if key.starts_with("from"));
    let is_sender = path.iter().any(is_from);
    let about = if is_sender { "who hands it over" } else { "who gets it" };
    put_instead(sketch, path, FieldMark::new(Wanted::Agent, about));
}

pub(super) fn correct_time(sketch: &mut Sketch, marks: &FieldMarks<'_>, path: &[PathStep]) {
    let about = marks.at(&sketch.sample, path).about;
    put_instead(sketch, path, FieldMark::new(Wanted::Time, about));
}

pub(super) fn correct_status(sketch: &mut Sketch, marks: &FieldMarks<'_>, path: &[PathStep]) {
    let usual = usual_statuses(DocumentKind::of(&sketch.sample), last_key(path));
    let is_known = |it: &str| OutcomeClaim::parse(it).meaning != Meaning::Unknown;
    let mark = chosen(marks.at(&sketch.sample, path), is_known, usual);
    let wanted = Wanted::Word(marks.possible(mark.words()));
    put_instead(sketch, path, FieldMark { wanted, ..mark });
}

/// The words of a field's own mark that are fine; where it names none, those in use.
fn chosen(own: FieldMark, is_fine: impl Fn(&str) -> bool, usual: &[&str]) -> FieldMark {
    let FieldMark { wanted, about } = own;
    let owned = |it: &&str| (*it).to_owned();
    let left: Vec<String> = match wanted {
        Wanted::Word(words) => words.into_iter().filter(|it| is_fine(it)).collect(),
        Wanted::Text(_, not) => {
            usual.iter().map(owned).filter(|word| !not.contains(word)).collect()
        }
        Wanted::Path
        | Wanted::Lines
        | Wanted::Agent
        | Wanted::Time
        | Wanted::TrueOrFalse
        | Wanted::Literal(_)
        | Wanted::Number { .. }
        | Wanted::SameAs(_)
        | Wanted::AnyMap
        | Wanted::ShortList(_)
        | Wanted::Items(..)
        | Wanted::Members(_) => Vec::new(),
    };
    let wanted = if left.is_empty() { Wanted::words(usual) } else { Wanted::Word(left) };
    FieldMark { wanted, about }
}

/// A word from a closed list: of a field, or of a member of a list's items.
pub(super) fn correct_word(sketch: &mut Sketch, marks: &FieldMarks<'_>, path: &[PathStep]) {
    let body = Body::of(&sketch.sample);
    let key = last_key(path);
    let item = path.iter().rposition(|it| matches!(it, PathStep::Item(_)));
    let field = dotted(&path[..item.unwrap_or(path.len())]);
    let field = relative(&body, &field);
    let words = match item {
        Some(_) => words_of_member(field, key),
        None => words_of_field(field),
    };
    let Some(words) = words else { return };
    let place = item.map_or_else(|| path.to_vec(), |it| member_place(sketch, &path[..=it], key));
    let plain = |it: &str| it.to_ascii_lowercase().replace('-', "_");
    let is_fine = |it: &str| words.iter().any(|word| plain(word) == plain(it));
    let mark = chosen(marks.at(&sketch.sample, path), is_fine, words);
    put_instead(sketch, &place, mark);
}

/// Where the value of an item's member stands: in XML it may be an attribute.
fn member_place(sketch: &Sketch, item: &[PathStep], key: &str) -> Vec<PathStep> {
    let attribute = format!("@{key}");
    let node = at(&sketch.sample, item);
    let is_attribute =
        node.is_some_and(|it| text_at(it, key).is_none() && it.member(&attribute).is_some());
    below(item, if is_attribute { &attribute } else { key })
}

/// Adds everything that an item of a list has to say and does not.
pub(super) fn complete_item(sketch: &mut Sketch, marks: &FieldMarks<'_>, path: &[PathStep]) {
    let Some((_, list)) = path.split_last() else { return };
    let list = relative(&Body::of(&sketch.sample), &dotted(list)).to_owned();
    for key in needs_of_items(&list) {
        let is_there = at(&sketch.sample, path).is_some_and(|it| field(it, key).is_some());
        if !is_there {
            let mark = members::member_of(&list, key);
            add_part(sketch, marks, path, ("#text", key), &mark);
        }
    }
}

pub(super) fn correct_number(sketch: &mut Sketch, marks: &FieldMarks<'_>, path: &[PathStep]) {
    let about = marks.at(&sketch.sample, path).about;
    let wanted = marks.number_at(&Body::of(&sketch.sample), &dotted(path));
    put_instead(sketch, path, FieldMark::new(wanted, about));
}

/// The number in the address is the right one, unless it cannot be one.
pub(super) fn follow_address(sketch: &mut Sketch, marks: &FieldMarks<'_>, path: &[PathStep]) {
    let body = Body::of(&sketch.sample);
    let field = dotted(path);
    let Some((address, number)) = number_in_address(&body, relative(&body, &field)) else {
        return;
    };
    if number.is_some_and(|it| it > 0) {
        let wanted = marks.number_at(&body, &field);
        let about = format!("the number in `{address}`");
        put_instead(sketch, path, FieldMark::new(wanted, about));
    } else {
        let place = steps(&body.field_path(address));
        replace(sketch, marks, &place);
    }
}

/// A check that failed beside success: the sender has mended it, or corrects the status.
pub(super) fn correct_check(sketch: &mut Sketch, marks: &FieldMarks<'_>, path: &[PathStep]) {
    const ABOUT: &str = "a check that passed; if it failed, say so in the status";
    let result = FieldMark::text(TextKind::Any, ABOUT);
    match at(&sketch.sample, path) {
        Some(node @ Node::Map(_)) => {
            let failed: Vec<_> =
                failed_results(node).into_iter().map(|it| below(path, it)).collect();
            for place in failed {
                put_instead(sketch, &place, result.clone());
            }
        }
        Some(node) if node.scalar_text().map(str::trim) == Some("false") => {
            let mark = FieldMark::new(Wanted::Literal(Node::Bool(true)), ABOUT);
            put_instead(sketch, path, mark);
        }
        Some(Node::Text(_)) => put_instead(sketch, path, result),
        Some(Node::Null | Node::Bool(_) | Node::Number(_) | Node::List(_)) | None => {
            replace(sketch, marks, path);
        }
    }
}

/// What a step of the run is called, for a block that names another phase.
pub(super) fn correct_phase(
    sketch: &mut Sketch,
    marks: &FieldMarks<'_>,
    facts: &Facts,
    path: &[PathStep],
) {
    let Some((run, here)) = facts.run.as_ref().and_then(|it| Some((it, it.at.as_ref()?))) else {
        return;
    };
    let mut usual = vec![here.phase.as_str()];
    if here.id != here.phase {
        usual.push(&here.id);
    }
    let is_fine = |it: &str| is_phase_here(run, it);
    let mark = chosen(marks.at(&sketch.sample, path), is_fine, &usual);
    put_instead(sketch, path, mark);
}

/// The phase that was probably meant.
pub(super) fn correct_next_phase(sketch: &mut Sketch, facts: &Facts, path: &[PathStep]) {
    let word = at(&sketch.sample, path).and_then(Node::scalar_text).unwrap_or_default();
    let meant = facts.run.as_ref().and_then(|it| meant_phase(it, word.trim()));
    let Some(meant) = meant.map(str::to_owned) else { return };
    put_instead(
        sketch,
        path,
        FieldMark::new(Wanted::words(&[&meant]), "the phase that comes next"),
    );
}

/// True for a word that does not name another step of the workflow.
fn is_phase_here(run: &RunFact, word: &str) -> bool {
    let is_here = run.at.as_ref().is_none_or(|it| it.is_called(word));
    is_here || !run.phases.iter().any(|it| it.is_called(word))
}

/// What an acknowledgement leaves out or contradicts.
pub(super) fn correct_acknowledgement(
    sketch: &mut Sketch,
    marks: &FieldMarks<'_>,
    path: &[PathStep],
) {
    // Without a root, the members stand at the top.
    let beside = |key: &str| {
        let above = path.split_last().map_or(&[][..], |(_, above)| above);
        below(above, key)
    };
    let text = |about: &str| FieldMark::text(TextKind::Any, about);
    let task = || text("the task in your own words");
    match last_key(path) {
        "received" => {
            let about = "what did not arrive is rejected, and not acknowledged";
            put_instead(sketch, path, FieldMark::new(Wanted::Literal(Node::Bool(true)), about));
        }
        "from" => put_instead(sketch, path, FieldMark::new(Wanted::Agent, "who handed it over")),
        "understood" => {
            let members = vec![("task".to_owned(), task())];
            put_instead(sketch, path, FieldMark::new(Wanted::Members(members), ""));
        }
        "task" => put_instead(sketch, path, task()),
        "action" => {
            let words = Wanted::words(&["start", "request_clarification"]);
            put_instead(sketch, path, FieldMark::new(words, "what you do next"));
        }
        "starting" if at(&sketch.sample, path).and_then(Node::scalar_text) == Some("true") => {
            let about = "a receiver that understood only a part asks first";
            put_instead(sketch, path, FieldMark::new(Wanted::Literal(Node::Null), about));
        }
        "starting" => {
            let words = Wanted::words(&["request_clarification"]);
            let about = "a receiver that does not start asks what is unclear";
            put_instead(sketch, &beside("action"), FieldMark::new(words, about));
        }
        "questions" => {
            let item = Box::new(text("what is unclear"));
            put_instead(sketch, path, FieldMark::new(Wanted::Items(1, item), ""));
        }
        _ => replace(sketch, marks, path),
    }
}
