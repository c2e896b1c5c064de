//! A server that answers and records nothing says so wherever it is looked at.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::Project;
use crate::health::{not_ready, ready};

const WHY: &str = "so nothing more is recorded";

#[test]
fn every_screen_of_a_server_whose_data_is_gone_says_so() {
    for (file, words) in [("baton.db", "baton restore "), ("baton.lock", "start it again")] {
        let project = Project::started();
        let server = project.serves();
        for command in ["status", "inbox"] {
            let said = project.run(&[command]);
            assert!(!said.stderr.contains("warning:"), "{said:?}");
        }
        assert!(page(&server, "/").contains("<p id=\"fault\" role=\"alert\" hidden></p>"));
        fs::remove_file(project.path().join(".baton/data").join(file)).unwrap();
        let why = not_ready(&server, words);
        let why = why.trim_end();
        assert!(why.contains(WHY), "{why}");
        for command in [&["status"][..], &["inbox"], &["status", "--json"], &["inbox", "--json"]] {
            let said = project.run(&[&["--server", &server.url], command].concat());
            assert_eq!(said.code, 0, "{said:?}");
            assert!(said.stderr.contains(&format!("warning: {why}")), "{command:?}: {said:?}");
        }
        let shown = why.replace('&', "&amp;").replace('\'', "&#39;");
        for path in ["/", "/runs/1", "/handoffs/1", "/handoffs/999"] {
            let page = page(&server, path);
            let banner = format!("<p id=\"fault\" role=\"alert\">{shown}</p>");
            assert!(page.contains(&banner), "{path}: {page}");
        }
    }
}

#[test]
fn whoever_watches_hears_that_nothing_is_recorded_any_more() {
    let project = Project::started();
    let server = project.serves();
    let url = server.url.clone();
    let mut command = project.command(&["watch", "--server", &url]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(ready(&server).0, 200);
    fs::remove_file(project.path().join(".baton/data/baton.db")).unwrap();
    let line = lines.next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("warning: not ready: ") && line.contains(WHY), "{line}");
}

fn page(server: &crate::serve::Served, path: &str) -> String {
    server.curl(&[], path).body.as_str().unwrap().to_owned()
}

#[test]
fn the_doctor_repeats_what_the_server_says_and_nothing_that_contradicts_it() {
    type Harm = fn(&std::path::Path);
    let harms: [Harm; 2] = [
        |it| fs::remove_file(it).unwrap(),
        |it| fs::File::options().write(true).open(it).unwrap().set_len(0).unwrap(),
    ];
    for harm in harms {
        let project = Project::started();
        let server = project.serves();
        harm(&project.path().join(".baton/data/baton.db"));
        // The copy is made first, and only then named.
        let why = not_ready(&server, "type `baton ");
        let said = project.run(&["doctor"]);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.stdout.contains(why.trim_end()), "{said:?}");
        assert_eq!(said.stdout.matches('\u{2718}').count(), 1, "{said:?}");
        for words in ["Error code", "SQLite", "journal_mode", "once it is of no use"] {
            assert!(!said.stdout.contains(words), "{words}: {said:?}");
        }
    }
}
