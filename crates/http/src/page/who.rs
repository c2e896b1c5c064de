//! People and agents on the page: avatar, name and role.

use baton_core::agent::Agent;
use baton_core::names::AgentId;
use baton_core::run::{Baton, Branch, Handoff, Run, State, Wait};
use baton_core::workflow::Workflow;
use baton_views::Cast;

use super::html::Html;
use crate::v1::step_title;

/// Colours of avatars; a class each, because the page has no inline styles.
const HUES: [&str; 6] = ["hue-0", "hue-1", "hue-2", "hue-3", "hue-4", "hue-5"];

pub(super) fn agent(html: &mut Html, agent: &Agent) {
    agent_at(html, agent, None);
}

/// An agent with the step that it has to do: pointing at it shows both.
pub(super) fn agent_at(html: &mut Html, agent: &Agent, step: Option<&str>) {
    html.raw("<span class=\"who\"");
    if !agent.description.is_empty() || step.is_some() {
        html.raw(" title=\"").attribute(&agent.name);
        if !agent.description.is_empty() {
            html.raw(": ").attribute(&agent.description);
        }
        if !agent.capabilities.is_empty() {
            html.raw(" (").attribute(&agent.capabilities.join(", ")).raw(")");
        }
        if let Some(step) = step {
            html.raw("; responsible for ").attribute(step);
        }
        html.raw("\"");
    }
    html.raw("><span class=\"face ").raw(hue(&agent.id)).raw("\" aria-hidden=\"true\">");
    let name = agent.label();
    // An avatar of the agent's file is not shown: it may be a URL, and the page fetches nothing from
    // other sites, or an emoji that the reader's machine has no font for.
    html.text(&agent.initials()).raw("</span>").words(&name).raw("</span>");
}

/// Who has to act, as one sentence: "Implementer has the baton".
pub(super) fn sentence(run: &Run, cast: &Cast) -> String {
    let in_words = |it: &Branch| sentence_in(run, it.no, cast);
    run.branches.iter().map(in_words).collect::<Vec<_>>().join("; ")
}

fn sentence_in(run: &Run, branch: u16, cast: &Cast) -> String {
    match holder(run, branch) {
        Some(it) if it.asker.is_some() => {
            let asker = it.asker.map(|it| cast.today(it).label()).unwrap_or_default();
            let asked = if it.asked.is_human() { "you".to_owned() } else { it.named(cast).label() };
            format!("{asker} asks {asked} a question")
        }
        Some(it) => format!("{} {}", it.named(cast).label(), it.words),
        None => match run.baton_in(branch) {
            Baton::Loose { at, .. } => format!("No agent has the baton: it lies at {at}"),
            Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => {
                format!("The run is {}", run.status.name())
            }
        },
    }
}

/// The party that has to act.
struct Holder<'a> {
    handoff: &'a Handoff,
    asked: &'a AgentId,
    class: &'static str,
    words: &'static str,
    /// The agent whose question is open.
    asker: Option<&'a AgentId>,
}

impl Holder<'_> {
    /// As the page calls it: the person who reads it is `You`, as in `Waits for you`.
    fn named(&self, cast: &Cast) -> Agent {
        let agent = cast.today(self.asked);
        if self.asked.is_human() { Agent { name: "You".to_owned(), ..agent } } else { agent }
    }
}

fn holder(run: &Run, branch: u16) -> Option<Holder<'_>> {
    let handoff = run.current_in(branch)?;
    let asked = run.current_agent_in(branch).unwrap_or(&handoff.to.agent);
    let (class, words) = match (run.baton_in(branch), handoff.state) {
        (Baton::Parked { on: Wait::Timer, .. }, _) => ("offered", "is offered it again soon"),
        (Baton::Parked { on: Wait::Checks, .. }, _) => ("working", "has it checked"),
        (Baton::Parked { on: Wait::Person, .. }, _) if asked.is_human() => {
            ("person", "have to answer")
        }
        (_, State::Clarification) if asked.is_human() => ("offered", "are asked a question"),
        (_, State::Pending) if asked.is_human() => ("person", "have to answer"),
        (_, State::Accepted | State::Parked) if asked.is_human() => ("working", "have the baton"),
        (Baton::Parked { on: Wait::Person, .. }, _) => ("offered", "has to answer first"),
        (_, State::Clarification) => ("offered", "is asked a question"),
        (_, State::Pending) => ("offered", "is to take the baton"),
        (_, State::Accepted | State::Parked) => ("working", "has the baton"),
    };
    let asker = (handoff.state == State::Clarification).then_some(&handoff.to.agent);
    Some(Holder { handoff, asked, class, words, asker })
}

/// Who has to act, and since when: a line for each branch.
pub(super) fn has_the_baton(html: &mut Html, run: &Run, workflow: &Workflow, cast: &Cast) {
    for branch in &run.branches {
        has_the_baton_in(html, run, branch.no, workflow, cast);
    }
}

fn has_the_baton_in(html: &mut Html, run: &Run, branch: u16, workflow: &Workflow, cast: &Cast) {
    let holder = holder(run, branch);
    let Some(Holder { handoff: it, asked, class, words, asker }) = &holder else {
        match run.baton_in(branch) {
            Baton::Loose { at, .. } => {
                html.raw(
                    "<p class=\"baton loose\"><strong>No agent</strong> has the baton: it lies at ",
                );
                html.words(&at.to_string()).raw("</p>");
            }
            Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } | Baton::Done => {
                html.raw("<p class=\"baton over\">The run is ").raw(run.status.name()).raw("</p>");
            }
        }
        return;
    };
    html.raw("<p class=\"baton ").raw(class).raw("\">");
    html.raw("<strong>");
    let step = step_title(workflow, &it.to.place).filter(|_| **asked == it.to.agent);
    let named = holder.as_ref().map(|it| it.named(cast));
    named.into_iter().for_each(|it| agent_at(html, &it, step.as_deref()));
    html.raw("</strong>");
    let since = it.working_since.or(it.waiting_since).unwrap_or(it.created_at);
    html.raw(" ").raw(words);
    if let Some(asker) = asker {
        html.raw(" by ");
        agent(html, &cast.today(asker));
    }
    html.raw(" <span class=\"since\">").text(&it.no.label());
    html.raw(", ").time(since).raw("</span>");
    if it.is_stale {
        html.raw(" <span class=\"word warn\">stale</span>");
    }
    html.raw("</p>");
}

/// Always the same colour for the same agent.
fn hue(id: &AgentId) -> &'static str {
    let sum: usize = id.as_str().bytes().map(usize::from).sum();
    HUES[sum % HUES.len()]
}
