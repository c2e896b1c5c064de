//! The row of a handoff through every move that it can make, and whether its events tell the same.

use baton_core::command::{Clarify, Command, GateAnswer, Release, Reply};
use baton_core::gate::Answer;
use baton_core::names::{FreeText, Principal};
use baton_core::outcome::Outcome as Ended;
use baton_core::run::HandoffNo;
use baton_store::HandoffFilter;
use jiff::{SignedDuration, Timestamp};

use crate::world::*;

const FLOW: &str = "\
name: small
start: write
steps:
  write:
    agent: writer
    delegates: [checker]
    on: { success: edit }
  edit:
    agent: editor
    on: { success: complete }
";

fn words(text: &str) -> FreeText {
    FreeText::parse(text).unwrap()
}

fn clarify(no: u32) -> Command {
    let (handoff, question) = (HandoffNo(no), words("which colour?"));
    Command::Clarify(Clarify { handoff, by: None, question, fence: None })
}

fn reply(no: u32) -> Command {
    let (handoff, answer) = (HandoffNo(no), words("blue"));
    Command::Reply(Reply { handoff, by: None, answer, fence: None })
}

fn release(no: u32) -> Command {
    let reason = Some(reason("too much for me"));
    Command::Release(Release { handoff: HandoffNo(no), by: None, reason, fence: None })
}

fn says(no: u32, answer: Answer) -> Command {
    let by = Principal::parse("grace").unwrap();
    let (comment, package) = (Some(words("go on")), None);
    Command::Answer(GateAnswer { handoff: HandoffNo(no), answer, by, comment, package })
}

/// Every row, as `1 writer accepted +3`: since when it is accepted, in seconds.
async fn rows(world: &World) -> Vec<String> {
    let rows = world.store.handoffs(&HandoffFilter::default()).await.unwrap();
    let since = |at: Timestamp| at.duration_since(BEGINNING).as_secs();
    rows.iter()
        .map(|it| {
            let accepted = it.accepted_at.map_or(String::new(), |at| format!(" +{}", since(at)));
            format!("{} {} {}{accepted}", it.no.0, it.to.agent, it.state.name())
        })
        .collect()
}

/// Does one thing each second, and looks whether the store still tells the truth.
async fn then(world: &World, command: Command) -> Vec<String> {
    world.clock.advance(SignedDuration::from_secs(1));
    world.on("s-1", command).await.unwrap();
    world.is_sound().await;
    rows(world).await
}

#[tokio::test]
async fn a_question_puts_the_work_back_and_its_row_keeps_the_answer() {
    for backend in Backend::all() {
        let world = backend.world_with(catalog_of(&[FLOW], Some("small"))).await;
        world.starts("s-1").await.unwrap();
        assert_eq!(then(&world, lease(1, 20)).await, ["1 writer accepted +1"]);
        then(&world, complete(1, Ended::Success, "{}")).await;
        then(&world, lease(2, 20)).await;
        let asked = ["1 writer completed +1", "2 editor clarification", "3 writer pending"];
        assert_eq!(then(&world, clarify(2)).await, asked);
        let taken = ["1 writer completed +1", "2 editor clarification", "3 writer accepted +5"];
        assert_eq!(then(&world, lease(3, 20)).await, taken);
        let answered = ["1 writer completed +1", "2 editor pending", "3 writer completed +5"];
        assert_eq!(then(&world, reply(2)).await, answered);
        let run = world.run("s-1").await.run.id;
        let question = world.row(run, 3).await;
        let texts = world.reads().texts_of(std::slice::from_ref(&question)).await.unwrap();
        let said =
            [question.reason, question.ended_reason.unwrap()].map(|it| texts.get(it).whole());
        assert_eq!(said, [Some("which colour?"), Some("blue")]);

        assert_eq!(then(&world, accept(2)).await[1], "2 editor accepted +7");
        assert_eq!(then(&world, release(2)).await[1], "2 editor pending");
        assert_eq!(then(&world, accept(2)).await[1], "2 editor accepted +9");
        let last = then(&world, complete(2, Ended::Success, "{}")).await;
        assert_eq!(last[1], "2 editor completed +9");
    }
}

#[tokio::test]
async fn who_waits_for_a_part_of_the_work_has_it_since_it_was_accepted() {
    for backend in Backend::all() {
        let world = backend.world_with(catalog_of(&[FLOW], Some("small"))).await;
        world.starts("s-1").await.unwrap();
        then(&world, lease(1, 20)).await;
        world.hands("s-1", "writer", "checker", "{}").await.unwrap();
        world.is_sound().await;
        assert_eq!(rows(&world).await, ["1 writer parked +1", "2 checker pending"]);
        assert_eq!(world.store.timers(None, 0).await.unwrap(), [], "who waits need not be heard");
        then(&world, lease(2, 20)).await;
        let given = then(&world, complete(2, Ended::Success, "{}")).await;
        assert_eq!(given, ["1 writer parked +1", "2 checker completed +2", "3 writer pending"]);
        let taken = then(&world, lease(3, 20)).await;
        let expected = ["1 writer accepted +1", "2 checker completed +2", "3 writer completed +4"];
        assert_eq!(taken, expected);
        let timers = world.store.timers(None, 0).await.unwrap();
        assert_eq!(timers.iter().map(|it| it.no).collect::<Vec<_>>(), [HandoffNo(1)]);

        world.hands("s-1", "writer", "human", "{}").await.unwrap();
        assert_eq!(rows(&world).await[0], "1 writer parked +1");
        let answered = then(&world, says(4, Answer::Reply)).await;
        assert_eq!(answered[0], "1 writer accepted +1");
    }
}

#[tokio::test]
async fn a_mark_of_long_ago_does_not_spoil_what_came_after() {
    for backend in Backend::all() {
        let world = backend.world_with(catalog_of(&[FLOW], Some("small"))).await;
        world.starts("s-1").await.unwrap();
        for command in [accept(1), clarify(1), reply(1), accept(1), release(1), accept(1)] {
            world.clock.advance(SignedDuration::from_mins(31));
            world.engine.sweep().await.unwrap();
            world.is_sound().await;
            then(&world, command).await;
        }
        let stale = HandoffFilter { is_stale: Some(true), ..HandoffFilter::default() };
        assert_eq!(world.store.handoffs(&stale).await.unwrap().len(), 0);
    }
}

#[tokio::test]
async fn the_world_is_told_of_what_a_person_has_to_do() {
    for backend in Backend::all() {
        let world = backend.world_with(catalog_of(&[FLOW], Some("small"))).await;
        world.starts("s-1").await.unwrap();
        // The story came from the orchestrator, and only a person can say what it means.
        world.on("s-1", clarify(1)).await.unwrap();
        world.on("s-1", reply(1)).await.unwrap();
        world.on("s-1", accept(1)).await.unwrap();
        world.on("s-1", complete(1, Ended::Success, "{}")).await.unwrap();
        // To an agent it is its own business.
        world.on("s-1", clarify(3)).await.unwrap();
        world.on("s-1", reply(3)).await.unwrap();
        world.on("s-1", complete(3, Ended::Blocked, "{}")).await.unwrap();
        let told = world.store.outbox(0, 0).await.unwrap();
        let told: Vec<&str> = told.iter().map(|it| it.about.as_str()).collect();
        assert_eq!(told, ["handoff.created", "gate.opened"]);
    }
}
