use baton_core::document::{Node, NodeKind};
use baton_core::outcome::Outcome;

use super::*;
use crate::located::yaml;
use crate::workflow_file::{self, approvers, contracts, delegates, edges, gates, routing, steps};
use crate::{agent_file, builtin, json, project_file};

fn document(name: &str) -> Node {
    json::parse(schema(name).unwrap()).unwrap()
}

fn words(node: Option<&Node>) -> Vec<&str> {
    node.and_then(Node::as_list).unwrap_or_default().iter().filter_map(Node::as_text).collect()
}

fn members(node: &Node) -> &[(String, Node)] {
    match node {
        Node::Map(members) => members,
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => &[],
    }
}

/// Every map of every file: its schema, where it stands in there, and the keys its reader knows.
fn maps() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let outcomes = || Outcome::CLAIMABLE.map(Outcome::name).to_vec();
    vec![
        ("workflow", "", workflow_file::KEYS.to_vec()),
        ("workflow", "$defs.limits", workflow_file::LIMIT_KEYS.to_vec()),
        ("workflow", "$defs.routing", routing::KEYS.to_vec()),
        ("workflow", "$defs.start", edges::START_KEYS.to_vec()),
        ("workflow", "$defs.step", steps::KEYS.to_vec()),
        ("workflow", "$defs.delegate", delegates::KEYS.to_vec()),
        ("workflow", "$defs.on", outcomes()),
        ("workflow", "$defs.edge", edges::KEYS.to_vec()),
        ("workflow", "$defs.join", edges::JOIN_KEYS.to_vec()),
        ("workflow", "$defs.threshold", edges::THRESHOLD_KEYS.to_vec()),
        ("workflow", "$defs.raise", approvers::RAISE_KEYS.to_vec()),
        ("workflow", "$defs.raise_over", approvers::OVER_KEYS.to_vec()),
        ("workflow", "$defs.raise_any_of", approvers::ANY_OF_KEYS.to_vec()),
        ("workflow", "$defs.raise_stated", approvers::STATED_KEYS.to_vec()),
        ("workflow", "$defs.approvers", approvers::KEYS.to_vec()),
        ("workflow", "$defs.gate", gates::KEYS.to_vec()),
        ("workflow", "$defs.options", gates::OPTION_KEYS.to_vec()),
        ("workflow", "$defs.contract", contracts::KEYS.to_vec()),
        ("workflow", "$defs.rule", contracts::RULE_KEYS.to_vec()),
        ("workflow", "$defs.only", contracts::ONLY_KEYS.to_vec()),
        ("workflow", "$defs.when", contracts::WHEN_KEYS.to_vec()),
        ("agent", "", agent_file::KEYS.to_vec()),
        ("agent", "$defs.produces", outcomes()),
        ("project", "", project_file::KEYS.to_vec()),
        ("project", "$defs.project", project_file::PROJECT_KEYS.to_vec()),
        ("project", "$defs.lint", project_file::lint::KEYS.to_vec()),
        ("project", "$defs.silence", project_file::lint::SILENCE_KEYS.to_vec()),
        ("project", "$defs.check", project_file::checks::CHECK_KEYS.to_vec()),
        ("project", "$defs.archive", project_file::ARCHIVE_KEYS.to_vec()),
        ("project", "$defs.audit", project_file::audit::KEYS.to_vec()),
        ("project", "$defs.retention", project_file::retention::KEYS.to_vec()),
        ("project", "$defs.runner", project_file::runner::RUNNER_KEYS.to_vec()),
        ("project", "$defs.executor", project_file::runner::EXECUTOR_KEYS.to_vec()),
        ("project", "$defs.agent", project_file::runner::AGENT_KEYS.to_vec()),
    ]
}

fn at<'a>(schema: &'a Node, path: &str) -> &'a Node {
    if path.is_empty() { schema } else { schema.at(path).unwrap() }
}

