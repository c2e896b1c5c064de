//! The values of a prompt, as templates name them. Text of others is in them as [`UntrustedText`];
//! plain strings are from Baton, the workflow and the agent file.

use baton_core::document::Node;
use baton_core::evidence::Evidence;
use baton_core::lint::LintRule;
use baton_core::names::{AgentId, Principal};
use baton_core::outcome::Outcome;
use baton_core::package::{Format, Package};
use baton_core::run::HandoffNo;
use baton_core::workflow::Place;
use baton_wire::json;
use minijinja::context;
use minijinja::value::Value;

use super::address::in_url;
use super::brief::{
    AskedQuestion, Brief, BriefBlocker, BriefStory, DelegateResult, FailedAttempt, Parcel,
    PersonAnswer, Round, Settled,
};
use super::claims::{self, ClaimStanding};
use super::fence::PromptFence;
use super::role::RoleText;
use super::untrusted::UntrustedText;
use super::{PromptOptions, PromptToken, actions, shared, surroundings};

/// More paths than an agent would check one by one.
const MOST_FILES: usize = 60;

pub(super) fn values(
    brief: &Brief,
    options: &PromptOptions,
    fence: PromptFence,
    identity: &RoleText,
) -> Value {
    let token = options.token.as_ref().map(|it| match it {
        PromptToken::Environment => context! { written => () },
        PromptToken::Written(token) => context! { written => token },
    });
    context! {
        interface => options.face.name(),
        fence => Value::from_object(fence),
        url => options.dashboard_url.as_ref().map(ToString::to_string),
        token,
        story_id => brief.story.as_str(),
        story_id_url => in_url(brief.story.as_str()),
        branch => brief.branch.as_str(),
        agent => brief.handoff.to.agent.as_str(),
        identity => identity.text.trim_end(),
        n_commands_replaced => identity.n_replaced,
        project => context! {
            is_other_in_package => names_another_branch(brief),
            ..surroundings::values(&brief.repository, &brief.branch, &brief.project)
        },
        is_rework => brief.is_rework,
        run => brief.run,
        workflow => brief.workflow.name.to_string(),
        handoff => handoff(brief),
        work => brief.work.number,
        step => step(brief),
        is_return_to_caller => brief.is_return_to_caller(),
        // What the budget changes.
        only => (),
        most_chars => (),
        left_out => (),
        ..context! {
            ..texts(brief),
            ..context! { ..shared::values(brief), ..actions::values(brief, options.face) },
        },
    }
}

/// The story's package is written before anybody makes the branch, and a runner may have to name it
/// otherwise.
fn names_another_branch(brief: &Brief) -> bool {
    let document = brief.package.as_ref().and_then(Parcel::root);
    let named = document.and_then(|it| it.member("branch")).and_then(Node::scalar_text);
    named.is_some_and(|it| it.trim() != brief.branch)
}

fn handoff(brief: &Brief) -> Value {
    let it = &brief.handoff;
    context! {
        number => it.number,
        label => it.no.to_string(),
        kind => it.kind.name(),
        state => it.state.name(),
        from => it.from.agent.as_str(),
        attempt => it.attempt,
        is_leased => it.lease.is_some(),
        fence => it.fence,
        reason => it.reason.clone(),
        is_reason_in_package => is_reason_in_package(brief),
        is_reason_all => is_reason_all(brief),
        reason_by => it.reason_by.as_ref().map(AgentId::as_str),
        brings => it.brings.map(Outcome::name),
        is_rejected_work => it.rejected.is_some(),
        is_from_person => it.from.place == Place::Human,
        is_approved => it.approved_by.is_some(),
        is_own_package => it.is_own_package,
        asks => it.asks.as_str(),
        detour => it.detour.as_ref().map(|it| context! {
            blocked => it.blocked.as_str(),
            reason => it.reason.as_deref(),
        }),
    }
}

/// On a return, which never loses its package, the reason need not stand there twice.
fn is_reason_in_package(brief: &Brief) -> bool {
    let document = brief.package.as_ref().and_then(|it| it.document.clone());
    let package = document.map(|it| Package::new(Format::Json, "", it));
    let stated = package.as_ref().and_then(Package::stated_reason).map(str::trim);
    brief.is_rework && stated == Some(brief.handoff.reason.expose().trim())
}

/// Where the package is nothing but the reason, the reason is easier to read.
fn is_reason_all(brief: &Brief) -> bool {
    let reason = brief.package.as_ref().and_then(Parcel::only_reason);
    brief.is_rework && reason == Some(brief.handoff.reason.expose().trim())
}

