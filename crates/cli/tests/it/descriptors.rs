//! A process that may not open as many files as it would like: it says so, loses nothing, and goes on
//! when there are descriptors again.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use crate::health::{ready, wait_for};
use crate::serve::Served;
use crate::{Project, Said};

/// More than a server needs for itself, and not many more.
const FEW: u32 = 48;

#[test]
fn a_server_without_descriptors_refuses_by_name_and_recovers() {
    let project = Project::started();
    let server = Served::listening(limited(&project, FEW, "serve --listen 127.0.0.1:0"));
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let mut first = TcpStream::connect(&address).unwrap();
    assert!(ask(&mut first, &address, "GET /healthz", "").starts_with("HTTP/1.1 200"));
    let mut others: Vec<TcpStream> =
        (0..FEW).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let refused = ask(others.last_mut().unwrap(), &address, "GET /healthz", "");
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(refused.contains("too many connections"), "{refused}");
    let added = ask(&mut first, &address, "POST /api/v1/stories", r#"{"key":"s2"}"#);
    assert!(added.starts_with("HTTP/1.1 201"), "{added}");
    drop((others, first));
    wait_for(|| match ready_or_refused(&server) {
        (200, text) if text == "ready\n" => Ok(()),
        (status, text) => Err(format!("{status} {text}")),
    });
    assert_eq!(server.stop(), Some(0));
    project.ok(&["verify"]);
    assert!(project.ok(&["story", "list"]).contains("s2"));
}

#[test]
fn too_few_descriptors_are_not_taken_for_damage() {
    let project = Project::started();
    let mut n_refused = 0;
    for most in 8..36 {
        let said = Said::from(limited(&project, most, "verify").output().unwrap());
        assert!(!said.stderr.contains("damaged"), "{most}: {said:?}");
        match said.code {
            0 => {}
            5 => {
                n_refused += 1;
                let reasons = ["Too many open files", "has as many files open as it may"];
                assert!(reasons.iter().any(|it| said.stderr.contains(it)), "{most}: {said:?}");
            }
            code => panic!("{code}: {said:?}"),
        }
    }
    assert!(n_refused > 0, "8 descriptors are too few");
    project.ok(&["verify"]);
}

/// `baton` in a shell that allows a process only so many files.
fn limited(project: &Project, most: u32, arguments: &str) -> Command {
    let program = env!("CARGO_BIN_EXE_baton");
    let script = format!("ulimit -n {most} && exec \"$0\" {arguments}");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(program).env("USER", "ada").env_remove("BATON_URL");
    command.current_dir(project.path());
    command
}

/// A server that has no room says so, and curl may find none.
fn ready_or_refused(server: &Served) -> (u16, String) {
    match server.curl(&[], "/healthz").status {
        200 => ready(server),
        status => (status, String::new()),
    }
}

fn ask(stream: &mut TcpStream, host: &str, line: &str, body: &str) -> String {
    let n_bytes = body.len();
    let head = format!("{line} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n");
    let request = format!("{head}content-length: {n_bytes}\r\n\r\n{body}");
    // One that was refused already may not take it.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = [0; 4096];
    let n_read = stream.read(&mut answer).unwrap();
    String::from_utf8_lossy(&answer[..n_read]).into_owned()
}
