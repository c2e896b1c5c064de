//! Agents that speak the Agent Client Protocol: a program that does so by hand, well and badly.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Workshop, text};
use crate::serve::Served;

const AGENT: &str = include_str!("acp_agent.py");

/// A workshop whose agents end their turns in this way.
pub(super) fn workshop(way: &str, settings: &str) -> Workshop {
    let workshop = Workshop::new("json", "");
    workshop.write("tools/acp_agent.py", AGENT);
    let timeout = if settings.contains("timeout") { "" } else { "timeout = \"20s\"\n" };
    let text = format!(
        "[project]\nworkflow = \"story-pipeline\"\n[runner]\nlease = \"5s\"\n\
         [executors.other]\nkind = \"acp\"\nrun = [\"python3\", \"tools/acp_agent.py\", \"{way}\"]\n\
         {timeout}{settings}\n[agents.\"*\"]\nexecutors = [\"other\"]\n"
    );
    workshop.write(".baton/baton.toml", &text);
    workshop.commit("Speak the protocol");
    workshop.ok(&["trust", "--yes"]);
    workshop
}

fn messages(served: &Served) -> String {
    served.curl(&[], "/api/v1/runs/1/messages?limit=500").body.to_string()
}

/// What the agent kept across its attempts.
fn kept(workshop: &Workshop, name: &str, agent: &str) -> String {
    let path = workshop.path().join(format!(".baton/data/runner/{name}-s1-{agent}"));
    std::fs::read_to_string(path).unwrap_or_default()
}

/// A person is asked after the only attempt, and this is why.
#[track_caller]
fn fails_with(way: &str, settings: &str, why: &str) -> (Workshop, Served) {
    let workshop = workshop(way, settings);
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    workshop.write(".baton/baton.toml", &format!("{settings}attempts = 1\n"));
    workshop.ok(&["trust", "--yes"]);
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "a person is asked", |it| it["parkedOn"] == "person");
    let handoffs = workshop.handoffs("s1");
    let ended: Vec<&str> = handoffs.iter().map(|it| text(it, "endedReason")).collect();
    assert!(ended.iter().any(|it| it.contains(why)), "{ended:#?}");
    (workshop, served)
}

#[test]
fn an_agent_of_the_protocol_completes_a_pipeline() {
    let workshop = workshop("good", "permissions = \"edit\"\nenv = [\"SECRET_OF_THE_SERVER\"]");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let messages = messages(&served);
    for shown in [
        "I am done, and hand on.",
        "[thought] A greeting is one line.",
        "[plan] 0 of 2 done; now: Write the greeting",
        "[edit] Write src/app.txt",
        "src/app.txt +1 -0",
        "`implementer` (other) used 100 tokens in, 20 out, $0.2500",
    ] {
        assert!(messages.contains(shown), "{shown}: {messages}");
    }
    assert!(kept(&workshop, "prompts", "implementer").contains("You are `implementer`"));
    let capabilities = kept(&workshop, "initialized", "implementer");
    assert!(!capabilities.contains("true"), "no file system, no terminal: {capabilities}");
    assert_eq!(workshop.git(&["show", "feat/story-s1:src/app.txt"]), "hello");
    let data = workshop.path().join(".baton/data");
    let found = Command::new("grep").args(["-rl", "do-not-pass-on"]).arg(&data).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "", "a value of the environment is stored");
}

#[test]
fn garbage_beside_the_protocol_is_left_out_and_nothing_is_read_for_the_agent() {
    let workshop = workshop("garbage", "permissions = \"edit\"");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let messages = messages(&served);
    assert!(messages.contains("warning: this is no message"), "{messages}");
    assert!(messages.contains("and on the other stream"), "{messages}");
    assert!(messages.contains("a message that is too long is left out"), "{messages}");
    assert!(!messages.contains("root:"), "{messages}");
}

#[test]
fn a_turn_that_ends_early_says_why() {
    fails_with("refusal", "", "refused the work");
    fails_with("max-tokens", "", "reached its limit of tokens");
    fails_with("error", "", "could not work: Internal error: the model is gone");
    fails_with("crash", "", "was ended by signal 11");
}

