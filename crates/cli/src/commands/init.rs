//! `baton init`: the folder that makes a project.

use std::path::Path;

use crate::args::Cli;
use crate::failure::Failure;
use crate::project::{FOLDER, PROJECT_FILE};
use crate::show;

const TEMPLATE: &str = "\
# What this project sets for itself. `baton workflow list` shows what there is to choose from.
[project]
workflow = \"story-pipeline\"
# How severe contracts are taken on the command line: \"strict\" or \"lenient\".
# profile = \"strict\"

# Every run as files beside the data: where it is (`state`) and what happened in it (`sessions`).
# Without this section none are written.
[archive]
state = \"state\"
sessions = \".project/07-audit/sessions\"
";

pub(crate) fn run(cli: &Cli) -> Result<(), Failure> {
    let here = std::env::current_dir().map_err(|error| Failure::io("see this folder", error))?;
    let root = cli.project.clone().unwrap_or(here);
    let folder = root.join(FOLDER);
    if folder.exists() {
        let message = format!("`{}` is a Baton project already", root.display());
        return Err(Failure::Conflict(message));
    }
    lay_out(&root)?;
    show::answer(&format!(
        "made {}\n\nnext:\n  baton story add KEY --title \"...\"   add a piece of work\n  \
         baton run start                     hand it to the first agent\n  \
         baton status                        see who has the baton",
        folder.display()
    ));
    Ok(())
}

/// Writes the folders and files of a new project.
pub(crate) fn lay_out(root: &Path) -> Result<(), Failure> {
    let folder = root.join(FOLDER);
    for part in ["agents", "workflows"] {
        let path = folder.join(part);
        std::fs::create_dir_all(&path)
            .map_err(|error| Failure::io(format!("make `{}`", path.display()), error))?;
    }
    write_new(&folder.join(PROJECT_FILE), TEMPLATE)?;
    write_new(&folder.join(".gitignore"), "/data/\n")
}

/// Writes a file that must not be there yet.
pub(crate) fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    use std::io::Write as _;
    let file = std::fs::File::options().write(true).create_new(true).open(path);
    file.and_then(|mut it| it.write_all(text.as_bytes()))
        .map_err(|error| Failure::io(format!("write `{}`", path.display()), error))
}
