//! What the three sections may hold, and what is said of what they may not.

use expect_test::expect;

use super::*;
use crate::project_file::parse;

#[test]
fn the_runner_its_executors_and_agents_are_read() {
    let text = r#"
[runner]
at_once = 3
workspace = "worktree"
branch = "{type}/issue-{number}-{slug}"
setup = ["npm ci"]
env_files = [".env"]
ports = [4300, 4399]
lease = "1s"
[runner.env]
PORT = "{port}"
[executors.mine]
kind = "command"
run = ["python3", "tools/agent.py"]
prompt = "file"
timeout = "90s"
env = ["API_KEY"]
at_once = 1
interface = "block"
[executors.played]
kind = "scripted"
script = "demo/agents.yaml"
[agents.implementer]
executors = ["mine", "played"]
at_once = 2
[agents."*"]
executors = ["played"]
"#;
    let settings = parse(text).unwrap().runner;
    assert_eq!((settings.at_once, settings.ports), (3, Some((4300, 4399))));
    assert_eq!(settings.workspace, Some(WorkspaceKind::Worktree));
    assert_eq!(settings.env, [("PORT".to_owned(), "{port}".to_owned())]);
    let mine = settings.executor("mine").unwrap();
    let words = ["python3", "tools/agent.py"].map(str::to_owned).to_vec();
    assert_eq!(mine.kind, ExecutorKind::Command(words));
    assert_eq!((mine.prompt, mine.interface), (PromptDelivery::File, AgentInterface::Block));
    let agent = |name: &str| settings.agent(&AgentId::parse(name).unwrap()).unwrap();
    assert_eq!(agent("implementer").executors, ["mine", "played"]);
    assert_eq!(agent("reviewer").executors, ["played"]);
}

#[test]
fn every_problem_comes_with_its_line() {
    let text = r#"[runner]
at_once = 0
workspace = "docker"
branch = "{slug}; rm -rf /"
setup = "npm ci"
ports = [80, 90]
lease = "2h"
env_files = ["../secret"]
[runner.env]
BATON_TOKEN = "x"
[executors.mine]
kind = "command"
run = []
[executors.other]
kind = "scripted"
run = ["x"]
[executors.good]
kind = "command"
run = ["true"]
env = ["A B"]
[agents.human]
executors = ["good"]
[agents.reviewer]
executors = ["god"]
"#;
    let lines: Vec<String> = parse(text).unwrap_err().iter().map(ToString::to_string).collect();
    expect![[r#"
            line 2, column 11: runner.at_once: must be a whole number from 1 to 100 [wrong_number]
            line 3, column 13: runner.workspace: cannot be `docker`; known: `worktree`, `in-place` [wrong_value]
            line 4, column 10: runner.branch: `{slug}; rm -rf /` makes no name of a branch: use letters, digits, `-`, `/` and {type}, {number}, {slug}, {story}, {run} [bad_branch]
            line 5, column 9: runner.setup: is text, not a list [wrong_type]
            line 6, column 9: runner.ports: is the first and the last port: `[4300, 4399]` [wrong_number]
            line 6, column 10: runner.ports[0]: must be a whole number from 1024 to 65535 [wrong_number]
            line 6, column 14: runner.ports[1]: must be a whole number from 1024 to 65535 [wrong_number]
            line 7, column 9: runner.lease: must be from 1 second to 1 hour [wrong_duration]
            line 8, column 14: runner.env_files[0]: `../secret` is not a file inside the project [bad_file]
            line 10, column 15: runner.env.BATON_TOKEN: is set by Baton itself [bad_name]
            line 13, column 7: executors.mine.run: has 0 words: write the program and its arguments, such as `["python3", "agent.py"]`, at most 50 [bad_command]
            line 14, column 1: executors.other.script: is missing [missing]
            line 16, column 7: executors.other.run: is for kinds that start a program [not_both]
            line 20, column 8: executors.good.env[0]: `A B` is no name of a variable [bad_name]
            line 21, column 1: agents.human: is not run by a program [bad_name]
            line 24, column 14: agents.reviewer.executors[0]: `god` is no executor: did you mean `good`? [unknown_executor]"#]].assert_eq(&lines.join("\n"));
}
