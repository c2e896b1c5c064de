//! `--token`: the credential of a runner is in no message of the argument parser, and not for long in the list of
//! processes.

use std::ffi::OsString;
use std::fmt;

/// The variable with the credential of a runner.
pub(crate) const TOKEN_VARIABLE: &str = "BATON_RUNNER_TOKEN";

/// The value of the option that stands for [`TOKEN_VARIABLE`].
const OF_ENVIRONMENT: &str = "env";
const OPTION: &str = "--token";

/// A credential as it was typed, whatever it is: the parser repeats values that it refuses.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TypedToken(String);

impl TypedToken {
    /// The file to read it from.
    pub(crate) fn file(&self) -> Option<&str> {
        self.0.strip_prefix('@')
    }

    fn is_secret(&self) -> bool {
        self.file().is_none() && self.0 != OF_ENVIRONMENT
    }
}

impl fmt::Debug for TypedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedToken(..)")
    }
}

/// Takes any value: one that is refused here would be repeated in the message.
#[expect(clippy::unnecessary_wraps, reason = "the parser asks for a result")]
pub(super) fn typed_token(text: &str) -> Result<TypedToken, std::convert::Infallible> {
    Ok(TypedToken(text.trim().to_owned()))
}

/// The same arguments with the typed credential in the environment: every user of a machine can read the
/// arguments of a process, and only its owner the environment. `None` where none was typed.
pub(crate) fn token_moved_to_environment(
    args: &[OsString],
    typed: Option<&TypedToken>,
) -> Option<(Vec<OsString>, String)> {
    let token = typed.filter(|it| it.is_secret())?;
    let mut moved = args.to_vec();
    for at in 0..args.len() {
        let text = args[at].to_str().unwrap_or_default();
        if at > 0 && args[at - 1] == OPTION && text.trim() == token.0 {
            moved[at] = OF_ENVIRONMENT.into();
        } else if text.strip_prefix("--token=").is_some_and(|it| it.trim() == token.0) {
            moved[at] = format!("{OPTION}={OF_ENVIRONMENT}").into();
        }
    }
    (moved != args).then(|| (moved, token.0.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_credential_leaves_the_arguments() {
        let args = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let typed = typed_token("baton-runner.ab").unwrap();
        assert!(!format!("{typed:?}").contains("ab"));
        for (line, expected) in [
            ("runner --token baton-runner.ab --once", "runner --token env --once"),
            ("runner --token=baton-runner.ab", "runner --token=env"),
        ] {
            let moved = token_moved_to_environment(&args(line), Some(&typed));
            assert_eq!(moved, Some((args(expected), "baton-runner.ab".to_owned())));
        }
        for other in ["@runner.key", "env"] {
            let typed = typed_token(other).unwrap();
            let line = args(&format!("runner --token {other}"));
            assert_eq!(token_moved_to_environment(&line, Some(&typed)), None, "{other}");
        }
        assert_eq!(token_moved_to_environment(&args("runner --once"), None), None);
    }
}