fn step(brief: &Brief) -> Option<Value> {
    let Place::Step(id) = &brief.work.place else { return None };
    let step = brief.workflow.step(id)?;
    Some(context! { id => id.as_str(), title => step.title.as_str(), phase => step.phase.as_str() })
}

/// What others wrote, and what it is worth.
fn texts(brief: &Brief) -> Value {
    let package = brief.package.as_ref();
    // Senders know their own package, and what its claims are worth.
    let news = package.filter(|_| brief.handoff.is_news());
    let document = news.and_then(|it| it.document.as_ref());
    let expected = package.and_then(Parcel::root).and_then(|it| it.member("expectations"));
    let expected = expected.filter(|it| !it.is_blank());
    let author = news.map(|it| it.by.as_str());
    context! {
        story => brief.wanted.as_ref().map(story),
        expectations => expected.map(|it| UntrustedText::from(json::print_pretty(it))),
        sender_context => document.and_then(sender_context).map(UntrustedText::from),
        phase => document.map(|it| phase(brief, it)),
        modified => lines(document.map(modified).unwrap_or_default(), MOST_FILES),
        package => package.map(|it| context! { by => author, ..parcel(it) }),
        given => brief.given.as_ref().map(parcel),
        own_last => brief.own_last.as_ref().map(parcel),
        sender_input => brief.sender_input.as_ref().map(parcel),
        discoveries => brief.discoveries.clone(),
        brought => brief.brought.iter().map(brought).collect::<Vec<_>>(),
        joined => brief.joined.iter().map(brought).collect::<Vec<_>>(),
        forked => brief.forked.as_ref().map(parcel),
        exchanges => brief.exchanges.iter().map(exchange).collect::<Vec<_>>(),
        blockers => brief.blockers.iter().map(blocker).collect::<Vec<_>>(),
        failed => brief.failed.as_ref().map(failed),
        people => brief.people.iter().map(person).collect::<Vec<_>>(),
        n_rounds => brief.rounds.len(),
        most_rounds => brief.most_rounds,
        earlier_rounds => earlier_rounds(brief),
        verify => verify(brief, news),
        named_files => lines(news.map(named_files).unwrap_or_default(), MOST_FILES),
    }
}

fn story(story: &BriefStory) -> Value {
    context! {
        title => story.title.clone(),
        description => story.description.clone(),
        acceptance => story.acceptance.clone(),
    }
}

fn parcel(parcel: &Parcel) -> Value {
    let Parcel { number, format, text, .. } = parcel;
    context! { number, format => format.name(), text => text.clone() }
}

fn sender_context(document: &Node) -> Option<&str> {
    let context = document.at("handoff.context").or_else(|| document.member("context"));
    context.and_then(Node::as_text).filter(|it| !it.trim().is_empty())
}

fn modified(document: &Node) -> Vec<&str> {
    let files = ["files_modified", "files_changed"].iter().find_map(|it| document.member(it));
    let files = files.and_then(Node::as_list).unwrap_or_default();
    files.iter().filter_map(Node::as_text).collect()
}

/// The paths in a package that have no heading of their own.
fn named_files(package: &Parcel) -> Vec<String> {
    let named = package.document.as_ref().map(modified).unwrap_or_default();
    let mut files = claims::files(package);
    files.retain(|it| !named.contains(&it.as_str()));
    files
}

/// The sender's phase stands outside the fence, so only a phase that the workflow or the metadata
/// block defines is allowed.
fn phase(brief: &Brief, document: &Node) -> String {
    const PRINTED_PHASES: &[&str] = &["architecture", "implementation", "testing"];
    let from = &brief.handoff.from;
    let steps = &brief.workflow.steps;
    let is_known = |word: &&str| {
        PRINTED_PHASES.contains(word)
            || steps.iter().any(|it| it.phase == *word || it.id.as_str() == *word)
    };
    let said = document.member("phase").and_then(Node::as_text).filter(is_known);
    let of_step = match &from.place {
        Place::Step(id) => brief.workflow.step(id).map(|it| it.phase.as_str()),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    };
    let of_blocked = brief.handoff.detour.as_ref().and_then(|it| it.phase.as_deref());
    said.or(of_step).or(of_blocked).unwrap_or(from.agent.as_str()).to_uppercase()
}

