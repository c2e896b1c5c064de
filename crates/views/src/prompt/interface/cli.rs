//! Actions as `baton` commands. Packages and texts come from a here-document.

use baton_wire::json;

use super::{ANSWER, END, PromptAction, PromptContext, QUESTION, WHY};

pub(super) fn say(desk: &PromptContext<'_>, act: &PromptAction) -> String {
    let (handoff, work) = (desk.handoff, desk.work);
    let fence = desk.fence.map(|it| format!(" --fence {it}")).unwrap_or_default();
    let command =
        |verb: &str, number: u64, more: &str| format!("baton handoff {verb} {number}{more}{fence}");
    let reading = |line: String, text: &str| format!("{line} <<'{END}'\n{text}\n{END}");
    match act {
        // Nothing is held yet, so there is no fencing token.
        PromptAction::Accept => format!("baton handoff accept {handoff} --by {}", desk.agent),
        PromptAction::HandOn { to, outcome, example } => {
            // A blocked agent does not choose who resolves the blocker.
            let to = if to.is_human() { String::new() } else { format!(" --to {to}") };
            let more = format!(" --outcome {}{to} --payload -", outcome.name());
            reading(command("complete", work, &more), &json::print_pretty(example))
        }
        PromptAction::Delegate { to, example } => {
            let more = format!(" --to {to} --payload -");
            reading(command("delegate", work, &more), &json::print_pretty(example))
        }
        PromptAction::Escalate { example } => {
            reading(command("escalate", work, " --payload -"), &json::print_pretty(example))
        }
        PromptAction::Return { outcome, example, .. } => {
            let more = format!(" --outcome {} --payload -", outcome.name());
            reading(command("return", work, &more), &json::print_pretty(example))
        }
        PromptAction::Reject => {
            let line = command("reject", handoff, "");
            format!("{line} --reason \"$(cat <<'{END}'\n{WHY}\n{END}\n)\"")
        }
        PromptAction::Record { check } => format!("baton evidence {work} {check} passed"),
        PromptAction::Clarify => reading(command("clarify", handoff, " --question -"), QUESTION),
        PromptAction::Answer => reading(command("answer", handoff, " --text -"), ANSWER),
    }
}
