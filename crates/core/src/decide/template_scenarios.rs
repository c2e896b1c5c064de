//! What a template asks for on each way out of a step: a table of its fields.

use std::fmt::Write as _;

use expect_test::expect;

use super::fixture::*;
use super::records::{analyzing, checked_pipeline, helping, implementing_in};
use crate::contract::{Check, Contract, ContractRule};
use crate::decide::TemplateRequest;
use crate::document::Node;
use crate::outcome::Outcome;
use crate::run::HandoffNo;

fn template(tester: &Tester, no: u32, outcome: Option<Outcome>) -> Node {
    let asked = TemplateRequest { handoff: HandoffNo(no), to: None, outcome };
    crate::decide::template(&tester.run, &asked, tester.ground()).unwrap()
}

/// The fields at the top, in order.
fn fields(template: &Node) -> String {
    let Node::Map(members) = template else { panic!("{template:?}") };
    members.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(" ")
}

fn table(tester: &Tester, no: u32, outcomes: &[Option<Outcome>]) -> String {
    let mut table = String::new();
    for outcome in outcomes {
        let word = outcome.map_or("(none)", Outcome::name);
        let _ = writeln!(table, "{word}: {}", fields(&template(tester, no, *outcome)));
    }
    table
}

const ALL: [Option<Outcome>; 6] = [
    None,
    Some(Outcome::Success),
    Some(Outcome::Failure),
    Some(Outcome::Blocked),
    Some(Outcome::NeedsClarification),
    Some(Outcome::Unknown),
];

#[test]
fn a_step_that_succeeds_fills_in_its_contract_and_one_that_is_stuck_says_why() {
    expect![[r#"
        (none): plan files_to_modify
        success: plan files_to_modify
        failure: reason blockers attempted
        blocked: reason blockers attempted
        needs_clarification: reason blockers attempted
        unknown: reason blockers attempted
    "#]]
    .assert_eq(&table(&analyzing(), 1, &ALL));
}

#[test]
fn only_a_part_that_succeeded_fills_in_the_contract_of_its_return() {
    expect![[r#"
        (none): plan files_to_modify
        success: plan files_to_modify
        failure: reason blockers attempted
        blocked: reason blockers attempted
    "#]]
    .assert_eq(&table(&helping(), 3, &ALL[..4]));
}

#[test]
fn a_contract_for_a_way_that_is_stuck_counts_before_what_is_usual() {
    let mut workflow = checked_pipeline();
    let again = crate::workflow::Edge {
        on: Outcome::Failure,
        is_back: true,
        contract: Some("plan".to_owned()),
        ..to("analyze")
    };
    workflow.steps[1].edges.push(again);
    let tester = implementing_in(workflow);
    expect![[r#"
        success: summary
        failure: plan files_to_modify
    "#]]
    .assert_eq(&table(&tester, 2, &[Some(Outcome::Success), Some(Outcome::Failure)]));
}

/// A document of the YAML handoff names its parties; a package that goes through Baton need not.
#[test]
fn a_template_does_not_ask_for_the_parties_that_the_run_knows() {
    let rule = |field: &str| ContractRule {
        field: field.to_owned(),
        others: Vec::new(),
        about: "for the test".to_owned(),
        check: Check::Present,
        when: Vec::new(),
    };
    let contract = |name: &str| Contract {
        name: name.to_owned(),
        must: vec![rule("handoff.context.summary"), rule("handoff.version")],
        should: Vec::new(),
    };
    let mut workflow = checked_pipeline();
    workflow.contracts.retain(|it| it.name != "plan");
    workflow.contracts.push(contract("plan"));
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.accepts(1);
    tester.implied = vec![contract("implied/blocked")];
    for outcome in [Outcome::Success, Outcome::Blocked] {
        let template = template(&tester, 1, Some(outcome));
        let handoff = template.member("handoff").unwrap_or_else(|| panic!("{template:?}"));
        for party in ["from", "to"] {
            assert_eq!(handoff.member(party), None, "{outcome:?}: {template:?}");
        }
    }
}

/// As above, for work that is stuck: its template reads like a handoff of another system, which would
/// have to name its receiver.
#[test]
fn a_template_of_stuck_work_does_not_ask_for_the_receiver_either() {
    let rule = ContractRule {
        field: "from_agent".to_owned(),
        others: Vec::new(),
        about: "for the test".to_owned(),
        check: Check::Present,
        when: Vec::new(),
    };
    let mut tester = analyzing();
    let name = "implied/blocked".to_owned();
    tester.implied = vec![Contract { name, must: vec![rule], should: Vec::new() }];
    expect!["reason blockers attempted from_agent"].assert_eq(&fields(&template(
        &tester,
        1,
        Some(Outcome::Blocked),
    )));
}
