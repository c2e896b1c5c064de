use baton_core::workflow::{FanOut, JoinNeed};

use super::*;

/// With a fan-out from `plan` to `to`, which joins as `join` says.
fn fanned(to: &str, join: &str, more: &str) -> String {
    format!(
        "name: fanned
start: plan
steps:
  plan:
    agent: planner
    on: {{ success: {{ to: {to}{join} }} }}
  left:
    agent: lee
    on: {{ success: sum }}
  right:
    agent: ray
    on: {{ success: sum, failure: sum }}
  sum:
    agent: sue
    on: {{ success: complete, failure: {{ to: plan, back: true }} }}
{more}"
    )
}

fn fan_out_of(text: &str) -> FanOut {
    parse(text).unwrap().steps[0].edges[0].fan_out.clone().unwrap()
}

#[test]
fn a_list_of_steps_is_a_fan_out() {
    let fan_out = |need| FanOut {
        branches: vec![step_id("left"), step_id("right")],
        join: step_id("sum"),
        need,
    };
    let branches = "[left, right]";
    for (join, need) in [
        (", join: sum", JoinNeed::All),
        (", join: { at: sum }", JoinNeed::All),
        (", join: { at: sum, need: all }", JoinNeed::All),
        (", join: { at: sum, need: any }", JoinNeed::Any),
        (", join: { at: sum, need: 2 }", JoinNeed::AtLeast(2)),
    ] {
        assert_eq!(fan_out_of(&fanned(branches, join, "")), fan_out(need), "{join}");
    }
}

#[track_caller]
fn check_fan_out(to: &str, join: &str, more: &str, expected: &Expect) {
    check_bad(&fanned(to, join, more), expected);
}

#[test]
fn the_shape_of_a_fan_out_is_checked() {
    check_fan_out(
        "[left, right]",
        "",
        "",
        &expect![
            "line 6, column 26: steps.plan.on.success.to: goes to several steps at once; say where their work joins: `join: STEP` [fan_out_without_join]"
        ],
    );
    check_fan_out(
        "left",
        ", join: sum",
        "",
        &expect![
            "line 6, column 38: steps.plan.on.success.join: joins branches, and this edge goes to one step; write `to: [a, b]`, or leave `join` out [join_without_fan_out]"
        ],
    );
    check_fan_out(
        "[left]",
        ", join: sum",
        "",
        &expect![
            "line 6, column 26: steps.plan.on.success.to: goes to several steps at once; name two or more, or write one without `[ ]` [one_branch]"
        ],
    );
    check_fan_out(
        "[left, right]",
        ", join: { at: sum, need: 3 }",
        "",
        &expect![
            "line 6, column 64: steps.plan.on.success.join.need: needs 3 of 2 branches, which can never arrive; write at most 2, or `all` [join_needs_too_many]"
        ],
    );
    check_fan_out(
        "[left, right]",
        ", join: { at: sum, need: most }",
        "",
        &expect![
            "line 6, column 64: steps.plan.on.success.join.need: cannot be `most`; known: `all`, `any` [wrong_value]"
        ],
    );
    check_fan_out(
        "[left, left]",
        ", join: sum",
        "",
        &expect![
            "line 6, column 22: steps.plan.on.success.to: names `left` twice; each branch begins at its own step [twice]"
        ],
    );
    check_fan_out(
        "[left, sum]",
        ", join: sum",
        "",
        &expect![
            "line 6, column 45: steps.plan.on.success.join: `sum` is where the branches join; it cannot be one of them [join_in_branch]"
        ],
    );
    check_fan_out(
        "[left, right]",
        ", join: som",
        "",
        &expect![
            "line 6, column 47: steps.plan.on.success.join: there is no step `som`; known: plan, left, right, sum [no_such_step]"
        ],
    );
    check_fan_out(
        "[left, right]",
        ", join: sum, gate: advisory",
        "",
        &expect![
            "line 6, column 58: steps.plan.on.success.gate: an advisory gate stands beside one handoff, and a fan-out makes several; make it blocking, or move it into a branch [advisory_on_fan_out]"
        ],
    );
    let at_start = fanned("[left, right]", ", join: sum", "")
        .replace("start: plan", "start: { to: [left, right] }");
    check_bad(
        &at_start,
        &expect![
            "line 2, column 14: start.to: a run starts at one step; let that step fan out [fan_out_at_start]"
        ],
    );
}

