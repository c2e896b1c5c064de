//! Three workflows, each written down twice: as the file that Baton reads, and as the table that
//! the model believes in. Nothing here is computed from the other.

mod gated;

use baton_core::outcome::Outcome;

pub(crate) use gated::{GATED, GATED_FILE};

/// What the model knows of a workflow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) name: &'static str,
    pub(crate) start: Edge,
    pub(crate) steps: &'static [Step],
    pub(crate) rounds: u32,
    pub(crate) retries: u32,
    pub(crate) questions: u32,
    pub(crate) releases: u32,
    /// In seconds, as all times here.
    pub(crate) stale_after: i64,
    /// For all places that do not say it themselves.
    pub(crate) expiry: Option<Expiry>,
    /// Of what an agent asks a person of its own accord.
    pub(crate) escalation: Contract,
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) id: &'static str,
    pub(crate) agents: &'static [&'static str],
    pub(crate) is_optional: bool,
    pub(crate) rejects: Rejects,
    pub(crate) work_within: i64,
    pub(crate) expiry: Option<Expiry>,
    pub(crate) delegates: &'static [Delegate],
    /// How often work may come to it.
    pub(crate) entries: u32,
    /// How many parts may be given away while somebody holds it.
    pub(crate) delegations: u32,
    pub(crate) edges: &'static [Edge],
}

/// A specialist, what it is given and what it gives back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delegate {
    pub(crate) agent: &'static str,
    pub(crate) contract: Contract,
    pub(crate) returns: Contract,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Expiry {
    pub(crate) after: i64,
    pub(crate) then: Then,
}

/// What becomes of a handoff that nobody took in time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Then {
    Loose,
    Return,
    Ask,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Rejects {
    ToSender,
    To(&'static str),
    Never,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) on: Outcome,
    /// A step, or [`ORCHESTRATOR`] where the run ends.
    pub(crate) to: &'static str,
    pub(crate) is_back: bool,
    pub(crate) contract: Contract,
    pub(crate) is_strict: bool,
    pub(crate) rounds: Option<u32>,
    pub(crate) gate: Option<EdgeGate>,
}

/// What the workflow wants to see before work goes along an edge.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EdgeGate {
    Blocking,
    /// As many of these people as it says.
    Approved(&'static Approvers),
    Advisory,
    /// All of these checks, or a person.
    Automatic(&'static [&'static str]),
}

#[derive(Debug)]
pub(crate) struct Approvers {
    pub(crate) need: usize,
    pub(crate) of: &'static [&'static str],
    /// In seconds.
    pub(crate) remind_after: i64,
}

/// The people in the plays; two of them spell their name alike.
pub(crate) const PEOPLE: [&str; 7] = ["grace", "ada", "bob", "cyd", "dot", "Bob", "eve"];

/// What an edge asks for, as far as the [`Parcel`]s can tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contract {
    None,
    Story,
    Plan,
    /// Anything but a contradiction.
    Sound,
    Feedback,
    /// Nothing but wishes.
    Wishes,
    /// What came of the work.
    Summary,
    /// What every flow asks of blocked work.
    Blocked,
    /// What every flow asks of an error that goes to the orchestrator.
    Error,
}

/// The kinds of packages that are sent around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parcel {
    Nothing,
    Story,
    Plan,
    /// Keeps every contract to the letter.
    Full,
    /// Has a plan, and says that the build fails and that nothing is approved.
    Contradiction,
    /// A review that found something at each of these lines.
    Findings(&'static [u8]),
    Error,
    /// Asks for a person's eye.
    Gate,
    /// Says three things that are in the way.
    Blockers,
}

pub(crate) const ORCHESTRATOR: &str = "orchestrator";
pub(crate) const HUMAN: &str = "human";

pub(crate) const MINUTE: i64 = 60;

/// Everybody whom an agent file describes; the last three do no step. Nobody is called as a
/// step is, so a place with an agent's name is where a delegate works.
pub(crate) const AGENTS: [&str; 16] = [
    "analyst",
    "implementer",
    "reviewer",
    "refactorer",
    "documenter",
    "writer",
    "editor",
    "checker",
    "fixer",
    "shaper",
    "builder",
    "trimmer",
    "prover",
    "digger",
    "helper",
    "stranger",
];

