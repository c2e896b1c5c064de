//! How runs begin, which workflow they keep, and what a refusal and a dry run tell.

use baton_core::command::Command;
use baton_core::names::{AgentId, WorkflowName};
use baton_core::outcome::Outcome as Ended;
use baton_engine::{CommandResult, EngineError, ErrorClass, RunTarget, StartRun};
use baton_store::RunRef;
use baton_store_tests::dump;

use crate::flows::SIDE_ROADS_FILE;
use crate::world::*;

/// A pipeline of one step, as a project may have it on the first day, and on the second.
const SHORT: &str = "\
name: short
start: { to: write }
steps:
  write:
    agent: writer
    on:
      success: complete
";
const SHORT_WITH_A_CHECK: &str = "\
name: short
start: { to: write }
steps:
  write:
    agent: writer
    on:
      success: check
  check:
    agent: checker
    on:
      success: complete
";

#[track_caller]
fn check_code(result: Result<CommandResult, EngineError>, expected: &str) {
    match result {
        Ok(outcome) => panic!("it was done: {outcome:?}"),
        Err(error) => assert_eq!(error.code(), expected, "{error}"),
    }
}

#[tokio::test]
async fn a_start_takes_the_default_workflow_and_hands_the_story_to_its_first_agent() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.starts("s-1").await.unwrap();
        assert_eq!(world.run("s-1").await.run.workflow.as_str(), "story-pipeline");
        let expected = "open; offered; HO-001 orchestrator→analyst pending";
        assert_eq!(world.shows("s-1").await, expected);
        let row = world.row(world.run("s-1").await.run.id, 1).await;
        let texts = world.reads().texts_of(std::slice::from_ref(&row)).await.unwrap();
        let package = texts.get(row.package.unwrap()).whole().unwrap();
        assert!(package.contains(r#""story_id":"s-1""#), "{package}");
    }
}

#[tokio::test]
async fn a_story_whose_run_was_cancelled_goes_on_in_the_same_workflow_unless_another_is_named() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let ada = caller("ada");
        let named = |name: &str| StartRun {
            workflow: Some(WorkflowName::parse(name).unwrap()),
            ..start("s-1")
        };
        let cancel = || Command::CancelRun { reason: None };
        let workflow = || async {
            let row = world.reads().run(&RunRef::LatestOf(key("s-1"))).await.unwrap();
            row.run.workflow.to_string()
        };
        let writer = StartRun { to: Some(agent("writer")), ..named("side-roads") };
        world.engine.start(&ada, writer).await.unwrap();
        world.on("s-1", cancel()).await.unwrap();
        let again = StartRun { to: Some(agent("writer")), ..start("s-1") };
        world.engine.start(&ada, again).await.unwrap();
        assert_eq!(workflow().await, "side-roads");
        world.on("s-1", cancel()).await.unwrap();
        world.engine.start(&ada, named("story-pipeline")).await.unwrap();
        assert_eq!(workflow().await, "story-pipeline");
    }
}

#[tokio::test]
async fn a_start_may_name_another_workflow_and_another_agent() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let named = |name: &str, to: Option<AgentId>| StartRun {
            workflow: Some(WorkflowName::parse(name).unwrap()),
            to,
            ..start("s-1")
        };
        let ada = caller("ada");
        check_code(world.engine.start(&ada, named("nowhere", None)).await, "no_such_workflow");
        let stranger = named("side-roads", Some(agent("stranger")));
        check_code(world.engine.start(&ada, stranger).await, "not_an_edge");
        world.engine.start(&ada, named("side-roads", Some(agent("writer")))).await.unwrap();
        assert_eq!(world.shows("s-1").await, "open; offered; HO-001 orchestrator→writer pending");
    }
}

#[tokio::test]
async fn a_create_for_an_unknown_story_makes_the_story() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.hands("new", "analyst", "implementer", r#"{"plan": "p"}"#).await.unwrap();
        assert_eq!(world.reads().story(&key("new")).await.unwrap().story.title, "new");
        assert_eq!(world.shows("new").await, "open; offered; HO-001 analyst→implementer pending");
        check_code(world.hands("other", "analyst", "implementer", "{}").await, "contract");
        let error = world.reads().story(&key("other")).await.unwrap_err();
        assert_eq!(error.code(), "no_such_story", "a refusal makes no story");
    }
}

