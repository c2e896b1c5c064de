//! A real run, shown as the model would show it.

use baton_core::acknowledgement::is_receipt;
use baton_core::approval::{GateApproval, Vote};
use baton_core::evidence::{Evidence, Verdict};
use baton_core::gate::Gate;
use baton_core::names::{AgentId, Principal, StepId};
use baton_core::run::{Baton, CounterScope, Handoff, Run, Wait};

use crate::world::BEGINNING;

/// The serials are those of the packages of the open handoffs, in their order.
pub(crate) fn shows(run: &Run, serials: &[Option<u32>]) -> String {
    let baton = match run.baton() {
        Baton::Offered { handoff } => format!("offered {}", handoff.0),
        Baton::Held { handoff } => format!("held {}", handoff.0),
        Baton::Parked { handoff, on: Wait::Person } => {
            format!("parked {} for a person", handoff.0)
        }
        Baton::Parked { handoff, on: Wait::Checks } => format!("parked {} on checks", handoff.0),
        Baton::Parked { handoff, on: Wait::Timer } => format!("parked {} for a time", handoff.0),
        Baton::Loose { at, other, .. } => format!("loose {at}/{other}"),
        Baton::Done => "done".to_owned(),
    };
    let frames: Vec<u32> = run.frames.iter().map(|it| it.caller.0).collect();
    let open: Vec<String> =
        run.handoffs.iter().zip(serials).map(|(it, serial)| row(it, *serial)).collect();
    let rounds: Vec<String> = run
        .all_rounds()
        .map(|(edge, it)| format!("{}→{} {}+{}", edge.from, edge.to, it.n, it.n_extra))
        .collect();
    let passed = run.passed().unwrap_or_default().iter();
    let mut passed: Vec<String> = passed.map(|it| format!("{}→{}", it.from, it.to)).collect();
    passed.sort();
    let visited: Vec<&str> = run.visited.iter().map(StepId::as_str).collect();
    format!(
        "{}; {baton}; {}\nframes {frames:?}; {} blockers; [{}]; [{}]; past [{}]; {} handoffs; entered [{}]\n{}",
        run.status.name(),
        run.current_agent().map_or("nobody", AgentId::as_str),
        run.blockers.len(),
        rounds.join(", "),
        visited.join(" "),
        passed.join(" "),
        run.n_handoffs,
        counted(run).join(", "),
        open.join("\n"),
    )
}

fn counted(run: &Run) -> Vec<String> {
    let counted = run.counters.iter().filter(|it| it.n > 0);
    let mut counted: Vec<String> = counted
        .filter_map(|it| match &it.scope {
            CounterScope::Rounds(_) | CounterScope::WholeRun | CounterScope::Budget(_) => None,
            CounterScope::Entries(step) => Some(format!("{step} entered {}", it.n)),
            CounterScope::Blocks(step) => Some(format!("{step} helped {}", it.n)),
            CounterScope::Delegations(no) => Some(format!("{} gave {} parts", no.0, it.n)),
            CounterScope::Releases(no) => Some(format!("{} released {}", no.0, it.n)),
        })
        .collect();
    counted.sort();
    counted
}

fn row(handoff: &Handoff, serial: Option<u32>) -> String {
    let mut shows = format!(
        "{} {}@{}→{}@{} {} {} try {} fence {}",
        handoff.no.0,
        handoff.from.agent,
        handoff.from.place,
        handoff.to.agent,
        handoff.to.place,
        handoff.state.name(),
        handoff.kind.name(),
        handoff.attempt,
        handoff.fence,
    );
    let mut adds = |word: &str, what: Option<String>| {
        shows += &what.map(|it| format!(" {word} {it}")).unwrap_or_default();
    };
    let until = handoff.held_back_until.map(|it| it.duration_since(BEGINNING).as_secs());
    adds("package", serial.map(|it| it.to_string()));
    adds("lease", handoff.lease.map(|it| it.to_string()));
    adds("until", until.map(|it| it.to_string()));
    adds("question", handoff.question.map(|it| it.0.to_string()));
    adds("about", handoff.about.map(|it| it.0.to_string()));
    adds("asked", (handoff.n_questions > 0).then(|| handoff.n_questions.to_string()));
    adds("brings", handoff.brings.map(|it| it.name().to_owned()));
    adds("found", found(&handoff.evidence));
    adds("gate", handoff.gate.as_ref().map(gate));
    adds("is", handoff.is_stale.then(|| "stale".to_owned()));
    shows
}

fn gate(gate: &Gate) -> String {
    let beside = gate.beside.map(|it| format!(" beside {}", it.0)).unwrap_or_default();
    let found = found(&gate.evidence).map(|it| format!(" found {it}")).unwrap_or_default();
    let votes = gate.approval.as_ref().map(|it| format!(" votes {}", votes(it)));
    let votes = votes.unwrap_or_default();
    let reminded = if gate.reminded_at.is_some() { " reminded" } else { "" };
    format!(
        "{} {} {}@{} then {}@{}{beside}{found}{votes}{reminded}",
        gate.cause.name(),
        gate.kind.name(),
        gate.asker.agent,
        gate.asker.place,
        gate.worker.agent,
        gate.worker.place
    )
}

fn votes(approval: &GateApproval) -> String {
    let vote = |it: &Vote| {
        let holders: Vec<&str> = it.holders.iter().map(Principal::as_str).collect();
        let mark = if it.approval.is_some() { "+" } else { "" };
        format!("{}{mark}", holders.join(">"))
    };
    approval.votes.iter().map(vote).collect::<Vec<_>>().join(" ")
}

fn found(evidence: &[Evidence]) -> Option<String> {
    let word = |it: &Evidence| format!("{}={}", it.check, it.verdict == Verdict::Passed);
    // What was received is judged by the linter, of which the model knows nothing.
    let ours = evidence.iter().filter(|it| !is_receipt(&it.check));
    let mut words: Vec<String> = ours.map(word).collect();
    words.sort();
    (!words.is_empty()).then(|| words.join(","))
}