/// The first lines, and the number of the others; none if there are none.
fn lines<T: Into<UntrustedText>>(lines: Vec<T>, most: usize) -> Option<Value> {
    let n_more = lines.len().saturating_sub(most);
    let first: Vec<UntrustedText> = lines.into_iter().take(most).map(Into::into).collect();
    (!first.is_empty()).then(|| context! { first, n_more })
}

fn brought(part: &DelegateResult) -> Value {
    context! {
        from => part.from.as_str(),
        outcome => part.outcome.map_or("unknown", Outcome::name),
        reason => part.reason.clone(),
        package => part.package.as_ref().map(parcel),
    }
}

fn exchange(it: &AskedQuestion) -> Value {
    context! {
        asker => it.asker.as_str(),
        asked => it.asked.as_str(),
        question => it.question.clone(),
        answer => it.answer.clone(),
    }
}

fn blocker(it: &BriefBlocker) -> Value {
    let (settled, by, how) = match &it.settled {
        Settled::Open => ("open", None, None),
        Settled::Resolved { by, how } => ("resolved", Some(by), how.clone()),
        Settled::Waived { by, why } => ("waived", Some(by), why.clone()),
    };
    let (raised_by, about) = (it.raised_by.as_str(), it.about.clone());
    context! { raised_by, about, settled, by => by.map(principal), how }
}

fn failed(it: &FailedAttempt) -> Value {
    context! {
        handoff => it.handoff.to_string(),
        by => it.by.as_str(),
        outcome => it.outcome.name(),
        words => it.words.clone(),
    }
}

fn person(said: &PersonAnswer) -> Value {
    context! {
        by => principal(&said.by),
        answer => said.answer.name(),
        cause => said.cause.map(|it| it.sentence()),
        question => said.question.clone(),
        asked_with => said.asked_with.as_ref().map(parcel),
        comment => said.comment.clone(),
    }
}

/// People choose their names.
fn principal(it: &Principal) -> UntrustedText {
    it.to_string().into()
}

fn earlier_rounds(brief: &Brief) -> Vec<Value> {
    // The last reject is the reason for this handoff, and is part of the task.
    let is_told = |no: Option<HandoffNo>| no.is_some() && no == brief.handoff.rejected;
    let earlier = brief.rounds.iter().filter(|it| !is_told(it.handoff));
    let value = |it: &Round| {
        let handoff = it.handoff.map(|it| it.to_string());
        context! { n => it.n, by => it.by.as_str(), handoff, reason => it.reason.clone() }
    };
    earlier.map(value).collect()
}

/// A warning, `RULE FIELD`, with what the rule found.
fn explained(warning: &str) -> String {
    let rule = warning.split(' ').next().and_then(LintRule::parse);
    rule.map_or_else(|| warning.to_owned(), |it| format!("{warning}: {}", it.about()))
}

/// What the receiver has to verify itself.
fn verify(brief: &Brief, news: Option<&Parcel>) -> Option<Value> {
    // Of a check that the project has a command for, only what Baton's runner saw confirms a claim.
    let is_ours = |it: &Evidence| brief.project.checks.iter().any(|check| check.name == it.check);
    let (counting, said): (Vec<Evidence>, Vec<Evidence>) =
        brief.evidence.iter().cloned().partition(|it| it.is_observed || !is_ours(it));
    let claims = news.map(|it| claims::claims(it, &counting)).unwrap_or_default();
    if brief.warnings.is_empty() && claims.is_empty() && brief.evidence.is_empty() {
        return None;
    }
    let of = |standing: ClaimStanding| {
        let claims = claims.iter().filter(|it| it.standing == standing);
        lines(claims.map(|it| it.words.as_str()).collect(), claims::MOST_CLAIMS)
    };
    let check =
        |it: &Evidence| context! { check => it.check.as_str(), verdict => it.verdict.name() };
    let (observed, posted): (Vec<&Evidence>, Vec<&Evidence>) =
        counting.iter().partition(|it| it.is_observed);
    let observed: Vec<Value> = observed.into_iter().map(check).collect();
    let evidence: Vec<Value> = posted.into_iter().map(check).collect();
    let said: Vec<Value> = said.iter().map(check).collect();
    Some(context! {
        warnings => brief.warnings.iter().map(|it| explained(it)).collect::<Vec<_>>(),
        unchecked => of(ClaimStanding::Unchecked),
        failed => of(ClaimStanding::Failed),
        observed,
        evidence,
        said,
    })
}
