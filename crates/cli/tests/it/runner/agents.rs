//! Every way of handing on completes a whole pipeline.

use super::{Workshop, text};

#[track_caller]
fn completes(way: &str) {
    let workshop = Workshop::new(way, "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let handoffs = workshop.handoffs("s1");
    let ways: Vec<String> = handoffs
        .iter()
        .map(|it| format!("{}>{}", text(it, "fromAgent"), text(it, "toAgent")))
        .collect();
    let expected = [
        "orchestrator>analyst",
        "analyst>implementer",
        "implementer>reviewer",
        "reviewer>refactorer",
        "refactorer>documenter",
        "documenter>orchestrator",
    ];
    assert_eq!(ways, expected, "{way}");
    assert!(handoffs.iter().all(|it| it["attempt"] == 1), "{way}: {handoffs:?}");
    let log = workshop.git(&["log", "--format=%s", "feat/story-s1"]);
    assert_eq!(log.lines().filter(|it| *it == "Add the greeting").count(), 1, "{way}: {log}");
}

#[test]
fn an_agent_that_only_knows_curl_completes_a_pipeline() {
    completes("curl");
}

#[test]
fn an_agent_that_only_prints_json_completes_a_pipeline() {
    completes("json");
}

#[test]
fn an_agent_that_only_prints_yaml_completes_a_pipeline() {
    completes("yaml");
}

#[test]
fn an_agent_that_only_prints_xml_completes_a_pipeline() {
    completes("xml");
}

#[test]
fn an_agent_that_only_prints_a_metadata_block_completes_a_pipeline() {
    completes("markdown");
}

#[test]
fn an_agent_that_only_writes_a_file_completes_a_pipeline() {
    completes("file");
}

#[test]
fn an_agent_that_uses_the_command_line_completes_a_pipeline() {
    completes("cli");
}

#[test]
fn agents_that_say_done_at_the_same_time_mean_their_own_work() {
    let workshop = Workshop::new("done", "");
    let served = workshop.serves();
    let stories = ["s1", "s2"];
    for story in stories {
        workshop.start(story);
    }
    for story in stories {
        workshop.until_completed(story);
        assert_eq!(workshop.attempts(story, "analyst"), 1);
    }
    // What the runner in the server's own process reports is among the server's metrics.
    let metrics = served.curl(&[], "/metrics").body.to_string();
    let line = "baton_agent_work_milliseconds_total{agent=\\\"analyst\\\"} ";
    let (_, work_ms) = metrics.split_once(line).expect("the analyst has worked");
    assert!(work_ms.starts_with(|it: char| ('1'..='9').contains(&it)), "{work_ms}");
}

#[test]
fn what_an_agent_sent_comes_before_its_block_and_its_block_before_its_file() {
    for way in ["http-and-block", "block-and-file"] {
        let workshop = Workshop::new(way, "");
        let _served = workshop.serves();
        workshop.start("s1");
        workshop.until_completed("s1");
        let handoffs = workshop.handoffs("s1");
        assert_eq!(handoffs.len(), 6, "{way}: {handoffs:#?}");
        let messages = workshop.ok(&["run", "show", "s1"]);
        assert!(!messages.contains("was refused"), "{way}: {messages}");
    }
}

#[test]
fn a_file_with_a_name_that_is_no_word_is_taken_and_a_link_is_not() {
    completes("odd-file");
}

#[test]
fn an_agent_gets_its_environment_and_nothing_else_of_the_server_s() {
    let settings = "[runner]\nlease = \"1s\"\n[runner.env]\nPORT = \"{port}\"\n";
    let workshop = Workshop::new("environment", settings);
    let mut command = workshop.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("LANG", "C.UTF-8").env("TMPDIR", "/tmp").env("TZ", "UTC");
    let served = crate::serve::Served::listening(command);
    workshop.start("s1");
    workshop.until_completed("s1");
    let attempts = workshop.path().join(".baton/data/runner/attempts");
    let mut folders: Vec<_> =
        std::fs::read_dir(attempts).unwrap().map(|it| it.unwrap().path()).collect();
    folders.sort();
    let env = std::fs::read_to_string(folders[0].join("output/environment")).unwrap();
    let mut names: Vec<&str> =
        env.lines().filter_map(|it| it.split_once('=')).map(|it| it.0).collect();
    // The shell's own.
    names.retain(|it| !["PWD", "OLDPWD", "SHLVL", "_"].contains(it));
    names.sort_unstable();
    let expected = [
        "BATON_AGENT",
        "BATON_HANDOFF",
        "BATON_RUN",
        "BATON_TOKEN",
        "BATON_URL",
        "BRANCH",
        "DASHBOARD_URL",
        "HOME",
        "LANG",
        "OUTPUT_DIRECTORY",
        "PATH",
        "PORT",
        "STORY_ID",
        "TMPDIR",
        "TZ",
    ];
    assert_eq!(names, expected);
    assert!(env.contains(&format!("BATON_URL={}\n", served.url)), "{env}");
    assert!(!env.contains("do-not-pass-on"));
}

#[test]
fn a_block_that_is_refused_goes_back_to_its_agent_once() {
    let workshop = Workshop::new("corrected", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let messages = workshop.ok(&["run", "show", "s1"]);
    assert!(messages.contains("handed on what was refused, and gets it back once"), "{messages}");
}

#[test]
fn the_correction_passes_as_it_is_shown_once_its_marks_are_filled_in() {
    let workshop = Workshop::new("fills-in", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(workshop.attempts("s1", "refactorer"), 1);
    let log = workshop.ok(&["run", "log", "s1", "--all"]);
    assert!(
        log.contains("`refactorer` handed on what was refused, and gets it back once"),
        "{log}"
    );
}

#[test]
fn ten_runs_at_once_have_folders_branches_and_ports_of_their_own() {
    let settings = "[runner]\nat_once = 10\nbranch = \"{type}/same\"\n";
    let workshop = Workshop::new("curl", settings);
    let _served = workshop.serves();
    let stories: Vec<String> = (1..=10).map(|it| format!("s{it}")).collect();
    for story in &stories {
        workshop.start(story);
    }
    for story in &stories {
        workshop.until_completed(story);
    }
    let list = workshop.json(&["workspace", "list"]);
    let list = list["items"].as_array().unwrap();
    assert_eq!(list.len(), 10);
    for field in ["branch", "port", "path"] {
        let mut values: Vec<String> = list.iter().map(|it| it[field].to_string()).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 10, "{field}: {values:?}");
    }
}
