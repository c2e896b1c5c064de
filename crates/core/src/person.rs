//! Who is a person: the one rule. What only a person may do asks here, and so does what holds agents
//! to their own rules.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;

use crate::look_alike::{is_same_person, name_outline};
use crate::names::{AgentId, Principal};
use crate::registry::Agents;

/// Whom the name of a caller stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Speaker {
    Person,
    /// It speaks as this agent, in whatever spelling: `agent:reviewer`, `AGENT:Reviewer`, `reviewer`.
    Agent(AgentId),
    /// A name that belongs to Baton: `human`, `orchestrator`, `baton:runner`.
    Reserved,
}

/// How the names that belong to Baton look. It is worked out once: the author of every message is compared
/// with all of them.
struct OwnLooks {
    own_prefix: String,
    agent_prefix: String,
    agent: String,
    reserved: [String; 2],
}

static OWN_LOOKS: LazyLock<OwnLooks> = LazyLock::new(|| OwnLooks {
    own_prefix: name_outline(Principal::OWN_PREFIX),
    agent_prefix: name_outline(Principal::AGENT_PREFIX),
    agent: name_outline("agent"),
    reserved: [AgentId::HUMAN, AgentId::ORCHESTRATOR].map(name_outline),
});

/// Compares by the look of the name, so that another spelling is not another speaker. `ids` are agents
/// besides those of the registry: agents of a workflow need no file.
pub fn speaker<'a>(
    by: &Principal,
    agents: &Agents,
    ids: impl IntoIterator<Item = &'a AgentId>,
) -> Speaker {
    let look = name_outline(by.as_str());
    if look.starts_with(&OWN_LOOKS.own_prefix) {
        return Speaker::Reserved;
    }
    let prefixed = look.strip_prefix(&OWN_LOOKS.agent_prefix);
    // Another sign, or none, in the place of the colon: only where an agent of that name exists.
    let joined = look.strip_prefix(&OWN_LOOKS.agent);
    let joined = joined.map(|it| it.trim_start_matches(|it: char| !it.is_alphanumeric()));
    let names = [Some(look.as_str()), prefixed, joined];
    let is_named = |name: &str| names.contains(&Some(name));
    if OWN_LOOKS.reserved.iter().any(|it| is_named(it)) {
        return Speaker::Reserved;
    }
    let registered = names.iter().flatten().find_map(|it| agents.by_outline(it));
    let mut others = ids.into_iter().filter(|it| !it.is_human() && !it.is_orchestrator());
    let is_it = |it: &&AgentId| is_named(&name_outline(it.as_str()));
    match registered.or_else(|| others.find(is_it)) {
        Some(agent) => Speaker::Agent(agent.clone()),
        None if prefixed.is_some() => Speaker::Agent(unknown(by)),
        None => Speaker::Person,
    }
}

/// Whether this is how callers go by that state no name: `local` and `runner`, in whatever spelling.
///
/// They may do what any person may. Where people are counted, they count for none.
pub fn is_unnamed(by: &Principal) -> bool {
    let is_it = |it: &str| is_same_person(it, by.as_str());
    is_it(Principal::UNNAMED) || is_it(Principal::RUNNER)
}

/// The id of an agent that is not known, as near to what was written as an id can be.
fn unknown(by: &Principal) -> AgentId {
    let text: String = by.as_str().nfkc().collect::<String>().to_lowercase();
    let rest = text.split_once(|it: char| !it.is_alphanumeric()).map_or("", |it| it.1);
    let words = rest.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let id: String = words.collect::<Vec<_>>().join("-").chars().take(60).collect();
    AgentId::parse(id.trim_matches('-')).unwrap_or_else(|_| AgentId::unknown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Agent;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        let id = |it: &str| AgentId::parse(it).unwrap();
        let reviewer = Agent { name: "Rita Read".to_owned(), ..Agent::unknown(id("reviewer")) };
        let agents = Agents::new([reviewer]);
        let shown = match speaker(&Principal::parse(name).unwrap(), &agents, &[id("code-writer")]) {
            Speaker::Person => "a person".to_owned(),
            Speaker::Agent(agent) => format!("agent {agent}"),
            Speaker::Reserved => "reserved".to_owned(),
        };
        assert_eq!(shown, expected, "{name}");
    }

    #[test]
    fn a_caller_without_a_name_is_known_in_any_spelling() {
        for (name, expected) in [
            ("local", true),
            ("Local", true),
            ("l\u{43e}cal", true),
            ("runner", true),
            ("Runner", true),
            ("ana", false),
            ("localhost", false),
            ("forerunner", false),
        ] {
            assert_eq!(is_unnamed(&Principal::parse(name).unwrap()), expected, "{name}");
        }
    }

    #[test]
    fn an_agent_is_no_person_in_any_spelling() {
        for name in [
            "reviewer",
            "Reviewer",
            "agent:reviewer",
            "AGENT:reviewer",
            "Agent: Reviewer",
            "аgent:reviewer",
            "agent：reviewer",
            "agent∶revіewer",
            "agent-reviewer",
            "agent/reviewer",
            "agent reviewer",
            "rita read",
            "agent:Rita Read",
        ] {
            check(name, "agent reviewer");
        }
        check("Code Writer", "agent code-writer");
        check("agent:code_writer", "agent code-writer");
        check("agent:Somebody New", "agent somebody-new");
        check("agent:Ω", "agent unknown");
        for name in ["human", "HUMAN", "orchestrator", "agent:human", "baton:runner", "Bаton:x"] {
            check(name, "reserved");
        }
        for name in ["ana", "Agent Smith", "local", "uid-0", "rita", "reviewers", "baton"] {
            check(name, "a person");
        }
    }
}
