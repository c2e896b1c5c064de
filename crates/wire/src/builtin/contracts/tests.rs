use super::*;
use crate::{json, workflow_file};

#[test]
fn every_file_reads_without_a_problem() {
    for (kind, text) in FILES {
        let contracts = parse(kind, text).unwrap_or_else(|it| panic!("{kind}: {it:?}"));
        assert!(!contracts.is_empty(), "{kind}");
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
        let name = format!("xml/{from}→{to}");
        assert_eq!(contract_between("xml", from, to).unwrap().name, name);
        assert_eq!(contract(&format!("xml/{from}->{to}")).unwrap().name, name);
    }
    let any = contract_between("xml", "implementer-agent", "orchestrator").unwrap();
    assert_eq!(any.name, "xml/*→orchestrator");
    assert_eq!(contract_between("xml", "reviewer-agent", "closer-agent"), None);
}

#[track_caller]
fn check_name(document: &str, expected: Option<&str>) {
    let found = contract_of(&json::parse(document).unwrap());
    assert_eq!(found.map(|it| it.name.as_str()), expected, "{document}");
}

#[test]
fn a_document_says_itself_which_contract_is_its_own() {
    let issue = r#"{"handoff":{"from":"issue-manager","to":"prep-agent"}}"#;
    check_name(issue, Some("xml/issue-manager→prep-agent"));
    check_name(r#"{"handoff":{"from":"documenter","to":"orchestrator"}}"#, None);
    check_name(
        r#"{"handoff":{"from":"prep-agent","to":"orchestrator","error":{}}}"#,
        Some("xml/*→orchestrator"),
    );
    check_name(
        r#"{"workflow-complete":{"status":"completed"}}"#,
        Some("xml/closer-agent→complete"),
    );
    check_name(r#"{"status":"complete","phase":"testing"}"#, Some("metadata/*→*"));
    check_name(r#"{"status":"blocked","agent":"a","output_type":"b"}"#, Some("metadata/*→*"));
    check_name(r#"{"handoff":{"from":{"agent":"a"},"to":{"agent":"b"}}}"#, Some("yaml/*→*"));
    for other in ["{}", "[]", r#"{"plan":"x"}"#, r#"{"handoff":{"from":"a","to":"b"}}"#] {
        check_name(other, None);
    }
}

#[test]
fn a_workflow_may_name_a_built_in_contract_by_its_new_and_its_old_name() {
    check_workflow("xml/prep-agent->implementer-agent");
    check_workflow("001/prep-agent->implementer-agent");
    check_workflow("001/prep-agent→implementer-agent");
}

#[track_caller]
fn check_workflow(contract: &str) {
    let text = "name: x\nstart: a\nsteps:\n  a:\n    agent: prep-agent\n    on:\n      success: { to: b, contract: CONTRACT }\n  b: { agent: implementer-agent, on: { success: complete } }\n";
    let text = text.replace("CONTRACT", contract);
    let workflow = workflow_file::parse(&text).unwrap();
    let name = workflow.steps[0].edges[0].contract.as_ref().unwrap();
    // The workflow keeps the name that its file has, and so does what is stored of it.
    assert_eq!(name, contract);
    assert!(!workflow.contract(name).unwrap().must.is_empty());
    let unknown = text.replace("/prep-agent", "/pre-agent");
    assert!(workflow_file::parse(&unknown).is_err());
}

#[test]
fn old_names_of_contracts_are_read_for_ever() {
    for (old, new) in [
        ("001/*→orchestrator", "xml/*→orchestrator"),
        ("002/*→*", "metadata/*→*"),
        ("002/*->*", "metadata/*→*"),
        ("004/*→*", "yaml/*→*"),
        ("004/delegation", "yaml/delegation"),
    ] {
        assert_eq!(contract(old).unwrap().name, new);
    }
    assert_eq!(contract("003/*→*"), None);
}
