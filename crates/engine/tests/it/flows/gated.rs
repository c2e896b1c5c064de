//! The workflow with everything that stops work on its way: each kind of gate, specialists with
//! and without contracts, handoffs that expire, and few questions.

use baton_core::outcome::Outcome;

use super::{
    Approvers, Contract, Delegate, Edge, EdgeGate, Expiry, Flow, MINUTE, ORCHESTRATOR, Step, Then,
    step, to,
};

/// `trimmer` is a specialist of `build` and does the next step too: the sender has to say which.
pub(crate) const GATED_FILE: &str = "\
name: gated
limits:
  rounds: 1
  retries: 1
  questions: 1
  releases: 2
  stale_after: 15m
  expire_after: 30m
  on_expire: return
escalation: plea
start: { to: shape }
steps:
  shape:
    agent: shaper
    expire_after: 20m
    on_expire: ask
    delegations: 2
    delegates:
      - helper
      - { agent: digger, contract: task, returns: report }
    on:
      success: { to: build, gate: blocking }
  build:
    agent: builder
    expire_after: 20m
    on_expire: return
    delegates: [trimmer, { agent: helper, contract: task }]
    on:
      success: { to: trim, gate: advisory }
      failure: { to: shape, back: true }
  trim:
    agent: trimmer
    optional: true
    expire_after: 25m
    on_expire: loose
    on:
      success: { to: prove, gate: { type: automatic, name: proofs, checks: [lint, test] } }
  prove:
    agent: prover
    delegates: [{ agent: digger, returns: report }]
    on:
      success:
        to: complete
        contract: report
        gate: { type: blocking, remind_after: 20m, approvers: { need: 2, of: [ada, bob, cyd, dot] } }
      failure: { to: build, back: true }
contracts:
  task:
    must:
      - field: plan
        about: what is to be done
    should:
      - field: summary
        type: text
        about: what has been done
  report:
    must:
      - field: summary
        type: text
        about: what came of it
  plea:
    must:
      - field: plan
        about: what was tried
    should:
      - field: summary
        type: text
        about: what is asked
";

pub(crate) static GATED: Flow = Flow {
    name: "gated",
    start: to("shape"),
    steps: &[
        Step {
            entries: 2,
            delegations: 2,
            expiry: Some(Expiry { after: 20 * MINUTE, then: Then::Ask }),
            delegates: &[
                delegate("helper"),
                Delegate {
                    contract: Contract::Plan,
                    returns: Contract::Summary,
                    ..delegate("digger")
                },
            ],
            ..step("shape", &["shaper"], &[Edge { gate: Some(EdgeGate::Blocking), ..to("build") }])
        },
        Step {
            entries: 3,
            expiry: Some(Expiry { after: 20 * MINUTE, then: Then::Return }),
            delegates: &[
                delegate("trimmer"),
                Delegate { contract: Contract::Plan, ..delegate("helper") },
            ],
            ..step(
                "build",
                &["builder"],
                &[
                    Edge { gate: Some(EdgeGate::Advisory), ..to("trim") },
                    Edge { on: Outcome::Failure, is_back: true, ..to("shape") },
                ],
            )
        },
        Step {
            is_optional: true,
            entries: 2,
            expiry: Some(Expiry { after: 25 * MINUTE, then: Then::Loose }),
            ..step(
                "trim",
                &["trimmer"],
                &[Edge { gate: Some(EdgeGate::Automatic(&["lint", "test"])), ..to("prove") }],
            )
        },
        Step {
            entries: 2,
            delegates: &[Delegate { returns: Contract::Summary, ..delegate("digger") }],
            ..step(
                "prove",
                &["prover"],
                &[
                    Edge {
                        contract: Contract::Summary,
                        gate: Some(EdgeGate::Approved(&Approvers {
                            need: 2,
                            of: &["ada", "bob", "cyd", "dot"],
                            remind_after: 20 * MINUTE,
                        })),
                        ..to(ORCHESTRATOR)
                    },
                    Edge { on: Outcome::Failure, is_back: true, ..to("build") },
                ],
            )
        },
    ],
    rounds: 1,
    retries: 1,
    questions: 1,
    releases: 2,
    stale_after: 15 * MINUTE,
    expiry: Some(Expiry { after: 30 * MINUTE, then: Then::Return }),
    escalation: Contract::Plan,
};

const fn delegate(agent: &'static str) -> Delegate {
    Delegate { agent, contract: Contract::None, returns: Contract::None }
}
