//! `cargo xtask crash [N]`: the long form of the crash tests, of the engine and of the server;
//! `cargo xtask crash --damage N`: the same for damaged files. The short ones are among the tests, and
//! `BATON_CRASH_KILLS` says how short the engine's is.

use anyhow::{Context, Result, bail};

use crate::cargo;

const DEFAULT_KILLS: u32 = 1000;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    Kills(u32),
    Damage(u32),
}

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let (n, kinds): (u32, &[&str]) = match asked(args)? {
        Asked::Kills(n) => (n, &["engine", "server"]),
        Asked::Damage(n) => {
            // The program is let loose on the damaged files.
            cargo::run(&["build", "--release", "--package", "baton-cli"], &[])?;
            (n, &["damage"])
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
        [n] => Ok(Asked::Kills(number(n)?)),
        _ => bail!("`cargo xtask crash` takes `N` or `--damage N`, not `{}`", args.join(" ")),
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
        assert_eq!(asked(&["many"]).unwrap_err().to_string(), "`many` is not a number");
        assert!(asked(&["1", "2"]).is_err());
    }
}
