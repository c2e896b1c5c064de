//! A client in Python and one in TypeScript, both generated from the description, each of which takes
//! a story from its start to its end.

use std::path::Path;

use anyhow::Result;

use super::server::Server;
use super::tools::{must_succeed, must_succeed_quietly, node, node_dir, python, python_dir};
use crate::project_root;

/// Runs the story in Python.
pub(super) fn check_python(server: &Server, description: &Path) -> Result<()> {
    let scripts = project_root().join("xtask/api");
    let client = python_dir().join("client");
    must_succeed_quietly(
        python("openapi-python-client")
            .args(["generate", "--overwrite", "--fail-on-warning", "--meta", "none"])
            .arg("--path")
            .arg(description)
            .arg("--output-path")
            .arg(client.join("baton_client"))
            .arg("--config")
            .arg(scripts.join("python-client.yaml")),
    )?;
    let story = scripts.join("story.py");
    must_succeed(python("python").env("PYTHONPATH", client).arg(story).arg(&server.url))
}

/// Checks the types of the story in TypeScript, and runs it.
pub(super) fn check_typescript(server: &Server, description: &Path) -> Result<()> {
    let (scripts, dir) = (project_root().join("xtask/api"), node_dir());
    for name in ["story.ts", "tsconfig.json"] {
        std::fs::copy(scripts.join(name), dir.join(name))?;
    }
    let schema = dir.join("schema.d.ts");
    must_succeed_quietly(node("openapi-typescript").arg(description).arg("--output").arg(schema))?;
    must_succeed(node("tsc").args(["--project", "tsconfig.json"]))?;
    let mut story = std::process::Command::new("node");
    must_succeed(story.arg("out/story.js").arg(&server.url).current_dir(dir))
}
