//! The program at a terminal: what a person sees there, and can be asked.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::Project;

/// What reaches a terminal of this width, and how the command ended.
pub(crate) fn at_terminal(
    project: &Project,
    columns: u16,
    args: &[&str],
    keys: &str,
) -> (String, i32) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&slave, size).unwrap();
    let mut command = project.command(args);
    command.env_remove("NO_COLOR").env("TERM", "xterm-256color");
    let side = || Stdio::from(slave.try_clone().unwrap());
    let mut child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
    drop(command);
    drop(slave);
    let mut master = File::from(master);
    master.write_all(keys.as_bytes()).unwrap();
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    // When the last writer has gone, reading fails.
    while let Ok(n @ 1..) = master.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..n]);
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (String::from_utf8(seen).unwrap().replace("\r\n", "\n"), code)
}

/// Without colours.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        plain += before;
        rest = sequence.split_once('m').map_or("", |(_, behind)| behind);
    }
    plain + rest
}

#[test]
fn a_list_has_one_line_a_row_at_80_columns() {
    let project = Project::new();
    let title = "Customers can log in with a code that they get by mail, and stay logged in";
    for key in ["shop:12", "a-story-with-a-rather-long-key-of-its-own:13"] {
        project.ok(&["story", "add", key, "--title", title]);
        project.ok(&["run", "start", key]);
    }
    let reason = "nothing of this can be done before the mail server is there and configured";
    project.ok(&["handoff", "reject", "1", "--reason", reason]);
    for (args, n_lines) in [
        (&["story", "list"][..], 3),
        (&["run", "list"], 3),
        (&["handoff", "list", "--all"], 4),
        (&["agent", "list"], project.json(&["agent", "list"]).as_array().unwrap().len() + 1),
        (&["workflow", "list"], project.json(&["workflow", "list"]).as_array().unwrap().len() + 1),
    ] {
        let (seen, _) = at_terminal(&project, 80, args, "");
        let seen = plain(&seen);
        assert_eq!(seen.lines().count(), n_lines, "{args:?}:\n{seen}");
        for line in seen.lines() {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
        }
        assert!(seen.contains('…') || args[0] == "workflow", "{args:?}: {seen}");
        let piped = project.ok(args);
        assert!(!piped.contains('\u{1b}'), "{piped}");
    }
}

#[test]
fn a_finished_story_is_started_again_only_if_a_person_says_so() {
    let project = Project::plain();
    finish(&project);
    let start = ["run", "start", "s1", "--workflow", "plain"];
    project.fails(
        &start,
        4,
        "the story `s1` is finished; `baton run start s1 --again` starts it once more",
    );
    let (seen, code) = at_terminal(&project, 80, &start, "n\n");
    assert!(seen.contains("the story `s1` is finished; start it once more? [y/N]"), "{seen}");
    assert_eq!(code, 4, "{seen}");
    let (seen, code) = at_terminal(&project, 80, &start, "y\n");
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("run 2 is open"), "{seen}");
    finish(&project);
    project.ok(&["run", "start", "s1", "--again"]);
}

fn finish(project: &Project) {
    for _ in 0..2 {
        project.ok(&["take"]);
        project.ok(&["done", "--profile", "lenient"]);
    }
}

#[test]
fn a_new_workflow_asks_for_what_the_options_leave_open() {
    let project = Project::new();
    // The second line is no step: it is asked for again.
    let keys = "hotfix\nA B\nfix=implementer\ncheck=reviewer\n\ncheck\n";
    let (seen, code) = at_terminal(&project, 100, &["workflow", "new"], keys);
    assert_eq!(code, 0, "{seen}");
    for question in ["Name of the workflow", "Step 1 and its agent", "Step 2: [no more]"] {
        assert!(seen.contains(question), "{question}: {seen}");
    }
    let read = |name: &str| {
        let path = project.path().join(format!(".baton/workflows/{name}.yaml"));
        std::fs::read_to_string(path).unwrap()
    };
    let options =
        ["workflow", "new", "same", "--step", "fix=implementer", "--step", "check=reviewer"];
    project.ok(&[&options[..], &["--review", "check"]].concat());
    assert_eq!(read("hotfix").replace("hotfix", "same"), read("same"));
    // Options that say enough are not asked about, also at a terminal.
    let (seen, code) =
        at_terminal(&project, 100, &["workflow", "new", "one", "--step", "fix=implementer"], "");
    assert!(code == 0 && !seen.contains("Step") && !seen.contains("Which"), "{code}: {seen}");
    // Without a terminal it says what to type.
    for args in [&["workflow", "new"][..], &["workflow", "new", "x"]] {
        project.fails(args, 2, "`baton workflow new NAME --step STEP=AGENT`");
    }
}
