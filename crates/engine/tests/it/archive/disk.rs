//! A disk that fails, and what is in the way.

use baton_core::command::Command;
use baton_views::{ArchiveError, Archived};

use super::*;

/// Puts a folder where a file has to be, so that it cannot be written.
fn obstruct(project: &Project, path: &str) {
    let path = project.path(path);
    let _ = std::fs::remove_file(&path);
    std::fs::create_dir_all(path.join("in-the-way")).unwrap();
}

fn clear(project: &Project, path: &str) {
    std::fs::remove_dir_all(project.path(path)).unwrap();
}

#[tokio::test]
async fn a_pass_that_fails_anywhere_stops_no_run_and_the_next_one_repairs_it() {
    for broken in [
        "state/current.json",
        "state/runs/RUN.json",
        "SESSION/session.md",
        "SESSION/decisions.md",
        "SESSION/handoffs/HO-002.yaml",
        "SESSION/.session.md.new",
    ] {
        for backend in Backend::all() {
            let world = backend.world().await;
            let project = Project::of(&world.engine);
            world.starts("S-1").await.unwrap();
            let run = world.run("S-1").await.run.id.to_string();
            let session = session(&world, "S-1").await;
            let broken = broken.replace("SESSION", &session).replace("RUN", &run);
            project.archive.catch_up().await.unwrap();
            obstruct(&project, &broken);
            world.hands("S-1", "analyst", "implementer", r#"{"plan":"p"}"#).await.unwrap();
            let behind = project.archive.behind().await.unwrap();
            assert!(behind > 0);
            if broken.ends_with(".new") {
                // What an earlier write left is taken away.
                project.archive.catch_up().await.unwrap();
            } else {
                let error = project.archive.catch_up().await.unwrap_err();
                assert!(matches!(error, ArchiveError::Disk(_)), "{error}");
                assert!(error.to_string().contains("cannot write"), "{error}");
                assert_eq!(project.archive.behind().await.unwrap(), behind);
                world.on("S-1", accept(2)).await.unwrap();
                clear(&project, &broken);
                project.archive.catch_up().await.unwrap();
            }
            assert_eq!(project.archive.behind().await.unwrap(), 0);
            assert_eq!(project.files(), rebuilt(&world).await, "{broken}");
        }
    }
}

#[tokio::test]
async fn a_pass_without_news_writes_nothing() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    project.archive.catch_up().await.unwrap();
    assert!(project.files().is_empty());
    world.starts("S-1").await.unwrap();
    project.archive.catch_up().await.unwrap();
    std::fs::remove_dir_all(project.path("state")).unwrap();
    project.archive.catch_up().await.unwrap();
    assert!(!project.path("state").exists());
}

#[tokio::test]
async fn a_rebuild_makes_everything_again_and_leaves_alone_what_is_not_its_own() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let project = Project::of(&world.engine);
        for story in ["S-1", "S-2"] {
            world.starts(story).await.unwrap();
        }
        world.on("S-1", Command::CancelRun { reason: None }).await.unwrap();
        project.archive.catch_up().await.unwrap();
        let expected = project.files();
        let ended = world.run("S-1").await.run.id;
        let session = session(&world, "S-1").await;
        std::fs::write(project.path(&format!("{session}/session.md")), "scribbled over").unwrap();
        std::fs::write(project.path(&format!("state/runs/{ended}.json")), "long over").unwrap();
        std::fs::remove_dir_all(project.path(&format!("{session}/handoffs"))).unwrap();
        for stale in ["handoffs/HO-099.yaml", "handoffs/.HO-001.yaml.new", ".session.md.new"] {
            let stale = project.path(&format!("{session}/{stale}"));
            std::fs::create_dir_all(stale.parent().unwrap()).unwrap();
            std::fs::write(stale, "left behind").unwrap();
        }
        let sessions = ".project/07-audit/sessions";
        let foreign = [
            format!("{sessions}/00000000-0000-7000-8000-00000000ffff/handoffs/HO-001.yaml"),
            format!("{sessions}/README.md"),
            "state/notes.txt".to_owned(),
            "state/runs/notes.txt".to_owned(),
            format!("{session}/notes.md"),
            format!("{session}/pictures/1.svg"),
            format!("{session}/handoffs/HO-1.yaml"),
            format!("{session}/handoffs/review/HO-001.yaml"),
        ];
        for path in &foreign {
            let path = project.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "theirs").unwrap();
        }
        let archived = project.archive.rebuild().await.unwrap();
        assert_eq!(archived, Archived { n_runs: 2, n_unknown: 1, ..Archived::default() });
        let mut files = project.files();
        for path in &foreign {
            assert_eq!(files.remove(path).as_deref(), Some("theirs"), "{path}");
        }
        assert_eq!(files, expected);
        assert_eq!(project.archive.behind().await.unwrap(), 0);
        world.on("S-2", accept(1)).await.unwrap();
        project.archive.catch_up().await.unwrap();
        assert_ne!(project.files(), expected);
    }
}

