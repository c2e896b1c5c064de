//! Asks git about the checkout.
#![expect(clippy::disallowed_methods, reason = "xtask runs git; it starts no agents")]

use std::process::Command;

use crate::project_root;

/// Runs git in the checkout. CI often checks out as another user, whom git would not trust.
pub(crate) fn git(args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(["-c", "safe.directory=*"]).args(args).current_dir(project_root());
    command
}

/// What git prints for `args`; none where it fails, as in an unpacked archive.
pub(crate) fn read(args: &[&str]) -> Option<String> {
    let output = git(args).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok())?
}

/// Which files differ from the last commit, and which git does not know.
pub(crate) fn status() -> Option<String> {
    read(&["status", "--porcelain", "--untracked-files=all"])
}
