//! People and agents on the page: avatar, name and role.

use baton_core::agent::Agent;
use baton_core::names::AgentId;
use baton_core::run::{Baton, Run, State, Wait};
use baton_views::Cast;

use super::html::Html;

/// Colours of avatars; a class each, because the page has no inline styles.
const HUES: [&str; 6] = ["hue-0", "hue-1", "hue-2", "hue-3", "hue-4", "hue-5"];

/// A longer avatar is not a picture but a URL, and the page fetches nothing from other sites.
const MOST_AVATAR_BYTES: usize = 32;

pub(super) fn agent(html: &mut Html, agent: &Agent) {
    html.raw("<span class=\"who\"");
    if !agent.description.is_empty() {
        html.raw(" title=\"").attribute(&agent.description);
        if !agent.capabilities.is_empty() {
            html.raw(" (").attribute(&agent.capabilities.join(", ")).raw(")");
        }
        html.raw("\"");
    }
    html.raw("><span class=\"face ").raw(hue(&agent.id)).raw("\" aria-hidden=\"true\">");
    let (avatar, name) = (agent.avatar.as_deref(), agent.label());
    match avatar.filter(|it| it.len() <= MOST_AVATAR_BYTES && !it.contains("//")) {
        Some(avatar) => html.text(avatar),
        None if agent.id.is_human() => html.raw("!"),
        None => html.text(&name.chars().take(1).flat_map(char::to_uppercase).collect::<String>()),
    };
    html.raw("</span>").words(&name).raw("</span>");
}

/// Who has to act, and since when.
pub(super) fn has_the_baton(html: &mut Html, run: &Run, cast: &Cast) {
    let Some(it) = run.current() else {
        match run.baton() {
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
    let asked = run.current_agent().unwrap_or(&it.to.agent);
    let (class, words) = match (run.baton(), it.state) {
        (Baton::Parked { on: Wait::Timer, .. }, _) => ("offered", "is offered it again soon"),
        (Baton::Parked { on: Wait::Person, .. }, _) if asked.is_human() => {
            ("person", "has to answer")
        }
        (Baton::Parked { on: Wait::Person, .. }, _) => ("offered", "has to answer first"),
        (_, State::Clarification) => ("offered", "is asked about it"),
        (_, State::Pending) => ("offered", "is to take the baton"),
        (_, State::Accepted | State::Parked) => ("working", "has the baton"),
    };
    html.raw("<p class=\"baton ").raw(class).raw("\">");
    html.raw("<strong>");
    agent(html, &cast.today(asked));
    html.raw("</strong>");
    let since = it.working_since.or(it.waiting_since).unwrap_or(it.created_at);
    html.raw(" ").raw(words).raw(" <span class=\"since\">").text(&it.no.label());
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
