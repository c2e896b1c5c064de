//! Several nodes on one PostgreSQL keep every promise while everything around them fails.
#![expect(clippy::disallowed_methods, reason = "the nodes are processes of our own")]

use std::process::Command;

/// Enough for each fault once; `cargo xtask crash --nodes 600` looks longer.
const SECONDS: &str = "20";

#[test]
fn three_nodes_lose_nothing_do_nothing_twice_and_tell_everything_in_order() {
    let output = Command::new(env!("CARGO_BIN_EXE_baton-load"))
        .args(["nodes", "--seconds", SECONDS])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains("0 lost, 0 twice, 0 out of order"), "{said}");
}
