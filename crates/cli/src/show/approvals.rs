//! The approvals of a gate, one line each.

use baton_api::{ApprovalDocument, ApprovalsDocument};

use super::{TimeFormat, good, one_line, visible, warn};

/// `1 of 2 approvals`, those that there are, and who may give the others.
pub(crate) fn approvals(approvals: &ApprovalsDocument) -> Vec<String> {
    let ApprovalsDocument {
        need, given, open, any_person, author, delegated, out_of_reach, ..
    } = approvals;
    let things = if *need == 1 { "approval" } else { "approvals" };
    let mut lines = vec![format!("{} of {need} {things}", given.len())];
    lines.extend(given_approvals(given));
    let open: Vec<String> = open.iter().map(|it| visible(it)).collect();
    if *any_person {
        lines.push("any person may approve".to_owned());
    } else if !open.is_empty() {
        lines.push(format!("{} may approve", open.join(" or ")));
    }
    for chain in delegated {
        let people: Vec<String> = chain.iter().map(|it| visible(it)).collect();
        lines.push(format!("vote passed on: {}", people.join(" → ")));
    }
    lines.extend(author.as_ref().map(|it| format!("{} made it, and may not", visible(it))));
    if *out_of_reach {
        let words =
            "too few people may approve it: reject it, or waive the gate with `baton run goto`";
        lines.push(warn(words));
    }
    lines
}

/// Who has approved, and when.
pub(crate) fn given_approvals(given: &[ApprovalDocument]) -> Vec<String> {
    let times = TimeFormat::local();
    let line = |it: &ApprovalDocument| {
        let by = visible(&it.by);
        let of = it.on_behalf_of.as_ref().map(|it| format!(" for {}", visible(it)));
        let of = of.unwrap_or_default();
        let stated = if it.authenticated { "" } else { " (unauthenticated)" };
        let comment = it.comment.as_ref().map(|it| format!(": {}", one_line(it)));
        let comment = comment.unwrap_or_default();
        format!("{} {by}{of} at {}{stated}{comment}", good("✔"), times.show(it.at))
    };
    given.iter().map(line).collect()
}
