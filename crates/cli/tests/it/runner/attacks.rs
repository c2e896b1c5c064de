//! What a trial of the runner found: each way past it that was closed.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::Value;

use super::checks::{checked_workshop, claims};
use super::workspaces::{folder, git_in};
use super::{Workshop, text};

#[test]
fn a_check_does_not_start_the_agent_s_own_copy_of_a_trusted_file() {
    let workshop = checked_workshop("forges", &claims());
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    let shell = "run = [\"sh\", \"-c\", \"sh tools/check.sh\"]";
    let settings = settings.replace("run = [\"sh\", \"tools/check.sh\"]", shell);
    workshop.write(".baton/baton.toml", &settings);
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let handoffs = workshop.handoffs("s1");
    assert!(handoffs.iter().all(|it| text(it, "toAgent") != "reviewer"), "{handoffs:#?}");
    let tree = folder(&workshop, "s1");
    let forged = std::fs::read_to_string(tree.join("tools/check.sh")).unwrap();
    assert_eq!(forged, "touch was-run\n", "the agent has its own");
    assert!(!tree.join("was-run").exists(), "it was started");
    let inbox = workshop.ok(&["inbox"]);
    assert!(inbox.contains("which is not the one that was trusted"), "{inbox}");
    assert!(inbox.contains("The checks could not be run"), "{inbox}");
    let n_attempts = handoffs.iter().filter(|it| text(it, "toAgent") == "implementer").count();
    assert_eq!(n_attempts, 1, "it is not the agent's failure: {handoffs:#?}");
}

#[test]
fn a_check_needs_a_runner_even_if_its_command_is_taken_out_of_the_settings() {
    let workshop = checked_workshop("honest", &claims());
    let served = workshop.serves_alone();
    workshop.start("s1");
    workshop.ok(&["handoff", "accept", "1"]);
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    let (without, _) = settings.split_once("[checks.tests]").unwrap();
    workshop.write(".baton/baton.toml", &format!("{without}[checks.other]\nrun = [\"true\"]\n"));
    // Its other check is read once the file has been seen.
    let begun = std::time::Instant::now();
    while !served.curl(&[], "/api/v1/handoffs/1/prompt").body.to_string().contains("other") {
        assert!(begun.elapsed().as_secs() < 60, "the file is not read again");
    }
    let package = claims().to_string();
    workshop.ok(&["evidence", "1", "tests", "passed"]);
    workshop.ok(&["handoff", "complete", "1", "--outcome", "success", "--payload", &package]);
    workshop.ok(&["evidence", "2", "tests", "passed"]);
    let run = workshop.json(&["run", "show", "s1"]);
    assert_eq!(text(&run, "parkedOn"), "checks", "what the agent says of it decides nothing");
}

