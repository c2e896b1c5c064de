//! `baton explain`: what an error code means, and what to do about it.

use baton_api::{ERROR_PAGES, error_page};
use baton_core::document::Node;
use baton_wire::suggest::nearest;

use crate::failure::Failure;
use crate::show::{self, OutputFormat};

pub(crate) fn run(code: Option<&str>, format: OutputFormat) -> Result<(), Failure> {
    let Some(code) = code else {
        if format == OutputFormat::Json {
            let items =
                ERROR_PAGES.iter().map(|(code, _)| Node::map([("code", Node::text(*code))]));
            let list = [("items", Node::List(items.collect())), ("next", Node::Null)];
            show::answer_json(&Node::map(list));
            return Ok(());
        }
        for (code, _) in ERROR_PAGES {
            show::answer(code);
        }
        return Ok(());
    };
    // As printed in a message: `[behind_gate]`.
    let code = code.trim_matches(['[', ']', '`']);
    match error_page(code) {
        Some(page) => {
            match format {
                OutputFormat::Json => {
                    let members = [("code", Node::text(code)), ("page", Node::text(page))];
                    show::answer_json(&Node::map(members));
                }
                OutputFormat::Table => show::answer(page.trim_end()),
            }
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
