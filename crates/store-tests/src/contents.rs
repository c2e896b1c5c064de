//! Texts and times come back exactly as they went in, or are refused alike by every backend.

use baton_core::content::{Content, ContentKind};
use baton_core::hash::Hash;
use baton_core::package::Format;
use baton_core::story::Story;
use baton_store::{
    Append, AppendError, EventFilter, HandoffRef, Position, RunRef, Store, StoreError,
};
use jiff::Timestamp;

use crate::dump;
use crate::sample::*;

pub async fn a_text_belongs_to_its_run(store: &dyn Store) {
    let text = words("the same words");
    for n in 1..=2 {
        let append = start(n, &format!("s-{n}"));
        put(store, &Append { contents: vec![text.clone()], ..append }).await;
    }
    put(store, &start(3, "s-3")).await;
    for (n, expected) in [(1, vec![text.clone()]), (2, vec![text.clone()]), (3, vec![])] {
        assert_eq!(whole_contents(store, run_id(n), &[text.id]).await, expected, "run {n}");
    }
}

pub async fn the_same_text_may_be_sent_again(store: &dyn Store) {
    let text = words("again");
    let first = Append { contents: vec![text.clone(), text.clone()], ..start(1, "s-1") };
    put(store, &first).await;
    let second = hand_to(&first, "bea");
    put(store, &Append { contents: vec![text.clone()], ..second }).await;
    assert_eq!(whole_contents(store, run_id(1), &[text.id]).await, [text]);
}

pub async fn the_texts_of_a_run_are_counted(store: &dyn Store) {
    put_all(store, &tale(1, "s-1")).await;
    put(store, &start(2, "s-2")).await;
    // Two packages, two reasons, why it was rejected, and the acknowledgement.
    assert_eq!(store.count_contents(run_id(1)).await.unwrap(), 6);
    assert_eq!(store.count_contents(run_id(2)).await.unwrap(), 0);
    assert_eq!(store.count_contents(run_id(9)).await.unwrap(), 0);
}

pub async fn a_package_of_a_mebibyte_comes_back(store: &dyn Store) {
    let text = "0123456789abcdef".repeat(1 << 16);
    check_text(store, 1, &text).await;
}

pub async fn odd_text_comes_back_byte_for_byte(store: &dyn Store) {
    for (n, text) in (1..).zip([
        "",
        " \t\r\n ",
        "🏃‍♀️🇦🇶👩🏽‍🚀 emoji with joiners",
        "שלום \u{202E}right to left\u{202C} مرحبا",
        "e\u{301} is not é, \u{FEFF}\u{200B}\u{2028}\u{FFFF}\u{10FFFF}\u{1}\u{7F}\u{85}",
        "'; drop table handoffs; -- \" \\ % _ ? $1 :a @b",
        "{\"a\": \"\\u0000\"}",
    ]) {
        check_text(store, n, text).await;
    }
}

pub async fn nul_is_refused_in_every_text(store: &dyn Store) {
    let first = start(1, "s-1");
    put(store, &first).await;
    let before = dump(store).await;
    let good = || {
        let mut append = keyed(hand_to(&first, "bea"), "scope", "key");
        append.story = Some(Story::named(story_key("s-1")));
        append.definition = Some(definition("steps: []"));
        append.outbox = vec!["handoff.created".to_owned()];
        append
    };
    let spoils: [fn(&mut Append); 9] = [
        |it| it.contents.push(words("a\0b")),
        |it| it.contents[0].text = "a\0b".into(),
        |it| it.outbox[0].insert(0, '\0'),
        |it| it.answered.as_mut().unwrap().answer.push('\0'),
        |it| it.answered.as_mut().unwrap().key.push('\0'),
        |it| it.answered.as_mut().unwrap().scope.push('\0'),
        |it| it.definition.as_mut().unwrap().text.push('\0'),
        |it| it.story.as_mut().unwrap().description.push('\0'),
        |it| it.opened[0].warnings.push("\0".to_owned()),
    ];
    for (index, spoil) in spoils.iter().enumerate() {
        let mut append = good();
        spoil(&mut append);
        let error = store.append(append.into()).await.unwrap_err();
        assert!(matches!(error, AppendError::Store(StoreError::Nul)), "{index}: {error:?}");
    }
    let error = store.advance("a\0b", Position::START, Position(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::Nul), "{error:?}");

    assert_eq!(dump(store).await, before);
    assert_eq!(store.answered("scope", "key").await.unwrap(), None);
    assert_eq!(store.definition(&pin()).await.unwrap(), None);
    put(store, &good()).await;
}

