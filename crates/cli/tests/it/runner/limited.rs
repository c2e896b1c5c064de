//! Agents at their rate limit, for each value of `on_rate_limit`: when the work goes on, by whose word, and with
//! which conversation. The program prints what Claude Code does.

use serde_json::{Value, json};

use super::{Workshop, text};
use crate::serve::Served;

/// At its limit while there is a file `limit-NAME` with the second at which it ends; it has lost its conversation
/// where there is a file `forgetful`. Otherwise it does what `agent.sh` does.
const CLAUDE: &str = r#"#!/bin/sh
control=CONTROL
name=$1
shift
echo "$BATON_AGENT $name $*" >> "$control/started"
case "$*" in
    *--resume*)
        if [ -e "$control/forgetful" ]; then
            echo 'No conversation found with session ID: s1' >&2
            exit 1
        fi
        ;;
esac
echo '{"type":"system","subtype":"init","session_id":"session-of-'"$BATON_AGENT"'"}'
if [ -e "$control/limit-$name" ]; then
    echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":'"$(cat "$control/limit-$name")"'}}'
    echo '{"type":"result","is_error":true,"api_error_status":429,"result":"You are at your limit"}'
    exit 1
fi
# Not on one line: that would be a message of the program itself.
sh tools/agent.sh json | sed 's/^{/{\n/'
echo '{"type":"result","is_error":false,"result":"","permission_denials":[]}'
"#;

/// At its limit for two hours, as the clock of its time zone says it.
const CLOCK: &str = r#"#!/bin/sh
echo '{"type":"result","is_error":true,"result":"You have hit your limit, resets '"$(date -d '+2 hours' '+%-I:%M %p')"'"}'
exit 1
"#;

/// A workshop with two such programs, `first` and `second`.
struct LimitedAgents {
    workshop: Workshop,
    control: tempfile::TempDir,
}

impl LimitedAgents {
    /// `executors`: those of every agent, in order.
    fn new(on_rate_limit: &str, executors: &[&str]) -> Self {
        let agents =
            Self { workshop: Workshop::new("json", ""), control: tempfile::tempdir().unwrap() };
        let control = agents.control.path().to_str().unwrap();
        agents.workshop.write("tools/claude.sh", &CLAUDE.replace("CONTROL", control));
        let mut settings = format!(
            "[project]\nworkflow = \"story-pipeline\"\n[runner]\nlease = \"2s\"\n{on_rate_limit}\n"
        );
        for name in ["first", "second"] {
            settings += &format!(
                "[executors.{name}]\nkind = \"claude\"\nrun = [\"sh\", \"tools/claude.sh\", \"{name}\"]\n"
            );
        }
        settings += &format!("[agents.\"*\"]\nexecutors = {executors:?}\n");
        agents.workshop.write(".baton/baton.toml", &settings);
        agents.workshop.commit("Pretend to be Claude Code");
        agents.workshop.ok(&["trust", "--yes"]);
        agents
    }

    /// Puts a program at its limit until this second.
    fn limit(&self, name: &str, resets_at: i64) {
        let path = self.control.path().join(format!("limit-{name}"));
        std::fs::write(path, resets_at.to_string()).unwrap();
    }

    fn lift(&self, name: &str) {
        std::fs::remove_file(self.control.path().join(format!("limit-{name}"))).unwrap();
    }

