//! Kill -9 at any moment loses nothing and does nothing twice.
#![expect(clippy::disallowed_methods, reason = "the victim is a process of our own")]

use std::process::Command;

/// Enough to find what is wrong; `cargo xtask crash 5000` looks longer.
const KILLS: &str = "100";

#[test]
fn a_killed_baton_has_everything_that_it_acknowledged_exactly_once() {
    let kills = std::env::var("BATON_CRASH_KILLS").unwrap_or_else(|_| KILLS.to_owned());
    let output = Command::new(env!("CARGO_BIN_EXE_baton-load"))
        .args(["crash", "--kills", &kills])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains(&format!("{kills} kills: ")), "{said}");
    assert!(said.contains(" 0 lost, 0 twice"), "{said}");
}
