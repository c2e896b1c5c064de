//! What `backup`, `restore`, `recover` and `init --new-data` do with a file, the programs of PostgreSQL
//! do with a database.

use baton_core::shell::shell_word;

use crate::failure::Failure;
use crate::project::Project;
use crate::session::refuse_folder;

/// A command that works on a file of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileTool {
    Backup,
    Restore,
    Recover,
    NewData,
}

/// Refuses a command that has no file to work on, where the data is in a database; also where that is
/// not named.
pub(crate) fn refuse_database(project: &Project, tool: FileTool) -> Result<(), Failure> {
    match project.database {
        Some(_) => Err(no_file(project, tool)),
        None => refuse_folder(project, &project.data_dir()?),
    }
}

/// What to type instead.
pub(crate) fn no_file(project: &Project, tool: FileTool) -> Failure {
    let Some(database) = &project.database else { unreachable!("data in a folder is a file") };
    let (shown, url) = (&database.url, shell_word(&database.url.for_other_programs()));
    let schema = shown.schema().map_or_else(String::new, |it| format!(" --schema={it}"));
    let ours = database.pasted();
    let instead = match tool {
        FileTool::Backup => format!(
            "type `pg_dump --format=custom{schema} --file=baton.dump {url}`, which works beside the nodes, or \
             `baton migrate --from {ours} --to DIR` for a folder that Baton verifies"
        ),
        FileTool::Restore => format!(
            "stop the nodes and type `pg_restore --clean --if-exists --dbname={url} baton.dump` for what \
             `pg_dump` wrote, or `baton migrate --from DIR --to {ours}` for a folder, into an empty database"
        ),
        FileTool::Recover => {
            "restore the last `pg_dump`, or a base backup with the log after it (point-in-time \
                          recovery), into another database, and compare with `baton verify`"
                .to_owned()
        }
        FileTool::NewData => "create another database with `createdb`, and name that".to_owned(),
    };
    Failure::Usage(format!("the data of this project is in the database {shown}: {instead}"))
}
