//! What has to hold then.

use std::collections::{BTreeSet, HashSet};

use cucumber::gherkin::Step;
use cucumber::{then, when};
use serde_json::{Value, json};

use super::listener::Message;
use super::{FeatureWorld, STORY};

#[when(expr = "I hear AGENT_HANDOFF with the message {string}")]
#[then(expr = "I hear AGENT_HANDOFF with the message {string}")]
fn hear_handoff(world: &mut FeatureWorld, message: String) {
    let (heard, _) = world.listener().until("AGENT_HANDOFF");
    assert_eq!(heard.data["message"], message.as_str());
    world.last_message = Some(heard);
}

#[then(expr = "that event says from {string} to {string} at the step {string}")]
fn event_says(world: &mut FeatureWorld, from: String, to: String, place: String) {
    let data = &world.last_message.as_ref().unwrap().data;
    let said = (&data["fromAgent"]["name"], &data["toAgent"]["name"], &data["stepName"]);
    assert_eq!(said, (&json!(from), &json!(to), &json!(place)));
    let at = world.trail().last().unwrap()["timestamp"].as_str().unwrap()[..19].to_owned();
    assert!(data["timestamp"].as_str().unwrap().starts_with(&at), "{data}");
}

#[then(expr = "that event is smaller than {int} bytes")]
fn event_is_small(world: &mut FeatureWorld, most: usize) {
    assert!(world.last_message.as_ref().unwrap().n_bytes < most);
}

#[then(expr = "the conversation shows {string}")]
fn conversation_shows(world: &mut FeatureWorld, line: String) {
    let items = world.conversation();
    let shown = |it: &Value| {
        it["kind"] == "handoff" && it["line"].as_str().is_some_and(|it| it.starts_with(&line))
    };
    assert!(items.iter().any(shown), "{items:?}");
}

#[then(expr = "the page of the run shows {string}")]
fn page_shows(world: &mut FeatureWorld, words: String) {
    let page = world.page();
    assert!(page.contains(&words), "{page}");
}

#[then(expr = "the page of the run shows {string} and {string}")]
fn page_shows_both(world: &mut FeatureWorld, one: String, other: String) {
    page_shows(world, one);
    page_shows(world, other);
}

#[then(expr = "{string} can accept only what the audit log already has")]
fn recorded_before(world: &mut FeatureWorld, agent: String) {
    let recorded = world.trail().last().unwrap().clone();
    assert_eq!(recorded["toAgent"]["agentId"], agent.as_str());
    let path = format!("/api/v1/handoffs/{STORY}%2FHO-002/accept");
    let taken = world.post(&path, &json!({"agent": agent}));
    let time = |it: &Value| it.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let accepted = time(&taken["handoff"]["acceptedAt"]);
    assert!(time(&recorded["timestamp"]) <= accepted, "{recorded} {taken}");
    let later = format!("/api/v1/handoffs/{STORY}%2FHO-003/accept");
    assert_eq!(world.send(&later, &json!({})).status, 404, "nothing else is there to accept");
}

#[then("I hear MESSAGE_POSTED and no AGENT_HANDOFF before it")]
fn hear_no_handoff(world: &mut FeatureWorld) {
    let (_, before) = world.listener().until("MESSAGE_POSTED");
    assert!(!before.contains(&"AGENT_HANDOFF".to_owned()), "{before:?}");
}

fn messages(world: &FeatureWorld) -> Vec<Value> {
    world.conversation().into_iter().filter(|it| it["kind"] == "message").collect()
}

#[then("the chat history has these messages")]
fn has_messages(world: &mut FeatureWorld, step: &Step) {
    let shown = messages(world);
    let rows = &step.table.as_ref().unwrap().rows[1..];
    assert_eq!(shown.len(), rows.len(), "{shown:?}");
    for (item, row) in shown.iter().zip(rows) {
        let agent = &item["agent"];
        let found =
            [&agent["agentId"], &agent["agentName"], &agent["avatar"]["initials"], &item["text"]];
        assert_eq!(found.map(|it| it.as_str().unwrap_or_default()), row[..], "{item}");
        assert!(agent["avatar"]["color"].is_string(), "{item}");
    }
    world.found = json!(shown);
}

#[then("no two of these agents share their initials and colour")]
fn are_distinct(world: &mut FeatureWorld) {
    let faces: Vec<String> = world
        .found
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            format!("{} {}", it["agent"]["avatar"]["initials"], it["agent"]["avatar"]["color"])
        })
        .collect();
    assert_eq!(faces.iter().collect::<HashSet<_>>().len(), faces.len(), "{faces:?}");
}

