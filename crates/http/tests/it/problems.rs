//! The `type` of a problem is a page of the server itself.

use crate::world::world;

#[tokio::test]
async fn the_type_of_a_problem_is_a_page_that_explains_it() {
    let world = world().await;
    let problem = world.get("/api/v1/runs/7").await.refuses(404, "no_such_run");
    assert_eq!(problem["type"], "/errors/no_such_run");
    let page = world.get("/errors/no_such_run").await;
    assert_eq!(
        (page.status, page.header("content-type")),
        (200, Some("text/markdown; charset=utf-8"))
    );
    assert!(page.text.starts_with("# `no_such_run`"), "{}", page.text);
    let listed = world.get("/errors").await.is(200);
    assert!(listed["items"].as_array().unwrap().contains(&"no_such_run".into()), "{listed}");
    assert_eq!(listed["next"], serde_json::Value::Null);
    world.get("/errors/not_there").await.refuses(404, "no_such_error");
}

#[tokio::test]
async fn a_browser_gets_the_page_of_an_error_as_html() {
    let world = world().await;
    let accept = [("accept", "text/html,application/xhtml+xml")];
    let page = world.client.send("GET", "/errors/behind_gate", &accept, "").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text.contains("<h2><code>behind_gate</code></h2>"), "{}", page.text);
}
