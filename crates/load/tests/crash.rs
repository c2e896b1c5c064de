//! Kill -9 at any moment loses nothing and does nothing twice.
#![expect(clippy::disallowed_methods, reason = "the victim is a process of our own")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::process::Command;

/// Enough to find what is wrong; `cargo xtask crash 5000` looks longer.
const KILLS: &str = "100";
/// A server takes longer to come back than an engine.
const SERVER_KILLS: &str = "20";

#[test]
fn a_killed_baton_has_everything_that_it_acknowledged_exactly_once() {
    let kills = std::env::var("BATON_CRASH_KILLS").unwrap_or_else(|_| KILLS.to_owned());
    survives("engine", &kills);
}

#[test]
fn whoever_talked_to_a_killed_server_goes_on_with_the_next_one() {
    survives("server", SERVER_KILLS);
}

#[track_caller]
fn survives(what: &str, kills: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_baton-load"))
        .args(["crash", "--what", what, "--kills", kills])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains(&format!("{kills} kills: ")), "{said}");
    assert!(said.contains(" 0 lost, 0 twice"), "{said}");
}
