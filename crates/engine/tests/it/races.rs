//! Many at once: one wins, the others are told, and nothing is lost, doubled or mixed up.

use std::collections::BTreeSet;
use std::sync::Arc;

use baton_core::outcome::Outcome as Ended;
use baton_core::package::{Format, Package};
use baton_core::run::HandoffNo;
use baton_engine::{CommandResult, Engine, EngineError, ReceiveResult};
use baton_store::{HandoffFilter, HandoffRef, RunFilter, RunRef};
use baton_wire::formats;
use jiff::SignedDuration;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::receive::hints;
use crate::world::*;

type Answer = Result<CommandResult, EngineError>;

/// Does `what` as often as `n` at the same time, and returns every answer by its number.
async fn at_once<W, F>(n: usize, engine: &Arc<Engine>, what: W) -> Vec<Answer>
where
    W: Fn(usize, Arc<Engine>) -> F,
    F: Future<Output = Answer> + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(n));
    let mut tasks = JoinSet::new();
    for index in 0..n {
        let barrier = barrier.clone();
        let does = what(index, engine.clone());
        tasks.spawn(async move {
            barrier.wait().await;
            (index, does.await)
        });
    }
    let mut answers = tasks.join_all().await;
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, it)| it).collect()
}

fn code(answer: &Answer) -> &'static str {
    match answer {
        Ok(outcome) if outcome.is_repeat => "repeated",
        Ok(_) => "done",
        Err(error) => error.code(),
    }
}

