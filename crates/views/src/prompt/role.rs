//! An agent's own text, without commands for Baton that it may have: a file that was written for another
//! interface would contradict the commands of the prompt.

use baton_core::document::Node;
use baton_wire::json;

pub(super) struct RoleText {
    pub(super) text: String,
    /// How many commands were replaced.
    pub(super) n_replaced: usize,
}

const ELSEWHERE: &str = "[the command for this is at the end, under HOW TO HAND OFF]";
const EXAMPLE: &str = "An example of the package:";

/// The text with every command for Baton replaced: by the package in it, where it has one, else by a
/// note where the command is.
pub(super) fn without_protocol(text: &str) -> RoleText {
    let mut role = RoleText { text: String::with_capacity(text.len()), n_replaced: 0 };
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let Some(fence) = Fence::opened_by(line) else {
            role.push_line(line);
            continue;
        };
        let (mut code, mut last) = (String::new(), "");
        for line in lines.by_ref() {
            if fence.is_closed_by(line) {
                last = line;
                break;
            }
            code.push_str(line);
        }
        if is_command(&code) {
            role.n_replaced += 1;
            role.text.push_str(&replacement(&code, fence.indent));
        } else {
            role.text.extend([line, &code, last]);
        }
    }
    role
}

impl RoleText {
    /// A line outside of code blocks; commands in it stand between backticks.
    fn push_line(&mut self, line: &str) {
        for (index, part) in line.split('`').enumerate() {
            let is_code = index % 2 == 1;
            if is_code && is_command(part) {
                self.n_replaced += 1;
                self.text.push_str("`the command at the end");
                continue;
            }
            if index > 0 {
                self.text.push('`');
            }
            self.text.push_str(part);
        }
    }
}

struct Fence<'a> {
    indent: &'a str,
    marks: &'a str,
}

impl<'a> Fence<'a> {
    fn opened_by(line: &'a str) -> Option<Self> {
        let rest = line.trim_start();
        let indent = &line[..line.len() - rest.len()];
        let mark = rest.chars().next().filter(|it| matches!(it, '`' | '~'))?;
        let n_marks = rest.len() - rest.trim_start_matches(mark).len();
        (n_marks >= 3).then(|| Self { indent, marks: &rest[..n_marks] })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        line.trim()
            .strip_prefix(self.marks)
            .is_some_and(|it| it.chars().all(|it| self.marks.starts_with(it)))
    }
}

/// True for a shell command to Baton's API or its command line.
fn is_command(code: &str) -> bool {
    let is_request = |line: &str| line.contains("curl ") && line.contains("/api/");
    let is_typed = |line: &str| {
        let line = line.trim_start().trim_start_matches("$ ");
        ["baton handoff ", "baton evidence "].iter().any(|it| line.starts_with(it))
    };
    code.lines().any(|it| is_request(it) || is_typed(it))
}

fn replacement(code: &str, indent: &str) -> String {
    let lines = match package(code) {
        Some(package) => format!("{EXAMPLE}\n\n```json\n{}\n```", json::print_pretty(&package)),
        None => ELSEWHERE.to_owned(),
    };
    lines
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{indent}{line}\n") })
        .collect()
}

/// The package of a command, where its body stands between single quotes, as shells want it.
fn package(code: &str) -> Option<Node> {
    let body = code.replace("'\"$STORY_ID\"'", "STORY_ID");
    let (start, end) = (body.find("'{")? + 1, body.rfind("}'")? + 1);
    let document = json::parse(body.get(start..end)?).ok()?;
    match document.member("action") {
        Some(_) => document.member("payload").cloned(),
        None => Some(document),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str, n_replaced: usize) {
        let role = without_protocol(text);
        assert_eq!((role.text.as_str(), role.n_replaced), (expected, n_replaced));
    }

    #[test]
    fn commands_for_baton_are_replaced_and_nothing_else() {
        let accept = "1. Accept:\n   ```bash\n   curl -X POST $DASHBOARD_URL/api/handoffs -d '{ \"action\": \"accept\", \"handoffId\": 1 }'\n   ```\n2. Work.\n";
        check(accept, &format!("1. Accept:\n   {ELSEWHERE}\n2. Work.\n"), 1);
        check(
            "Read it with `curl -G \"$DASHBOARD_URL/api/handoffs\"`: all of it.\n",
            "Read it with `the command at the end`: all of it.\n",
            1,
        );
        check("```sh\nbaton handoff clarify 1 --question x\n```\n", &format!("{ELSEWHERE}\n"), 1);
        for kept in [
            "Run:\n```sh\ncargo test\ncurl https://example.org/health\n```\nand `curl`.\n",
            "Plain ``` text\n",
            "```\nno end\n",
            "~~~md\n```\nx\n```\n~~~\n",
            "",
        ] {
            check(kept, kept, 0);
        }
    }

    #[test]
    fn the_example_of_a_package_stays() {
        let create = "```bash\ncurl -X POST $DASHBOARD_URL/api/handoffs -d '{\n  \"action\": \"create\",\n  \"storyId\": \"'\"$STORY_ID\"'\",\n  \"payload\": { \"plan\": \"p\" }\n}'\n```\n";
        check(create, "An example of the package:\n\n```json\n{\n  \"plan\": \"p\"\n}\n```\n", 1);
        let delegate =
            "```bash\nbaton handoff delegate HANDOFF_ID --to x --payload '{ \"a\": 1 }'\n```\n";
        check(delegate, "An example of the package:\n\n```json\n{\n  \"a\": 1\n}\n```\n", 1);
    }
}
