//! `baton convert`: the same document in another format, with nothing lost.

use baton_wire::formats;

use crate::args::Convert;
use crate::document::{InputDocument, SAY_FROM};
use crate::failure::Failure;
use crate::show;

pub(crate) fn run(convert: &Convert) -> Result<(), Failure> {
    let document = InputDocument::read(&convert.file, convert.from, SAY_FROM)?;
    show::answer_text(&formats::encode(&document.tree()?, convert.to));
    Ok(())
}
