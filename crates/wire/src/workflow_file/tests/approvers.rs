//! What is wrong with approvers and raised gates, with its line.

use expect_test::expect;

use super::{check_bad, parse};

fn gated(gate: &str) -> String {
    format!(
        "name: w\nstart: build\nsteps:\n  build:\n    agent: builder\n    on:\n      success:\n        to: ship\n{gate}  ship: {{ agent: shipper, on: {{ success: complete }} }}\n"
    )
}

#[test]
fn too_few_none_and_the_same_approvers_are_found() {
    check_bad(
        &gated("        gate: { type: blocking, approvers: { need: 3, of: [ana, ben] } }\n"),
        &expect![
            "line 9, column 52: steps.build.on.success.gate.approvers.need: asks for 3 approvals, and `of` names 2 people; name more people, or ask for fewer [too_few_approvers]"
        ],
    );
    check_bad(
        &gated("        gate: { type: blocking, approvers: { need: 0, of: [] } }\n"),
        &expect![[r#"
            line 9, column 52: steps.build.on.success.gate.approvers.need: must be a whole number from 1 to 20 [wrong_number]
            line 9, column 59: steps.build.on.success.gate.approvers.of: names nobody; name the people who may approve, or leave `of` out: then any person may [no_approvers]"#]],
    );
    check_bad(
        &gated(
            "        gate:\n          type: blocking\n          approvers:\n            of:\n              - ana\n              - Ana\n              - builder\n              - \u{430}na\n",
        ),
        &expect![[r#"
            line 14, column 17: steps.build.on.success.gate.approvers.of[1]: `Ana` and `ana` are one person; name each once [twice]
            line 15, column 17: steps.build.on.success.gate.approvers.of[2]: `builder` is an agent, and only a person approves [agent_approves]
            line 16, column 17: steps.build.on.success.gate.approvers.of[3]: `аna` and `ana` are one person; name each once [twice]"#]],
    );
    check_bad(
        &gated("        gate: { type: blocking, approvers: { of: [], ned: 2 } }\n"),
        &expect![[r#"
            line 9, column 50: steps.build.on.success.gate.approvers.of: names nobody; name the people who may approve, or leave `of` out: then any person may [no_approvers]
            line 9, column 54: steps.build.on.success.gate.approvers.ned: is not a key here; did you mean `need`? [unknown_key]"#]],
    );
    check_bad(
        &gated(
            "        gate: { type: blocking, approvers: { need: 2, of: 'baton:sweeper' }, remind_after: soon }\n",
        ),
        &expect![[r#"
            line 9, column 59: steps.build.on.success.gate.approvers.of: is text, not a list [wrong_type]
            line 9, column 92: steps.build.on.success.gate.remind_after: must be a time span of at most a year, such as `30m`, `2h` or `90s` [wrong_duration]"#]],
    );
}

#[test]
fn approvers_of_a_gate_that_never_stops_are_found() {
    let advisory = "        gate: { type: advisory, approvers: { need: 2 } }\n";
    check_bad(
        &gated(advisory),
        &expect![
            "line 9, column 33: steps.build.on.success.gate.approvers: an advisory gate needs no approvals: nothing waits for it; make it blocking, or say with `raise` beside `gate` when it is [useless_approvers]"
        ],
    );
    let raised = format!("{advisory}        raise: {{ cost: 500 }}\n");
    assert!(parse(&gated(&raised)).is_ok());
}

#[test]
fn an_unknown_rule_and_an_unreadable_limit_are_found() {
    check_bad(
        &gated(
            "        raise:\n          costs: 500\n          days: many\n          risk: []\n          security: perhaps\n          migration: { path: db }\n",
        ),
        &expect![[r#"
            line 10, column 11: steps.build.on.success.raise.costs: is not a key here; did you mean `cost`? [unknown_key]
            line 11, column 17: steps.build.on.success.raise.days: must be a number, such as 0.7 [not_a_number]
            line 12, column 17: steps.build.on.success.raise.risk: names no level of risk, such as `high` [no_level]
            line 13, column 21: steps.build.on.success.raise.security: is text, not `true` or `false` [wrong_type]
            line 14, column 24: steps.build.on.success.raise.migration.path: is not a key here; known: `field` [unknown_key]"#]],
    );
}
