//! A database with a little of everything: every table has rows, and every kind of text is there.

use baton_core::acknowledgement::Acknowledgement;
use baton_core::command::{Accept, Clarify, Command, GateAnswer, Record, Release, Reply};
use baton_core::evidence::Verdict;
use baton_core::gate::Answer;
use baton_core::names::{CheckName, FreeText, Principal, StoryKey};
use baton_core::outcome::Outcome as Ended;
use baton_core::run::HandoffNo;
use baton_core::story::Story;
use baton_engine::{Dependencies, StartRun, sign_checkpoint};
use baton_store::{HandoffRef, Position, Store as _};
use baton_wire::checkpoint::CheckpointKey;
use jiff::{SignedDuration, Timestamp};

use super::file::{self, DatabaseFile};
use crate::world::*;

const SECOND: SignedDuration = SignedDuration::from_secs(1);
const BLOCKED: &str = r#"{"blockers": ["no key", {"description": "no room"}]}"#;

/// The bytes of the file.
pub(crate) async fn file() -> Vec<u8> {
    let world = Backend::Sqlite.world().await;
    a_lease_that_is_lost(&world).await;
    texts_that_only_events_name(&world).await;
    questions_and_rejects(&world).await;
    stories_and_answers(&world).await;
    a_lease_that_is_held(&world).await;
    world.store.advance("archive", Position::START, Position(5)).await.unwrap();
    world.is_sound().await;
    with_checkpoints(&with_losses(&world.into_file().await).await).await
}

/// Two checkpoints: one over the whole log, and one after a change of a story.
async fn with_checkpoints(bytes: &[u8]) -> Vec<u8> {
    let file = DatabaseFile::of(bytes);
    let store = file.open().unwrap();
    let key = CheckpointKey::from_random([7; 32]);
    let now = Timestamp::constant(1_760_000_000, 0);
    assert_eq!(sign_checkpoint(&store, &key, now).await.unwrap().number, 1);
    assert_eq!(sign_checkpoint(&store, &key, now).await.unwrap().number, 1, "nothing is new");
    let late = Story::named(StoryKey::parse("late").unwrap());
    assert!(store.add_story(&late, now).await.unwrap());
    assert_eq!(sign_checkpoint(&store, &key, now).await.unwrap().number, 2);
    store.close().await;
    assert_eq!(file.verdict().await, file::Verdict::Sound);
    std::fs::read(file.path()).unwrap()
}

/// As after a recovery that has not found everything: one text and two events are missing.
async fn with_losses(bytes: &[u8]) -> Vec<u8> {
    let file = DatabaseFile::of(bytes);
    let connection = file.connection();
    connection
        .execute_batch(
            "insert into lost_texts (run_number, id)
                 select run_number, id from contents where kind = 'words' order by rowid limit 1;
             delete from contents where id in (select id from lost_texts);
             update events set position = position + 1000 where position > 40;
             update events set position = position - 998 where position > 1000;
             update sqlite_sequence set seq = seq + 2 where name = 'events';
             insert into lost_numbers (counted, first, last) values ('events', 41, 42);",
        )
        .unwrap();
    connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
    drop(connection);
    assert_eq!(file.verdict().await, file::Verdict::Sound);
    std::fs::read(file.path()).unwrap()
}

/// Its next attempt is held back: a timer that follows from the events.
async fn a_lease_that_is_lost(world: &World) {
    world.starts("lost").await.unwrap();
    world.on("lost", lease(1, 20)).await.unwrap();
    world.clock.advance(SignedDuration::from_secs(21));
    assert_eq!(world.engine.tick().await.unwrap().n_lost, 1);
}

/// When it ends, no event tells.
async fn a_lease_that_is_held(world: &World) {
    world.starts("held").await.unwrap();
    let run = world.on("held", lease(1, 20)).await.unwrap().run;
    world.clock.advance(SignedDuration::from_secs(2));
    let which = HandoffRef::InRun(run, HandoffNo(1));
    world.engine.heartbeat(&caller("ada"), &which, 1).await.unwrap();
}

