//! Packages of Debian and Ubuntu, which are of the whole system.
#![expect(clippy::disallowed_methods, reason = "xtask runs programs; it starts no agents")]

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Installs packages, where the user may; otherwise says what is missing.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let names = packages.join("` and `");
    let install = ["install", "--yes", "--no-install-recommends"];
    for args in [&["update"][..], &[&install[..], packages].concat()] {
        let status = Command::new("apt-get")
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::null())
            .status()
            .with_context(|| format!("there is no `apt-get` to install `{names}` with"))?;
        let args = args.join(" ");
        ensure!(status.success(), "`apt-get {args}` ended with {status}; install `{names}`");
    }
    Ok(())
}

/// Whether this process may install packages without being asked: as root, or on a machine for tests.
pub(crate) fn may_install() -> bool {
    std::env::var_os("CI").is_some() || is_root()
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}
