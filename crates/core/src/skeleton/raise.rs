//! What a document lacks for its score: the parts of it that have less than all their points.

use super::fields::FieldMarks;
use super::mark::{FieldMark, TextKind, Wanted};
use super::sketch::{Sketch, steps};
use crate::contract::Body;
use crate::document::kind::DocumentKind;
use crate::lint::{Score, ScorePart};

/// Adds a mark for everything that a part of the score asks for and that is not there.
pub(super) fn raise(sketch: &mut Sketch, marks: &FieldMarks<'_>, score: &Score) {
    for part in score.parts.iter().filter(|it| it.points < it.of) {
        for field in fields(sketch, part) {
            add(sketch, marks, field);
        }
    }
}

/// The fields that bring the points of a part, for a document of this kind.
fn fields(sketch: &Sketch, part: &ScorePart) -> &'static [&'static str] {
    let is_package = match DocumentKind::of(&sketch.sample) {
        DocumentKind::YamlHandoff | DocumentKind::YamlGate => true,
        DocumentKind::Payload => {
            let fields = Body::of(&sketch.sample).fields();
            fields.member("context").is_some() || fields.member("expectations").is_some()
        }
        DocumentKind::MetadataBlock(_)
        | DocumentKind::XmlHandoff
        | DocumentKind::WorkflowComplete
        | DocumentKind::Other(_)
        | DocumentKind::Acknowledgement(_) => false,
    };
    let has_gate = Body::of(&sketch.sample).fields().member("gate").is_some();
    match part.name {
        "summary" if is_package => &["context.summary"],
        "summary" => &["summary"],
        "expectations" if has_gate => &["validation_request.items"],
        "expectations" => &["expectations.deliverable", "expectations.success_criteria"],
        "artifacts" => &["context.artifacts"],
        "thinking" => &["context.decisions", "context.open_questions"],
        "context" => &["handoff.context"],
        "verification" => &["verification.command_output"],
        "blockers" => &["blocked_reason", "attempted"],
        "substance" => &["notes", "risks", "next_steps"],
        _ => &[],
    }
}

fn add(sketch: &mut Sketch, marks: &FieldMarks<'_>, field: &str) {
    let body = Body::of(&sketch.sample);
    let is_there = body.fields().at(field).is_some_and(|it| !it.is_blank());
    let path = steps(&body.path(field));
    let mark = marks.at(&sketch.sample, &path);
    let text = |about: &str| FieldMark::text(TextKind::Any, about);
    let list = |each: FieldMark| {
        let about = each.about.clone();
        FieldMark::new(Wanted::Items(1, Box::new(each)), about)
    };
    let mark = match field {
        "expectations.success_criteria" => {
            list(FieldMark::text(TextKind::Measurable, "how to tell that it succeeded"))
        }
        "expectations.deliverable" => text("what the receiver has to deliver"),
        "validation_request.items" => list(text("what a person is to look at")),
        "context.artifacts" => list(super::members::item(
            crate::lint::nature::FieldNature::Artifacts,
            field,
            "every file that was made",
        )),
        "context.decisions" => list(super::members::item(
            crate::lint::nature::FieldNature::Decisions,
            field,
            "what was decided",
        )),
        "context.open_questions" => list(super::members::item(
            crate::lint::nature::FieldNature::Questions,
            field,
            "what is still open",
        )),
        "verification.command_output" => text("the command that was run, and what it printed"),
        "attempted" => list(text("what was tried before giving up")),
        "notes" => text("what the receiver should know"),
        "risks" => list(text("what could go wrong")),
        "next_steps" => list(text("what comes next")),
        _ => mark,
    };
    if !is_there {
        sketch.put(&path, &mark);
    }
}