#[tokio::test]
async fn a_rebuild_takes_away_the_state_of_runs_that_are_no_more() {
    for backend in Backend::all() {
        // As after a restore: the files tell of a log that was longer.
        let (longer, shorter) = (backend.world().await, backend.world().await);
        let project = Project::of(&longer.engine);
        for story in ["S-1", "S-2"] {
            longer.starts(story).await.unwrap();
        }
        project.archive.catch_up().await.unwrap();
        let gone = format!("state/runs/{}.json", longer.run("S-2").await.run.id);
        let left = session(&longer, "S-2").await;
        std::fs::write(project.path("state/runs/mine.json"), "mine").unwrap();
        let archive = Archive::new(shorter.engine.clone(), places(project.dir.path()));
        // Ids are drawn in the same order: the first run is in both.
        shorter.starts("S-1").await.unwrap();
        let archived = archive.rebuild().await.unwrap();
        assert_eq!(archived, Archived { n_runs: 1, n_unknown: 1, ..Archived::default() });
        assert!(!project.path(&gone).exists(), "an open run that does not exist");
        let mut files = project.files();
        assert_eq!(files.remove("state/runs/mine.json").as_deref(), Some("mine"));
        files.retain(|path, _| !path.starts_with(&left));
        assert_eq!(files, rebuilt(&shorter).await);
        assert!(project.path(&left).join("session.md").exists());
    }
}

#[tokio::test]
async fn a_rebuild_of_no_runs_leaves_no_state() {
    let (longer, empty) = (Backend::Memory.world().await, Backend::Memory.world().await);
    let project = Project::of(&longer.engine);
    longer.starts("S-1").await.unwrap();
    project.archive.catch_up().await.unwrap();
    assert!(project.path("state/current.json").exists());
    let archive = Archive::new(empty.engine.clone(), places(project.dir.path()));
    let archived = archive.rebuild().await.unwrap();
    assert_eq!(archived, Archived { n_unknown: 1, ..Archived::default() });
    let files = project.files();
    // Workflows stay: the sessions of runs that this store does not know are read with them.
    let is_state = |it: &String| it.starts_with("state/") && !it.starts_with("state/workflows/");
    assert!(!files.keys().any(is_state), "{files:?}");
}

#[tokio::test]
async fn nothing_of_others_is_lost_wherever_a_rebuild_is_killed() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    world.starts("S-1").await.unwrap();
    project.archive.catch_up().await.unwrap();
    let session = session(&world, "S-1").await;
    let (folder, name) = session.rsplit_once('/').unwrap();
    let old = project.path(&format!("{folder}/.{name}.old"));
    let mine = project.path(&format!("{session}/notes.md"));
    for round in ["pass", "rebuild"] {
        std::fs::write(&mine, round).unwrap();
        // Killed once the old folder was put aside.
        std::fs::rename(project.path(&session), &old).unwrap();
        world.starts(round).await.unwrap();
        match round {
            "pass" => {
                world.on("S-1", accept(1)).await.unwrap();
                project.archive.catch_up().await.unwrap();
            }
            _ => {
                // And another has written a file of that name meanwhile.
                std::fs::create_dir_all(mine.parent().unwrap()).unwrap();
                std::fs::write(&mine, "newer").unwrap();
                project.archive.rebuild().await.unwrap();
            }
        }
        assert!(!old.exists());
    }
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "newer");
    assert_eq!(project.read(&format!("{session}/notes.md.kept-1")), "rebuild");
    assert!(project.read(&format!("{session}/session.md")).starts_with("# Session"));
}

#[tokio::test]
async fn a_rebuild_that_was_killed_is_finished_by_the_next_pass() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    for story in ["S-1", "S-2", "S-3"] {
        world.starts(story).await.unwrap();
    }
    project.archive.catch_up().await.unwrap();
    let expected = project.files();
    obstruct(&project, "state/current.json");
    project.archive.rebuild().await.unwrap_err();
    // As if it had been killed between the two renames, and before that.
    let (one, two) = (session(&world, "S-1").await, session(&world, "S-2").await);
    let hidden = |session: &str, ending: &str| {
        let (folder, name) = session.rsplit_once('/').unwrap();
        project.path(&format!("{folder}/.{name}.{ending}"))
    };
    std::fs::rename(project.path(&one), hidden(&one, "old")).unwrap();
    std::fs::create_dir_all(hidden(&two, "new").join("handoffs")).unwrap();
    clear(&project, "state/current.json");
    project.archive.catch_up().await.unwrap();
    assert_eq!(project.files(), expected);
    assert!(!hidden(&two, "new").exists());
}

#[tokio::test]
async fn a_link_that_leads_out_of_the_project_is_refused() {
    let world = Backend::Memory.world().await;
    let project = Project::of(&world.engine);
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), project.path(".project")).unwrap();
    world.starts("S-1").await.unwrap();
    let error = project.archive.catch_up().await.unwrap_err();
    assert!(error.to_string().contains("is a symbolic link"), "{error}");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
