//! What becomes of a value that a rule of the linter refuses. Each rule has its way: a new rule does
//! not compile without one.

use super::fields::{FieldMarks, last_key};
use super::mark::{FieldMark, TextKind, Wanted};
use super::sketch::{PathStep, Sketch, at, below, steps};
use super::{frame, members};
use crate::contract::Body;
use crate::document::Node;
use crate::lint::nature::PRIORITIES;
use crate::lint::{Facts, FileFact, LintRule};

/// Corrects one finding. Those about a text wherever it stands are corrected by [`super::texts`].
pub(super) fn repair(
    sketch: &mut Sketch,
    marks: &FieldMarks<'_>,
    facts: &Facts,
    (rule, path): (LintRule, &str),
) {
    let path = steps(path);
    match rule {
        LintRule::VagueSummary | LintRule::LongSummary => replace(sketch, marks, &path),
        LintRule::Unmeasurable => {
            let place =
                text_place(sketch, &path, &["criterion", "constraint", "text", "description"]);
            let about = marks.at(&sketch.sample, &path).about;
            put_instead(sketch, &place, FieldMark::text(TextKind::Measurable, about));
        }
        LintRule::ArtifactWithoutPath => {
            let mark = FieldMark::new(Wanted::Path, "where it is");
            sketch.put(&below(&path, "path"), &mark);
        }
        LintRule::ArtifactOutside => put_path(sketch, &path, "where it is"),
        LintRule::ArtifactMissing => {
            put_path(sketch, &path, "a file that exists, or take it off the list");
        }
        LintRule::ArtifactChanged => correct_hash(sketch, facts, &path),
        LintRule::WrongRange => {
            let place = text_place(sketch, &path, &["path"]);
            let mark = FieldMark::new(Wanted::Lines, "lines that the file has");
            put_instead(sketch, &place, mark);
        }
        LintRule::QuestionWithoutPriority => {
            let words = PRIORITIES.iter().map(|it| (*it).to_owned()).collect();
            let mark = FieldMark::new(Wanted::Word(words), "how urgent it is");
            add_part(sketch, marks, &path, ("question", "priority"), &mark);
        }
        LintRule::DecisionWithoutRationale => {
            let mark = FieldMark::text(TextKind::Any, "why this and nothing else");
            add_part(sketch, marks, &path, ("decision", "rationale"), &mark);
        }
        LintRule::ClaimWithoutEvidence => {
            let above = path.split_last().map_or(&[][..], |(_, above)| above);
            let mark =
                FieldMark::text(TextKind::Any, "the command that was run, and what it printed");
            sketch.put(&below(above, "command_output"), &mark);
        }
        LintRule::CountMismatch => correct_count(sketch, marks, &path),
        LintRule::StaleWorkflowState if last_key(&path) == "phase" => {
            frame::correct_phase(sketch, marks, facts, &path);
        }
        LintRule::StaleWorkflowState => {
            let about = "Baton knows where the run is; this is not what it knows";
            put_instead(sketch, &path, FieldMark::new(Wanted::Literal(Node::Null), about));
        }
        LintRule::MissingParty => frame::name_party(sketch, &path),
        LintRule::RepeatedField => replace(sketch, marks, &path),
        LintRule::UnknownStatus => frame::correct_status(sketch, marks, &path),
        LintRule::BadTimestamp => frame::correct_time(sketch, marks, &path),
        LintRule::UnknownWord if last_key(&path) == "next_phase" => {
            frame::correct_next_phase(sketch, facts, &path);
        }
        LintRule::UnknownWord => frame::correct_word(sketch, marks, &path),
        LintRule::ImpossibleNumber => frame::correct_number(sketch, marks, &path),
        LintRule::NumberMismatch => frame::follow_address(sketch, marks, &path),
        LintRule::FailedCheck => frame::correct_check(sketch, marks, &path),
        LintRule::IncompleteItem => frame::complete_item(sketch, marks, &path),
        LintRule::DecisionWithoutId => {
            let mark = members::member_of("context.decisions", "id");
            add_part(sketch, marks, &path, ("decision", "id"), &mark);
        }
        LintRule::UnclearAcknowledgement => {
            frame::correct_acknowledgement(sketch, marks, &path);
        }
        LintRule::BlankField
        | LintRule::Placeholder
        | LintRule::Secret
        | LintRule::PersonalData
        | LintRule::InvisibleCharacter
        | LintRule::InstructionToReader => {}
    }
}

fn put_path(sketch: &mut Sketch, path: &[PathStep], about: &str) {
    let place = text_place(sketch, path, &["path", "@path", "file", "#text"]);
    put_instead(sketch, &place, FieldMark::new(Wanted::Path, about));
}

/// Puts the field's own mark in the place of a value.
pub(super) fn replace(sketch: &mut Sketch, marks: &FieldMarks<'_>, path: &[PathStep]) {
    let mark = marks.at(&sketch.sample, path);
    put_instead(sketch, path, mark);
}

