//! A client of the live events of one run, which can lose its connection.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

/// How long to wait for a message that has to come.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) data: Value,
    pub(crate) n_bytes: usize,
}

pub(crate) struct Listener {
    child: Child,
    messages: Receiver<Message>,
    /// The last id received.
    pub(crate) last: Option<String>,
}

impl Listener {
    /// Waits until the stream is open: until its first message, unless it resumes.
    pub(crate) fn open(url: &str, run: &str, last: Option<&str>) -> Self {
        let mut command = Command::new("curl");
        command.args(["-sN", &format!("{url}/api/v1/events?run={run}")]);
        if let Some(last) = last {
            command.args(["-H", &format!("Last-Event-ID: {last}")]);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let (mut id, mut name) = (None, String::new());
            for line in lines.map_while(Result::ok) {
                match line.split_once(": ") {
                    Some(("id", value)) => id = Some(value.to_owned()),
                    Some(("event", value)) => value.clone_into(&mut name),
                    Some(("data", value)) => {
                        let data = serde_json::from_str(value).unwrap();
                        let (id, name, n_bytes) =
                            (id.take(), std::mem::take(&mut name), value.len());
                        if sender.send(Message { id, name, data, n_bytes }).is_err() {
                            return;
                        }
                    }
                    _ => {}
                }
            }
        });
        let mut listener = Self { child, messages, last: last.map(str::to_owned) };
        if last.is_none() {
            assert_eq!(listener.next().name, "snapshot");
        }
        listener
    }

    #[track_caller]
    pub(crate) fn next(&mut self) -> Message {
        let message = self.messages.recv_timeout(PATIENCE).unwrap();
        if message.id.is_some() {
            self.last.clone_from(&message.id);
        }
        message
    }

    /// The next message with this name, and the names of those before it.
    #[track_caller]
    pub(crate) fn until(&mut self, name: &str) -> (Message, Vec<String>) {
        let mut before = Vec::new();
        loop {
            let message = self.next();
            if message.name == name {
                return (message, before);
            }
            before.push(message.name);
        }
    }

    /// Everything up to and with the first message that is the end.
    #[track_caller]
    pub(crate) fn up_to(&mut self, is_end: impl Fn(&Message) -> bool) -> Vec<Message> {
        let mut heard = vec![self.next()];
        while !is_end(heard.last().unwrap()) {
            heard.push(self.next());
        }
        heard
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
