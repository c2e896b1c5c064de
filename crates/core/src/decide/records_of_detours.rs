//! What is recorded where blocked work goes to an agent that resolves it, and back: a table, as in
//! `records.rs`.

use expect_test::expect_file;

use super::cycle_scenarios::begun;
use super::detour_scenarios::{at_work, blocked, reroute, resolution, routed};
use super::fixture::*;
use super::records::{Case, finish, table};
use crate::outcome::Outcome;

#[test]
fn every_stretch_of_a_detour_and_what_it_records() {
    let mut cases = sent();
    cases.extend(came_back());
    cases.extend(moved());
    expect_file!["tables/records_of_detours.txt"].assert_eq(&table(cases));
}

/// As [`at_work`], after another holder of the same work had died.
fn at_work_after_a_lost_lease() -> Tester {
    let mut tester = begun(routed(), "analyst");
    tester.hands("analyst", "implementer", plan());
    tester.does(&accept_with(2, 20));
    tester.does(&lose(2, 1));
    tester.wait(1);
    tester.accepts(3);
    tester
}

/// The resolver holds `HO-003`.
fn resolving() -> Tester {
    let mut tester = at_work();
    tester.completes(2, Outcome::Blocked, blocked("security_concern"));
    tester.accepts(3);
    tester
}

/// The resolver holds `HO-004`.
fn resolving_after_a_lost_lease() -> Tester {
    let mut tester = at_work_after_a_lost_lease();
    tester.completes(3, Outcome::Blocked, blocked("security_concern"));
    tester.accepts(4);
    tester
}

fn sent() -> Vec<Case> {
    let stuck = || blocked("security_concern");
    vec![
        ("what blocks goes to the resolver", at_work(), complete(2, Outcome::Blocked, stuck())),
        (
            "what blocks goes to the resolver with a reason",
            at_work(),
            finish(2, Outcome::Blocked, stuck(), "I may not decide this"),
        ),
        (
            "what blocks goes to the resolver after a lost lease",
            at_work_after_a_lost_lease(),
            complete(3, Outcome::Blocked, stuck()),
        ),
    ]
}

fn came_back() -> Vec<Case> {
    let unclear = || plan();
    vec![
        ("the resolver resolves it", resolving(), complete(3, Outcome::Success, resolution())),
        (
            "the resolver resolves it and says how",
            resolving(),
            finish(3, Outcome::Success, unclear(), "a cookie is fine"),
        ),
        (
            "the resolver resolves it without a word",
            resolving(),
            complete(3, Outcome::Success, unclear()),
        ),
        (
            "the resolver resolves it after a lost lease of the blocked agent",
            resolving_after_a_lost_lease(),
            complete(4, Outcome::Success, resolution()),
        ),
        (
            "the resolver does not resolve it",
            resolving(),
            finish(3, Outcome::Failure, unclear(), "it is a matter of law"),
        ),
        ("the resolver rejects it", resolving(), reject(3, "not my domain")),
    ]
}

fn moved() -> Vec<Case> {
    vec![
        ("the operator sends it to another agent", resolving(), reroute("architecture")),
        ("the operator sends it to a person", resolving(), reroute("human")),
        ("the resolver is timed out", resolving(), time_out(3)),
    ]
}
