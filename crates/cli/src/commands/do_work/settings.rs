//! The project that the work needs: the user's own, or one that is made here and belongs to this command.

use std::path::{Path, PathBuf};

use baton_files::{Dir, FileError, FileMode};
use baton_runner::{DetectedProgram, ProgramLogin};
use baton_wire::suggest::did_you_mean;

use super::checkout::Checkout;
use crate::api::server_of;
use crate::args::DoArgs;
use crate::commands::agent::detect::settings;
use crate::commands::init::write_missing;
use crate::failure::Failure;
use crate::project::{FOLDER, PROJECT_FILE, Project};
use crate::runners::{ProjectTrust, allow, environment};
use crate::show;

/// The first line of a file that is written anew each time.
const MARK: &str =
    "# Written by `baton do`, and written anew by it. Without this line the file is yours.\n";

/// How long agents may finish after Ctrl-C. A person waits for it, and their conversations go on later anyway.
const DRAIN: &str = "5s";

/// Makes or finds the project, and makes sure that its agents have programs that may be started.
pub(super) async fn prepare(checkout: &Checkout, args: &DoArgs) -> Result<PathBuf, Failure> {
    const MOST_TRIES: usize = 20;
    for _ in 1..MOST_TRIES {
        match prepare_once(checkout, args).await {
            // Another `baton do` that begins at the same moment writes the same files, and each clears away what the
            // other has not finished.
            Err(Failure::Files(error))
                if matches!(*error, FileError::NotFound { .. } | FileError::Exists { .. }) => {}
            prepared => return prepared,
        }
    }
    prepare_once(checkout, args).await
}

async fn prepare_once(checkout: &Checkout, args: &DoArgs) -> Result<PathBuf, Failure> {
    let root = &checkout.root;
    let dir = Dir::open(root)?;
    let path = Path::new(FOLDER).join(PROJECT_FILE);
    let before = match dir.read_text(&path, 1 << 20) {
        Ok(text) => Some(text),
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    let is_own = before.as_ref().is_none_or(|it| it.starts_with(MARK));
    if args.continue_run && before.is_none() {
        let message = "no run of `baton do` is open here; `baton do \"...\"` begins one";
        return Err(Failure::NotFound(message.to_owned()));
    }
    if is_own && !(args.continue_run && args.agents.is_empty()) {
        let chosen = chosen(&args.agents).await?;
        checkout.exclude_project().await?;
        let folder = dir.make_dirs(FOLDER, FileMode::Shared)?;
        write_missing(&folder, (".gitignore", "/data/\n"))?;
        let programs = settings(&chosen).unwrap_or_default();
        let text = format!(
            "{MARK}[project]\nworkflow = \"story-pipeline\"\n\n[runner]\ndrain = \"{DRAIN}\"\n\n{programs}\n"
        );
        if before.is_some_and(|it| it != text)
            && let Some(server) = server_of(&Project::find(Some(root))?).await?
        {
            return Err(Failure::Conflict(format!(
                "the server at {} runs other programs for this project; stop it, with Ctrl-C where `baton do` runs, and \
                 type this again",
                server.url
            )));
        }
        folder.write_atomic(PROJECT_FILE, text.as_bytes(), FileMode::Shared)?;
        let project = Project::find(Some(root))?;
        let trust = ProjectTrust::of(&project)?;
        // It is what this very command has just written, from what the user asked for.
        allow(&project, &trust.wanted)?;
        let names: Vec<&str> = chosen.iter().map(|it| it.program.name()).collect();
        show::note(&format!(
            "agents: {} (in {}, which git does not see)",
            names.join(", "),
            path.display()
        ));
        return Ok(root.clone());
    }
    check_own(&Project::find(Some(root))?, args).await?;
    Ok(root.clone())
}

/// A project with settings of the user's own.
async fn check_own(project: &Project, args: &DoArgs) -> Result<(), Failure> {
    if !args.agents.is_empty() {
        return Err(Failure::Usage(
            "`.baton/baton.toml` of this project says which programs its agents use; change `[agents]` there, \
             and leave `--agents` out"
                .to_owned(),
        ));
    }
    if project.file.runner.is_idle() {
        let lines =
            settings(&usable(baton_runner::detect(&environment()).await)).unwrap_or_default();
        return Err(Failure::Conflict(no_program(&lines)));
    }
    if !ProjectTrust::of(project)?.is_given() {
        return Err(Failure::Untrusted(
            "this project would start programs that you have not allowed; `baton trust` shows them, and allows \
             them"
            .to_owned(),
        ));
    }
    Ok(())
}

/// What to do in a project whose agents have no program: `lines` are settings for those that are installed.
fn no_program(lines: &str) -> String {
    let how = match lines {
        "" => format!("{}; then name it in that file, and type `baton trust`", install_hint()),
        lines => format!("add for example these lines, and type `baton trust`:\n\n{lines}"),
    };
    format!("`.baton/baton.toml` of this project names no program for its agents; {how}")
}

/// The programs that were asked for, else all that can be used.
async fn chosen(asked: &[String]) -> Result<Vec<DetectedProgram>, Failure> {
    let found = baton_runner::detect(&environment()).await;
    if asked.is_empty() {
        let usable = usable(found.clone());
        if !usable.is_empty() {
            return Ok(usable);
        }
        let installed: Vec<&str> =
            found.iter().filter(|it| it.version.is_some()).map(|it| it.program.name()).collect();
        return Err(Failure::NotFound(if installed.is_empty() {
            format!("no program for agents is installed here: {}", install_hint())
        } else {
            format!(
                "{} is installed, but no login was found; log in by starting it once, set its key, or name it: \
                 `--agents {}`",
                installed.join(", "),
                installed.join(","),
            )
        }));
    }
    let names: Vec<&str> = found.iter().map(|it| it.program.name()).collect();
    let mut chosen = Vec::new();
    for name in asked {
        let name = name.trim();
        let Some(it) = found.iter().find(|it| it.program.name() == name) else {
            let hint = did_you_mean(name, &names);
            return Err(Failure::Usage(format!(
                "`{}` is no program that Baton knows: {hint}",
                show::visible(name)
            )));
        };
        if it.version.is_none() {
            return Err(Failure::NotFound(format!(
                "`{name}` is not installed, or does not answer; {}",
                install_hint()
            )));
        }
        if it.login == ProgramLogin::Missing {
            show::note(&format!(
                "{} no login of `{name}` was found; it may ask for one",
                show::warn("note:")
            ));
        }
        chosen.push(it.clone());
    }
    Ok(chosen)
}

fn usable(found: Vec<DetectedProgram>) -> Vec<DetectedProgram> {
    let is_usable =
        |it: &DetectedProgram| it.version.is_some() && it.login != ProgramLogin::Missing;
    found.into_iter().filter(is_usable).collect()
}

fn install_hint() -> String {
    "install Claude Code, Codex or Gemini CLI as its makers say, and log in; `baton agent detect` shows what is \
     found"
    .to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn what_to_do_without_a_program_is_said_in_whole_sentences() {
        expect!["`.baton/baton.toml` of this project names no program for its agents; install Claude Code, Codex or Gemini CLI as its makers say, and log in; `baton agent detect` shows what is found; then name it in that file, and type `baton trust`"]
            .assert_eq(&no_program(""));
        expect!["`.baton/baton.toml` of this project names no program for its agents; add for example these lines, and type `baton trust`:\n\n[agents]"]
            .assert_eq(&no_program("[agents]"));
    }
}
