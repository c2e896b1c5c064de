//! Many at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Semaphore;

use crate::world::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_who_accept_at_once_one_has_it_and_the_others_are_told_who() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let client = world.client;
    let tasks: Vec<_> = (0..50).map(|_| tokio::spawn(accept(client, &[JSON]))).collect();
    let mut n_accepted = 0;
    for task in tasks {
        let reply = task.await.unwrap();
        if reply.status == 200 {
            n_accepted += 1;
            continue;
        }
        let problem = reply.refuses(409, "already_accepted");
        assert_eq!(problem["holder"], "analyst");
    }
    assert_eq!(n_accepted, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_twenty_with_one_key_all_get_the_answer_of_the_one_that_took_effect() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let client = world.client;
    let headers = &[JSON, ("idempotency-key", "k-1")];
    let tasks: Vec<_> = (0..20).map(|_| tokio::spawn(accept(client, headers))).collect();
    let mut n_first = 0;
    for task in tasks {
        let told = task.await.unwrap().is(200);
        assert_eq!(told["fence"], 1);
        n_first += u32::from(told["isRepeat"] == false);
    }
    assert_eq!(n_first, 1);
}

async fn accept(client: Client, headers: &'static [(&'static str, &'static str)]) -> Reply {
    client.send("POST", "/api/v1/handoffs/1/accept", headers, "{}").await
}

/// How many of them are on the line at once; all of them are under way.
const LINES: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_stories_at_once_are_not_mixed_up() {
    let world = world().await;
    let (client, lines) = (world.client, Arc::new(Semaphore::new(LINES)));
    let tasks: Vec<_> = (0..1000).map(|n| tokio::spawn(tell(client, lines.clone(), n))).collect();
    let mut ids = BTreeSet::new();
    for (n, task) in tasks.into_iter().enumerate() {
        let known = task.await.unwrap();
        let state = world.get(&format!("/api/handoffs?storyId=story-{n}")).await.is(200);
        assert_eq!(state["currentAgent"], "reviewer", "{state}");
        let rows = state["handoffs"].as_array().unwrap();
        let shown: Vec<(u64, String)> = rows.iter().map(|it| own_words(it, n)).collect();
        assert_eq!(shown, known, "story {n}: {state}");
        ids.extend(shown.into_iter().map(|(id, _)| id));
    }
    assert_eq!(ids, (1..=2000).collect());
}

/// Hands a story on twice, with words of its own; gives the ids that it was told.
async fn tell(client: Client, lines: Arc<Semaphore>, n: usize) -> Vec<(u64, String)> {
    let mut known = Vec::new();
    for (from, to) in [("analyst", "implementer"), ("implementer", "reviewer")] {
        let words = format!("{from} of {n}");
        let payload = format!(r#"{{"plan":"{words}","summary":"{words}"}}"#);
        let create = format!(
            r#"{{"action":"create","storyId":"story-{n}","fromAgent":"{from}","toAgent":"{to}","payload":{payload}}}"#
        );
        let made = on_a_line(client, &lines, &create).await;
        let (id, shown) = own_words(&made["handoff"], n);
        assert_eq!(shown, words);
        if to == "implementer" {
            let accept = format!(r#"{{"action":"accept","handoffId":{id}}}"#);
            let taken = on_a_line(client, &lines, &accept).await;
            assert_eq!(own_words(&taken["handoff"], n), (id, words.clone()));
        }
        known.push((id, words));
    }
    known
}

async fn on_a_line(client: Client, lines: &Semaphore, body: &str) -> Value {
    let _line = lines.acquire().await.unwrap();
    client.send("POST", "/api/handoffs", &[JSON], body).await.is(200)
}

/// The id of a row and what was handed over, which has to be of that story.
fn own_words(row: &Value, n: usize) -> (u64, String) {
    assert_eq!(row["story_id"], format!("story-{n}"));
    (row["id"].as_u64().unwrap(), row["payload"]["plan"].as_str().unwrap().to_owned())
}
