#![expect(clippy::disallowed_methods, reason = "the test makes the files of an agent")]

use std::os::unix::fs::symlink;

use baton_core::package::Format;
use baton_wire::formats;

use super::*;

fn text(text: &str, secrets: &[&str], kept: KeptPart) -> OutgoingFile {
    let masking = secrets.iter().fold(Masking::default(), |masking, it| masking.with_secret(it));
    OutgoingFile::text(SentFileKind::Log, "output.txt", text, &masking, kept)
}

fn said(file: &OutgoingFile) -> (String, Option<&str>) {
    let bytes = file.bytes.as_deref().unwrap_or_default();
    (String::from_utf8_lossy(bytes).into_owned(), file.note.as_deref())
}

#[test]
fn no_credential_and_no_passed_on_secret_leaves_the_runner() {
    let token = format!("baton-attempt.analyst.{}.3.{}", "0".repeat(32), "ab".repeat(32));
    let runner = format!("baton-runner.{}", "cd".repeat(32));
    let sent =
        text(&format!("a {token} b {runner}, c hunter22-x"), &["hunter22-x", "c"], KeptPart::End);
    let masked = "a secret.masked b secret.masked, c secret.masked";
    assert_eq!(said(&sent), (masked.to_owned(), Some(MASKED)));
    let plain = "baton-runner.KEY and baton-attempt.TOKEN";
    assert_eq!(said(&text(plain, &[], KeptPart::End)), (plain.to_owned(), None));
}

#[test]
fn what_is_too_long_is_cut_and_the_note_says_how_much() {
    let long = format!("begin{}end", "ä".repeat(1024 * 1024));
    let (end, note) = (text(&long, &[], KeptPart::End), "cut: the first 9 bytes are left out");
    assert_eq!(end.note.as_deref(), Some(note));
    assert!(end.bytes.as_ref().unwrap().ends_with(b"end"));
    let begin = text(&long, &[], KeptPart::Beginning);
    assert_eq!(begin.note.as_deref(), Some("cut: the last 9 bytes are left out"));
    assert!(begin.bytes.as_ref().unwrap().starts_with(b"begin"));
    assert!(begin.bytes.unwrap().len() as u64 <= LARGEST_FILE);
}

#[test]
fn a_secret_at_the_place_of_the_cut_is_not_half_shown() {
    const SECRET_TEXT: &str = "hunter22-correct-horse";
    let most = usize::try_from(LARGEST_FILE).unwrap();
    for before in [most - 10, most + LEAST_SHOWN_MARGIN - 10, most + 5, 3 * most - 10] {
        let after = "y".repeat(4 * most - before);
        let long = format!("{}{SECRET_TEXT}{after}", "x".repeat(before));
        for kept in [KeptPart::Beginning, KeptPart::End] {
            let (sent, _) = said(&text(&long, &[SECRET_TEXT], kept));
            for part in ["hunter", "horse"] {
                assert!(!sent.contains(part), "{before} {kept:?}");
            }
        }
    }
    // Masking makes it shorter: what moves up is clean too.
    let long = format!("{}{}", SECRET_TEXT.repeat(most / 22 + 700), "z".repeat(most));
    let (sent, _) = said(&text(&long, &[SECRET_TEXT], KeptPart::Beginning));
    assert!(!sent.contains("hunter"), "{}", sent.len());
    let masking = Masking::default().with_secret(SECRET_TEXT);
    let begun = format!("{}{}", "x".repeat(most_read(&masking) - 9), &SECRET_TEXT[..9]);
    let begun = OutgoingFile::begun_text(SentFileKind::Diff, "a", &begun, &masking);
    let (sent, note) = said(&begun);
    assert!(!sent.contains("hunter"));
    assert_eq!(note, Some("cut: what comes after the first 2097152 bytes is left out"));
}

/// The least margin of a masking.
const LEAST_SHOWN_MARGIN: usize = 16 * 1024;

