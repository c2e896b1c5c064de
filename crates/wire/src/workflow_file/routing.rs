//! `domain` and `routing` of a workflow file: which agent resolves what blocks a step.

use baton_core::names::AgentId;
use baton_core::workflow::{BlockerRouting, Resolver, ResolverRow};

use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;

pub(crate) const KEYS: &[&str] = &["prefixes", "reasons"];

const MOST_ENTRIES: usize = 100;

/// The table, without what could not be read.
pub(super) fn routing(fields: &Fields<'_>, problems: &mut Problems) -> BlockerRouting {
    let domain = fields.get("domain").and_then(|it| word(&it, problems));
    let empty = BlockerRouting { domain, ..BlockerRouting::default() };
    let Some(field) = fields.get("routing") else { return empty };
    let Some(fields) = Fields::open(&field, KEYS, problems) else { return empty };
    let prefixes = fields.get("prefixes").map(|it| prefixes(&it, problems));
    let rows = fields.required("reasons", problems).map(|it| rows(&it, problems));
    BlockerRouting {
        prefixes: prefixes.unwrap_or_default(),
        rows: rows.unwrap_or_default(),
        ..empty
    }
}

/// `python: backend`: agents whose name begins with `python-` are of the domain `backend`.
fn prefixes(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<(String, String)> {
    let entries = bounded(field, problems);
    let pair = |(prefix, field): (String, FieldAt<'_>)| Some((prefix, word(&field, problems)?));
    entries.into_iter().filter_map(pair).collect()
}

fn rows(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<ResolverRow> {
    let entries = bounded(field, problems);
    let row = |(reason, field): (String, FieldAt<'_>)| ResolverRow {
        reason,
        resolvers: resolvers(&field, problems),
    };
    entries.into_iter().map(row).collect()
}

/// An agent for every domain, or a map of domains to agents.
fn resolvers(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<Resolver> {
    if field.node.scalar_text().is_some() {
        let agent = field.parsed(AgentId::parse, problems);
        return agent.map(|agent| Resolver { domain: None, agent }).into_iter().collect();
    }
    let entries = bounded(field, problems);
    let resolver = |(domain, field): (String, FieldAt<'_>)| {
        let agent = field.parsed(AgentId::parse, problems)?;
        Some(Resolver { domain: Some(domain), agent })
    };
    entries.into_iter().filter_map(resolver).collect()
}

/// The members of a map, whose keys are words: the prefix of a name, a domain or a reason.
fn bounded<'a>(field: &FieldAt<'a>, problems: &mut Problems) -> Vec<(String, FieldAt<'a>)> {
    let mut entries = field.entries(problems);
    if entries.len() > MOST_ENTRIES {
        let message = format!("has {} entries; the most is {MOST_ENTRIES}", entries.len());
        field.problem("too_many", message, problems);
        entries.truncate(MOST_ENTRIES);
    }
    let mut named = Vec::new();
    for (member, field) in entries {
        if is_word(&member.key) {
            named.push((member.key.clone(), field));
        } else {
            problems.add(member.key_at, field.path.clone(), "bad_name", NOT_A_WORD);
        }
    }
    named
}

const NOT_A_WORD: &str = "must be lower-case letters, digits, `_` and `-`, at most 64";

fn word(field: &FieldAt<'_>, problems: &mut Problems) -> Option<String> {
    let text = field.line(problems)?;
    if !is_word(&text) {
        field.problem("bad_name", NOT_A_WORD, problems);
        return None;
    }
    Some(text)
}

fn is_word(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || "_-".contains(it);
    (1..=64).contains(&text.len()) && text.chars().all(is_part)
}
