//! The scripted agents: each waits for its handoff, accepts it, works for a moment and hands on.

use std::sync::Arc;
use std::time::Duration;

use baton_core::acknowledgement::Acknowledgement;
use baton_core::command::{Accept, Command, Complete, Reject};
use baton_core::contract::Profile;
use baton_core::event::{Created, Event, HandoffEvent};
use baton_core::names::{AgentId, Principal, Reason};
use baton_core::outcome::Outcome;
use baton_core::package::{Format, Package};
use baton_core::refusal::Refusal;
use baton_core::run::{HandoffNo, RunId};
use baton_core::story::Story;
use baton_engine::{Caller, Engine, EngineError};
use baton_store::{HandoffRef, Position, RunRef};
use baton_wire::{event, json};

use crate::failure::Failure;

/// The stories of the demo, in a loop. In the second the reviewer goes in circles.
const STORIES: [(&str, &str); 3] = [
    ("Users can log in", "A user with an e-mail address and a password gets a session."),
    ("Sessions expire", "A session ends an hour after its last use, and says so."),
    ("Passwords can be reset", "A user who forgot the password gets a link by e-mail."),
];

pub(super) fn story(n: usize) -> Result<Story, Failure> {
    let (title, description) = STORIES[(n - 1) % STORIES.len()];
    Ok(Story {
        title: title.to_owned(),
        description: description.to_owned(),
        acceptance: vec!["The tests pass".to_owned(), "The change is documented".to_owned()],
        branch: Some(format!("feat/demo-{n}")),
        ..Story::named(super::key(n)?)
    })
}

pub(super) fn agents() -> Result<Vec<AgentId>, Failure> {
    let names = ["analyst", "implementer", "reviewer", "refactorer", "documenter"];
    Ok(names.iter().map(|it| AgentId::parse(it)).collect::<Result<_, _>>()?)
}