/// How often each code was answered, by code.
fn counts(answers: &[Answer]) -> Vec<(&'static str, usize)> {
    let codes: BTreeSet<&str> = answers.iter().map(code).collect();
    codes.into_iter().map(|it| (it, answers.iter().filter(|a| code(a) == it).count())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_who_accept_one_handoff_exactly_one_has_it() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let run = world.starts("s-1").await.unwrap().run;
        let answers = at_once(50, &world.engine, |n, engine| async move {
            let which = HandoffRef::InRun(run, HandoffNo(1));
            engine.on_handoff(&caller(&format!("caller-{n}")), &which, |_| accept(1)).await
        })
        .await;
        assert_eq!(counts(&answers), [("already_accepted", 49), ("done", 1)]);
        assert_eq!(world.shows("s-1").await, "open; held; HO-001 orchestrator→analyst accepted");
        world.is_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_begin_one_story_begin_one_run() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let adopted = at_once(10, &world.engine, |_, engine| async move {
            let first = create("analyst", "implementer", r#"{"plan": "p"}"#);
            engine.create(&caller("analyst"), of_story("s-1"), first).await
        })
        .await;
        assert_eq!(counts(&adopted), [("done", 1), ("duplicate", 9)]);
        let started = at_once(10, &world.engine, |_, engine| async move {
            engine.start(&caller("ada"), start("s-2")).await
        })
        .await;
        assert_eq!(counts(&started), [("already_open", 9), ("done", 1)]);
        assert_eq!(world.store.runs(&RunFilter::default()).await.unwrap().len(), 2);
        world.is_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_documents_that_bring_one_story_begin_one_run() {
    for backend in Backend::all() {
        let world = backend.world().await;
        for story in 1..=20 {
            let answers = at_once(12, &world.engine, |_, engine| async move {
                let text = format!(
                    r#"{{"handoff":{{"from":"analyst","to":"implementer","issue_url":"https://github.com/o/r/issues/{story}","plan":"p"}}}}"#
                );
                let document = formats::decode(Format::Json, &text).unwrap();
                let package = Package::new(Format::Json, text, document);
                let received = engine.receive(&caller("analyst"), package, &hints()).await;
                received.map(|it| match it {
                    ReceiveResult::Moved(it) | ReceiveResult::TakenUp(it) | ReceiveResult::Noted(it) => it,
                })
            })
            .await;
            assert_eq!(counts(&answers), [("done", 1), ("duplicate", 11)], "story {story}");
        }
        world.is_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_who_send_the_same_get_the_same_answer_for_one_effect() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let created = at_once(20, &world.engine, |_, engine| async move {
            let first = create("analyst", "implementer", r#"{"plan": "p"}"#);
            engine.create(&keyed("create", 1), of_story("s-1"), first).await
        })
        .await;
        check_one_effect(created);
        let started = at_once(20, &world.engine, |_, engine| async move {
            engine.start(&keyed("start", 2), start("s-2")).await
        })
        .await;
        check_one_effect(started);
        let run = world.run("s-1").await.run.id;
        let accepted = at_once(20, &world.engine, |_, engine| async move {
            engine.on_run(&keyed("accept", 3), run, accept(1)).await
        })
        .await;
        check_one_effect(accepted);
        let reused = at_once(20, &world.engine, |_, engine| async move {
            engine.on_run(&keyed("accept", 4), run, accept(1)).await
        })
        .await;
        assert_eq!(counts(&reused), [("key_reused", 20)]);
        let handoffs = world.store.handoffs(&HandoffFilter::default()).await.unwrap();
        assert_eq!(handoffs.len(), 2);
        world.is_sound().await;
    }
}

#[track_caller]
fn check_one_effect(answers: Vec<Answer>) {
    assert_eq!(counts(&answers), [("done", 1), ("repeated", 19)]);
    let same = |it: Answer| CommandResult { is_repeat: false, ..it.unwrap() };
    let answers: Vec<CommandResult> = answers.into_iter().map(same).collect();
    assert!(answers.iter().all(|it| *it == answers[0]), "{answers:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_stories_side_by_side_are_not_mixed_up() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let answers = at_once(200, &world.engine, |n, engine| async move {
            let story = format!("s-{n:03}");
            let mut answer = engine.start(&caller("ada"), start(&story)).await?;
            for no in 1..=5 {
                let run = answer.run;
                engine.on_run(&caller("ada"), run, accept(no)).await?;
                let work = format!(r#"{{"story_id": "{story}", "plan": "p"}}"#);
                let done = complete(no, Ended::Success, &work);
                answer = engine.on_run(&caller("ada"), run, done).await?;
            }
            Ok(answer)
        })
        .await;
        assert_eq!(counts(&answers), [("done", 200)]);
        for n in 0..200 {
            let story = format!("s-{n:03}");
            assert_eq!(world.shows(&story).await, "completed; done; ");
            let filter = HandoffFilter { story: Some(key(&story)), ..HandoffFilter::default() };
            let rows = world.store.handoffs(&filter).await.unwrap();
            assert_eq!(rows.len(), 6);
            let texts = world.reads().texts_of(&rows).await.unwrap();
            for row in &rows {
                let package = texts.get(row.package.unwrap()).whole().unwrap();
                let document = baton_wire::json::parse(package).unwrap();
                let named = document.member("story_id").and_then(|it| it.as_text());
                assert_eq!(named, Some(story.as_str()));
            }
        }
        world.is_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sweep_never_gets_in_the_way_of_an_accept() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let mut runs = Vec::new();
        for n in 0..100 {
            runs.push(world.starts(&format!("s-{n}")).await.unwrap().run);
        }
        world.clock.advance(SignedDuration::from_mins(30));
        let answers = at_once(104, &world.engine, |n, engine| {
            let run = runs.get(n).copied();
            async move {
                let Some(run) = run else {
                    engine.sweep().await?;
                    return engine.start(&caller("ada"), start(&format!("extra-{n}"))).await;
                };
                engine.on_run(&caller("ada"), run, accept(1)).await
            }
        })
        .await;
        assert_eq!(counts(&answers), [("done", 104)]);
        // Whichever came first: who has just accepted is not late.
        let late = HandoffFilter { is_stale: Some(true), ..HandoffFilter::default() };
        assert_eq!(world.store.handoffs(&late).await.unwrap(), []);
        world.is_sound().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_keeps_what_was_answered_and_refuses_the_rest() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let run = world.starts("before").await.unwrap().run;
        let answers = at_once(101, &world.engine, |n, engine| async move {
            if n == 50 {
                engine.shutdown().await;
                return Err(EngineError::Closing);
            }
            if n == 51 {
                return engine.on_run(&caller("ada"), run, accept(1)).await;
            }
            engine.start(&caller("ada"), start(&format!("s-{n}"))).await
        })
        .await;
        let n_done = answers.iter().filter(|it| it.is_ok()).count();
        let n_closing = answers.iter().filter(|it| code(it) == "closing").count();
        assert_eq!(n_done + n_closing, 101, "{:?}", counts(&answers));
        if backend == Backend::Memory {
            // It forgets when it is closed.
            continue;
        }
        let world = world.reopened(catalog()).await;
        for (n, answer) in answers.iter().enumerate().filter(|(n, _)| *n != 50 && *n != 51) {
            let run = world.store.run(&RunRef::LatestOf(key(&format!("s-{n}")))).await.unwrap();
            let answered = answer.as_ref().ok().map(|it| (it.run, it.version));
            assert_eq!(run.map(|it| (it.run.id, it.version)), answered, "story {n}");
        }
        let is_held = world.shows("before").await.contains("held");
        assert_eq!(is_held, answers[51].is_ok());
        world.is_sound().await;
    }
}
