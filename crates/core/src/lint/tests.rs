//! The linter as a whole. Each rule is tested in its own file, and on the corpus of `baton-wire`.

use super::*;

fn report(document: &Node, facts: &Facts, settings: &Settings) -> LintReport {
    lint(&LintSubject { document, contract: None, facts, settings, file: Some("notes/a.json") })
}

fn done() -> Node {
    Node::map([("summary", Node::text("It's done"))])
}

fn codes(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|it| &*it.code).collect()
}

#[test]
fn a_finding_says_where_what_and_what_to_do() {
    let document = Node::map([("handoff", Node::map([("context", done())]))]);
    let report = report(&document, &Facts::default(), &Settings::default());
    let problem = report.findings[0].to_problem().to_string();
    assert_eq!(
        problem,
        "handoff.context.summary: says nothing about this work in particular; name what was made \
         or changed, with numbers, names or paths [vague_summary]"
    );
    assert!(!report.is_clean());
}

#[test]
fn a_secret_in_a_key_is_found_and_never_repeated() {
    let secret = "AKIAQ7RT2WLM5NZX8KVD";
    let inner = Node::Map(vec![(secret.to_owned(), Node::text("It's done \u{200B}"))]);
    let document = Node::map([("summary", Node::text("Moved 3 keys")), ("keys", inner)]);
    let report = report(&document, &Facts::default(), &Settings::default());
    let found = codes(&report.findings);
    assert!(found.contains(&"secret") && found.contains(&"invisible_character"), "{found:?}");
    for finding in &report.findings {
        assert!(!format!("{finding:?}").contains(secret), "{finding:?}");
        assert_eq!(finding.path, "keys.?");
    }
    for plain in ["commit_9f3c2a7e11d04b5c8e6f", "a-very-long-key-of-a-map-12345678901234567890"] {
        let members = vec![(plain.to_owned(), Node::text("x"))];
        assert_eq!(findings(&Node::Map(members), &Facts::default()), [], "{plain}");
    }
}

#[test]
fn a_file_that_is_said_to_be_deleted_may_be_gone() {
    let facts =
        Facts { files: [("src/old.rs".to_owned(), FileFact::Missing)].into(), ..Facts::default() };
    let listed = |item: Node| Node::map([("files_modified", Node::List(vec![item]))]);
    let missing = findings(&listed(Node::text("src/old.rs")), &facts);
    assert_eq!(codes(&missing), ["artifact_missing"]);
    assert_eq!(
        missing[0].to_problem().message,
        "does not exist, and is not said to be deleted; make the file, correct the path, or say \
         `status: deleted` beside its `path`"
    );
    let path = || ("path", Node::text("src/old.rs"));
    for deleted in [
        listed(Node::map([path(), ("status", Node::text("deleted"))])),
        listed(Node::text("src/old.rs (removed)")),
        Node::map([
            ("files_changed", Node::List(vec![Node::text("src/old.rs")])),
            ("files_deleted", Node::List(vec![Node::text("src/old.rs")])),
        ]),
    ] {
        assert_eq!(findings(&deleted, &facts), [], "{deleted:?}");
    }
}

#[test]
fn a_silenced_rule_is_told_apart_with_its_reason() {
    let silence = |path: Option<&str>| Settings {
        silences: vec![Silence {
            rule: LintRule::VagueSummary,
            reason: "an old archive".to_owned(),
            path: path.map(str::to_owned),
        }],
        ..Settings::default()
    };
    for path in [None, Some("notes"), Some("notes/"), Some("notes/a.json")] {
        let report = report(&done(), &Facts::default(), &silence(path));
        assert_eq!((report.findings.len(), report.silenced.len()), (0, 1), "{path:?}");
        assert_eq!(report.silenced[0].1, "an old archive");
    }
    for path in ["note", "notes/b.json", "notes/a.jso"] {
        let report = report(&done(), &Facts::default(), &silence(Some(path)));
        assert_eq!((report.findings.len(), report.silenced.len()), (1, 0), "{path}");
    }
}

#[test]
fn a_rule_is_silenced_by_its_name_and_a_reason() {
    let silence = Silence::parse("vague_summary = an old = archive").unwrap();
    assert_eq!(
        (silence.rule, silence.reason.as_str()),
        (LintRule::VagueSummary, "an old = archive")
    );
    for bad in ["vague_summary", "vague_summary=", "vague=because", "=because", ""] {
        assert_eq!(Silence::parse(bad), None, "{bad}");
    }
}

#[test]
fn what_nobody_looked_at_is_unverified_and_no_finding() {
    let files = Node::List(vec![Node::text("src/a.rs"), Node::text("src/b.rs")]);
    let document = Node::map([("files_changed", files)]);
    assert_eq!(paths(&document), ["src/a.rs", "src/b.rs"]);
    let blind = report(&document, &Facts::default(), &Settings::default());
    assert_eq!(codes(&blind.findings), Vec::<&str>::new());
    assert_eq!(blind.unverified, ["files_changed[0]", "files_changed[1]"]);
    let file = FileFact::File { n_lines: None, sha256: None };
    let files = [("src/a.rs".to_owned(), FileFact::Missing), ("src/b.rs".to_owned(), file)];
    let facts = Facts { files: files.into(), ..Facts::default() };
    let seen = report(&document, &facts, &Settings::default());
    assert_eq!(codes(&seen.findings), ["artifact_missing"]);
    assert_eq!(seen.unverified, Vec::<String>::new());
}

