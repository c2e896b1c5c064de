//! What a tool is told by a file of the workspace, and what checks print of the user's secrets.

use super::checks::{checked_workshop, claims};
use super::workspaces::folder;
use super::{Workshop, text};

/// A workshop whose check is `make check`, with other words for the agent and the runner.
fn made_workshop(way: &str, check: &str) -> Workshop {
    let workshop = checked_workshop(way, &claims());
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    let settings = settings.replace("run = [\"sh\", \"tools/check.sh\"]", check);
    workshop.write(".baton/baton.toml", &settings);
    workshop.write("Makefile", "check:\n\tfalse\n");
    workshop.commit("Make it");
    workshop.ok(&["trust", "--yes"]);
    workshop
}

#[track_caller]
fn is_asked_about(workshop: &Workshop, file: &str) {
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let handoffs = workshop.handoffs("s1");
    assert!(handoffs.iter().all(|it| text(it, "toAgent") != "reviewer"), "{handoffs:#?}");
    let inbox = workshop.ok(&["inbox"]);
    assert!(inbox.contains(&format!("`tests` would start `{file}` of the workspace")), "{inbox}");
    assert!(inbox.contains("`baton trust`"), "it says what to do: {inbox}");
}

#[test]
fn a_check_is_not_run_with_a_file_of_its_tool_that_an_agent_has_added() {
    is_asked_about(&made_workshop("makes", "run = [\"make\", \"check\"]"), "GNUmakefile");
}

#[test]
fn a_check_of_python_is_not_run_beside_an_agent_s_module_of_the_same_name() {
    let check = "run = [\"python3\", \"-m\", \"py_compile\", \"src/app.txt\"]";
    is_asked_about(&made_workshop("makes", check), "py_compile.py");
}

#[test]
fn an_agent_is_not_started_by_a_makefile_that_the_one_before_has_rewritten() {
    let workshop = Workshop::new("curl", "");
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    let run = r#"["sh", "tools/agent.sh", "curl"]"#;
    workshop.write(".baton/baton.toml", &settings.replace(run, r#"["make", "-s", "agent"]"#));
    workshop.write(
        "Makefile",
        "agent:\n\t@if [ \"$$BATON_AGENT\" = implementer ]; then printf 'agent:\\n\\ttouch evil\\n' > Makefile; fi; \
         sh tools/agent.sh curl\n",
    );
    workshop.commit("Make it");
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let handoffs = workshop.handoffs("s1");
    let is_told = |it: &serde_json::Value| {
        it["endedReason"].as_str().unwrap_or_default().contains("`Makefile` in the workspace")
    };
    assert!(handoffs.iter().any(is_told), "{handoffs:#?}");
    assert!(!folder(&workshop, "s1").join("evil").exists(), "it was started");
}

#[test]
fn what_a_check_prints_of_the_user_s_secrets_is_masked_wherever_it_goes() {
    const SECRET: &str = "hunter2-correct-horse-battery";
    let workshop = checked_workshop("lies", &claims());
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    let with = format!("lease = \"2s\"\nenv = {{ DB_PASSWORD = \"{SECRET}\" }}\n");
    workshop.write(".baton/baton.toml", &settings.replace("lease = \"2s\"\n", &with));
    workshop.write("tools/check.sh", "echo \"it is $DB_PASSWORD\"; exit 3\n");
    workshop.commit("Print it");
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let parked = workshop.handoffs("s1");
    let parked =
        parked.iter().find(|it| text(it, "state") == "rejected").unwrap()["number"].to_string();
    let said = [
        workshop.ok(&["inbox"]),
        workshop.ok(&["handoff", "show", &parked]),
        workshop.ok(&["handoff", "show", &parked, "--json"]),
        workshop.ok(&["handoff", "file", &parked, "tests.txt"]),
    ];
    for said in &said {
        assert!(said.contains("it is secret.masked") && !said.contains(SECRET), "{said}");
    }
    for entry in std::fs::read_dir(workshop.path().join(".baton/data")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        let has_secret = bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes());
        assert!(!has_secret, "{}", path.display());
    }
}