#[test]
fn a_file_that_is_no_text_is_sent_without_secrets_too() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("report.txt"), b"caf\xe9 hunter22-x\xff").unwrap();
    let package = formats::decode(Format::Json, r#"{"files_changed": ["report.txt"]}"#).unwrap();
    let masking = Masking::default().with_secret("hunter22-x");
    let files = artifacts(&Dir::open(place.path()).unwrap(), &package, &masking);
    assert_eq!(files[0].bytes.as_deref(), Some(&b"caf\xe9 secret.masked\xff"[..]));
    assert_eq!(files[0].note.as_deref(), Some(MASKED));
}

#[test]
fn of_many_large_files_no_more_are_held_than_are_sent() {
    let place = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..20).map(|it| format!("{it}.bin")).collect();
    for name in &names {
        std::fs::write(place.path().join(name), vec![b'x'; 1 << 20]).unwrap();
    }
    let package = format!("{{\"files_changed\": {names:?}}}");
    let package = formats::decode(Format::Json, &package).unwrap();
    let files = artifacts(&Dir::open(place.path()).unwrap(), &package, &Masking::default());
    assert_eq!(files.len(), 20, "each is listed");
    assert_eq!(files.iter().filter(|it| it.bytes.is_some()).count(), 8);
}

#[test]
fn an_attempt_sends_no_more_than_the_server_takes_and_says_what_is_missing() {
    let file = |n: usize| OutgoingFile { name: n.to_string(), ..text("x", &[], KeptPart::End) };
    let fifty: Vec<OutgoingFile> = (0..50).map(file).collect();
    assert_eq!(within_limits(fifty.clone()), fifty);
    let sent = within_limits((0..60).map(file).collect());
    assert_eq!(sent.len(), 50);
    let last = "left out: an attempt has at most 50 files, and 11 more are not here";
    assert_eq!(sent[49].note.as_deref(), Some(last));
    let large = |_| text(&"x".repeat(2 << 20), &[], KeptPart::End);
    let sent = within_limits((0..5).map(large).collect());
    assert_eq!(sent.iter().filter(|it| it.bytes.is_some()).count(), 4);
    assert!(sent[4].note.as_ref().unwrap().starts_with("left out: the files of an attempt"));
}

#[test]
fn only_files_inside_the_workspace_are_read_and_no_link_is_followed() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "s").unwrap();
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(place.path().join("out/.git")).unwrap();
    std::fs::write(place.path().join("out/report.html"), "<p>good</p>").unwrap();
    std::fs::write(place.path().join("out/.git/config"), "x").unwrap();
    std::fs::write(place.path().join("large"), vec![0; (2 << 20) + 1]).unwrap();
    symlink(outside.path().join("secret"), place.path().join("link")).unwrap();
    symlink(outside.path(), place.path().join("folder")).unwrap();
    let escape = format!("../{}/secret", outside.path().file_name().unwrap().to_str().unwrap());
    let named = [
        "out/report.html",
        "link",
        "folder/secret",
        "large",
        "gone.txt",
        "out",
        "/etc/passwd",
        &escape,
        "out/.git/config",
    ];
    let named: Vec<String> = named.iter().map(|it| format!("{it:?}")).collect();
    let package = format!("{{\"files_changed\": [{}]}}", named.join(","));
    let package = formats::decode(Format::Json, &package).unwrap();
    let dir = Dir::open(place.path()).unwrap();
    let mut files: Vec<_> = artifacts(&dir, &package, &Masking::default()).into_iter().collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let sent: Vec<&str> =
        files.iter().filter(|it| it.bytes.is_some()).map(|it| it.name.as_str()).collect();
    assert_eq!(sent, ["out/report.html"]);
    let notes: Vec<&str> = files.iter().filter_map(|it| it.note.as_deref()).collect();
    for expected in [
        "left out: it is a link",
        "left out: it is behind a link",
        "left out: it has 2097153 bytes, and a file has at most 2097152",
        "left out: it is outside the workspace",
    ] {
        assert!(notes.contains(&expected), "{expected}: {notes:?}");
    }
}
