//! `cargo xtask crash [N]`: the long form of the crash tests, of the engine and of the server. The
//! short ones are among the tests, and `BATON_CRASH_KILLS` says how short the engine's is.

use anyhow::{Context, Result, bail};

use crate::cargo;

const DEFAULT_KILLS: u32 = 1000;

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let kills = kills(args)?.to_string();
    let load = ["run", "--release", "--package", "baton-load", "--", "crash", "--kills", &kills];
    for what in ["engine", "server"] {
        let mut load = load.to_vec();
        load.extend(["--what", what]);
        cargo::run(&load, &[])?;
    }
    Ok(())
}

fn kills(args: &[&str]) -> Result<u32> {
    match args {
        [] => Ok(DEFAULT_KILLS),
        [n] => n.parse().with_context(|| format!("`{n}` is not a number of kills")),
        _ => bail!("`cargo xtask crash` takes one number, not `{}`", args.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_one_number_or_the_default() {
        assert_eq!(kills(&[]).unwrap(), 1000);
        assert_eq!(kills(&["25"]).unwrap(), 25);
        assert_eq!(kills(&["many"]).unwrap_err().to_string(), "`many` is not a number of kills");
        assert!(kills(&["1", "2"]).is_err());
    }
}
