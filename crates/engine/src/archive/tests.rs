use baton_core::acknowledgement::Acknowledgement;
use baton_core::agent::Agent;
use baton_core::command::{Accept, Command, Create, Reject};
use baton_core::contract::Profile;
use baton_core::names::{AgentId, Principal, Reason, StoryKey};
use baton_core::package::{Format, Package};
use baton_core::registry::Agents;
use baton_core::run::HandoffNo;
use baton_store::MemoryStore;
use baton_wire::{builtin, formats, json, workflow_file};
use jiff::Timestamp;

use super::*;
use crate::{Caller, Catalog, Entry, FixedClock, In};

const SECRET: &str = "hunter2";

/// A run in which everybody says the secret wherever there is room for words.
async fn engine() -> (Engine, RunId) {
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
    let document = format!(r#"{{"plan":"{SECRET}","decisions":["{SECRET}"]}}"#);
    let create = Create {
        from: agent("analyst"),
        to: agent("implementer"),
        package: Package::new(Format::Json, document.clone(), json::parse(&document).unwrap()),
        outcome: None,
        reason: Some(said()),
        supersedes: None,
        way: None,
        token: None,
        profile: Profile::Lenient,
    };
    let key = StoryKey::parse("S-1").unwrap();
    let within = In::Story { key, workflow: None };
    let run = engine.create(&caller, within, create).await.unwrap().run;
    let handoff = HandoffNo(engine.history(run).await.unwrap().row.run.n_handoffs);
    let acknowledgement = Some(Acknowledgement::words(format!("I know {SECRET}")));
    let accept = Command::Accept(Accept { handoff, by: None, acknowledgement, lease: None });
    let reject = Command::Reject(Reject { handoff, by: None, reason: said(), fence: None });
    for command in [accept, reject, Command::CancelRun { reason: Some(said()) }] {
        engine.on_run(&caller, run, command).await.unwrap();
    }
    (engine, run)
}

#[tokio::test]
async fn what_was_redacted_is_null_and_nowhere_else() {
    let (engine, run) = engine().await;
    let mut history = engine.history(run).await.unwrap();
    let n_told =
        |it: &Rendered| it.session.iter().map(|(_, it)| it.matches(SECRET).count()).sum::<usize>();
    assert!(n_told(&rendered(&history)) > 10);
    history.forget_texts();
    let redacted = rendered(&history);
    assert_eq!(n_told(&redacted), 0);
    let (_, text) = redacted.session.iter().find(|(it, _)| it == "handoffs/HO-001.yaml").unwrap();
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
    let (_, page) = redacted.session.iter().find(|(it, _)| it == "session.md").unwrap();
    assert!(page.contains("HO-001 was rejected by implementer (ada): (redacted)"), "{page}");
}

#[tokio::test]
async fn every_archived_handoff_reads_back() {
    let (engine, run) = engine().await;
    let rendered = rendered(&engine.history(run).await.unwrap());
    let yaml = rendered.session.iter().filter(|(it, _)| it.ends_with(".yaml"));
    for (name, text) in yaml {
        let document = formats::decode(Format::Yaml, text).unwrap();
        assert_eq!(&formats::encode(&document, Format::Yaml), text, "{name}");
    }
    let state = formats::decode(Format::Json, &rendered.state).unwrap();
    assert_eq!(json::print(state.member("status").unwrap()), "\"cancelled\"");
}
