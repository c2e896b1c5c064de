//! What a file may say about gates, delegates, questions and how long a handoff waits.

use super::*;

#[test]
fn a_gate_is_named_after_its_edge_and_has_every_word_that_people_use() {
    for (word, kind) in [
        ("blocking", GateKind::Blocking),
        ("advisory", GateKind::Advisory),
        ("informative", GateKind::Advisory),
    ] {
        let edge = format!("success: [complete, {{ to: work, gate: {word} }}]");
        let workflow = parse(&SMALL.replace("success: complete", &edge)).unwrap();
        assert_eq!(workflow.steps[0].edges[1].gate, Some(gate(kind, "Work → work")));
    }
    for (word, kind) in gates::KINDS {
        assert_eq!(GateKind::parse(word), Some(*kind), "{word}");
    }
}

#[test]
fn bad_gates_delegates_and_spans_are_told_all_at_once() {
    check_bad(
        "\
name: x
limits: { questions: -1, on_expire: ask, expire_aftr: 2h }
escalation: [a, b]
start: { to: work, gate: blocking }
steps:
  work:
    agent: a
    expire_after: soon
    on_expire: retry
    delegates:
      - B
      - { contract: c, retruns: d }
      - [c]
      - e
      - agent: e
    on:
      success:
        - { to: complete, gate: red }
        - { to: work, gate: { name: '', items: x, options: { aprove: y, reject: '' } } }
        - to: work
          gate: { type: auto, checks: [Lint, types, types], items: [{ a: b }] }
        - { to: work, gate: [blocking] }
        - { gate: { type: automatic, checks: lint } }
  more:
    agent: b
    delegates: c
    on_expire: loose
    on: { success: complete }
",
        &expect![[r#"
            line 2, column 22: limits.questions: must be a whole number from 0 to 100 [wrong_number]
            line 2, column 37: limits.on_expire: needs `expire_after` beside it [useless_on_expire]
            line 2, column 42: limits.expire_aftr: is not a key here; did you mean `expire_after`? [unknown_key]
            line 3, column 13: escalation: is a list, not text [wrong_type]
            line 4, column 20: start.gate: is not a key here; known: `to`, `contract`, `profile`, `rounds`, `min_score` [unknown_key]
            line 8, column 19: steps.work.expire_after: must be a time span of at most a year, such as `30m`, `2h` or `90s` [wrong_duration]
            line 9, column 16: steps.work.on_expire: cannot be `retry`; did you mean `return`? [wrong_value]
            line 11, column 9: steps.work.delegates[0]: `B` is not an agent id: use 1 to 64 lower-case letters and digits, joined by `-` [bad_name]
            line 12, column 9: steps.work.delegates[1].agent: is missing [missing]
            line 12, column 24: steps.work.delegates[1].retruns: is not a key here; did you mean `returns`? [unknown_key]
            line 13, column 9: steps.work.delegates[2]: is a list, not a map [wrong_type]
            line 15, column 9: steps.work.delegates[4]: says `e` twice [twice]
            line 18, column 33: steps.work.on.success[0].gate: cannot be `red`; known: `blocking`, `advisory`, `informative`, `automatic`, `auto` [wrong_value]
            line 19, column 29: steps.work.on.success[1].gate.type: is missing [missing]
            line 19, column 37: steps.work.on.success[1].gate.name: is blank [blank]
            line 19, column 48: steps.work.on.success[1].gate.items: is text, not a list [wrong_type]
            line 19, column 62: steps.work.on.success[1].gate.options.aprove: is not a key here; did you mean `approve`? [unknown_key]
            line 19, column 81: steps.work.on.success[1].gate.options.reject: is blank [blank]
            line 20, column 11: steps.work.on.success[2]: says the same edge twice [twice]
            line 21, column 40: steps.work.on.success[2].gate.checks[0]: `Lint` is not the name of a check: use 1 to 64 lower-case letters and digits, joined by `-` [bad_name]
            line 21, column 53: steps.work.on.success[2].gate.checks[2]: says `types` twice [twice]
            line 21, column 69: steps.work.on.success[2].gate.items[0]: is a map, not text [wrong_type]
            line 22, column 11: steps.work.on.success[3]: says the same edge twice [twice]
            line 22, column 29: steps.work.on.success[3].gate: is a list, not a map [wrong_type]
            line 23, column 11: steps.work.on.success[4].to: is missing [missing]
            line 23, column 46: steps.work.on.success[4].gate.checks: is text, not a list [wrong_type]
            line 26, column 16: steps.more.delegates: is text, not a list [wrong_type]
            line 27, column 16: steps.more.on_expire: needs `expire_after` beside it [useless_on_expire]"#]],
    );
}

#[test]
fn gates_and_delegates_that_cannot_work_are_told_so_where_they_stand() {
    check_bad(
        "\
name: x
escalation: nothing
start: work
steps:
  work:
    agent: a
    delegates:
      - human
      - { agent: b, contract: in }
      - agent: c
        contract: in
        returns: out
    on:
      success:
        - to: check
          gate: automatic
        - to: complete
          contract: out
          gate:
            type: advisory
            options:
              approve: Yes
              question: Why?
            checks: [lint]
      failure:
        - to: nowhere
          gate: blocking
  check:
    agent: b
    on:
      success: { to: complete, gate: { type: automatic, checks: [] } }
      failure: { to: work, back: true, gate: blocking }
      blocked:
        to: work
        back: true
        gate: { type: blocking, checks: [lint] }
contracts:
  in: {}
",
        &expect![[r#"
            line 2, column 13: escalation: there is no contract `nothing`; known: in, and no built-in one is called so [no_such_contract]
            line 8, column 9: steps.work.delegates[0]: `human` is reserved and cannot be a delegate [reserved_agent]
            line 12, column 18: steps.work.delegates[2].returns: there is no contract `out`; known: in, and no built-in one is called so [no_such_contract]
            line 16, column 17: steps.work.on.success[0].gate.checks: an automatic gate needs checks that could pass [no_checks]
            line 18, column 21: steps.work.on.success[1].contract: there is no contract `out`; known: in, and no built-in one is called so [no_such_contract]
            line 19, column 11: steps.work.on.success[1].gate: an advisory gate at the end would be over at once: nothing goes on after it [advisory_at_end]
            line 23, column 25: steps.work.on.success[1].gate.options.question: an advisory gate takes `approve` and `reject` only: nothing waits for it [useless_option]
            line 24, column 13: steps.work.on.success[1].gate.checks: only an automatic gate has checks [useless_checks]
            line 26, column 15: steps.work.on.failure.to: there is no step `nowhere`; known: work, check; `complete` is the end of the run [no_such_step]
            line 31, column 57: steps.check.on.success.gate.checks: an automatic gate needs checks that could pass [no_checks]
            line 32, column 46: steps.check.on.failure.gate: a way back has no gate: a person is asked when it is taken too often [gate_on_back]
            line 36, column 9: steps.check.on.blocked.gate: a way back has no gate: a person is asked when it is taken too often [gate_on_back]
            line 36, column 33: steps.check.on.blocked.gate.checks: only an automatic gate has checks [useless_checks]"#]],
    );
}

#[test]
fn a_gate_has_fifty_items_and_sixty_four_checks_and_a_step_a_hundred_delegates_and_no_more() {
    let list = |n: usize| (0..n).map(|it| format!("c{it}")).collect::<Vec<_>>().join(", ");
    let gate = |n_items, n_checks| {
        let gate = format!(
            "success: {{ to: complete, gate: {{ type: auto, items: [{}], checks: [{}] }} }}",
            list(n_items),
            list(n_checks)
        );
        SMALL.replace("success: complete", &gate)
    };
    let delegates = |n| SMALL.replace("    on:", &format!("    delegates: [{}]\n    on:", list(n)));
    for (good, bad) in
        [(gate(50, 1), gate(51, 1)), (gate(0, 64), gate(0, 65)), (delegates(100), delegates(101))]
    {
        assert!(parse(&good).is_ok(), "{good}");
        assert_eq!(parse(&bad).unwrap_err()[0].problem.rule, "too_many", "{bad}");
    }
}