#[test]
fn an_agent_that_hangs_is_cancelled_and_one_that_never_stops_is_ended() {
    let (workshop, _served) = fails_with("hang", "timeout = \"2s\"", "did not end within 2 s");
    assert_ne!(kept(&workshop, "cancelled", "analyst"), "", "it was asked to end its turn");
    fails_with("huge", "timeout = \"60s\"", "printed more than");
}

#[test]
fn a_rate_limit_is_known_and_is_no_failure() {
    let workshop = workshop("limited", "");
    let _served = workshop.serves();
    workshop.start("s1");
    let run = workshop.until("s1", "it waits", |it| it["baton"] == "parked");
    assert_eq!(run["parkedOn"], "timer", "{run}");
}

#[test]
fn an_agent_that_is_killed_goes_on_with_its_session() {
    let workshop = workshop("dies-once", "permissions = \"edit\"");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let sessions = kept(&workshop, "sessions", "implementer");
    assert_eq!(sessions, "new\nload session-implementer\n");
    assert!(kept(&workshop, "prompts", "implementer").contains("You were interrupted"));
}

#[test]
fn after_a_kill_of_the_runner_the_next_one_goes_on_with_the_session() {
    let workshop = workshop("slow-once", "permissions = \"edit\"\ntimeout = \"60s\"");
    let _served = workshop.serves_alone();
    workshop.start("s1");
    let mut runner = workshop.command(&["runner"]).spawn().unwrap();
    workshop.until("s1", "the agent is at work", |_| {
        !kept(&workshop, "asleep", "implementer").is_empty()
    });
    runner.kill().unwrap();
    runner.wait().unwrap();
    workshop.until("s1", "it is done", |it| {
        workshop.ok(&["runner", "--once"]);
        it["status"] == "completed"
    });
    let sessions = kept(&workshop, "sessions", "implementer");
    assert_eq!(sessions, "new\nload session-implementer\n");
    assert!(kept(&workshop, "prompts", "implementer").contains("You were interrupted"));
    let log = workshop.git(&["log", "--format=%s", "feat/story-s1"]);
    assert_eq!(log.lines().filter(|it| *it == "Add the greeting").count(), 1, "{log}");
}

/// Claude Code as far as its session goes: it hangs the first time, and is told which to go on with.
const CLAUDE: &str = r#"#!/bin/sh
echo "$*" >> "$OUTPUT_DIRECTORY/../../../arguments-$BATON_AGENT"
echo '{"type":"system","subtype":"init","session_id":"session-of-claude"}'
case "$*" in
    *--resume*) ;;
    *) sleep 1000 ;;
esac
cat > /dev/null
"#;

#[test]
fn the_session_of_any_program_is_on_disk_while_it_works() {
    let workshop = Workshop::new("json", "");
    workshop.write("tools/claude.sh", CLAUDE);
    workshop.write(
        ".baton/baton.toml",
        "[project]\nworkflow = \"story-pipeline\"\n[runner]\nlease = \"2s\"\n[executors.c]\n\
         kind = \"claude\"\nrun = [\"sh\", \"tools/claude.sh\"]\n[agents.\"*\"]\nexecutors = [\"c\"]\n",
    );
    workshop.commit("Pretend to be Claude Code");
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves_alone();
    workshop.start("s1");
    let mut runner = workshop.command(&["runner"]).spawn().unwrap();
    let session = |_: &Value| {
        let attempts = workshop.path().join(".baton/data/runner/attempts");
        let has_record = |it: std::fs::DirEntry| it.path().join("attempt.json").exists();
        let is_there =
            std::fs::read_dir(attempts).is_ok_and(|mut it| it.any(|it| has_record(it.unwrap())));
        is_there
            && super::programs::attempt_record(&workshop, "analyst")["report"]["session"]
                == "session-of-claude"
    };
    workshop.until("s1", "its session is on disk", session);
    runner.kill().unwrap();
    runner.wait().unwrap();
    let arguments = workshop.path().join(".baton/data/runner/arguments-analyst");
    workshop.until("s1", "it goes on", |_| {
        workshop.ok(&["runner", "--once"]);
        let all = std::fs::read_to_string(&arguments).unwrap_or_default();
        all.contains("--resume session-of-claude")
    });
}

