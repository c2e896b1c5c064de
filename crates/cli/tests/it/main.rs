//! The real program, as a person or a script would use it.
#![expect(clippy::disallowed_methods, reason = "it runs the program itself")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod archive;
mod audit;
mod away;
mod beside;
mod bytes;
mod completions;
mod damaged_texts;
mod database;
mod deeds;
mod demo;
mod descriptors;
mod do_work;
mod documents;
mod example_projects;
mod features;
mod files;
mod finding;
mod handoffs;
mod health;
mod help;
mod hostile;
mod init;
mod judged;
mod killed;
mod loader;
mod lost_data;
mod mine;
mod moves;
mod names;
mod newer_archive;
mod not_recording;
mod others_text;
mod posted;
mod printed;
mod prompt;
mod recover;
mod restored_events;
mod run_log;
mod runner;
mod serve;
mod stories;
mod terminal;
mod together;
mod unsound;
mod watch;
mod workflow_tools;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const PLAIN: &str = "\
name: plain
title: Plain
start: { to: work }
steps:
  work: { agent: analyst, on: { success: { to: check } } }
  check: { agent: implementer, on: { success: { to: complete } } }
";

/// A project in a folder of its own.
struct Project(tempfile::TempDir);

/// What a command said, and how it ended.
#[derive(Debug)]
struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.ok(&["init"]);
        project
    }

    /// A project with the story `s1`, handed to the analyst as handoff 1.
    fn started() -> Self {
        let project = Self::new();
        project.ok(&["story", "add", "s1", "--title", "Log in"]);
        project.ok(&["run", "start", "s1"]);
        project
    }

    /// A project with the story `s1` in a workflow without contracts: `analyst`, then `implementer`.
    fn plain() -> Self {
        let project = Self::new();
        let folder = project.path().join(".baton/workflows");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("plain.yaml"), PLAIN).unwrap();
        project.ok(&["story", "add", "s1"]);
        project.ok(&["run", "start", "s1", "--workflow", "plain"]);
        project
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.current_dir(self.path()).args(args).env("USER", "ada").env("TZ", "UTC");
        command.env_remove("BATON_URL").env_remove("BATON_DATABASE_URL");
        command
    }

    fn run(&self, args: &[&str]) -> Said {
        Said::from(self.command(args).output().unwrap())
    }

    /// Runs a command that has to work; returns what it answered.
    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let said = self.run(args);
        assert_eq!(said.code, 0, "{args:?}: {said:?}");
        said.stdout
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.push("--json");
        serde_json::from_str(&self.ok(&args)).unwrap()
    }

    /// Runs a command that has to fail in this way.
    #[track_caller]
    fn fails(&self, args: &[&str], code: i32, complaint: &str) {
        let said = self.run(args);
        assert_eq!(said.code, code, "{args:?}: {said:?}");
        assert!(said.stderr.contains(complaint), "{args:?}: {said:?}");
        assert_eq!(said.stdout, "", "a failure has no answer");
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