#[test]
fn a_branch_stays_by_itself_until_it_joins() {
    let join = ", join: sum";
    // To the end, to the step that fans out, into the other branch, and round and round.
    for (on, expected) in [
        (
            "{ success: complete }",
            &expect![[r#"
                line 6, column 22: steps.plan.on.success.to: the branch that begins at `left` never comes to the join `sum`; give one of its steps an edge there [branch_never_joins]
                line 9, column 20: steps.left.on.success.to: leaves its branch, which would go on beside the others; send it to the join `sum`, and on from there [leaves_branch]"#]],
        ),
        (
            "{ success: sum, failure: plan }",
            &expect![
                "line 9, column 34: steps.left.on.failure.to: leaves its branch, which would go on beside the others; send it to the join `sum`, and on from there [leaves_branch]"
            ],
        ),
        (
            "{ success: sum, blocked: right }",
            &expect![
                "line 9, column 34: steps.left.on.blocked.to: leads into another branch; give each branch its own steps [branches_meet]"
            ],
        ),
        (
            "{ success: left }",
            &expect![
                "line 6, column 22: steps.plan.on.success.to: the branch that begins at `left` never comes to the join `sum`; give one of its steps an edge there [branch_never_joins]"
            ],
        ),
        (
            "{ success: { to: [right, sum], join: plan } }",
            &expect![
                "line 9, column 22: steps.left.on.success.to: `right` begins a branch of another fan-out too; either write the same branches, the same `join` and the same `need`, or give each its own steps [branch_shared]"
            ],
        ),
        (
            "{ success: { to: sum, gate: advisory } }",
            &expect![
                "line 9, column 37: steps.left.on.success.gate: at the join `sum` nothing goes on yet that a person could object to; make the gate blocking [advisory_on_fan_out]"
            ],
        ),
    ] {
        let text = fanned("[left, right]", join, "");
        let text = text.replacen("on: { success: sum }", &format!("on: {on}"), 1);
        check_bad(&text, expected);
    }
    // From outside into a branch.
    let entered = fanned("[left, right]", join, "").replace("to: plan, back: true", "to: left");
    check_bad(
        &entered,
        &expect![
            "line 6, column 22: steps.plan.on.success.to: `left` is also reached without this fan-out; a branch begins at a step of its own [enters_branch]"
        ],
    );
    // What a step rejects.
    let text =
        fanned("[left, right]", join, "").replace("agent: lee", "agent: lee\n    reject_to: sum");
    check_bad(
        &text,
        &expect![
            "line 9, column 16: steps.left.reject_to: `sum` is not in the branch of this step; a reject stays in its branch: leave it out, and the work goes back to its sender [leaves_branch]"
        ],
    );
}

#[test]
fn two_steps_may_fan_out_alike() {
    let again = "  fix:\n    agent: fin\n    on: { success: { to: [left, right], join: sum } }\n";
    let text = fanned("[left, right]", ", join: sum", again);
    let text = text.replace("failure: { to: plan, back: true }", "failure: fix");
    let workflow = parse(&text).unwrap();
    assert_eq!(workflow.fan_outs().len(), 1);
    let another = again.replace("join: sum", "join: { at: sum, need: any }");
    check_bad(
        &text.replace(again, &another),
        &expect![
            "line 18, column 22: steps.fix.on.success.to: `left` begins a branch of another fan-out too; either write the same branches, the same `join` and the same `need`, or give each its own steps [branch_shared]"
        ],
    );
}

#[test]
fn a_fan_out_in_a_branch_is_refused() {
    let more = "  deep:\n    agent: dan\n    on: { success: right2 }\n  deeper:\n    agent: dot\n    on: { success: right2 }\n  right2:\n    agent: rod\n    on: { success: sum }\n";
    let text = fanned("[left, right]", ", join: sum", more);
    let text = text.replace(
        "on: { success: sum, failure: sum }",
        "on: { success: { to: [deep, deeper], join: right2 } }",
    );
    let found: Vec<String> = parse(&text).unwrap_err().iter().map(ToString::to_string).collect();
    assert!(found.iter().any(|it| it.contains("a branch does not fan out again")), "{found:?}");
}
