//! How a command fails: one type, and one place for the messages and the exit code.

mod correction;

use std::process::ExitCode;
use std::sync::Arc;

use baton_api::Broken;
use baton_core::document::Node;
use baton_core::names::NameError;
use baton_core::shell::shell_word;
use baton_engine::{EngineError, ErrorClass, Verified};
use baton_files::FileError;
use baton_http::ServeError;
use baton_recover::RecoverError;
use baton_runner::{RunnerError, WorkspaceError};
use baton_store::{StoreError, WriteFault};
use baton_store_sqlite::{LockError, OpenError, fault_of_io};
use baton_wire::file_problem::FileProblem;
use baton_wire::formats::FormatError;
use baton_wire::json;
use http::StatusCode;

use crate::project::{DatabaseNotNamed, ProjectDatabase};
use crate::show::{self, OutputFormat, error_line, hint_line, problem_lines};

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The API refused the request.
    #[error("{}", problem.detail)]
    Refused {
        problem: Box<baton_api::ProblemDocument>,
        /// The raw response.
        document: String,
        /// The format of the sender's document, for an example that would have passed.
        format: baton_core::package::Format,
        /// What else the user may have wanted to type.
        hint: Option<String>,
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
    /// Ctrl-C, in a command that leaves something to go on with.
    #[error("{0}")]
    Interrupted(String),
    /// The user has not allowed what would be started.
    #[error("{0}")]
    Untrusted(String),
    #[error(transparent)]
    Runner(#[from] RunnerError),
    #[error("the payload is not JSON: {error}{}", meant_file(file.as_deref()))]
    Payload {
        error: json::JsonError,
        /// The file of that name, which was probably meant.
        file: Option<String>,
    },
    #[error("{file} has {}", show::counted(problems.len() as u64, "problem"))]
    File { file: String, problems: Vec<FileProblem> },
    #[error("{what}")]
    BadFiles { what: String, problems: Vec<String> },
    #[error("`{file}` cannot be read as {}: {error}", error.format.title())]
    Document { file: String, error: FormatError },
    #[error(
        "`{file}` is not UTF-8 text: line {line}, column {column}; convert it, for example with \
         `iconv -f latin1 -t utf-8`"
    )]
    NotUtf8 { file: String, line: usize, column: usize },
    #[error("{what}")]
    Broken { what: String },
    /// A server that this command needs, for a reason that may pass.
    #[error("{what}; name another address with `--listen` if this one is in use")]
    NotStarted { what: String },
    #[error("{}", chain(.0))]
    Files(Arc<FileError>),
    #[error(
        "the data has {}; `baton recover` saves what is whole into a new database",
        show::counted(.0.n_problems, "problem")
    )]
    Unsound(Box<Verified>),
    #[error(
        "the export has {}: it is not what was exported; take the file as it was first written, or export \
         anew with `baton audit export --events --format jsonl`",
        show::counted(problems.len() as u64, "problem")
    )]
    UnsoundExport { problems: Vec<String> },
    #[error("cannot {what}: {source}")]
    Io { what: String, source: std::io::Error },
    #[error("the data is in use by another Baton ({by}); it did not finish within 5 seconds")]
    Busy { by: String },
    #[error("a server has the data ({url}); stop it first, with Ctrl-C where it runs")]
    Served { url: String },
    #[error("no server is running for this project; `baton serve` starts one")]
    NoServer,
    #[error("none of the servers answers: {whys}")]
    NoneAnswers { whys: String },
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
    #[error(
        "the data of this project is gone: `{database}` is missing or empty. Type `baton recover` first, to \
         save all that is still proven into a new database. There is a copy, {reach}: \
         `baton restore {copy}` goes on with it alone, and `baton init --new-data` begins with an empty \
         database"
    )]
    LostCopyBehind { database: String, copy: String, reach: String },
    #[error(
        "cannot open the data: {problem}. There is a copy of all that was recorded: type `baton restore \
         --replace {copy}` to go on with it. Without it: {}",
        chain(.source)
    )]
    OpenCopied {
        problem: &'static str,
        copy: String,
        #[source]
        source: Box<OpenError>,
    },
    #[error(
        "the database goes up to event {n_here}, and a copy that a server saved when its data was damaged \
         up to event {n_there}: type `baton restore --replace {copy}` to go on with the copy, or, to go \
         on without it, `mv {copy} {copy}.old`"
    )]
    BehindCopy { copy: String, n_here: u64, n_there: u64 },
    #[error(
        "there is no database at `{database}`, where `--data` says, and this project has one in {own}: \
         leave `--data` out to use that, type `baton restore {own}` to go on with a copy of it, or \
         `baton init --new-data` to begin with an empty database"
    )]
    NotThere { database: String, own: String },
    #[error(
        "events are missing: {what}, and {first}. Nothing was changed. Type `baton recover` to bring \
         back what the archive proves, or, to go on with what is there, `baton backup FILE` and \
         `baton restore --replace FILE`"
    )]
    LostEvents { what: String, first: String },
    #[error("`{file}` {why}; name a file that `baton backup` wrote, or a folder with a `baton.db`")]
    NoBackup { file: String, why: String },
    #[error(
        "`{file}` cannot be restored: {why}. Nothing was changed; name another backup, or type \
         `baton recover --from {}` to save what is whole in this one",
        shell_word(file)
    )]
    BadBackup { file: String, why: String },
    #[error("cannot open the data: {}", chain(.0))]
    Open(#[source] OpenError),
    /// The database cannot be used; the message has no password.
    #[error("cannot open the data: {what} ({url}, {from})")]
    Database {
        what: String,
        url: String,
        from: String,
        #[source]
        source: Box<baton_store_postgres::DatabaseError>,
    },
    #[error("the database {url}, {from}, is of another project: {known}")]
    OtherProject { url: String, from: String, known: String },
    #[error("{0}")]
    DatabaseNotNamed(DatabaseNotNamed),
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
pub(crate) const UNAVAILABLE: u8 = 5;
/// 128 and the number of the signal, as shells have it.
const INTERRUPTED: u8 = 130;

impl Failure {
    pub(crate) fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }

    pub(crate) fn database(
        database: &ProjectDatabase,
        error: baton_store_postgres::DatabaseError,
    ) -> Self {
        // Its message has the address, which may be too odd to find the password in it.
        let what = if let baton_store_postgres::DatabaseError::Address { source, .. } = &error {
            format!("this is no address of a PostgreSQL database: {}", chain(source.as_ref()))
        } else {
            chain(&error)
        };
        Self::Database {
            what: database.url.mask_in(&what),
            url: database.url.to_string(),
            from: database.from.to_string(),
            source: Box::new(error),
        }
    }

    /// The same, with an example that would have passed in the sender's format.
    pub(crate) fn in_format(self, format: baton_core::package::Format) -> Self {
        if let Self::Refused { problem, document, hint, .. } = self {
            return Self::Refused { problem, document, format, hint };
        }
        self
    }

    /// The same, with advice for a refusal of this code.
    pub(crate) fn with_hint(self, code: &str, advice: impl FnOnce() -> String) -> Self {
        if let Self::Refused { problem, document, format, hint } = self {
            let hint = if problem.code == code { Some(advice()) } else { hint };
            return Self::Refused { problem, document, format, hint };
        }
        self
    }

    /// The JSON for programs: one row per kind of failure.
    fn class(&self) -> FailureClass<'_> {
        match self {
            Failure::Refused { problem, .. } => {
                FailureClass::new(exit_of_status(problem.status), &problem.code)
            }
            Failure::Engine(error @ EngineError::Store(source)) => {
                FailureClass::new(exit_of_class(error.class()), error.code())
                    .because_of(store_fault(source))
            }
            Failure::Engine(error) => FailureClass::new(exit_of_class(error.class()), error.code()),
            Failure::Name(_) | Failure::Usage(_) => FailureClass::new(USAGE, "usage"),
            Failure::NotUtf8 { .. } => FailureClass::new(USAGE, "not_utf8"),
            Failure::Payload { error, .. } => FailureClass::new(USAGE, error.code()),
            Failure::NotFound(_) => FailureClass::new(NOT_FOUND, "not_found"),
            Failure::Conflict(_) => FailureClass::new(CONFLICT, "conflict"),
            Failure::Interrupted(_) => FailureClass::new(INTERRUPTED, "interrupted"),
            Failure::Untrusted(_) => FailureClass::new(REFUSED, "untrusted"),
            Failure::Runner(
                RunnerError::Files(error) | RunnerError::Workspace(WorkspaceError::Files(error)),
            ) => class_of_file(error),
            Failure::Runner(RunnerError::CredentialRefused { .. }) => {
                FailureClass::new(REFUSED, "bad_token")
            }
            Failure::Runner(RunnerError::UnknownCapability(_)) => {
                FailureClass::new(REFUSED, "unknown_capability")
            }
            Failure::Runner(RunnerError::Workspace(_) | RunnerError::Busy { .. }) => {
                FailureClass::new(CONFLICT, "conflict")
            }
            Failure::File { .. } | Failure::BadFiles { .. } => {
                FailureClass::new(REFUSED, "bad_file")
            }
            Failure::Document { error, .. } => FailureClass::new(REFUSED, error.code()),
            Failure::Broken { .. } | Failure::Unsound(_) | Failure::UnsoundExport { .. } => {
                FailureClass::new(REFUSED, "broken")
            }
            Failure::Files(error) => class_of_file(error),
            Failure::NoBackup { .. } | Failure::BadBackup { .. } => {
                FailureClass::new(UNAVAILABLE, "bad_file")
            }
            Failure::Io { source, .. } => FailureClass::of_disk(fault_of_io(source)),
            Failure::Open(OpenError::Unwritable { fault, .. }) => {
                FailureClass::of_disk(Some(fault.clone()))
            }
            Failure::Open(OpenError::Moving { .. }) => {
                FailureClass::new(UNAVAILABLE, "database_unsuitable")
            }
            Failure::Open(_) => FailureClass::of_disk(None),
            Failure::Database { source, .. } => {
                FailureClass::new(exit_of_database(source), source.code())
            }
            Failure::OtherProject { .. } | Failure::DatabaseNotNamed(_) => {
                FailureClass::new(UNAVAILABLE, "other_project")
            }
            Failure::Store(error) => {
                FailureClass::new(UNAVAILABLE, error.code()).because_of(store_fault(error))
            }
            Failure::Busy { .. }
            | Failure::Served { .. }
            | Failure::NoServer
            | Failure::NotStarted { .. }
            | Failure::Server { .. }
            | Failure::NoneAnswers { .. }
            | Failure::LostData { .. }
            | Failure::LostCopied { .. }
            | Failure::LostCopyBehind { .. }
            | Failure::OpenCopied { .. }
            | Failure::BehindCopy { .. }
            | Failure::NotThere { .. }
            | Failure::LostEvents { .. }
            | Failure::Recover(_)
            | Failure::Serve(_) => FailureClass::new(UNAVAILABLE, "unavailable"),
        }
    }

    pub(crate) fn code(&self) -> &str {
        self.class().code
    }

    /// The write fault of the disk, where that is the reason.
    pub(crate) fn write_fault(&self) -> Option<WriteFault> {
        self.class().fault
    }

    /// The problems of a file of the project, where there are any.
    pub(crate) fn file_problems(&self) -> &[FileProblem] {
        if let Self::File { problems, .. } = self { problems } else { &[] }
    }

    /// Each problem on a line of its own. Most failures have none.
    fn details(&self) -> Vec<String> {
        if let Failure::File { problems, .. } = self {
            return problems.iter().map(ToString::to_string).collect();
        }
        if let Failure::BadFiles { problems, .. } = self {
            return problems.clone();
        }
        if let Failure::Unsound(verified) = self {
            let more = (verified.n_more > 0).then(|| format!("and {} more", verified.n_more));
            return verified.problems.iter().cloned().chain(more).collect();
        }
        if let Failure::UnsoundExport { problems } = self {
            return problems.clone();
        }
        if let Failure::Refused { problem, .. } = self {
            let line = |it: &Broken| format!("{}: {} [{}]", it.path, it.message, it.rule);
            return problem.problems.iter().map(line).collect();
        }
        Vec::new()
    }

    /// What to type next: the command's own advice, else where the names are listed.
    fn hint(&self) -> Option<&str> {
        let Failure::Refused { problem, hint, .. } = self else { return None };
        let listed = match &*problem.code {
            "no_such_handoff" => Some("`baton handoff list --all` lists all handoffs"),
            "no_such_run" => Some("`baton run list --all` lists all runs"),
            _ => None,
        };
        hint.as_deref().or(listed)
    }

    /// The API's own problem document, or one of the same form.
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

