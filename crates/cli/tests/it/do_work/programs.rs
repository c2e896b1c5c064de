//! What the programs of `baton do` leave uncommitted, print, ask for and refuse.

use super::*;

const ACP_AGENT: &str = include_str!("../runner/acp_agent.py");

/// At its rate limit until 2100.
const LIMITED: &str = r#"#!/bin/sh
echo "$BATON_AGENT" >> CONTROL/refused
echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":4102444800}}'
echo '{"type":"result","is_error":true,"api_error_status":429,"result":"You are at your limit"}'
exit 1
"#;

impl Desk {
    /// A project of the user's own, with these executors of every agent.
    fn configure(&self, executors: &str) {
        assert_eq!(self.run(&["init"]).code, 0);
        std::fs::write(self.at("repo/.baton/baton.toml"), executors).unwrap();
        assert_eq!(self.run(&["trust", "--yes"]).code, 0);
    }

    /// Asks for permission before the work is done.
    fn configure_asking(&self) {
        let tools = self.tools.path().join("tools");
        let agent = tools.join("acp_agent.py");
        std::fs::write(&agent, ACP_AGENT).unwrap();
        self.configure(&format!(
            "[project]\nworkflow = \"story-pipeline\"\n[executors.asking]\nkind = \"acp\"\n\
             run = [\"python3\", {agent:?}, \"asks\"]\n[agents.\"*\"]\nexecutors = [\"asking\"]\n"
        ));
    }

    /// Files below `.baton` that hold this text.
    fn files_with(&self, text: &str) -> String {
        let mut grep = Command::new("grep");
        let found = grep.args(["-rlaF", text]).arg(self.at("repo/.baton")).output().unwrap();
        String::from_utf8(found.stdout).unwrap()
    }
}

