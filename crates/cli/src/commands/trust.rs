//! `baton trust`: shows which programs a project would start, and allows them.

use std::io::{BufRead as _, IsTerminal as _};

use baton_runner::TrustChange;

use crate::args::{Cli, TrustArgs};
use crate::failure::Failure;
use crate::project::Project;
use crate::runners::{ProjectTrust, allow};
use crate::show;

pub(crate) fn run(cli: &Cli, args: &TrustArgs) -> Result<(), Failure> {
    let project = Project::of(cli)?;
    let trust = ProjectTrust::of(&project)?;
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
    show::answer(&format!("{} would start:", project.root.display()));
    for change in trust.wanted.changes_since(&trust.allowed) {
        show_change(&change);
    }
    if trust.wanted.problems().next().is_some() {
        for (name, _) in trust.wanted.problems() {
            show::note(&format!("{} {}", show::warn("cannot be trusted:"), show::visible(name)));
        }
        let why = "a program has to be a regular file of the project, or be found outside it; nothing was allowed";
        return Err(Failure::Untrusted(why.to_owned()));
    }
    if !args.yes && !is_allowed()? {
        return Err(Failure::Untrusted(
            "nothing was allowed; `baton trust --yes` allows it".to_owned(),
        ));
    }
    allow(&project, &trust.wanted)?;
    show::answer("trusted, until any of it changes");
    Ok(())
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
