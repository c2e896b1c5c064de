//! How a command finds a server, and what becomes of it when there is none any more.

use std::io::{BufRead as _, BufReader, Seek as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use baton_files::{Dir, FileMode};
use baton_store_sqlite::DataLock;

use crate::{Project, Said};

/// A folder that is no project.
fn elsewhere() -> Project {
    Project(tempfile::tempdir().unwrap())
}

fn with_url(project: &Project, url: &str, args: &[&str]) -> Said {
    Said::from(project.command(args).env("BATON_URL", url).output().unwrap())
}

#[test]
fn a_server_is_found_by_the_lock_by_the_environment_and_by_name() {
    let (one, other) = (Project::started(), Project::new());
    let (first, second) = (one.serves(), other.serves());
    assert!(one.ok(&["status"]).contains(&first.url), "by the lock");
    let said = with_url(&one, &second.url, &["status"]);
    assert!(said.stdout.contains(&second.url), "the environment goes before the lock: {said:?}");
    let said = with_url(&one, &second.url, &["status", "--server", &first.url]);
    assert!(said.stdout.contains(&first.url), "a name goes before the environment: {said:?}");
    let said = with_url(&one, " ", &["status"]);
    assert!(said.stdout.contains(&first.url), "nothing is no name: {said:?}");
    // Without a project, by name only.
    let nowhere = elsewhere();
    assert!(nowhere.ok(&["run", "show", "s1", "--server", &first.url]).contains("offered to"));
    let said = with_url(&nowhere, &first.url, &["handoff", "accept", "1"]);
    assert_eq!(said.code, 0, "{said:?}");
    nowhere.fails(&["status"], 3, "`baton init` makes one");
    let path = nowhere.path().to_str().unwrap();
    nowhere.fails(&["status", "--server", &first.url, "--project", path], 3, "no Baton project");
}

#[test]
fn a_server_that_was_killed_is_not_believed_in() {
    let project = Project::started();
    let server = project.serves();
    let url = server.url.clone();
    project.ok(&["handoff", "accept", "1"]);
    server.kill();
    let note = std::fs::read_to_string(project.path().join(".baton/data/baton.lock")).unwrap();
    assert!(note.starts_with(&format!("{url} ")), "its name is still there: {note}");
    let status = project.ok(&["status"]);
    assert!(status.contains("held by analyst") && !status.contains(&url), "{status}");
    project.ok(&["handoff", "release", "1"]);
}

/// Between taking the lock and saying so, what stands in the file is whoever was there before; and
/// another project's server may have that one's address.
#[test]
fn a_command_never_goes_to_the_server_of_another_project() {
    let other = Project::new();
    let server = other.serves();
    let notes = [server.url.clone(), format!("{} {}", server.url, uuid::Uuid::nil())];
    std::thread::scope(|scope| {
        for note in &notes {
            scope.spawn(|| {
                let project = Project::new();
                let data = project.path().join(".baton/data");
                let data = Dir::open_or_make(&data, FileMode::Private).unwrap();
                let lock = DataLock::take(&data, Duration::ZERO).unwrap();
                lock.set_note(note).unwrap();
                let busy = format!("in use by another Baton ({})", server.url);
                project.fails(&["story", "add", "s1"], 5, &busy);
            });
        }
    });
    assert_eq!(other.json(&["story", "list"])["items"], serde_json::json!([]));
}

#[test]
fn a_server_that_is_stop_signal_exits_cleanly_and_the_next_command_works_alone() {
    let project = Project::started();
    let server = project.serves();
    let url = server.url.clone();
    assert_eq!(server.stop(), Some(0));
    let status = project.ok(&["status"]);
    assert!(!status.contains(&url), "{status}");
    assert!(project.ok(&["verify"]).contains("every chain is whole"));
}

#[test]
fn who_asks_is_on_the_record_whichever_way() {
    let project = Project::started();
    project.ok(&["handoff", "cancel", "1", "--as", "ada"]);
    let server = project.serves();
    project.ok(&["run", "start", "s1", "--as", "Zoë"]);
    let bare = r#"{"reason":"r"}"#;
    let json = ["-H", "content-type: application/json", "-X", "POST", "-d", bare];
    assert_eq!(server.curl(&json, "/api/v1/runs/s1/pause").status, 200);
    let log = server.curl(&[], "/api/v1/runs/s1/events").body;
    let by: Vec<&str> =
        log["items"].as_array().unwrap().iter().map(|it| it["by"].as_str().unwrap()).collect();
    assert!(by.contains(&"ada") && by.contains(&"Zoë"), "{by:?}");
    assert_eq!(by.last(), Some(&"local"), "{by:?}");
    let odd = server.curl(&["-H", "baton-as: \u{202e}eve"], "/api/v1/inbox");
    assert_eq!((odd.status, odd.body["code"].as_str()), (400, Some("bad_name")), "{odd:?}");
}

#[test]
fn many_at_once_are_served() {
    let project = Project::started();
    let _server = project.serves();
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut command = project.command(&["handoff", "accept", "1"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let codes: Vec<i32> =
        children.into_iter().map(|it| Said::from(it.wait_with_output().unwrap()).code).collect();
    assert_eq!(codes.iter().filter(|it| **it == 0).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|it| **it == 4).count(), 5, "{codes:?}");
}

/// A lock without an address is waited for, and then it says who has it.
#[test]
fn data_that_somebody_else_has_is_waited_for() {
    let project = Project::started();
    let path = project.path().join(".baton/data/baton.lock");
    let lock = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    lock.lock().unwrap();
    (&lock).write_all(b"pid 7    \n").unwrap();
    let mut waiting = project.command(&["status"]);
    let child = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It finds the lock taken, or free, as it comes; either way it works.
    lock.unlock().unwrap();
    let said = Said::from(child.wait_with_output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    lock.lock().unwrap();
    (&lock).rewind().unwrap();
    (&lock).write_all(b"pid 7\n").unwrap();
    project.fails(&["status"], 5, "in use by another Baton (pid 7)");
    lock.unlock().unwrap();
}

#[test]
fn what_works_on_the_data_itself_works_beside_a_server_or_says_why_not() {
    let project = Project::started();
    let server = project.serves();
    project.ok(&["backup", "copy.db"]);
    assert!(project.ok(&["verify"]).contains("1 run and 2 events verified"));
    let well = project.ok(&["doctor"]);
    assert!(well.contains(&format!("✔ a server has the data: {}", server.url)), "{well}");
    assert!(well.contains("✔ 1 run and 2 events"), "{well}");
    let busy =
        format!("a server has the data ({}); stop it first, with Ctrl-C where it runs", server.url);
    project.fails(&["restore", "copy.db", "--replace"], 5, &busy);
    project.fails(&["serve", "--listen", "127.0.0.1:0"], 5, &busy);
    for args in [&["verify"][..], &["doctor"], &["restore", "copy.db"], &["agent", "list"]] {
        let args = [args, &["--server", &server.url]].concat();
        project.fails(&args, 2, "the project's own files and data");
    }
    let left: Vec<_> = std::fs::read_dir(project.path().join(".baton/data"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter(|it| it.starts_with(".baton-copy"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(server.stop(), Some(0));
    project.ok(&["restore", "copy.db", "--replace"]);
}

#[test]
fn damage_is_found_beside_a_server_too() {
    let project = Project::started();
    let server = project.serves();
    let path = project.path().join(".baton/data/baton.db");
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute("update handoffs set to_agent = 'reviewer'", []).unwrap();
    drop(connection);
    let said = project.run(&["verify"]);
    assert_eq!(said.code, 1, "{said:?}");
    drop(server);
}

/// Something that answers, and is no Baton.
fn other_server(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            lines.find(|it| it.is_empty());
            let _ = (&stream).write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn whatever_else_is_at_an_address_is_told_from_a_baton() {
    let nowhere = elsewhere();
    let check = |answer, complaint: &str| {
        let url = other_server(answer);
        let complaint = format!("the server at {url}, named by `--server`: {complaint}");
        nowhere.fails(&["status", "--server", &url], 5, &complaint);
    };
    check("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", "whatever answers there is no Baton");
    check("220 mail.example ESMTP\r\n", "whatever answers there is no Baton");
    check(
        "HTTP/1.1 404 Not Found\r\nbaton-version: 9.9.9\r\nconnection: close\r\n\r\n\
         {\"success\":false,\"type\":\"t\",\"title\":\"t\",\"status\":404,\
         \"code\":\"no_such_page\",\"detail\":\"d\",\"error\":\"d\",\"new\":1}",
        "it is Baton 9.9.9 and does not know this",
    );
    check(
        "HTTP/1.1 200 OK\r\nbaton-version: 9.9.9\r\nconnection: close\r\n\r\n{}",
        "its answer cannot be read",
    );
    check("HTTP/1.1 200 OK\r\nbaton-version: 0.1.0\r\ncontent-length: 9\r\n\r\n{}", "it broke off");
    let newer = "HTTP/1.1 200 OK\r\nbaton-version: 9.9.9\r\nconnection: close\r\n\r\n\
        {\"runs\":[],\"hasMoreRuns\":false,\"waitsForYou\":[],\"storiesWaiting\":0,\"new\":[1]}";
    let url = other_server(newer);
    assert!(nowhere.ok(&["status", "--server", &url]).contains("no run is open"));
}

/// A server that does not answer to this name of its machine says no; it is there.
#[test]
fn a_refusal_of_the_guard_is_told_as_one() {
    let url = other_server(
        "HTTP/1.1 421 Misdirected Request\r\nbaton-version: 0.1.0\r\nconnection: close\r\n\r\n\
         {\"success\":false,\"type\":\"t\",\"title\":\"t\",\"status\":421,\
         \"code\":\"foreign_host\",\"detail\":\"only to its own names\",\"error\":\"e\"}",
    );
    elsewhere().fails(&["status", "--server", &url], 1, "only to its own names [foreign_host]");
}