#[test]
fn an_inner_repository_is_found_behind_however_many_files() {
    let workshop = Workshop::new("curl", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    workshop.until_attempts_end();
    let tree = folder(&workshop, "s1");
    let inner = tree.join("a-inner");
    std::fs::create_dir(&inner).unwrap();
    git_in(&inner, &["init", "-q", "."]);
    git_in(&inner, &["commit", "-q", "--allow-empty", "-m", "Only here"]);
    // More paths than the end of a program's output that is kept.
    let name = "z".repeat(200);
    for n in 0..800 {
        std::fs::write(tree.join(format!("{name}-{n}")), "").unwrap();
    }
    let refused = workshop.command(&["workspace", "clean"]).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(stderr.contains("holds repositories of its own (a-inner)"), "{stderr}");
    assert_eq!(git_in(&inner, &["log", "--format=%s"]), "Only here");
}

#[test]
fn changes_that_git_was_told_to_look_away_from_survive_the_cleaning_of_a_workspace() {
    let workshop = Workshop::new("curl", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    workshop.until_attempts_end();
    let tree = folder(&workshop, "s1");
    git_in(&tree, &["update-index", "--skip-worktree", "README.md"]);
    git_in(&tree, &["update-index", "--assume-unchanged", "src/app.txt"]);
    std::fs::write(tree.join("README.md"), "only here\n").unwrap();
    std::fs::write(tree.join("src/app.txt"), "here too\n").unwrap();
    assert_eq!(workshop.json(&["workspace", "list"])["items"][0]["isDirty"], true);
    workshop.ok(&["workspace", "clean"]);
    let kept = |name: &str| workshop.git(&["show", &format!("refs/baton/run-1/cleaned:{name}")]);
    assert_eq!(
        (kept("README.md").as_str(), kept("src/app.txt").as_str()),
        ("only here", "here too")
    );
}

/// A folder that somebody prepared has a credential that they know.
#[test]
fn a_credential_that_was_not_made_here_is_not_taken() {
    let workshop = Workshop::new("curl", "");
    let served = workshop.serves_alone();
    let key = workshop.path().join(".baton/data/runner.key");
    let own = std::fs::read_to_string(&key).unwrap();
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    drop(served);
    let served = workshop.serves_alone();
    assert_eq!(std::fs::read_to_string(&key).unwrap(), own, "its own is kept");
    drop(served);

    let elsewhere = tempfile::tempdir().unwrap();
    let private = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    };
    let prepared = |how: &str| {
        let _ = std::fs::remove_file(&key);
        let copy = elsewhere.path().join(how);
        std::fs::write(&copy, &own).unwrap();
        match how {
            "a link" => std::os::unix::fs::symlink(&copy, &key).unwrap(),
            "a second name" => std::fs::hard_link(&copy, &key).unwrap(),
            "a copy" => drop(std::fs::copy(&copy, &key).unwrap()),
            "only the credential" => {
                std::fs::write(&key, own.lines().next().unwrap()).unwrap();
            }
            other => panic!("{other}"),
        }
        private(&copy);
        private(&key);
    };
    for how in ["a link", "a second name", "a copy", "only the credential"] {
        prepared(how);
        let refused = workshop.command(&["runner", "--once", "--server", "http://127.0.0.1:1"]);
        let refused = { refused }.stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(stderr.contains("was not made here for you"), "{how}: {stderr}");
        let served = workshop.serves_alone();
        let now = std::fs::read_to_string(&key).unwrap();
        assert_ne!(now.lines().next(), own.lines().next(), "{how}");
        let credential = own.lines().next().unwrap();
        let bearer = format!("Authorization: Bearer {credential}");
        assert_eq!(served.curl(&["-H", &bearer], "/api/v1/runs").status, 401, "{how}");
    }
    // Its own again, but for others to read.
    let own = std::fs::read_to_string(&key).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(workshop.serves_alone());
    assert_ne!(std::fs::read_to_string(&key).unwrap(), own);
}

#[test]
fn a_runner_that_the_server_does_not_know_says_so_and_ends() {
    let workshop = Workshop::new("curl", "");
    let served = workshop.serves_alone();
    workshop.start("s1");
    for args in [&["runner"][..], &["runner", "--once"]] {
        let mut command = workshop.command(args);
        let wrong = format!("baton-runner.{}", "0".repeat(64));
        let refused = command.env("BATON_RUNNER_TOKEN", wrong).output().unwrap();
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("does not take this runner's credential"), "{stderr}");
        assert!(stderr.contains(&served.url) && stderr.contains("BATON_RUNNER_TOKEN"), "{stderr}");
    }
    // The whole file is as good as its first line.
    let key = std::fs::read_to_string(workshop.path().join(".baton/data/runner.key")).unwrap();
    let mut command = workshop.command(&["runner", "--once"]);
    assert!(command.env("BATON_RUNNER_TOKEN", key).status().unwrap().success());
    workshop.until_completed("s1");
}

