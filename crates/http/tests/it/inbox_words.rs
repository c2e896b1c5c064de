//! Whose words a person reads in the inbox, and which.

use serde_json::Value;

use crate::world::*;

const FAILED: &str = "<validation_status>failed</validation_status><failures>\
    <failure type=\"test\">a.ts:1 got 401</failure></failures>";
const APPROVED: &str = "<review_status>approved</review_status><critical_count>0</critical_count>\
    <important_count>0</important_count><summary>The review found nothing</summary>";

fn fixed(what: &str) -> String {
    format!("<fixes_applied><fix location=\"a.ts:1\">{what}</fix></fixes_applied>")
}

fn rejected(what: &str) -> String {
    format!(
        "<review_status>changes_requested</review_status><critical_count>1</critical_count>\
         <important_count>0</important_count><blocking_issues><issue severity=\"critical\" \
         location=\"{what}.ts:1\">{what}</issue></blocking_issues>"
    )
}

async fn sends(world: &World, from: &str, to: &str, inner: &str) -> Value {
    let document = format!(
        "<handoff><from>{from}</from><to>{to}</to>\
         <issue_url>https://github.com/o/r/issues/1</issue_url><issue_number>1</issue_number>\
         <pr_number>2</pr_number>{inner}</handoff>"
    );
    let xml = [("content-type", "application/xml")];
    let path = "/api/v1/documents?profile=lenient&newStory=true";
    world.client.send("POST", path, &xml, &document).await.is(201)
}

/// The work is with the reviewer.
async fn in_review() -> World {
    let world = world().await;
    sends(&world, "issue-manager", "prep-agent", "<summary>Issue</summary>").await;
    sends(&world, "prep-agent", "implementer-agent", "<branch>b</branch>").await;
    sends(&world, "implementer-agent", "reviewer-agent", "<summary>Built</summary>").await;
    world
}

/// The only item, and whose words it has: the agent, the handoff and the first text of each.
async fn only_item(world: &World) -> (Value, Vec<String>) {
    let inbox = world.get("/api/v1/inbox").await.is(200);
    let items = inbox["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{inbox}");
    let said = |it: &Value| {
        let handoff = it["handoff"].as_str().unwrap_or("-");
        let text = it["parts"][0]["texts"][0].as_str().unwrap();
        format!("{} {handoff}: {text}", it["agent"].as_str().unwrap())
    };
    let said = items[0]["sender"].as_array().unwrap().iter().map(said).collect();
    (items[0].clone(), said)
}

#[tokio::test]
async fn words_in_the_inbox_stand_under_the_name_of_the_agent_that_wrote_them() {
    let world = in_review().await;
    sends(&world, "reviewer-agent", "validator-agent", APPROVED).await;
    sends(&world, "validator-agent", "fixer-agent", FAILED).await;
    sends(&world, "fixer-agent", "reviewer-agent", &fixed("Set the header")).await;
    sends(&world, "reviewer-agent", "validator-agent", APPROVED).await;
    sends(&world, "validator-agent", "fixer-agent", FAILED).await;
    let (item, said) = only_item(&world).await;
    let why = "`validate` found the same twice in a row; a person decides how to go on";
    assert_eq!((&item["cause"], &item["why"]), (&"same_findings".into(), &why.into()));
    assert!(item["words"].is_null(), "it is Baton's own sentence: {item}");
    assert_eq!(
        said,
        [
            "validator-agent -: a.ts:1 (test): got 401",
            "fixer-agent HO-006: a.ts:1: Set the header",
            "reviewer-agent HO-007: The review found nothing",
        ]
        .map(|it| it.replace("a.ts:1 (test): got 401", "a.ts:1 got 401 (test)"))
    );
}

#[tokio::test]
async fn a_gate_at_the_limit_of_a_step_shows_the_last_review_and_what_was_made_of_it() {
    let world = in_review().await;
    for round in 1..=4 {
        let inbox = world.get("/api/v1/inbox").await.is(200);
        if inbox["items"][0].is_object() {
            break;
        }
        let found = rejected(&format!("Finding {round}"));
        sends(&world, "reviewer-agent", "fixer-agent", &found).await;
        sends(&world, "fixer-agent", "reviewer-agent", &fixed(&format!("Fix {round}"))).await;
    }
    let (item, said) = only_item(&world).await;
    assert_eq!(item["cause"], "entries", "{item}");
    let n = said.len();
    assert_eq!(n, 2, "{said:?}");
    assert!(said[0].starts_with("reviewer-agent HO-0"), "{said:?}");
    assert!(said[0].contains("Finding"), "{said:?}");
    assert!(said[1].starts_with("fixer-agent HO-0") && said[1].contains("Fix"), "{said:?}");
}

#[tokio::test]
async fn a_step_that_is_blocked_again_shows_what_it_tried_before() {
    let world = world_of(&[crate::branches::FAN]).await;
    crate::branches::fanned_out(&world).await;
    crate::branches::blocked(&world, 2, "read the design").await;
    let solved = r#"{"outcome":"success","package":{"resolution":"keep it in the session"},"profile":"lenient"}"#;
    world.post("/api/v1/handoffs/4/accept", "{}").await.is(200);
    world.post("/api/v1/handoffs/4/complete", solved).await.is(200);
    crate::branches::blocked(&world, 5, "asked for a key").await;
    let (item, said) = only_item(&world).await;
    assert_eq!(item["cause"], "blocked", "{item}");
    assert_eq!(said.len(), 2, "{said:?}");
    let attempted = |no: usize| {
        let parts = item["sender"][no]["parts"].as_array().unwrap();
        parts.iter().find(|it| it["name"] == "attempted").unwrap()["texts"][0].clone()
    };
    assert_eq!((attempted(0), attempted(1)), ("asked for a key".into(), "read the design".into()));
}
