use baton_core::acknowledgement::Acknowledgement;
use baton_core::agent::Agent;
use baton_core::command::{Accept, Command, Create, Reject};
use baton_core::contract::Profile;
use baton_core::names::{AgentId, Principal, Reason, StoryKey};
use baton_core::package::{Format, Package};
use baton_core::registry::Agents;
use baton_core::run::HandoffNo;
use baton_store_tests::MemoryStore;
use baton_wire::{builtin, formats, json, workflow_file};
use jiff::Timestamp;

use super::*;
use baton_engine::{Catalog, Entry, FixedClock, RunTarget};

const SECRET: &str = "hunter2";

/// A run in which every party puts the secret into every text field.
async fn engine() -> (Engine, RunId) {
    engine_with(&format!(r#"{{"plan":"{SECRET}","decisions":["{SECRET}"]}}"#)).await
}

/// The same with another package.
async fn engine_with(document: &str) -> (Engine, RunId) {
    let (_, text) = builtin::workflows()[0];
    let workflow = Arc::new(workflow_file::parse(text).unwrap());
    let agent = |it: &str| AgentId::parse(it).unwrap();
    let agents = Agents::new(["analyst", "implementer"].map(|it| Agent::unknown(agent(it))));
    let name = workflow.name.clone();
    let entry = Entry { workflow, text: text.to_owned() };
    let catalog = Catalog::new([entry], agents, Some(name));
    let clock = Arc::new(FixedClock::at(Timestamp::constant(1_750_000_000, 0)));
    let engine = Engine::open(Arc::new(MemoryStore::default()), clock, catalog).await.unwrap();
    let caller = Caller::new(Principal::parse("ada").unwrap());
    let said = || Reason::parse(&format!("because {SECRET}")).unwrap();
    let create = Create {
        from: agent("analyst"),
        to: agent("implementer"),
        package: Package::new(Format::Json, document, json::parse(document).unwrap()),
        outcome: None,
        reason: Some(said()),
        supersedes: None,
        hands_on: None,
        way: None,
        token: None,
        profile: Profile::Lenient,
    };
    let key = StoryKey::parse("S-1").unwrap();
    let within = RunTarget::Story { key, workflow: None, mode: None };
    let run = engine.create(&caller, within, create).await.unwrap().run;
    let handoff = HandoffNo(
        Views::new(&engine, &Caller::of_baton("baton:archive"))
            .history(run)
            .await
            .unwrap()
            .row
            .run
            .n_handoffs,
    );
    let acknowledgement = Some(Acknowledgement::words(format!("I know {SECRET}")));
    let accept = Command::Accept(Accept { handoff, by: None, acknowledgement, lease: None });
    let reject = Command::Reject(Reject { handoff, by: None, reason: said(), fence: None });
    for command in [accept, reject, Command::CancelRun { reason: Some(said()) }] {
        engine.on_run(&caller, run, command).await.unwrap();
    }
    (engine, run)
}

#[tokio::test]
async fn a_lost_text_is_null_and_nowhere_else() {
    let (engine, run) = engine().await;
    let mut history =
        Views::new(&engine, &Caller::of_baton("baton:archive")).history(run).await.unwrap();
    let n_told = |it: &RenderedSession| {
        it.session.iter().map(|(_, it)| it.matches(SECRET).count()).sum::<usize>()
    };
    assert!(n_told(&rendered(&history, &Bounds::default())) > 10);
    history.forget_texts();
    let lost = rendered(&history, &Bounds::default());
    assert_eq!(n_told(&lost), 0);
    let (_, text) = lost.session.iter().find(|(it, _)| it == "handoffs/HO-001.yaml").unwrap();
    let document = formats::decode(Format::Yaml, text).unwrap();
    for path in [
        "to.reason",
        "package",
        "baton.reason",
        "baton.ended_reason",
        "baton.package",
        "baton.acknowledgement",
    ] {
        let found = document.at(&format!("handoff.{path}"));
        assert_eq!(found, Some(&baton_core::document::Node::Null), "{path}: {text}");
    }
    let (_, page) = lost.session.iter().find(|(it, _)| it == "session.md").unwrap();
    assert!(page.contains("implementer rejects HO-001 (ada): (lost)"), "{page}");
}

#[tokio::test]
async fn every_archived_handoff_reads_back() {
    let (engine, run) = engine().await;
    let rendered = rendered(
        &Views::new(&engine, &Caller::of_baton("baton:archive")).history(run).await.unwrap(),
        &Bounds::default(),
    );
    let yaml = rendered.session.iter().filter(|(it, _)| it.ends_with(".yaml"));
    for (name, text) in yaml {
        let document = formats::decode(Format::Yaml, text).unwrap();
        assert_eq!(&formats::encode(&document, Format::Yaml), text, "{name}");
    }
    let state = formats::decode(Format::Json, &rendered.state).unwrap();
    assert_eq!(json::print(state.member("status").unwrap()), "\"cancelled\"");
}

fn file<'a>(rendered: &'a RenderedSession, name: &str) -> &'a str {
    let (_, text) = rendered.session.iter().find(|(it, _)| it == name).unwrap();
    text
}

