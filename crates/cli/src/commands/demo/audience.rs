//! The person who watches: what is asked of them, and what they type. The page takes the same answers.

use std::io::{BufRead as _, IsTerminal as _};
use std::time::Duration;

use baton_api::InboxItemDocument;
use baton_core::gate::AnswerKind;
use tokio::sync::mpsc;
use tokio::time::Instant;
use uuid::Uuid;

use super::consent::{commands, consent, needs_person};
use super::narrator::wrapped;
use super::viewer::Viewer;
use crate::failure::Failure;
use crate::show;

/// Who answers, where the person does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerPolicy {
    /// The demo: a question after ten seconds, and declared gates with `--yes`.
    Demo,
    /// `baton do`: nobody; with `--yes` questions and declared gates.
    Person,
}

impl AnswerPolicy {
    /// The gates at which `--yes` approves.
    fn approved_causes(self) -> &'static [&'static str] {
        match self {
            // Its own scripts have an agent that is not sure of its work.
            Self::Demo => &["declared", "confidence"],
            Self::Person => &["declared"],
        }
    }

    /// What `--yes` says with an approval.
    fn remark(self) -> Option<&'static str> {
        match self {
            Self::Demo => Some("fine with me"),
            Self::Person => None,
        }
    }

    /// What a person does after the answer that `--yes` did not give.
    fn what_then(self) -> &'static str {
        match self {
            Self::Demo => "the demo ends here",
            Self::Person => "`baton do --continue` goes on after the answer",
        }
    }
}

/// After this long the demo itself answers a question. A gate waits.
const MOST_THINKING: Duration = Duration::from_secs(10);
const WIDTH: usize = 76;

pub(in crate::commands) struct Audience {
    /// What is typed, a line each; `None` where there is no terminal.
    lines: Option<mpsc::UnboundedReceiver<String>>,
    policy: AnswerPolicy,
    /// Answer at once, in the viewer's name.
    says_yes: bool,
    /// Where else to answer.
    page: String,
    asked: Option<AskedViewer>,
    /// Those that were shown already.
    seen: Vec<Uuid>,
    /// An answer of `--yes` that was refused, with why. Answered elsewhere meanwhile, it is gone at the next look.
    refused: Option<(Uuid, String)>,
    /// The baton was found loose: at the next look a person has to move it.
    has_seen_loose: bool,
}

/// What the viewer is asked at the moment.
struct AskedViewer {
    handoff: Uuid,
    choices: Vec<(AnswerKind, bool)>,
    is_question: bool,
    since: Instant,
}

impl Audience {
    pub(in crate::commands) fn of_demo(says_yes: bool, page: String) -> Self {
        Self::new(AnswerPolicy::Demo, says_yes, page)
    }

    /// The person who has given the work.
    pub(in crate::commands) fn of_work(says_yes: bool, page: String) -> Self {
        Self::new(AnswerPolicy::Person, says_yes, page)
    }

    fn new(policy: AnswerPolicy, says_yes: bool, page: String) -> Self {
        let is_there = std::io::stdin().is_terminal() && !says_yes;
        let lines = is_there.then(typed_lines);
        let (asked, seen) = (None, Vec::new());
        Self { lines, policy, says_yes, page, asked, seen, refused: None, has_seen_loose: false }
    }

