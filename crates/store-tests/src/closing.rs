//! A closed store takes no more work, and says so.

use baton_core::story::Story;
use baton_store::{
    AppendError, EventFilter, HandoffFilter, HandoffRef, Position, RunFilter, RunRef, Store,
    StoreError, StoryFilter,
};

use crate::sample::*;

pub async fn a_closed_store_refuses_all_work(store: &dyn Store) {
    put(store, &start(1, "s-1")).await;
    store.close().await;
    let error = store.append(start(2, "s-2").into()).await.unwrap_err();
    assert!(matches!(error, AppendError::Store(StoreError::Closed)), "{error:?}");
    let key = story_key("s-1");
    let story = Story::named(key.clone());
    let all = EventFilter { after: Position::START, run: None, limit: 0 };
    refused(store.run(&RunRef::Number(1)).await);
    refused(store.runs(&RunFilter::default()).await);
    refused(store.run_numbers(0, 0).await);
    refused(store.handoff(&HandoffRef::Number(1)).await);
    refused(store.handoffs(&HandoffFilter::default()).await);
    refused(store.contents(run_id(1), &[words("x").id]).await);
    refused(store.count_contents(run_id(1)).await);
    refused(store.events(&all).await);
    refused(store.last_position().await);
    refused(store.add_story(&story, moment(1)).await);
    refused(store.save_story(&story, moment(1)).await);
    refused(store.story(&key).await);
    refused(store.stories(&StoryFilter::default()).await);
    refused(store.definition(&pin()).await);
    refused(store.answered("scope", "key").await);
    refused(store.forget_answered(moment(1), 1).await);
    refused(store.cursor("archive").await);
    refused(store.advance("archive", Position::START, Position(1)).await);
    refused(store.outbox(0, 0).await);
    refused(store.settle(1).await);
    refused(store.timers(None, 0).await);
    refused(store.put_off(&[]).await);
    refused(store.due(moment(1), None, 1).await);
    refused(store.look_again(&[]).await);
    refused(store.runs_moved_last(1).await);
    refused(store.open_runs_ending("1", 1).await);
    refused(store.count_open_runs().await);
    refused(store.open_run_counts().await);
    refused(store.stories_to_begin(None, 1).await);
    refused(store.count_stories().await);
    refused(store.check().await);
}

pub async fn closing_twice_is_fine(store: &dyn Store) {
    store.close().await;
    store.close().await;
    refused(store.last_position().await);
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::Closed)), "{result:?}");
}
