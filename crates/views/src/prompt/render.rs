//! Assembles a prompt: the values of a handoff, put into a template, fitted into the budget.

use baton_core::agent::AgentInterface;
use baton_core::collaboration::ContextVersion;
use baton_core::hash::Hash;
use minijinja::context;
use minijinja::value::Value;

use super::address::in_url;
use super::brief::{Brief, BriefDocument};
use super::budget::{self, Fitted, Section, Shorten};
use super::context;
use super::fence::PromptFence;
use super::role::{self, RoleText};
use super::variables::Variables;
use super::{Prompt, PromptOptions, templates};
use baton_engine::EngineError;

/// In commands of an agent's own prompt while no server runs: a name that never leads anywhere,
/// least of all to the server of another project.
const NO_SERVER: &str = "http://no-server.invalid";

/// The section with the shared documents, as the template names it.
const SHARED_CONTEXT: &str = "the shared context";

pub(super) fn render(
    brief: &Brief,
    options: &PromptOptions,
    nonce: [u8; 16],
) -> Result<Prompt, EngineError> {
    if options.face == AgentInterface::Curl && options.dashboard_url.is_none() {
        return Err(EngineError::NoServer);
    }
    let variables = variables(brief, options);
    let role = role::without_protocol(&brief.agent.prompt);
    let text = variables.put_into(&role.text).map_err(|unknown| {
        let unknown: Vec<String> = unknown.iter().map(|it| format!("`{{{{{it}}}}}`")).collect();
        EngineError::UnknownVariable {
            agent: brief.agent.id.clone(),
            unknown: unknown.join(", "),
            known: variables.names(),
        }
    })?;
    let identity = RoleText { text, ..role };
    let values = context::values(brief, options, PromptFence::new(nonce), &identity);
    let template = PromptTemplate { interface: options.face, values };
    let sections = template.sections(context! {});
    let Fitted { text, left_out } = budget::fit(sections, options.budget_tokens, &template);
    let is_shown = !left_out.iter().any(|it| it == SHARED_CONTEXT);
    let documents = brief.documents.iter().filter(|it| is_shown && it.text.is_some());
    let version = |it: &BriefDocument| ContextVersion { key: it.key.clone(), version: it.version };
    Ok(Prompt {
        documents: documents.map(version).collect(),
        hash: Hash::of(text.as_bytes()),
        package: brief.package.as_ref().and_then(|it| it.hash),
        tokens: budget::tokens(&text),
        left_out,
        text,
    })
}

/// The variables allowed in an agent's own prompt. None is free text from the run: a reason or a
/// title would act as an instruction there.
fn variables(brief: &Brief, options: &PromptOptions) -> Variables {
    let it = &brief.handoff;
    let dashboard_url = options.dashboard_url.as_ref().map(ToString::to_string);
    let dashboard_url = dashboard_url.unwrap_or_else(|| NO_SERVER.to_owned());
    Variables::new(vec![
        ("DASHBOARD_URL", dashboard_url),
        ("STORY_ID", brief.story.to_string()),
        ("STORY_ID_URL", in_url(brief.story.as_str())),
        ("BRANCH", brief.branch.clone()),
        ("HANDOFF_ID", it.number.to_string()),
        ("FENCE", it.fence.to_string()),
        ("AGENT", it.to.agent.to_string()),
        ("STEP", brief.work.place.to_string()),
        ("WORKFLOW", brief.workflow.name.to_string()),
        ("RUN_ID", brief.run.to_string()),
        ("ATTEMPT", it.attempt.to_string()),
        ("ROUND", (brief.rounds.len() + 1).to_string()),
    ])
}

/// The template of an interface, with the values of one prompt.
struct PromptTemplate {
    interface: AgentInterface,
    values: Value,
}

impl PromptTemplate {
    fn sections(&self, changes: Value) -> Vec<Section> {
        let values = context! { ..changes, ..self.values.clone() };
        let sections = templates::sections(self.interface, values);
        sections.unwrap_or_else(|error| unreachable!("tests render every template: {error:#}"))
    }

    fn only(&self, changes: Value) -> String {
        self.sections(changes).into_iter().map(|it| it.text).collect()
    }
}

impl Shorten for PromptTemplate {
    fn package(&self, most_chars: usize) -> String {
        self.only(context! { only => "package", most_chars })
    }

    fn note(&self, left_out: &[String]) -> String {
        self.only(context! { only => "note", left_out => left_out.to_vec() })
    }
}