/// The JSON form of a failure.
struct FailureClass<'a> {
    exit_code: u8,
    code: &'a str,
    fault: Option<WriteFault>,
}

impl<'a> FailureClass<'a> {
    fn new(exit_code: u8, code: &'a str) -> Self {
        Self { exit_code, code, fault: None }
    }

    fn because_of(self, fault: Option<WriteFault>) -> Self {
        Self { fault, ..self }
    }

    /// An I/O error, possibly with a known reason.
    fn of_disk(fault: Option<WriteFault>) -> Self {
        let code = fault.as_ref().map_or("unavailable", WriteFault::code);
        Self::new(UNAVAILABLE, code).because_of(fault)
    }
}

fn class_of_file(error: &FileError) -> FailureClass<'static> {
    match error {
        FileError::NotFound { .. } => FailureClass::new(NOT_FOUND, "not_found"),
        FileError::Exists { .. } => FailureClass::new(CONFLICT, "conflict"),
        FileError::Link { .. }
        | FileError::WrongKind { .. }
        | FileError::HardLink { .. }
        | FileError::Outside { .. }
        | FileError::Exchanged { .. }
        | FileError::TooLarge { .. }
        | FileError::NotText { .. } => FailureClass::new(UNAVAILABLE, "bad_file"),
        FileError::Io { source, .. } => FailureClass::of_disk(fault_of_io(source)),
    }
}

