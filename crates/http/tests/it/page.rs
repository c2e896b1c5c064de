//! The page: what it says, and that nobody's text becomes part of it.

use baton_core::command::{Clarify, Command, Reply};
use baton_core::names::FreeText;
use baton_core::run::HandoffNo;

use crate::client::{Answer, Listener, Site};

/// A page that is there.
pub(crate) async fn page(site: &Site, path: &str) -> String {
    let answer = site.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    assert!(
        answer.headers.contains("content-type: text/html; charset=utf-8"),
        "{}",
        answer.headers
    );
    answer.body
}

/// What a reader sees of it: no markup, and blanks as one.
pub(crate) fn read(page: &str) -> String {
    let main = page.split_once("<main id=\"live\">").unwrap().1;
    let mut text = String::new();
    let mut is_markup = false;
    for it in main.chars() {
        match it {
            '<' => is_markup = true,
            '>' => {
                is_markup = false;
                text.push(' ');
            }
            it if !is_markup => text.push(it),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
pub(crate) fn says(page: &str, words: &str) {
    let text = read(page);
    assert!(text.contains(words), "`{words}` is not in: {text}");
}

pub(crate) async fn hand(site: &Site, story: &str, from: &str, to: &str, payload: &str) -> Answer {
    let body = format!(
        r#"{{"action":"create","storyId":"{story}","fromAgent":"{from}","toAgent":"{to}","payload":{payload}}}"#
    );
    let answer = site.post("/api/handoffs", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

#[tokio::test]
async fn a_page_without_data_says_what_to_type() {
    let site = Site::open().await;
    let page = page(&site, "/").await;
    says(&page, "Nothing is under way");
    says(&page, "baton story add KEY --title TEXT");
    assert!(page.contains("<title>Baton</title>"));
}

#[tokio::test]
async fn a_run_shows_who_has_the_baton_and_how_far_it_has_come() {
    let site = Site::open().await;
    site.start("v0.1:1.1.1").await;
    says(&page(&site, "/").await, "Analyst is to take the baton HO-001");
    site.accept("v0.1:1.1.1", 1).await;
    hand(&site, "v0.1:1.1.1", "analyst", "implementer", r#"{"plan":"a form"}"#).await;
    hand(&site, "v0.1:1.1.1", "implementer", "reviewer", r#"{"summary":"built"}"#).await;
    let reject = r#"{"action":"reject","handoffId":3,"reason":"Tests failing"}"#;
    assert_eq!(site.post("/api/handoffs", reject).await.status, 200);
    for path in ["/", "/runs/1"] {
        let page = page(&site, path).await;
        says(&page, "Implementer is to take the baton HO-004");
        says(&page, "✓ Analyze done ○ Implement to be taken returned 1× ↩ Review sent back");
        says(&page, "I Implementer → R Reviewer rejected");
        says(&page, "Rejected because Tests failing");
        says(&page, "created 2025-06-15 15:06:40 UTC");
        assert_eq!(page.matches("aria-current=\"step\"").count(), 1);
    }
}

#[tokio::test]
async fn what_waits_for_a_person_says_what_to_type_and_what_then_happens() {
    let site = Site::open().await;
    site.start("s-1").await;
    site.accept("s-1", 1).await;
    hand(&site, "s-1", "analyst", "human", r#"{"question":"per key or per address?"}"#).await;
    let page = page(&site, "/").await;
    says(&page, "Waits for you 1");
    says(
        &page,
        "baton answer 1/HO-002 --comment TEXT analyst goes on with HO-001, with your answer",
    );
    says(&page, "baton approve 1/HO-002 analyst goes on with HO-001, with your yes");
    says(&page, "baton reject 1/HO-002 analyst goes on with HO-001, with your no");
    says(&page, "You have to answer HO-002");
    says(&page, "! Analyze waits for you");
    assert!(page.contains("<title>(1) Baton</title>"));
}

#[tokio::test]
async fn a_question_stands_with_its_answer() {
    let site = Site::open().await;
    site.start("s-1").await;
    site.accept("s-1", 1).await;
    hand(&site, "s-1", "analyst", "implementer", r#"{"plan":"p"}"#).await;
    let handoff = HandoffNo(2);
    let question = FreeText::parse("Which colour?").unwrap();
    site.on_run("s-1", Command::Clarify(Clarify { handoff, by: None, question, fence: None }))
        .await;
    says(&page(&site, "/runs/1").await, "Question Which colour? Not answered yet");
    let answer = FreeText::parse("Green").unwrap();
    site.on_run(
        "s-1",
        Command::Reply(Reply { handoff: HandoffNo(3), by: None, answer, fence: None }),
    )
    .await;
    says(&page(&site, "/runs/1").await, "Question Which colour? Answer Green");
    says(&page(&site, "/handoffs/2").await, "Asked about it");
}

#[tokio::test]
async fn nobodys_text_becomes_part_of_the_page() {
    let site = Site::open().await;
    let hostile =
        r#"</pre><script>alert(1)</script><img src=x onerror=alert(2)>\u202egpj.exe\u0007"#;
    let story = "<b onclick=x>&\\\"'";
    hand(&site, story, "orchestrator", "analyst", &format!(r#"{{"story":"{hostile}"}}"#)).await;
    let accept = format!(r#"{{"action":"accept","handoffId":1,"payload":{{"task":"{hostile}"}}}}"#);
    assert_eq!(site.post("/api/handoffs", &accept).await.status, 200);
    let reject = format!(r#"{{"action":"reject","handoffId":1,"reason":"{hostile}"}}"#);
    assert_eq!(site.post("/api/handoffs", &reject).await.status, 200);
    for path in ["/", "/runs/1", "/handoffs/1"] {
        let page = page(&site, path).await;
        for markup in ["<script>", "<img", "<b ", "onclick=x>", "\u{202e}", "\u{7}"] {
            assert!(!page.contains(markup), "{path}: {markup}");
        }
        // The one script is ours.
        assert_eq!(page.matches("<script").count(), 1, "{path}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{path}");
        assert!(page.contains("<span class=\"hidden\">U+202E</span>gpj.exe"), "{path}");
        assert!(page.contains("<span class=\"hidden\">U+0007</span>"), "{path}");
        assert!(page.contains("&lt;b onclick=x&gt;&amp;&quot;&#39;"), "{path}");
    }
}

#[tokio::test]
async fn a_long_package_has_a_page_of_its_own() {
    let site = Site::open().await;
    let long = "word ".repeat(5000);
    hand(&site, "s-1", "orchestrator", "analyst", &format!(r#"{{"story":"{long}end"}}"#)).await;
    let run = page(&site, "/runs/1").await;
    assert!(run.len() < 10_000, "{}", run.len());
    says(&run, "All of it");
    says(&page(&site, "/handoffs/1").await, "word end");
}

#[tokio::test]
async fn what_ended_is_still_shown() {
    let site = Site::open().await;
    site.start("s-1").await;
    site.on_run("s-1", Command::CancelRun { reason: None }).await;
    let board = page(&site, "/").await;
    says(&board, "No run is open.");
    says(&board, "Ended lately – s-1 cancelled");
    says(&page(&site, "/runs/1").await, "The run is cancelled");
}

/// The script replaces the parts of the page by their keys.
#[tokio::test]
async fn every_part_of_a_page_has_a_key_of_its_own() {
    let site = Site::open().await;
    for n in 0..3 {
        site.start(&format!("s-{n}")).await;
    }
    site.accept("s-0", 1).await;
    hand(&site, "s-0", "analyst", "human", r#"{"question":"?"}"#).await;
    site.on_run("s-2", Command::CancelRun { reason: None }).await;
    for path in ["/", "/runs/1", "/handoffs/1"] {
        let page = page(&site, path).await;
        let keys: Vec<&str> =
            page.split("data-key=\"").skip(1).map(|it| it.split('"').next().unwrap()).collect();
        let mut once = keys.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), keys.len(), "{keys:?}");
        let n_parts = parts_of_main(&page);
        assert_eq!(keys.len(), n_parts, "{path}: {keys:?}");
    }
}

/// How many elements stand directly in `<main>`.
fn parts_of_main(page: &str) -> usize {
    let main = page.split_once("<main id=\"live\">").unwrap().1.split_once("</main>").unwrap().0;
    let (mut depth, mut n_parts) = (0, 0);
    for tag in main.split('<').skip(1) {
        if tag.starts_with('/') {
            depth -= 1;
        } else if !tag.starts_with("input") {
            n_parts += usize::from(depth == 0);
            depth += 1;
        }
    }
    assert_eq!(depth, 0, "every element is closed");
    n_parts
}

#[tokio::test]
async fn a_page_is_let_in_by_a_link_and_nothing_else_is() {
    let site = Site::open().await;
    site.start("s-1").await;
    let visit = [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
    ];
    let framed = [visit[0], visit[1], ("Sec-Fetch-Dest", "iframe")];
    for path in ["/", "/runs/1", "/handoffs/1"] {
        assert_eq!(site.ask("GET", path, &visit, "").await.status, 200, "{path}");
        assert_eq!(site.ask("GET", path, &visit[..1], "").await.status, 403, "{path}");
        assert_eq!(site.ask("GET", path, &framed, "").await.status, 403, "{path}");
        let answer = site.get(path).await;
        assert!(answer.headers.contains("script-src 'self'"), "{}", answer.headers);
        assert!(answer.headers.contains("cache-control: no-store"), "{}", answer.headers);
    }
    assert_eq!(site.ask("GET", "/api/handoffs?storyId=s-1", &visit, "").await.status, 403);
}

#[tokio::test]
async fn an_address_names_what_the_command_line_names_and_every_answer_is_a_page() {
    let site = Site::open().await;
    site.start("g1").await;
    site.start("owner/repo#2").await;
    for path in ["/runs/1", "/runs/run:1", "/runs/g1", "/runs/story:g1"] {
        assert!(page(&site, path).await.contains("<h2><bdi>g1</bdi></h2>"), "{path}");
    }
    assert!(page(&site, "/runs/owner%2Frepo%232").await.contains("owner/repo#2</bdi></h2>"));
    for path in ["/handoffs/1", "/handoffs/handoff:1", "/handoffs/run:1%2FHO-001"] {
        assert!(page(&site, path).await.contains("HO-001 of g1"), "{path}");
    }
    for (path, status, words) in [
        ("/runs/99", 404, "there is no run <code>99</code>"),
        ("/runs/run:99", 404, "there is no run <code>run:99</code>"),
        ("/runs/%3Cb%3E", 404, "there is no run <code>&lt;b&gt;</code>"),
        ("/runs/%FF", 400, "the path is not UTF-8 once decoded"),
        ("/handoffs/999", 404, "there is no handoff <code>999</code>"),
        ("/handoffs/x", 404, "there is no handoff <code>x</code>"),
        ("/handoffs/HO-001", 400, "HO-001"),
    ] {
        let answer = site.get(path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(answer.headers.contains("content-type: text/html; charset=utf-8"), "{path}");
        assert!(answer.body.contains(words), "{path}: {}", answer.body);
    }
}

#[tokio::test]
async fn the_files_of_the_page_are_kept_by_their_version_only() {
    let site = Site::open().await;
    let page = page(&site, "/").await;
    for name in ["baton.js", "baton.css"] {
        let begin = page.find(&format!("/assets/{name}?v=")).unwrap();
        let path = page[begin..].split('"').next().unwrap();
        let kept = site.get(path).await;
        assert_eq!(kept.status, 200);
        assert!(kept.headers.contains("immutable"), "{}", kept.headers);
        for other in [format!("/assets/{name}"), format!("/assets/{name}?v=0")] {
            let answer = site.get(&other).await;
            assert!(answer.headers.contains("cache-control: no-cache"), "{}", answer.headers);
            assert_eq!(answer.body, kept.body);
        }
    }
    assert_eq!(site.get("/assets/nothing.js").await.status, 404);
}

/// The header of a page.
fn headline(page: &str) -> &str {
    let line = page.split_once("<p id=\"headline\" role=\"status\"><bdi>").unwrap().1;
    line.split_once("</bdi>").unwrap().0
}

/// The script asks for the page again only for events that its answer does not show.
#[tokio::test]
async fn a_page_says_up_to_which_event_it_shows_everything() {
    let site = Site::open().await;
    let position = async |path: &str| -> u64 {
        let answer = site.get(path).await;
        let line = answer.headers.lines().find_map(|it| it.strip_prefix("baton-position: "));
        line.unwrap_or_else(|| panic!("{path}: {}", answer.headers)).trim().parse().unwrap()
    };
    assert_eq!(position("/").await, 0);
    site.start("s-1").await;
    let run: serde_json::Value =
        serde_json::from_str(&site.get("/api/v1/runs/1/events").await.body).unwrap();
    let n_events = run["items"].as_array().unwrap().len() as u64;
    for path in ["/", "/runs/1", "/handoffs/1"] {
        assert_eq!(position(path).await, n_events, "{path}");
    }
}

/// What the script does: on every event it fetches the page. Header and card are of the same state
/// then, and of the state that the event has brought about.
#[tokio::test]
async fn after_every_event_the_page_and_its_header_show_who_has_the_baton_now() {
    let site = Site::open().await;
    let mut events = Listener::open(&site, "/api/events", None).await;
    site.start("s-1").await;
    site.start("s-2").await;
    for (act, sentence) in [
        ("", "Analyst is to take the baton"),
        (r#"{"action":"accept","handoffId":1}"#, "Analyst has the baton"),
        (
            r#"{"action":"create","storyId":"s-1","fromAgent":"analyst","toAgent":"implementer","payload":{"plan":"p"}}"#,
            "Implementer is to take the baton",
        ),
        ("cancel", "The run is cancelled"),
    ] {
        match act {
            "" => {}
            "cancel" => site.on_run("s-1", Command::CancelRun { reason: None }).await,
            act => assert_eq!(site.post("/api/handoffs", act).await.status, 200),
        }
        events.next().await.unwrap();
        let run = page(&site, "/runs/1").await;
        assert_eq!(headline(&run), sentence);
        says(&run, sentence);
        // The other run's page speaks of the other run.
        assert_eq!(headline(&page(&site, "/runs/2").await), "Analyst is to take the baton");
    }
    let board = page(&site, "/").await;
    assert_eq!(headline(&board), "s-2: Analyst is to take the baton");
    site.on_run("s-2", Command::CancelRun { reason: None }).await;
    assert_eq!(headline(&page(&site, "/").await), "No run is open");
}

#[tokio::test]
async fn a_page_names_its_project_in_heading_and_title() {
    let site = Site::open_named("shop <b>").await;
    let board = page(&site, "/").await;
    assert!(board.contains("<title>shop &lt;b&gt; · Baton</title>"), "{board}");
    assert!(board.contains("<span class=\"project\"><bdi>shop &lt;b&gt;</bdi></span>"), "{board}");
    site.start("s-1").await;
    let run = page(&site, "/runs/1").await;
    assert!(run.contains("<title>s-1 · shop &lt;b&gt; · Baton</title>"), "{run}");
    // Nothing about the project for a request that is not let in.
    let visit = [("Accept", "text/html,application/xhtml+xml"), ("Host", "evil.example")];
    let refused = site.ask("GET", "/", &visit, "").await;
    assert_eq!(refused.status, 421);
    assert!(
        refused.body.contains("<title>Misdirected Request · Baton</title>"),
        "{}",
        refused.body
    );
    assert!(!refused.body.contains("shop"), "{}", refused.body);
}

#[tokio::test]
async fn an_error_is_a_page_for_browsers_and_json_for_programs() {
    let site = Site::open().await;
    let browser = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    for (path, status) in [
        ("/nothing", 404),
        ("/runs/77", 404),
        ("/assets/nothing.js", 404),
        ("/api/v1/runs/77", 404),
        ("/api/v1/runs?limit=x", 400),
        ("/errors/nothing", 404),
    ] {
        for headers in [&[browser][..], &[browser, ("Sec-Fetch-Mode", "navigate")]] {
            let answer = site.ask("GET", path, headers, "").await;
            assert_eq!(answer.status, status, "{path}");
            assert!(answer.headers.contains("content-type: text/html"), "{path}");
            assert!(answer.headers.contains("script-src 'self'"), "{path}");
            assert!(answer.body.contains("<a href=\"/\">All runs</a>"), "{path}: {}", answer.body);
        }
        let script = [browser, ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Site", "same-origin")];
        for headers in [&script[..], &[("Accept", "*/*")], &[("Accept", "text/html")], &[]] {
            let answer = site.ask("GET", path, headers, "").await;
            assert_eq!(answer.status, status, "{path}");
            // The routes of pages answer with a page in any case.
            let is_page = path == "/runs/77";
            let kind = if is_page { "text/html" } else { "application/problem+json" };
            assert!(answer.headers.contains(kind), "{path}: {}", answer.headers);
        }
    }
}

/// The buttons of the first item: what each sends where.
fn buttons(page: &str) -> Vec<(String, String, String)> {
    let form = page.split_once("<form class=\"say\"").unwrap().1.split_once("</form>").unwrap().0;
    let value = |tag: &str, name: &str| {
        let text = tag.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0;
        text.replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&#39;", "'")
            .replace("&amp;", "&")
    };
    let tags = form.split("<button").skip(1).map(|it| it.split_once('>').unwrap().0);
    tags.map(|it| (value(it, "value"), value(it, "data-send"), value(it, "data-body"))).collect()
}

#[tokio::test]
async fn each_answer_of_a_gate_has_a_button_that_sends_it() {
    for (nth, choice) in
        ["answer", "approve", "reject", "question", "abort"].into_iter().enumerate()
    {
        let site = Site::open().await;
        site.start("s-1").await;
        site.accept("s-1", 1).await;
        hand(&site, "s-1", "analyst", "human", r#"{"question":"per key or per address?"}"#).await;
        let board = page(&site, "/").await;
        let inbox: serde_json::Value =
            serde_json::from_str(&site.get("/api/v1/inbox").await.body).unwrap();
        let choices = inbox["items"][0]["choices"].as_array().unwrap();
        let choices: Vec<&str> = choices.iter().map(|it| it["choice"].as_str().unwrap()).collect();
        let buttons = buttons(&board);
        assert_eq!(buttons.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), choices);
        let (value, path, body) = &buttons[nth];
        assert_eq!(value, choice);
        // As the script sends it: JSON, with the origin of this server, and a comment.
        let body = body.replace('}', r#","comment":"per key"}"#);
        let origin = format!("http://{}", site.address);
        let json = ("Content-Type", "application/json");
        let ours = [json, ("Origin", &origin), ("Sec-Fetch-Site", "same-origin")];
        for (headers, status) in [
            (&[json, ("Origin", "http://evil.example")][..], 403),
            (&[json, ("Origin", "http://127.0.0.1:1")], 403),
            (&[json, ("Origin", "null")], 403),
            (&[json, ("Origin", &origin), ("Sec-Fetch-Site", "cross-site")], 403),
            (&[("Content-Type", "text/plain"), ("Origin", &origin)], 415),
            (&[("Content-Type", "application/x-www-form-urlencoded"), ("Origin", &origin)], 415),
            (&[("Origin", &origin)], 415),
            (&ours, 200),
            (&ours, 409),
        ] {
            let answer = site.ask("POST", path, headers, &body).await;
            assert_eq!(answer.status, status, "{choice} {headers:?}: {}", answer.body);
            assert!(!answer.headers.contains("access-control-"), "{}", answer.headers);
            if choice == "question" && status == 200 {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_loose_baton_and_a_story_that_has_not_begun_have_their_buttons() {
    let site = Site::open().await;
    let key = "a<b>&'\"é";
    let story = serde_json::json!({ "key": key, "title": "<i>Log in</i>" }).to_string();
    let json = [("Content-Type", "application/json")];
    assert_eq!(site.ask("POST", "/api/v1/stories", &json, &story).await.status, 201);
    let board = page(&site, "/").await;
    says(&board, "Not begun 1 &lt;i&gt;Log in&lt;/i&gt;");
    let [(_, path, body)] = &buttons(&board.replace("say start with-script", "say"))[..] else {
        panic!("{board}")
    };
    assert_eq!(site.ask("POST", path, &json, body).await.status, 201);
    let after = page(&site, "/").await;
    assert!(!after.contains("Not begun"), "{after}");
    assert_eq!(site.ask("POST", "/api/v1/runs/1/cleanup", &json, "{}").await.status, 200);
    let board = page(&site, "/").await;
    says(&board, "Waits for you 1 You are Use this name &lt;i&gt;Log in&lt;/i&gt;");
    assert!(!board.contains("<i>"), "{board}");
    let buttons = buttons(&board);
    assert_eq!(buttons.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), ["start", "cancel"]);
    for (_, path, body) in &buttons {
        let answer = site.ask("POST", path, &json, body).await;
        assert!(answer.status < 300, "{path} {body}: {}", answer.body);
    }
}

#[tokio::test]
async fn the_board_lists_workflows_and_agents() {
    let site = Site::open().await;
    let board = page(&site, "/").await;
    says(&board, "5 workflows");
    says(&board, "Implement implementer");
    says(&board, "R Reviewer reviewer");
}

#[tokio::test]
async fn the_description_of_the_api_is_styled_and_shows_bodies() {
    let site = Site::open().await;
    let page = page(&site, "/api").await;
    assert!(page.contains("/assets/baton.css?v="), "{page}");
    assert!(!page.contains('`'), "backticks are code");
    let answer =
        page.split_once("id=\"answerInbox\"").unwrap().1.split_once("</details>").unwrap().0;
    for field in ["<h3>Body", "<code>answer</code>", "<code>toAgent</code>", "<code>comment</code>"]
    {
        assert!(answer.contains(field), "{field}: {answer}");
    }
}
