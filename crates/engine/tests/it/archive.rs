//! The files that follow the log: what they say, and that they say it whatever happens to a disk.

mod disk;
mod follows;
mod pages;
mod random;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_engine::Engine;
use baton_views::{Archive, ArchivePlaces};
use tempfile::TempDir;

use crate::world::*;

/// A project folder that is archived to.
pub(crate) struct Project {
    pub(crate) dir: TempDir,
    pub(crate) archive: Arc<Archive>,
}

/// Every file by its path. Ids are drawn at random only where the clock is the machine's.
pub(crate) type Files = BTreeMap<String, String>;

impl Project {
    pub(crate) fn of(engine: &Arc<Engine>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let archive = Arc::new(Archive::new(engine.clone(), places(dir.path())));
        Self { dir, archive }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        let path = self.path(path);
        std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{}: {it}", path.display()))
    }

    pub(crate) fn files(&self) -> Files {
        let mut files = Files::new();
        walk(self.dir.path(), "", &mut files);
        files
    }
}

pub(crate) fn places(root: &Path) -> ArchivePlaces {
    ArchivePlaces {
        root: root.to_owned(),
        state: "state".into(),
        sessions: ".project/07-audit/sessions".into(),
    }
}

fn walk(folder: &Path, name: &str, files: &mut Files) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{name}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            walk(&path, &format!("{name}/"), files);
        } else {
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// What a fresh folder would hold that is made from the log alone.
pub(crate) async fn rebuilt(world: &World) -> Files {
    let project = Project::of(&world.engine);
    project.archive.rebuild().await.unwrap();
    project.files()
}

pub(crate) async fn session(world: &World, story: &str) -> String {
    format!(".project/07-audit/sessions/{}", world.run(story).await.run.id)
}
