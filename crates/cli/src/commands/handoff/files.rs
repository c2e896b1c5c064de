//! `baton handoff files` and `baton handoff file`: what runners sent back, from wherever they are.

use baton_api::{FileDocument, Page};

use crate::api::{Api, Ask};
use crate::args::Which;
use crate::failure::Failure;
use crate::named_file;
use crate::show::{self, OutputFormat};

pub(super) async fn list(api: &Api, which: &Which) -> Result<(), Failure> {
    let reply = api.send(&Ask::get(["handoffs", &which.handoff, "files"]).of(which)).await?;
    if api.format == OutputFormat::Json {
        show::answer_document(&reply.body);
        return Ok(());
    }
    let page: Page<FileDocument> = reply.document()?;
    if page.items.is_empty() {
        show::note("no files: no runner has sent any of this handoff back");
        return Ok(());
    }
    let row = |it: &FileDocument| {
        let sha256 = it.sha256.as_deref().unwrap_or_default();
        let sha256 = sha256.get(..12).unwrap_or_default().to_owned();
        let note = it.note.as_deref().map(show::visible).unwrap_or_default();
        let (fence, bytes) = (it.fence.to_string(), it.bytes.to_string());
        vec![show::visible(&it.name), it.kind.name().to_owned(), fence, bytes, sha256, note]
    };
    let headings = ["NAME", "KIND", "FENCE", "BYTES", "SHA-256", "NOTE"];
    show::answer(&show::table(&headings, page.items.iter().map(row).collect()));
    Ok(())
}

pub(super) async fn fetch(
    api: &Api,
    which: &Which,
    name: &str,
    output: Option<&str>,
) -> Result<(), Failure> {
    let ask = Ask::get(["handoffs", &which.handoff, "files"]).of(which);
    let page: Page<FileDocument> = api.get(&ask).await?;
    let sha256 = chosen(&page.items, name).map_err(|why| {
        let handoff = which.typed();
        Failure::NotFound(format!("{why}; `baton handoff files {handoff}` lists the files"))
    })?;
    let ask = Ask::get(["handoffs", &which.handoff, "files", sha256]).of(which);
    let bytes = api.bytes(&ask).await?;
    match output {
        Some(path) => {
            named_file::write_new_bytes(path, &bytes)?;
            show::note(&format!("{} bytes saved as `{path}`", bytes.len()));
        }
        None => show::answer_bytes(&bytes),
    }
    Ok(())
}

/// The hash of the newest file with that name, or whose hash begins so.
fn chosen<'a>(files: &'a [FileDocument], name: &str) -> Result<&'a str, String> {
    const LEAST_DIGITS: usize = 6;
    let by_name = || files.iter().rev().filter(|it| it.name == name);
    if let Some(hash) = by_name().find_map(|it| it.sha256.as_deref()) {
        return Ok(hash);
    }
    if let Some(file) = by_name().next() {
        let note = file.note.as_deref().unwrap_or("it is not there any more");
        return Err(format!("`{name}` has no bytes: {note}"));
    }
    let begins = |it: &&FileDocument| it.sha256.as_deref().is_some_and(|it| it.starts_with(name));
    let by_hash = files.iter().rev().find(begins).filter(|_| name.len() >= LEAST_DIGITS);
    let hash = by_hash.and_then(|it| it.sha256.as_deref());
    hash.ok_or_else(|| format!("there is no file `{name}`"))
}

#[cfg(test)]
mod tests {
    use baton_core::sent_file::SentFileKind;

    use super::*;

    fn file(name: &str, sha256: Option<&str>, note: Option<&str>) -> FileDocument {
        FileDocument {
            handoff: "HO-001".to_owned(),
            fence: 1,
            kind: SentFileKind::Artifact.into(),
            name: name.to_owned(),
            sha256: sha256.map(str::to_owned),
            bytes: 1,
            note: note.map(str::to_owned),
            is_left_out: sha256.is_none(),
            at: None,
            by: "baton:runner".to_owned(),
        }
    }

    #[test]
    fn the_newest_of_a_name_is_meant_and_what_was_left_out_says_why() {
        let files = [
            file("output.txt", Some("aaaaaaaa"), None),
            file("output.txt", Some("bbbbbbbb"), None),
            file("large.bin", None, Some("left out: it is large")),
        ];
        assert_eq!(chosen(&files, "output.txt"), Ok("bbbbbbbb"));
        assert_eq!(chosen(&files, "aaaaaa"), Ok("aaaaaaaa"));
        let left_out = "`large.bin` has no bytes: left out: it is large".to_owned();
        assert_eq!(chosen(&files, "large.bin"), Err(left_out));
        assert_eq!(chosen(&files, "a"), Err("there is no file `a`".to_owned()));
    }
}
