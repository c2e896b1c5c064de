//! People and agents on the page: avatar, name and role.

use baton_core::agent::Agent;
use baton_core::names::AgentId;
use baton_core::run::{Baton, Branch, Handoff, Run, State, Wait};
use baton_core::workflow::Workflow;
use baton_views::Cast;

use super::html::Html;
use crate::v1::step_title;

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
    html.raw(">");
    face(html, agent);
    html.words(&agent.label()).raw("</span>");
}

/// The avatar: the image, or the initials in the agent's colour.
fn face(html: &mut Html, agent: &Agent) {
    // The page fetches nothing from other sites.
    let is_own =
        |it: &&str| it.starts_with("data:image/") || it.starts_with('/') && !it.starts_with("//");
    if let Some(url) = agent.avatar_url().filter(is_own) {
        html.raw("<img class=\"face\" alt=\"\" src=\"").attribute(url).raw("\">");
        return;
    }
    // Not its emoji: the reader's machine may have no font for it.
    let initials = agent.initials();
    let color = agent.avatar_color();
    match tone(color) {
        Some(tone) => {
            html.raw("<span class=\"face ").raw(tone).raw("\" aria-hidden=\"true\">");
            html.text(&initials).raw("</span>");
        }
        // The page has no inline styles; a drawing may have any colour.
        None => {
            html.raw("<svg class=\"face\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">");
            html.raw("<circle cx=\"12\" cy=\"12\" r=\"12\" fill=\"").attribute(color);
            html.raw(
                "\"/><text x=\"12\" y=\"16.5\" text-anchor=\"middle\" font-size=\"12\" fill=\"",
            );
            html.raw(if is_light(color) { "#000" } else { "#fff" });
            html.raw("\">").text(&initials).raw("</text></svg>");
        }
    }
}

/// The class of a colour that has a name.
fn tone(color: &str) -> Option<&'static str> {
    Some(match color {
        "blue" => "tone-blue",
        "green" => "tone-green",
        "purple" => "tone-purple",
        "orange" => "tone-orange",
        "cyan" => "tone-cyan",
        "pink" => "tone-pink",
        "red" => "tone-red",
        "yellow" => "tone-yellow",
        _ => return None,
    })
}

/// Whether dark letters are better read on a colour such as `#1a2b3c`.
fn is_light(color: &str) -> bool {
    let digits = color.trim_start_matches('#');
    let part = |at: usize| digits.get(at..at + 2).and_then(|it| u32::from_str_radix(it, 16).ok());
    match (part(0), part(2), part(4)) {
        (Some(red), Some(green), Some(blue)) => 299 * red + 587 * green + 114 * blue > 140_000,
        _ => true,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shows(avatar: Option<&str>, color: Option<&str>, expected: &str) {
        let id = AgentId::parse("architect").unwrap();
        let [avatar, color] = [avatar, color].map(|it| it.map(str::to_owned));
        let agent = Agent { name: "Architect".to_owned(), avatar, color, ..Agent::unknown(id) };
        let mut html = Html::default();
        face(&mut html, &agent);
        let page = html.into_string();
        assert!(page.contains(expected), "{page}");
    }

    #[test]
    fn an_avatar_is_the_agents_image_or_its_initials_in_its_colour() {
        shows(None, Some("purple"), "face tone-purple\" aria-hidden=\"true\">A<");
        shows(Some("🔍"), Some("blue"), "tone-blue\" aria-hidden=\"true\">A<");
        shows(None, Some("#1a2b3c"), "fill=\"#1a2b3c\"");
        shows(Some("/avatars/a.png"), None, "src=\"/avatars/a.png\"");
        shows(Some("https://example.org/a.png"), Some("green"), "tone-green");
        shows(Some("//example.org/a.png"), Some("green"), "tone-green");
    }
}
