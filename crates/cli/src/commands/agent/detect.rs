//! `baton agent detect`: which coding agents' programs could be used here.

use baton_runner::{DetectedProgram, ProgramLogin};
use serde_json::{Value, json};

use crate::args::Cli;
use crate::failure::Failure;
use crate::runners::environment;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(cli: &Cli) -> Result<(), Failure> {
    let found = baton_runner::detect(&environment()).await;
    let acp = baton_runner::detect_acp(&environment());
    match cli.format() {
        OutputFormat::Json => {
            let items: Vec<Value> = found.iter().map(document).collect();
            show::answer_as(&json!({ "items": items, "acp": acp, "next": null }));
        }
        OutputFormat::Table => {
            let rows = found.iter().map(|it| {
                vec![
                    it.program.name().to_owned(),
                    it.version.as_deref().map_or_else(|| "not installed".to_owned(), show::visible),
                    login(it),
                ]
            });
            show::answer(&show::table(&["PROGRAM", "VERSION", "LOGIN"], rows.collect()));
            let names = if acp.is_empty() { "none installed".to_owned() } else { acp.join(", ") };
            show::answer(&format!(
                "\nAs agents of the Agent Client Protocol (kind = \"acp\", they can ask you): {names}"
            ));
            if let Some(settings) = settings(&found) {
                show::answer(&format!("\nIn .baton/baton.toml:\n\n{settings}"));
            }
        }
    }
    Ok(())
}

fn document(found: &DetectedProgram) -> Value {
    let (login, variable) = match found.login {
        ProgramLogin::Variable(name) => ("variable", Some(name)),
        ProgramLogin::Stored => ("stored", None),
        ProgramLogin::Missing => ("missing", None),
    };
    json!({"program": found.program.name(), "version": found.version, "login": login,
        "variable": variable, "address": found.address})
}

fn login(found: &DetectedProgram) -> String {
    match found.login {
        ProgramLogin::Variable(name) => format!("by {name}"),
        ProgramLogin::Stored => "yes".to_owned(),
        ProgramLogin::Missing => "none found".to_owned(),
    }
}

/// What would use every program that is installed; `None` where none is.
pub(in crate::commands) fn settings(found: &[DetectedProgram]) -> Option<String> {
    let installed: Vec<_> = found.iter().filter(|it| it.version.is_some()).collect();
    if installed.is_empty() {
        return None;
    }
    let mut text = String::new();
    for it in &installed {
        let name = it.program.name();
        text += &format!("[executors.{name}]\nkind = \"{name}\"\n");
        let key = match it.login {
            ProgramLogin::Variable(variable) => Some(variable),
            ProgramLogin::Stored | ProgramLogin::Missing => None,
        };
        let variables: Vec<&str> = key.into_iter().chain(it.address).collect();
        if !variables.is_empty() {
            text += &format!("env = {variables:?}\n");
        }
        text.push('\n');
    }
    let names: Vec<String> =
        installed.iter().map(|it| format!("\"{}\"", it.program.name())).collect();
    text += &format!("[agents.\"*\"]\nexecutors = [{}]", names.join(", "));
    Some(text)
}
