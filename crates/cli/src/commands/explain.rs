//! `baton explain`: what an error code means, and what to do about it.

use baton_api::{ERROR_PAGES, error_page};
use baton_wire::suggest::nearest;

use crate::failure::Failure;
use crate::show;

pub(crate) fn run(code: Option<&str>) -> Result<(), Failure> {
    let Some(code) = code else {
        for (code, _) in ERROR_PAGES {
            show::answer(code);
        }
        return Ok(());
    };
    // As printed in a message: `[behind_gate]`.
    let code = code.trim_matches(['[', ']', '`']);
    match error_page(code) {
        Some(page) => {
            show::answer(page.trim_end());
            Ok(())
        }
        None => {
            let codes: Vec<&str> = ERROR_PAGES.iter().map(|(code, _)| *code).collect();
            let near = nearest(code, &codes).map(|it| format!("did you mean `{it}`? "));
            let near = near.unwrap_or_default();
            let message =
                format!("there is no error `{code}`; {near}`baton explain` lists them all");
            Err(Failure::NotFound(message))
        }
    }
}
