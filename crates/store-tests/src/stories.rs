//! Stories: added, written over, listed with what became of them.

use baton_core::run::RunStatus;
use baton_core::story::Story;
use baton_store::{
    Append, AppendError, IdempotencyRecord, Store, StoryCounts, StoryFilter, StoryRow,
};

use crate::sample::*;

pub async fn a_story_is_added_once(store: &dyn Store) {
    let story = full("s-1");
    assert!(store.add_story(&story, moment(1)).await.unwrap());
    assert!(!store.add_story(&Story::named(story_key("s-1")), moment(2)).await.unwrap());
    let expected = StoryRow { story, created_at: moment(1), latest: None };
    assert_eq!(store.story(&story_key("s-1")).await.unwrap(), Some(expected));
}

pub async fn a_story_that_is_sent_twice_is_added_once(store: &dyn Store) {
    let answered = keyed(start(1, "s-1"), "ada add", "k-1").answered.unwrap();
    let other = IdempotencyRecord { key: "k-2".to_owned(), ..answered.clone() };
    assert!(store.add_story_once(&full("s-1"), &answered).await.unwrap());
    let row = store.story(&story_key("s-1")).await.unwrap().unwrap();
    assert_eq!((row.story, row.created_at), (full("s-1"), answered.at));

    // Whatever is sent with the key, it is the same request again or a mistake.
    for story in [full("s-1"), full("s-2")] {
        match store.add_story_once(&story, &answered).await {
            Err(AppendError::Repeated(first)) => assert_eq!(*first, answered),
            other => panic!("{other:?}"),
        }
    }
    assert!(!store.add_story_once(&full("s-1"), &other).await.unwrap());
    assert_eq!(store.answered("ada add", "k-2").await.unwrap(), None);
    assert!(store.add_story_once(&full("s-2"), &other).await.unwrap());
    assert_eq!(store.answered("ada add", "k-2").await.unwrap(), Some(other));
    assert_eq!(listed(store, None, 0).await, ["s-1", "s-2"]);
}

pub async fn a_story_that_is_saved_twice_with_a_key_is_saved_once(store: &dyn Store) {
    store.add_story(&full("s-1"), moment(1)).await.unwrap();
    let answered = keyed(start(1, "s-1"), "ada put", "k-1").answered.unwrap();
    let named = Story::named(story_key("s-1"));
    store.save_story_once(&named, &answered).await.unwrap();
    let expected = StoryRow { story: named.clone(), created_at: moment(1), latest: None };
    assert_eq!(store.story(&story_key("s-1")).await.unwrap(), Some(expected));

    // Another write comes between, and is not undone by the repeated request.
    store.save_story(&full("s-1"), moment(2)).await.unwrap();
    match store.save_story_once(&named, &answered).await {
        Err(AppendError::Repeated(first)) => assert_eq!(*first, answered),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.story(&story_key("s-1")).await.unwrap().unwrap().story, full("s-1"));
    assert_eq!(store.answered("ada put", "k-1").await.unwrap(), Some(answered));
}

pub async fn a_saved_story_keeps_its_age(store: &dyn Store) {
    store.save_story(&full("s-1"), moment(1)).await.unwrap();
    let named = Story::named(story_key("s-1"));
    store.save_story(&named, moment(2)).await.unwrap();
    let expected = StoryRow { story: named, created_at: moment(1), latest: None };
    assert_eq!(store.story(&story_key("s-1")).await.unwrap(), Some(expected));
}

pub async fn an_append_makes_a_missing_story_only(store: &dyn Store) {
    store.add_story(&full("s-1"), moment(1)).await.unwrap();
    let with_story =
        |n, key: &str| Append { story: Some(Story::named(story_key(key))), ..start(n, key) };
    put_all(store, &[with_story(1, "s-1"), with_story(2, "s-2")]).await;
    let known = store.story(&story_key("s-1")).await.unwrap().unwrap();
    assert_eq!((known.story, known.created_at), (full("s-1"), moment(1)));
    let made = store.story(&story_key("s-2")).await.unwrap().unwrap();
    assert_eq!(made.story, Story::named(story_key("s-2")));
    assert_eq!(made.created_at, start(2, "s-2").at);
}

pub async fn stories_that_look_alike_are_found_however_they_were_added(store: &dyn Store) {
    store.add_story(&full("login"), moment(1)).await.unwrap();
    store.save_story(&full("Iogin"), moment(2)).await.unwrap();
    let answered = keyed(start(1, "s-1"), "ada add", "k-1").answered.unwrap();
    store.add_story_once(&full("lοgin"), &answered).await.unwrap();
    let story = Some(Story::named(story_key("LOGIN")));
    put_all(store, &[Append { story, ..start(1, "LOGIN") }]).await;
    store.add_story(&full("logout"), moment(1)).await.unwrap();

    let alike = async |key| store.look_alikes(&story_key(key)).await.unwrap();
    let others = ["Iogin", "LOGIN", "login", "lοgin"];
    for key in others.into_iter().chain(["log1n"]) {
        let expected: Vec<_> = others.into_iter().filter(|it| *it != key).map(story_key).collect();
        assert_eq!(alike(key).await, expected, "{key}");
    }
    assert_eq!(alike("logout").await, []);
    for n in 0..20 {
        let key = format!("{}{}", "l".repeat(n), "1".repeat(20 - n));
        store.add_story(&full(&key), moment(1)).await.unwrap();
    }
    assert_eq!(alike(&"i".repeat(20)).await.len(), 8);
}

