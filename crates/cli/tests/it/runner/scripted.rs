//! Scripted agents really edit files, commit, run commands and hand on, in any way.

use super::Workshop;

const SCRIPT: &str = r#"
agents:
  analyst:
    - say: I read the story
    - hand_on:
        by: block
        to: implementer
        package: { plan: "1. Write src/app.txt. 2. Check that it greets.", files_to_modify: [README.md], approach: "One file, so that it can be tested alone", risks: [A typo in the greeting], questions_resolved: true }
  implementer:
    - - write: { file: src/app.txt, text: "helo\n" }
      - commit: Add the greeting
      - hand_on:
          by: http
          package: { files_changed: [src/app.txt], summary: "src/app.txt greets; 1 test covers it", tests_added: true, build_passes: true, discoveries: { learnings: [The greeting is read at start], gotchas: [No newline no greeting], decisions: [One file instead of a table] } }
    - - replace: { file: src/app.txt, text: helo, with: hello }
      - run: grep -q hello src/app.txt
      - commit: Spell it right
      - hand_on:
          by: cli
          package: { files_changed: [src/app.txt], summary: "src/app.txt greets; 1 test covers it", tests_added: true, build_passes: true, discoveries: { learnings: [The greeting is read at start], gotchas: [No newline no greeting], decisions: [One file instead of a table] } }
  reviewer:
    - - reject: "src/app.txt:1 the greeting is misspelt"
    - - try: grep -q goodbye src/app.txt
      - hand_on:
          by: file
          to: refactorer
          package: { approved: true, files_changed: [src/app.txt], summary: src/app.txt greets as the plan says, review_notes: "Read src/app.txt and ran its test: both good", discoveries: { learnings: [The greeting is read at start], gotchas: [No newline no greeting], decisions: [One file instead of a table] } }
  refactorer:
    - - die
    - - hand_on: { to: documenter, package: { files_changed: [src/app.txt], refactored: false, refactor_summary: "src/app.txt has one line, and stays as it is", discoveries: { learnings: [The greeting is read at start], gotchas: [No newline no greeting], decisions: [One file instead of a table] } } }
  documenter:
    - append: { file: docs/log.md, text: "done\n" }
    - commit: Say that it is done
    - hand_on: { package: { learnings_added: 1, gotchas_added: 1, docs_updated: true, notes: README.md says where the greeting is } }
"#;

#[test]
fn scripted_agents_plan_edit_commit_reject_fix_die_and_complete_a_run() {
    let workshop = Workshop::new("curl", "");
    workshop.write("tools/agents.yaml", SCRIPT);
    workshop.write(
        ".baton/baton.toml",
        "[runner]\nlease = \"1s\"\n[executors.played]\nkind = \"scripted\"\nscript = \"tools/agents.yaml\"\n\
         [agents.\"*\"]\nexecutors = [\"played\"]\n",
    );
    workshop.commit("Play instead");
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let log = workshop.git(&["log", "--format=%s", "feat/story-s1"]);
    let expected =
        ["Say that it is done", "Spell it right", "Add the greeting", "Play instead", "Begin"];
    assert_eq!(log.lines().collect::<Vec<_>>(), expected);
    assert_eq!(workshop.git(&["show", "feat/story-s1:src/app.txt"]), "hello");
    let handoffs = workshop.handoffs("s1");
    assert!(handoffs.iter().any(|it| it["toAgent"] == "refactorer" && it["attempt"] == 2));
}