pub async fn nul_is_refused_in_a_story(store: &dyn Store) {
    let key = story_key("s-1");
    let spoils: [fn(&mut Story); 5] = [
        |it| it.title.push('\0'),
        |it| it.description.push('\0'),
        |it| it.acceptance.push("\0".to_owned()),
        |it| it.branch = Some("\0".to_owned()),
        |it| it.pr_url = Some("\0".to_owned()),
    ];
    for spoil in spoils {
        let mut story = Story::named(key.clone());
        spoil(&mut story);
        let error = store.add_story(&story, moment(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Nul), "{story:?}: {error:?}");
        let error = store.save_story(&story, moment(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Nul), "{story:?}: {error:?}");
    }
    assert_eq!(store.story(&key).await.unwrap(), None);
}

pub async fn times_keep_their_nanoseconds(store: &dyn Store) {
    let now: Timestamp = "2199-12-31T23:59:59.987654321Z".parse().unwrap();
    let mut append = keyed(start(1, "s-1"), "scope", "key");
    append.at = now;
    append.run.started_at = now;
    append.run.moved_at = now;
    append.answered.as_mut().unwrap().at = now;
    append.outbox = vec!["run.started".to_owned()];
    append.story = Some(Story::named(story_key("s-1")));
    put(store, &append).await;

    let row = store.run(&RunRef::Number(1)).await.unwrap().unwrap();
    assert_eq!((row.run.started_at, row.run.moved_at), (now, now));
    let all = EventFilter { after: Position::START, run: None, limit: 0 };
    assert_eq!(store.events(&all).await.unwrap()[0].at, now);
    assert_eq!(store.outbox(0, 0).await.unwrap()[0].at, now);
    assert_eq!(store.answered("scope", "key").await.unwrap().unwrap().at, now);
    assert_eq!(store.story(&story_key("s-1")).await.unwrap().unwrap().created_at, now);

    let handed = hand_to(&append, "bea");
    put_all(store, &[handed.clone(), reject(&handed, 1, "late")]).await;
    let handoff = store.handoff(&HandoffRef::Number(1)).await.unwrap().unwrap();
    assert_eq!(handoff.created_at, handed.at);
    assert_eq!(handoff.ended_at.unwrap().subsec_nanosecond(), 987_654_321);
}

/// Stores `text` in every place that takes free text, as run `n`, and reads it back.
async fn check_text(store: &dyn Store, n: u32, text: &str) {
    let story = format!("s-{n}");
    let kind = ContentKind::Package { format: Format::Markdown, hash: Hash([9; 32]) };
    let content = Content::new([n as u8; 16], kind, text);
    let mut append = keyed(start(n, &story), text, text);
    append.contents = vec![content.clone()];
    append.answered.as_mut().unwrap().answer = text.to_owned();
    append.outbox = vec![text.to_owned()];
    append.story = Some(Story {
        title: text.to_owned(),
        description: text.to_owned(),
        acceptance: vec![text.to_owned(), String::new()],
        depends_on: vec![story_key("Straße 🚀 #1")],
        priority: i64::MIN,
        branch: Some(text.to_owned()),
        pr_url: Some(text.to_owned()),
        key: story_key(&story),
    });
    put(store, &append).await;

    assert_eq!(whole_contents(store, run_id(n), &[content.id]).await, [content]);
    assert_eq!(store.answered(text, text).await.unwrap(), append.answered);
    assert_eq!(store.outbox(u64::from(n) - 1, 1).await.unwrap()[0].about, text);
    let row = store.story(&story_key(&story)).await.unwrap().unwrap();
    assert_eq!(Some(row.story), append.story);
}