pub async fn stories_are_listed_by_key(store: &dyn Store) {
    // By the bytes of the key: capitals first, and no language's own order.
    let keys = ["A", "B", "a", "a1", "a10", "a2", "ä", "🚀"];
    for key in keys.iter().rev() {
        store.add_story(&Story::named(story_key(key)), moment(1)).await.unwrap();
    }
    assert_eq!(listed(store, None, 0).await, keys);
    assert_eq!(listed(store, None, 3).await, keys[..3]);
    assert_eq!(listed(store, Some("a1"), 2).await, keys[4..6]);
    assert_eq!(listed(store, Some("🚀"), 2).await, Vec::<String>::new());
    let mut seen: Vec<String> = Vec::new();
    loop {
        let next = listed(store, seen.last().map(String::as_str), 3).await;
        if next.is_empty() {
            break;
        }
        seen.extend(next);
    }
    assert_eq!(seen, keys);
}

pub async fn a_story_shows_its_newest_run(store: &dyn Store) {
    for key in ["s-1", "s-2"] {
        store.add_story(&Story::named(story_key(key)), moment(1)).await.unwrap();
    }
    put_all(store, &tale(1, "s-1")).await;
    check_latest(store, &[Some((1, RunStatus::Completed)), None]).await;
    let second = start(2, "s-1");
    put(store, &second).await;
    check_latest(store, &[Some((2, RunStatus::Open)), None]).await;
    put(store, &finish(&second, RunStatus::Cancelled)).await;
    put(store, &start(3, "s-2")).await;
    let expected = [Some((2, RunStatus::Cancelled)), Some((3, RunStatus::Open))];
    check_latest(store, &expected).await;
    let one = store.story(&story_key("s-1")).await.unwrap().unwrap();
    assert_eq!(one.latest, Some((run_id(2), RunStatus::Cancelled)));
}

pub async fn stories_to_begin_come_by_priority_and_are_counted(store: &dyn Store) {
    assert_eq!(store.count_stories().await.unwrap(), StoryCounts::default());
    for (key, priority) in [("a", 1), ("b", 5), ("c", 1), ("d", -2), ("e", 9), ("f", 9)] {
        let story = Story { priority, ..Story::named(story_key(key)) };
        store.add_story(&story, moment(1)).await.unwrap();
    }
    let (first, second) = (start(1, "e"), start(2, "f"));
    put_all(store, &[first.clone(), second]).await;
    put(store, &finish(&first, RunStatus::Completed)).await;
    // It was under way before anybody described it.
    put(store, &start(3, "g")).await;
    store.add_story(&Story::named(story_key("g")), moment(1)).await.unwrap();

    let expected = ["b", "a", "c", "d"];
    let mut seen: Vec<Story> = Vec::new();
    loop {
        let page = store.stories_to_begin(seen.last(), 3).await.unwrap();
        if page.is_empty() {
            break;
        }
        seen.extend(page.into_iter().map(|it| it.story));
    }
    assert_eq!(seen.iter().map(|it| it.key.as_str()).collect::<Vec<_>>(), expected);
    let counts = store.count_stories().await.unwrap();
    assert_eq!(counts, StoryCounts { n_stories: 7, n_to_begin: 4, n_completed: 1 });
}

async fn check_latest(store: &dyn Store, expected: &[Option<(u32, RunStatus)>]) {
    let rows = store.stories(&StoryFilter::default()).await.unwrap();
    let latest: Vec<_> = rows.iter().map(|it| it.latest).collect();
    let expected: Vec<_> =
        expected.iter().map(|it| it.map(|(n, status)| (run_id(n), status))).collect();
    assert_eq!(latest, expected);
}

async fn listed(store: &dyn Store, after: Option<&str>, limit: u32) -> Vec<String> {
    let filter = StoryFilter { after: after.map(story_key), limit };
    let rows = store.stories(&filter).await.unwrap();
    rows.into_iter().map(|it| it.story.key.to_string()).collect()
}

fn full(key: &str) -> Story {
    Story {
        key: story_key(key),
        title: "Sign in".to_owned(),
        description: "As a user\nI want to sign in".to_owned(),
        acceptance: vec!["a password works".to_owned(), "a wrong one does not".to_owned()],
        depends_on: vec![story_key("s-8"), story_key("owner/repo#9")],
        priority: -3,
        branch: Some("feature/sign-in".to_owned()),
        pr_url: Some("https://example.org/pull/1".to_owned()),
    }
}
