//! Everything that anybody can see of a run, on a few lines.

use super::{Baton, Cause, Gate, Handoff, Kind, Run, State, Status, Stops};

impl Run {
    pub(crate) fn shows(&self) -> String {
        let status = match self.status {
            Status::Open => "open",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Cancelled => "cancelled",
        };
        let baton = match self.baton {
            Baton::Offered(no) => format!("offered {no}"),
            Baton::Held(no) => format!("held {no}"),
            Baton::Asked(no) => format!("parked {no} for a person"),
            Baton::HeldBack(no) => format!("parked {no} for a time"),
            Baton::Loose { at, other } => format!("loose {at}/{other}"),
            Baton::Done => "done".to_owned(),
        };
        let open: Vec<String> = self.open().map(Handoff::shows).collect();
        let mut passed: Vec<String> =
            self.passed.iter().map(|(from, to)| format!("{from}→{to}")).collect();
        passed.sort();
        let rounds: Vec<String> = self
            .rounds
            .iter()
            .map(|it| format!("{}→{} {}+{}", it.edge.0, it.edge.1, it.n_rejects, it.n_extra))
            .collect();
        format!(
            "{status}; {baton}; {}\nframes {:?}; {} blockers; [{}]; [{}]; past [{}]; {} handoffs; entered [{}]\n{}",
            self.current_agent(),
            self.frames,
            self.n_blockers,
            rounds.join(", "),
            self.visited.join(" "),
            passed.join(" "),
            self.handoffs.len(),
            self.counted().join(", "),
            open.join("\n"),
        )
    }

    fn counted(&self) -> Vec<String> {
        let mut counted: Vec<String> = (self.counts.iter())
            .flat_map(|(step, it)| [(step, "entered", it.n), (step, "helped", it.n_helped)])
            .filter(|(.., n)| *n > 0)
            .map(|(step, what, n)| format!("{step} {what} {n}"))
            .chain(
                self.open()
                    .filter(|it| it.n_parts > 0)
                    .map(|it| format!("{} gave {} parts", it.no, it.n_parts)),
            )
            .chain(
                self.open()
                    .filter(|it| it.n_releases > 0)
                    .map(|it| format!("{} released {}", it.no, it.n_releases)),
            )
            .collect();
        counted.sort();
        counted
    }

    fn current_agent(&self) -> &'static str {
        let Some(current) = self.current() else { return "nobody" };
        match current.question {
            Some(question) => self.row(question).to.agent,
            None => current.to.agent,
        }
    }
}

impl Handoff {
    fn shows(&self) -> String {
        let mut shows = format!(
            "{} {}@{}→{}@{} {} {} try {} fence {}",
            self.no,
            self.from.agent,
            self.from.place,
            self.to.agent,
            self.to.place,
            self.state.name(),
            self.kind.name(),
            self.attempt,
            self.fence,
        );
        let mut adds = |word: &str, what: Option<String>| {
            shows += &what.map(|it| format!(" {word} {it}")).unwrap_or_default();
        };
        adds("package", self.package.map(|it| it.to_string()));
        adds("lease", self.lease.map(|it| it.to_string()));
        adds("until", self.held_back_until.map(|it| it.to_string()));
        adds("question", self.question.map(|it| it.to_string()));
        adds("about", self.about.map(|it| it.to_string()));
        adds("asked", (self.n_questions > 0).then(|| self.n_questions.to_string()));
        adds("brings", self.brings.map(|it| it.name().to_owned()));
        adds("found", shown(&self.evidence));
        adds("gate", self.gate.as_ref().map(Gate::shows));
        adds("is", self.is_stale.then(|| "stale".to_owned()));
        shows
    }
}

impl Gate {
    fn shows(&self) -> String {
        let beside = self.beside.map(|it| format!(" beside {it}")).unwrap_or_default();
        let found = shown(&self.evidence).map(|it| format!(" found {it}")).unwrap_or_default();
        let stops = match self.stops {
            Stops::All => "blocking",
            Stops::Nothing => "advisory",
            Stops::Until(_) => "automatic",
        };
        let (asker, worker) = (self.asker, self.worker);
        let votes = self.approval.as_ref().map(|it| format!(" votes {}", it.shows()));
        let votes = votes.unwrap_or_default();
        let reminded = if self.is_reminded { " reminded" } else { "" };
        format!(
            "{} {stops} {}@{} then {}@{}{beside}{found}{votes}{reminded}",
            self.cause.name(),
            asker.agent,
            asker.place,
            worker.agent,
            worker.place
        )
    }
}

/// The evidence, by the name of the check.
fn shown(evidence: &[(&'static str, bool, u32)]) -> Option<String> {
    let mut words: Vec<String> =
        evidence.iter().map(|(check, passed, _)| format!("{check}={passed}")).collect();
    words.sort();
    (!words.is_empty()).then(|| words.join(","))
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Clarification => "clarification",
            State::Accepted => "accepted",
            State::Parked => "parked",
            State::Ended => "ended",
        }
    }
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Sequential => "sequential",
            Kind::Delegation => "delegation",
            Kind::Escalation => "escalation",
            Kind::Return => "return",
            Kind::Question => "question",
        }
    }
}

impl Cause {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cause::Rounds => "rounds",
            Cause::SameFindings => "same_findings",
            Cause::Entries => "entries",
            Cause::Delegations => "delegations",
            Cause::Failure => "failure",
            Cause::Blocked => "blocked",
            Cause::NeedsClarification => "needs_clarification",
            Cause::NeedsReview => "needs_review",
            Cause::Declared => "declared",
            Cause::Checks => "checks",
            Cause::Escalation => "escalation",
            Cause::Questions => "questions",
            Cause::LostLease => "lost_lease",
            Cause::Releases => "releases",
            Cause::Expired => "expired",
        }
    }
}
