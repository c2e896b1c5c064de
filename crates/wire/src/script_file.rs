//! Scripts of agents, in YAML: what each does, turn by turn. For demonstrations and tests.
//!
//! ```yaml
//! agents:
//!   implementer:
//!     - write: { file: src/app.txt, text: "hello\n" }
//!     - commit: Add the greeting
//!     - hand_on: { to: reviewer, package: { summary: src/app.txt greets } }
//!   reviewer:                # a list of lists: one for each turn, the last for all that follow
//!     - [{ reject: "no test" }]
//!     - [{ hand_on: { to: refactorer, package: { approved: true } } }]
//! answers:                   # what an agent answers to a question about work that it handed on
//!   implementer: src/app.txt is all of it
//! ```

use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use jiff::SignedDuration;

use crate::fields::{FieldAt, Fields};
use crate::file_problem::{FileProblem, Problems};
use crate::located::{LocatedValue, yaml};
use crate::shown::shown;

pub const MOST_BYTES: usize = 1024 * 1024;

const ACTION_KEYS: &[&str] = &[
    "say", "wait", "write", "append", "replace", "remove", "run", "try", "commit", "hand_on",
    "reject", "ask", "answer", "print", "exit", "die", "hang",
];
const FILE_KEYS: &[&str] = &["file", "text"];
const REPLACE_KEYS: &[&str] = &["file", "text", "with"];
const HAND_ON_KEYS: &[&str] = &["to", "outcome", "package", "by"];

/// What scripted agents do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    agents: Vec<(AgentId, Vec<Vec<ScriptedAction>>)>,
    answers: Vec<(AgentId, String)>,
}

/// One thing that a scripted agent does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptedAction {
    Say(String),
    Wait(SignedDuration),
    Write {
        file: String,
        text: String,
    },
    Append {
        file: String,
        text: String,
    },
    /// The first occurrence, which has to be there.
    Replace {
        file: String,
        text: String,
        with: String,
    },
    Remove {
        file: String,
    },
    /// A command line that has to succeed.
    Run(String),
    /// A command line that may fail.
    Try(String),
    /// Everything that has changed, with this message.
    Commit(String),
    HandOn(ScriptedHandoff),
    Reject(String),
    Ask(String),
    Answer(String),
    /// To the output, as it is.
    Print(String),
    Exit(u8),
    /// As a crash.
    Die,
    /// Until it is ended.
    Hang,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedHandoff {
    pub to: Option<AgentId>,
    pub outcome: Outcome,
    pub package: Node,
    pub by: HandOnWay,
}

/// How a scripted agent hands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandOnWay {
    Http,
    Cli,
    /// A block in its output.
    Block,
    /// A Markdown file with a metadata block.
    File,
}

impl Script {
    /// What an agent does at its n-th turn in a run, from 1; `None` where the script does not have it.
    pub fn turn(&self, agent: &AgentId, n: usize) -> Option<&[ScriptedAction]> {
        let (_, turns) = self.agents.iter().find(|(it, _)| it == agent)?;
        turns.get(n.saturating_sub(1)).or_else(|| turns.last()).map(Vec::as_slice)
    }

    /// What an agent answers to a question about work that it has handed on; `None` where one of its
    /// turns is to answer, which is played then.
    pub fn answer(&self, agent: &AgentId) -> Option<&str> {
        let turns = self.agents.iter().filter(|(it, _)| it == agent).flat_map(|(_, turns)| turns);
        if turns.flatten().any(|it| matches!(it, ScriptedAction::Answer(_))) {
            return None;
        }
        let own = self.answers.iter().find(|(it, _)| it == agent);
        Some(own.map_or(NO_MORE_TO_SAY, |(_, text)| text))
    }
}

const NO_MORE_TO_SAY: &str =
    "What I handed on is all that I know. Reject it if it has to be different, and say how.";

/// Reads a script of at most [`MOST_BYTES`].
pub fn parse(text: &str) -> Result<Script, Vec<FileProblem>> {
    Problems::collect(|it| read(text, it))
}

