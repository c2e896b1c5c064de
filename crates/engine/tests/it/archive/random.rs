//! Whatever is done, and whenever the archive catches up, its files are those of a rebuild.

use proptest::test_runner::{Config, RngSeed};
use proptest_state_machine::{StateMachineTest, prop_state_machine};
use tokio::runtime::Runtime;

use super::*;
use crate::act::Act;
use crate::model::Model;

struct Archives;

struct Kept {
    runtime: Runtime,
    world: World,
    project: Project,
    n_acts: usize,
}

impl StateMachineTest for Archives {
    type SystemUnderTest = Kept;
    type Reference = Model;

    fn init_test(_: &Model) -> Kept {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let world = runtime.block_on(Backend::Memory.world());
        let project = Project::of(&world.engine);
        Kept { runtime, world, project, n_acts: 0 }
    }

    fn apply(mut kept: Kept, _: &Model, act: Act) -> Kept {
        kept.n_acts += 1;
        let Kept { runtime, world, project, n_acts } = &kept;
        runtime.block_on(async {
            world.performs(&act).await;
            match n_acts % 7 {
                2 | 5 => fails_halfway(world, project, *n_acts).await,
                3 => {
                    project.archive.catch_up().await.unwrap();
                }
                _ => {}
            }
        });
        kept
    }

    fn teardown(kept: Kept, _: Model) {
        let Kept { runtime, world, project, .. } = kept;
        runtime.block_on(async {
            project.archive.catch_up().await.unwrap();
            assert_eq!(project.files(), rebuilt(&world).await);
            world.is_sound().await;
        });
    }
}

/// A pass that may stop at one of the files of a run, as if it had been killed there.
async fn fails_halfway(world: &World, project: &Project, n: usize) {
    let filter = baton_store::RunFilter::default();
    let runs = world.store.runs(&filter).await.unwrap();
    let Some(row) = runs.get(n % runs.len().max(1)) else { return };
    let session = format!(".project/07-audit/sessions/{}", row.run.id);
    let names = ["session.md", "decisions.md", "handoffs/HO-001.yaml", "handoffs"];
    let name = names[n % names.len()];
    let path = project.path(&format!("{session}/{name}"));
    let aside = project.path("aside");
    let was_there = path.exists();
    if was_there {
        std::fs::rename(&path, &aside).unwrap();
    }
    // A file where a folder has to be, and a folder where a file.
    if name == "handoffs" {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "in the way").unwrap();
    } else {
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("in-the-way"), "").unwrap();
    }
    let _ = project.archive.catch_up().await;
    if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) }
        .unwrap();
    if was_there {
        std::fs::rename(&aside, &path).unwrap();
    }
}

fn cases() -> Config {
    let asked = Config::default();
    let is_usual = asked.cases == 256;
    Config {
        cases: if is_usual { 16 } else { asked.cases },
        rng_seed: if is_usual { RngSeed::Fixed(4711) } else { asked.rng_seed },
        failure_persistence: None,
        ..asked
    }
}

prop_state_machine! {
    #![proptest_config(cases())]
    #[test]
    fn whenever_the_archive_catches_up_its_files_are_those_of_a_rebuild(sequential 1..50 => Archives);
}
