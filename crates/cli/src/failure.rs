//! How a command fails: one type, one place that picks the words and the exit code.

use std::process::ExitCode;
use std::sync::Arc;

use baton_core::document::Node;
use baton_core::names::NameError;
use baton_core::problem::Problem;
use baton_engine::{EngineError, ErrorClass, Verified};
use baton_files::FileError;
use baton_http::ServeError;
use baton_http::api::{self, Broken};
use baton_recover::RecoverError;
use baton_store::{StoreError, WriteFault};
use baton_store_sqlite::{LockError, OpenError, fault_of_io};
use baton_wire::file_problem::FileProblem;
use baton_wire::formats::{self, FormatError};
use baton_wire::json;
use http::StatusCode;

use crate::show::{self, Format, error_line, problem_lines};

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The API says no.
    #[error("{}", problem.detail)]
    Refused {
        problem: Box<api::Problem>,
        /// The same as it came.
        document: String,
        /// What the sender wrote in, for showing what would have passed.
        format: baton_core::package::Format,
    },
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Conflict(String),
    #[error("the payload is not JSON: {0}")]
    Payload(#[from] json::JsonError),
    #[error("{file} has {} {}", problems.len(), if problems.len() == 1 { "problem" } else { "problems" })]
    File { file: String, problems: Vec<FileProblem> },
    #[error("{file} has {} {}", problems.len(), if problems.len() == 1 { "problem" } else { "problems" })]
    Check { file: String, problems: Vec<Problem> },
    #[error("`{file}` cannot be read as {}: {error}", error.format.title())]
    Document { file: String, error: FormatError },
    #[error("{what}")]
    Broken { what: String },
    #[error("{}", chain(.0))]
    Files(Arc<FileError>),
    #[error(
        "the data has {}; `baton recover` saves what is whole into a new database",
        show::counted(.0.n_problems(), "problem")
    )]
    Unsound(Box<Verified>),
    #[error("cannot {what}: {source}")]
    Io { what: String, source: std::io::Error },
    #[error("the data is in use by another Baton ({by}); it did not finish within 5 seconds")]
    Busy { by: String },
    #[error("a server has the data ({url}); stop it first")]
    Served { url: String },
    #[error("no server has the data, so nothing can be seen live; `baton serve` starts one")]
    NoServer,
    #[error("the server at {url}, {from}: {why}")]
    Server { url: String, from: String, why: String },
    #[error(
        "the data of this project is gone: `{database}` is missing or empty, and the archive in `{archive}` \
         tells of runs. Type `baton recover` to rebuild it from the archive, `baton restore FILE` to bring \
         back a backup, or `baton init --new-data` to begin with an empty database"
    )]
    LostData { database: String, archive: String },
    #[error(
        "the data of this project is gone: `{database}` is missing or empty. There is a copy: type \
         `baton restore {copy}` to go on with it, or `baton init --new-data` to begin with an empty \
         database"
    )]
    LostCopied { database: String, copy: String },
    #[error("cannot open the data: {}", chain(.0))]
    Open(#[source] OpenError),
    #[error("cannot recover: {}", chain(.0))]
    Recover(#[source] RecoverError),
    #[error("the store failed: {}", chain(.0))]
    Store(#[from] StoreError),
    #[error("cannot serve: {}", chain(.0))]
    Serve(#[from] ServeError),
}

/// The exit codes, as the manual has them.
const REFUSED: u8 = 1;
const USAGE: u8 = 2;
const NOT_FOUND: u8 = 3;
const CONFLICT: u8 = 4;
const UNAVAILABLE: u8 = 5;

impl Failure {
    pub(crate) fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }

    /// The same, with what would have passed in the format that the sender writes.
    pub(crate) fn in_format(self, format: baton_core::package::Format) -> Self {
        if let Self::Refused { problem, document, .. } = self {
            return Self::Refused { problem, document, format };
        }
        self
    }

    fn exit_code(&self) -> u8 {
        match self {
            Failure::Refused { problem, .. } => match problem.status {
                StatusCode::BAD_REQUEST => USAGE,
                StatusCode::NOT_FOUND => NOT_FOUND,
                StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => CONFLICT,
                StatusCode::SERVICE_UNAVAILABLE => UNAVAILABLE,
                _ => REFUSED,
            },
            Failure::Engine(error) => match error.class() {
                ErrorClass::Malformed => USAGE,
                ErrorClass::Unacceptable => REFUSED,
                ErrorClass::NotFound => NOT_FOUND,
                ErrorClass::Conflict | ErrorClass::Outdated => CONFLICT,
                ErrorClass::Unavailable => UNAVAILABLE,
            },
            Failure::Name(_) | Failure::Usage(_) | Failure::Payload(_) => USAGE,
            Failure::NotFound(_) => NOT_FOUND,
            Failure::Conflict(_) => CONFLICT,
            Failure::File { .. }
            | Failure::Check { .. }
            | Failure::Document { .. }
            | Failure::Broken { .. }
            | Failure::Unsound(_) => REFUSED,
            Failure::Files(error) => match **error {
                FileError::NotFound { .. } => NOT_FOUND,
                FileError::Exists { .. } => CONFLICT,
                FileError::Link { .. }
                | FileError::WrongKind { .. }
                | FileError::HardLink { .. }
                | FileError::Outside { .. }
                | FileError::Exchanged { .. }
                | FileError::TooLarge { .. }
                | FileError::NotText { .. }
                | FileError::Io { .. } => UNAVAILABLE,
            },
            Failure::Io { .. }
            | Failure::Busy { .. }
            | Failure::Served { .. }
            | Failure::NoServer
            | Failure::Server { .. }
            | Failure::LostData { .. }
            | Failure::LostCopied { .. }
            | Failure::Open(_)
            | Failure::Recover(_)
            | Failure::Store(_)
            | Failure::Serve(_) => UNAVAILABLE,
        }
    }

    pub(crate) fn code(&self) -> &str {
        match self {
            Failure::Refused { problem, .. } => &problem.code,
            Failure::Engine(error) => error.code(),
            Failure::Payload(error) => error.code(),
            Failure::Name(_) | Failure::Usage(_) => "usage",
            Failure::NotFound(_) => "not_found",
            Failure::Conflict(_) => "conflict",
            Failure::File { .. } | Failure::Check { .. } => "bad_file",
            Failure::Document { error, .. } => error.code(),
            Failure::Broken { .. } | Failure::Unsound(_) => "broken",
            Failure::Files(error) => match **error {
                FileError::NotFound { .. } => "not_found",
                FileError::Exists { .. } => "conflict",
                FileError::Link { .. }
                | FileError::WrongKind { .. }
                | FileError::HardLink { .. }
                | FileError::Outside { .. }
                | FileError::Exchanged { .. }
                | FileError::TooLarge { .. }
                | FileError::NotText { .. } => "bad_file",
                FileError::Io { .. } => fault_code(self.write_fault()),
            },
            Failure::Store(error) => error.code(),
            Failure::Open(_) | Failure::Io { .. } => fault_code(self.write_fault()),
            Failure::Busy { .. }
            | Failure::Served { .. }
            | Failure::NoServer
            | Failure::Server { .. }
            | Failure::LostData { .. }
            | Failure::LostCopied { .. }
            | Failure::Recover(_)
            | Failure::Serve(_) => "unavailable",
        }
    }

    /// What keeps the disk from being written, where that is the reason.
    pub(crate) fn write_fault(&self) -> Option<WriteFault> {
        match self {
            Failure::Store(StoreError::Unwritable(fault))
            | Failure::Engine(EngineError::Store(StoreError::Unwritable(fault)))
            | Failure::Open(OpenError::Unwritable { fault, .. }) => Some(fault.clone()),
            Failure::Io { source, .. } => fault_of_io(source),
            Failure::Files(error) => match &**error {
                FileError::Io { source, .. } => fault_of_io(source),
                FileError::NotFound { .. }
                | FileError::Exists { .. }
                | FileError::Link { .. }
                | FileError::WrongKind { .. }
                | FileError::HardLink { .. }
                | FileError::Outside { .. }
                | FileError::Exchanged { .. }
                | FileError::TooLarge { .. }
                | FileError::NotText { .. } => None,
            },
            Failure::Open(_)
            | Failure::Store(_)
            | Failure::Engine(_)
            | Failure::Refused { .. }
            | Failure::Name(_)
            | Failure::Usage(_)
            | Failure::NotFound(_)
            | Failure::Conflict(_)
            | Failure::Payload(_)
            | Failure::Document { .. }
            | Failure::File { .. }
            | Failure::Check { .. }
            | Failure::Broken { .. }
            | Failure::Unsound(_)
            | Failure::Busy { .. }
            | Failure::Served { .. }
            | Failure::NoServer
            | Failure::Server { .. }
            | Failure::LostData { .. }
            | Failure::LostCopied { .. }
            | Failure::Recover(_)
            | Failure::Serve(_) => None,
        }
    }

    /// Each problem with a line of its own.
    fn details(&self) -> Vec<String> {
        match self {
            Failure::Check { problems, .. } => problems.iter().map(ToString::to_string).collect(),
            Failure::File { problems, .. } => problems.iter().map(ToString::to_string).collect(),
            Failure::Unsound(verified) => {
                let more = (verified.n_more > 0).then(|| format!("and {} more", verified.n_more));
                verified.problems.iter().cloned().chain(more).collect()
            }
            Failure::Refused { problem, .. } => {
                let line = |it: &Broken| format!("{}: {} [{}]", it.path, it.message, it.rule);
                problem.problems.iter().map(line).collect()
            }
            Failure::Engine(_)
            | Failure::Name(_)
            | Failure::Usage(_)
            | Failure::NotFound(_)
            | Failure::Conflict(_)
            | Failure::Payload(_)
            | Failure::Document { .. }
            | Failure::Broken { .. }
            | Failure::Files(_)
            | Failure::Io { .. }
            | Failure::Busy { .. }
            | Failure::Served { .. }
            | Failure::NoServer
            | Failure::Server { .. }
            | Failure::LostData { .. }
            | Failure::LostCopied { .. }
            | Failure::Open(_)
            | Failure::Recover(_)
            | Failure::Store(_)
            | Failure::Serve(_) => Vec::new(),
        }
    }

    /// What would pass, where a contract was not kept.
    fn skeleton(&self) -> Option<String> {
        match self {
            Failure::Refused { problem, format, .. } => {
                let skeleton = json::parse(problem.skeleton.as_ref()?.get()).ok()?;
                Some(formats::encode(&skeleton, *format).trim_end().to_owned())
            }
            Failure::Engine(_)
            | Failure::Name(_)
            | Failure::Usage(_)
            | Failure::NotFound(_)
            | Failure::Conflict(_)
            | Failure::Payload(_)
            | Failure::Document { .. }
            | Failure::File { .. }
            | Failure::Check { .. }
            | Failure::Broken { .. }
            | Failure::Files(_)
            | Failure::Unsound(_)
            | Failure::Io { .. }
            | Failure::Busy { .. }
            | Failure::Served { .. }
            | Failure::NoServer
            | Failure::Server { .. }
            | Failure::LostData { .. }
            | Failure::LostCopied { .. }
            | Failure::Open(_)
            | Failure::Recover(_)
            | Failure::Store(_)
            | Failure::Serve(_) => None,
        }
    }

    /// The API's own problem, or one that looks like it.
    fn document(&self) -> String {
        if let Failure::Refused { document, .. } = self {
            return show::pretty(document);
        }
        let details = self.details().into_iter().map(Node::Text).collect();
        json::print_pretty(&Node::map([
            ("success", Node::Bool(false)),
            ("code", Node::text(self.code())),
            ("detail", Node::text(show::pasted(&self.to_string()))),
            ("error", Node::text(show::pasted(&self.to_string()))),
            ("problems", Node::List(details)),
        ]))
    }
}

fn fault_code(fault: Option<WriteFault>) -> &'static str {
    match fault {
        Some(WriteFault::DiskFull) => "disk_full",
        Some(WriteFault::ReadOnly) => "read_only",
        Some(WriteFault::Replaced { .. } | WriteFault::Failing) | None => "unavailable",
    }
}

/// Says what went wrong, on stderr.
pub(crate) fn report(failure: &Failure, format: Format) -> ExitCode {
    match format {
        Format::Table => {
            error_line(&failure.to_string(), failure.code());
            problem_lines(&failure.details());
            if let Some(skeleton) = failure.skeleton() {
                anstream::eprintln!("\nwhat would pass, once the marks are filled in:\n{skeleton}");
            }
        }
        Format::Json => anstream::eprintln!("{}", failure.document()),
    }
    ExitCode::from(failure.exit_code())
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::Files(Arc::new(error))
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Held { by } => Failure::Busy { by },
            LockError::File(error) => error.into(),
            LockError::Refused { path, source } => {
                Failure::io(format!("lock `{}`", path.display()), source)
            }
        }
    }
}

/// An error with all its causes: the person in front of a terminal is the operator too.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
