use super::*;
use crate::{json, workflow_file};

#[test]
fn every_file_reads_without_a_problem() {
    for (seed, text) in FILES {
        let contracts = parse(seed, text).unwrap_or_else(|it| panic!("{seed}: {it:?}"));
        assert!(!contracts.is_empty(), "{seed}");
    }
}

#[test]
fn every_edge_of_the_protocol_has_a_contract() {
    for (from, to) in [
        ("issue-manager", "prep-agent"),
        ("prep-agent", "implementer-agent"),
        ("implementer-agent", "reviewer-agent"),
        ("reviewer-agent", "fixer-agent"),
        ("reviewer-agent", "validator-agent"),
        ("fixer-agent", "reviewer-agent"),
        ("fixer-agent", "validator-agent"),
        ("validator-agent", "closer-agent"),
        ("validator-agent", "fixer-agent"),
        ("closer-agent", "complete"),
    ] {
        let name = format!("001/{from}→{to}");
        assert_eq!(contract_between("001", from, to).unwrap().name, name);
        assert_eq!(contract(&format!("001/{from}->{to}")).unwrap().name, name);
    }
    let any = contract_between("001", "implementer-agent", "orchestrator").unwrap();
    assert_eq!(any.name, "001/*→orchestrator");
    assert_eq!(contract_between("001", "reviewer-agent", "closer-agent"), None);
}

#[track_caller]
fn check_name(document: &str, expected: Option<&str>) {
    let found = contract_of(&json::parse(document).unwrap());
    assert_eq!(found.map(|it| it.name.as_str()), expected, "{document}");
}

#[test]
fn a_document_says_itself_which_contract_is_its_own() {
    let issue = r#"{"handoff":{"from":"issue-manager","to":"prep-agent"}}"#;
    check_name(issue, Some("001/issue-manager→prep-agent"));
    check_name(r#"{"handoff":{"from":"documenter","to":"orchestrator"}}"#, None);
    check_name(
        r#"{"handoff":{"from":"prep-agent","to":"orchestrator","error":{}}}"#,
        Some("001/*→orchestrator"),
    );
    check_name(
        r#"{"workflow-complete":{"status":"completed"}}"#,
        Some("001/closer-agent→complete"),
    );
    check_name(r#"{"status":"complete","phase":"testing"}"#, Some("002/*→*"));
    check_name(r#"{"status":"blocked","agent":"a","output_type":"b"}"#, Some("002/*→*"));
    check_name(r#"{"handoff":{"from":{"agent":"a"},"to":{"agent":"b"}}}"#, Some("004/*→*"));
    for other in ["{}", "[]", r#"{"plan":"x"}"#, r#"{"handoff":{"from":"a","to":"b"}}"#] {
        check_name(other, None);
    }
}

#[test]
fn a_workflow_may_name_a_contract_of_a_seed() {
    let text = "name: x\nstart: a\nsteps:\n  a:\n    agent: prep-agent\n    on:\n      success: { to: b, contract: 001/prep-agent->implementer-agent }\n  b: { agent: implementer-agent, on: { success: complete } }\n";
    let workflow = workflow_file::parse(text).unwrap();
    let name = workflow.steps[0].edges[0].contract.as_ref().unwrap();
    assert!(!workflow.contract(name).unwrap().must.is_empty());
    let unknown = text.replace("001/prep", "001/pre");
    assert!(workflow_file::parse(&unknown).is_err());
}
