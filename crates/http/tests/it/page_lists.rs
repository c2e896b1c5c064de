//! What the page lists: the steps of a run that was cancelled, and the stories that have not begun.

use crate::client::Site;
use crate::page::{page, says};

#[tokio::test]
async fn a_step_whose_work_was_cancelled_is_not_done() {
    let site = Site::open().await;
    site.start("v0.1:1.1.1").await;
    site.accept("v0.1:1.1.1", 1).await;
    let cancelled = site.post("/api/v1/runs/1/cancel", r#"{"reason":"not now"}"#).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.body);
    says(&page(&site, "/runs/1").await, "✕ Analyze cancelled Implement not reached");
}

#[tokio::test]
async fn stories_that_have_not_begun_are_listed_however_many_have() {
    let site = Site::open().await;
    for n in 0..60 {
        site.start(&format!("a:{n}")).await;
    }
    let story = r#"{"key":"zzz","title":"Never begun","priority":9}"#;
    assert_eq!(site.post("/api/v1/stories", story).await.status, 201);
    says(&page(&site, "/").await, "Never begun");
}