#[test]
fn what_a_program_does_not_commit_is_on_the_branch_all_the_same() {
    let desk = Desk::new();
    desk.set("careless");
    let said = desk.run(&["do", "Add a greeting", "--yes", "--agents", "claude"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(desk.git(&["show", "feat/story-do-add-a-greeting:src/app.txt"]), "hello");
    assert!(said.stdout.contains("Work of implementer on do-add-a-greeting"), "{said:?}");
    assert!(said.stdout.contains("programs"), "{said:?}");
    assert!(said.stderr.contains("to take it: git merge"), "{said:?}");
}

#[test]
fn a_branch_without_a_commit_is_not_offered_to_be_merged() {
    let desk = Desk::new();
    desk.set("idle");
    let said = desk.run(&["do", "Add a greeting", "--yes", "--agents", "claude"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("none: nothing was changed on this branch"), "{said:?}");
    assert!(!said.stderr.contains("to take it"), "{said:?}");
}

#[test]
fn no_key_and_no_home_of_the_user_is_in_what_programs_hand_on_and_print() {
    const KEY: &str = "Zq8vT3mW1xK9pL4s";
    let desk = Desk::new();
    desk.set("talkative");
    let args = ["do", "Add a greeting", "--yes", "--agents", "claude"];
    let mut command = desk.command(&args);
    let said = Said::from(command.env("ANTHROPIC_API_KEY", KEY).output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(desk.files_with(KEY), "", "the key is stored");
    let home = desk.at("home");
    let home = home.to_str().unwrap();
    let shown = desk.run(&["handoff", "show", "2"]);
    assert!(shown.stdout.contains("Uses secret.masked in ~/keys, so that"), "{shown:?}");
    for command in [&["run", "log", "1", "--all"][..], &["prompt", "2"], &["handoff", "show", "2"]]
    {
        let shown = desk.run(command);
        assert!(!shown.stdout.contains(home), "{command:?}: {shown:?}");
        assert!(!shown.stdout.contains(KEY), "{command:?}: {shown:?}");
    }
}

#[test]
fn a_program_that_asks_for_permission_is_answered_by_a_command_that_is_printed() {
    let desk = Desk::new();
    desk.configure_asking();
    let mut command = desk.command(&["do", "Add a greeting"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let asked: Vec<String> =
        lines.by_ref().take_while(|it| !it.contains("baton reject ")).collect();
    let printed = asked.join("\n");
    assert!(printed.contains("you are asked"), "{printed}");
    assert!(printed.contains("npm publish"), "what it asks for: {printed}");
    assert!(printed.contains("baton approve "), "{printed}");
    assert!(!printed.contains("may object"), "{printed}");
    let approve = asked.iter().find_map(|it| it.trim().strip_prefix("baton approve "));
    let handoff = approve.unwrap().split_whitespace().next().unwrap();
    assert_eq!(desk.run(&["reject", handoff]).code, 0);
    let rest: Vec<String> = lines.collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{rest:#?} {output:?}");
    assert!(rest.iter().any(|it| it.contains("✔ done")), "{rest:#?}");
}

#[test]
fn with_yes_a_request_for_permission_stops_the_work_and_says_what_to_type() {
    let desk = Desk::new();
    desk.configure_asking();
    let said = desk.run(&["do", "Add a greeting", "--yes"]);
    check_refused(&said, 4, "npm publish");
    check_refused(&said, 4, "`baton do --continue` without `--yes` asks you again");
}

#[test]
fn a_limited_program_is_asked_once_and_the_lines_name_the_one_that_goes_on() {
    let desk = Desk::new();
    desk.install("limited", &LIMITED.replace("CONTROL", desk.at("control").to_str().unwrap()));
    let limited = desk.at("bin/limited");
    desk.configure(&format!(
        "[project]\nworkflow = \"story-pipeline\"\n[executors.first]\nkind = \"claude\"\nrun = [{limited:?}]\n\
         [executors.second]\nkind = \"claude\"\n[agents.\"*\"]\nexecutors = [\"first\", \"second\"]\n"
    ));
    let said = desk.run(&["do", "Add a greeting", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    for part in ["`first` is at its rate limit until", "second: used", "programs"] {
        assert!(said.stdout.contains(part), "{part}: {said:?}");
    }
    let refused = std::fs::read_to_string(desk.at("control/refused")).unwrap();
    assert_eq!(refused, "analyst\n", "a known limit is not asked for again");
}

#[test]
fn two_at_once_share_a_server() {
    let desk = Desk::new();
    let start = |idea: &str| {
        let mut command = desk.command(&["do", idea, "--yes", "--agents", "claude"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start("One"), start("Two")].map(|it| Said::from(it.wait_with_output().unwrap()));
    for said in &both {
        let is_later = said.code == 4 && said.stderr.contains("is not over");
        assert!(said.code == 0 || is_later, "{both:#?}");
    }
    assert!(both.iter().any(|it| it.code == 0), "{both:#?}");
}

#[test]
fn json_is_refused_with_the_commands_that_print_it() {
    let desk = Desk::new();
    let said = desk.run(&["do", "It", "--json"]);
    check_refused(&said, 2, "baton run show RUN --json");
    assert!(!desk.at("repo/.baton").exists(), "nothing was made");
}

#[test]
fn a_run_goes_on_with_other_programs() {
    let desk = Desk::new();
    let claude = std::fs::read_to_string(desk.at("bin/claude")).unwrap();
    desk.set("dear");
    let args = ["do", "Add a greeting", "--yes", "--agents", "claude", "--budget", "100tokens"];
    assert_eq!(desk.run(&args).code, 4);
    desk.install("gemini", &claude.replace("Claude Code", "Gemini"));
    let said = desk.run(&["do", "--continue", "--yes", "--agents", "claude,gemini"]);
    check_refused(&said, 4, "its budget is 100 tokens");
    let settings = std::fs::read_to_string(desk.at("repo/.baton/baton.toml")).unwrap();
    assert!(settings.contains(r#"executors = ["claude", "gemini"]"#), "{settings}");
}

#[test]
fn a_colour_in_an_idea_is_no_part_of_the_branch() {
    let desk = Desk::new();
    let said =
        desk.run(&["do", "Add a \u{1b}[31mred\u{1b}[0m greeting", "--yes", "--agents", "claude"]);
    assert!(said.stdout.contains("feat/story-do-add-a-red-greeting"), "{said:?}");
}

#[test]
fn a_bare_repository_is_called_one() {
    let desk = Desk::new();
    desk.git(&["init", "-q", "--bare", "../bare.git"]);
    let mut command = desk.command(&["do", "It"]);
    let said = Said::from(command.current_dir(desk.at("bare.git")).output().unwrap());
    check_refused(&said, 4, "is a bare repository");
}

/// As in a repository that was unpacked from an archive. The agent of this test starts no git.
#[test]
fn nothing_that_the_configuration_of_the_repository_names_is_started() {
    let desk = Desk::new();
    desk.set("careless");
    std::fs::write(desk.at("repo/README.md"), "Not committed.\n").unwrap();
    let evil = desk.at("evil");
    let touch = format!("touch {}; false", evil.display());
    for name in ["core.fsmonitor", "filter.e.clean", "filter.e.smudge", "diff.external"] {
        desk.git(&["config", name, &touch]);
    }
    std::fs::write(desk.at("repo/.git/info/attributes"), "* filter=e\n").unwrap();
    let said = desk.run(&["do", "Add a greeting", "--yes", "--agents", "claude"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("Work of implementer"), "{said:?}");
    assert!(!evil.exists(), "a program of the repository was started");
}
