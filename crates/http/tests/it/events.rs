//! Listening: everything once and in order, however often one is cut off, and never much at once.

use baton_core::command::Command;
use baton_store::{EventFilter, Position};
use serde_json::json;
use tokio::task::JoinSet;

use crate::client::{Heard, Listener, Site, caller};

const SEED: &str = "/api/events";
const NATIVE: &str = "/api/v1/events";

/// What is told about the whole log, to somebody who has heard nothing of it.
async fn all(site: &Site, path: &str) -> Vec<Heard> {
    let last = site.engine.read_as(&caller()).last_position().await.unwrap();
    let mut listener = Listener::open(site, path, Some("0.0")).await;
    let is_of_last = |it: &Heard| position(it) == last.0;
    let mut heard = listener.until(is_of_last).await;
    // Of the last event there may be more than one thing to tell.
    while let Some(more) = listener.at_hand() {
        heard.push(more);
    }
    heard
}

fn position(heard: &Heard) -> u64 {
    let id = heard.id.as_deref().unwrap();
    let (_, place) = id.split_once('-').unwrap();
    place.split_once('.').unwrap().0.parse().unwrap()
}

fn ids(heard: &[Heard]) -> Vec<&str> {
    heard.iter().map(|it| it.id.as_deref().unwrap()).collect()
}

#[tokio::test]
async fn a_fresh_listener_hears_where_things_stand_and_then_what_happens() {
    let site = Site::open().await;
    site.start("s-1").await;
    let mut listener = Listener::open(&site, NATIVE, None).await;
    let snapshot = listener.next().await.unwrap();
    assert_eq!(snapshot.name.as_deref(), Some("snapshot"));
    let cursor = snapshot.id.clone().unwrap();
    let counts = json!({
        "cursor": cursor, "openRuns": 1, "pausedRuns": 0, "offered": 1, "held": 0,
        "waitingForPeople": 0, "loose": 0,
    });
    assert_eq!(snapshot.data, counts);
    site.accept("s-1", 1).await;
    let next = listener.next().await.unwrap();
    let last = all(&site, NATIVE).await;
    let after = last.iter().position(|it| it.id == snapshot.id).unwrap() + 1;
    assert_eq!(next, last[after]);
    assert_eq!(next.data["status"], "accepted");
}

#[tokio::test]
async fn the_events_of_a_first_handoff_are_those_of_the_source_documents() {
    let site = Site::open().await;
    site.start("v0.1:1.1.1").await;
    let seed = all(&site, SEED).await;
    let handoff = seed.iter().find(|it| it.data["type"] == "handoff").unwrap();
    assert_eq!(
        handoff.data,
        json!({
            "type": "handoff",
            "data": {"storyId": "v0.1:1.1.1", "handoffId": 1, "status": "pending"},
        })
    );
    // `onmessage` is called for messages without a name only.
    assert!(seed.iter().all(|it| it.name.is_none()));

    let native = all(&site, NATIVE).await;
    let named = |name| native.iter().find(|it| it.name.as_deref() == Some(name)).unwrap();
    let handoff = &named("handoff").data;
    assert_eq!(handoff["status"], "pending");
    assert_eq!(handoff["handoffId"].as_str().unwrap().len(), 36);
    let taken_over = named("AGENT_HANDOFF").data.clone();
    let run = taken_over["runId"].clone();
    assert_eq!(
        taken_over,
        json!({
            "storyId": "v0.1:1.1.1",
            "runId": run,
            "fromAgent": {"id": "orchestrator", "name": "Orchestrator", "avatarUrl": null},
            "toAgent": {"id": "analyst", "name": "Analyst", "avatarUrl": null},
            "stepName": taken_over["stepName"],
            "timestamp": "2025-06-15T15:06:40.000Z",
            "message": "Handing off to Analyst...",
        })
    );
    assert_eq!(named("run_state").data["status"], "running");
    assert_eq!(named("story_update").data["status"], "in_progress");
    let changed = &named("WORKFLOW_STATUS_CHANGED").data;
    assert_eq!(
        (&changed["workflowInstanceId"], &changed["workflowId"]),
        (&run, &json!("story-pipeline"))
    );
    assert_eq!(ids(&native), ids(&seed));
}