#[then("the page of the run shows the name and the initials of each of them")]
fn page_shows_each(world: &mut FeatureWorld) {
    let page = world.page();
    for item in world.found.as_array().unwrap() {
        let (name, initials) = (&item["agent"]["agentName"], &item["agent"]["avatar"]["initials"]);
        let face =
            format!(">{}</span><bdi>{}</bdi>", initials.as_str().unwrap(), name.as_str().unwrap());
        assert!(page.contains(&face), "{face}: {page}");
    }
}

#[then("the last message has no agent and is by me")]
fn by_me(world: &mut FeatureWorld) {
    let last = messages(world).pop().unwrap();
    assert_eq!((&last["agent"], &last["by"]), (&Value::Null, &json!("sarah")));
}

#[then(
    expr = "going back from the end {int} at a time gives the same messages as going on from the beginning"
)]
fn both_directions(world: &mut FeatureWorld, at_a_time: usize) {
    let path = format!("/api/v1/runs/{STORY}/conversation?limit={at_a_time}");
    let items = |page: &Value| page["items"].as_array().unwrap().clone();
    let mut back = Vec::new();
    let mut page = world.get(&path);
    loop {
        back.splice(0..0, items(&page));
        let Some(previous) = page["previous"].as_str() else { break };
        page = world.get(&format!("{path}&before={previous}"));
    }
    let mut on = Vec::new();
    let mut page = world.get(&format!("{path}&after=0"));
    while !items(&page).is_empty() {
        on.extend(items(&page));
        page = world.get(&format!("{path}&after={}", page["next"].as_str().unwrap()));
    }
    assert_eq!(back, on);
    let said: Vec<&Value> =
        on.iter().filter(|it| it["kind"] == "message").map(|it| &it["text"]).collect();
    assert_eq!(said, ["first", "second", "third"]);
}

/// The decision with these words, among all of the run.
fn decision(world: &FeatureWorld, words: &str) -> Value {
    let list = world.get(&format!("/api/v1/runs/{STORY}/decisions"));
    let found =
        list["items"].as_array().unwrap().iter().find(|it| it["decision"] == words).cloned();
    found.unwrap_or_else(|| panic!("no decision `{words}`: {list}"))
}

#[then(
    regex = r#"^the decision "(.+)" says "(.+)" and the time (?:of that handoff|when it was recorded)$"#
)]
fn is_attributed(world: &mut FeatureWorld, words: String, says: String) {
    let decision = decision(world, &words);
    let seconds = &world.found["at"].as_str().unwrap()[..19];
    let attribution = decision["attribution"].as_str().unwrap();
    assert!(attribution.starts_with(&format!("{says} {seconds}")), "{attribution}, at {seconds}");
    world.found = decision;
}

#[then(expr = "its reasoning is {string}")]
fn has_reasoning(world: &mut FeatureWorld, why: String) {
    assert_eq!(world.found["rationale"], why.as_str());
}

#[then(expr = "the decision {string} is attributed to me")]
fn decided_by_me(world: &mut FeatureWorld, words: String) {
    let decision = decision(world, &words);
    assert_eq!(decision["person"], "sarah");
    assert!(
        decision["attribution"].as_str().unwrap().starts_with("Decided by sarah at "),
        "{decision}"
    );
}

#[then(expr = "{string} shows {string}")]
fn command_shows(world: &mut FeatureWorld, command: String, words: String) {
    let args: Vec<&str> = command.split(' ').skip(1).chain([STORY]).collect();
    let said = world.project.ok(&args);
    assert!(said.contains(&words), "{said}");
}

#[then(expr = "the agent {string} has the name {string}")]
fn has_name(world: &mut FeatureWorld, agent: String, name: String) {
    world.found = world.get(&format!("/api/v1/agents/{agent}"));
    assert_eq!(world.found["agentName"], name.as_str());
}

#[then("it has the description and the capabilities of its file")]
fn has_description(world: &mut FeatureWorld) {
    let id = world.found["agentId"].as_str().unwrap();
    let file = format!("{}/../wire/builtin/agents/{id}.md", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::read_to_string(file).unwrap();
    let description = world.found["agentDescription"].as_str().unwrap();
    assert!(
        !description.is_empty() && file.contains(&format!("description: {description}\n")),
        "{file}"
    );
    let capabilities = world.found["capabilities"].as_array().unwrap().iter();
    let capabilities: Vec<&str> = capabilities.map(|it| it.as_str().unwrap()).collect();
    assert!(file.contains(&format!("capabilities: [{}]\n", capabilities.join(", "))), "{file}");
}

#[then(expr = "its current step responsibility is {string}")]
fn is_responsible(world: &mut FeatureWorld, place: String) {
    assert_eq!(world.found["currentStepResponsibility"], place.as_str());
}

#[then("the current agent of the workflow status is the same")]
fn is_current_agent(world: &mut FeatureWorld) {
    let status = world.get(&format!("/api/v1/workflows/{STORY}/status"));
    for (name, value) in status["currentAgent"].as_object().unwrap() {
        assert_eq!(&world.found[name], value, "{name}");
    }
}

#[then(
    "pointing at the holder on the page of the run shows its name, description, capabilities and step"
)]
fn page_has_tooltip(world: &mut FeatureWorld) {
    let page = world.page();
    let holder = page.split("<p class=\"baton ").nth(1).unwrap().split("</p>").next().unwrap();
    let tooltip = holder.split("title=\"").nth(1).unwrap().split('"').next().unwrap();
    let agent = world.get("/api/v1/agents/architect");
    let capabilities = agent["capabilities"].as_array().unwrap().iter();
    for words in ["agentName", "agentDescription", "currentStepResponsibility"]
        .map(|it| &agent[it])
        .into_iter()
        .chain(capabilities)
    {
        assert!(tooltip.contains(words.as_str().unwrap()), "{words}: {tooltip}");
    }
}

