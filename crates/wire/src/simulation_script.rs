//! Scripts of simulated runs: one move a line, `STEP: OUTCOME`, `human: ANSWER`, with `-> AGENT`
//! where the workflow leaves a choice. `#` begins a comment.

use baton_core::gate::AnswerKind;
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_core::simulate::{ScriptedMove, ScriptedOutcome};

use crate::file_problem::{FileProblem, Problems};
use crate::position::TextPosition;
use crate::suggest::did_you_mean;

pub const MOST_BYTES: usize = 256 * 1024;

/// The word for a receiver that sends work back.
const REJECT: &str = "reject";

/// Reads a script of at most [`MOST_BYTES`], or every problem with its line.
pub fn parse(text: &str) -> Result<Vec<ScriptedMove>, Vec<FileProblem>> {
    Problems::collect(|problems| {
        if text.len() > MOST_BYTES {
            let message = format!("the script has {} bytes; the most is {MOST_BYTES}", text.len());
            problems.add(TextPosition::START, "", "too_large", message);
            return None;
        }
        let mut script = Vec::new();
        let mut offset = 0;
        for (index, whole) in text.split_inclusive('\n').enumerate() {
            let line = whole.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                match scripted(index + 1, line) {
                    Ok(it) => script.push(it),
                    Err(message) => {
                        let at = TextPosition::of(text, offset);
                        problems.add(at, format!("line {}", index + 1), "bad_line", message);
                    }
                }
            }
            offset += whole.len();
        }
        Some(script)
    })
}

fn scripted(line: usize, text: &str) -> Result<ScriptedMove, String> {
    const FORM: &str = "must be `STEP: OUTCOME`, `human: ANSWER`, or either with `-> AGENT`";
    let (at, rest) = text.split_once(':').ok_or(FORM)?;
    let (word, to) = match rest.split_once("->") {
        Some((word, to)) => {
            (word.trim(), Some(AgentId::parse(to.trim()).map_err(|it| it.to_string())?))
        }
        None => (rest.trim(), None),
    };
    let at = at.trim().to_owned();
    let what = if at == AgentId::HUMAN {
        let known = AnswerKind::ALL.map(AnswerKind::name);
        let is_known = known.contains(&word);
        let unknown = || format!("`{word}` is not an answer; {}", did_you_mean(word, &known));
        is_known.then(|| ScriptedOutcome::Answers(word.to_owned())).ok_or_else(unknown)?
    } else if word == REJECT {
        ScriptedOutcome::Rejects
    } else {
        let mut known: Vec<&str> = Outcome::CLAIMABLE.map(Outcome::name).to_vec();
        known.push(REJECT);
        let outcome = Outcome::CLAIMABLE.into_iter().find(|it| it.name() == word);
        let unknown = || format!("`{word}` is not an outcome; {}", did_you_mean(word, &known));
        ScriptedOutcome::Ends(outcome.ok_or_else(unknown)?)
    };
    Ok(ScriptedMove { line, at, what, to })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_script_has_a_move_a_line() {
        let script = "# a story\nanalyze: success\n\nreview: failure -> implementer # again\n\
                      implement: reject\nhuman: approve\n";
        let moves: Vec<String> =
            parse(script).unwrap().iter().map(|it| format!("{it:?}")).collect();
        expect![[r#"
            ScriptedMove { line: 2, at: "analyze", what: Ends(Success), to: None }
            ScriptedMove { line: 4, at: "review", what: Ends(Failure), to: Some(AgentId("implementer")) }
            ScriptedMove { line: 5, at: "implement", what: Rejects, to: None }
            ScriptedMove { line: 6, at: "human", what: Answers("approve"), to: None }"#]]
        .assert_eq(&moves.join("\n"));
    }

    #[test]
    fn every_line_that_does_not_read_is_told() {
        let problems = parse("analyze success\nreview: succes\nhuman: yes\nx: success -> A B\n");
        let lines: Vec<String> = problems.unwrap_err().iter().map(ToString::to_string).collect();
        expect![[r#"
            line 1, column 1: line 1: must be `STEP: OUTCOME`, `human: ANSWER`, or either with `-> AGENT` [bad_line]
            line 2, column 1: line 2: `succes` is not an outcome; did you mean `success`? [bad_line]
            line 3, column 1: line 3: `yes` is not an answer; known: `approve`, `reject`, `answer`, `question`, `modify`, `continue`, `accept`, `hand_to`, `abort` [bad_line]
            line 4, column 1: line 4: `A B` is not an agent id: use 1 to 64 lower-case letters and digits, joined by `-` [bad_line]"#]].assert_eq(&lines.join("\n"));
    }
}