async fn texts_that_only_events_name(world: &World) {
    world.starts("paused").await.unwrap();
    world.on("paused", Command::Pause { reason: Some(reason("over the holidays")) }).await.unwrap();

    for story in ["aborted", "blocked"] {
        // So that no two runs tell the same of the same moment.
        world.clock.advance(SECOND);
        world.starts(story).await.unwrap();
        world.on(story, accept(1)).await.unwrap();
        world.on(story, complete(1, Ended::Blocked, BLOCKED)).await.unwrap();
    }
    let gate = world.run("aborted").await.run.gate().unwrap().0.no;
    let abort = GateAnswer {
        handoff: gate,
        answer: Answer::Abort,
        by: Principal::parse("grace").unwrap(),
        comment: Some(words("we do something else")),
        package: None,
    };
    world.on("aborted", Command::Answer(abort)).await.unwrap();

    world.clock.advance(SECOND);
    world.starts("ended").await.unwrap();
    let acknowledgement = Some(Acknowledgement::words("I am to plan it"));
    let handoff = HandoffNo(1);
    let taken = Accept { handoff, by: None, acknowledgement, lease: None };
    world.on("ended", Command::Accept(taken)).await.unwrap();
    world.on("ended", Command::Post { by: None, words: words("nearly done") }).await.unwrap();
    let record = Record {
        handoff,
        check: CheckName::parse("lint").unwrap(),
        verdict: Verdict::Passed,
        detail: Some(words("0 warnings")),
    };
    world.on("ended", Command::Record(record)).await.unwrap();
    let release = Release { handoff, by: None, reason: Some(reason("not today")), fence: None };
    world.on("ended", Command::Release(release)).await.unwrap();
    world
        .on("ended", Command::TimeOut { handoff, reason: Some(reason("too late")) })
        .await
        .unwrap();
    world.starts("ended").await.unwrap();
    let cancelled = Command::CancelRun { reason: Some(reason("nobody wants it")) };
    world.on("ended", cancelled).await.unwrap();
}

async fn questions_and_rejects(world: &World) {
    for story in ["asked", "answered"] {
        world.clock.advance(SECOND);
        world.starts(story).await.unwrap();
        let handoff = HandoffNo(1);
        let clarify = Clarify { handoff, by: None, question: words("which one?"), fence: None };
        world.on(story, Command::Clarify(clarify)).await.unwrap();
    }
    let answer = words("the first");
    let reply = Reply { handoff: HandoffNo(2), by: None, answer, fence: None };
    world.on("answered", Command::Reply(reply)).await.unwrap();

    world.clock.advance(SECOND);
    world.starts("rejected").await.unwrap();
    world.on("rejected", accept(1)).await.unwrap();
    world.on("rejected", complete(1, Ended::Success, r#"{"plan": "write it"}"#)).await.unwrap();
    world.on("rejected", reject(2, "there is no plan in the plan")).await.unwrap();
}

async fn stories_and_answers(world: &World) {
    let story = |key: &str, title: &str| Story {
        title: title.to_owned(),
        description: "what it is about".to_owned(),
        acceptance: vec!["it works".to_owned(), "it is tested".to_owned()],
        depends_on: vec![StoryKey::parse("held").unwrap()],
        priority: 7,
        branch: Some("feat/settings".to_owned()),
        pr_url: Some("https://example.com/1".to_owned()),
        ..Story::named(StoryKey::parse(key).unwrap())
    };
    assert!(world.engine.add_story(&caller("ada"), &story("settings", "Settings")).await.unwrap());
    world.engine.save_story(&caller("ada"), &story("settings", "The settings page")).await.unwrap();
    world.engine.add_story(&keyed("key-1", 1), &story("login", "Log in")).await.unwrap();
    // The story that they depend on is not finished.
    let anyway = |key| StartRun { dependencies: Dependencies::Anyway, ..start(key) };
    world.engine.start(&keyed("key-2", 2), anyway("login")).await.unwrap();
    world.engine.start(&keyed("key-3", 3), anyway("settings")).await.unwrap();
}

fn words(text: &str) -> FreeText {
    FreeText::parse(text).unwrap()
}
