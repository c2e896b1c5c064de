//! What `--yes` answers: questions, and the gates that the workflow itself declares. Whatever a failed check, a
//! limit, a budget or a list of approvers asks is a person's to decide.

use baton_api::InboxItemDocument;
use baton_core::gate::{AnswerKind, GateCause};

use super::viewer::ViewerAnswer;
use crate::failure::Failure;
use crate::show;

/// What `--yes` says in the name of `caller` to gates of these causes, or why it does not.
pub(super) fn consent(
    item: &InboxItemDocument,
    causes: &[&str],
    caller: &str,
    words: &str,
) -> Result<ViewerAnswer, String> {
    if item.cause == "question" {
        let words = if words.trim().is_empty() { "As you think best" } else { words.trim() };
        return Ok(ViewerAnswer::new(AnswerKind::Reply).with_comment(words));
    }
    let is_approval = item.choices.iter().any(|it| it.choice == AnswerKind::Approve.name());
    if !causes.contains(&item.cause.as_str()) || !is_approval {
        return Err(item.why.clone());
    }
    if let Some(failed) = item.evidence.iter().find(|it| it.verdict == "failed") {
        return Err(format!("the check `{}` failed", failed.check));
    }
    let Some(approvals) = &item.approvals else {
        return Ok(ViewerAnswer::new(AnswerKind::Approve));
    };
    let n_left = (approvals.need as usize).saturating_sub(approvals.given.len());
    let may_approve = approvals.any_person || approvals.open.iter().any(|it| it == caller);
    let is_author = approvals.author.as_deref() == Some(caller);
    let has_approved = approvals.given.iter().any(|it| it.by == caller);
    if n_left == 1 && may_approve && !is_author && !has_approved && !approvals.out_of_reach {
        return Ok(ViewerAnswer::new(AnswerKind::Approve));
    }
    Err(approvals.progress.clone())
}

/// The end of a command with `--yes` at what it does not answer.
pub(super) fn needs_person(
    item: &InboxItemDocument,
    caller: &str,
    why: &str,
    then: &str,
) -> Failure {
    let label = item.handoff.as_deref().unwrap_or(&item.run.story);
    if is_permission(item) {
        // The question ends with the program that asks, and that ends with this command.
        return Failure::Conflict(format!(
            "{} needs a person's decision, which `--yes` does not take: {}; `baton do --continue` without `--yes` \
             asks you again, and `permissions` of the executor in `.baton/baton.toml` decides without asking",
            show::visible(label),
            show::one_line(item.words.as_deref().unwrap_or(why)),
        ));
    }
    let commands = commands(item, caller);
    let how = match commands.is_empty() {
        true => "`baton inbox` shows it".to_owned(),
        false => format!("answer with one of:\n  {}", commands.join("\n  ")),
    };
    Failure::Conflict(format!(
        "{} needs a person's decision, which `--yes` does not take: {}; {how}\n{then}",
        show::visible(label),
        show::visible(why)
    ))
}

/// An agent's program asks whether it may do something, and waits.
pub(super) fn is_permission(item: &InboxItemDocument) -> bool {
    item.cause == GateCause::Permission.name()
}

/// What to type for each answer, with the names of those who may give it where the caller may not.
pub(super) fn commands(item: &InboxItemDocument, caller: &str) -> Vec<String> {
    let open = item.approvals.as_ref().map_or(&[][..], |it| &it.open);
    let is_named = open.is_empty() || open.iter().any(|it| it == caller);
    let commands = item.choices.iter().map(|it| &it.command);
    if is_named {
        return commands.cloned().collect();
    }
    let with_name = |it: &String| match it.contains(" --as ") {
        true => it.clone(),
        false => format!("{it} --as NAME"),
    };
    let who = open.join(", ");
    commands.map(with_name).chain([format!("(NAME is one of {who})")]).collect()
}
