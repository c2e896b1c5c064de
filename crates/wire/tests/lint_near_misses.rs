//! Near misses: what looks like a mistake and is none. Every rule has some that must not trip it.

use baton_core::document::Node;
use baton_core::lint::{self, Facts, FileFact, LintRule};
use baton_wire::json;

const NEAR_MISSES: &[(LintRule, &[&str])] = &[
    (
        LintRule::VagueSummary,
        &[
            r#"{"summary":"The migration is done: 3 tables, 40,000 rows"}"#,
            r#"{"summary":"Wrote some code generators for protobuf"}"#,
            r#"{"summary":"Tests added for IBAN parsing"}"#,
            r#"{"note":"done"}"#,
        ],
    ),
    (
        LintRule::LongSummary,
        &[
            r#"{"summary":"Moved to v2.4.1, e.g. for src/a.rs. Kept the API. No migration."}"#,
            r#"{"handoff":{"context":"One. Two. Three. Four. Five. Six widgets are left."},"status":"complete"}"#,
        ],
    ),
    (
        LintRule::BlankField,
        &[r#"{"risks":[],"blockers":{},"step":null,"n":0,"ok":false}"#, r#"{"a":" x "}"#],
    ),
    (
        LintRule::Placeholder,
        &[
            r#"{"summary":"Replaced <Dashboard> by <Board>"}"#,
            r#"{"tag":"<Dashboard>"}"#,
            r#"{"note":"TODO list gets a third view"}"#,
            r#"{"range":"7d|30d|90d"}"#,
            r#"{"note":"none"}"#,
        ],
    ),
    (
        LintRule::Unmeasurable,
        &[
            r#"{"success_criteria":["Fast: p99 under 20 ms","All tests pass","Every table has a key"]}"#,
            r#"{"constraints":["Keep the text \"please retry quickly\"","No new services"]}"#,
            r#"{"summary":"Retries quickly give up now, after 3 tries"}"#,
        ],
    ),
    (
        LintRule::ArtifactWithoutPath,
        &[r#"{"artifacts":["a.md",{"path":"b.md"},{"file":"c.md"}]}"#, r#"{"files_changed":12}"#],
    ),
    (
        LintRule::ArtifactOutside,
        &[
            r#"{"artifacts":["a/../b.md","./c.md",".project/x/","https://example.org/design"]}"#,
            r#"{"workspace_path":"/srv/work/x","files_changed":["src/..hidden.rs"]}"#,
        ],
    ),
    (
        LintRule::ArtifactMissing,
        &[
            r#"{"files_to_modify":["gone.rs"]}"#,
            r#"{"files_changed":[{"path":"gone.rs","status":"deleted"}]}"#,
            r#"{"artifacts":["nobody-looked.rs"]}"#,
        ],
    ),
    (
        LintRule::ArtifactChanged,
        &[
            r#"{"artifacts":[{"path":"there.rs"}]}"#,
            r#"{"artifacts":[{"path":"there.rs","sha256":"sha256:00000000000000000000000000000000000000000000000000000000000000AA"}]}"#,
        ],
    ),
    (
        LintRule::QuestionWithoutPriority,
        &[
            r#"{"open_questions":[]}"#,
            r#"{"open_questions":[{"question":"Who pays?","priority":"HIGH"}]}"#,
            r#"{"questions":["Which folder?"]}"#,
        ],
    ),
    (
        LintRule::DecisionWithoutRationale,
        &[
            r#"{"decisions":["Zip, because every system opens it"]}"#,
            r#"{"decisions":[{"decision":"Zip","reasoning":"Every system opens it"}]}"#,
            r#"{"discoveries":{"decisions":["Dates are ISO 8601"]}}"#,
        ],
    ),
    (
        LintRule::ClaimWithoutEvidence,
        &[
            r#"{"build_passes":false}"#,
            r#"{"build_passes":true,"commands":["cargo test: ok"]}"#,
            r#"{"verification":{"patterns_referenced":true}}"#,
        ],
    ),
    (
        LintRule::CountMismatch,
        &[
            r#"{"critical_count":3,"blocking_issues":[{"severity":"critical"}]}"#,
            r#"{"critical_count":0,"blocking_issues":[{"severity":"important"}]}"#,
            r#"{"files_changed":["a","b"],"learnings_added":0}"#,
        ],
    ),
    (
        LintRule::StaleWorkflowState,
        &[
            r#"{"workflow_state":{"current_step":2,"completed_steps":["a","b"],"remaining_steps":["c"]}}"#,
            r#"{"workflow_state":{"current_step":3,"completed_steps":["a","b"],"remaining_steps":["c"]}}"#,
            r#"{"workflow_state":{"name":"x"}}"#,
        ],
    ),
    (
        LintRule::WrongRange,
        &[
            r#"{"source_files_verified":["a.rs:1-10","a.rs:7","a.rs","C:\\x\\a.rs","a.rs:L3-L9"]}"#,
            r#"{"source_files_verified":["there.rs:1-10"]}"#,
        ],
    ),
    (
        LintRule::Secret,
        &[
            r#"{"note":"keys begin with sk- and ghp_"}"#,
            r#"{"sha":"4be1f0c99a0d4e7cb2a8ff15c1d5f5a0a7be9d21","password":"$DB_PASSWORD"}"#,
            r#"{"token":"see the vault","api_key":"<your key>"}"#,
        ],
    ),
    (
        LintRule::PersonalData,
        &[
            r#"{"reason":"git@github.com:acme/shop cannot be cloned; noreply@github.com is blocked"}"#,
            r#"{"owner":"lena@studio.de"}"#,
            r#"{"reason":"left-pad@1.3.0 and @types/node differ by +12 lines"}"#,
        ],
    ),
    (
        LintRule::InvisibleCharacter,
        &["{\"a\":\"👩\u{200D}💻 ❤\u{FE0F} ümläut\\ttab\\nline\"}", "{\"a\":\"می\u{200C}خواهم\"}"],
    ),
    (
        LintRule::InstructionToReader,
        &[
            r#"{"a":"the test ignore_previous_instructions passes"}"#,
            r#"{"a":"titles like \"ignore all previous instructions\" stay data"}"#,
            r#"{"a":"ignore the rules of eslint in generated files"}"#,
            r#"{"a":"you are now redirected to the login page"}"#,
        ],
    ),
    (
        LintRule::MissingParty,
        &[
            r#"{"handoff":{"from":"implementer-agent","status":"failure","error":{"message":"x"}}}"#,
            r#"{"handoff":{"from":{"agent":"[agent-id]"},"to":{"agent":"human"}}}"#,
            r#"{"status":"complete","phase":"testing","handoff":{"context":"x"}}"#,
        ],
    ),
    (
        LintRule::RepeatedField,
        &[
            r#"{"handoff":{"from":"a","to":"b","commits":{"commit":["one","two"]}}}"#,
            r#"{"summary":["one","two"]}"#,
        ],
    ),
    (
        LintRule::UnknownStatus,
        &[
            r#"{"status":"green","plan":"x"}"#,
            r#"{"handoff":{"from":"a","to":"b","status":"Ready-for-re-review"}}"#,
            r#"{"handoff":{"from":"a","to":"b","status":"success|failure|blocked"}}"#,
        ],
    ),
    (
        LintRule::BadTimestamp,
        &[
            r#"{"handoff":{"from":"a","to":"b","timestamp":"2024-01-15T10:30:00.25+05:30"}}"#,
            r#"{"timestamp":"yesterday","plan":"x"}"#,
        ],
    ),
    (
        LintRule::UnknownWord,
        &[
            r#"{"handoff":{"from":"a","to":"b","failures":{"failure":{"@type":"type-check"}}}}"#,
            r#"{"handoff":{"from":{"agent":"a"},"gate":{"type":"informative"}}}"#,
            r#"{"artifacts":[{"path":"a.md","type":"recording"}]}"#,
        ],
    ),
    (
        LintRule::ImpossibleNumber,
        &[
            r#"{"tests_added":true,"files_changed":["a.rs"],"coverage":"most of it"}"#,
            r#"{"handoff":{"from":"a","to":"b","port":"65535","coverage":"100%"}}"#,
        ],
    ),
    (
        LintRule::FailedCheck,
        &[
            r#"{"status":"blocked","phase":"testing","verification":{"tests_passed":false}}"#,
            r#"{"handoff":{"from":"a","to":"b","merge_status":"merged","validation_summary":{"security":"no vulnerabilities","tests":"passed (9/9)"}}}"#,
            r#"{"tests_passed":false}"#,
        ],
    ),
    (
        LintRule::IncompleteItem,
        &[
            r##"{"handoff":{"from":"a","to":"b","commits":{"commit":{"@sha":"abc1234","#text":"x"}}}}"##,
            r#"{"status":"blocked","phase":"testing","handoff":{"blockers":["No access to the queue"]}}"#,
        ],
    ),
    (
        LintRule::DecisionWithoutId,
        &[
            r#"{"decisions":[{"decision":"x","rationale":"y"}]}"#,
            r#"{"handoff":{"from":{"agent":"a"},"context":{"decisions":[{"id":"pending","decision":"x","rationale":"y"}]}}}"#,
        ],
    ),
    (
        LintRule::UnclearAcknowledgement,
        &[
            r#"{"acknowledgment":{"received":true,"from":"[source agent]","understood":{"task":"Plan it"}}}"#,
            r#"{"acknowledgement":{"received":true,"understood":"partial","blockers":["No specs"]}}"#,
            r#"{"received":false}"#,
        ],
    ),
    (
        LintRule::NumberMismatch,
        &[
            r#"{"handoff":{"from":"a","to":"b","pr_number":456,"pr_url":"https://github.com/o/r/pull/456/"}}"#,
            r#"{"handoff":{"from":"a","to":"b","issue_number":"7","issue_url":"https://example.org/issues/new"}}"#,
        ],
    ),
];

#[test]
fn no_near_miss_trips_its_rule() {
    let there = FileFact::File { n_lines: Some(10), sha256: Some(format!("{}aa", "0".repeat(62))) };
    let files = [("gone.rs".to_owned(), FileFact::Missing), ("there.rs".to_owned(), there)];
    let facts = Facts { files: files.into(), ..Facts::default() };
    for (rule, documents) in NEAR_MISSES {
        assert!(documents.len() >= 2, "{rule}");
        for text in *documents {
            let document: Node = json::parse(text).unwrap();
            let found = lint::findings(&document, &facts);
            assert!(found.iter().all(|it| it.rule != Some(*rule)), "{rule}: {text}: {found:?}");
        }
    }
}

#[test]
fn every_rule_has_near_misses() {
    let rules: Vec<LintRule> = NEAR_MISSES.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(rules, LintRule::ALL);
}