fn meant_file(file: Option<&str>) -> String {
    file.map(|it| format!("; did you mean `@{it}`, the file?")).unwrap_or_default()
}

fn exit_of_status(status: StatusCode) -> u8 {
    match status {
        StatusCode::BAD_REQUEST => USAGE,
        StatusCode::NOT_FOUND => NOT_FOUND,
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => CONFLICT,
        StatusCode::SERVICE_UNAVAILABLE => UNAVAILABLE,
        _ => REFUSED,
    }
}

fn exit_of_class(class: ErrorClass) -> u8 {
    match class {
        ErrorClass::Malformed => USAGE,
        ErrorClass::Unacceptable | ErrorClass::Forbidden => REFUSED,
        ErrorClass::NotFound => NOT_FOUND,
        ErrorClass::Conflict | ErrorClass::Outdated => CONFLICT,
        ErrorClass::Unavailable => UNAVAILABLE,
    }
}

/// An address that cannot be read is a slip of the user; the rest is the database.
fn exit_of_database(error: &baton_store_postgres::DatabaseError) -> u8 {
    use baton_store_postgres::DatabaseError;
    if matches!(error, DatabaseError::Address { .. } | DatabaseError::Certificates { .. }) {
        return USAGE;
    }
    UNAVAILABLE
}