/// Packages that grow in another format than their own, 100 kB each.
fn wide_packages() -> Vec<(&'static str, String)> {
    let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(60), "]".repeat(60));
    let list = |item: &str| vec![item; 100_000 / (item.len() + 1)].join(",");
    vec![
        ("short items, deep", format!(r#"{{"plan":{}}}"#, nested(&list("1")))),
        ("short items, less deep", format!(r#"{{"plan":[[[[[[[[{}]]]]]]]]}}"#, list("1"))),
        ("empty maps", format!(r#"{{"plan":[{}]}}"#, list("{}"))),
        ("maps in maps", format!(r#"{{"plan":[{}]}}"#, list(r#"{"a":{"b":{"c":{}}}}"#))),
        ("what cannot be seen", format!(r#"{{"plan":"x{}"}}"#, "\u{202e}".repeat(33_000))),
        ("escapes", format!(r#"{{"plan":"{}"}}"#, r#"\\\""#.repeat(25_000))),
        ("line breaks", format!(r#"{{"plan":"x{}"}}"#, r"\n".repeat(50_000))),
    ]
}

#[tokio::test]
async fn a_file_is_a_few_times_as_large_as_what_it_is_made_of() {
    for (name, package) in wide_packages() {
        let (engine, run) = engine_with(&package).await;
        let rendered = rendered(
            &Views::new(&engine, &Caller::of_baton("baton:archive")).history(run).await.unwrap(),
            &Bounds::default(),
        );
        for (path, text) in &rendered.session {
            assert!(text.len() <= 8 * package.len() + 70_000, "{name}, {path}: {}", text.len());
        }
        let text = file(&rendered, "handoffs/HO-001.yaml");
        let document =
            formats::decode(Format::Yaml, text).unwrap_or_else(|it| panic!("{name}: {it}"));
        // As a document or as text, the package is complete.
        let archived = document.at("handoff.package").unwrap();
        let is_text = *archived == baton_core::document::Node::text(&package);
        assert!(is_text || *archived == json::parse(&package).unwrap(), "{name}");
    }
}

#[tokio::test]
async fn beyond_the_maximum_a_file_says_what_it_leaves_out() {
    let (engine, run) = engine_with(&format!(r#"{{"plan":"{}"}}"#, "x".repeat(20_000))).await;
    let history =
        Views::new(&engine, &Caller::of_baton("baton:archive")).history(run).await.unwrap();
    let whole = rendered(&history, &Bounds::default());
    let n_log = file(&whole, ARCHIVED_LOG).len();
    let bounds = Bounds { file_bytes: 100, log_bytes: n_log - 1, handoffs_listed: 1 };
    let cut = rendered(&history, &bounds);
    let handoff = formats::decode(Format::Yaml, file(&cut, "handoffs/HO-001.yaml")).unwrap();
    let left_out = handoff.at("handoff.baton.package_left_out");
    assert_eq!(left_out, Some(&baton_core::document::Node::Bool(true)));
    assert_eq!(handoff.at("handoff.package"), Some(&baton_core::document::Node::Null));
    let page = file(&cut, "session.md");
    let (kept, end) = page.rsplit_once("\nThe page ends here: ").unwrap();
    assert!(kept.len() <= 100 && file(&whole, "session.md").starts_with(kept), "{page}");
    assert!(end.contains(&format!("{} bytes", file(&whole, "session.md").len())), "{page}");
    let completion =
        |it: &RenderedSession| it.session.iter().any(|(it, _)| it == "completion.yaml");
    assert_eq!((completion(&whole), completion(&cut)), (true, false));
    // All but the last event, each with its texts.
    let log = file(&cut, ARCHIVED_LOG);
    assert!(file(&whole, ARCHIVED_LOG).starts_with(log));
    let n_events = |it: &str| it.lines().filter(|it| it.contains("\"event\"")).count();
    assert_eq!(n_events(log) + 1, n_events(file(&whole, ARCHIVED_LOG)));
    let state = formats::decode(Format::Json, &cut.state).unwrap();
    assert_eq!(
        json::print(state.member("handoffsLeftOut").unwrap()),
        (history.handoffs.len() - 1).to_string()
    );
}
