//! Kill -9 at any moment loses nothing and does nothing twice.
#![expect(clippy::disallowed_methods, reason = "the victim is a process of our own")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::process::Command;

/// Enough to find what is wrong; `cargo xtask crash 5000` looks longer.
const KILLS: &str = "100";
/// A server takes longer to come back than an engine.
const SERVER_KILLS: &str = "20";
/// In how many ways files are damaged; `cargo xtask crash --damage 5000` finds more.
const DAMAGES: &str = "100";

#[test]
fn a_killed_baton_has_everything_that_it_acknowledged_exactly_once() {
    let kills = std::env::var("BATON_CRASH_KILLS").unwrap_or_else(|_| KILLS.to_owned());
    survives("engine", &kills);
}

#[test]
fn whoever_talked_to_a_killed_server_goes_on_with_the_next_one() {
    survives("server", SERVER_KILLS);
}

#[test]
fn damage_is_never_made_worse_never_silent_and_undone_as_far_as_the_bytes_prove() {
    let said = crash("damage", DAMAGES);
    assert!(said.contains(&format!("{DAMAGES} damages after ")), "{said}");
    assert!(said.contains(" 0 lost silently, 0 made worse"), "{said}");
}

#[track_caller]
fn survives(what: &str, kills: &str) {
    let said = crash(what, kills);
    assert!(said.contains(&format!("{kills} kills: ")), "{said}");
    assert!(said.contains(" 0 lost, 0 twice"), "{said}");
}

/// What the program said of so many tries, which it got through.
#[track_caller]
fn crash(what: &str, kills: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_baton-load"))
        .args(["crash", "--what", what, "--kills", kills])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    said
}
