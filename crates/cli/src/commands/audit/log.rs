//! `baton audit log`: the newest handoffs of all runs.

use baton_api::{AuditEntry, Page};

use crate::api::Api;
use crate::args::AuditRange;
use crate::failure::Failure;
use crate::show::{self, OutputFormat};

pub(super) async fn run(api: &Api, range: &AuditRange, limit: u32) -> Result<(), Failure> {
    let ask = range.ask().with("order", "newest");
    let most = limit as usize;
    let mut entries: Vec<AuditEntry> = Vec::new();
    let mut after: Option<String> = None;
    // A page may be short and still have a next one.
    loop {
        let ask = ask.clone().with("limit", most - entries.len()).with_some("after", after);
        let page: Page<AuditEntry> = api.get(&ask).await?;
        entries.extend(page.items);
        after = page.next;
        if after.is_none() || entries.len() >= most {
            break;
        }
    }
    entries.reverse();
    match api.format {
        OutputFormat::Json => show::answer_as(&Page { items: entries, next: None }),
        OutputFormat::Table if entries.is_empty() => show::answer("no handoffs"),
        OutputFormat::Table => {
            show::answer(&show::audit_table(&entries));
            if after.is_some() {
                show::note(
                    "there are older ones: `--limit`, `--from` and `--to` choose, \
                     `baton audit export` prints all",
                );
            }
        }
    }
    Ok(())
}
