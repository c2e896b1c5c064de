//! What waits for a person: the question, and for every answer its button, the command and its
//! consequence.

use baton_core::evidence::Verdict;
use baton_core::names::{AgentId, CheckName, Principal};
use baton_core::run::without_failure;
use baton_core::shell::shell_word;
use baton_core::workflow::Workflow;
use baton_engine::{DAMAGED_TEXT, EngineError};
use baton_views::{InboxItem, SenderWords, Waits};

use super::answer_form;
use super::html::Html;
use crate::scope::RequestScope;

/// More than a person answers before looking again.
pub(super) const MOST: usize = 20;
/// How much of the detail of a check is shown.
const MOST_DETAIL: usize = 200;

/// Something that waits for a person, with what its form shows beside it.
pub(super) struct AskedPerson {
    pub(super) item: InboxItem,
    /// The title of the story, or its key.
    title: String,
    /// Whom the work may be handed to instead.
    pub(super) agents: OfferedAgents,
    /// Who looks at the page, as they say.
    pub(super) by: Principal,
}

/// Agents that work may be handed to: those of its workflow, and those of others.
pub(super) struct OfferedAgents {
    pub(super) own: Vec<AgentId>,
    pub(super) others: Vec<AgentId>,
}

impl OfferedAgents {
    fn of(workflow: &Workflow, all: &[AgentId]) -> Self {
        let steps = workflow.steps.iter().flat_map(|it| &it.agents);
        let delegates = workflow.steps.iter().flat_map(|it| &it.delegates).map(|it| &it.agent);
        let mut own: Vec<AgentId> = Vec::new();
        for agent in steps.chain(delegates) {
            if !own.contains(agent) && !agent.is_human() && !agent.is_orchestrator() {
                own.push(agent.clone());
            }
        }
        let others = all.iter().filter(|it| !own.contains(it)).cloned().collect();
        Self { own, others }
    }
}

impl AskedPerson {
    pub(super) async fn load(
        app: &RequestScope,
        items: Vec<InboxItem>,
    ) -> Result<Vec<Self>, EngineError> {
        let catalog = app.read().catalog();
        let all = catalog.agents().iter().map(|it| it.id.clone());
        let all: Vec<AgentId> = all.filter(|it| !it.is_human() && !it.is_orchestrator()).collect();
        let mut asked = Vec::new();
        for item in items {
            let story = app.read().find_story(&item.run.run.story).await?;
            let title = story.map_or_else(|| item.run.run.story.to_string(), |it| it.story.title);
            let workflow = app.read().workflow_of(&item.run).await?;
            let (agents, by) =
                (OfferedAgents::of(&workflow, &all), app.caller().principal().clone());
            asked.push(Self { item, title, agents, by });
        }
        Ok(asked)
    }

    /// The flag with which the command line takes the answer of the same person; a mark in the place of
    /// the name where the gate needs one and the page knows none.
    pub(super) fn as_flag(&self) -> String {
        let approval = self.item.gate().and_then(|it| it.approval.as_ref());
        match self.by.as_str() {
            UNNAMED if approval.is_some() => " --as NAME".to_owned(),
            UNNAMED => String::new(),
            name => format!(" --as {}", shell_word(name)),
        }
    }
}

/// The caller that has not said who they are.
const UNNAMED: &str = "local";

/// The field in which a person says who they are. The script keeps the name for the browser's session
/// and sends it with every request.
fn you_are(html: &mut Html, by: &Principal) {
    let name = by.as_str();
    html.raw("<form class=\"you with-script\" id=\"you\"><label for=\"you-name\">You are</label> ");
    html.raw("<input id=\"you-name\" name=\"name\" maxlength=\"200\" autocomplete=\"nickname\" ");
    html.raw("placeholder=\"local\" value=\"");
    html.attribute(if name == UNNAMED { "" } else { name });
    html.raw("\"> <button type=\"submit\" id=\"you-set\">Use this name</button>");
    html.raw("<p class=\"answered\" id=\"answered-you\" role=\"alert\" hidden></p></form>");
}

/// Whose items a page lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InboxScope {
    /// Of all runs: each with the title of its story. If there are more items, the count covers only
    /// those that are shown.
    AllRuns { has_more: bool },
    /// Of the run that the page is about, which has named it already.
    OneRun,
    /// Of the handoff that the page is about, with all that was handed over.
    OneHandoff,
}

pub(super) fn render(html: &mut Html, items: &[AskedPerson], scope: InboxScope) {
    let has_more = scope == InboxScope::AllRuns { has_more: true };
    let Some(by) = items.first().map(|it| &it.by) else { return };
    html.raw("<section class=\"inbox\" data-key=\"inbox\" aria-labelledby=\"inbox-title\">");
    html.raw("<h2 id=\"inbox-title\">Waits for you <span class=\"count\">");
    if has_more {
        html.number(MOST as u64).raw("+</span></h2>");
    } else {
        html.number(items.len() as u64).raw("</span></h2>");
    }
    you_are(html, by);
    html.raw("<ul>");
    for item in items.iter().take(MOST) {
        html.raw("<li class=\"ask\">");
        match scope {
            InboxScope::AllRuns { .. } => story(html, item),
            InboxScope::OneRun | InboxScope::OneHandoff => {}
        }
        ask(html, item, scope);
        html.raw("</li>");
    }
    html.raw("</ul>");
    if has_more {
        html.raw("<p>And more: <code>baton inbox --json</code> has them all.</p>");
    } else if items.len() > MOST {
        html.raw("<p>And ").number((items.len() - MOST) as u64);
        html.raw(" more: <code>baton inbox</code> has them all.</p>");
    }
    html.raw("<p class=\"note with-script\">Answers given here are recorded as <code>");
    html.words(by.as_str())
        .raw("</code>, unauthenticated: there is no access control yet, so the ");
    html.raw("record does not prove who gave them.</p></section>");
}