fn store_fault(error: &StoreError) -> Option<WriteFault> {
    if let StoreError::Unwritable(fault) = error { Some(fault.clone()) } else { None }
}

/// Prints the failure on stderr.
pub(crate) fn report(failure: &Failure, format: OutputFormat) -> ExitCode {
    match format {
        OutputFormat::Table => {
            error_line(&failure.to_string(), failure.code());
            problem_lines(&failure.details());
            if let Some(hint) = failure.hint() {
                hint_line(hint);
            }
            if let Some(correction) = failure.correction() {
                show::note_text(&format!("\n{correction}"));
            }
        }
        OutputFormat::Json => show::note_json(&failure.document()),
    }
    ExitCode::from(failure.class().exit_code)
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::Files(Arc::new(error))
    }
}

impl From<WorkspaceError> for Failure {
    fn from(error: WorkspaceError) -> Self {
        RunnerError::Workspace(error).into()
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
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn every_failure_has_its_exit_code_and_its_word() {
        let io = |kind: ErrorKind| Failure::io("read `x`", Error::from(kind));
        let file = |error: FileError| Failure::from(error);
        let path = || std::path::PathBuf::from("x");
        let text = || "x".to_owned();
        let full = || StoreError::Unwritable(WriteFault::DiskFull);
        for (failure, exit_code, code, fault) in [
            (Failure::Usage(text()), 2, "usage", None),
            (Failure::NotFound(text()), 3, "not_found", None),
            (Failure::Conflict(text()), 4, "conflict", None),
            (Failure::Interrupted(text()), 130, "interrupted", None),
            (Failure::Broken { what: text() }, 1, "broken", None),
            (Failure::File { file: text(), problems: Vec::new() }, 1, "bad_file", None),
            (Failure::Unsound(Box::default()), 1, "broken", None),
            (Failure::NoServer, 5, "unavailable", None),
            (Failure::Busy { by: text() }, 5, "unavailable", None),
            (Failure::Store(StoreError::Closed), 5, "unavailable", None),
            (Failure::Store(full()), 5, "disk_full", Some(WriteFault::DiskFull)),
            (Failure::Engine(full().into()), 5, "disk_full", Some(WriteFault::DiskFull)),
            (io(ErrorKind::NotFound), 5, "unavailable", None),
            (io(ErrorKind::StorageFull), 5, "disk_full", Some(WriteFault::DiskFull)),
            (io(ErrorKind::PermissionDenied), 5, "read_only", Some(WriteFault::ReadOnly)),
            (file(FileError::NotFound { path: path() }), 3, "not_found", None),
            (file(FileError::Exists { path: path() }), 4, "conflict", None),
            (file(FileError::NotText { path: path() }), 5, "bad_file", None),
            (Failure::Open(OpenError::NotOurs { path: path() }), 5, "unavailable", None),
            (
                Failure::Open(OpenError::Unwritable { path: path(), fault: WriteFault::ReadOnly }),
                5,
                "read_only",
                Some(WriteFault::ReadOnly),
            ),
        ] {
            let class = failure.class();
            let found = (class.exit_code, class.code, class.fault.clone());
            assert_eq!(found, (exit_code, code, fault), "{failure:?}");
        }
    }
}
