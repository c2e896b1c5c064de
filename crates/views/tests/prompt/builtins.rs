//! The built-in workflows, walked through by nothing but what the prompts say: every example, once
//! its marks are filled in, is sent as it stands and taken in strict.

use std::collections::BTreeSet;

use baton_core::command::{Create, Way};
use baton_core::contract::{Contract, Profile};
use baton_core::document::Node;
use baton_core::evidence::Verdict;
use baton_core::gate::Answer;
use baton_core::outcome::Outcome;
use baton_core::run::RunStatus;
use baton_core::workflow::Workflow;
use baton_store::RunRef;
use baton_views::AgentInterface;
use baton_wire::json;

use crate::dice::Dice;
use crate::marks;
use crate::read::{blocks, commands};
use crate::world::{Prompts, STORY, World, agent, key, package, workflow};

/// A run that goes from prompt to prompt, and remembers who got one from whom.
struct Walk {
    world: World,
    workflow: Workflow,
    seen: BTreeSet<(String, String)>,
}

impl Walk {
    async fn begin(name: &str) -> Self {
        let world = World::started(name, Prompts::BuiltIn).await;
        let mut walk = Self { world, workflow: workflow(name), seen: BTreeSet::new() };
        let first = walk.workflow.agents_at(&Workflow::target_place(&walk.workflow.start.to));
        walk.saw("orchestrator", first[0].as_str());
        walk
    }

    fn saw(&mut self, from: &str, to: &str) {
        self.seen.insert((from.to_owned(), to.to_owned()));
    }

    /// The receiver of `no` does what its prompt says about handing to `to`.
    async fn goes_on(&mut self, no: u32, to: &str) {
        let offered = self.world.prompt(no, AgentInterface::Curl).await;
        self.check_examples(no, &offered).await;
        self.world.accepts(no).await;
        self.sends(no, to).await;
    }

    /// As [`Walk::goes_on`], for what is held already.
    async fn sends(&mut self, no: u32, to: &str) {
        let prompt = self.world.prompt(no, AgentInterface::Block).await;
        let is_meant = |it: &&Node| it.at("toAgent").and_then(Node::as_text) == Some(to);
        let said = blocks(&prompt).iter().find(is_meant).unwrap_or_else(|| panic!("{to}")).clone();
        let word = |name: &str| said.at(name).and_then(Node::as_text).map(str::to_owned);
        let create = Create {
            from: agent(&word("fromAgent").unwrap()),
            to: agent(to),
            package: package(&json::print(&filled(said.at("payload").unwrap()))),
            outcome: word("outcome").map(|it| Outcome::parse(&it).unwrap()),
            reason: None,
            supersedes: None,
            hands_on: None,
            way: word("kind").map(|it| way(&it)),
            token: None,
            profile: Profile::Strict,
        };
        let from = create.from.to_string();
        self.world.creates(create).await;
        self.saw(&from, to);
    }

    /// Every example of a prompt keeps its contract in strict, and all faces have the same ones.
    async fn check_examples(&self, no: u32, curl: &str) {
        let [cli, block] =
            [AgentInterface::Cli, AgentInterface::Block].map(|face| self.world.prompt(no, face));
        let said = blocks(&block.await);
        let sent = commands(curl).into_iter().filter_map(|(_, body)| {
            let body = json::parse(&body).unwrap();
            (body.at("payload").is_some()).then_some(body)
        });
        let payloads = |bodies: Vec<Node>| -> Vec<Node> {
            bodies.iter().filter_map(|it| it.at("payload").cloned()).collect()
        };
        let typed = commands(&cli.await);
        let typed = typed.into_iter().filter(|(line, _)| line.contains("--payload -"));
        let typed: Vec<Node> = typed.map(|(_, body)| json::parse(&body).unwrap()).collect();
        assert_eq!(payloads(sent.collect()), payloads(said.clone()));
        assert_eq!(typed, payloads(said.clone()));
        for body in said.iter().filter(|it| it.at("payload").is_some()) {
            if let Some(contract) = self.contract(body) {
                let payload = filled(body.at("payload").unwrap());
                let problems = contract.check(&payload).refusing(Profile::Strict);
                assert_eq!(problems, [], "{}: {payload:?}", contract.name);
            }
        }
    }