pub(crate) static PIPELINE: Flow = Flow {
    name: "story-pipeline",
    start: Edge { contract: Contract::Story, ..to("analyze") },
    steps: &[
        Step {
            entries: 4,
            ..step("analyze", &["analyst"], &[Edge { contract: Contract::Plan, ..to("implement") }])
        },
        Step {
            entries: 7,
            ..step(
                "implement",
                &["implementer"],
                &[Edge { contract: Contract::Sound, ..to("review") }],
            )
        },
        Step {
            entries: 7,
            ..step(
                "review",
                &["reviewer"],
                &[
                    Edge { contract: Contract::Sound, ..to("refactor") },
                    Edge {
                        on: Outcome::Failure,
                        is_back: true,
                        contract: Contract::Feedback,
                        ..to("implement")
                    },
                ],
            )
        },
        Step {
            is_optional: true,
            entries: 7,
            ..step(
                "refactor",
                &["refactorer"],
                &[Edge { contract: Contract::Wishes, ..to("document") }],
            )
        },
        Step {
            entries: 4,
            ..step(
                "document",
                &["documenter"],
                &[Edge { contract: Contract::Wishes, ..to(ORCHESTRATOR) }],
            )
        },
    ],
    rounds: 3,
    retries: 2,
    questions: 3,
    releases: 8,
    stale_after: 30 * MINUTE,
    expiry: None,
    escalation: Contract::None,
};

/// Everything that the built-in pipeline has not: two agents for a step, an edge from an agent
/// to itself, a failure edge that is no way back, rejects that go elsewhere or nowhere, and a
/// person who is asked about whatever nobody takes.
pub(crate) const SIDE_ROADS_FILE: &str = "\
name: side-roads
limits: { rounds: 2, retries: 1, stale_after: 10m, expire_after: 35m, on_expire: ask }
start: { to: draft }
steps:
  draft:
    agent: writer
    on:
      success: polish
  polish:
    agents: [writer, editor]
    optional: true
    on:
      success: { to: check, rounds: 1 }
      failure: { to: draft, back: true }
  check:
    agent: checker
    reject_to: draft
    work_within: 20m
    on:
      success: { to: publish, contract: verdict, profile: strict }
      failure: repair
      blocked: repair
  repair:
    agent: fixer
    reject: never
    entries: 2
    on:
      success: check
  publish:
    agent: checker
    on:
      success: complete
contracts:
  verdict:
    must:
      - field: plan
        about: what was planned
    should:
      - field: summary
        type: text
        about: what came of it
";

pub(crate) static SIDE_ROADS: Flow = Flow {
    name: "side-roads",
    start: to("draft"),
    steps: &[
        Step { entries: 6, ..step("draft", &["writer"], &[to("polish")]) },
        Step {
            is_optional: true,
            entries: 3,
            ..step(
                "polish",
                &["writer", "editor"],
                &[
                    Edge { rounds: Some(1), ..to("check") },
                    Edge { on: Outcome::Failure, is_back: true, ..to("draft") },
                ],
            )
        },
        Step {
            rejects: Rejects::To("draft"),
            entries: 6,
            work_within: 20 * MINUTE,
            ..step(
                "check",
                &["checker"],
                &[
                    Edge { contract: Contract::Plan, is_strict: true, ..to("publish") },
                    Edge { on: Outcome::Failure, ..to("repair") },
                    Edge { on: Outcome::Blocked, ..to("repair") },
                ],
            )
        },
        Step { rejects: Rejects::Never, entries: 2, ..step("repair", &["fixer"], &[to("check")]) },
        Step { entries: 3, ..step("publish", &["checker"], &[to(ORCHESTRATOR)]) },
    ],
    rounds: 2,
    retries: 1,
    questions: 3,
    releases: 8,
    stale_after: 10 * MINUTE,
    expiry: Some(Expiry { after: 35 * MINUTE, then: Then::Ask }),
    escalation: Contract::None,
};

impl Flow {
    pub(crate) fn step(&self, id: &str) -> Option<&'static Step> {
        self.steps.iter().find(|it| it.id == id)
    }

    pub(crate) fn agents_at(&self, place: &'static str) -> Vec<&'static str> {
        match place {
            ORCHESTRATOR | HUMAN => vec![place],
            place if is_delegate(place) => vec![place],
            step => self.step(step).map_or_else(Vec::new, |it| it.agents.to_vec()),
        }
    }

    pub(crate) fn edges_from(&self, place: &str) -> &[Edge] {
        match place {
            ORCHESTRATOR => std::slice::from_ref(&self.start),
            step => self.step(step).map_or(&[], |it| it.edges),
        }
    }

    /// How long a handoff to `place` may wait.
    pub(crate) fn expiry_at(&self, place: &str) -> Option<Expiry> {
        self.step(place).and_then(|it| it.expiry).or(self.expiry)
    }

    /// Where `agent` may stand, in the order of the file.
    pub(crate) fn places_of(&self, agent: &str) -> Vec<&'static str> {
        let places = std::iter::once(ORCHESTRATOR).chain(self.steps.iter().map(|it| it.id));
        places.filter(|it| self.agents_at(it).contains(&agent)).collect()
    }
}

