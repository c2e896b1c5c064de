//! The prompt that an agent is started with: its role, its task, the package, and how to hand on.
//!
//! [`Views::prompt`] gathers values; everything below `render` is a pure function of them, and the
//! words are in `templates/`. Text written by others is data there: it is fenced, and nothing in it
//! can end the fence.

mod actions;
mod address;
mod asks;
mod brief;
mod budget;
mod claims;
mod context;
pub(crate) mod fence;
mod forms;
mod gather;
mod render;
mod role;
mod rules;
mod shared;
mod surroundings;
mod templates;
mod untrusted;
mod variables;

use std::fmt;

pub use baton_core::agent::AgentInterface;
use baton_core::collaboration::ContextVersion;
use baton_core::hash::Hash;
use baton_core::invisible::is_invisible;
use baton_store::HandoffRef;

pub use self::address::in_url;
use crate::Views;
use baton_engine::EngineError;

#[derive(Debug, Clone)]
pub struct PromptOptions {
    /// The address at which the agent reaches Baton; `None` while no server of this project runs.
    pub dashboard_url: Option<DashboardUrl>,
    /// The agent's token, where it was started under a lease.
    pub token: Option<PromptToken>,
    /// Maximum length of the prompt, at four characters per token; unlimited if left out.
    pub budget_tokens: Option<u32>,
    pub face: AgentInterface,
}

/// Where an agent gets its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptToken {
    /// From `BATON_TOKEN`, so that no prompt contains it.
    Environment,
    /// From the prompt itself, for a launcher that cannot set an agent's environment.
    Written(String),
}

/// An address that is safe on a line and in a command: `http://localhost:4180`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DashboardUrl(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the address of Baton begins with `http://` or `https://` and has no blanks or quotes")]
pub struct BadDashboardUrl;

/// A rendered prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    /// Hash of the text: identifies later what was sent.
    pub hash: Hash,
    /// Hash of the package in it.
    pub package: Option<Hash>,
    /// An estimate.
    pub tokens: usize,
    /// Names of the sections that the budget had no room for.
    pub left_out: Vec<String>,
    /// The shared documents whose text is in it.
    pub documents: Vec<ContextVersion>,
}

impl Views<'_> {
    /// The prompt for the receiver of a handoff. The fence is new each time, so no two are equal.
    pub async fn prompt(
        &self,
        which: &HandoffRef,
        options: &PromptOptions,
    ) -> Result<Prompt, EngineError> {
        let brief = self.brief(which).await?;
        render::render(&brief, options, self.nonce())
    }
}

impl DashboardUrl {
    /// Without a trailing `/`: paths bring their own.
    pub fn parse(url: &str) -> Result<Self, BadDashboardUrl> {
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        let is_odd =
            |it: char| it.is_whitespace() || is_invisible(it) || "'\"`\\<>{}|^$".contains(it);
        match rest.map(|it| it.trim_end_matches('/')) {
            Some(rest) if !rest.is_empty() && !url.chars().any(is_odd) => {
                Ok(Self(url.trim_end_matches('/').to_owned()))
            }
            Some(_) | None => Err(BadDashboardUrl),
        }
    }
}

impl fmt::Display for DashboardUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_can_stand_in_a_command() {
        for (url, expected) in [
            ("http://localhost:3000", "http://localhost:3000"),
            ("https://baton.example/sub/", "https://baton.example/sub"),
        ] {
            assert_eq!(DashboardUrl::parse(url).unwrap().to_string(), expected);
        }
        for url in ["", "localhost:3000", "http://", "http:///", "http://a b", "http://a'$(x)"] {
            assert_eq!(DashboardUrl::parse(url), Err(BadDashboardUrl), "{url}");
        }
        assert_eq!(DashboardUrl::parse("http://a\nSTORY_ID = x"), Err(BadDashboardUrl));
    }
}
