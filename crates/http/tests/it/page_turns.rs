//! Whose turn it is, as the page says it: steps and banner agree, and what can be answered has a button.

use baton_core::command::{Clarify, Command, Reply};
use baton_core::names::FreeText;
use baton_core::run::HandoffNo;

use crate::client::Site;
use crate::page::{hand, page, read, says};

#[tokio::test]
async fn a_step_whose_sender_is_asked_is_not_to_be_taken() {
    let site = Site::open().await;
    site.start("s-1").await;
    site.accept("s-1", 1).await;
    hand(&site, "s-1", "analyst", "implementer", r#"{"plan":"p"}"#).await;
    says(&page(&site, "/").await, "Implement to be taken");
    let question = FreeText::parse("Which colour?").unwrap();
    let clarify = Clarify { handoff: HandoffNo(2), by: None, question, fence: None };
    site.on_run("s-1", Command::Clarify(clarify)).await;
    let asked = page(&site, "/").await;
    assert!(asked.contains("Implementer asks Analyst a question"), "{asked}");
    says(&asked, "is asked a question by");
    says(&asked, "Implement asked");
    assert!(!read(&asked).contains("Implement to be taken"), "{}", read(&asked));
}

#[tokio::test]
async fn a_card_gives_no_answered_question_as_its_reason() {
    let site = Site::open().await;
    site.start("s-1").await;
    site.accept("s-1", 1).await;
    hand(&site, "s-1", "analyst", "implementer", r#"{"plan":"p"}"#).await;
    let question = FreeText::parse("Which colour?").unwrap();
    let clarify = Clarify { handoff: HandoffNo(2), by: None, question, fence: None };
    site.on_run("s-1", Command::Clarify(clarify)).await;
    let because = async || {
        let board = page(&site, "/").await;
        let (_, behind) = board.split_once("<p class=\"because\">").unwrap();
        behind.split_once("</p>").unwrap().0.to_owned()
    };
    assert!(because().await.contains("Which colour?"), "{}", because().await);
    let answer = FreeText::parse("Green").unwrap();
    let reply = Reply { handoff: HandoffNo(3), by: None, answer, fence: None };
    site.on_run("s-1", Command::Reply(reply)).await;
    assert!(!because().await.contains("Which colour?"), "{}", because().await);
}

#[tokio::test]
async fn a_gate_has_its_buttons_on_its_own_page_and_a_run_names_its_story_once() {
    let site = Site::open().await;
    let story = r#"{"key":"s-1","title":"Log in"}"#;
    let json = [("Content-Type", "application/json")];
    assert_eq!(site.ask("POST", "/api/v1/stories", &json, story).await.status, 201);
    site.start("s-1").await;
    site.accept("s-1", 1).await;
    hand(&site, "s-1", "analyst", "human", r#"{"question":"per key or per address?"}"#).await;
    let gate = page(&site, "/handoffs/2").await;
    assert!(gate.contains("data-send=\"/api/v1/inbox/2/answer\""), "{gate}");
    assert!(!gate.contains("What was handed over with"), "it is on this page: {gate}");
    let finished = page(&site, "/handoffs/1").await;
    assert!(!finished.contains("data-send"), "nothing to answer there");
    assert!(!finished.contains("have to answer"), "{finished}");
    assert!(finished.contains("HO-001 is parked"), "{finished}");
    let run = page(&site, "/runs/1").await;
    assert!(run.contains("data-send=\"/api/v1/inbox/2/answer\""), "{run}");
    let main = run.split_once("<main id=\"live\">").unwrap().1;
    assert_eq!(main.matches(">Log in<").count(), 1, "{main}");
}

#[tokio::test]
async fn a_story_that_comes_after_others_says_so_in_the_place_of_its_button() {
    let site = Site::open().await;
    let json = [("Content-Type", "application/json")];
    for story in [r#"{"key":"a"}"#, r#"{"key":"b","dependsOn":["a","c"]}"#] {
        assert_eq!(site.ask("POST", "/api/v1/stories", &json, story).await.status, 201);
    }
    let board = page(&site, "/").await;
    says(&board, "b after a , c");
    assert_eq!(board.matches("value=\"start\"").count(), 1, "{board}");
    let own = page(&site, "/stories/b").await;
    says(&own, "Waits for a , c . To start it now: baton run start b --anyway");
    let refused = site.ask("POST", "/api/v1/runs", &json, r#"{"story":"b"}"#).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.contains("depends_on_others"), "{}", refused.body);
    let anyway = r#"{"story":"b","anyway":true}"#;
    assert_eq!(site.ask("POST", "/api/v1/runs", &json, anyway).await.status, 201);
}

#[tokio::test]
async fn what_was_refused_is_not_said_to_have_timed_out_and_a_long_reason_stands_once() {
    let site = Site::open().await;
    site.start("s-1").await;
    let json = [("Content-Type", "application/json")];
    let why = format!("its handoff was refused twice: {}", "the plan is missing; ".repeat(10));
    let body = format!(r#"{{"reason":"failure: {why}"}}"#);
    for handoff in [1, 2] {
        let path = format!("/api/v1/handoffs/{handoff}/timeout");
        let ended = site.ask("POST", &path, &json, &body).await;
        assert_eq!(ended.status, 200, "{}", ended.body);
        let started = site.ask("POST", "/api/v1/runs", &json, r#"{"story":"s-1"}"#).await;
        assert_eq!(started.status, 201, "{}", started.body);
    }
    let run = page(&site, "/runs/1").await;
    let history = run.split_once("data-key=\"history\"").unwrap().1;
    let history = history.split_once("data-key=\"messages\"").map_or(history, |it| it.0);
    assert!(history.contains("Failed because"), "{history}");
    assert!(!history.contains("imed out") && !history.contains("timed_out"), "{history}");
    assert_eq!(history.matches(why.trim()).count(), 1, "{history}");
    assert!(history.contains("the same text as with HO-00"), "{history}");
}

#[tokio::test]
async fn an_error_page_has_no_raw_backticks() {
    let site = Site::open().await;
    let headers = [("Accept", "text/html")];
    let missing = site.ask("GET", "/stories/nope", &headers, "").await;
    assert!(missing.body.contains("there is no story <code>nope</code>"), "{}", missing.body);
}
