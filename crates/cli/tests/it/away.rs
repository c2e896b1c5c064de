//! Data that is deleted, moved, cut or overwritten around a server, and data that is elsewhere than
//! the project says: each message names the place, and what it says to type works when it is pasted.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::health::{not_ready, ready, wait_for};
use crate::serve::Served;
use crate::{Project, Said};

#[test]
fn a_project_folder_that_was_deleted_leaves_a_copy_beside_the_project() {
    let parent = Project(tempfile::tempdir().unwrap());
    let root = in_folder(&parent, "shop");
    let server = parent.serves_with(&["--project", "shop"]);
    assert_eq!(story(&server, "s2"), 201);
    fs::remove_dir_all(root.join(".baton")).unwrap();
    let text = not_ready(&server, "then type `baton restore ");
    assert_eq!(story(&server, "s3"), 503);
    assert!(text.contains("baton.db` was deleted or moved while Baton had it open"), "{text}");
    assert_eq!(server.stop(), Some(0));
    let commands = typed(&text);
    assert_eq!(commands.len(), 2, "{text}");
    paste(Path::new("/"), &commands[0]);
    let said = parent.run(&["status", "--project", "shop"]);
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.stderr.contains("/shop-baton-rescued-1 --project shop`"), "{said:?}");
    paste(Path::new("/"), &commands[1]);
    let stories = parent.ok(&["story", "list", "--project", "shop"]);
    assert!(stories.contains("s2") && !stories.contains("s3"), "{stories}");
    let found = parent.run(&["doctor", "--project", "shop"]);
    assert!(found.stdout.contains("shop-baton-rescued-1: what a server saved"), "{found:?}");
}

#[test]
fn a_log_that_was_deleted_under_a_server_is_replaced_by_the_whole_copy() {
    let project = Project::started();
    let server = project.serves();
    let mark = || fs::read(project.path().join(".baton/data/baton.mark")).unwrap();
    let before = mark();
    // Without a pause, in which the log would be moved, until the mark tells of what is in it.
    let mut n_stories = 1;
    while mark() == before {
        n_stories += 1;
        assert_eq!(story(&server, &format!("s{n_stories}")), 201);
    }
    fs::remove_file(project.path().join(".baton/data/baton.db-wal")).unwrap();
    let text = not_ready(&server, "then type `baton restore ");
    assert!(text.contains("rescued-1"), "{text}");
    assert_eq!(server.stop(), Some(0));
    let said = project.run(&["status"]);
    assert_eq!(said.code, 5, "{said:?}");
    let commands = typed(&said.stderr);
    assert!(commands[0].starts_with("baton restore --replace "), "{said:?}");
    paste(project.path(), &commands[0]);
    let stories = project.ok(&["story", "list"]);
    assert!(stories.contains(&format!("s{n_stories}")), "{stories}");
}

/// Right after a write, no mark is as young as what the log had.
#[test]
fn a_database_that_a_saved_copy_is_ahead_of_is_not_used_unnoticed() {
    let project = Project::started();
    let server = project.serves();
    let log = project.path().join(".baton/data/baton.db-wal");
    // Until all is moved, and marked.
    wait_for(|| match fs::metadata(&log).map_or(0, |it| it.len()) {
        0 => Ok(()),
        n_bytes => Err(format!("the log has {n_bytes} bytes")),
    });
    let accept = r#"{"action":"accept","handoffId":1}"#;
    let accepted = server.curl(&["-X", "POST", "-d", accept], "/api/handoffs");
    assert_eq!(accepted.status, 200);
    fs::remove_file(&log).unwrap();
    not_ready(&server, "then type `baton restore ");
    assert_eq!(server.stop(), Some(0));
    let said = project.run(&["status"]);
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.stderr.contains("a copy that a server saved"), "{said:?}");
    let verified = project.run(&["verify"]);
    assert_eq!(verified.code, 1, "{verified:?}");
    let commands = typed(&said.stderr);
    assert!(commands[0].starts_with("baton restore --replace "), "{said:?}");
    paste(project.path(), &commands[0]);
    assert!(project.ok(&["handoff", "show", "handoff:1"]).contains("accepted"));
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn a_project_that_was_moved_is_named_where_it_is_now() {
    let parent = Project(tempfile::tempdir().unwrap());
    let root = in_folder(&parent, "shop");
    let server = parent.serves_with(&["--project", "shop"]);
    assert_eq!(story(&server, "s2"), 201);
    let moved = root.with_file_name("my store");
    fs::rename(&root, &moved).unwrap();
    let text = not_ready(&server, "nothing is lost: stop this server, then type ");
    assert_eq!(story(&server, "s3"), 503);
    let was_moved =
        format!("`{}/.baton/data` was moved to `{}/.baton/data`", root.display(), moved.display());
    assert!(text.contains(&was_moved), "{text}");
    assert_eq!(typed(&text), [format!("baton serve --project '{}'", moved.display())]);
    assert_eq!(server.stop(), Some(0));
    let stories = parent.ok(&["story", "list", "--project", "my store"]);
    assert!(stories.contains("s2") && !stories.contains("s3"), "{stories}");
    parent.ok(&["verify", "--project", "my store"]);
}