    /// Shows what has come, and passes on what was typed since.
    pub(in crate::commands) async fn attend(
        &mut self,
        viewer: &Viewer,
        run: Uuid,
        scripted: &str,
    ) -> Result<(), Failure> {
        let inbox = viewer.inbox(run).await?;
        let is_open =
            |asked: &AskedViewer| inbox.iter().any(|it| it.handoff_id == Some(asked.handoff));
        if self.asked.as_ref().is_some_and(|it| !is_open(it)) {
            self.asked = None;
        }
        let (caller, causes) = (viewer.caller(), self.policy.approved_causes());
        for item in &inbox {
            if let Some(handoff) = item.handoff_id
                && !self.seen.contains(&handoff)
            {
                self.seen.push(handoff);
                let is_answered = self.says_yes && consent(item, causes, caller, scripted).is_ok();
                self.show(item, handoff, (caller, is_answered));
            }
        }
        if self.says_yes {
            return self.say_yes(viewer, &inbox, scripted).await;
        }
        let typed = self.lines.as_mut().and_then(|it| it.try_recv().ok());
        let Some(asked) = &self.asked else { return Ok(()) };
        let (answer, comment) = match typed {
            Some(line) => match read_answer(asked, &line) {
                Ok(answer) => answer,
                Err(hint) => {
                    show::answer(&format!("    {}", show::warn(&hint)));
                    return Ok(());
                }
            },
            None if self.policy == AnswerPolicy::Person => return Ok(()),
            None if asked.is_question && asked.since.elapsed() >= MOST_THINKING => {
                show::answer(&format!(
                    "    {}",
                    show::dim("(10 seconds are over: the demo answers for you)")
                ));
                scripted_reply(scripted)
            }
            None => return Ok(()),
        };
        match viewer.answer(asked.handoff, answer, comment).await {
            Ok(()) => self.asked = None,
            // Answered on the page meanwhile, or not an answer that it takes.
            Err(failure @ Failure::Refused { .. }) => {
                show::answer(&format!("    {}", show::warn(&failure.to_string())));
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Answers what `--yes` answers, and ends at what it does not.
    async fn say_yes(
        &mut self,
        viewer: &Viewer,
        inbox: &[InboxItemDocument],
        scripted: &str,
    ) -> Result<(), Failure> {
        let (caller, then) = (viewer.caller(), self.policy.what_then());
        let causes = self.policy.approved_causes();
        let is_loose = |it: &InboxItemDocument| it.handoff_id.is_none();
        let was_loose = std::mem::replace(&mut self.has_seen_loose, inbox.iter().any(is_loose));
        for item in inbox.iter().filter(|it| !is_advisory(it)) {
            let Some(handoff) = item.handoff_id else {
                if was_loose {
                    return Err(needs_person(item, caller, &item.why, then));
                }
                continue;
            };
            if let Some((_, why)) = self.refused.as_ref().filter(|(it, _)| *it == handoff) {
                return Err(needs_person(item, caller, why, then));
            }
            let (answer, comment) = consent(item, causes, caller, scripted)
                .map_err(|why| needs_person(item, caller, &why, then))?;
            let comment = comment.or_else(|| self.policy.remark().map(str::to_owned));
            match viewer.answer(handoff, answer, comment).await {
                Ok(()) => {}
                Err(failure @ Failure::Refused { .. }) => {
                    self.refused = Some((handoff, failure.to_string()));
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    fn show(
        &mut self,
        item: &InboxItemDocument,
        handoff: Uuid,
        (caller, is_answered): (&str, bool),
    ) {
        let is_question = item.cause == "question";
        let is_advisory = is_advisory(item);
        if is_advisory && self.lines.is_none() {
            return;
        }
        let title = match (is_question, is_advisory) {
            (true, _) => "you are asked",
            (false, true) => "you may object",
            (false, false) => "you decide",
        };
        let about = item.name.clone().or_else(|| item.words.clone().filter(|_| is_question));
        let about = about.unwrap_or_else(|| item.why.clone());
        show::answer(&format!(
            "\n  {} {}",
            show::warn(&format!("◆ {title}:")),
            show::bold(&show::visible(&about))
        ));
        let words = item.words.iter().filter(|_| !is_question && !is_advisory);
        let said = item.sender.iter().flat_map(|it| &it.parts).filter(|it| it.name == "summary");
        let said = said.flat_map(|it| &it.texts).take(1);
        for text in said.chain(words).chain(item.items.iter().filter(|_| !is_advisory)) {
            for line in wrapped(&show::one_line(text), WIDTH) {
                show::answer(&format!("    {}", show::dim(&line)));
            }
        }
        if let Some(approvals) = &item.approvals {
            show::answer(&format!("    {}", show::visible(&approvals.progress)));
        }
        let choices: Vec<(AnswerKind, bool)> = item
            .choices
            .iter()
            .filter_map(|it| Some((choice(&it.choice)?, it.needs_words)))
            .collect();
        if is_answered {
            show::answer("    (--yes answers for you)\n");
        } else if !self.says_yes {
            self.say_how(item, caller, &choices, is_question);
        }
        if !is_advisory || self.asked.is_none() {
            let since = Instant::now();
            self.asked = Some(AskedViewer { handoff, choices, is_question, since });
        }
    }

    fn say_how(
        &self,
        item: &InboxItemDocument,
        caller: &str,
        choices: &[(AnswerKind, bool)],
        is_question: bool,
    ) {
        let shown = |(kind, needs_words): &(AnswerKind, bool)| match needs_words {
            true => format!("{} TEXT", kind.name()),
            false => kind.name().to_owned(),
        };
        let typed = match is_question {
            true => "your answer".to_owned(),
            false => choices.iter().map(shown).collect::<Vec<_>>().join("  |  "),
        };
        let page = show::mark(&self.page);
        let is_for_others = item.approvals.as_ref().is_some_and(|it| {
            !it.any_person && !it.open.is_empty() && !it.open.iter().any(|it| it == caller)
        });
        let how = match &self.lines {
            Some(_) if !is_for_others => {
                format!("type: {}\n    or answer on the page: {page}", show::bold(&typed))
            }
            Some(_) | None if self.policy == AnswerPolicy::Person => {
                format!(
                    "answer with one of:\n      {}\n    or on the page: {page}",
                    commands(item, caller).join("\n      ")
                )
            }
            Some(_) | None => format!("answer on the page: {page}"),
        };
        let rest = if is_question && self.policy == AnswerPolicy::Demo {
            "  (the demo answers after 10 s)"
        } else {
            ""
        };
        show::answer(&format!("    {how}{}\n", show::dim(rest)));
    }
}

/// Reads the terminal in a thread of its own, which ends with the process.
fn typed_lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The answers that can be typed: those that need no agent and no package.
fn choice(word: &str) -> Option<AnswerKind> {
    let typed = [
        AnswerKind::Approve,
        AnswerKind::Reject,
        AnswerKind::Reply,
        AnswerKind::Question,
        AnswerKind::Continue,
        AnswerKind::Accept,
        AnswerKind::Abort,
    ];
    typed.into_iter().find(|it| it.name() == word)
}

/// What a typed line means; or what is wrong with it.
fn read_answer(asked: &AskedViewer, line: &str) -> Result<(AnswerKind, Option<String>), String> {
    let line = line.trim();
    if asked.is_question {
        return match line.is_empty() {
            true => Err("type your answer, and Enter".to_owned()),
            false => Ok((AnswerKind::Reply, Some(line.to_owned()))),
        };
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let names: Vec<&str> = asked.choices.iter().map(|(it, _)| it.name()).collect();
    let is_meant =
        |kind: AnswerKind| !word.is_empty() && kind.name().starts_with(&word.to_lowercase());
    let Some((kind, needs_words)) = asked.choices.iter().find(|(it, _)| is_meant(*it)) else {
        return Err(format!("type one of: {}", names.join(", ")));
    };
    let rest = rest.trim();
    if *needs_words && rest.is_empty() {
        return Err(format!("say why: {} TEXT", kind.name()));
    }
    Ok((*kind, (!rest.is_empty()).then(|| rest.to_owned())))
}

/// What the demo itself says to a question.
fn scripted_reply(scripted: &str) -> (AnswerKind, Option<String>) {
    let words = if scripted.trim().is_empty() { "As you think best" } else { scripted.trim() };
    (AnswerKind::Reply, Some(words.to_owned()))
}

fn is_advisory(item: &InboxItemDocument) -> bool {
    item.kind.is_some_and(|it| it.0.name() == "advisory")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(is_question: bool) -> AskedViewer {
        let choices = vec![(AnswerKind::Approve, false), (AnswerKind::Reject, true)];
        AskedViewer { handoff: Uuid::nil(), choices, is_question, since: Instant::now() }
    }

    #[track_caller]
    fn check_typed(line: &str, expected: Result<(AnswerKind, Option<&str>), &str>) {
        let read = read_answer(&asked(false), line);
        let read = read.as_ref().map(|(kind, words)| (*kind, words.as_deref()));
        assert_eq!(read.map_err(String::as_str), expected, "{line}");
    }

    #[test]
    fn a_gate_is_answered_by_the_beginning_of_a_word_and_a_reason() {
        check_typed("approve", Ok((AnswerKind::Approve, None)));
        check_typed(" a  looks good ", Ok((AnswerKind::Approve, Some("looks good"))));
        check_typed("reject too dear", Ok((AnswerKind::Reject, Some("too dear"))));
        check_typed("r", Err("say why: reject TEXT"));
        check_typed("", Err("type one of: approve, reject"));
        check_typed("yes", Err("type one of: approve, reject"));
    }

    #[test]
    fn a_question_takes_any_text() {
        let read = read_answer(&asked(true), " Ten off! ").unwrap();
        assert_eq!(read, (AnswerKind::Reply, Some("Ten off!".to_owned())));
        assert!(read_answer(&asked(true), "  ").is_err());
        assert_eq!(scripted_reply("Ten\n").1.as_deref(), Some("Ten"));
    }
}