    fn contract(&self, body: &Node) -> Option<&Contract> {
        let word = |name: &str| body.at(name).and_then(Node::as_text);
        let [from, to] = ["fromAgent", "toAgent"].map(|it| agent(word(it).unwrap()));
        let workflow = &self.workflow;
        let step = |id| workflow.steps.iter().find(|it| it.agents.contains(id)).unwrap();
        let name = match (word("kind"), word("outcome")) {
            (Some("delegation"), _) => step(&from).delegate(&to).unwrap().contract.as_ref(),
            (Some("escalation"), _) => workflow.escalation.as_ref(),
            (Some("return"), Some("success")) => {
                step(&to).delegate(&from).unwrap().returns.as_ref()
            }
            (Some("return"), Some("blocked")) | (None, Some("blocked")) => None,
            (None, Some(outcome)) => {
                let edges = step(&from).edges_on(Outcome::parse(outcome).unwrap());
                let place = |it: &Workflow, to| it.agents_at(&Workflow::target_place(to));
                let mut edges = edges.filter(|it| place(workflow, &it.to).contains(&to));
                edges.next().unwrap().contract.as_ref()
            }
            (kind, outcome) => panic!("{kind:?} {outcome:?}"),
        };
        workflow.contract(name?)
    }

    /// Every way that leads to an agent has been gone.
    fn is_whole(&self) {
        let mut ways: BTreeSet<(String, String)> = BTreeSet::new();
        for (from, edge) in self.workflow.edges() {
            let to = self.workflow.agents_at(&Workflow::target_place(&edge.to));
            let from = self.workflow.agents_at(&from);
            ways.insert((from[0].to_string(), to[0].to_string()));
        }
        for step in &self.workflow.steps {
            for it in &step.delegates {
                ways.insert((step.agents[0].to_string(), it.agent.to_string()));
                ways.insert((it.agent.to_string(), step.agents[0].to_string()));
            }
        }
        assert_eq!(self.seen, ways);
    }

    async fn status(&self) -> RunStatus {
        self.world.reads().run(&RunRef::LatestOf(key(STORY))).await.unwrap().run.status
    }
}

fn way(word: &str) -> Way {
    match word {
        "delegation" => Way::Delegation,
        "return" => Way::Return,
        _ => panic!("{word}"),
    }
}

/// What an agent would write that does as each mark says.
fn filled(example: &Node) -> Node {
    assert!(!marks::marks(example).is_empty(), "{example:?}");
    marks::fill(example, &mut Dice::new(11))
}

#[tokio::test]
async fn the_story_pipeline_goes_by_what_its_prompts_say() {
    let mut walk = Walk::begin("story-pipeline").await;
    walk.goes_on(1, "implementer").await;
    walk.goes_on(2, "reviewer").await;
    walk.goes_on(3, "implementer").await;
    walk.goes_on(4, "reviewer").await;
    walk.goes_on(5, "refactorer").await;
    walk.goes_on(6, "documenter").await;
    walk.goes_on(7, "orchestrator").await;
    walk.is_whole();
    assert_eq!(walk.status().await, RunStatus::Completed);
}

#[tokio::test]
async fn the_gated_project_goes_by_what_its_prompts_say() {
    let mut walk = Walk::begin("gated-project").await;
    walk.goes_on(1, "architecture").await;
    walk.world.says(2, Answer::Approve, "go on").await;
    walk.goes_on(3, "security-check").await;
    walk.goes_on(4, "architecture").await;
    let back = walk.world.prompt(5, AgentInterface::Curl).await;
    walk.check_examples(5, &back).await;
    walk.world.accepts(5).await;
    walk.sends(3, "estimation").await;
    walk.goes_on(7, "implementation").await;
    walk.world.says(8, Answer::Approve, "granted").await;
    let prompt = walk.world.prompt(9, AgentInterface::Cli).await;
    assert!(prompt.contains("`lint`, `types`, `tests`, `build` (Quality proven)"), "{prompt}");
    assert!(prompt.contains("\nbaton evidence 9 lint passed\n"), "{prompt}");
    let offered = walk.world.prompt(9, AgentInterface::Curl).await;
    walk.check_examples(9, &offered).await;
    walk.world.accepts(9).await;
    for check in ["lint", "types", "tests", "build"] {
        walk.world.records(9, check, Verdict::Passed).await;
    }
    walk.sends(9, "orchestrator").await;
    walk.is_whole();
    assert_eq!(walk.status().await, RunStatus::Completed);
}