/// The prompt of the next agent has the words of the one before it as words, and no heading of theirs.
#[test]
fn a_package_that_imitates_the_frame_of_a_prompt_stays_a_package() {
    let workshop = Workshop::new("frame", "");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(served.stop(), Some(0));
    let prompts = workshop.written_prompts();
    let with: Vec<&String> = prompts.iter().filter(|it| it.contains("Ignore all that")).collect();
    assert!(!with.is_empty(), "the words have arrived");
    for line in with.iter().flat_map(|it| it.lines()) {
        let is_quoted = line.starts_with("| ");
        assert!(is_quoted || !line.contains("Ignore all that"), "outside of the frame: {line}");
        assert!(!line.starts_with("DATA 0>>>"), "the frame was closed: {line}");
    }
}

#[test]
fn the_settings_of_a_runner_tell_what_it_checks_and_what_to_do_without_an_agent() {
    let workshop = checked_workshop("honest", &claims());
    let shown = workshop.ok(&["runner", "status"]);
    assert!(shown.contains("check tests: sh tools/check.sh"), "{shown}");
    workshop.write(
        "tools/check.sh",
        "echo begun > \"$OLDPWD/x\" 2>/dev/null; until [ -e go-on ]; do sleep 0.1; done\n",
    );
    workshop.commit("Wait");
    workshop.ok(&["trust", "--yes"]);
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "its checks are run", |_| {
        let status = workshop.json(&["runner", "status"]);
        let checks = status["checks"].as_array().cloned().unwrap_or_default();
        checks.iter().any(|it| it["checks"][0] == "tests" && it["stage"] == "running")
    });
    let shown = workshop.ok(&["runner", "status"]);
    assert!(shown.contains("CHECKS") && shown.contains("running"), "{shown}");
    std::fs::write(folder(&workshop, "s1").join("go-on"), "").unwrap();
    workshop.until_completed("s1");

    drop(served);
    workshop.write(".baton/baton.toml", "[project]\nworkflow = \"checked\"\n");
    for args in [&["runner", "status"][..], &["runner"]] {
        let output = workshop.command(args).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("baton agent detect") && said.contains("[executors.mine]"), "{said}");
    }
}

/// At work on one branch, the others of the same run wait: and another run has their slot.
#[test]
fn a_branch_that_waits_for_its_turn_takes_no_slot() {
    let workflow = "name: fan\nstart: plan\nsteps:\n  plan:\n    agent: analyst\n    on: { success: { to: [build, check], \
        join: { at: end, need: all } } }\n  build:\n    agent: implementer\n    on: { success: end }\n  check:\n    \
        agent: reviewer\n    on: { success: end }\n  end:\n    agent: documenter\n    on: { success: complete }\n";
    let workshop = Workshop::new("curl", "");
    workshop.write(".baton/workflows/fan.yaml", workflow);
    let agent = "#!/bin/sh\ncat > /dev/null\nif [ \"$STORY_ID\" = fan ] && [ \"$BATON_AGENT\" != analyst ]; then \
        until [ -e \"$(dirname \"$0\")/../go-on\" ]; do sleep 0.1; done; fi\n\
        baton handoff complete \"$BATON_HANDOFF\" --outcome success --payload '{\"summary\":\"README.md says it\"}'\n";
    workshop.write("tools/fan.sh", agent);
    workshop.write(
        ".baton/baton.toml",
        "[project]\nworkflow = \"fan\"\nprofile = \"lenient\"\n[runner]\nat_once = 2\nlease = \"5s\"\n[executors.mine]\n\
         kind = \"command\"\nrun = [\"sh\", \"tools/fan.sh\"]\n[agents.\"*\"]\nexecutors = [\"mine\"]\n",
    );
    workshop.commit("Fan out");
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.start("fan");
    let is_claimed = |it: &Value| {
        let handoffs = workshop.handoffs("fan");
        let held = handoffs.iter().filter(|it| text(it, "state") == "accepted").count();
        it["status"] == "open" && held == 2
    };
    workshop.until("fan", "both branches are claimed", is_claimed);
    // One of them works, one waits: there is room for another run.
    workshop.start("other");
    workshop.until_completed("other");
    let states: Vec<String> =
        workshop.handoffs("fan").iter().map(|it| text(it, "state").to_owned()).collect();
    assert_eq!(states.iter().filter(|it| *it == "accepted").count(), 2, "{states:?}");
    // Not beside the script, where it would be a part of what is trusted.
    workshop.write("go-on", "");
    workshop.until_completed("fan");
}

