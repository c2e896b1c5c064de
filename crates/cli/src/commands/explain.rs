//! `baton explain`: what an error code means, and what to do about it.

use crate::failure::Failure;
use crate::show;

mod pages {
    include!(concat!(env!("OUT_DIR"), "/error_pages.rs"));
}

pub(crate) fn run(code: Option<&str>) -> Result<(), Failure> {
    let Some(code) = code else {
        for (code, _) in pages::PAGES {
            show::answer(code);
        }
        return Ok(());
    };
    // As printed in a message: `[behind_gate]`.
    let code = code.trim_matches(['[', ']', '`']);
    match pages::PAGES.iter().find(|(it, _)| *it == code) {
        Some((_, page)) => {
            show::answer(page.trim_end());
            Ok(())
        }
        None => {
            let message = format!("there is no error `{code}`; `baton explain` lists them all");
            Err(Failure::NotFound(message))
        }
    }
}