#[test]
fn a_schema_has_the_keys_that_the_reader_knows_and_no_others() {
    for (name, path, keys) in maps() {
        let schema = document(name);
        let map = at(&schema, path);
        let in_schema: Vec<&str> = members(map.member("properties").unwrap())
            .iter()
            .map(|(key, _)| key.as_str())
            .collect();
        assert_eq!(in_schema, keys, "{name} {path}");
        assert_eq!(map.member("additionalProperties"), Some(&Node::Bool(false)), "{name} {path}");
    }
}

#[test]
fn no_map_of_a_schema_is_left_out_here() {
    for (name, _) in SCHEMAS {
        let schema = document(name);
        let mut found = vec![String::new()];
        for (key, definition) in members(schema.member("$defs").unwrap()) {
            if definition.member("properties").is_some() {
                found.push(format!("$defs.{key}"));
            }
        }
        let listed = maps().into_iter().filter(|(it, ..)| *it == name).map(|(_, path, _)| path);
        assert_eq!(found, listed.collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn a_schema_has_the_words_that_the_reader_knows() {
    let profiles: Vec<&str> = workflow_file::PROFILES.iter().map(|(it, _)| *it).collect();
    let kinds: Vec<&str> = contracts::KINDS.iter().map(|(it, _)| *it).collect();
    let workflow = document("workflow");
    assert_eq!(words(workflow.at("$defs.profile.enum")), profiles);
    assert_eq!(words(workflow.at("$defs.rule.properties.type.enum")), kinds);
    let gate_types: Vec<&str> = gates::KINDS.iter().map(|(it, _)| *it).collect();
    assert_eq!(words(workflow.at("$defs.gate_type.enum")), gate_types);
    let modes: Vec<&str> = edges::ASKING_MODES.iter().map(|(it, _)| *it).collect();
    assert_eq!(words(workflow.at("$defs.asking_mode.enum")), modes);
    let on_expire: Vec<&str> = workflow_file::ON_EXPIRE.iter().map(|(it, _)| *it).collect();
    assert_eq!(words(workflow.at("$defs.on_expire.enum")), on_expire);
    let project = document("project");
    assert_eq!(words(project.at("$defs.project.properties.profile.enum")), profiles);
    let agent = document("agent");
    let colors = agent.at("properties.color.anyOf").and_then(Node::as_list).unwrap();
    assert_eq!(words(colors[0].member("enum")), agent_file::COLORS);
}

/// The front matter of a built-in agent, or the whole of a built-in workflow.
fn front_matter(text: &str) -> Node {
    let text = text.strip_prefix("---\n").map_or(text, |it| it.split_once("---\n").unwrap().0);
    yaml::parse(text, 1 << 20).unwrap().to_node()
}

#[test]
fn what_comes_with_baton_obeys_the_schemas() {
    for (name, text) in builtin::workflows() {
        check(&document("workflow"), "", &front_matter(text))
            .unwrap_or_else(|it| panic!("{name}: {it}"));
    }
    for (name, text) in builtin::agents() {
        check(&document("agent"), "", &front_matter(text))
            .unwrap_or_else(|it| panic!("{name}: {it}"));
    }
}

/// JSON is YAML, so a built-in with a key taken out can be printed as JSON and read again.
#[test]
fn a_key_is_required_by_the_schema_exactly_where_the_reader_misses_it() {
    let workflow = front_matter(builtin::workflows()[0].1);
    check_required("workflow", &workflow, |text| workflow_file::parse(text).err());
    let agent = front_matter(builtin::agents()[0].1);
    check_required("agent", &agent, |text| {
        agent_file::parse(&format!("---\n{text}\n---\nLong enough to be a prompt.\n")).err()
    });
}

fn check_required(
    name: &str,
    document_of: &Node,
    problems_of: impl Fn(&str) -> Option<Vec<crate::file_problem::FileProblem>>,
) {
    let schema = document(name);
    let required = words(schema.member("required"));
    for (key, _) in members(document_of) {
        let rest = members(document_of).iter().filter(|(it, _)| it != key).cloned().collect();
        let problems = problems_of(&json::print(&Node::Map(rest))).unwrap_or_default();
        let is_missed =
            problems.iter().any(|it| it.problem.rule == "missing" && it.problem.path == *key);
        assert_eq!(is_missed, required.contains(&key.as_str()), "{name} {key}: {problems:?}");
    }
}

#[test]
fn the_checker_below_can_refuse() {
    let schema = document("workflow");
    for bad in [
        "[]",
        r#"{"name":"x","start":"a"}"#,
        r#"{"name":"x","start":"a","steps":{"a":{"agent":"a","on":{"success":{"back":true}}}}}"#,
        r#"{"name":"x","start":"a","steps":{"a":{"agent":"a"}},"more":1}"#,
        r#"{"name":"x","start":"a","steps":{"a":{"agent":"a"}},"profile":"harsh"}"#,
        r#"{"name":"x","start":"a","steps":{"a":{"agent":"a","on":{"success":{"to":"a","gate":"red"}}}}}"#,
        r#"{"name":"x","start":"a","steps":{"a":{"agent":"a","delegates":[{"returns":"a"}]}}}"#,
    ] {
        assert!(check(&schema, "", &json::parse(bad).unwrap()).is_err(), "{bad}");
    }
}

/// As much of JSON Schema as the schemas above lean on: structure and words, not lengths.
fn check(schema: &Node, path: &str, node: &Node) -> Result<(), String> {
    check_against(schema, at(schema, path), node)
}

fn check_against(root: &Node, schema: &Node, node: &Node) -> Result<(), String> {
    if let Some(reference) = schema.member("$ref").and_then(Node::as_text) {
        check(root, &reference.trim_start_matches("#/").replace('/', "."), node)?;
    }
    let allowed = words(schema.member("enum"));
    if !allowed.is_empty() && !node.as_text().is_some_and(|it| allowed.contains(&it)) {
        return Err(format!("{node:?} is none of {allowed:?}"));
    }
    let types = match schema.member("type") {
        Some(Node::Text(one)) => vec![one.as_str()],
        several => words(several),
    };
    let is_number = node.kind() == NodeKind::Number && types.contains(&"number");
    if !types.is_empty() && !is_number && !types.contains(&type_name(node)) {
        return Err(format!("{node:?} is none of {types:?}"));
    }
    if let Some(choices) = schema.member("anyOf").and_then(Node::as_list)
        && !choices.iter().any(|it| check_against(root, it, node).is_ok())
    {
        return Err(format!("{node:?} fits nothing of anyOf"));
    }
    for key in words(schema.member("required")) {
        node.member(key).ok_or_else(|| format!("{key} is missing in {node:?}"))?;
    }
    for (key, value) in members(node) {
        let own = schema.member("properties").and_then(|it| it.member(key));
        match own.or(schema.member("additionalProperties")) {
            Some(Node::Bool(false)) => return Err(format!("{key} is too much")),
            Some(inner) => check_against(root, inner, value)?,
            None => {}
        }
    }
    for item in node.as_list().unwrap_or_default() {
        if let Some(items) = schema.member("items") {
            check_against(root, items, item)?;
        }
    }
    Ok(())
}

fn type_name(node: &Node) -> &'static str {
    match node.kind() {
        NodeKind::Null => "null",
        NodeKind::Bool => "boolean",
        NodeKind::Number if node.scalar_text().is_some_and(|it| it.parse::<i64>().is_ok()) => {
            "integer"
        }
        NodeKind::Number => "number",
        NodeKind::Text => "string",
        NodeKind::List => "array",
        NodeKind::Map => "object",
    }
}

#[test]
fn the_old_names_of_schemas_stay_valid() {
    for (old, new) in OLD_NAMES {
        assert_eq!(schema(old), schema(new), "{old}");
        assert!(schema(old).is_some(), "{old}");
    }
}
