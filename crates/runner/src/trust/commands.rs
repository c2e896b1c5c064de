//! How far a command can be followed without running it: the simple commands that it consists of, and which of
//! their words name the program that is started. A line for a shell is followed only where it is made of plain words.

/// The words of one simple command, without variables that are set for it.
pub(super) type SimpleCommand = Vec<String>;

/// Programs that are given a script: the first word that is no option.
const INTERPRETERS: [&str; 17] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "python", "node", "nodejs", "ruby", "perl",
    "php", "lua", "Rscript", "deno", "bun",
];
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];
/// Programs that are given a script behind `-f`.
const READ_SCRIPTS: [&str; 6] = ["make", "gmake", "just", "awk", "gawk", "sed"];
/// Programs that start what follows.
const WRAPPERS: [&str; 10] =
    ["env", "timeout", "nice", "nohup", "time", "stdbuf", "ionice", "setsid", "command", "exec"];
/// Programs that only read the files which they are given, and start none of them.
const READERS: [&str; 17] = [
    "grep", "egrep", "fgrep", "test", "[", "cat", "cmp", "diff", "wc", "head", "tail", "sort",
    "ls", "echo", "printf", "true", "jq",
];
/// Whatever comes after these depends on what is there when they run.
const OPAQUE: [&str; 18] = [
    "cd", "pushd", "popd", "eval", "alias", "trap", "for", "while", "until", "case", "select",
    "function", "read", "xargs", "parallel", "find", "chroot", "unshare",
];
/// Words of a shell in front of a command.
const KEYWORDS: [&str; 6] = ["if", "then", "else", "elif", "!", "{"];

/// The simple commands of a command; `None` where they are known only once it runs.
pub(super) fn simple_commands(words: &[String]) -> Option<Vec<SimpleCommand>> {
    let words: Vec<String> = words.iter().filter(|it| !it.is_empty()).cloned().collect();
    let is_opaque = programs(&words).into_iter().any(|it| OPAQUE.contains(&base_name(&words[it])));
    if is_opaque || has_code(&words) || words.iter().any(|it| it.starts_with("-exec")) {
        return None;
    }
    match shell_line(&words) {
        None => Some(vec![words]),
        Some(index) => {
            let mut all = vec![words[..index].to_vec()];
            for command in plain_line(words.get(index)?)? {
                all.extend(simple_commands(&command)?);
            }
            // What comes after the line is `$0`, `$1`: a plain line has no place for them.
            Some(all)
        }
    }
}

/// Where the line is that a shell among the words is given by `-c`.
fn shell_line(words: &[String]) -> Option<usize> {
    let shell = words.iter().position(|it| SHELLS.contains(&base_name(it)))?;
    let mut has_value = false;
    for (at, word) in words.iter().enumerate().skip(shell + 1) {
        let is_option = word.starts_with(['-', '+']);
        if word.starts_with('-') && !word.starts_with("--") && word.contains('c') {
            return Some(at + 1);
        }
        if !is_option && !has_value {
            return None;
        }
        has_value = matches!(word.as_str(), "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file");
    }
    None
}

/// Whether an interpreter is given code in place of a script: it may load anything.
fn has_code(words: &[String]) -> bool {
    let is_code = |name: &str, option: &str| {
        let is_cluster = matches!(name, "perl" | "ruby") && !option.starts_with("--");
        matches!(option, "-c" | "-e" | "-p" | "--eval" | "--print")
            || (is_cluster && option.contains('e'))
    };
    programs(words).into_iter().any(|at| {
        let name = base_name(&words[at]);
        let mut options = words[at + 1..].iter().take_while(|it| it.starts_with('-'));
        is_interpreter(name) && !SHELLS.contains(&name) && options.any(|it| is_code(name, it))
    })
}

/// The commands of a line for a shell that is made of plain words, whole quoted words and separators.
fn plain_line(line: &str) -> Option<Vec<SimpleCommand>> {
    let (mut commands, mut command) = (Vec::new(), SimpleCommand::new());
    let mut chars = line.chars().peekable();
    let ends_word = |it: &char| it.is_whitespace() || ";&|()".contains(*it);
    while let Some(it) = chars.next() {
        match it {
            ';' | '&' | '|' | '(' | ')' | '\n' => commands.push(std::mem::take(&mut command)),
            it if it.is_whitespace() => {}
            '\'' | '"' => {
                let mut word = String::new();
                loop {
                    match chars.next()? {
                        end if end == it => break,
                        '$' | '`' | '\\' if it == '"' => return None,
                        other => word.push(other),
                    }
                }
                if chars.peek().is_some_and(|it| !ends_word(it)) {
                    return None;
                }
                command.push(word);
            }
            it => {
                let mut word = String::from(it);
                while let Some(next) = chars.next_if(|it| !ends_word(it)) {
                    word.push(next);
                }
                // `2>&1` ends before its `&`.
                if word.ends_with('>') && chars.next_if_eq(&'&').is_some() {
                    chars.next_if(char::is_ascii_digit)?;
                    continue;
                }
                if matches!(word.as_str(), ">/dev/null" | "2>/dev/null" | "1>/dev/null") {
                    continue;
                }
                if word.contains(|it: char| "$`\\*?[]{}~<>'\"#!".contains(it))
                    && word != "["
                    && word != "]"
                {
                    return None;
                }
                command.push(word);
            }
        }
    }
    commands.push(command);
    commands.iter_mut().for_each(without_prefix);
    commands.retain(|it| !it.is_empty() && !matches!(it[0].as_str(), "fi" | "done" | "}"));
    Some(commands)
}

fn without_prefix(command: &mut SimpleCommand) {
    let is_prefix = |it: &String| KEYWORDS.contains(&it.as_str());
    let n = command.iter().take_while(|it| is_prefix(it)).count();
    command.drain(..n);
}

