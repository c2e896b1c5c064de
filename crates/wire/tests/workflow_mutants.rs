//! The published schema of workflow files and the check of Baton agree: every built-in workflow, each
//! of its values dropped, doubled, renamed or made something else.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::collections::BTreeSet;

use baton_core::document::Node;
use baton_wire::formats::{self, Format};
use baton_wire::{builtin, json, schema, workflow_file};
use jsonschema::Validator;

/// What no schema can know: whether a name refers to something in the file or is said twice, whether a
/// span of time can be read, and what follows from the whole of the workflow.
const BEYOND_A_SCHEMA: [&str; 8] = [
    "misnamed",
    "no_end",
    "no_success",
    "no_such_contract",
    "no_such_step",
    "twice",
    "unreachable",
    "wrong_duration",
];

/// Of more than ten thousand mutants, every so many; a number that no list of values repeats by.
const EVERY: usize = 11;

#[derive(Clone)]
enum Step {
    Key(usize),
    Item(usize),
}

/// Every place below a node, by the steps that lead to it.
fn places(node: &Node, here: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    let mut visit = |step: Step, child: &Node, here: &mut Vec<Step>| {
        here.push(step);
        found.push(here.clone());
        places(child, here, found);
        here.pop();
    };
    match node {
        Node::Map(members) => {
            for (index, (_, child)) in members.iter().enumerate() {
                visit(Step::Key(index), child, here);
            }
        }
        Node::List(items) => {
            for (index, child) in items.iter().enumerate() {
                visit(Step::Item(index), child, here);
            }
        }
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => {}
    }
}

fn parent_of<'a>(root: &'a mut Node, place: &[Step]) -> &'a mut Node {
    let mut node = root;
    for step in &place[..place.len() - 1] {
        node = match (node, step) {
            (Node::Map(members), Step::Key(index)) => &mut members[*index].1,
            (Node::List(items), Step::Item(index)) => &mut items[*index],
            (_, Step::Key(_) | Step::Item(_)) => unreachable!("the place is of this tree"),
        };
    }
    node
}

/// The values that another one is made into.
fn others(old: &Node) -> Vec<Node> {
    let number = |it: &str| json::parse(it).unwrap();
    let mut others: Vec<Node> = ["12345", "0", "-1", "1.5", "true", "false", "null", "[]", "{}"]
        .into_iter()
        .map(number)
        .collect();
    others.extend([Node::text(""), Node::text("Not A Name"), Node::text("other-name")]);
    others.push(Node::List(vec![old.clone()]));
    others.push(Node::map([("x", old.clone())]));
    others
}

/// Everything that one place of a workflow is changed into, each with what was done.
fn mutants_at(workflow: &Node, place: &[Step]) -> Vec<(String, Node)> {
    let mut mutants = Vec::new();
    let mut change = |what: String, change: &dyn Fn(&mut Node)| {
        let mut mutant = workflow.clone();
        change(parent_of(&mut mutant, place));
        mutants.push((what, mutant));
    };
    match place.last() {
        Some(Step::Key(index)) => {
            let index = *index;
            let members = |parent: &mut Node| match parent {
                Node::Map(members) => std::mem::take(members),
                _ => unreachable!("a key is in a map"),
            };
            change("dropped".to_owned(), &|parent| {
                let mut left = members(parent);
                left.remove(index);
                *parent = Node::Map(left);
            });
            change("renamed".to_owned(), &|parent| {
                let mut left = members(parent);
                left[index].0.push('x');
                *parent = Node::Map(left);
            });
            change("doubled".to_owned(), &|parent| {
                let mut left = members(parent);
                let (key, value) = left[index].clone();
                left.push((format!("{key}2"), value));
                *parent = Node::Map(left);
            });
        }
        Some(Step::Item(index)) => {
            let index = *index;
            change("dropped".to_owned(), &|parent| {
                if let Node::List(items) = parent {
                    items.remove(index);
                }
            });
            change("doubled".to_owned(), &|parent| {
                if let Node::List(items) = parent {
                    items.push(items[index].clone());
                }
            });
        }
        None => {}
    }
    let mut whole = workflow.clone();
    let old = match (parent_of(&mut whole, place), place.last()) {
        (Node::Map(members), Some(Step::Key(index))) => members[*index].1.clone(),
        (Node::List(items), Some(Step::Item(index))) => items[*index].clone(),
        _ => return mutants,
    };
    for other in others(&old) {
        let mut mutant = workflow.clone();
        match (parent_of(&mut mutant, place), place.last()) {
            (Node::Map(members), Some(Step::Key(index))) => members[*index].1 = other.clone(),
            (Node::List(items), Some(Step::Item(index))) => items[*index] = other.clone(),
            _ => unreachable!("the place is of this tree"),
        }
        mutants.push((format!("is {}", json::print(&other)), mutant));
    }
    mutants
}