fn read(text: &str, problems: &mut Problems) -> Option<Script> {
    let root = yaml::read(text, MOST_BYTES, problems)?;
    let fields = Fields::open(&FieldAt::root(&root), &["agents", "answers"], problems)?;
    let mut agents = Vec::new();
    for (member, field) in fields.required("agents", problems)?.entries(problems) {
        let Some(agent) = agent_of(&member.key, &field, problems) else { continue };
        let items = field.list(problems);
        let is_list = |it: &FieldAt<'_>| matches!(it.node.value, LocatedValue::List(_));
        let turns = if items.iter().any(is_list) {
            items.iter().map(|it| actions(&it.list(problems), problems)).collect()
        } else {
            vec![actions(&items, problems)]
        };
        agents.push((agent, turns));
    }
    let mut answers = Vec::new();
    let answered = fields.get("answers").map(|it| it.entries(problems)).unwrap_or_default();
    for (member, field) in answered {
        let Some(agent) = agent_of(&member.key, &field, problems) else { continue };
        answers.extend(field.prose(problems).map(|text| (agent, text)));
    }
    Some(Script { agents, answers })
}

fn agent_of(key: &str, field: &FieldAt<'_>, problems: &mut Problems) -> Option<AgentId> {
    let read = AgentId::parse(key);
    read.map_err(|error| field.problem("bad_name", error.to_string(), problems)).ok()
}