#[tokio::test]
async fn an_adopted_run_announces_itself_once() {
    let site = Site::open().await;
    let create = r#"{"action":"create","storyId":"s-1","fromAgent":"analyst","toAgent":"implementer","payload":{"plan":"x"}}"#;
    assert_eq!(site.post("/api/handoffs", create).await.status, 200);
    let native = all(&site, NATIVE).await;
    let n_told = |name: &str| native.iter().filter(|it| it.name.as_deref() == Some(name)).count();
    for name in ["run_state", "story_update", "WORKFLOW_STATUS_CHANGED", "RUN_ADOPTED"] {
        assert_eq!(n_told(name), 1, "{name}");
    }
}

#[tokio::test]
async fn every_event_is_told_in_the_order_of_the_log() {
    let site = Site::open().await;
    several_stories(&site, 4).await;
    let filter = EventFilter { after: Position::START, run: None, limit: 0 };
    let log = site.engine.read_as(&caller()).events(&filter).await.unwrap();
    let mut told: Vec<u64> = all(&site, NATIVE).await.iter().map(position).collect();
    assert!(told.is_sorted());
    told.dedup();
    assert_eq!(told, log.iter().map(|it| it.position.0).collect::<Vec<_>>());
}

/// Writes while a listener is cut off again and again, each time after some other number of
/// messages, in the middle of an event too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_is_cut_off_again_and_again_hears_everything_once() {
    let site = std::sync::Arc::new(Site::open().await);
    let mut listener = Listener::open(&site, NATIVE, None).await;
    let first = listener.next().await.unwrap();
    let writing = {
        let site = site.clone();
        tokio::spawn(async move { several_stories(&site, 120).await })
    };
    let mut heard: Vec<Heard> = Vec::new();
    let mut last = first.id.unwrap();
    let mut chance = 7_u64;
    while !heard.last().is_some_and(is_last) {
        let mut listener = Listener::open(&site, NATIVE, Some(&last)).await;
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        for _ in 0..(chance >> 33) % 40 {
            let next = listener.next().await.unwrap();
            last = next.id.clone().unwrap();
            heard.push(next);
            if heard.last().is_some_and(is_last) {
                break;
            }
        }
    }
    writing.await.unwrap();
    let all = all(&site, NATIVE).await;
    let n_heard = heard.len();
    assert!(n_heard > 500, "{n_heard}");
    assert_eq!(ids(&heard), ids(&all)[..n_heard]);
    assert_eq!(heard, all[..n_heard]);
}

#[tokio::test]
async fn a_resumed_listener_gets_no_snapshot_and_nothing_twice() {
    let site = Site::open().await;
    several_stories(&site, 2).await;
    for path in [SEED, NATIVE] {
        let all = all(&site, path).await;
        for (index, heard) in all.iter().enumerate().take(all.len() - 1) {
            let mut listener = Listener::open(&site, path, heard.id.as_deref()).await;
            assert_eq!(listener.next().await.as_ref(), Some(&all[index + 1]), "{path}");
        }
    }
}

#[tokio::test]
async fn a_listener_goes_on_with_the_next_server() {
    let site = Site::open().await;
    let mut listener = Listener::open(&site, NATIVE, None).await;
    let last = listener.next().await.unwrap().id.unwrap();
    site.start("s-1").await;
    let before = listener.next().await.unwrap();
    let site = site.restart().await;
    site.start("s-2").await;
    let mut listener = Listener::open(&site, NATIVE, before.id.as_deref()).await;
    let heard = listener.until(|it| it.data["storyId"] == "s-2").await;
    let all = all(&site, NATIVE).await;
    let epoch = site.engine.read_as(&caller()).identity().await.unwrap().epoch;
    assert_eq!(last, format!("{epoch}-0.0"));
    assert_eq!(heard, all[1..=heard.len()]);
}

