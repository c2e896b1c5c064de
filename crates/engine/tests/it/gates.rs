//! What passed gates mean for runs that were stored before they were recorded, and for every way
//! in that could begin behind one.

use baton_core::command::{Command, Create};
use baton_core::contract::Profile;
use baton_core::decide::{Decision, DecisionContext, decide};
use baton_core::event::{Event, replay};
use baton_core::gate::Answer;
use baton_core::lint::Settings;
use baton_core::names::StepId;
use baton_core::refusal::Refusal;
use baton_core::registry::Agents;
use baton_core::run::{HandoffNo, Run};
use baton_engine::{Clock as _, FixedClock, RunTarget, StartingPoint};
use baton_wire::{builtin, event, workflow_file};
use jiff::Timestamp;

use crate::world::*;

/// Three runs of `gated-project`, as the commit before the record wrote them: one held by
/// architecture, one loose at implementation, one waiting at the first gate.
const BEFORE_THE_RECORD: &str = include_str!("gates/before-the-record.txt");

struct Stored {
    state: &'static str,
    events: Vec<(Event, Timestamp)>,
}

fn stored() -> Vec<Stored> {
    let mut runs: Vec<Stored> = Vec::new();
    for line in BEFORE_THE_RECORD.lines() {
        match line.split_once(' ').unwrap() {
            ("state", state) => runs.push(Stored { state, events: Vec::new() }),
            (_, line) => {
                let (at, body) = line.split_once(' ').unwrap();
                let at = Timestamp::from_nanosecond(at.parse().unwrap()).unwrap();
                let events = &mut runs.last_mut().unwrap().events;
                events.push((event::decode(body).unwrap(), at));
            }
        }
    }
    runs
}

fn gated_project() -> &'static str {
    let (_, text) = builtin::workflows().iter().find(|(it, _)| *it == "gated-project").unwrap();
    text
}

fn decides(run: &Run, command: &Command) -> Result<Decision, Refusal> {
    let clock = FixedClock::at(BEGINNING);
    let workflow = workflow_file::parse(gated_project()).unwrap();
    let (agents, lint) = (Agents::new([]), Settings::default());
    let ground = DecisionContext {
        checks: &[],
        budgets: &[],
        workflow: &workflow,
        agents: &agents,
        now: clock.now(),
        caller: None,
        fresh: clock.as_fresh(),
        lint: &lint,
        visited: None,
        decision_salt: None,
        at: None,
        files: None,
        to_answer: None,
        implied: &[],
    };
    decide(run, command, ground)
}

fn passed(run: &Run) -> Vec<String> {
    let passed = run.passed().expect("it is recorded").iter();
    passed.map(|it| format!("{}→{}", it.from, it.to)).collect()
}

const SUMMARY: &str = r#"{"context": {"summary": "Built it, 3 files, 12 tests"}}"#;

#[test]
fn what_was_stored_before_the_record_is_read_and_is_what_its_events_tell() {
    let runs = stored();
    assert_eq!(runs.len(), 3);
    for Stored { state, events } in runs {
        let run = event::decode_run(state).unwrap();
        assert_eq!(run.passed(), None);
        assert_eq!(event::encode_run(&run), state);
        assert_eq!(replay(run.id, events), Some(run));
    }
}

#[test]
fn a_run_from_before_the_record_has_passed_what_is_before_where_it_stands() {
    let runs: Vec<Run> = stored().iter().map(|it| event::decode_run(it.state).unwrap()).collect();
    let [held, loose, asked] = runs.as_slice() else { panic!("{runs:?}") };

    let decision = decides(held, &time_out(3)).unwrap();
    assert_eq!(decision.events[0].name(), "gate.carried");
    assert_eq!(passed(&decision.run), ["specification→architecture"]);
    // It is held to the rule from then on.
    let further = Command::Create(create("implementation", "orchestrator", SUMMARY));
    assert_eq!(decides(&decision.run, &further).unwrap_err().code(), "behind_gate");

    let decision = decides(loose, &further).unwrap();
    let both = ["specification→architecture", "estimation→implementation"];
    assert_eq!(passed(&decision.run), both);

    let decision = decides(asked, &answer(2, Answer::Approve)).unwrap();
    assert_eq!(passed(&decision.run), ["specification→architecture"]);
    let decision = decides(asked, &answer(2, Answer::Reject)).unwrap();
    assert_eq!(passed(&decision.run), [""; 0]);
}

#[tokio::test]
async fn no_way_in_begins_behind_a_gate() {
    let catalog = || catalog_of(&[gated_project()], Some("gated-project"));
    for backend in Backend::all() {
        let world = backend.world_with(catalog()).await;
        for profile in [Profile::Lenient, Profile::Strict] {
            let create = Create { profile, ..create("implementation", "orchestrator", SUMMARY) };
            let within = RunTarget::Story { key: key("s-1"), workflow: None, mode: None };
            let error = world.engine.create(&caller("ada"), within, create).await.unwrap_err();
            assert_eq!(error.code(), "behind_gate", "{profile:?}");
        }
        world.starts("s-2").await.unwrap();
        world
            .on("s-2", Command::Cancel { handoff: HandoffNo(1), by: None, reason: None })
            .await
            .unwrap();
        let taken = world.hands("s-2", "implementation", "orchestrator", SUMMARY).await;
        assert_eq!(taken.unwrap_err().code(), "behind_gate");
        // What the refusal says to type goes past it, and a restart forgets nothing of that.
        let at = StartingPoint {
            step: StepId::parse("implementation").unwrap(),
            reason: reason("agreed"),
        };
        world.engine.start_at(&caller("grace"), start("s-2"), at).await.unwrap();
        assert_eq!(
            world.shows("s-2").await,
            "open; offered; HO-002 orchestrator→implementation pending"
        );
        let world = world.reopened(catalog()).await;
        assert_eq!(world.run("s-2").await.run.passed().map(<[_]>::len), Some(2));
        world.on("s-2", accept(2)).await.unwrap();
        let at =
            StartingPoint { step: StepId::parse("estimation").unwrap(), reason: reason("agreed") };
        let error = world.engine.start_at(&caller("grace"), start("s-2"), at).await.unwrap_err();
        assert_eq!(error.code(), "already_open");
        world.is_sound().await;
    }
}
