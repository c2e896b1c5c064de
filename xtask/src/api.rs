//! Checks the API as other people's tools meet it: three validators of its description, two clients that
//! are generated from it, and schemathesis.
#![expect(clippy::disallowed_methods, reason = "xtask runs programs; it starts no agents")]

mod clients;
mod conformance;
mod server;
mod tools;

use std::path::Path;

use anyhow::Result;

use self::server::Server;
use self::tools::{must_succeed, must_succeed_quietly, node, python};
use crate::project_root;

/// Installs the tools below `target` if they are not there.
pub(crate) fn ensure_installed() -> Result<()> {
    tools::ensure_installed()
}

/// What was checked, for the verdict.
pub(crate) fn check() -> Result<String> {
    ensure_installed()?;
    crate::cargo::build_all()?;
    // A test keeps it the same as what the server gives.
    let description = std::path::absolute(project_root().join("docs/openapi.json"))?;
    validate(&description)?;
    let server = Server::start()?;
    clients::check_python(&server, &description)?;
    clients::check_typescript(&server, &description)?;
    conformance::check(&server)
}

fn validate(description: &Path) -> Result<()> {
    must_succeed_quietly(python("openapi-spec-validator").arg(description))?;
    let setting = |file: &str| std::path::absolute(project_root().join("xtask/api").join(file));
    must_succeed(
        node("redocly")
            .args(["lint", "--max-problems=1000"])
            .arg("--config")
            .arg(setting("redocly.yaml")?)
            .arg(description),
    )?;
    must_succeed(
        node("spectral")
            .args(["lint", "--fail-severity=warn", "--ruleset"])
            .arg(setting("spectral.yaml")?)
            .arg(description),
    )
}