#[test]
fn a_database_that_was_cut_is_named_and_recovered_as_far_as_it_goes() {
    let project = Project::started();
    let server = project.serves();
    let database = project.path().join(".baton/data/baton.db");
    fs::File::options().write(true).open(&database).unwrap().set_len(0).unwrap();
    let text = not_ready(&server, "was cut from ");
    assert!(text.contains(" to 0 bytes while Baton had it open"), "{text}");
    assert_eq!(story(&server, "s2"), 503);
    assert_eq!(server.stop(), Some(0));
    let recover = typed(&text).remove(0);
    let said = paste_recover(Path::new("/"), &recover);
    paste(project.path(), &typed(&said.stderr)[0]);
    assert!(project.ok(&["status"]).contains("s1"), "the archive knew it");
}

#[test]
fn a_database_that_was_overwritten_in_place_is_noticed() {
    let [project, other] = [(); 2].map(|()| Project::started());
    let server = project.serves();
    assert_eq!(ready(&server).0, 200);
    let [ours, theirs] = [&project, &other].map(|it| it.path().join(".baton/data/baton.db"));
    fs::write(&ours, fs::read(theirs).unwrap()).unwrap();
    let text = not_ready(&server, "was written to by another program");
    assert_eq!(story(&server, "s2"), 503);
    assert_eq!(server.stop(), Some(0));
    let verify = typed(&text).remove(0);
    let said = run_pasted(Path::new("/"), &verify);
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.stderr.contains("is not the database that was last open here"), "{said:?}");
    // To go on with the other one is a choice too.
    let commands = typed(&said.stderr);
    for command in &commands[commands.len() - 2..] {
        paste(project.path(), command);
    }
    project.ok(&["verify"]);
}

#[test]
fn data_elsewhere_is_refused_and_recovered_where_it_is() {
    let project = Project::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let data = elsewhere.path().join("my data");
    let data = data.to_str().unwrap();
    project.fails(&["status", "--data", data], 3, "there is no folder `");
    assert!(!Path::new(data).exists(), "a typo makes nothing");
    let server = project.serves_with(&["--data", data]);
    assert_eq!(story(&server, "s1"), 201);
    assert!(project.ok(&["story", "list", "--data", data]).contains("s1"), "it is found");
    project.ok(&["run", "start", "s1", "--data", data]);
    assert_eq!(server.stop(), Some(0));
    fs::remove_file(Path::new(data).join("baton.db")).unwrap();
    fs::remove_file(Path::new(data).join("baton.mark")).unwrap();
    for command in [&["status"][..], &["verify"], &["serve", "--listen", "127.0.0.1:0"]] {
        let said = project.run(&[command, &["--data", data]].concat());
        assert_eq!(said.code, 5, "{said:?}");
        assert!(said.stderr.contains("my data/baton.db` is missing or empty"), "{said:?}");
        let options = format!(" --data '{data}'");
        let commands = typed(&said.stderr);
        assert!(
            commands.len() == 3 && commands.iter().all(|it| it.ends_with(&options)),
            "{said:?}"
        );
    }
    let said = project.run(&["status", "--data", data]);
    let recovered = paste_recover(project.path(), &typed(&said.stderr)[0]);
    paste(project.path(), &typed(&recovered.stderr)[0]);
    assert!(project.ok(&["status", "--data", data]).contains("s1"));
    assert!(!project.path().join(".baton/data/baton.db").exists(), "all of it was there");
}

#[test]
fn data_that_is_not_where_was_typed_is_not_begun_there() {
    let project = Project::started();
    let elsewhere = tempfile::tempdir().unwrap();
    let data = elsewhere.path().to_str().unwrap();
    let said = project.run(&["status", "--data", data]);
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.stderr.contains("leave `--data` out to use that"), "{said:?}");
    paste(project.path(), &typed(&said.stderr)[0]);
    assert!(project.ok(&["status", "--data", data]).contains("s1"));
}

