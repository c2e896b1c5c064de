//! `baton do --yes` answers what the workflow declares, and nothing else.

use super::Workshop;
use super::checks::{checked_workshop, claims};
use crate::Said;

fn does(workshop: &Workshop, args: &[&str]) -> Said {
    Said::from(workshop.command(args).output().unwrap())
}

#[track_caller]
fn check_asks(said: &Said, parts: &[&str]) {
    assert_eq!(said.code, 4, "{said:?}");
    for part in parts {
        assert!(said.stderr.contains(part), "{part}: {said:?}");
    }
    assert!(!said.stdout.contains("✔ done"), "{said:?}");
}

#[test]
fn work_whose_check_failed_is_not_passed_by_yes() {
    let workshop = checked_workshop("idle", &claims());
    let said = does(&workshop, &["do", "Really fails", "--yes"]);
    let parts = ["needs a person's decision", "gave the same result", "baton approve "];
    check_asks(&said, &parts);
    assert!(!said.stdout.contains("--yes answers for you"), "{said:?}");
    let again = does(&workshop, &["do", "--continue", "--yes"]);
    check_asks(&again, &["`baton do --continue` goes on after the answer"]);
    let handoffs = workshop.handoffs("do-really-fails");
    assert!(handoffs.iter().all(|it| it["toAgent"] != "reviewer"), "{handoffs:#?}");
}

/// A workflow whose one gate asks these people.
fn gated(approvers: &str) -> Workshop {
    let workshop = checked_workshop("honest", &claims());
    let workflow = format!(
        "name: checked\nstart: implement\nsteps:\n  implement:\n    agent: implementer\n    on:\n      success:\n        \
         to: complete\n        gate: {{ type: blocking, name: Release{approvers} }}\n"
    );
    workshop.write(".baton/workflows/checked.yaml", &workflow);
    workshop
}

#[test]
fn a_gate_that_the_workflow_declares_is_approved_and_one_of_other_people_is_not() {
    let said = does(&gated(""), &["do", "Release it", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("(--yes answers for you)"), "{said:?}");

    let others = gated(", approvers: { need: 2, of: [ana, ben, carl] }");
    let said = does(&others, &["do", "Release it", "--yes"]);
    check_asks(
        &said,
        &["0 of 2 approvals", "--as NAME\n  |   (NAME is one of ana, ben, carl)", "baton approve "],
    );
    let again = does(&others, &["do", "--continue", "--yes"]);
    check_asks(&again, &["--as NAME\n  |   (NAME is one of ana, ben, carl)"]);

    let two = gated(", approvers: { need: 2 }");
    let said = does(&two, &["do", "Release it", "--yes"]);
    check_asks(&said, &["0 of 2 approvals"]);
}