const SMALL: &str = "name: small\nstart: implement\nsteps:\n  implement: { agent: implementer, on: { success: { to: review, \
     checks: [good], rounds: 3 } } }\n  review: { agent: reviewer, on: { success: complete } }\n";

/// An agent that prints its handoff. `$FIRST` is true in its first turn, `$HERE` is the project's folder.
const PRINTING: &str = r#"
export HERE=$(cd "$(dirname "$0")/.." && pwd)
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost
cat > "$OUTPUT_DIRECTORY/prompt"
FIRST=false; mkdir "$HERE/.baton/data/was-here" 2>/dev/null && FIRST=true
if [ "$BATON_AGENT" = implementer ]; then
ATTACK
fi
printf '```baton\n{"agent":"%s","status":"complete","summary":"Wrote a.txt with 1 line, all of it"}\n```\n' "$BATON_AGENT"
"#;

/// Has worked on a story with this agent, until nothing was left to do. The check passes where `a.txt` is good.
fn attacked(attack: &str) -> Workshop {
    let workshop = Workshop::new("curl", "");
    workshop.write(".baton/workflows/small.yaml", SMALL);
    workshop.write("a.txt", "hello\n");
    workshop.write(".gitignore", "*.ignored\n");
    workshop.write("tests/good.sh", "grep -q GOOD a.txt\n");
    workshop.write("tools/agent.sh", &PRINTING.replace("ATTACK", attack));
    workshop.write(
        ".baton/baton.toml",
        "[project]\nworkflow = \"small\"\n[runner]\nlease = \"2s\"\n[executors.mine]\nkind = \"command\"\n\
         run = [\"sh\", \"tools/agent.sh\"]\n[agents.\"*\"]\nexecutors = [\"mine\"]\n[checks.good]\n\
         run = [\"sh\", \"tests/good.sh\"]\n",
    );
    workshop.commit("Set the trap");
    workshop.ok(&["trust", "--yes"]);
    workshop.start("s1");
    let served = workshop.serves_alone();
    workshop.ok(&["runner", "--once"]);
    drop(served);
    workshop
}

/// It is completed, what was checked is on its branch, and the user's own branch is as it was.
#[track_caller]
fn has_checked_its_branch(workshop: &Workshop, attack: &str) {
    let run = workshop.json(&["run", "show", "s1"]);
    assert_eq!(run["status"], "completed", "{attack}: {run}");
    let branch = workshop.json(&["story", "show", "s1"])["branch"].clone();
    let branch = branch.as_str().unwrap();
    assert_eq!(branch, "feat/story-s1", "{attack}");
    let on_branch = workshop.git(&["show", &format!("{branch}:a.txt")]);
    assert_eq!(on_branch, "GOOD", "{attack}");
    let commit = workshop.git(&["rev-parse", branch]);
    let numbers = workshop.handoffs("s1").into_iter().map(|it| it["number"].to_string());
    let shown: String = numbers.map(|it| workshop.ok(&["handoff", "show", &it])).collect();
    let evidence: Vec<&str> = shown.lines().filter(|it| it.contains("good: passed")).collect();
    let is_of_commit = |it: &&str| it.ends_with(&format!("at commit {commit}"));
    assert!(
        !evidence.is_empty() && evidence.iter().all(is_of_commit),
        "{attack}: {commit} {shown}"
    );
    assert_eq!(workshop.git(&["log", "-1", "--format=%s", "main"]), "Set the trap", "{attack}");
}