/// Where a delegate works has its name.
pub(crate) fn is_delegate(place: &str) -> bool {
    AGENTS.contains(&place)
}

impl Edge {
    /// Whether a package may go this way; an edge that says how strict it is wins.
    pub(crate) fn takes(&self, parcel: Parcel, is_strict: bool) -> bool {
        let contract = match (self.contract, self.on) {
            (Contract::None, Outcome::Blocked) => Contract::Blocked,
            (contract, _) => contract,
        };
        contract.takes(parcel, is_strict || self.is_strict)
    }
}

impl Contract {
    pub(crate) fn takes(self, parcel: Parcel, is_strict: bool) -> bool {
        match (self, parcel) {
            (Contract::None, _) | (_, Parcel::Full) => true,
            (Contract::Feedback, Parcel::Findings(_)) => true,
            (Contract::Blocked | Contract::Error, Parcel::Blockers) => true,
            (Contract::Error, Parcel::Error | Parcel::Findings(_)) => true,
            (_, _) if is_strict => false,
            (Contract::Story, parcel) => parcel == Parcel::Story,
            (Contract::Plan, parcel) => matches!(parcel, Parcel::Plan | Parcel::Contradiction),
            (Contract::Sound, parcel) => parcel != Parcel::Contradiction,
            (Contract::Feedback | Contract::Wishes, _) => true,
            (Contract::Blocked | Contract::Error, _) => true,
            (Contract::Summary, _) => false,
        }
    }
}

impl Parcel {
    /// The package as its sender writes it; the serial tells it from all others.
    pub(crate) fn text(self, serial: u32) -> String {
        let members = match self {
            // Nothing at all, so not even a serial.
            Parcel::Nothing => return "{}".to_owned(),
            Parcel::Story => r#""story": "a story""#.to_owned(),
            Parcel::Plan => r#""plan": "write it, then test it""#.to_owned(),
            Parcel::Full => FULL.to_owned(),
            Parcel::Contradiction => {
                r#""plan": "p", "build_passes": false, "approved": false"#.to_owned()
            }
            Parcel::Findings(lines) => {
                let finding = |line| format!(r#"{{"location": "a:{line}", "severity": "high"}}"#);
                let findings: Vec<String> = lines.iter().map(finding).collect();
                format!(r#""feedback": "see there", "findings": [{}]"#, findings.join(", "))
            }
            Parcel::Error => r#""error": {"message": "no disk"}"#.to_owned(),
            Parcel::Gate => r#""gate": {"type": "blocking"}"#.to_owned(),
            Parcel::Blockers => {
                r#""blockers": ["no key", {"description": "no room"}, {"text": "no time"}],
                    "attempted": ["asked for it"]"#
                    .to_owned()
            }
        };
        format!(r#"{{"serial": {serial}, {members}}}"#)
    }

    /// The lines at which it found something.
    pub(crate) fn findings(self) -> &'static [u8] {
        if let Parcel::Findings(lines) = self { lines } else { &[] }
    }

    /// What the model calls the same package.
    pub(crate) fn serial(self, serial: u32) -> u32 {
        if self == Parcel::Nothing { 0 } else { serial }
    }
}

const FULL: &str = r#""story": "s", "branch": "b", "version": "1", "plan": "p",
    "files_to_modify": [], "approach": "a", "risks": [], "questions_resolved": true,
    "build_passes": true, "files_changed": [], "summary": "Settings page saves 3 fields", "tests_added": true,
    "discoveries": {}, "approved": true, "review_notes": "fine", "refactored": true,
    "refactor_summary": "Split the form of the settings in two", "learnings_added": 1, "gotchas_added": 0, "docs_updated": true,
    "notes": "none", "attempted": ["Saved one field by hand"],
    "questions": [{"category": "requirement", "question": "Which of the fields may be empty?", "priority": "low"}]"#;

const fn to(place: &'static str) -> Edge {
    Edge {
        on: Outcome::Success,
        to: place,
        is_back: false,
        contract: Contract::None,
        is_strict: false,
        rounds: None,
        gate: None,
    }
}

const fn step(id: &'static str, agents: &'static [&'static str], edges: &'static [Edge]) -> Step {
    Step {
        id,
        agents,
        is_optional: false,
        rejects: Rejects::ToSender,
        work_within: 30 * MINUTE,
        expiry: None,
        delegates: &[],
        entries: 1,
        delegations: 8,
        edges,
    }
}
