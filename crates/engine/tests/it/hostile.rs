//! Input that wants to hurt: too much of it, and characters that stores and screens choke on.

use baton_core::acknowledgement::Acknowledgement;
use baton_core::command::{Accept, Command, GateAnswer};
use baton_core::names::{FreeText, NameError, Principal, Reason, StoryKey};
use baton_core::outcome::Outcome as Ended;
use baton_core::run::HandoffNo;
use baton_core::story::Story;
use baton_engine::{EngineError, ErrorClass, Key};
use baton_store_tests::dump;

use crate::world::*;

/// A clear no, and nothing written.
async fn check_nul<T: std::fmt::Debug>(
    world: &World,
    before: &str,
    result: Result<T, EngineError>,
) {
    let error = result.unwrap_err();
    assert_eq!((error.code(), error.class()), ("nul", ErrorClass::Malformed), "{error}");
    assert_eq!(error.to_string(), "text with the character U+0000 cannot be stored");
    assert_eq!(dump(world.store.as_ref()).await, before);
}

#[tokio::test]
async fn a_package_of_a_mebibyte_goes_through_whole() {
    let filler = "x".repeat(1024 * 1024 - r#"{"plan": ""}"#.len());
    let document = format!(r#"{{"plan": "{filler}"}}"#);
    assert_eq!(document.len(), 1024 * 1024);
    for backend in Backend::all() {
        let world = backend.world().await;
        let outcome = world.hands("s-1", "analyst", "implementer", &document).await.unwrap();
        let row = world.row(outcome.run, 1).await;
        let texts = world.reads().texts_of(std::slice::from_ref(&row)).await.unwrap();
        assert!(texts.get(row.package.unwrap()).whole() == Some(document.as_str()));
        world.is_sound().await;
    }
    assert!(baton_wire::json::parse(&format!("{document} ")).is_err(), "and not a byte more");
}

#[tokio::test]
async fn the_character_nul_is_refused_wherever_it_comes_in() {
    for backend in Backend::all() {
        let world = backend.world().await;
        let run = world.starts("s-1").await.unwrap().run;
        let before = dump(world.store.as_ref()).await;
        let ada = caller("ada");

        let mut bad = create("analyst", "implementer", r#"{"plan": "p"}"#);
        bad.package.text = "{\"plan\": \"\0\"}".into();
        let created = world.engine.create(&ada, of_story("s-1"), bad.clone()).await;
        check_nul(&world, &before, created).await;
        let begun = world.engine.create(&ada, of_story("s-2"), bad).await;
        check_nul(&world, &before, begun).await;

        let acknowledged = Command::Accept(Accept {
            handoff: HandoffNo(1),
            by: None,
            acknowledgement: Some(Acknowledgement::words("yes\0")),
            lease: None,
        });
        check_nul(&world, &before, world.engine.on_run(&ada, run, acknowledged).await).await;

        let odd = Key { key: "a\0b".to_owned(), ..keyed("k", 1).key.unwrap() };
        let by_key = baton_engine::Caller { key: Some(odd), ..caller("ada") };
        check_nul(&world, &before, world.engine.on_run(&by_key, run, accept(1)).await).await;

        let titled = Story { title: "\0".to_owned(), ..Story::named(key("s-3")) };
        check_nul(&world, &before, world.engine.add_story(&caller("ada"), &titled).await).await;
        check_nul(&world, &before, world.engine.save_story(&caller("ada"), &titled).await).await;

        world.on("s-1", accept(1)).await.unwrap();
        world.is_sound().await;
    }
}

#[test]
fn names_and_reasons_with_nul_do_not_even_come_to_be() {
    let is_invisible = |it: NameError| matches!(it, NameError::Invisible { code: 0, .. });
    assert!(StoryKey::parse("a\0b").is_err_and(is_invisible));
    assert!(Principal::parse("a\0b").is_err_and(is_invisible));
    assert!(Reason::parse("a\0b").is_err_and(is_invisible));
    assert!(baton_wire::json::parse("{\"plan\": \"\\u0000\"}").is_err());
    assert!(baton_wire::json::parse("{\"plan\": \"\0\"}").is_err());
}

#[tokio::test]
async fn text_that_looks_like_anything_comes_back_as_it_was() {
    let nasty = [
        "'; drop table runs; --",
        "<script>alert(1)</script>",
        "\u{202E}txt.exe",
        "{{STORY_ID}} $HOME `id`",
        "line\r\nline\u{2028}line",
        "\u{1F3C3}\u{200D}\u{2640}\u{FE0F} \u{10FFFF}",
    ];
    for backend in Backend::all() {
        let world = backend.world().await;
        for (n, words) in nasty.into_iter().enumerate() {
            let story = format!("s-{n}");
            let document = baton_wire::json::print(&baton_core::document::Node::map([(
                "plan",
                baton_core::document::Node::text(words),
            )]));
            let sent = baton_core::command::Create {
                package: package(&document),
                reason: Some(reason(words)),
                ..create("analyst", "implementer", "{}")
            };
            world.engine.create(&caller("ada"), of_story(&story), sent).await.unwrap();
            world.on(&story, complete(1, Ended::Blocked, "{}")).await.unwrap();
            let by = Principal::parse("o'hara").unwrap();
            let comment = Some(FreeText::parse(words).unwrap());
            let handoff = HandoffNo(2);
            let answer = baton_core::gate::Answer::Continue;
            let package = None;
            let said = Command::Answer(GateAnswer { handoff, answer, by, comment, package });
            let run = world.on(&story, said).await.unwrap().run;
            for (no, package) in [(1, Some(&document)), (3, Some(&document))] {
                let row = world.row(run, no).await;
                let texts = world.reads().texts_of(std::slice::from_ref(&row)).await.unwrap();
                assert_eq!(texts.get(row.reason).whole(), Some(words));
                assert_eq!(texts.get(row.package.unwrap()).whole(), package.map(String::as_str));
            }
        }
        world.is_sound().await;
    }
}