/// One agent at work, until the engine closes.
pub(super) async fn play(
    engine: Arc<Engine>,
    me: AgentId,
    cursor: Position,
    pace: Duration,
) -> Result<(), Failure> {
    let caller = Caller::new(principal(&me));
    let mut feed = engine.read_as(&caller).feed(cursor, None);
    while let Some(stored) = feed.next().await? {
        let Ok(Event::Handoff(HandoffEvent::Created(created))) = event::decode(&stored.body) else {
            continue;
        };
        if created.to.agent == me {
            match work(&engine, &caller, stored.run, &created, pace).await {
                Err(EngineError::Refused { refusal, handoff, numbers })
                    if matches!(refusal, Refusal::Contract { .. }) =>
                {
                    return Err(EngineError::Refused { refusal, handoff, numbers }.into());
                }
                // The demo was stopped, or the run took another path.
                Err(EngineError::Closing | EngineError::Refused { .. }) | Ok(()) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

async fn work(
    engine: &Engine,
    caller: &Caller,
    run: RunId,
    created: &Created,
    pace: Duration,
) -> Result<(), EngineError> {
    let me = &created.to.agent;
    let which = HandoffRef::InRun(run, created.handoff);
    let words = format!("{me} here: I have read the package and start now");
    let acknowledgement = Some(Acknowledgement::words(words));
    tokio::time::sleep(pace / 3).await;
    let accept = |handoff| {
        let by = Some(me.clone());
        Command::Accept(Accept { handoff, by, acknowledgement, lease: None })
    };
    engine.on_handoff(caller, &which, accept).await?;
    tokio::time::sleep(pace).await;
    let run = engine.read_as(caller).run(&RunRef::Id(run)).await?.run;
    // How often the work was sent back.
    let n_rejects = run.all_rounds().map(|(_, it)| it.n).sum();
    let act = act(me.as_str(), run.story.as_str(), n_rejects);
    engine.on_handoff(caller, &which, |handoff| command(handoff, me, act)).await?;
    Ok(())
}

/// What an agent does with its handoff.
enum DemoAct {
    HandOn(&'static str),
    SendBack(&'static str),
}

fn act(me: &str, story: &str, n_rejects: u32) -> DemoAct {
    let goes_in_circles = story.ends_with('2') || story.ends_with('5') || story.ends_with('8');
    match me {
        "analyst" => DemoAct::HandOn(PLAN),
        "implementer" => DemoAct::HandOn(IMPLEMENTATION),
        "reviewer" if n_rejects == 0 => {
            DemoAct::SendBack("src/session.rs:42 no test for an expired session; add one")
        }
        "reviewer" if goes_in_circles && n_rejects < 4 => {
            DemoAct::SendBack("src/session.rs:42 still no test for an expired session")
        }
        "reviewer" => DemoAct::HandOn(APPROVAL),
        "refactorer" => DemoAct::HandOn(POLISH),
        _ => DemoAct::HandOn(WRAP_UP),
    }
}

fn command(handoff: HandoffNo, me: &AgentId, act: DemoAct) -> Command {
    let by = Some(me.clone());
    match act {
        DemoAct::SendBack(why) => match Reason::parse(why) {
            Ok(reason) => Command::Reject(Reject { handoff, by, reason, fence: None }),
            Err(error) => unreachable!("a reason of our own is a reason: {error}"),
        },
        DemoAct::HandOn(text) => Command::Complete(Complete {
            handoff,
            by,
            outcome: Outcome::Success,
            package: package(text),
            to: None,
            reason: None,
            fence: None,
            profile: Profile::Strict,
        }),
    }
}

fn package(text: &str) -> Package {
    match json::parse(text) {
        Ok(document) => Package::new(Format::Json, text, document),
        Err(error) => unreachable!("a package of our own is JSON: {error}"),
    }
}

fn principal(agent: &AgentId) -> Principal {
    match Principal::parse(&format!("agent:{agent}")) {
        Ok(principal) => principal,
        Err(error) => unreachable!("an agent's name is a name: {error}"),
    }
}

/// The files that the packages name.
pub(super) const FILES: [&str; 3] = ["src/session.rs", "src/login.rs", "tests/login.rs"];

const PLAN: &str = r#"{
  "plan": "1. Add a session table. 2. Check the password. 3. Issue a token. 4. Test each refusal.",
  "files_to_modify": ["src/session.rs", "src/login.rs", "tests/login.rs"],
  "approach": "Tokens in a table rather than signed ones: they can be revoked.",
  "risks": ["Clock skew between nodes"],
  "questions_resolved": true
}"#;

const IMPLEMENTATION: &str = r#"{
  "files_changed": ["src/session.rs", "src/login.rs", "tests/login.rs"],
  "summary": "Login issues a token from a table; 9 tests cover success and every refusal.",
  "tests_added": true,
  "build_passes": true,
  "discoveries": {
    "learnings": ["The test clock can be moved by hand"],
    "gotchas": ["Tokens are compared in constant time"],
    "decisions": ["A table instead of signed tokens, so that they can be revoked"]
  }
}"#;

const APPROVAL: &str = r#"{
  "approved": true,
  "files_changed": ["src/session.rs", "src/login.rs", "tests/login.rs"],
  "summary": "Login with revocable sessions, fully tested.",
  "discoveries": {
    "learnings": ["The test clock can be moved by hand"],
    "gotchas": ["Tokens are compared in constant time"],
    "decisions": ["A table instead of signed tokens, so that they can be revoked"]
  },
  "review_notes": "Ran the tests, tried an expired and a forged token: both refused."
}"#;

const POLISH: &str = r#"{
  "files_changed": ["src/session.rs", "src/login.rs", "tests/login.rs"],
  "refactored": true,
  "refactor_summary": "Pulled the token check out of two handlers into one function.",
  "discoveries": {
    "learnings": ["The test clock can be moved by hand"],
    "gotchas": ["Tokens are compared in constant time"],
    "decisions": ["A table instead of signed tokens, so that they can be revoked"]
  }
}"#;

const WRAP_UP: &str = r#"{
  "learnings_added": 1,
  "gotchas_added": 1,
  "docs_updated": true,
  "notes": "docs/login.md says how sessions are revoked."
}"#;
