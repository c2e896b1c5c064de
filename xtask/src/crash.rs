//! `cargo xtask crash [N]`: the long form of the crash tests, of the engine and of the server;
//! `cargo xtask crash --damage N`: the same for damaged files; `cargo xtask crash --nodes SECONDS`: several
//! nodes on one PostgreSQL. The short ones are among the tests, and
//! `BATON_CRASH_KILLS` says how short the engine's is.

use anyhow::{Context, Result, bail};

use crate::{cargo, postgres};

const DEFAULT_KILLS: u32 = 1000;
const DEFAULT_SECONDS: u32 = 120;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    Kills(u32),
    Damage(u32),
    /// For so many seconds.
    Nodes(u32),
}

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let asked = asked(args)?;
    if matches!(asked, Asked::Damage(_) | Asked::Nodes(_)) {
        // The program itself is let loose on the damaged files, or is what runs on each node.
        cargo::run(&["build", "--release", "--package", "baton-cli"], &[])?;
    }
    let (n, kinds): (u32, &[&str]) = match asked {
        Asked::Kills(n) => (n, &["engine", "server"]),
        Asked::Damage(n) => (n, &["damage"]),
        Asked::Nodes(seconds) => {
            postgres::ensure_installed()?;
            let seconds = seconds.to_string();
            let load = ["run", "--release", "--package", "baton-load", "--", "nodes", "--seconds"];
            return cargo::run(&[&load[..], &[&seconds]].concat(), &[]);
        }
    };
    let n = n.to_string();
    for what in kinds {
        let load = ["run", "--release", "--package", "baton-load", "--", "crash", "--kills", &n];
        cargo::run(&[&load[..], &["--what", what]].concat(), &[])?;
    }
    Ok(())
}

fn asked(args: &[&str]) -> Result<Asked> {
    let number = |n: &str| n.parse().with_context(|| format!("`{n}` is not a number"));
    match args {
        [] => Ok(Asked::Kills(DEFAULT_KILLS)),
        ["--damage"] => Ok(Asked::Damage(DEFAULT_KILLS)),
        ["--damage", n] => Ok(Asked::Damage(number(n)?)),
        ["--nodes"] => Ok(Asked::Nodes(DEFAULT_SECONDS)),
        ["--nodes", n] => Ok(Asked::Nodes(number(n)?)),
        [n] => Ok(Asked::Kills(number(n)?)),
        _ => {
            let args = args.join(" ");
            bail!("`cargo xtask crash` takes `N`, `--damage N` or `--nodes SECONDS`, not `{args}`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_or_damages_are_one_number_or_the_default() {
        assert_eq!(asked(&[]).unwrap(), Asked::Kills(1000));
        assert_eq!(asked(&["25"]).unwrap(), Asked::Kills(25));
        assert_eq!(asked(&["--damage"]).unwrap(), Asked::Damage(1000));
        assert_eq!(asked(&["--damage", "25"]).unwrap(), Asked::Damage(25));
        assert_eq!(asked(&["--nodes"]).unwrap(), Asked::Nodes(120));
        assert_eq!(asked(&["--nodes", "25"]).unwrap(), Asked::Nodes(25));
        assert_eq!(asked(&["many"]).unwrap_err().to_string(), "`many` is not a number");
        assert!(asked(&["1", "2"]).is_err());
    }
}
