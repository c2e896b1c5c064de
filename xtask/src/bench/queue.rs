//! graphile-worker from npm, below `target`, for a comparison.
#![expect(clippy::disallowed_methods, reason = "xtask starts npm")]

use std::process::Command;

use crate::project_root;

const PACKAGE: &str = "graphile-worker@0.18.0";

/// The folder that it is installed in; `None`, and a word about it, where it cannot be had.
pub(super) fn installed() -> Option<String> {
    let folder = project_root().join("target/queue");
    let is_there = folder.join("node_modules/graphile-worker").exists();
    if !is_there && !install(&folder) {
        eprintln!("not measured: {PACKAGE}, which npm could not install");
        return None;
    }
    Some(folder.canonicalize().ok()?.display().to_string())
}

fn install(folder: &std::path::Path) -> bool {
    let made = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(folder.join("package.json"), "{\"private\": true}\n"));
    let options = ["install", "--no-audit", "--no-fund", "--loglevel=error", PACKAGE];
    let status = Command::new("npm").args(options).current_dir(folder).status();
    made.is_ok() && status.is_ok_and(|it| it.success())
}