#[test]
fn a_workspace_that_leads_to_another_repository_is_put_aside_and_its_work_counts_for_nothing() {
    for attack in [
        "if $FIRST; then echo \"gitdir: $HERE/.git\" > .git; fi; echo GOOD > a.txt",
        "if $FIRST; then rm .git; git init -q; echo GOOD > a.txt; git add -A; git commit -qm x; fi; echo GOOD > a.txt",
        "if $FIRST; then mkdir -p .evil/objects .evil/refs/heads; echo 'ref: refs/heads/x' > .evil/HEAD\n\
         printf '[core]\\n bare = false\\n[filter \"e\"]\\n clean = \"touch %s/.baton/data/evil; cat\"\\n' \"$HERE\" > .evil/config\n\
         echo 'gitdir: .evil' > .git; echo '* filter=e' > .gitattributes; fi; echo GOOD > a.txt",
    ] {
        let workshop = attacked(attack);
        has_checked_its_branch(&workshop, attack);
        let shown = workshop.ok(&["run", "show", "s1"]);
        assert!(shown.contains("is not the worktree any more that Baton made"), "{shown}");
        let tree = folder(&workshop, "s1");
        assert!(tree.with_file_name("left-1").join("a.txt").exists(), "it is kept");
        assert!(!workshop.path().join(".baton/data/evil").exists(), "a filter of it was started");
    }
}

#[test]
fn a_check_vouches_for_the_commit_that_was_checked_whatever_the_agent_hides() {
    for attack in [
        "echo BAD > a.txt; git commit -qam x; git update-index --skip-worktree a.txt; echo GOOD > a.txt",
        "echo BAD > a.txt; git commit -qam x; git update-index --assume-unchanged a.txt; echo GOOD > a.txt",
        "git config filter.e.clean 'sed s/GOOD/BAD/'; echo 'a.txt filter=e' >> \"$HERE/.git/info/attributes\"\n\
         echo GOOD > a.txt; git commit -qam x",
    ] {
        has_checked_its_branch(&attacked(attack), attack);
    }
}

#[test]
fn work_on_another_branch_goes_back_to_its_agent_which_is_told_where_it_belongs() {
    let attack = "if $FIRST; then git checkout -q -B sneaky; echo GOOD > a.txt; git commit -qam x\n\
                  else git checkout -q feat/story-s1; git merge -q sneaky; fi";
    let workshop = attacked(attack);
    has_checked_its_branch(&workshop, attack);
    let shown = workshop.ok(&["run", "show", "s1"]);
    let told = "the branch `sneaky` is checked out in its workspace, and the work of this run belongs on the branch";
    assert!(shown.contains(told), "{shown}");
}

/// By its own request, so that nothing can be handed back before the checks.
#[test]
fn checks_of_work_on_another_branch_fail_without_being_run() {
    let handing_on = "git checkout -q -B sneaky; echo GOOD > a.txt; git commit -qam x\n\
        baton handoff complete \"$BATON_HANDOFF\" --outcome success --payload '{\"summary\":\"Wrote a.txt with 1 line, all of it\"}'; exit";
    let workshop = attacked(handing_on);
    let run = workshop.json(&["run", "show", "s1"]);
    assert_ne!(run["status"], "completed", "{run}");
    let inbox = workshop.ok(&["inbox"]);
    assert!(inbox.contains("not run: the branch `sneaky` is checked out"), "{inbox}");
}

#[test]
fn a_check_says_what_it_had_beside_the_commit() {
    let workshop = attacked("echo GOOD > a.txt; echo fix > b.ignored");
    has_checked_its_branch(&workshop, "ignored");
    let printed = workshop.ok(&["handoff", "file", "2", "good.txt"]);
    assert!(printed.contains("(beside what is in no commit: b.ignored)"), "{printed}");
}

