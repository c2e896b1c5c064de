//! Agents that hang, flood, fork, vanish or go on for ever each come to a clear end.

use serde_json::Value;

use super::{Workshop, text};

/// A run that waits for a person, after its only attempt has failed like this.
#[track_caller]
fn fails(way: &str, timeout: &str, why: &str) -> Workshop {
    fails_after("attempts = 1\n", way, timeout, why)
}

/// As [`fails`], with settings of its own for the agents.
#[track_caller]
fn fails_after(limits: &str, way: &str, timeout: &str, why: &str) -> Workshop {
    let workshop = Workshop::new(way, limits);
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    workshop.write(".baton/baton.toml", &settings.replace("timeout = \"20s\"", timeout));
    workshop.ok(&["trust", "--yes"]);
    let served = workshop.serves();
    workshop.start("s1");
    let is_stuck = |it: &Value| it["currentAgent"] == "human";
    workshop.until("s1", "a person is asked", is_stuck);
    let shown = workshop.ok(&["run", "show", "s1"]);
    let handoffs = workshop.handoffs("s1");
    let reasons: Vec<&str> = handoffs.iter().map(|it| text(it, "reason")).collect();
    assert!(reasons.iter().any(|it| it.contains(why)), "{way}: {reasons:#?}\n{shown}");
    drop(served);
    workshop
}

#[test]
fn an_agent_that_hangs_is_ended_when_its_time_is_over() {
    fails("hang", "timeout = \"1s\"", "did not end within 1 s, and was ended");
}

#[test]
fn an_agent_that_prints_a_gigabyte_is_ended() {
    fails("flood", "timeout = \"60s\"", "printed more than 67108864 bytes, and was ended");
}

#[test]
fn an_agent_that_ends_at_once_has_failed() {
    let why = "exited without handing off (exit code 0)";
    let workshop = fails_after("", "nothing", "timeout = \"20s\"", why);
    assert_eq!(workshop.attempts("s1", "analyst"), 3, "two more, after 1 and 2 s");
}

/// It printed its handoff and then hung: that is taken, and said.
#[test]
fn an_agent_that_hangs_after_its_handoff_has_handed_on() {
    let workshop = Workshop::new("block-hangs", "");
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    workshop.write(".baton/baton.toml", &settings.replace("timeout = \"20s\"", "timeout = \"1s\""));
    workshop.ok(&["trust", "--yes"]);
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let handoffs = workshop.handoffs("s1");
    assert!(handoffs.iter().all(|it| it["attempt"] == 1), "{handoffs:#?}");
    let shown = workshop.ok(&["run", "show", "s1"]);
    let said =
        "the handoff of `documenter` is taken, although it did not end within 1 s, and was ended";
    assert!(shown.contains(said), "{shown}");
    let status = workshop.ok(&["runner", "status"]);
    assert!(status.contains("although it did not end"), "{status}");
    drop(served);
}

#[test]
fn an_agent_that_hangs_after_a_draft_has_not() {
    fails("draft-hangs", "timeout = \"1s\"", "did not end within 1 s, and was ended");
}

#[test]
fn an_agent_that_ignores_the_request_to_end_is_ended() {
    fails("deaf", "timeout = \"1s\"", "did not end within 1 s, and was ended");
}

#[test]
fn an_agent_that_closes_its_output_and_goes_on_is_ended_when_its_time_is_over() {
    fails("mute", "timeout = \"1s\"", "did not end within 1 s, and was ended");
}

/// Limits of the agent's own stop it, and a person is asked with what happened before.
#[test]
fn an_agent_is_tried_and_started_no_more_often_than_its_settings_say() {
    for (way, limit, n_attempts, why) in [
        ("nothing", "attempts = 1", 1, "exited without handing off (exit code 0)"),
        ("crash", "starts = 1", 2, "was started 1 time in this run, which is its limit"),
        ("hang", "timeout = \"1s\"\nattempts = 1", 1, "did not end within 1 s, and was ended"),
    ] {
        let own = format!("[agents.analyst]\nexecutors = [\"mine\"]\n{limit}\n");
        let workshop = Workshop::new(way, &own);
        let _served = workshop.serves();
        workshop.start("s1");
        workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
        assert_eq!(workshop.attempts("s1", "analyst"), n_attempts, "{limit}");
        let inbox = workshop.ok(&["inbox"]);
        assert!(inbox.contains(why), "{limit}: {inbox}");
    }
}

#[test]
fn an_agent_that_dies_by_a_signal_has_failed() {
    fails("crash", "timeout = \"20s\"", "was ended by signal 11 without handing off");
}

#[test]
fn an_agent_that_fills_its_quota_has_failed_and_the_server_goes_on() {
    let workshop = Workshop::new("big", "");
    let command = workshop.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 60000; exec \"$0\" \"$@\""]).arg(command.get_program());
    limited.args(command.get_args()).current_dir(workshop.path());
    limited.env_clear();
    limited.envs(std::env::vars_os());
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let _served = crate::serve::Served::listening(limited);
    workshop.start("s1");
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let handoffs = workshop.handoffs("s1");
    let is_full = |it: &Value| text(it, "reason").contains("exited without handing off");
    assert!(handoffs.iter().any(is_full), "{handoffs:#?}");
}

#[test]
fn an_agent_that_forks_and_exits_leaves_nothing_running() {
    let workshop = fails("fork", "timeout = \"20s\"", "exited without handing off");
    for child in workshop.written("child") {
        assert!(!is_running(&child), "{child}");
    }
}

#[test]
fn a_process_that_leaves_its_group_and_session_is_ended_with_its_agent() {
    let workshop = fails("escape", "timeout = \"20s\"", "exited without handing off");
    for child in workshop.written("child") {
        assert!(!is_running(&child), "{child}");
    }
}

#[test]
fn a_server_that_an_agent_leaves_on_its_port_is_ended_with_it() {
    let settings = "[runner]\nlease = \"1s\"\n[runner.env]\nPORT = \"{port}\"\n";
    let workshop = Workshop::new("leaves-server", settings);
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(served.stop(), Some(0));
    let list = workshop.json(&["workspace", "list"]);
    let port = u16::try_from(list["items"][0]["port"].as_u64().unwrap()).unwrap();
    std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
}

#[test]
fn an_agent_that_hands_off_and_goes_on_is_ended_and_its_handoff_stands() {
    let workshop = Workshop::new("goes-on", "");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(served.stop(), Some(0), "it waits for its agents");
    for agent in workshop.written("self") {
        assert!(!is_running(&agent), "{agent}");
    }
}

#[test]
fn what_is_no_line_and_no_text_is_said_as_far_as_it_is_one() {
    let workshop = Workshop::new("odd-words", "");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(served.stop(), Some(0), "it waits for its agents");
    let messages = workshop.ok(&["run", "show", "s1"]);
    assert!(messages.contains("no newline, "), "{messages}");
}

fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim().starts_with('Z'))
}