#[test]
fn the_state_of_the_run_is_compared_where_it_is_known() {
    let state = Node::map([
        ("name", Node::text("gated-project")),
        ("completed_steps", Node::List(vec![Node::text("specification")])),
    ]);
    let document = Node::map([("workflow_state", state)]);
    let run = |workflow: &str, visited: &[&str]| Facts {
        run: Some(RunFact {
            workflow: workflow.to_owned(),
            steps: vec!["specification".to_owned(), "architecture".to_owned()],
            visited: visited.iter().map(|it| (*it).to_owned()).collect(),
            at: None,
            phases: Vec::new(),
        }),
        ..Facts::default()
    };
    let found = |facts: &Facts| report(&document, facts, &Settings::default()).findings.len();
    assert_eq!(found(&run("gated-project", &["specification"])), 0);
    assert_eq!(found(&run("story-pipeline", &["specification"])), 1);
    assert_eq!(found(&run("gated-project", &["architecture"])), 1);
    assert_eq!(found(&Facts::default()), 0);
}

#[test]
fn a_score_is_the_sum_of_its_parts_less_what_was_found() {
    let report = report(&done(), &Facts::default(), &Settings::default());
    let sum: u8 = report.score.parts.iter().map(|it| it.points).sum();
    assert_eq!(report.score.points, sum - report.score.taken);
    assert!(report.score.points < 50);
    let all: u32 = report.score.parts.iter().map(|it| u32::from(it.of)).sum();
    assert_eq!(all, 100);
}

#[test]
fn codes_are_unique_and_read_back() {
    for rule in LintRule::ALL {
        assert_eq!(LintRule::parse(rule.code()), Some(rule));
    }
}

#[test]
fn the_checklist_of_a_receiver_says_what_it_cannot_know() {
    let document = Node::map([
        ("context", Node::map([("summary", Node::text("Sessions move to PostgreSQL, 2 tables"))])),
        ("expectations", Node::map([("constraints", Node::List(vec![Node::text("quickly")]))])),
        ("artifacts", Node::List(vec![Node::text("docs/a.md")])),
    ]);
    let answers = checklist(&document, &Facts::default()).map(|it| it.answer);
    assert_eq!(
        answers,
        [ReceiverAnswer::Yes, ReceiverAnswer::Unverified, ReceiverAnswer::No, ReceiverAnswer::No]
    );
}

/// Each of these would be slow if any rule scanned a text once for each of its words.
#[test]
fn the_work_grows_with_the_text_and_no_faster() {
    for part in [
        "ignore ",
        "'a ",
        "\"",
        "“a ",
        "! ",
        "!",
        ".",
        "aaaaaaaa.",
        "token=aaaaaaaa.",
        "://a",
        "+1 ",
        "-----BEGIN ",
        "eyJaaaaaaa.",
        "a@",
        "<",
        "sk-aaaaaaaaaaaaaaaaaaaaaa ",
        "https://a:b1c2d@ ",
    ] {
        let text = part.repeat((1 << 15) / part.len());
        let document = Node::map([
            ("summary", Node::text(text.as_str())),
            ("reason", Node::text(text.as_str())),
            ("success_criteria", Node::List(vec![Node::text(text.as_str())])),
        ]);
        let _ = report(&document, &Facts::default(), &Settings::default());
        let _ = redacted(&text);
    }
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    fn node() -> impl Strategy<Value = Node> {
        let key = prop::sample::select(vec![
            "summary",
            "context",
            "handoff",
            "artifacts",
            "path",
            "open_questions",
            "decisions",
            "workflow_state",
            "completed_steps",
            "current_step",
            "source_files_verified",
            "critical_count",
            "blocking_issues",
            "verification",
            "tests_passed",
            "reason",
            "expectations",
            "success_criteria",
            "gate",
            "status",
            "phase",
            "@x",
            "#text",
        ]);
        let text = "([a-zA-Z0-9'\"`.:/@+<>\\[\\]|=_-]{0,12}|[ \n]|sk-|eyJ|ignore previous|://|\u{202E}|é|👩‍💻|-----BEGIN ){0,6}";
        let leaf = prop_oneof![
            Just(Node::Null),
            any::<bool>().prop_map(Node::Bool),
            any::<i64>().prop_map(|it| Node::Number(it.into())),
            text.prop_map(Node::Text),
        ];
        leaf.prop_recursive(4, 40, 6, move |inner| {
            let members = prop::collection::vec((key.clone(), inner.clone()), 0..6);
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(Node::List),
                members.prop_map(|it| {
                    Node::Map(it.into_iter().map(|(key, node)| (key.to_owned(), node)).collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_document_makes_it_panic(document in node()) {
            let report = report(&document, &Facts::default(), &Settings::default());
            prop_assert!(report.score.points <= 100);
            let _ = checklist(&document, &Facts::default());
        }

        #[test]
        fn redacting_leaves_no_secret(text in "(sk-[a-zA-Z0-9]{18,40}|password=[a-z0-9]{8,20}|://a:[a-z0-9]{4,9}@|[ a-z]{0,5}){0,5}") {
            let clean = redacted(&text);
            prop_assert_eq!(redacted(&clean), clean);
        }
    }
}