/// Its conversations are not kept: going on with one fails at once.
const FORGETFUL: &str = r#"#!/bin/sh
kept="$OUTPUT_DIRECTORY/../../.."
echo "$*" >> "$kept/arguments-$BATON_AGENT"
case "$*" in *--resume*) echo "No conversation found with session ID" >&2; exit 1 ;; esac
echo '{"type":"system","subtype":"init","session_id":"gone"}'
if [ ! -e "$kept/died" ]; then touch "$kept/died"; exit 2; fi
sh "$(dirname "$0")/agent.sh" json | sed 's/^{/{\n/'
"#;

#[test]
fn a_program_that_cannot_go_on_with_its_conversation_starts_over() {
    let workshop = Workshop::new("json", "");
    workshop.write("tools/claude.sh", FORGETFUL);
    workshop.write(
        ".baton/baton.toml",
        "[project]\nworkflow = \"story-pipeline\"\n[runner]\nlease = \"2s\"\n[executors.c]\n\
         kind = \"claude\"\nrun = [\"sh\", \"tools/claude.sh\"]\n[agents.\"*\"]\nexecutors = [\"c\"]\n",
    );
    workshop.commit("Pretend to be Claude Code");
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let arguments = workshop.path().join(".baton/data/runner/arguments-analyst");
    let arguments = std::fs::read_to_string(arguments).unwrap();
    let resumed: Vec<bool> = arguments.lines().map(|it| it.contains("--resume gone")).collect();
    assert_eq!(resumed, [false, true, false], "{arguments}");
    assert_eq!(workshop.attempts("s1", "analyst"), 2);
    let shown = workshop.ok(&["run", "log", "s1", "--all"]);
    assert!(shown.contains("cannot go on with its conversation, and starts over"), "{shown}");
}

#[test]
fn an_agent_that_cannot_load_a_session_starts_over() {
    let workshop = workshop("forgets", "permissions = \"edit\"");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let record = super::programs::attempt_record(&workshop, "implementer");
    assert_eq!(record["report"]["session"], Value::Null, "{record}");
}

#[test]
fn edits_inside_the_workspace_are_allowed_and_nothing_else() {
    let workshop = workshop("edits", "permissions = \"edit\"");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let chosen = kept(&workshop, "chosen", "implementer");
    let expected = "Write src/app.txt: yes\nWrite a start-up file: no\nrm -rf /: no\n";
    assert_eq!(chosen, expected);
    let messages = messages(&served);
    assert!(messages.contains("[denied] rm -rf / (execute): the settings deny it"), "{messages}");
    assert!(messages.contains("2 requests for permission were denied"), "{messages}");
}

/// The open question for this permission, as the inbox has it.
fn question(workshop: &Workshop, what: &str) -> Option<Value> {
    let inbox = workshop.json(&["inbox"]);
    let is_it = |it: &&Value| it["cause"] == "permission" && text(it, "words").contains(what);
    inbox["items"].as_array().unwrap().iter().find(is_it).cloned()
}

/// Waits for a question for this permission: the gate that holds it.
#[track_caller]
pub(super) fn asked(workshop: &Workshop, what: &str) -> String {
    workshop.until("s1", "it asks for permission", |_| question(workshop, what).is_some());
    text(&question(workshop, what).unwrap(), "handoffId").to_owned()
}