fn actions(items: &[FieldAt<'_>], problems: &mut Problems) -> Vec<ScriptedAction> {
    items.iter().filter_map(|it| action(it, problems)).collect()
}

fn action(field: &FieldAt<'_>, problems: &mut Problems) -> Option<ScriptedAction> {
    if let Some(word @ ("die" | "hang")) = field.node.scalar_text() {
        return Some(if word == "die" { ScriptedAction::Die } else { ScriptedAction::Hang });
    }
    let fields = Fields::open(field, ACTION_KEYS, problems)?;
    let Some((key, value)) = ACTION_KEYS.iter().find_map(|it| Some((*it, fields.get(it)?))) else {
        let message = format!("does nothing: say one of {}", ACTION_KEYS.join(", "));
        field.problem("no_action", message, problems);
        return None;
    };
    if fields.keys().count() > 1 {
        field.problem("not_both", "does two things at once: write one in each item", problems);
        return None;
    }
    Some(match key {
        "say" => ScriptedAction::Say(value.prose(problems)?),
        "print" => ScriptedAction::Print(value.scalar(problems)?.to_owned()),
        "wait" => ScriptedAction::Wait(value.duration(problems)?),
        "run" => ScriptedAction::Run(value.prose(problems)?),
        "try" => ScriptedAction::Try(value.prose(problems)?),
        "commit" => ScriptedAction::Commit(value.line(problems)?),
        "reject" => ScriptedAction::Reject(value.prose(problems)?),
        "ask" => ScriptedAction::Ask(value.prose(problems)?),
        "answer" => ScriptedAction::Answer(value.prose(problems)?),
        "remove" => ScriptedAction::Remove { file: file(&value, problems)? },
        "exit" => {
            let code = value.whole_number(0..=255, problems)?;
            ScriptedAction::Exit(u8::try_from(code).ok()?)
        }
        "write" | "append" => {
            let fields = Fields::open(&value, FILE_KEYS, problems)?;
            let file = file(&fields.required("file", problems)?, problems)?;
            let text = fields.required("text", problems)?.scalar(problems)?.to_owned();
            match key {
                "write" => ScriptedAction::Write { file, text },
                _ => ScriptedAction::Append { file, text },
            }
        }
        "replace" => {
            let fields = Fields::open(&value, REPLACE_KEYS, problems)?;
            let file = file(&fields.required("file", problems)?, problems)?;
            let text = fields.required("text", problems)?.scalar(problems)?.to_owned();
            let with = fields.required("with", problems)?.scalar(problems)?.to_owned();
            ScriptedAction::Replace { file, text, with }
        }
        "hand_on" => ScriptedAction::HandOn(hand_on(&value, problems)?),
        "die" => ScriptedAction::Die,
        _ => ScriptedAction::Hang,
    })
}

fn hand_on(field: &FieldAt<'_>, problems: &mut Problems) -> Option<ScriptedHandoff> {
    let fields = Fields::open(field, HAND_ON_KEYS, problems)?;
    let outcomes = Outcome::CLAIMABLE.map(|it| (it.name(), it));
    let ways = [
        ("http", HandOnWay::Http),
        ("cli", HandOnWay::Cli),
        ("block", HandOnWay::Block),
        ("file", HandOnWay::File),
    ];
    let outcome = match fields.get("outcome") {
        Some(it) => it.choice(&outcomes, problems)?,
        None => Outcome::Success,
    };
    let by = match fields.get("by") {
        Some(it) => it.choice(&ways, problems)?,
        None => HandOnWay::Http,
    };
    let to = match fields.get("to") {
        Some(it) => Some(it.parsed(AgentId::parse, problems)?),
        None => None,
    };
    let package = fields.required("package", problems)?.node.to_node();
    Some(ScriptedHandoff { to, outcome, package, by })
}

/// A file of the workspace.
fn file(field: &FieldAt<'_>, problems: &mut Problems) -> Option<String> {
    let path = field.line(problems)?;
    let is_plain = |it: &str| !it.is_empty() && it != "." && it != "..";
    if !path.split('/').all(is_plain) || path.contains('\\') {
        let message = format!("`{}` is not a file inside the workspace", shown(&path));
        field.problem("bad_file", message, problems);
        return None;
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn an_agent_has_turns_and_the_last_one_counts_for_all_that_follow() {
        let script = parse(
            "agents:\n  reviewer:\n    - [{ reject: no test }]\n    - [{ say: good }, { hand_on: { package: { approved: true } } }]\n  analyst:\n    - { wait: 10ms }\n    - die\n",
        )
        .unwrap();
        let agent = |name: &str| AgentId::parse(name).unwrap();
        let reviewer = |n| script.turn(&agent("reviewer"), n).unwrap().len();
        assert_eq!([reviewer(1), reviewer(2), reviewer(3)], [1, 2, 2]);
        assert_eq!(script.turn(&agent("analyst"), 1).unwrap()[1], ScriptedAction::Die);
        assert_eq!(script.turn(&agent("documenter"), 1), None);
    }

    #[test]
    fn an_agent_answers_questions_about_its_work_unless_a_turn_of_its_does() {
        let script = parse(
            "agents:\n  a: [{ say: hi }]\n  b: [{ answer: it is }]\n  c: [{ say: hi }]\nanswers:\n  a: The shop pays\n",
        )
        .unwrap();
        let answer = |name: &str| script.answer(&AgentId::parse(name).unwrap());
        assert_eq!(
            [answer("a"), answer("b"), answer("c")],
            [Some("The shop pays"), None, Some(NO_MORE_TO_SAY)]
        );
    }

    #[test]
    fn every_problem_has_its_place() {
        let text = "agents:\n  a:\n    - { wite: x }\n    - { write: { file: ../x, text: y } }\n    - { say: a, wait: 1s }\n    - { exit: 300 }\n    - { hand_on: { to: B, by: post } }\n";
        let lines: Vec<String> = parse(text).unwrap_err().iter().map(ToString::to_string).collect();
        expect![[r#"
            line 3, column 7: agents.a[0]: does nothing: say one of say, wait, write, append, replace, remove, run, try, commit, hand_on, reject, ask, answer, print, exit, die, hang [no_action]
            line 3, column 9: agents.a[0].wite: is not a key here; did you mean `write`? [unknown_key]
            line 4, column 24: agents.a[1].write.file: `../x` is not a file inside the workspace [bad_file]
            line 5, column 7: agents.a[2]: does two things at once: write one in each item [not_both]
            line 6, column 15: agents.a[3].exit: must be a whole number from 0 to 255 [wrong_number]
            line 7, column 31: agents.a[4].hand_on.by: cannot be `post`; known: `http`, `cli`, `block`, `file` [wrong_value]"#]].assert_eq(&lines.join("\n"));
    }
}
