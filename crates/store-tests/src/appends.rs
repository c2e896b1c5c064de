//! What is appended is there, under the version it was decided on, or not at all.

use baton_core::event::{Event, RunEvent};
use baton_core::run::{HandoffNo, RunStatus};
use baton_core::story::Story;
use baton_store::{
    Append, AppendError, Appended, EventFilter, HandoffFilter, HandoffRef, Position, RunFilter,
    RunRef, RunRow, Store, Version,
};

use crate::dump;
use crate::sample::*;

pub async fn what_is_appended_can_be_loaded(store: &dyn Store) {
    let first = start(1, "s-1");
    let appended = put(store, &first).await;
    let at_first = appended.position;
    let expected =
        Appended { version: Version(1), run_number: 1, position: at_first, numbers: Vec::new() };
    assert_eq!(appended, expected);
    assert!(at_first > Position::START);

    let mut second = hand_to(&first, "bea");
    second.story = Some(Story::named(story_key("s-1")));
    second.definition = Some(definition("steps: []"));
    second.outbox = vec!["handoff.created".to_owned()];
    let appended = put(store, &second).await;
    let expected = Appended {
        version: Version(2),
        run_number: 1,
        position: appended.position,
        numbers: vec![(HandoffNo(1), 1)],
    };
    assert_eq!(appended, expected);
    assert!(appended.position > at_first);

    let row =
        RunRow { number: 1, version: Version(2), head: head(&second), run: second.run.clone() };
    assert_eq!(store.run(&RunRef::Id(run_id(1))).await.unwrap(), Some(row));
    let handoff = store.handoff(&HandoffRef::Number(1)).await.unwrap().unwrap();
    assert_eq!(handoff.package, Some(second.contents[0].id));
    let ids: Vec<_> = second.contents.iter().map(|it| it.id).collect();
    let mut contents = whole_contents(store, run_id(1), &ids).await;
    contents.sort_by_key(|it| ids.iter().position(|id| *id == it.id));
    assert_eq!(contents, second.contents);
    assert_eq!(store.definition(&pin()).await.unwrap(), second.definition);
    assert_eq!(store.last_position().await.unwrap(), appended.position);
    let story = store.story(&story_key("s-1")).await.unwrap().unwrap();
    assert_eq!(story.story, Story::named(story_key("s-1")));
    assert_eq!(store.outbox(0, 0).await.unwrap().len(), 1);
}

pub async fn a_run_is_found_by_every_reference(store: &dyn Store) {
    put_all(store, &tale(1, "s-1")).await;
    put(store, &start(2, "s-1")).await;
    put_all(store, &tale(3, "s-3")).await;
    let check = async |which: RunRef, number: Option<u64>| {
        let row = store.run(&which).await.unwrap();
        assert_eq!(row.map(|it| it.number), number, "{which:?}");
    };
    check(RunRef::Id(run_id(1)), Some(1)).await;
    check(RunRef::Number(2), Some(2)).await;
    check(RunRef::OpenOf(story_key("s-1")), Some(2)).await;
    check(RunRef::LatestOf(story_key("s-1")), Some(2)).await;
    check(RunRef::OpenOf(story_key("s-3")), None).await;
    check(RunRef::LatestOf(story_key("s-3")), Some(3)).await;
}

pub async fn the_version_counts_events(store: &dyn Store) {
    let first = start(1, "s-1");
    put(store, &first).await;
    let pause = Event::Run(RunEvent::Paused { reason: None });
    let resume = Event::Run(RunEvent::Resumed);
    let second = then(&first, &[pause.clone(), resume.clone(), pause]);
    assert_eq!(put(store, &second).await.version, Version(4));
    let third = then(&second, &[resume]);
    let appended = put(store, &third).await;
    assert_eq!(appended.version, Version(5));
    assert_eq!(store.last_position().await.unwrap(), appended.position);
}

pub async fn a_stale_version_changes_nothing(store: &dyn Store) {
    let first = start(1, "s-1");
    let second = hand_to(&first, "bea");
    put_all(store, &[first.clone(), second.clone()]).await;
    let before = dump(store).await;

    for stale in [hand_to(&first, "cid"), finish(&first, RunStatus::Cancelled)] {
        refused_with_conflict(store, keyed(stale, "scope", "key")).await;
    }
    let mut ahead = accept(&second, 1);
    ahead.expected = Version(3);
    refused_with_conflict(store, ahead).await;

    assert_eq!(dump(store).await, before);
    assert_eq!(store.answered("scope", "key").await.unwrap(), None);
}

pub async fn a_run_cannot_be_made_twice(store: &dyn Store) {
    put(store, &start(1, "s-1")).await;
    let before = dump(store).await;
    refused_with_conflict(store, start(1, "s-1")).await;
    refused_with_conflict(store, start(1, "s-2")).await;
    assert_eq!(dump(store).await, before);
}

pub async fn a_run_that_is_not_there_cannot_be_added_to(store: &dyn Store) {
    refused_with_conflict(store, hand_to(&start(1, "s-1"), "bea")).await;
    assert_eq!(store.runs(&RunFilter::default()).await.unwrap(), []);
}