fn path_of(workflow: &Node, place: &[Step]) -> String {
    let mut node = workflow;
    let mut path = String::new();
    for step in place {
        match (node, step) {
            (Node::Map(members), Step::Key(index)) => {
                let (key, child) = &members[*index];
                path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                node = child;
            }
            (Node::List(items), Step::Item(index)) => {
                path = format!("{path}[{index}]");
                node = &items[*index];
            }
            (_, Step::Key(_) | Step::Item(_)) => unreachable!("the place is of this tree"),
        }
    }
    path
}

fn validator() -> Validator {
    let text = schema::schema("workflow").unwrap();
    jsonschema::draft202012::new(&serde_json::from_str(text).unwrap()).unwrap()
}

/// A workflow with everything that the built-in ones leave out.
const FULL: &str = "\
name: full
title: Full
description: Everything there is.
profile: strict
limits: { rounds: 2, retries: 1, questions: 2, stale_after: 10m, expire_after: 1h, on_expire: ask }
start: { to: make, contract: given, profile: lenient, rounds: 2, min_score: 10 }
steps:
  make:
    agents: [maker, helper]
    title: Make
    phase: making
    reason: It is made here
    optional: true
    work_within: 20m
    expire_after: 2h
    on_expire: return
    reject: never
    delegates: [expert, { agent: lawyer, contract: given, returns: given }]
    entries: 3
    delegations: 2
    blocks: 1
    on:
      success:
        to: look
        contract: given
        profile: strict
        rounds: 2
        min_score: 50
        gate: { type: automatic, name: Checks, items: [Look], checks: [lint], options: { approve: Go on } }
      failure: look
      skipped: [look]
  look:
    agent: looker
    reject_to: make
    on:
      success: { to: complete, gate: blocking }
      failure: { to: make, back: true }
escalation: given
contracts:
  given:
    must:
      - { field: summary, about: what was made }
      - { any: [plan, notes], about: the plan, type: text }
      - { field: list, about: a list, at_least: 1 }
      - { field: items, about: counted, counted_by: n_items, only: { field: kind, is: bad } }
    should:
      - { field: word, about: a word, one_of: [a, b], when: { field: other, is: x } }
      - { field: number, about: a number, at_most: 3, when: [{ any: [p, q], there: true }] }
      - { field: gone, about: nothing, absent: true, when: { field: other, is_not: [x, y] } }
      - { field: same, about: the same, same_as: other }
      - { field: none, about: none of these, none_of: [x] }
";

#[test]
fn the_schema_and_the_check_agree_on_every_mutant_of_the_built_in_workflows() {
    let validator = validator();
    let workflows = builtin::workflows().iter().copied().chain([("full", FULL)]);
    let (mut n_mutants, mut n_bad, mut differences) = (0, 0, Vec::new());
    let mut beyond: BTreeSet<String> = BTreeSet::new();
    for (name, text) in workflows {
        let workflow = formats::decode(Format::Yaml, text).unwrap();
        let (mut here, mut found) = (Vec::new(), Vec::new());
        places(&workflow, &mut here, &mut found);
        let mutants = found.iter().flat_map(|place| {
            let path = path_of(&workflow, place);
            mutants_at(&workflow, place)
                .into_iter()
                .map(move |(what, mutant)| (format!("{name}: {path} {what}"), mutant))
        });
        let whole = [(format!("{name} itself"), workflow.clone())];
        for (what, mutant) in mutants.step_by(EVERY).chain(whole) {
            n_mutants += 1;
            let value: serde_json::Value = serde_json::from_str(&json::print(&mutant)).unwrap();
            let is_valid = validator.is_valid(&value);
            let text = formats::encode(&mutant, Format::Yaml);
            match (is_valid, workflow_file::parse_file(name, &text)) {
                (true, Ok(_)) => {}
                (false, Err(_)) => n_bad += 1,
                (false, Ok(_)) => differences.push(format!("{what}: only the schema refuses it")),
                (true, Err(problems)) => {
                    let rules: Vec<&str> =
                        problems.iter().map(|it| it.problem.rule.as_str()).collect();
                    beyond.extend(rules.iter().map(|it| (*it).to_owned()));
                    if rules.iter().any(|it| !BEYOND_A_SCHEMA.contains(it)) {
                        differences.push(format!("{what}: only Baton refuses it: {rules:?}"));
                    }
                }
            }
        }
    }
    println!("{n_mutants} mutants, {n_bad} refused by both; beyond a schema: {beyond:?}");
    let n_differences = differences.len();
    let first: Vec<String> = differences.into_iter().take(60).collect();
    assert_eq!(n_differences, 0, "{first:#?}");
    assert!(n_mutants >= 900 && n_bad >= 300, "{n_mutants} {n_bad}");
}