/// Puts a mark that quotes the value it replaces.
pub(super) fn put_instead(sketch: &mut Sketch, path: &[PathStep], mark: FieldMark) {
    let refused = in_the_way(&sketch.shown, path).and_then(Node::scalar_text);
    let refused = refused.map(str::trim).filter(|it| !it.is_empty());
    let mark = match refused {
        // A mark says what is wanted, and not what was refused.
        Some(it) if !super::is_mark(it) && !it.starts_with('<') => {
            let clean = crate::lint::redacted(it);
            mark.instead_of(&clean)
        }
        Some(_) | None => mark,
    };
    sketch.put(path, &mark);
}

/// The value at a path, or the value above it that is no map.
fn in_the_way<'a>(document: &'a Node, path: &[PathStep]) -> Option<&'a Node> {
    let deepest = (1..=path.len()).rev().find_map(|n| Some((n, at(document, &path[..n])?)));
    deepest.filter(|(n, node)| *n == path.len() || node.scalar_text().is_some()).map(|it| it.1)
}

/// Where the text of an item stands: the item itself, or one of its members.
fn text_place(sketch: &Sketch, path: &[PathStep], keys: &[&str]) -> Vec<PathStep> {
    let item = at(&sketch.sample, path);
    let key = keys.iter().find(|it| item.is_some_and(|item| item.member(it).is_some()));
    key.map_or_else(|| path.to_vec(), |it| below(path, it))
}

/// Adds what an item lacks. A text becomes the main member of a map. Beside a text of XML a part is
/// an attribute.
pub(super) fn add_part(
    sketch: &mut Sketch,
    marks: &FieldMarks<'_>,
    path: &[PathStep],
    (main, part): (&str, &str),
    mark: &FieldMark,
) {
    if let Some(Node::Text(_)) = at(&sketch.sample, path) {
        sketch.wrap(path, main);
    }
    match at(&sketch.sample, path) {
        Some(Node::Map(members)) => {
            let attribute = format!("@{part}");
            let has = |key: &str| members.iter().any(|(it, _)| it == key);
            let is_attribute = !has(part) && (has(&attribute) || has("#text"));
            let key = if is_attribute { attribute.as_str() } else { part };
            put_instead(sketch, &below(path, key), mark.clone());
        }
        Some(Node::Text(_)) | None => {}
        Some(Node::Null | Node::Bool(_) | Node::Number(_) | Node::List(_)) => {
            replace(sketch, marks, path);
        }
    }
}

fn correct_hash(sketch: &mut Sketch, facts: &Facts, path: &[PathStep]) {
    let Some(item) = at(&sketch.sample, path) else { return };
    let key = ["sha256", "@sha256", "hash", "@hash"].iter().find(|it| item.member(it).is_some());
    let paths = ["path", "@path", "file", "#text"];
    let file = paths.iter().find_map(|it| item.member(it)?.as_text()).map(str::trim);
    let fact = file.and_then(|it| facts.files.get(it));
    let (Some(key), Some(FileFact::File { sha256: Some(hash), .. })) = (key, fact) else { return };
    let mark = FieldMark::new(Wanted::Word(vec![hash.clone()]), "the SHA-256 of the file as it is");
    put_instead(sketch, &below(path, key), mark);
}

/// Corrects the number; where the contract does not allow a greater one, the list.
pub(super) fn correct_count(sketch: &mut Sketch, marks: &FieldMarks<'_>, path: &[PathStep]) {
    let body = Body::of(&sketch.sample);
    let keys: Vec<&str> = path
        .iter()
        .filter_map(|it| if let PathStep::Key(key) = it { Some(key.as_str()) } else { None })
        .collect();
    let field = keys.join(".");
    let counts = marks.counts(&body, &field);
    let most = marks.most_at(&body, &field);
    let n_counted = counts.iter().map(|it| it.n_in(&body)).max().unwrap_or(0);
    let Some(most) = most.filter(|it| usize::try_from(*it).is_ok_and(|it| it < n_counted)) else {
        let about = marks.at(&sketch.sample, path).about;
        let wanted = marks.number_at(&Body::of(&sketch.sample), &field);
        put_instead(sketch, path, FieldMark::new(wanted, about));
        return;
    };
    let most_items = usize::try_from(most).unwrap_or(usize::MAX);
    let mut surplus = Vec::new();
    for count in counts {
        let counted = count.counted(&body);
        if counted.len() <= most_items {
            continue;
        }
        let list = steps(&body.path(&count.list));
        let about = format!("`{}` is at most {most} here", keys.last().unwrap_or(&"the number"));
        if count.only.is_none() {
            surplus.push((list, FieldMark::new(Wanted::ShortList(most_items), about)));
            continue;
        }
        for index in counted.into_iter().skip(most_items) {
            let place = list.iter().cloned().chain([PathStep::Item(index)]).collect();
            surplus.push((place, FieldMark::new(Wanted::Literal(Node::Null), about.clone())));
        }
    }
    for (place, mark) in surplus {
        sketch.put(&place, &mark);
    }
}