pub async fn two_runs_of_one_story_cannot_be_open_at_once(store: &dyn Store) {
    let first = start(1, "s-1");
    put(store, &first).await;
    let before = dump(store).await;
    refused_with_open_run(store, start(2, "s-1")).await;
    assert_eq!(dump(store).await, before);

    // A paused run is not finished.
    put(store, &finish(&first, RunStatus::Paused)).await;
    refused_with_open_run(store, start(2, "s-1")).await;
    put(store, &start(2, "s-2")).await;
}

pub async fn a_finished_story_may_get_a_new_run(store: &dyn Store) {
    put_all(store, &tale(1, "s-1")).await;
    let second = start(2, "s-1");
    assert_eq!(put(store, &second).await.run_number, 2);
    put(store, &finish(&second, RunStatus::Cancelled)).await;
    assert_eq!(put(store, &start(3, "s-1")).await.run_number, 3);
}

pub async fn numbers_and_positions_only_grow(store: &dyn Store) {
    let mut positions = Vec::new();
    let mut numbers = Vec::new();
    for n in 1..=3 {
        for append in tale(n, &format!("s-{n}")) {
            let appended = put(store, &append).await;
            assert_eq!(appended.run_number, u64::from(n));
            positions.push(appended.position);
            numbers.extend(appended.numbers.iter().map(|(_, number)| *number));
            // What is refused uses up no number that anybody has seen.
            refused_with_conflict(store, append).await;
        }
    }
    assert!(positions.is_sorted_by(|a, b| a < b), "{positions:?}");
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    let stored = store.handoffs(&HandoffFilter::default()).await.unwrap();
    assert_eq!(stored.iter().map(|it| it.number).collect::<Vec<_>>(), numbers);
}

pub async fn the_numbers_of_runs_page_without_gap(store: &dyn Store) {
    for n in 1..=5 {
        put(store, &start(n, &format!("s-{n}"))).await;
    }
    assert_eq!(store.run_numbers(0, 0).await.unwrap(), [1, 2, 3, 4, 5]);
    assert_eq!(store.run_numbers(0, 2).await.unwrap(), [1, 2]);
    assert_eq!(store.run_numbers(3, 2).await.unwrap(), [4, 5]);
    assert_eq!(store.run_numbers(5, 2).await.unwrap(), [0; 0]);
    assert_eq!(store.run_numbers(u64::MAX, 0).await.unwrap(), [0; 0]);
}

pub async fn a_definition_is_kept_once(store: &dyn Store) {
    let mut first = start(1, "s-1");
    first.definition = Some(definition("as it was"));
    let mut second = start(2, "s-2");
    second.definition = Some(definition("as it came again"));
    put_all(store, &[first, second]).await;
    assert_eq!(store.definition(&pin()).await.unwrap(), Some(definition("as it was")));
}

pub async fn what_is_not_there_is_none(store: &dyn Store) {
    put(store, &start(1, "s-1")).await;
    let elsewhere = story_key("s-9");
    for which in [
        RunRef::Id(run_id(9)),
        RunRef::Number(0),
        RunRef::Number(9),
        RunRef::Number(u64::MAX),
        RunRef::OpenOf(elsewhere.clone()),
        RunRef::LatestOf(elsewhere.clone()),
    ] {
        assert_eq!(store.run(&which).await.unwrap(), None, "{which:?}");
    }
    for which in [
        HandoffRef::Number(0),
        HandoffRef::Number(1),
        HandoffRef::Id(handoff_id(run_id(1), 1)),
        HandoffRef::InRun(run_id(1), HandoffNo(1)),
        HandoffRef::InRun(run_id(9), HandoffNo(1)),
    ] {
        assert_eq!(store.handoff(&which).await.unwrap(), None, "{which:?}");
    }
    assert_eq!(whole_contents(store, run_id(1), &[words("x").id]).await, []);
    assert_eq!(whole_contents(store, run_id(1), &[]).await, []);
    assert_eq!(store.story(&elsewhere).await.unwrap(), None);
    assert_eq!(store.definition(&pin()).await.unwrap(), None);
    assert_eq!(store.answered("scope", "key").await.unwrap(), None);
    let none = EventFilter { after: Position::START, run: Some(run_id(9)), limit: 0 };
    assert_eq!(store.events(&none).await.unwrap(), []);
    assert!(!store.settle(1).await.unwrap());
}

pub async fn a_healthy_store_has_nothing_to_say(store: &dyn Store) {
    assert_eq!(store.last_position().await.unwrap(), Position::START);
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    put_all(store, &tale(1, "s-1")).await;
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

async fn refused_with_conflict(store: &dyn Store, append: Append) {
    let error = store.append(append.into()).await.unwrap_err();
    assert!(matches!(error, AppendError::Conflict), "{error:?}");
}

async fn refused_with_open_run(store: &dyn Store, append: Append) {
    let story = append.run.story.clone();
    let error = store.append(append.into()).await.unwrap_err();
    assert!(matches!(&error, AppendError::OpenRunExists(it) if *it == story), "{error:?}");
}
