//! `baton trust`: shows which programs a project would start, and allows them.

use std::io::{BufRead as _, IsTerminal as _};

use baton_core::document::Node;
use baton_runner::TrustChange;

use crate::args::{Cli, TrustArgs};
use crate::failure::Failure;
use crate::project::Project;
use crate::runners::{ProjectTrust, allow};
use crate::show::{self, OutputFormat};

pub(crate) fn run(cli: &Cli, args: &TrustArgs) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    let trust = ProjectTrust::of(&project)?;
    if cli.format() == OutputFormat::Json {
        return run_for_program(&project, &trust, args);
    }
    if trust.wanted.is_empty() {
        show::answer("this project starts no programs");
        return Ok(());
    }
    if trust.is_given() {
        show::answer("everything that this project would start is trusted:");
        for (name, program) in &trust.wanted.0 {
            show::answer(&format!("  {}: {}", show::visible(name), show::visible(program)));
        }
        return Ok(());
    }
    let has_problems = trust.wanted.problems().next().is_some();
    // Before anything is printed: a reader that goes away in the middle ends this process.
    if args.yes && !has_problems {
        allow(&project, &trust.wanted)?;
    }
    show::answer(&format!("{} would start:", project.root.display()));
    for change in trust.wanted.changes_since(&trust.allowed) {
        show_change(&change);
    }
    if has_problems {
        for (name, _) in trust.wanted.problems() {
            show::note(&format!("{} {}", show::warn("cannot be trusted:"), show::visible(name)));
        }
        let why = "a program has to be a regular file of the project, or be found outside it; nothing was allowed";
        return Err(Failure::Untrusted(why.to_owned()));
    }
    if !args.yes {
        if !is_allowed()? {
            return Err(Failure::Untrusted(
                "nothing was allowed; `baton trust --yes` allows it".to_owned(),
            ));
        }
        allow(&project, &trust.wanted)?;
    }
    show::answer("trusted, until any of it changes");
    Ok(())
}

/// Asks nothing: without `--yes` it shows what would start, and fails where that is not trusted.
fn run_for_program(
    project: &Project,
    trust: &ProjectTrust,
    args: &TrustArgs,
) -> Result<(), Failure> {
    let refused: Vec<Node> = trust.wanted.problems().map(|(name, _)| Node::text(name)).collect();
    let mut is_trusted = trust.wanted.is_empty() || trust.is_given();
    if !is_trusted && args.yes && refused.is_empty() {
        allow(project, &trust.wanted)?;
        is_trusted = true;
    }
    let program = |(name, program): (&String, &String)| {
        Node::map([("name", Node::text(name)), ("program", Node::text(program))])
    };
    let programs: Vec<Node> = trust.wanted.0.iter().map(program).collect();
    show::answer_json(&Node::map([
        ("trusted", Node::Bool(is_trusted)),
        ("programs", Node::List(programs)),
        ("cannotBeTrusted", Node::List(refused)),
    ]));
    match is_trusted {
        true => Ok(()),
        false => {
            Err(Failure::Untrusted("nothing was allowed; `baton trust --yes` allows it".to_owned()))
        }
    }
}

fn show_change(change: &TrustChange) {
    let shown =
        |name: &str, program: &str| format!("{}: {}", show::visible(name), show::visible(program));
    match change {
        TrustChange::Added { name, program } => {
            show::answer(&show::good(&format!("+ {}", shown(name, program))));
        }
        TrustChange::Removed { name, program } => {
            show::answer(&show::bad(&format!("- {}", shown(name, program))));
        }
        TrustChange::Changed { name, before, now } => {
            show::answer(&show::bad(&format!("- {}", shown(name, before))));
            show::answer(&show::good(&format!("+ {}", shown(name, now))));
        }
    }
}

/// Asks on a terminal; without one there is no way to answer.
fn is_allowed() -> Result<bool, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Ok(false);
    }
    show::note("allow it? [y/N]");
    let mut line = String::new();
    stdin.lock().read_line(&mut line).map_err(|error| Failure::io("read your answer", error))?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