    /// Which programs were started, for whom and with which arguments.
    fn started(&self) -> Vec<String> {
        let path = self.control.path().join("started");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until a person is asked: what the inbox has.
    #[track_caller]
    fn asked(&self) -> Value {
        self.workshop.until("s1", "a person is asked", |it| it["parkedOn"] == "person");
        let inbox = self.workshop.json(&["inbox"]);
        assert_eq!(inbox["items"].as_array().unwrap().len(), 1, "{inbox}");
        inbox["items"][0].clone()
    }
}

/// Far enough away to be still ahead when these tests are old: 2100-01-01.
const FAR: i64 = 4_102_444_800;

fn messages(served: &Served) -> String {
    served.curl(&[], "/api/v1/runs/1/messages?limit=500").body.to_string()
}

#[test]
fn work_waits_for_the_first_limit_to_end_and_says_until_when() {
    let agents = LimitedAgents::new("", &["first", "second"]);
    let soon = jiff::Timestamp::now().as_second() + 7200;
    agents.limit("first", FAR);
    agents.limit("second", soon);
    let served = agents.workshop.serves();
    agents.workshop.start("s1");
    let run = agents.workshop.until("s1", "it waits", |it| it["baton"] == "parked");
    assert_eq!(run["parkedOn"], "timer", "{run}");
    assert_eq!(agents.workshop.json(&["inbox"])["items"], json!([]));
    let until: jiff::Timestamp = text(&run, "heldBackUntil").parse().unwrap();
    assert_eq!(until.as_second(), soon, "{run}");
    let handoffs = agents.workshop.handoffs("s1");
    assert!(handoffs.iter().all(|it| it["attempt"] == 1), "{handoffs:?}");
    let messages = messages(&served);
    let switch = "`second` goes on with the same package and workspace";
    assert!(messages.contains(switch), "{messages}");
    assert_eq!(agents.started().len(), 2, "each program once: {:?}", agents.started());
    for command in [&["run", "show", "s1"][..], &["status"]] {
        let shown = agents.workshop.ok(command);
        assert!(shown.contains("again with HO-002 at "), "{command:?}: {shown}");
    }
}

#[test]
fn with_wait_the_work_goes_on_by_itself_when_the_limit_ends() {
    let agents = LimitedAgents::new("on_rate_limit = \"wait\"", &["first"]);
    // It is over already: then the least wait of a minute counts.
    agents.limit("first", 1);
    let _served = agents.workshop.serves();
    agents.workshop.start("s1");
    agents.workshop.until("s1", "it waits", |it| it["baton"] == "parked");
    agents.lift("first");
    agents.workshop.until_completed("s1");
    let handoffs = agents.workshop.handoffs("s1");
    assert!(handoffs.iter().all(|it| it["attempt"] == 1), "{handoffs:?}");
    let started = agents.started();
    assert!(started[1].contains("--resume session-of-analyst"), "{started:?}");
}

#[test]
fn a_time_of_day_is_read_in_the_time_zone_that_the_program_writes_it_in() {
    let agents = LimitedAgents::new("", &["first"]);
    agents.workshop.write("tools/claude.sh", CLOCK);
    agents.workshop.commit("Say the time");
    agents.workshop.ok(&["trust", "--yes"]);
    let mut command = agents.workshop.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("TZ", "Asia/Tokyo");
    let _served = Served::listening(command);
    agents.workshop.start("s1");
    let run = agents.workshop.until("s1", "it waits", |it| it["baton"] == "parked");
    let until: jiff::Timestamp = text(&run, "heldBackUntil").parse().unwrap();
    let minutes = until.duration_since(jiff::Timestamp::now()).as_mins();
    assert!((115..=120).contains(&minutes), "in {minutes} minutes: {run}");
}

#[test]
fn with_ask_nothing_goes_on_before_a_person_says_so() {
    let agents = LimitedAgents::new("on_rate_limit = \"ask\"", &["first", "second"]);
    agents.limit("first", FAR);
    agents.limit("second", FAR);
    let served = agents.workshop.serves();
    agents.workshop.start("s1");
    let item = agents.asked();
    assert_eq!(text(&item, "cause"), "lost_lease", "{item}");
    assert_eq!(text(&item, "why"), "No attempt at this work came to a handoff");
    let words = text(&item, "words");
    assert!(words.contains("`second` is at its rate limit until 20"), "{item}");
    assert!(!words.contains("2100"), "no end is more than 8 days ahead: {item}");
    let choices: Vec<&str> =
        item["choices"].as_array().unwrap().iter().map(|it| text(it, "choice")).collect();
    assert_eq!(choices, ["continue", "hand_to", "abort"]);
    assert_eq!(agents.started().len(), 2, "{:?}", agents.started());
    // Too early: it is asked about again.
    agents.workshop.ok(&["answer", text(&item, "handoffId"), "continue"]);
    agents.workshop.until("s1", "it is tried again", |_| agents.started().len() == 4);
    let again = agents.asked();
    assert_ne!(again["handoffId"], item["handoffId"]);
    assert_eq!(text(&again, "cause"), "lost_lease", "{again}");
    agents.lift("first");
    agents.workshop.ok(&["answer", text(&again, "handoffId"), "continue"]);
    agents.workshop.until_completed("s1");
    let started = agents.started();
    assert!(started[4].starts_with("analyst first"), "the first of the list again: {started:?}");
    assert!(started.iter().skip(4).all(|it| it.contains(" first ")), "{started:?}");
    let handoffs = agents.workshop.handoffs("s1");
    assert!(handoffs.iter().all(|it| it["attempt"] == 1), "{handoffs:?}");
    assert_eq!(agents.workshop.git(&["show", "feat/story-s1:src/app.txt"]), "hello");
    assert!(messages(&served).contains("is at its rate limit until"));
}

#[test]
fn with_ask_a_person_gives_the_work_to_another_agent() {
    let agents = LimitedAgents::new("on_rate_limit = \"ask\"", &["first"]);
    agents.limit("first", FAR);
    let settings = agents.workshop.path().join(".baton/baton.toml");
    let settings = std::fs::read_to_string(settings).unwrap();
    let settings = format!("{settings}[agents.reviewer]\nexecutors = [\"second\"]\n");
    agents.workshop.write(".baton/baton.toml", &settings);
    agents.workshop.ok(&["trust", "--yes"]);
    let _served = agents.workshop.serves();
    agents.workshop.start("s1");
    let item = agents.asked();
    let gate = text(&item, "handoffId");
    agents.workshop.ok(&["answer", gate, "hand-to", "reviewer"]);
    agents.workshop.until("s1", "the other agent is started", |_| {
        agents.started().iter().any(|it| it.starts_with("reviewer second"))
    });
    let started = agents.started();
    assert!(!started[1].contains("--resume"), "not another's conversation: {started:?}");
}

#[test]
fn with_ask_a_person_ends_the_run() {
    let agents = LimitedAgents::new("on_rate_limit = \"ask\"", &["first"]);
    agents.limit("first", FAR);
    let _served = agents.workshop.serves();
    agents.workshop.start("s1");
    let item = agents.asked();
    agents.workshop.ok(&["answer", text(&item, "handoffId"), "abort"]);
    agents.workshop.until("s1", "it is over", |it| it["status"] == "cancelled");
    assert_eq!(agents.started().len(), 1, "{:?}", agents.started());
}

#[test]
fn a_program_that_has_lost_its_conversation_starts_over_in_the_same_attempt() {
    let agents = LimitedAgents::new("on_rate_limit = \"ask\"", &["first"]);
    agents.limit("first", FAR);
    let served = agents.workshop.serves();
    agents.workshop.start("s1");
    let item = agents.asked();
    agents.lift("first");
    std::fs::write(agents.control.path().join("forgetful"), "").unwrap();
    agents.workshop.ok(&["answer", text(&item, "handoffId"), "continue"]);
    agents.workshop.until_completed("s1");
    let started = agents.started();
    assert!(started[1].contains("--resume session-of-analyst"), "{started:?}");
    assert!(!started[2].contains("--resume"), "{started:?}");
    let messages = messages(&served);
    assert!(messages.contains("cannot go on with its conversation, and starts over"), "{messages}");
    let handoffs = agents.workshop.handoffs("s1");
    assert!(handoffs.iter().all(|it| it["attempt"] == 1), "{handoffs:?}");
}