#[tokio::test]
async fn an_id_that_nobody_was_told_resets_once_and_then_goes_on() {
    let site = Site::open().await;
    site.start("s-1").await;
    let end = all(&site, NATIVE).await.last().unwrap().id.clone();
    let epoch = site.engine.read_as(&caller()).identity().await.unwrap().epoch;
    // Of another epoch, of none (as they were once), never told, and no ids at all.
    let other = ["anotherx-1.0", "anotherx-0.0", "1.0", "9999.0", "nonsense", "-1.0", "1", "-"];
    let never = ["9999.0", "1.7", "0.1", "", "x", "99999999999999999999.0"];
    let never = never.map(|it| format!("{epoch}-{it}"));
    for unknown in other.into_iter().chain(never.iter().map(String::as_str)) {
        let mut listener = Listener::open(&site, NATIVE, Some(unknown)).await;
        let reset = listener.next().await.unwrap();
        assert_eq!(reset.name.as_deref(), Some("reset"), "{unknown}");
        assert_eq!(reset.id, end, "{unknown}");
    }
    let mut listener = Listener::open(&site, SEED, Some("9999.0")).await;
    assert_eq!(listener.next().await.unwrap().data["type"], "reset");
    site.accept("s-1", 1).await;
    assert_eq!(listener.next().await.unwrap().data["data"]["status"], "accepted");
}

