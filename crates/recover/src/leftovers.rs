//! Found rows that could not be put into the database: kept as lines of JSON, so that nothing is
//! thrown away.

use std::io::{BufWriter, Write as _};

use baton_core::document::Node;
use baton_files::{Dir, FileError, FileHandle, FileMode};
use baton_store_sqlite::{SalvageDatabase, SalvagedEvent, SalvagedText};
use baton_wire::{event, json};

use crate::{LEFTOVERS, RecoverError};

pub(crate) struct Leftovers {
    dir: Dir,
    /// Created with the first line.
    file: Option<BufWriter<FileHandle>>,
    pub(crate) n_lines: u64,
}

impl Leftovers {
    pub(crate) fn begin(dir: &Dir) -> Result<Self, FileError> {
        Ok(Self { dir: dir.again()?, file: None, n_lines: 0 })
    }

    /// Keeps events of a run, and the texts that they name.
    pub(crate) fn keep(
        &mut self,
        salvaged: &SalvageDatabase,
        run_number: u64,
        events: &[SalvagedEvent],
    ) -> Result<(), RecoverError> {
        for it in events {
            self.line(&event_line(run_number, it))?;
            let Ok(event) = event::decode(&it.body) else { continue };
            for (id, _) in event.texts().iter() {
                if let Some(text) = salvaged.text(id)? {
                    self.line(&text_line(run_number, &text))?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<u64, FileError> {
        if let Some(file) = self.file {
            let file = file.into_inner().map_err(|it| failed(&self.dir, it.into_error()))?;
            file.sync()?;
        }
        Ok(self.n_lines)
    }

    fn line(&mut self, line: &Node) -> Result<(), FileError> {
        self.n_lines += 1;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::new(self.dir.create_new(LEFTOVERS, FileMode::Private)?)),
        };
        let text = json::print(line);
        writeln!(file, "{text}").map_err(|it| failed(&self.dir, it))
    }
}

fn failed(dir: &Dir, source: std::io::Error) -> FileError {
    FileError::Io { action: "write", path: dir.path().join(LEFTOVERS), source }
}

fn event_line(run_number: u64, it: &SalvagedEvent) -> Node {
    let body = json::parse(&it.body).unwrap_or_else(|_| Node::text(it.body.as_str()));
    Node::map([
        ("run", Node::count(run_number)),
        ("version", Node::count(it.version.0)),
        ("position", Node::count(it.position.0)),
        ("at", Node::text(it.at.to_string())),
        ("by", Node::text(it.by.as_str())),
        ("hash", Node::text(it.hash.to_string())),
        ("event", body),
    ])
}

fn text_line(run_number: u64, it: &SalvagedText) -> Node {
    Node::map([
        ("run", Node::count(run_number)),
        ("text", Node::text(it.id.0.to_string())),
        ("words", Node::text(it.text.to_string())),
    ])
}