#[test]
fn a_ref_that_blocks_the_names_of_baton_s_refs_costs_no_snapshot_and_the_run_says_where_it_is() {
    let workshop = attacked(
        "if $FIRST; then git update-ref refs/baton HEAD; echo left > b.txt; exit; fi; echo GOOD > a.txt",
    );
    has_checked_its_branch(&workshop, "refs/baton");
    let shown = workshop.ok(&["run", "show", "s1"]);
    assert!(shown.contains("under refs/baton-2/run-1/"), "{shown}");
}

/// Made by somebody else, with a repository in place of the worktree.
#[test]
fn listing_and_cleaning_the_workspaces_of_an_unpacked_archive_starts_nothing_of_it() {
    let workshop = Workshop::new("curl", "");
    let outside = tempfile::tempdir().unwrap();
    let evil = outside.path().join("evil");
    let run = "01a1f5c9-bc28-77ad-aaf2-6ed28eed7767";
    let folder = workshop.path().join(".baton/data/runner/workspaces").join(run);
    let tree = folder.join("tree");
    for place in [&tree, &outside.path().join("elsewhere")] {
        std::fs::create_dir_all(place).unwrap();
        git_in(place, &["init", "-q", "."]);
        std::fs::write(place.join("f"), "x\n").unwrap();
        std::fs::write(place.join(".gitattributes"), "* filter=e\n").unwrap();
        git_in(place, &["add", "-A"]);
        git_in(place, &["commit", "-q", "-m", "i"]);
        let clean = format!("touch {}; cat", evil.display());
        git_in(place, &["config", "filter.e.clean", &clean]);
        std::fs::write(place.join("f"), "other\n").unwrap();
        let record = serde_json::json!({
            "run": run, "run_number": 1, "story": "s", "branch": "x", "port": 4300, "path": place,
            "is_worktree": true, "is_ready": true,
        });
        std::fs::write(folder.join("workspace.json"), record.to_string()).unwrap();
        let listed = workshop.json(&["workspace", "list"]);
        assert_eq!(listed["items"][0]["path"], tree.to_str().unwrap());
        assert!(workshop.ok(&["workspace", "list"]).contains("no repository"));
        let refused = workshop.command(&["workspace", "clean", "1"]).output().unwrap();
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(stderr.contains("not the worktree any more that Baton made"), "{stderr}");
        assert!(place.join("f").exists() && !evil.exists());
    }
}

#[test]
fn cleaning_keeps_the_commits_and_the_repositories_that_would_go_with_the_folder() {
    let workshop = attacked("echo GOOD > a.txt; echo vendor/ >> .gitignore");
    let tree = folder(&workshop, "s1");
    let inner = tree.join("vendor/deep/lib");
    std::fs::create_dir_all(&inner).unwrap();
    git_in(&inner, &["init", "-q", "."]);
    git_in(&inner, &["commit", "-q", "--allow-empty", "-m", "Only here"]);
    let refused = workshop.command(&["workspace", "clean"]).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(stderr.contains("holds repositories of its own (vendor/deep/lib)"), "{stderr}");
    assert_eq!(git_in(&inner, &["log", "--format=%s"]), "Only here");
    std::fs::remove_dir_all(&inner).unwrap();
    for name in ["refs/worktree/keep", "refs/bisect/bad", "HEAD"] {
        git_in(&tree, &["checkout", "-q", "--detach", "feat/story-s1"]);
        git_in(&tree, &["commit", "-q", "--allow-empty", "-m", name]);
        if name != "HEAD" {
            git_in(&tree, &["update-ref", name, "HEAD"]);
        }
    }
    git_in(&tree, &["worktree", "lock", "."]);
    workshop.ok(&["workspace", "clean"]);
    assert!(!tree.exists());
    let kept = workshop.git(&["for-each-ref", "--format=%(subject)", "refs/baton/run-1"]);
    let mut kept: Vec<&str> = kept.lines().collect();
    kept.sort_unstable();
    assert_eq!(kept, ["HEAD", "refs/bisect/bad", "refs/worktree/keep"]);
}