#[test]
fn a_person_denies_what_an_agent_asks_for_and_it_goes_on_without() {
    let workshop = workshop("asks", "permissions = \"ask\"");
    let served = workshop.serves();
    workshop.start("s1");
    let gate = asked(&workshop, "npm publish");
    let item = question(&workshop, "npm publish").unwrap();
    assert_eq!(text(&item, "wordsBy"), "implementer", "{item}");
    let run = workshop.json(&["run", "show", "s1"]);
    assert_eq!((text(&run, "baton"), text(&run, "currentAgent")), ("held", "implementer"));
    workshop.ok(&["reject", &gate]);
    workshop.until_completed("s1");
    assert_eq!(kept(&workshop, "chosen", "implementer"), "npm publish: no\n");
    let messages = messages(&served);
    assert!(messages.contains("[denied] npm publish (execute): a person denied it"), "{messages}");
    assert!(messages.contains("1 request for permission was denied"), "{messages}");
}

#[test]
fn a_person_allows_a_kind_for_the_rest_of_the_attempt_and_a_restart_keeps_the_question() {
    let workshop = workshop("asks", "permissions = \"ask\"\ntimeout = \"60s\"");
    let served = workshop.serves_alone();
    let address = served.url.strip_prefix("http://").unwrap().to_owned();
    workshop.start("s1");
    let mut runner = workshop.command(&["runner"]).spawn().unwrap();
    let gate = asked(&workshop, "npm publish");
    served.kill();
    let again = workshop.command(&["serve", "--listen", &address, "--no-runner"]);
    let again = Served::listening(again);
    assert_eq!(asked(&workshop, "npm publish"), gate);
    workshop.ok(&["answer", &gate, "continue"]);
    workshop.until_completed("s1");
    runner.kill().unwrap();
    runner.wait().unwrap();
    // The second request of the same kind is not asked; each is answered with `once`.
    let chosen = kept(&workshop, "chosen", "implementer");
    assert_eq!(chosen, "npm publish: yes\nnpm whoami: yes\n", "{}", messages(&again));
}

#[test]
fn a_person_allows_one_request_and_is_asked_for_the_next() {
    let workshop = workshop("asks", "permissions = \"ask\"\ntimeout = \"60s\"");
    let _served = workshop.serves();
    workshop.start("s1");
    let first = asked(&workshop, "npm publish");
    workshop.ok(&["approve", &first]);
    let second = asked(&workshop, "npm whoami");
    assert_ne!(first, second);
    workshop.ok(&["reject", &second]);
    workshop.until_completed("s1");
    assert_eq!(kept(&workshop, "chosen", "implementer"), "npm publish: yes\nnpm whoami: no\n");
}

#[test]
fn a_question_that_no_person_answers_in_time_is_denied_and_leaves_the_inbox() {
    let workshop = workshop("asks", "permissions = \"ask\"\nask_within = \"1s\"");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(kept(&workshop, "chosen", "implementer"), "npm publish: no\n");
    let inbox = workshop.json(&["inbox"]);
    assert_eq!(inbox["items"], serde_json::json!([]), "{inbox}");
}

/// The work time of the agent is over long before the person answers.
#[test]
fn a_persons_time_at_a_permission_is_not_the_agents() {
    const BUDGET: Duration = Duration::from_secs(6);
    let workshop = workshop("asks", "permissions = \"ask\"\ntimeout = \"60s\"");
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    let budget = format!("{settings}budget = \"{}s\"\n", BUDGET.as_secs());
    workshop.write(".baton/baton.toml", &budget);
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.start("s1");
    let gate = asked(&workshop, "npm publish");
    let asked_at = Instant::now();
    while asked_at.elapsed() < BUDGET + Duration::from_secs(1) {
        assert!(question(&workshop, "npm publish").is_some(), "the person is still asked");
        std::thread::sleep(Duration::from_millis(200));
    }
    workshop.ok(&["reject", &gate]);
    workshop.until_completed("s1");
    assert_eq!(kept(&workshop, "chosen", "implementer"), "npm publish: no\n");
    let run = workshop.json(&["run", "show", "s1"]);
    let agents = run["usage"]["agents"].as_array().unwrap();
    let own = agents.iter().find(|it| it["agent"] == "implementer").unwrap();
    assert!(u128::from(own["workMs"].as_u64().unwrap()) < BUDGET.as_millis(), "{run}");
}
