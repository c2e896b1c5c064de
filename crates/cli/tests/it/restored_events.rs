//! Listeners after a real restore: what they heard of the data before it does not count any more,
//! and no event that came since is missed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::Project;
use crate::serve::Served;

/// One message of the stream.
#[derive(Debug)]
struct Message {
    id: Option<String>,
    name: Option<String>,
    data: Value,
}

struct Listener(BufReader<TcpStream>);

impl Listener {
    fn open(server: &Served, path: &str, last: Option<&str>) -> Self {
        let host = server.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let last = last.map_or_else(String::new, |it| format!("last-event-id: {it}\r\n"));
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\n{last}\r\n").unwrap();
        Self(BufReader::new(stream))
    }

    /// The next message; comments and the marks of chunks are no messages.
    fn next(&mut self) -> Message {
        let mut message = Message { id: None, name: None, data: Value::Null };
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the server hung up");
            match line.trim_end().split_once(": ") {
                Some(("id", id)) => message.id = Some(id.to_owned()),
                Some(("event", name)) => message.name = Some(name.to_owned()),
                Some(("data", data)) => message.data = serde_json::from_str(data).unwrap(),
                Some((_, _)) | None => {}
            }
            if line.trim_end().is_empty() && !message.data.is_null() {
                return message;
            }
        }
    }

    /// The next message that tells of a handoff.
    fn next_handoff(&mut self) -> Message {
        loop {
            let message = self.next();
            if message.name.as_deref() == Some("handoff") || message.data["type"] == "handoff" {
                return message;
            }
        }
    }
}

fn epoch(id: &str) -> &str {
    id.split_once('-').unwrap().0
}

#[test]
fn a_restore_resets_every_listener_and_the_next_events_are_heard() {
    let project = Project::started();
    project.ok(&["backup", "before.db"]);
    let server = project.serves();
    // More than the backup has, so that the same positions are given again after the restore.
    let accepted = server.curl(&["-X", "POST", "-d", "{}"], "/api/v1/handoffs/1/accept");
    assert_eq!(accepted.status, 200, "{accepted:?}");
    let snapshot = Listener::open(&server, "/api/v1/events", None).next();
    assert_eq!(snapshot.name.as_deref(), Some("snapshot"));
    let heard = snapshot.id.unwrap();
    assert_eq!(server.stop(), Some(0));

    project.ok(&["restore", "before.db", "--replace"]);
    let server = project.serves();
    let accepted = server.curl(&["-X", "POST", "-d", "{}"], "/api/v1/handoffs/1/accept");
    assert_eq!(accepted.status, 200, "the restored handoff waits again: {accepted:?}");
    let mut native = Listener::open(&server, "/api/v1/events", Some(&heard));
    let mut seed = Listener::open(&server, "/api/events", Some(&heard));
    let reset = native.next();
    assert_eq!(reset.name.as_deref(), Some("reset"), "{reset:?}");
    let end = reset.id.unwrap();
    assert_ne!(epoch(&end), epoch(&heard));
    assert_eq!(end.split_once('-').unwrap().1, heard.split_once('-').unwrap().1);
    let reset = seed.next();
    assert_eq!(reset.data["type"], "reset", "{reset:?}");

    let reason = json!({ "reason": "not now" }).to_string();
    let released = server.curl(&["-X", "POST", "-d", &reason], "/api/v1/handoffs/1/reject");
    assert_eq!(released.status, 200, "{released:?}");
    let rejected = native.next_handoff();
    assert_eq!(rejected.data["status"], "rejected", "{rejected:?}");
    assert_eq!(epoch(&rejected.id.unwrap()), epoch(&end));
    assert_eq!(seed.next_handoff().data["data"]["status"], "rejected");
    // An id of the new epoch is one to go on from.
    let mut again = Listener::open(&server, "/api/v1/events", Some(&end));
    assert_eq!(again.next_handoff().data["status"], "rejected");
}
