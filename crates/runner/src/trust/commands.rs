//! How far a command can be followed without running it: the simple commands that it consists of, and which of
//! their words name the program that is started. A line for a shell is followed only where it is made of plain words.

/// The words of one simple command, without variables that are set for it.
pub(super) type SimpleCommand = Vec<String>;

/// A command that is followed.
pub(super) struct FollowedCommand {
    pub(super) words: SimpleCommand,
    /// Its output may go into a program that does more than read.
    pub(super) feeds: bool,
}

/// Programs that are given a script: the first word that is no option.
const INTERPRETERS: [&str; 25] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "python", "pypy", "ipython", "node",
    "nodejs", "ruby", "perl", "php", "lua", "luajit", "Rscript", "deno", "bun", "tsx", "ts-node",
    "tclsh", "julia", "pwsh",
];
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];
/// Programs that are given a script behind `-f`.
const READ_SCRIPTS: [&str; 6] = ["make", "gmake", "just", "awk", "gawk", "sed"];
/// Programs that start what follows.
const WRAPPERS: [&str; 17] = [
    "env", "timeout", "nice", "nohup", "time", "stdbuf", "ionice", "setsid", "command", "exec",
    "sudo", "doas", "busybox", "xvfb-run", "npx", "bunx", "chronic",
];
/// Words of tools behind which a program is named.
const STARTS: [(&str, &str); 9] = [
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("yarn", "exec"),
    ("npm", "exec"),
];
/// Programs that only read the files which they are given, and start none of them.
const READERS: [&str; 17] = [
    "grep", "egrep", "fgrep", "test", "[", "cat", "cmp", "diff", "wc", "head", "tail", "sort",
    "ls", "echo", "printf", "true", "jq",
];
/// Programs whose first argument is a program of their own language, unless they are given a file.
const INLINE: [&str; 6] = ["awk", "gawk", "mawk", "nawk", "sed", "gsed"];
/// Whatever comes after these depends on what is there when they run.
const OPAQUE: [&str; 18] = [
    "cd", "pushd", "popd", "eval", "alias", "trap", "for", "while", "until", "case", "select",
    "function", "read", "xargs", "parallel", "find", "chroot", "unshare",
];
/// Words of a shell in front of a command.
const KEYWORDS: [&str; 6] = ["if", "then", "else", "elif", "!", "{"];

/// The simple commands of a command; `None` where they are known only once it runs.
pub(super) fn simple_commands(words: &[String]) -> Option<Vec<SimpleCommand>> {
    Some(followed_commands(words)?.into_iter().map(|it| it.words).collect())
}

/// As [`simple_commands`], with what becomes of their output.
pub(super) fn followed_commands(words: &[String]) -> Option<Vec<FollowedCommand>> {
    let words: Vec<String> = words.iter().filter(|it| !it.is_empty()).cloned().collect();
    let is_opaque = programs(&words).into_iter().any(|it| OPAQUE.contains(&base_name(&words[it])));
    if is_opaque || has_code(&words) || words.iter().any(|it| it.starts_with("-exec")) {
        return None;
    }
    match shell_line(&words) {
        None => Some(vec![FollowedCommand { words, feeds: false }]),
        Some(index) => {
            let mut all = vec![FollowedCommand { words: words[..index].to_vec(), feeds: false }];
            let line = plain_line(words.get(index)?)?;
            if line.has_pipe && line.commands.iter().any(|it| reads_code(it)) {
                return None;
            }
            for (at, command) in line.commands.iter().enumerate() {
                let feeds =
                    line.has_pipe && !line.commands[at + 1..].iter().all(|it| is_reader(it));
                let followed = followed_commands(command)?.into_iter();
                all.extend(followed.map(|it| FollowedCommand { feeds: it.feeds || feeds, ..it }));
            }
            // What comes after the line is `$0`, `$1`: a plain line has no place for them.
            Some(all)
        }
    }
}

/// Whether an interpreter gets its program from its input.
fn reads_code(command: &[String]) -> bool {
    programs(command).into_iter().any(|at| {
        let (name, rest) = (base_name(&command[at]), &command[at + 1..]);
        let is_input = |it: &String| matches!(it.as_str(), "-" | "-s" | "-f-" | "/dev/stdin");
        if !is_interpreter(name) {
            return READ_SCRIPTS.contains(&name) && rest.iter().any(is_input);
        }
        let is_line = SHELLS.contains(&name) && shell_line(command).is_some();
        let given = scripts(name, rest);
        let has_script = is_line || given.has_code || !given.at.is_empty();
        rest.iter().any(is_input) || !has_script && modules(command).is_empty()
    })
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
    programs(words).into_iter().any(|at| {
        let (name, rest) = (base_name(&words[at]), &words[at + 1..]);
        if INLINE.contains(&name) {
            return !rest.iter().any(|it| it.starts_with("-f") || it.starts_with("--file"));
        }
        is_interpreter(name) && !SHELLS.contains(&name) && scripts(name, rest).has_code
    })
}

/// Whether what follows this option is code, or the rest of it is.
fn is_code(interpreter: &str, option: &str) -> bool {
    const LONG: [&str; 4] = ["--eval", "--print", "--run", "--command"];
    if option.starts_with("--") {
        return LONG.contains(&option.split('=').next().unwrap_or(option));
    }
    let Some(letters) = option.strip_prefix('-') else { return false };
    match without_version(interpreter) {
        // A module ends the options: `-mpy_compile`.
        "python" | "pypy" | "ipython" => {
            letters.split('m').next().is_some_and(|it| it.contains('c'))
        }
        "php" => letters.starts_with(['r', 'B', 'R', 'E']),
        "perl" | "ruby" => letters.contains(['e', 'E']),
        _ => letters.starts_with(['e', 'p', 'c']) || letters == "pe",
    }
}

