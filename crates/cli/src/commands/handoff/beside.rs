//! What belongs to a handoff besides its row: what a person is asked and said, what was asked
//! about it and answered, who holds it and how, what was checked.

use baton_core::document::{Node, Number};
use baton_core::evidence::Evidence;
use baton_core::gate::Gate;
use baton_core::run::Handoff;
use baton_engine::{Exchange, PersonsAnswer};
use baton_store::{HandoffRow, RunRef};

use crate::failure::Failure;
use crate::session::Session;
use crate::show;

pub(super) struct Beside {
    question: Question,
    exchanges: Vec<Exchange>,
    /// While it is open.
    open: Option<Handoff>,
}

/// What a handoff asks a person, or what they said.
enum Question {
    None,
    Open(Box<Gate>),
    Answered(PersonsAnswer),
}

impl Beside {
    pub(super) async fn of(session: &Session, row: &HandoffRow) -> Result<Self, Failure> {
        let run = session.engine.run(&RunRef::Id(row.run)).await?;
        let open = run.run.handoff(row.no).cloned();
        let question = match open.as_ref().and_then(|it| it.gate.clone()) {
            Some(gate) => Question::Open(Box::new(gate)),
            None if row.to.agent.is_human() => {
                let answer = session.engine.answer_to(row.run, row.no).await?;
                answer.map_or(Question::None, Question::Answered)
            }
            None => Question::None,
        };
        let exchanges = session.engine.exchanges(row).await?;
        Ok(Self { question, exchanges, open })
    }

    pub(super) fn to_words(&self, row: &HandoffRow) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.open.as_ref().and_then(holding));
        words.extend(checked(self.evidence()));
        words.extend(self.exchanges.iter().map(exchange_words));
        words.extend(self.question.to_words(row));
        words
    }

    pub(super) fn to_json(&self) -> Vec<(String, Node)> {
        let number = |it: u32| Node::Number(Number::from(i64::from(it)));
        let open = self.open.as_ref();
        let fence = open.map_or(Node::Null, |it| number(it.fence));
        let lease = open.and_then(|it| it.lease).map_or(Node::Null, number);
        let evidence = self.evidence().iter().map(|it| {
            Node::map([
                ("check", Node::text(it.check.as_str())),
                ("verdict", Node::text(it.verdict.name())),
            ])
        });
        let questions = self.exchanges.iter().map(|it| {
            Node::map([
                ("label", Node::text(it.row.no.label())),
                ("from", Node::text(it.row.from.agent.as_str())),
                ("to", Node::text(it.row.to.agent.as_str())),
                ("question", Node::text(&it.question)),
                ("answer", it.answer.as_ref().map_or(Node::Null, Node::text)),
            ])
        });
        [
            ("question", self.question.to_json()),
            ("questions", Node::List(questions.collect())),
            ("fence", fence),
            ("leaseSeconds", lease),
            ("evidence", Node::List(evidence.collect())),
        ]
        .map(|(name, node)| (name.to_owned(), node))
        .into()
    }

    fn evidence(&self) -> &[Evidence] {
        match (&self.question, &self.open) {
            (Question::Open(gate), _) => &gate.evidence,
            (Question::None | Question::Answered(_), Some(open)) => &open.evidence,
            (Question::None | Question::Answered(_), None) => &[],
        }
    }
}

fn holding(open: &Handoff) -> Option<String> {
    let seconds = open.lease?;
    let fence = open.fence;
    Some(format!("held with fence {fence}; to be heard of at least every {seconds} seconds"))
}

fn checked(evidence: &[Evidence]) -> Option<String> {
    if evidence.is_empty() {
        return None;
    }
    let words: Vec<String> =
        evidence.iter().map(|it| format!("{} {}", it.check, it.verdict.name())).collect();
    Some(format!("checked: {}", words.join(", ")))
}

fn exchange_words(it: &Exchange) -> String {
    let (asker, asked) = (&it.row.from.agent, &it.row.to.agent);
    let question = format!("{asker} asked {asked}: {}", show::visible(&it.question));
    match &it.answer {
        Some(answer) => {
            format!("{question}\n  {} {}", show::good("answer:"), show::visible(answer))
        }
        None if it.row.state.is_open() => {
            let number = it.row.number;
            format!("{question}\n  baton handoff answer {number} --text TEXT")
        }
        None => format!("{question}\n  {}", show::dim("withdrawn")),
    }
}

impl Question {
    fn to_words(&self, row: &HandoffRow) -> Option<String> {
        match self {
            Question::None => None,
            Question::Open(gate) => {
                let sentence = show::warn(gate.cause.sentence());
                let type_this = show::what_to_answer(&row.number.to_string(), gate);
                Some(format!("{sentence}\n  {type_this}\n  baton inbox   says what each would do"))
            }
            Question::Answered(PersonsAnswer { answer, by, comment, at }) => {
                let at = show::Times::local().show(*at);
                let comment = comment.as_deref().map_or_else(String::new, |it| format!(": {it}"));
                let by = show::visible(by.as_str());
                let name = show::good(answer.name());
                Some(format!("answered {name} by {by} at {at}{}", show::visible(&comment)))
            }
        }
    }

    fn to_json(&self) -> Node {
        match self {
            Question::None => Node::Null,
            Question::Open(gate) => Node::map([
                ("cause", Node::text(gate.cause.name())),
                ("choices", Node::List(gate.choices().iter().map(|it| Node::text(*it)).collect())),
            ]),
            Question::Answered(PersonsAnswer { answer, by, comment, at }) => Node::map([
                ("answer", Node::text(answer.name())),
                ("by", Node::text(by.as_str())),
                ("comment", comment.as_ref().map_or(Node::Null, Node::text)),
                ("at", Node::text(at.to_string())),
            ]),
        }
    }
}