/// The positions of the words that name a program to start: the first, and the script of an interpreter. What
/// an option is given may be one too.
pub(super) fn programs(command: &[String]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = command.get(at) {
        if is_setting(word) {
            at += 1;
            continue;
        }
        found.push(at);
        let name = base_name(word);
        if WRAPPERS.contains(&name) {
            let is_own = |it: &String| {
                it.starts_with('-')
                    || is_setting(it)
                    || it.starts_with(|it: char| it.is_ascii_digit())
            };
            at += 1 + command[at + 1..].iter().take_while(|it| is_own(it)).count();
            continue;
        }
        if matches!(name, "." | "source") {
            found.push(at + 1);
        } else if is_interpreter(name) {
            found.extend(scripts(&command[at + 1..]).into_iter().map(|it| at + 1 + it));
        } else if READ_SCRIPTS.contains(&name) {
            let is_script = |it: &usize| matches!(command[*it - 1].as_str(), "-f" | "--file");
            found.extend((at + 2..command.len()).filter(is_script));
        }
        break;
    }
    found.retain(|it| *it < command.len());
    found
}

/// Where an interpreter's own words name its script.
fn scripts(words: &[String]) -> Vec<usize> {
    /// Options that take nothing after them.
    const FLAGS: [&str; 14] =
        ["-e", "-x", "-u", "-v", "-B", "-E", "-s", "-S", "-O", "-ex", "-eu", "-eux", "-w", "--"];
    let mut found = Vec::new();
    let mut is_flag = true;
    for (at, word) in words.iter().enumerate() {
        // Code in the word that follows, or a module by its name.
        if matches!(word.as_str(), "-c" | "-m" | "--eval" | "-p" | "--print") {
            break;
        }
        if word.starts_with('-') {
            is_flag = FLAGS.contains(&word.as_str());
            continue;
        }
        found.push(at);
        if is_flag {
            break;
        }
        is_flag = true;
    }
    found
}

/// Whether a command only reads its files.
pub(super) fn is_reader(command: &[String]) -> bool {
    command.first().is_some_and(|it| READERS.contains(&it.as_str()))
}

/// Whether a Python module is named by the word at this place.
pub(super) fn is_module(command: &[String], at: usize) -> bool {
    at > 0
        && command[at - 1] == "-m"
        && command.iter().any(|it| base_name(it).starts_with("python"))
}

fn is_interpreter(name: &str) -> bool {
    // With a version: `python3.12`.
    let plain = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    INTERPRETERS.contains(&plain)
}

/// `A=b` in front of a command.
fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
    })
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn a_line_of_plain_words_is_followed_and_anything_else_is_not() {
        for (line, expected) in [
            ("grep ok src/a.txt", Some("grep ok src/a.txt")),
            ("npm ci && npm test", Some("npm ci / npm test")),
            ("grep -q 'x y' a 2>/dev/null || exit 1", Some("grep -q x y a / exit 1")),
            ("cargo test 2>&1 | tail", Some("cargo test / tail")),
            ("(. ./tools/a)", Some(". ./tools/a")),
            ("if test -e a; then sh b; fi", Some("test -e a / sh b")),
            ("cd tools && sh ./a.sh", None),
            ("x=tools; sh $x/a.sh", None),
            ("sh `echo tools/a`", None),
            ("sh too''ls/a.sh", None),
            ("sh tools/\\a.sh", None),
            ("sh tools/*.sh", None),
            ("sh ~+/tools/a.sh", None),
            ("for f in a b; do sh f; done", None),
            ("ls | xargs sh", None),
            ("find . -name a -exec sh b", None),
            ("sh < tools/a", None),
            ("sh \"$PWD/a\"", None),
            ("sh -c 'sh tools/a'", Some("sh -c / sh tools/a")),
            ("sh -o errexit -c 'sh tools/a'", Some("sh -o errexit -c / sh tools/a")),
            ("sh -o errexit -c 'cd tools'", None),
            ("python3 -c 'import tools'", None),
            ("perl -ne 'require a'", None),
            ("npm run select", Some("npm run select")),
        ] {
            let found = simple_commands(&words(&["sh", "-c", line]));
            let found = found
                .map(|it| it[1..].iter().map(|it| it.join(" ")).collect::<Vec<_>>().join(" / "));
            assert_eq!(found.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn the_program_is_the_first_word_and_the_script_of_an_interpreter() {
        for (command, expected) in [
            (&["grep", "ok", "src/a.txt"][..], &["grep"][..]),
            (&["tools/check", "src/a.txt"], &["tools/check"]),
            (&["sh", "tools/check.sh", "src/a.txt"], &["sh", "tools/check.sh"]),
            (&["bash", "-eu", "a.sh", "b"], &["bash", "a.sh"]),
            (&["python3", "-m", "py_compile", "src/menu.py"], &["python3"]),
            (&["python3.12", "-u", "a.py", "b.py"], &["python3.12", "a.py"]),
            (&["node", "-r", "./hook.js", "x.js", "y.js"], &["node", "./hook.js", "x.js"]),
            (&["env", "A=b", "sh", "a.sh"], &["env", "sh", "a.sh"]),
            (&["timeout", "10", "tools/a", "b"], &["timeout", "tools/a"]),
            (&["make", "-f", "tools/Makefile", "test"], &["make", "tools/Makefile"]),
            (&[".", "./tools/a"], &[".", "./tools/a"]),
            (&["cargo", "test"], &["cargo"]),
        ] {
            let command = words(command);
            let found: Vec<&str> =
                programs(&command).into_iter().map(|it| command[it].as_str()).collect();
            assert_eq!(found, expected, "{command:?}");
        }
    }
}
