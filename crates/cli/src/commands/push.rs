//! `baton push`: gives the workflow and agent files of this project to all nodes of its database.

use baton_core::document::Node;
use baton_store::Store as _;
use baton_store_postgres::{PostgresStore, PushedFile};
use baton_wire::database_url::DatabaseUrl;

use crate::args::{Cli, DATABASE_VARIABLE, PushArgs};
use crate::failure::Failure;
use crate::project::{PROJECT_FILE, Project, WorkflowUse, to_push};
use crate::session::{DatabaseStore, refuse_folder};
use crate::show::{self, OutputFormat};

pub(crate) async fn run(cli: &Cli, args: &PushArgs) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    let Some(database) = &project.database else {
        refuse_folder(&project, &project.data_dir()?)?;
        return Err(Failure::Usage(
            "files are pushed to a database, and this project has its data in a folder: its server reads \
             the files there"
                .to_owned(),
        ));
    };
    let files = if args.clear { Vec::new() } else { checked_files(&project)? };
    let opened = DatabaseStore::open(&project, database).await?;
    let pushed = push(&opened.store, &files, args).await;
    opened.store.close().await;
    tell(cli.format(), args, &database.url, &pushed?, files.len());
    Ok(())
}

/// The files of the project. None is pushed while one has a problem: every node would leave it out.
fn checked_files(project: &Project) -> Result<Vec<PushedFile>, Failure> {
    if project.file.database_url.as_ref().is_some_and(DatabaseUrl::has_password) {
        return Err(Failure::Usage(format!(
            "{PROJECT_FILE} has the password of the database, and would be pushed: put the address into \
             {DATABASE_VARIABLE}"
        )));
    }
    let loaded = project.load();
    let mut problems: Vec<String> =
        loaded.left_out.iter().map(|it| it.summary().to_string()).collect();
    let catalog = loaded.catalog(&project.file);
    for (name, used, result) in loaded.checked_workflows(&catalog) {
        if let (WorkflowUse::Own, Err(failure)) = (used, result) {
            let lines = failure.file_problems().iter().map(|it| format!("{name}: {it}"));
            problems.extend(lines);
        }
    }
    if !problems.is_empty() {
        let what =
            format!("nothing was pushed: {}", show::counted(problems.len() as u64, "problem"));
        return Err(Failure::BadFiles { what, problems });
    }
    to_push(project)
}

/// What a push did to a file.
struct PushedChange {
    path: String,
    what: &'static str,
}

async fn push(
    store: &PostgresStore,
    files: &[PushedFile],
    args: &PushArgs,
) -> Result<Vec<PushedChange>, Failure> {
    // One after the other, so that each says what it has changed.
    let _lock = store.lock("push").await?;
    let before = store.pushed_files().await?;
    let changes = changes(&before, files);
    if !changes.is_empty() && !args.dry_run {
        store.push_files(files).await?;
    }
    Ok(changes)
}

fn changes(before: &[PushedFile], after: &[PushedFile]) -> Vec<PushedChange> {
    let mut changes = Vec::new();
    for file in after {
        let what = match before.iter().find(|it| it.path == file.path) {
            Some(known) if known.hash == file.hash => continue,
            Some(_) => "changed",
            None => "added",
        };
        changes.push(PushedChange { path: file.path.clone(), what });
    }
    let gone = before.iter().filter(|it| !after.iter().any(|file| file.path == it.path));
    changes.extend(gone.map(|it| PushedChange { path: it.path.clone(), what: "removed" }));
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}

fn tell(
    format: OutputFormat,
    args: &PushArgs,
    url: &DatabaseUrl,
    changes: &[PushedChange],
    n_files: usize,
) {
    if format == OutputFormat::Json {
        let change = |it: &PushedChange| {
            Node::map([("path", Node::text(&it.path)), ("change", Node::text(it.what))])
        };
        return show::answer_json(&Node::map([
            ("files", Node::count(n_files as u64)),
            ("changes", Node::List(changes.iter().map(change).collect())),
            ("isPushed", Node::Bool(!args.dry_run)),
        ]));
    }
    for PushedChange { path, what } in changes {
        show::answer(&format!("{what:<8} {}", show::visible(path)));
    }
    let files = show::counted(n_files as u64, "file");
    show::answer(&match (changes.is_empty(), args.dry_run, n_files) {
        (true, _, _) => format!("nothing has changed: {files} in {url}"),
        (false, true, _) => format!("nothing was pushed; without `--dry-run`: {files} in {url}"),
        (false, false, 0) => format!("no pushed file is left in {url}: every node uses its own"),
        (false, false, _) => format!("pushed to {url}: {files}, used by every node within seconds"),
    });
}

#[cfg(test)]
mod tests {
    use baton_core::hash::Hash;

    use super::*;

    #[test]
    fn a_push_says_what_it_changes() {
        let file = |path: &str, text: &str| PushedFile {
            path: path.to_owned(),
            hash: Hash::of(text.as_bytes()),
            text: text.to_owned(),
        };
        let before = [file("a", "1"), file("b", "1"), file("c", "1")];
        let after = [file("a", "1"), file("b", "2"), file("d", "1")];
        let found: Vec<(String, &str)> =
            changes(&before, &after).into_iter().map(|it| (it.path, it.what)).collect();
        let expected = [("b", "changed"), ("c", "removed"), ("d", "added")];
        assert_eq!(found, expected.map(|(path, what)| (path.to_owned(), what)));
    }
}
