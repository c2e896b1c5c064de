//! Acts of the model as commands of the core.

use baton_core::acknowledgement::Acknowledgement;
use baton_core::command::{
    Accept, Clarify, Command, Complete, Create, DelegateVote, GateAnswer, LeaseTime, LoseLease,
    Record, Reject, Release, Reply, Token,
};
use baton_core::document::Node;
use baton_core::evidence::Verdict;
use baton_core::names::{CheckName, FreeText, Principal, StepId};
use baton_core::run::HandoffNo;

use crate::act::{self, Order, Says};
use crate::flows::Parcel;
use crate::world::{agent, package, reason};

pub(crate) fn real_create(create: &act::Create) -> Create {
    Create {
        from: agent(create.from),
        to: agent(create.to),
        package: package(&create.parcel.text(create.serial)),
        outcome: create.outcome,
        reason: None,
        supersedes: create.supersedes.map(HandoffNo),
        hands_on: None,
        way: create.way,
        token: create.token.map(|(no, fence)| Token { handoff: HandoffNo(no), fence }),
        profile: create.profile,
    }
}

pub(crate) fn real_command(order: &Order) -> Command {
    let named = |by: &Option<&str>| by.map(agent);
    let reason = reason("as it says");
    match order {
        Order::Accept { no, by, says, lease } => Command::Accept(Accept {
            handoff: HandoffNo(*no),
            by: named(by),
            acknowledgement: Some(acknowledgement(*says)),
            lease: lease.map(|it| LeaseTime::from_seconds(it).unwrap()),
        }),
        Order::Reject { no, by, fence } => {
            let (handoff, by, fence) = (HandoffNo(*no), named(by), *fence);
            Command::Reject(Reject { handoff, by, reason, fence })
        }
        Order::Complete(complete) => Command::Complete(Complete {
            handoff: HandoffNo(complete.no),
            by: named(&complete.by),
            outcome: complete.outcome,
            package: package(&complete.parcel.text(complete.serial)),
            to: complete.to.map(|it| agent(it).into()),
            reason: None,
            fence: complete.fence,
            profile: complete.profile,
        }),
        Order::Cancel { no, by } => {
            Command::Cancel { handoff: HandoffNo(*no), by: named(by), reason: None }
        }
        Order::TimeOut { no } => Command::TimeOut { handoff: HandoffNo(*no), reason: None },
        Order::MarkStale { no } => Command::MarkStale { handoff: HandoffNo(*no) },
        Order::Answer(answered) => Command::Answer(answer(answered)),
        Order::DelegateVote { no, by, to } => {
            let (by, to) = (Principal::parse(by).unwrap(), Principal::parse(to).unwrap());
            Command::DelegateVote(DelegateVote { gate: HandoffNo(*no), by, to, comment: None })
        }
        Order::Remind { no } => Command::Remind { gate: HandoffNo(*no) },
        Order::Clarify { no, by, fence } => {
            let (handoff, by, fence) = (HandoffNo(*no), named(by), *fence);
            Command::Clarify(Clarify { handoff, by, question: words("Which one?"), fence })
        }
        Order::Reply { no, by, fence } => {
            let (handoff, by, fence) = (HandoffNo(*no), named(by), *fence);
            Command::Reply(Reply { handoff, by, answer: words("The other one."), fence })
        }
        Order::Release { no, by, fence } => {
            let (handoff, by, fence) = (HandoffNo(*no), named(by), *fence);
            Command::Release(Release { handoff, by, reason: None, fence })
        }
        Order::Record { no, check, has_passed } => Command::Record(Record {
            handoff: HandoffNo(*no),
            check: CheckName::parse(check).unwrap(),
            verdict: if *has_passed { Verdict::Passed } else { Verdict::Failed },
            detail: None,
        }),
        Order::LoseLease { no, fence } => {
            Command::LoseLease(LoseLease::unheard(HandoffNo(*no), *fence))
        }
        Order::Wake { no } => Command::Wake { handoff: HandoffNo(*no) },
        Order::Expire { no } => Command::Expire { handoff: HandoffNo(*no) },
        Order::CleanUp => Command::CleanUp { reason: None },
        Order::Pause => Command::Pause { reason: None },
        Order::Resume => Command::Resume,
        Order::CancelRun => Command::CancelRun { reason: Some(reason) },
        Order::Goto { step } => {
            let by = Principal::parse("grace").unwrap();
            Command::Goto { step: StepId::parse(step).unwrap(), reason, by }
        }
        Order::Skip => Command::Skip { reason },
    }
}

fn acknowledgement(says: Says) -> Acknowledgement {
    match says {
        Says::Understood => Acknowledgement::words("understood"),
        Says::Unclear => {
            let document = Node::map([
                ("action", Node::text("request_clarification")),
                ("questions", Node::List(vec![Node::text("Which one?")])),
            ]);
            Acknowledgement::read(&document, "{}").unwrap()
        }
    }
}

fn answer(answered: &act::Answered) -> GateAnswer {
    let written = |(parcel, serial): (Parcel, u32)| package(&parcel.text(serial));
    GateAnswer {
        handoff: HandoffNo(answered.no),
        answer: answered.answer.clone(),
        by: Principal::parse(answered.by).unwrap(),
        comment: answered.has_words.then(|| words("It is as it is.")),
        package: answered.parcel.map(written),
    }
}

fn words(text: &str) -> FreeText {
    FreeText::parse(text).unwrap()
}
