//! The project that the agents of the demo work on: a git repository in a folder of its own, which is
//! kept for inspection.

use std::path::Path;

use baton_files::{Dir, FileMode};
use baton_runner::{Programs, TrustList};

use super::programs::{DemoFolders, git};
use super::story::DemoStory;
use crate::commands::init::{lay_out, write_new};
use crate::failure::Failure;
use crate::project::{FOLDER, PROJECT_FILE, Project};
use crate::runners::environment;

const FILES: [(&str, &str); 4] = [
    ("README.md", include_str!("../../../demo/project/README.md")),
    ("bin/total", include_str!("../../../demo/project/bin/total")),
    ("tests/run.sh", include_str!("../../../demo/project/tests/run.sh")),
    ("tests/total.test", include_str!("../../../demo/project/tests/total.test")),
];
const SETTINGS: &str = include_str!("../../../demo/baton.toml");

/// How the message of the commit begins that brings the tests of a story.
pub(super) const ASKED: &str = "Ask for it: ";

/// Of the repository alone: the viewer may have no name in git, or sign every commit.
const GIT_SETTINGS: [(&str, &str); 4] = [
    ("user.name", "Baton demo"),
    ("user.email", "demo@localhost"),
    ("commit.gpgsign", "false"),
    ("core.autocrlf", "false"),
];

/// Makes the repository, with its first commit.
pub(super) async fn make() -> Result<DemoFolders, Failure> {
    let folder = tempfile::Builder::new()
        .prefix("baton-demo-")
        .tempdir()
        .map_err(|error| Failure::io("make a folder for the demo", error))?
        .keep();
    let dir = Dir::open(&folder)?;
    let shop = dir.make_dirs("shop", FileMode::Shared)?;
    dir.make_dirs("state", FileMode::Private)?;
    lay_out(&shop)?;
    for (file, text) in FILES {
        write(&shop, file, text)?;
    }
    let project = shop.real_path()?;
    git(&project, &["init", "--quiet", "."]).await?;
    git(&project, &["symbolic-ref", "HEAD", "refs/heads/main"]).await?;
    for (name, value) in GIT_SETTINGS {
        git(&project, &["config", name, value]).await?;
    }
    commit(&project, "Open the shop").await?;
    Ok(DemoFolders { project, state: folder.join("state") })
}

/// Adds the tests of a story, which fail, and the scripts of its agents, and trusts these.
pub(super) async fn prepare(
    folders: &DemoFolders,
    story: &DemoStory,
    title: &str,
    pace_ms: u64,
) -> Result<(), Failure> {
    let dir = Dir::open(&folders.project)?;
    let (test, lines) = story.test;
    write(&dir, &format!("tests/{test}.test"), lines)?;
    let baton = dir.subdir(FOLDER)?;
    baton.make_dirs("demo", FileMode::Shared)?;
    let script = format!("demo/{}.yaml", story.workflow);
    baton.write_atomic(script, story.script(pace_ms).as_bytes(), FileMode::Shared)?;
    let program =
        std::env::current_exe().map_err(|error| Failure::io("find this program", error))?;
    // A JSON string is a TOML string too.
    let program = serde_json::Value::from(program.to_string_lossy().into_owned()).to_string();
    let settings = SETTINGS.replace("{workflow}", story.workflow).replace("{program}", &program);
    let settings = settings + story.checks;
    baton.write_atomic(PROJECT_FILE, settings.as_bytes(), FileMode::Shared)?;
    commit(&folders.project, &format!("{ASKED}{title}")).await?;
    let project = Project::find(Some(&folders.project))?;
    let programs =
        Programs::of(&project.dir, &project.file.runner, &project.file.checks, &environment());
    let trusted = TrustList::new(folders.state.join("baton/trusted"));
    Ok(trusted.allow(&project.dir.real_path()?, &programs)?)
}

async fn commit(project: &Path, message: &str) -> Result<(), Failure> {
    git(project, &["add", "--all", "--", "."]).await?;
    git(project, &["commit", "--quiet", "--no-verify", "-m", message]).await?;
    Ok(())
}

fn write(dir: &Dir, file: &str, text: &str) -> Result<(), Failure> {
    if let Some((parent, _)) = file.rsplit_once('/') {
        dir.make_dirs(parent, FileMode::Shared)?;
    }
    write_new(dir, Path::new(file), text)
}