#[tokio::test]
async fn a_create_finds_the_one_workflow_that_has_its_edge() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.hands("s-1", "fixer", "checker", "{}").await.unwrap();
        assert_eq!(world.run("s-1").await.run.workflow.as_str(), "side-roads");
        check_code(world.hands("s-2", "stranger", "checker", "{}").await, "not_an_edge");
    }
}

#[tokio::test]
async fn where_two_workflows_would_do_the_caller_has_to_say_which() {
    let twin = SIDE_ROADS_FILE.replace("name: side-roads", "name: other-roads");
    for backend in Backend::all() {
        let two = catalog_of(&[SIDE_ROADS_FILE, &twin], None);
        let world = backend.world_with(two).await;
        check_code(world.starts("s-1").await, "workflow_unclear");
        check_code(world.hands("s-1", "fixer", "checker", "{}").await, "workflow_unclear");
        let within = RunTarget::Story {
            key: key("s-1"),
            workflow: Some(WorkflowName::parse("other-roads").unwrap()),
            mode: None,
        };
        let first = create("fixer", "checker", "{}");
        world.engine.create(&caller("fixer"), within, first).await.unwrap();
        assert_eq!(world.run("s-1").await.run.workflow.as_str(), "other-roads");
    }
}

#[tokio::test]
async fn a_finished_story_goes_again_by_a_start_or_by_the_first_edge_only() {
    for backend in Backend::all() {
        let mut world = backend.world().await;
        world.hands("s-1", "documenter", "orchestrator", "{}").await.unwrap();
        assert_eq!(world.shows("s-1").await, "completed; done; ");
        for _ in 0..2 {
            let plan = r#"{"plan": "p"}"#;
            let adopted = world.hands("s-1", "analyst", "implementer", plan).await;
            check_code(adopted, "run_finished");
            // What the engine remembers makes no difference.
            world = world.reopened(catalog()).await;
        }
        world.hands("s-1", "orchestrator", "analyst", r#"{"story_id": "s-1"}"#).await.unwrap();
        assert_eq!(world.run("s-1").await.number, 2);
        world.on("s-1", baton_core::command::Command::CancelRun { reason: None }).await.unwrap();
        world.starts("s-1").await.unwrap();
        assert_eq!(world.run("s-1").await.number, 3);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_start_on_an_open_run_is_refused_and_on_a_loose_baton_hands_in_again() {
    for backend in Backend::all() {
        let world = backend.world().await;
        world.starts("s-1").await.unwrap();
        check_code(world.starts("s-1").await, "already_open");
        world.on("s-1", accept(1)).await.unwrap();
        check_code(world.starts("s-1").await, "already_open");
        world.hands("s-1", "analyst", "implementer", r#"{"plan": "p"}"#).await.unwrap();
        world.on("s-1", accept(2)).await.unwrap();
        world.on("s-1", time_out(2)).await.unwrap();
        let given = world.row(world.run("s-1").await.run.id, 2).await.package;
        world.starts("s-1").await.unwrap();
        let expected = "open; offered; HO-003 orchestrator→implementer pending";
        assert_eq!(world.shows("s-1").await, expected);
        let run = world.run("s-1").await;
        assert_eq!(run.number, 1, "the same run goes on");
        assert_eq!(world.row(run.run.id, 3).await.package, given, "with what it had");
    }
}

#[tokio::test]
async fn a_run_keeps_the_workflow_that_it_began_with() {
    for backend in Backend::all() {
        let world = backend.world_with(catalog_of(&[SHORT], Some("short"))).await;
        world.starts("old").await.unwrap();
        let changed = catalog_of(&[SHORT_WITH_A_CHECK], Some("short"));
        let world = world.reopened(changed).await;
        world.starts("new").await.unwrap();
        for story in ["old", "new"] {
            world.on(story, accept(1)).await.unwrap();
            world.on(story, complete(1, Ended::Success, "{}")).await.unwrap();
        }
        assert_eq!(world.shows("old").await, "completed; done; ");
        assert_eq!(world.shows("new").await, "open; offered; HO-002 writer→checker pending");
        let world = world.reopened(catalog_of(&[], None)).await;
        world.on("new", accept(2)).await.unwrap();
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_dry_run_tells_what_would_happen_and_changes_nothing() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let first = || create("analyst", "implementer", r#"{"plan": "p"}"#);
        let before = dump(world.store.as_ref()).await;
        let told = world.engine.create(&dry("ada"), of_story("s-1"), first()).await.unwrap();
        assert_eq!(dump(world.store.as_ref()).await, before);
        let done = world.engine.create(&caller("ada"), of_story("s-1"), first()).await.unwrap();
        let states =
            |it: &CommandResult| -> Vec<_> { it.rows.iter().map(|it| (it.no, it.state)).collect() };
        assert_eq!(states(&told), states(&done));
        // A dry run has ids of its own, and no numbers.
        assert_eq!(CommandResult { run: done.run, rows: done.rows.clone(), ..told }, done);

        let before = dump(world.store.as_ref()).await;
        let run = done.run;
        let told = world.engine.on_run(&dry("ada"), run, accept(1)).await.unwrap();
        let would_not = world.engine.on_run(&dry("ada"), run, answer_abort()).await.unwrap_err();
        assert_eq!(dump(world.store.as_ref()).await, before);
        assert_eq!(told, world.engine.on_run(&caller("ada"), run, accept(1)).await.unwrap());
        let did_not = world.engine.on_run(&caller("ada"), run, answer_abort()).await.unwrap_err();
        assert_eq!(would_not.to_string(), did_not.to_string());
    }
}

#[tokio::test]
async fn a_refusal_shows_the_handoff_as_it_stands() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let run = world.starts("s-1").await.unwrap().run;
        world.on("s-1", accept(1)).await.unwrap();
        let expected = world.row(run, 1).await;
        let error = world.on("s-1", accept(1)).await.unwrap_err();
        assert_eq!((error.code(), error.class()), ("already_accepted", ErrorClass::Conflict));
        let EngineError::Refused { handoff, .. } = error else { panic!("{error}") };
        assert_eq!(handoff.as_deref(), Some(&expected));
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_to_be_not_there() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let nowhere = baton_core::run::RunId(uuid::Uuid::from_u128(77));
        let on_run = world.engine.on_run(&caller("ada"), nowhere, accept(1)).await;
        check_code(on_run, "no_such_run");
        let which = baton_store::HandoffRef::Number(77);
        let on_handoff = world.engine.on_handoff(&caller("ada"), &which, |_| accept(1)).await;
        check_code(on_handoff, "no_such_handoff");
        world.starts("s-1").await.unwrap();
        check_code(world.on("s-1", accept(2)).await, "no_such_handoff");
        check_code(world.on("s-1", accept(0)).await, "no_such_handoff");
    }
}

#[tokio::test]
async fn after_the_shutdown_every_way_in_says_that_baton_is_closing() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let run = world.starts("s-1").await.unwrap().run;
        world.engine.shutdown().await;
        check_code(world.starts("s-2").await, "closing");
        check_code(world.hands("s-1", "analyst", "implementer", "{}").await, "closing");
        check_code(world.hands("s-2", "analyst", "implementer", "{}").await, "closing");
        check_code(world.engine.on_run(&caller("ada"), run, accept(1)).await, "closing");
        let by_id = baton_store::HandoffRef::InRun(run, baton_core::run::HandoffNo(1));
        let on_handoff = world.engine.on_handoff(&caller("ada"), &by_id, |_| accept(1)).await;
        check_code(on_handoff, "closing");
        assert_eq!(world.engine.sweep().await.unwrap_err().code(), "closing");
        assert_eq!(world.engine.tick().await.unwrap_err().code(), "closing");
    }
}

fn answer_abort() -> baton_core::command::Command {
    answer(1, baton_core::gate::Answer::Abort)
}
