//! The programs that a repository's own configuration names, and how each is switched off. The configuration may have
//! come in an archive, or be an agent's. Programs of the user's own configuration run, and `git lfs` does.

use super::{GitError, GitFolder, MOST_TIME, ended};
use crate::process::run_to_end;

/// The commands that `git lfs install` writes; a shell runs them, so nothing may follow.
const LARGE_FILES: [&str; 5] = [
    "git-lfs clean -- %f",
    "git-lfs smudge -- %f",
    "git-lfs smudge --skip -- %f",
    "git-lfs filter-process",
    "true",
];

impl GitFolder {
    /// As variables, not as `-c NAME=VALUE`: the name of a filter may have a `=` in it.
    pub(super) async fn without_own_programs(&self) -> Result<Vec<(String, String)>, GitError> {
        let off = self.own_programs_off().await?;
        let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), off.len().to_string())];
        for (n, (name, value)) in off.into_iter().enumerate() {
            variables.push((format!("GIT_CONFIG_KEY_{n}"), name));
            variables.push((format!("GIT_CONFIG_VALUE_{n}"), value.to_owned()));
        }
        Ok(variables)
    }

    /// The settings that switch them off. Where the configuration cannot be read, git is not started at all.
    pub(super) async fn own_programs_off(&self) -> Result<Vec<(String, &'static str)>, GitError> {
        let args = ["config", "--list", "--includes", "--show-scope", "--null"];
        let spec = self.spec(args);
        let list = ended(&spec, run_to_end(&spec, MOST_TIME).await?)?.answer;
        // A scope, a name and, after a line break, a value.
        let mut fields = list.split('\0');
        let mut off = Vec::new();
        while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, ""));
            if matches!(scope, "local" | "worktree") {
                off.extend(switched_off(name, value));
            }
        }
        off.sort();
        off.dedup();
        Ok(off)
    }
}

/// What switches off the program that a setting names; git has made the first and the last part of its name lower case.
fn switched_off(name: &str, value: &str) -> Vec<(String, &'static str)> {
    let Some((section, rest)) = name.split_once('.') else { return Vec::new() };
    let (part, key) = rest.rsplit_once('.').map_or((None, rest), |(part, key)| (Some(part), key));
    match (section, part, key) {
        ("filter", Some(_), _) if LARGE_FILES.contains(&value) => Vec::new(),
        ("filter", Some(driver), _) => filter_off(driver),
        ("hook", Some(hook), _) => vec![(format!("hook.{hook}.enabled"), "false")],
        // `git lfs` would start them.
        ("lfs", Some(part), _) if is_of_large_files(part) => filter_off("lfs"),
        ("lfs", _, "standalonetransferagent") => filter_off("lfs"),
        ("credential", _, "helper") | ("core", None, "askpass") => vec![(name.to_owned(), "")],
        ("core", None, "sshcommand") => vec![(name.to_owned(), "ssh")],
        _ => Vec::new(),
    }
}

fn is_of_large_files(part: &str) -> bool {
    part.starts_with("extension.") || part.starts_with("customtransfer.")
}

fn filter_off(driver: &str) -> Vec<(String, &'static str)> {
    let off = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
    off.map(|(key, value)| (format!("filter.{driver}.{key}"), value)).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, value: &str, expected: &[&str]) {
        let off: Vec<String> =
            switched_off(name, value).iter().map(|(name, to)| format!("{name}={to}")).collect();
        assert_eq!(off, expected, "{name} = {value}");
    }

    #[test]
    fn what_a_repository_names_is_switched_off_and_nothing_else() {
        let no_lfs = [
            "filter.lfs.clean=",
            "filter.lfs.smudge=",
            "filter.lfs.process=",
            "filter.lfs.required=false",
        ];
        check("filter.lfs.clean", "git-lfs clean -- %f", &[]);
        check("filter.lfs.clean", "git-lfs clean -- %f; evil", &no_lfs);
        check("lfs.extension.x.clean", "evil", &no_lfs);
        check("lfs.customtransfer.x.path", "evil", &no_lfs);
        check("lfs.https://a.b/c.standalonetransferagent", "x", &no_lfs);
        check("lfs.url", "https://a.b/c", &[]);
        check("hook.a.b.command", "evil", &["hook.a.b.enabled=false"]);
        check("credential.https://a.b.helper", "!evil", &["credential.https://a.b.helper="]);
        check("core.sshcommand", "evil", &["core.sshcommand=ssh"]);
        check("core.autocrlf", "input", &[]);
    }
}