#[test]
fn an_emptied_database_is_replaced_by_its_copy_as_the_message_says() {
    let project = Project::started();
    project.ok(&["backup", "whole.db"]);
    project.ok(&["restore", "--replace", "whole.db"]);
    fs::write(project.path().join(".baton/data/baton.db"), "").unwrap();
    let said = project.run(&["status"]);
    assert_eq!(said.code, 5, "{said:?}");
    paste(project.path(), &typed(&said.stderr)[0]);
    assert!(project.ok(&["status"]).contains("s1"));
}

#[test]
fn a_server_names_its_data_in_what_it_says_to_type() {
    let project = Project::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let data = elsewhere.path().canonicalize().unwrap().join("data");
    let server = project.serves_with(&["--data", data.to_str().unwrap()]);
    assert_eq!(story(&server, "s1"), 201);
    fs::remove_file(data.join("baton.db")).unwrap();
    let text = not_ready(&server, "then type `baton restore ");
    assert_eq!(server.stop(), Some(0));
    let said = project.run(&["status", "--data", data.to_str().unwrap()]);
    assert_eq!(typed(&said.stderr).len(), 2, "a copy is named: {said:?}");
    paste(Path::new("/"), &typed(&text)[0]);
    let stories = project.ok(&["story", "list", "--data", data.to_str().unwrap()]);
    assert!(stories.contains("s1"), "{stories}");
}

#[test]
fn what_is_no_backup_is_refused_by_the_name_that_was_typed() {
    let project = Project::started();
    let there = |name: &str| project.path().join(name);
    fs::write(there("empty"), "").unwrap();
    fs::write(there("text"), "a letter\n").unwrap();
    fs::create_dir(there("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(there("pipe")).status().unwrap().success());
    project.ok(&["backup", "whole.db"]);
    let whole = fs::read(there("whole.db")).unwrap();
    fs::write(there("short.db"), &whole[..5000]).unwrap();
    rusqlite::Connection::open(there("foreign.db"))
        .unwrap()
        .execute_batch("create table t (x)")
        .unwrap();
    for (file, complaint) in [
        ("/dev/zero", "`/dev/zero` is a device; name a file that `baton backup` wrote"),
        ("pipe", "`pipe` is a named pipe; "),
        ("folder", "`folder` is a folder without a `baton.db`; "),
        ("empty", "`empty` is empty; "),
        ("text", "`text` is no database; "),
        ("short.db", "`short.db` cannot be restored: it has 5000 bytes"),
        ("foreign.db", "`foreign.db` cannot be restored: it is no database of Baton's"),
    ] {
        project.fails(&["restore", "--replace", file], 5, complaint);
    }
    project.fails(&["restore", "--replace", "nowhere"], 3, "there is no file `nowhere`");
    let mut left: Vec<_> = fs::read_dir(there(".baton/data"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["baton.db", "baton.lock", "baton.mark"], "nothing was put aside");
    assert!(project.ok(&["status"]).contains("s1"));
}

/// A started project in a folder of `parent`.
fn in_folder(parent: &Project, name: &str) -> std::path::PathBuf {
    parent.ok(&["init", "--project", name]);
    parent.ok(&["story", "add", "s1", "--project", name]);
    parent.ok(&["run", "start", "s1", "--project", name]);
    parent.path().canonicalize().unwrap().join(name)
}

fn story(server: &Served, key: &str) -> u16 {
    let body = format!(r#"{{"key":"{key}"}}"#);
    server.curl(&["-X", "POST", "-d", &body], "/api/v1/stories").status
}

/// The commands that a message says to type.
fn typed(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter(|it| it.starts_with("baton ") || it.starts_with("mv "))
        .map(str::to_owned)
        .collect()
}

/// Types a command as a message has it, which has to work.
#[track_caller]
fn paste(folder: &Path, command: &str) -> Said {
    let said = run_pasted(folder, command);
    assert_eq!(said.code, 0, "{command}: {said:?}");
    said
}

/// From the archive alone: it cannot be proven that no story is missing.
fn paste_recover(folder: &Path, command: &str) -> Said {
    let said = run_pasted(folder, command);
    assert_eq!(said.code, 1, "{command}: {said:?}");
    assert!(said.stdout.contains("not proven: the stories"), "{said:?}");
    said
}

fn run_pasted(folder: &Path, command: &str) -> Said {
    let program = Path::new(env!("CARGO_BIN_EXE_baton")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([program].into_iter().chain(std::env::split_paths(&path)));
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", command]).env("PATH", path.unwrap()).env("USER", "ada");
    Said::from(shell.env_remove("BATON_URL").output().unwrap())
}
