//! The XML handoff's `<workflow-complete>`: how a finished run went, computed from its log.
//!
//! Baton counts what it can (duration, how often work went back, which commits were named); the
//! rest comes from the newest package that mentions it. Scalars are text, as in every document that
//! has an XML form.

mod cycle_time;
mod reported;

use baton_core::budget::Usage;
use baton_core::document::Node;
use baton_core::event::{Created, Event, HandoffEvent, RunEvent, StepEvent};
use baton_core::outcome::Outcome;
use baton_core::run::{Kind, RunId, RunStatus};
use baton_core::story::Story;
use baton_core::workflow::Workflow;

use self::cycle_time::cycle_time;
use self::reported::ReportedResults;
use crate::Views;
use crate::history::{History, Logged};
use baton_engine::EngineError;

impl Views<'_> {
    /// The report on a completed or cancelled run.
    pub async fn completion(&self, run: RunId) -> Result<Node, EngineError> {
        let history = self.history(run).await?;
        let number = history.row.number;
        completion(&history).ok_or(EngineError::RunOpen { number })
    }
}

/// None while the run is open.
pub(crate) fn completion(history: &History) -> Option<Node> {
    let run = &history.row.run;
    let status = match run.status {
        RunStatus::Open | RunStatus::Paused => return None,
        RunStatus::Completed => "completed",
        RunStatus::Cancelled => "cancelled",
    };
    let packages = history.packages();
    let said = ReportedResults::of(&packages);
    let subject = said.subject(run.story.as_str(), history.story.as_ref().and_then(pr_url));
    let metrics = [
        ("review_iterations", Some(n_rounds(history).to_string())),
        ("total_commits", said.n_commits.map(|it| it.to_string())),
        ("tests_added", said.tests_added),
        ("coverage", said.coverage),
    ];
    let mut actions = said.actions;
    if actions.is_empty() {
        actions = seen(history);
    }
    let members = [
        ("issue_number", subject.issue_number.map(Node::Text)),
        ("issue_url", subject.issue_url.map(Node::Text)),
        ("pr_number", subject.pr_number.map(Node::Text)),
        ("pr_url", subject.pr_url.map(Node::Text)),
        ("branch", said.branch.map(Node::Text)),
        ("commits", (!said.commits.is_empty()).then(|| list_of("commit", said.commits))),
        ("status", Some(Node::text(status))),
        ("cycle_time", history.ended_at().map(|it| Node::Text(cycle_time(run.started_at, it)))),
        ("summary", said.summary.map(Node::Text)),
        ("metrics", Some(map(metrics.map(|(key, it)| (key, it.map(Node::Text)))))),
        ("usage", usage(&run.used())),
        ("actions_taken", (!actions.is_empty()).then(|| list_of("action", actions))),
    ];
    Some(Node::map([("workflow-complete", map(members))]))
}

/// How often work went back: by a reject, along a back edge, or along an edge that the workflow has
/// for failure.
fn n_rounds(history: &History) -> usize {
    let is_round = |event: &Event| {
        if let Event::Handoff(HandoffEvent::Created(created)) = event {
            return is_failure_edge(&history.workflow, created);
        }
        matches!(
            event,
            Event::Handoff(HandoffEvent::Rejected { .. })
                | Event::Step(StepEvent::RoundCounted { .. })
        )
    };
    history.log.iter().filter(|it| is_round(&it.event)).count()
}

/// A back edge creates a return, which its reject already counts; a retry is not another round.
fn is_failure_edge(workflow: &Workflow, created: &Created) -> bool {
    let leads = |on| workflow.edge_between(&created.from.place, &created.to.place, on).is_some();
    created.kind == Kind::Sequential
        && created.attempt == 1
        && leads(Outcome::Failure)
        && !leads(Outcome::Success)
}

/// Actions that external signals reported, for when the agents report none.
fn seen(history: &History) -> Vec<String> {
    let mut actions: Vec<String> = Vec::new();
    for Logged { event, .. } in &history.log {
        let action = if let Event::Run(RunEvent::SignalMerged { commit }) = event {
            commit.as_ref().map_or("Merged".to_owned(), |it| format!("Merged as {it}"))
        } else if *event == Event::Run(RunEvent::SignalPassed) {
            "Work passed".to_owned()
        } else {
            continue;
        };
        if !actions.contains(&action) {
            actions.push(action);
        }
    }
    actions
}

/// What the agents used, where they said so.
fn usage(used: &Usage) -> Option<Node> {
    let number = |n: u64| Some(Node::Text(n.to_string()));
    let members = [
        ("input_tokens", number(used.input_tokens)),
        ("cached_tokens", number(used.cached_tokens)),
        ("output_tokens", number(used.output_tokens)),
        ("cost_micro_usd", used.micro_usd.and_then(number)),
        ("work_seconds", number(used.work_ms / 1000)),
    ];
    (!used.is_nothing()).then(|| map(members))
}

fn pr_url(story: &Story) -> Option<&str> {
    story.pr_url.as_deref()
}

/// A map of the members that are present.
fn map<const N: usize>(members: [(&'static str, Option<Node>); N]) -> Node {
    Node::map(members.into_iter().filter_map(|(key, it)| Some((key, it?))))
}

/// A list as XML writes it: an element for each item.
fn list_of(key: &'static str, items: Vec<String>) -> Node {
    Node::map([(key, Node::List(items.into_iter().map(Node::Text).collect()))])
}
