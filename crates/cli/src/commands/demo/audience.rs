//! The person who watches: what is asked of them, and what they type. The page takes the same answers.

use std::io::{BufRead as _, IsTerminal as _};
use std::time::Duration;

use baton_api::InboxItemDocument;
use baton_core::gate::AnswerKind;
use baton_core::names::AgentId;
use tokio::sync::mpsc;
use tokio::time::Instant;
use uuid::Uuid;

use super::consent::{commands, consent, is_permission, needs_person};
use super::narrator::wrapped;
use super::viewer::{Viewer, ViewerAnswer};
use crate::failure::Failure;
use crate::show;

/// Who answers, where the person does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerPolicy {
    /// The demo: a question after ten seconds, and declared gates with `--yes`.
    Demo,
    /// `baton do`: no one; with `--yes` questions and declared gates.
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
    /// Those that were shown already, with the approvals that they had.
    seen: Vec<(Uuid, Option<String>)>,
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

    /// A person at the terminal is asked, and may be typing.
    pub(in crate::commands) fn is_asked(&self) -> bool {
        self.asked.is_some() && self.lines.is_some()
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
        let inbox = without_own_questions(viewer.inbox(run).await?);
        let is_open =
            |asked: &AskedViewer| inbox.iter().any(|it| it.handoff_id == Some(asked.handoff));
        if self.asked.as_ref().is_some_and(|it| !is_open(it)) {
            self.asked = None;
        }
        self.show_open(&inbox, viewer.caller(), scripted);
        if self.says_yes {
            return self.say_yes(viewer, &inbox, scripted).await;
        }
        let typed = self.lines.as_mut().and_then(|it| it.try_recv().ok());
        let Some(asked) = &self.asked else { return Ok(()) };
        let answer = match typed {
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
        match viewer.answer(asked.handoff, answer).await {
            Ok(()) => self.asked = None,
            // Answered on the page meanwhile, or not an answer that it takes.
            Err(failure @ Failure::Refused { .. }) => {
                show::answer(&format!("    {}", show::warn(&failure.to_string())));
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Shows what is new, and again what is open while the person is asked nothing: a gate comes back
    /// after a question, and one that another took the place of.
    fn show_open(&mut self, inbox: &[InboxItemDocument], caller: &str, scripted: &str) {
        let causes = self.policy.approved_causes();
        let now: Vec<(Uuid, Option<String>)> = inbox.iter().filter_map(state_of).collect();
        self.seen.retain(|it| now.contains(it));
        for item in inbox {
            let Some(state) = state_of(item) else { continue };
            if !self.seen.contains(&state) {
                let is_answered = self.says_yes && consent(item, causes, caller, scripted).is_ok();
                self.show(item, state.0, (caller, is_answered));
                self.seen.push(state);
            }
        }
        if self.asked.is_none()
            && !self.says_yes
            && let Some((item, handoff)) = inbox.iter().find_map(|it| Some((it, it.handoff_id?)))
        {
            self.show(item, handoff, (caller, false));
        }
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
            let answer = consent(item, causes, caller, scripted)
                .map_err(|why| needs_person(item, caller, &why, then))?;
            let remark = || self.policy.remark().map(str::to_owned);
            let answer = ViewerAnswer { comment: answer.comment.or_else(remark), ..answer };
            match viewer.answer(handoff, answer).await {
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
        let title = match (is_question || is_permission(item), is_advisory) {
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
        for text in words.clone().filter(|_| is_permission(item)).flat_map(|it| it.lines()) {
            // What a program would do has lines of its own.
            for line in wrapped(&show::visible(text), WIDTH) {
                show::answer(&format!("    {}", show::dim(&line)));
            }
        }
        let words = words.filter(|_| !is_permission(item));
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
        let shown = |(kind, needs_words): &(AnswerKind, bool)| {
            let agent = if *kind == AnswerKind::HandTo { " AGENT" } else { "" };
            let text = if *needs_words { " TEXT" } else { "" };
            format!("{}{agent}{text}", typed_word(*kind))
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

/// As it is typed, here and after `baton answer`.
fn typed_word(kind: AnswerKind) -> String {
    kind.name().replace('_', "-")
}

/// The answers that can be typed: those that need no package.
fn choice(word: &str) -> Option<AnswerKind> {
    let typed = [
        AnswerKind::Approve,
        AnswerKind::Reject,
        AnswerKind::Reply,
        AnswerKind::Question,
        AnswerKind::Continue,
        AnswerKind::Accept,
        AnswerKind::HandTo,
        AnswerKind::Abort,
    ];
    typed.into_iter().find(|it| it.name() == word)
}

/// What a typed line means; or what is wrong with it.
fn read_answer(asked: &AskedViewer, line: &str) -> Result<ViewerAnswer, String> {
    let line = line.trim();
    if asked.is_question {
        return match line.is_empty() {
            true => Err("type your answer, and Enter".to_owned()),
            false => Ok(ViewerAnswer::new(AnswerKind::Reply).with_comment(line)),
        };
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let names: Vec<String> = asked.choices.iter().map(|(it, _)| typed_word(*it)).collect();
    let begun = word.to_lowercase().replace('_', "-");
    let is_meant = |kind: AnswerKind| !word.is_empty() && typed_word(kind).starts_with(&begun);
    let Some((kind, needs_words)) = asked.choices.iter().find(|(it, _)| is_meant(*it)) else {
        return Err(format!("type one of: {}", names.join(", ")));
    };
    let (to_agent, rest) = match kind {
        AnswerKind::HandTo => {
            let (agent, rest) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
            if agent.is_empty() {
                return Err("say to which agent: hand-to AGENT".to_owned());
            }
            (Some(agent.to_owned()), rest)
        }
        AnswerKind::Approve
        | AnswerKind::Reject
        | AnswerKind::Reply
        | AnswerKind::Question
        | AnswerKind::Modify
        | AnswerKind::Continue
        | AnswerKind::Accept
        | AnswerKind::Abort => (None, rest),
    };
    let rest = rest.trim();
    if *needs_words && rest.is_empty() {
        return Err(format!("say why: {} TEXT", typed_word(*kind)));
    }
    let comment = (!rest.is_empty()).then(|| rest.to_owned());
    Ok(ViewerAnswer { kind: *kind, to_agent, comment })
}

/// What the demo itself says to a question.
fn scripted_reply(scripted: &str) -> ViewerAnswer {
    let words = if scripted.trim().is_empty() { "As you think best" } else { scripted.trim() };
    ViewerAnswer::new(AnswerKind::Reply).with_comment(words)
}

/// A gate is shown again once another of its approvals is there.
fn state_of(item: &InboxItemDocument) -> Option<(Uuid, Option<String>)> {
    Some((item.handoff_id?, item.approvals.as_ref().map(|it| it.progress.clone())))
}

/// What a person asked of an agent is for that agent to answer; the gate that it is about waits for it.
fn without_own_questions(mut inbox: Vec<InboxItemDocument>) -> Vec<InboxItemDocument> {
    let is_own = |item: &InboxItemDocument| {
        let row = item.trail.iter().find(|it| item.handoff.as_ref() == Some(&it.label));
        item.cause == "question"
            && row
                .is_some_and(|it| it.from_agent == AgentId::HUMAN && it.to_agent != AgentId::HUMAN)
    };
    if inbox.iter().any(is_own) {
        inbox.retain(|it| !is_own(it) && (it.cause == "question" || is_advisory(it)));
    }
    inbox
}

/// The work goes on, whether a person says something or not. A program that asks for permission waits.
fn is_advisory(item: &InboxItemDocument) -> bool {
    item.kind.is_some_and(|it| it.0.name() == "advisory") && !is_permission(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(is_question: bool) -> AskedViewer {
        let choices = vec![
            (AnswerKind::Approve, false),
            (AnswerKind::Reject, true),
            (AnswerKind::HandTo, false),
        ];
        AskedViewer { handoff: Uuid::nil(), choices, is_question, since: Instant::now() }
    }

    #[track_caller]
    fn check_typed(line: &str, expected: Result<(AnswerKind, Option<&str>), &str>) {
        let read = read_answer(&asked(false), line);
        let read = read.as_ref().map(|it| (it.kind, it.comment.as_deref()));
        assert_eq!(read.map_err(String::as_str), expected, "{line}");
    }

    #[test]
    fn a_gate_is_answered_by_the_beginning_of_a_word_and_a_reason() {
        check_typed("approve", Ok((AnswerKind::Approve, None)));
        check_typed(" a  looks good ", Ok((AnswerKind::Approve, Some("looks good"))));
        check_typed("reject too dear", Ok((AnswerKind::Reject, Some("too dear"))));
        check_typed("r", Err("say why: reject TEXT"));
        check_typed("", Err("type one of: approve, reject, hand-to"));
        check_typed("yes", Err("type one of: approve, reject, hand-to"));
    }

    #[test]
    fn the_agent_that_work_is_handed_to_is_typed_after_the_answer() {
        for line in ["hand-to implementer", "hand_to implementer", "h implementer "] {
            let read = read_answer(&asked(false), line).unwrap();
            let expected = ViewerAnswer {
                to_agent: Some("implementer".to_owned()),
                ..ViewerAnswer::new(AnswerKind::HandTo)
            };
            assert_eq!(read, expected, "{line}");
        }
        let read = read_answer(&asked(false), "hand-to implementer it knows why").unwrap();
        assert_eq!(read.comment.as_deref(), Some("it knows why"));
        check_typed("hand-to", Err("say to which agent: hand-to AGENT"));
    }

    #[test]
    fn a_question_takes_any_text() {
        let read = read_answer(&asked(true), " Ten off! ").unwrap();
        assert_eq!(read, ViewerAnswer::new(AnswerKind::Reply).with_comment("Ten off!"));
        assert!(read_answer(&asked(true), "  ").is_err());
        assert_eq!(scripted_reply("Ten\n").comment.as_deref(), Some("Ten"));
    }
}
