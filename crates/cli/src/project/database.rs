//! Which database a project uses: as typed, else as the environment says, else as `baton.toml` says.

use std::fmt;
use std::path::{Path, PathBuf};

use baton_core::shell::shell_word;
use baton_store_postgres::PostgresSettings;
use baton_wire::database_url::DatabaseUrl;

use super::{PROJECT_FILE, Project};
use crate::args::{DATABASE_VARIABLE, OF_ENVIRONMENT, TypedDatabase, url_in_environment};
use crate::failure::Failure;

/// A PostgreSQL database with the data of a project.
#[derive(Debug, Clone)]
pub(crate) struct ProjectDatabase {
    pub(crate) url: DatabaseUrl,
    pub(crate) from: DatabaseSource,
    /// The folder that a relative path in the address begins at: that of the project.
    pub(crate) files: PathBuf,
}

/// The data of a project is in a database, and no command may begin other data in the folder.
#[derive(Debug, thiserror::Error)]
#[error(
    "this project has its data in a PostgreSQL database, as `{note}` says, and none is named: set \
     {DATABASE_VARIABLE}, or name it with `--database-url`. To keep the data in this folder from now on, without \
     what is in the database, type `rm {note}`"
)]
pub(crate) struct DatabaseNotNamed {
    /// The file that says so.
    pub(crate) note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatabaseSource {
    Flag,
    Environment,
    ProjectFile,
}

impl ProjectDatabase {
    pub(crate) fn typed(typed: &TypedDatabase, files: &Path) -> Result<Self, Failure> {
        Ok(Self { url: typed.url()?, from: DatabaseSource::Flag, files: files.to_owned() })
    }

    /// The one of the environment, if any.
    pub(crate) fn in_environment(files: &Path) -> Result<Option<Self>, Failure> {
        let (url, from) = (url_in_environment()?, DatabaseSource::Environment);
        Ok(url.map(|url| Self { url, from, files: files.to_owned() }))
    }

    pub(crate) fn settings(&self) -> Result<PostgresSettings, Failure> {
        let parsed = PostgresSettings::parse(self.url.with_password());
        let settings = parsed.map_err(|error| Failure::database(self, error))?;
        Ok(settings.with_files_in(&self.files))
    }

    /// How it is named in a command of ours: by the environment, where it has a password.
    pub(crate) fn pasted(&self) -> String {
        match self.url.has_password() {
            true => OF_ENVIRONMENT.to_owned(),
            false => shell_word(self.url.with_password()),
        }
    }
}

impl Project {
    /// With the database that is meant, if any.
    pub(crate) fn with_database(mut self, typed: Option<&TypedDatabase>) -> Result<Self, Failure> {
        self.database = match typed {
            Some(typed) => Some(ProjectDatabase::typed(typed, &self.root)?),
            None => self.database_untyped()?,
        };
        Ok(self)
    }

    fn database_untyped(&self) -> Result<Option<ProjectDatabase>, Failure> {
        if let Some(database) = ProjectDatabase::in_environment(&self.root)? {
            return Ok(Some(database));
        }
        let (url, from) = (self.file.database_url.clone(), DatabaseSource::ProjectFile);
        Ok(url.map(|url| ProjectDatabase { url, from, files: self.root.clone() }))
    }
}

impl fmt::Display for DatabaseSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("named by `--database-url`"),
            Self::Environment => write!(f, "named by {DATABASE_VARIABLE}"),
            Self::ProjectFile => write!(f, "named by `database_url` in {PROJECT_FILE}"),
        }
    }
}