#[then(expr = "the agent {string} has no current step responsibility")]
fn is_free(world: &mut FeatureWorld, agent: String) {
    let agent = world.get(&format!("/api/v1/agents/{agent}"));
    assert_eq!(agent["currentStepResponsibility"], Value::Null);
}

#[then("I see these handoffs, oldest first")]
fn sees_handoffs(world: &mut FeatureWorld, step: &Step) {
    let rows = &step.table.as_ref().unwrap().rows[1..];
    let items = world.found["items"].as_array().unwrap();
    assert_eq!(items.len(), rows.len(), "{items:?}");
    for (item, row) in items.iter().zip(rows) {
        let found = [
            &item["fromAgent"]["agentId"],
            &item["toAgent"]["agentId"],
            &item["workflowStep"],
            &item["reason"],
        ];
        assert_eq!(found.map(|it| it.as_str().unwrap_or_default()), row[..], "{item}");
    }
    let times: Vec<&str> = items.iter().map(|it| it["timestamp"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[track_caller]
fn has_exactly(document: &Value, members: &str) {
    let expected: BTreeSet<&str> = members.split(", ").collect();
    let found: BTreeSet<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, expected);
}

#[then(expr = "each has exactly the members {string}")]
fn handoff_members(world: &mut FeatureWorld, members: String) {
    for item in world.found["items"].as_array().unwrap() {
        has_exactly(item, &members);
    }
}

#[then(expr = "each agent has exactly the members {string}")]
fn agent_members(world: &mut FeatureWorld, members: String) {
    for item in world.found["items"].as_array().unwrap() {
        has_exactly(&item["fromAgent"], &members);
        has_exactly(&item["toAgent"], &members);
    }
}

#[then(expr = "I see {int} handoff of {int} on page {int} of {int}")]
fn sees_page(world: &mut FeatureWorld, n: usize, of: u64, page: u64, pages: u64) {
    let found = &world.found;
    assert_eq!(found["items"].as_array().unwrap().len(), n);
    assert_eq!(found["totalItems"], of);
    assert_eq!((&found["page"], &found["totalPages"]), (&json!(page), &json!(pages)));
}

#[then(regex = r#"^querying with "(.+)" gives (\d+) handoffs?$"#)]
fn query_gives(world: &mut FeatureWorld, query: String, n: usize) {
    let found = world.get(&format!("/api/v1/workflows/{STORY}/handoffs?{query}"));
    assert_eq!(found["items"].as_array().unwrap().len(), n, "{query}");
    assert_eq!(found["totalItems"], n);
}

#[then(expr = "querying with {string} is cut to pages of {int}")]
fn query_is_cut(world: &mut FeatureWorld, query: String, size: u64) {
    let found = world.get(&format!("/api/v1/workflows/{STORY}/handoffs?{query}"));
    assert_eq!(found["pageSize"], size);
}

#[then(expr = "querying the workflow {string} is answered with {int}")]
fn query_is_refused(world: &mut FeatureWorld, workflow: String, status: u16) {
    let got = world.server().curl(&[], &format!("/api/v1/workflows/{workflow}/handoffs"));
    assert_eq!(got.status, status);
}

#[then(expr = "{string} has a row for each of the {int} handoffs")]
fn exports(world: &mut FeatureWorld, command: String, n: usize) {
    let said = world.project.ok(&command.split(' ').skip(1).collect::<Vec<_>>());
    let n_rows = match serde_json::from_str::<Value>(&said) {
        Ok(rows) => rows.as_array().unwrap().len(),
        // The first line has the names of the columns.
        Err(_) => said.lines().count() - 1,
    };
    assert_eq!(n_rows, n, "{said}");
}

#[then(
    expr = "the last handoff in the audit log goes to {string} with the id {string} and no image"
)]
fn goes_to_unknown(world: &mut FeatureWorld, name: String, id: String) {
    let trail = world.trail();
    let to = &trail.last().unwrap()["toAgent"];
    assert_eq!((&to["agentName"], &to["agentId"]), (&json!(name), &json!(id)));
    assert_eq!(to["agentAvatarUrl"], Value::Null);
}

