//! Values in a request that both APIs take, each read in one way.

use baton_api::WordSet;
use baton_core::acknowledgement::Acknowledgement;
use baton_core::command::LeaseTime;
use baton_core::document::Node;
use baton_core::names::Reason;
use baton_core::outcome::Outcome;
use baton_core::problem::Problem;
use baton_wire::suggest::nearest;
use baton_wire::{formats, json};
use serde_json::value::RawValue;

use crate::problem::ApiProblem;

pub(crate) fn reason(text: Option<&str>) -> Result<Option<Reason>, ApiProblem> {
    Ok(text.map(Reason::parse).transpose()?)
}

pub(crate) fn outcome(word: &str) -> Result<Outcome, ApiProblem> {
    Outcome::parse(word).ok_or_else(|| {
        let known = Outcome::CLAIMABLE.map(Outcome::name);
        let near = nearest(word, &known).map(|it| format!("did you mean `{it}`? "));
        let (near, known) = (near.unwrap_or_default(), known.join(", "));
        let message = format!("there is no outcome `{word}`; {near}there are {known}");
        ApiProblem::malformed("unknown_outcome", message)
    })
}

/// The values of a comma-separated list.
pub(crate) fn words<T: WordSet>(name: &str, list: Option<&str>) -> Result<Vec<T>, ApiProblem> {
    let read = |word: &str| {
        T::from_word(word).ok_or_else(|| {
            let known: Vec<&str> = T::ALL.iter().map(|it| it.word()).collect();
            let message = format!("`{name}` has no `{word}`; it has {}", known.join(", "));
            ApiProblem::malformed("unknown_word", message)
        })
    };
    list.into_iter().flat_map(|it| it.split(',')).map(read).collect()
}

pub(crate) fn lease(seconds: Option<u32>) -> Result<Option<LeaseTime>, ApiProblem> {
    let Some(seconds) = seconds else { return Ok(None) };
    let most = LeaseTime::MOST_SECONDS;
    let wrong = || {
        ApiProblem::malformed("wrong_type", format!("`leaseSeconds` is a number from 1 to {most}"))
    };
    LeaseTime::from_seconds(seconds).map(Some).ok_or_else(wrong)
}

/// Plain text, or a document, in which open questions are looked for.
pub(crate) fn acknowledgement(
    raw: Option<&RawValue>,
) -> Result<Option<Acknowledgement>, ApiProblem> {
    let Some(raw) = raw else { return Ok(None) };
    match json::parse(raw.get())? {
        Node::Null => Ok(None),
        Node::Text(words) => match document_in(&words) {
            Some(document) => read_acknowledgement(&document, &words),
            None => Ok(Some(Acknowledgement::words(words))),
        },
        document @ (Node::Bool(_) | Node::Number(_) | Node::List(_) | Node::Map(_)) => {
            read_acknowledgement(&document, raw.get())
        }
    }
}

fn read_acknowledgement(
    document: &Node,
    text: &str,
) -> Result<Option<Acknowledgement>, ApiProblem> {
    Acknowledgement::read(document, text).map(Some).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(Problem::sentence).collect();
        ApiProblem::malformed("bad_acknowledgement", problems.join("; "))
    })
}

/// The YAML handoff's specification writes it in YAML; any other format is taken too. Plain text
/// with a colon in it stays plain text.
fn document_in(text: &str) -> Option<Node> {
    let document = formats::decode(formats::guess(text)?, text).ok()?;
    Acknowledgement::is_one(&document).then_some(document)
}
