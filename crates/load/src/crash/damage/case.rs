//! One damage: what the program makes of it, and whether that is right.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use baton_engine::verify_all;
use baton_store::{RunRef, Store};
use baton_store_sqlite::SqliteStore;

use super::kinds::FileDamage;
use super::program::Program;
use super::{Ack, FILES, Left, MARK, copy_files};

pub(super) struct Case {
    left: Arc<Left>,
    program: Arc<Program>,
    /// A project whose data is damaged.
    root: tempfile::TempDir,
    /// What the damaged bytes still show by themselves, found without any recovery.
    proven: Vec<Ack>,
}

pub(super) enum CaseOutcome {
    /// Verified, and nothing is missing that was acknowledged in time.
    Harmless,
    Recovered {
        /// At the opening, not only by `verify`.
        is_refused: bool,
        /// Nothing is missing.
        is_whole: bool,
    },
}

impl Case {
    pub(super) fn make(
        left: Arc<Left>,
        damage: &FileDamage,
        program: Arc<Program>,
    ) -> Result<Self> {
        let root = tempfile::tempdir()?;
        let data = data_in(root.path());
        std::fs::create_dir_all(&data)?;
        copy_files(left.dir.path(), &data)?;
        damage.apply(&data)?;
        Ok(Self { left, program, root, proven: Vec::new() })
    }

    pub(super) async fn examine(mut self) -> Result<CaseOutcome> {
        self.proven = self.proven_by_the_bytes().await?;
        let before = self.files()?;
        let status = self.program.run(self.root.path(), &["status"])?;
        let is_refused = status.code != 0;
        if is_refused {
            ensure!(self.files()? == before, "`status` was refused and changed a file");
            ensure!(status.stderr.contains("baton recover"), "no way out: {}", status.stderr);
        }
        let verified = self.program.run(self.root.path(), &["verify"])?;
        if verified.code == 0 {
            ensure!(!is_refused, "`status` is refused, and `verify` finds nothing");
            let missing = self.missing_from(&data_in(self.root.path())).await?;
            ensure!(
                missing == 0,
                "{missing} acknowledged commands are gone, and no command says so"
            );
            return Ok(CaseOutcome::Harmless);
        }
        ensure!(!verified.stderr.trim().is_empty(), "`verify` does not say what is wrong");
        self.recover(is_refused).await
    }

    /// `recover` brings back all that is proven, touches nothing, and does not claim too much.
    async fn recover(&self, is_refused: bool) -> Result<CaseOutcome> {
        let before = self.files()?;
        let recovered = self.program.run(self.root.path(), &["recover", "--json"])?;
        ensure!(self.files()? == before, "`recover` changed a file");
        let is_whole = recovered.code == 0;
        ensure!(is_whole || recovered.code == 1, "`recover` failed: {}", recovered.stderr);
        let printed = &recovered.stdout;
        let report: serde_json::Value =
            serde_json::from_str(printed).with_context(|| format!("no report: {printed}"))?;
        let Some(database) = report["database"].as_str() else {
            ensure!(self.proven.is_empty(), "`recover` found nothing: {printed}");
            return Ok(CaseOutcome::Recovered { is_refused, is_whole });
        };
        let copy = copy_of_database(Path::new(database))?;
        let store = open(copy.path())?;
        let problems = verify_all(store.as_ref()).await?.problems;
        ensure!(problems.is_empty(), "what was recovered is not whole: {problems:?}");
        for ack in &self.proven {
            ensure!(has(store.as_ref(), ack).await?, "not recovered, though it was there: {ack:?}");
        }
        store.close().await;
        if is_whole {
            let missing = self.missing_from(copy.path()).await?;
            ensure!(missing == 0, "`recover` says that nothing is missing, but {missing} are");
        }
        Ok(CaseOutcome::Recovered { is_refused, is_whole })
    }

    /// What a database alone, or with what SQLite takes of its log, has whole.
    async fn proven_by_the_bytes(&self) -> Result<Vec<Ack>> {
        let mut best = Vec::new();
        for names in [&FILES[..1], &FILES[..]] {
            let dir = tempfile::tempdir()?;
            for name in names {
                let from = data_in(self.root.path()).join(name);
                if from.exists() {
                    std::fs::copy(from, dir.path().join(name))?;
                }
            }
            if !dir.path().join(FILES[0]).exists() {
                continue;
            }
            // Without the mark, what is whole in itself is opened.
            let Ok(store) = SqliteStore::open(dir.path()) else { continue };
            let is_sound =
                verify_all(&store).await.is_ok_and(|verified| verified.problems.is_empty());
            let mut found = Vec::new();
            if is_sound {
                for ack in &self.left.acks {
                    if has(&store, ack).await? {
                        found.push(*ack);
                    }
                }
            }
            store.close().await;
            if found.len() > best.len() {
                best = found;
            }
        }
        Ok(best)
    }

    /// How many commands are not there that were acknowledged in time.
    async fn missing_from(&self, data: &Path) -> Result<usize> {
        let copy = tempfile::tempdir()?;
        copy_files(data, copy.path())?;
        let store = open(copy.path())?;
        let mut n_missing = 0;
        for ack in self.left.old_acks() {
            n_missing += usize::from(!has(store.as_ref(), ack).await?);
        }
        store.close().await;
        Ok(n_missing)
    }

    fn files(&self) -> Result<Vec<Option<Vec<u8>>>> {
        let data = data_in(self.root.path());
        let read = |name: &str| match std::fs::read(data.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        };
        FILES.into_iter().chain([MARK]).map(read).collect()
    }
}

fn data_in(root: &Path) -> PathBuf {
    root.join(".baton/data")
}

/// A recovered database in a folder of its own, so that looking at it changes nothing.
fn copy_of_database(path: &Path) -> Result<tempfile::TempDir> {
    let copy = tempfile::tempdir()?;
    std::fs::copy(path, copy.path().join(FILES[0]))?;
    Ok(copy)
}

fn open(dir: &Path) -> Result<Box<dyn Store>> {
    Ok(Box::new(SqliteStore::open(dir)?))
}

async fn has(store: &dyn Store, ack: &Ack) -> Result<bool> {
    let row = store.run(&RunRef::Id(ack.run)).await?;
    Ok(row.is_some_and(|it| it.version.0 >= ack.version))
}