#[then(expr = "{string} can be given a message, which shows the placeholder {string} in a colour")]
fn has_placeholder(world: &mut FeatureWorld, agent: String, initials: String) {
    let handed = world.conversation().into_iter().rfind(|it| it["kind"] == "handoff").unwrap();
    assert_eq!(handed["to"]["agentId"], agent.as_str());
    let avatar = &handed["to"]["avatar"];
    assert_eq!(avatar["initials"], initials.as_str());
    assert!(avatar["color"].as_str().is_some_and(|it| !it.is_empty()), "{avatar}");
}

#[then("I hear exactly the handoff messages")]
fn hear_exactly(world: &mut FeatureWorld, step: &Step) {
    let expected: Vec<&String> =
        step.table.as_ref().unwrap().rows.iter().map(|it| &it[0]).collect();
    // The end of what has to come: nothing may follow it that was heard before.
    say_the_end(world);
    let heard = world.listener().up_to(|it| it.name == "MESSAGE_POSTED");
    assert_eq!(handoff_messages(&heard), expected);
}

fn say_the_end(world: &FeatureWorld) {
    world.post(&format!("/api/v1/runs/{STORY}/messages"), &json!({"text": "the end"}));
}

fn handoff_messages(heard: &[Message]) -> Vec<&str> {
    let handoffs = heard.iter().filter(|it| it.name == "AGENT_HANDOFF");
    handoffs.map(|it| it.data["message"].as_str().unwrap()).collect()
}

#[then(expr = "the audit log has {int} handoffs")]
fn audit_log_has(world: &mut FeatureWorld, n: usize) {
    assert_eq!(world.trail().len(), n);
}

#[then("the audit log has one entry for each step, in their order")]
fn one_for_each_step(world: &mut FeatureWorld) {
    let steps: Vec<String> =
        world.trail().iter().map(|it| it["workflowStep"].as_str().unwrap().to_owned()).collect();
    let expected: Vec<String> = (1..=world.n_steps).map(|it| format!("step-{it}")).collect();
    assert_eq!(steps, expected);
}

#[then("I hear AGENT_HANDOFF once for each step, in their order")]
fn hear_each(world: &mut FeatureWorld) {
    say_the_end(world);
    let heard = world.listener().up_to(|it| it.name == "MESSAGE_POSTED");
    let steps: Vec<&str> = heard
        .iter()
        .filter(|it| it.name == "AGENT_HANDOFF")
        .map(|it| it.data["stepName"].as_str().unwrap())
        .collect();
    // The first was made before anybody listened.
    let expected: Vec<String> = (2..=world.n_steps).map(|it| format!("Step {it}")).collect();
    assert_eq!(steps, expected);
}

#[then(expr = "each run has exactly {int} handoffs in its audit log")]
fn each_has(world: &mut FeatureWorld, n: u64) {
    for number in 1..=world.n_steps {
        let found = world.get(&format!("/api/v1/workflows/story-{number}/handoffs"));
        assert_eq!(found["totalItems"], n, "run {number}");
    }
}

#[then(
    expr = "the last handoff in the audit log is from {string} to {string} at the step {string}"
)]
fn last_is(world: &mut FeatureWorld, from: String, to: String, place: String) {
    let trail = world.trail();
    let last = trail.last().unwrap();
    let found = (&last["fromAgent"]["agentId"], &last["toAgent"]["agentId"], &last["workflowStep"]);
    assert_eq!(found, (&json!(from), &json!(to), &json!(place)));
}

#[then("the run is completed")]
fn is_completed(world: &mut FeatureWorld) {
    let run = world.get(&format!("/api/v1/runs/{STORY}"));
    assert_eq!(run["status"], "completed");
}

#[then("a healthy subscriber that connects now hears all of it")]
fn hears_all(world: &mut FeatureWorld) {
    // From the beginning.
    world.last_event = Some("0.0".to_owned());
    world.listen();
    let is_end =
        |it: &Message| it.name == "WORKFLOW_STATUS_CHANGED" && it.data["status"] == "completed";
    let heard = world.listener().up_to(is_end);
    let expected = ["Product Manager", "Architect", "Developer", "Reviewer"];
    let messages = handoff_messages(&heard);
    for (message, name) in messages.iter().zip(expected) {
        assert_eq!(*message, format!("Handing off to {name}..."));
    }
    assert!(messages.len() >= expected.len(), "{messages:?}");
}