/// A line for a shell, made of plain words, whole quoted words and separators.
struct PlainLine {
    commands: Vec<SimpleCommand>,
    has_pipe: bool,
}

fn plain_line(line: &str) -> Option<PlainLine> {
    let (mut commands, mut command) = (Vec::new(), SimpleCommand::new());
    let mut has_pipe = false;
    let mut chars = line.chars().peekable();
    let ends_word = |it: &char| it.is_whitespace() || ";&|()".contains(*it);
    while let Some(it) = chars.next() {
        match it {
            ';' | '&' | '|' | '(' | ')' | '\n' => {
                has_pipe |= it == '|' && chars.next_if_eq(&'|').is_none();
                commands.push(std::mem::take(&mut command));
            }
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
    Some(PlainLine { commands, has_pipe })
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
        if command.get(at + 1).is_some_and(|it| STARTS.contains(&(name, it.as_str()))) {
            let n_options = command[at + 2..].iter().take_while(|it| it.starts_with('-')).count();
            at += 2 + n_options;
            continue;
        }
        if matches!(name, "." | "source") {
            found.push(at + 1);
        } else if is_interpreter(name) {
            found.extend(scripts(name, &command[at + 1..]).at.into_iter().map(|it| at + 1 + it));
        } else if READ_SCRIPTS.contains(&name) {
            let is_script = |it: &usize| matches!(command[*it - 1].as_str(), "-f" | "--file");
            found.extend((at + 2..command.len()).filter(is_script));
        }
        break;
    }
    found.retain(|it| *it < command.len());
    found
}

/// What an interpreter is given to run.
struct GivenScripts {
    /// Where its words name a script.
    at: Vec<usize>,
    has_code: bool,
}

fn scripts(name: &str, words: &[String]) -> GivenScripts {
    /// Options that take nothing after them.
    const FLAGS: [&str; 14] =
        ["-e", "-x", "-u", "-v", "-B", "-E", "-s", "-S", "-O", "-ex", "-eu", "-eux", "-w", "--"];
    let mut given = GivenScripts { at: Vec::new(), has_code: false };
    let mut is_flag = true;
    for (at, word) in words.iter().enumerate() {
        if word.starts_with('-') {
            // `-e` of a shell is a flag.
            given.has_code = !SHELLS.contains(&name) && is_code(name, word);
            // Code in the word that follows, or a module by its name.
            if given.has_code || matches!(word.as_str(), "-c" | "-m") {
                break;
            }
            is_flag = FLAGS.contains(&word.as_str());
            continue;
        }
        given.at.push(at);
        if is_flag {
            break;
        }
        is_flag = true;
    }
    given
}

/// Whether a command only reads its files.
pub(super) fn is_reader(command: &[String]) -> bool {
    // `sort --compress-program=tools/a`
    let starts_none = !command.iter().any(|it| it.starts_with("--comp"));
    starts_none && command.first().is_some_and(|it| READERS.contains(&it.as_str()))
}

/// The modules that Python is given, in a word of their own or not: `-m a`, `-ma`, `-uma`.
pub(super) fn modules(command: &[String]) -> Vec<&str> {
    let Some(python) = command.iter().position(|it| is_python(it)) else {
        return Vec::new();
    };
    let words = &command[python + 1..];
    let module = |(at, word): (usize, &'_ String)| {
        let options = word.strip_prefix('-').filter(|it| !it.starts_with('-'))?;
        let at_m = options.find('m')?;
        let is_cluster = options[..at_m].chars().all(|it| it.is_ascii_alphabetic());
        let next = || words.get(at + 1).map_or("", String::as_str);
        let glued = word.len() > at_m + 2;
        is_cluster.then(|| if glued { at_m + 2 } else { 0 }).map(|from| (at, from, next()))
    };
    let found = words.iter().enumerate().filter_map(module);
    found.map(|(at, from, next)| if from > 0 { &words[at][from..] } else { next }).collect()
}

pub(super) fn is_python(program: &str) -> bool {
    matches!(without_version(base_name(program)), "python" | "pypy" | "ipython")
}

/// With a version: `python3.12`.
fn without_version(name: &str) -> &str {
    name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.')
}

pub(super) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&base_name(program))
}

fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.contains(&without_version(name))
}

/// `A=b` in front of a command.
fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
    })
}

pub(super) fn base_name(word: &str) -> &str {
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
            ("python3 -uc 'import a'", None),
            ("python3 -X dev -c 'import a'", None),
            ("python3 -mpy_compile a.py", Some("python3 -mpy_compile a.py")),
            ("awk 'BEGIN { a }' b", None),
            ("cat tools/a.sh | sh", None),
            ("cat tools/a.sh |& sh", None),
            ("(cat tools/a.sh) | env bash -s", None),
            ("cat tools/a.py | python3 - x", None),
            ("cat tools/a | make -f -", None),
            ("cat tools/a.txt | sh tools/b.sh", Some("cat tools/a.txt / sh tools/b.sh")),
            ("test -e a || sh b", Some("test -e a / sh b")),
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