#[tokio::test]
async fn one_run_can_be_listened_to_by_id_number_or_story() {
    let site = Site::open().await;
    site.start("s-1").await;
    site.start("owner/repo#2").await;
    let of_second = |it: &Heard| it.data["storyId"] == "owner/repo#2";
    let whole = all(&site, NATIVE).await;
    let id = whole.iter().find(|it| of_second(it)).unwrap().data["runId"].clone();
    let expected: Vec<Heard> = whole.iter().filter(|it| of_second(it)).cloned().collect();
    for name in [id.as_str().unwrap(), "2", "owner%2Frepo%232"] {
        let path = format!("{NATIVE}?run={name}");
        let mut listener = Listener::open(&site, &path, Some("0.0")).await;
        assert_eq!(listener.next_of(expected.len()).await, expected, "{name}");
        // What other runs do is passed over, live too.
        site.start(&format!("beside-{}", name.len())).await;
        site.on_run("owner/repo#2", Command::Pause { reason: None }).await;
        assert_eq!(listener.next().await.unwrap().data["status"], "paused");
        site.on_run("owner/repo#2", Command::Resume).await;
        let heard = listener.until(|it| it.data["status"] == "open").await;
        assert!(heard.iter().all(of_second), "{heard:?}");
    }
    for (path, status) in [("?run=99", 404), ("?run=nobody", 404), ("?ran=1", 400)] {
        assert_eq!(site.get(&format!("{NATIVE}{path}")).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn no_message_has_a_kilobyte() {
    let site = Site::open().await;
    // The longest key there can be, of characters that JSON has to write as two.
    let key = "\"".repeat(200);
    let hand = |from: &str, to: &str, payload: &str| {
        let key = json!(key);
        format!(
            r#"{{"action":"create","storyId":{key},"fromAgent":"{from}","toAgent":"{to}","payload":{payload}}}"#
        )
    };
    let plan = format!(r#"{{"plan":"{}"}}"#, "x".repeat(5000));
    for body in [
        hand("orchestrator", "analyst", r#"{"story":"s"}"#),
        hand("analyst", "implementer", &plan),
        hand("implementer", "human", r#"{"question":"?"}"#),
    ] {
        let answer = site.post("/api/handoffs", &body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    for path in [SEED, NATIVE] {
        let mut heard = all(&site, path).await;
        heard.extend(Listener::open(&site, path, None).await.next().await);
        let longest = heard.iter().map(|it| it.n_bytes).max().unwrap();
        assert!((700..1024).contains(&longest), "{longest}");
    }
}

#[tokio::test]
async fn somebody_who_does_not_read_gets_it_all_later() {
    let site = Site::open().await;
    let mut slow = Listener::narrow(&site, NATIVE).await;
    let mut quick = Listener::open(&site, NATIVE, None).await;
    let heard = more_than_sockets_hold(&site, &mut quick).await;
    assert_eq!(slow.until(is_last).await, heard);
}

#[tokio::test]
async fn many_listeners_all_hear_the_same() {
    let site = Site::open().await;
    let mut listening = JoinSet::new();
    for n in 0..50 {
        let path = if n % 2 == 0 { SEED } else { NATIVE };
        let mut listener = Listener::open(&site, path, None).await;
        listener.next().await.unwrap();
        listening.spawn(async move {
            let is_last = |it: &Heard| it.data.to_string().contains("cancelled");
            let heard = listener.until(is_last).await;
            heard.into_iter().map(|it| it.id.unwrap()).collect::<Vec<String>>()
        });
    }
    several_stories(&site, 10).await;
    let all = all(&site, NATIVE).await;
    for heard in listening.join_all().await {
        let n_common = heard.len().min(all.len());
        assert_eq!(heard[..n_common], ids(&all)[..n_common]);
        assert!(n_common > 30);
    }
}

#[tokio::test]
async fn the_server_ends_though_somebody_listens() {
    let site = Site::open().await;
    let mut listeners = Vec::new();
    for _ in 0..20 {
        let mut listener = Listener::open(&site, SEED, None).await;
        listener.next().await.unwrap();
        listeners.push(listener);
    }
    site.close().await;
    for mut listener in listeners {
        assert_eq!(listener.next().await, None);
    }
}

#[tokio::test]
async fn the_server_ends_though_somebody_has_stopped_reading() {
    let site = Site::open().await;
    let slow = Listener::narrow(&site, NATIVE).await;
    let mut quick = Listener::open(&site, NATIVE, None).await;
    more_than_sockets_hold(&site, &mut quick).await;
    // What is left to wait for is only the patience of the server.
    tokio::time::pause();
    site.close().await;
    drop(slow);
}

#[tokio::test]
async fn no_foreign_page_can_listen() {
    let site = Site::open().await;
    let own = format!("http://{}", site.address);
    for path in [SEED, NATIVE] {
        for (headers, status) in [
            (&[("Host", "evil.example")][..], 421),
            (&[("Host", "127.0.0.1:1")], 421),
            (&[("Origin", "http://evil.example")], 403),
            (&[("Origin", "null")], 403),
            (&[("Sec-Fetch-Site", "cross-site")], 403),
            (&[("Sec-Fetch-Site", "same-site")], 403),
            // To open it as if it were a page does not make it one.
            (
                &[
                    ("Sec-Fetch-Site", "cross-site"),
                    ("Sec-Fetch-Mode", "navigate"),
                    ("Sec-Fetch-Dest", "document"),
                ],
                403,
            ),
        ] {
            let answer = site.ask("GET", path, headers, "").await;
            assert_eq!(answer.status, status, "{path} {headers:?}");
            assert!(!answer.body.contains("cursor"), "{}", answer.body);
        }
        let head = site.ask("HEAD", path, &[("Origin", &own)], "").await;
        assert_eq!(head.status, 200, "{}", head.headers);
        assert!(!head.headers.contains("access-control"), "{}", head.headers);
        assert_eq!(site.ask("POST", path, &[], "{}").await.status, 405);
    }
}

/// `n` stories handed in and taken up, and one that is cancelled at the end.
async fn several_stories(site: &Site, n: usize) {
    for n in 0..n {
        let story = format!("s-{n}");
        site.start(&story).await;
        site.accept(&story, 1).await;
    }
    end(site).await;
}

async fn end(site: &Site) {
    site.start("last").await;
    site.on_run("last", Command::CancelRun { reason: None }).await;
}

/// The last story is cancelled, which no other is.
fn is_last(it: &Heard) -> bool {
    it.data["storyId"] == "last" && it.data["status"] == "cancelled"
}

/// Several megabytes: what the kernel keeps for a connection is at most four. They come in as many
/// pieces as there are commands, because somebody hears each before the next is given.
async fn more_than_sockets_hold(site: &Site, quick: &mut Listener) -> Vec<Heard> {
    let mut heard = Vec::new();
    for n in 0..1200 {
        let story = format!("{n:04}{}", "\"".repeat(196));
        site.start(&story).await;
        heard.extend(quick.until(|it| it.name.as_deref() == Some("AGENT_HANDOFF")).await);
        site.accept(&story, 1).await;
        heard.extend(quick.until(|it| it.data["status"] == "accepted").await);
    }
    end(site).await;
    heard.extend(quick.until(is_last).await);
    heard
}