fn story(html: &mut Html, asked_person: &AskedPerson) {
    let AskedPerson { item, title, .. } = asked_person;
    html.raw("<h3><a href=\"/runs/").number(item.run.number).raw("\">");
    html.name(title).raw("</a></h3>");
    if title != item.run.run.story.as_str() {
        html.raw("<p class=\"meta\"><code>").words(item.run.run.story.as_str());
        html.raw("</code></p>");
    }
}

fn ask(html: &mut Html, asked_person: &AskedPerson, scope: InboxScope) {
    let item = &asked_person.item;
    html.raw("<p class=\"sentence\">").words(&item.sentence()).raw("</p>");
    let asked = &item.asked;
    if let Some(name) = &asked.name {
        html.raw("<p class=\"gate\">").words(name).raw("</p>");
    }
    // A gate without words of its own would only repeat why it is there.
    if let Some(words) = asked.words.as_ref().filter(|it| **it != item.sentence()) {
        if let Some(by) = &asked.words_by {
            html.raw("<p class=\"speaker\">").words(by.as_str()).raw(" says:</p>");
        }
        html.raw("<blockquote>").words(without_failure(words)).raw("</blockquote>");
    }
    if !asked.damaged.is_empty() {
        html.raw("<p class=\"damaged\">").words(&asked.damaged.join(", ")).raw(": <em>");
        html.words(DAMAGED_TEXT).raw("</em></p>");
    }
    if let Some(gate) = item.gate() {
        if let Some(approval) = &gate.approval {
            html.raw("<p class=\"approvals\">").sentence(&approval.progress()).raw("</p>");
        }
        if let Some(at) = gate.reminded_at {
            html.raw("<p class=\"meta\">A reminder was sent ").time(at).raw("</p>");
        }
    }
    list(html, "look", &asked.items);
    list(html, "blockers", &asked.blockers);
    checks(html, item);
    unverified(html, item);
    for sender in &asked.sender {
        said(html, item, sender);
    }
    answer_form::render(html, asked_person);
    if scope != InboxScope::OneHandoff
        && let Waits::Gate { handoff, .. } | Waits::Question { handoff, .. } = &item.why
        && let Some(row) = item.trail.iter().find(|it| it.no == *handoff)
    {
        html.raw("<p class=\"more\"><a href=\"/handoffs/").number(row.number);
        html.raw("\">What was handed over with ").text(&row.no.label()).raw("</a></p>");
    }
}

/// The sender's own words, under its name and apart from the workflow's: they may claim anything.
fn said(html: &mut Html, item: &InboxItem, sender: &SenderWords) {
    html.raw("<section class=\"said\"><p class=\"speaker\">In the package of ");
    html.words(sender.by.as_str()).raw(", in its own words:</p><dl>");
    for part in &sender.parts {
        html.raw("<div><dt>").text(&part.name.replace('_', " ")).raw("</dt>");
        for text in &part.texts {
            html.raw("<dd>").words(text).raw("</dd>");
        }
        html.raw("</div>");
    }
    html.raw("</dl>");
    let row = item.trail.iter().find(|it| Some(it.no) == sender.handoff);
    if let Some(row) = row.filter(|_| sender.is_cut) {
        html.raw("<p class=\"more\">Shortened: <a href=\"/handoffs/").number(row.number);
        html.raw("\">all of it</a></p>");
    }
    html.raw("</section>");
}

/// The detail of a check in one line.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_DETAIL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn list(html: &mut Html, class: &'static str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    html.raw("<ul class=\"").raw(class).raw("\">");
    for item in items {
        html.raw("<li>").words(item).raw("</li>");
    }
    html.raw("</ul>");
}

/// What the package claims, and no check has confirmed.
fn unverified(html: &mut Html, item: &InboxItem) {
    let claims = &item.asked.unverified;
    if claims.is_empty() {
        return;
    }
    html.raw(
        "<p class=\"unverified\"><span class=\"tag\">Not verified</span> no check has confirmed ",
    );
    html.words(&shortened(&claims.join(", "))).raw("</p>");
}

fn checks(html: &mut Html, item: &InboxItem) {
    let asked = &item.asked;
    let claims = asked.evidence.iter().filter(|it| it.is_claim).map(|it| &it.evidence.check);
    let claims = claims.filter(|it| !asked.checks.contains(it));
    let shown: Vec<&CheckName> = asked.checks.iter().chain(claims).collect();
    if shown.is_empty() {
        return;
    }
    html.raw("<ul class=\"checks\">");
    for check in shown {
        let found = asked.evidence.iter().find(|it| it.evidence.check == *check);
        let (class, words) = match found.map(|it| (it.evidence.verdict, it.is_claim)) {
            Some((Verdict::Passed, false)) => ("passed", " passed"),
            Some((Verdict::Failed, false)) => ("failed", " failed"),
            Some((Verdict::Passed, true)) => ("missing", " passed: a claim, only a runner decides"),
            Some((Verdict::Failed, true)) => ("missing", " failed: a claim, only a runner decides"),
            None => ("missing", " has no result"),
        };
        html.raw("<li class=\"").raw(class).raw("\"><code>").text(check.as_str());
        html.raw("</code>").raw(words);
        if let Some(by) = found.and_then(|it| it.by.as_ref()) {
            html.raw(", by ").words(by.as_str());
        }
        if let Some(detail) = found.and_then(|it| it.detail.as_deref()) {
            html.raw(": ").words(&shortened(detail));
        }
        html.raw("</li>");
    }
    html.raw("</ul>");
}
