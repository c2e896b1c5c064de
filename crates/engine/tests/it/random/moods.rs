//! Those who always do the same: the only way to where a person has to decide, to the bottom of
//! a stack of delegates, and to the last attempt.

use baton_core::outcome::Outcome;
use proptest::prelude::*;

use super::{Temper, draws, likely, pick};
use crate::act::{Order, Says, What};
use crate::flows::{Parcel, is_delegate};
use crate::model::{Baton, Handoff, Kind, Run, State, flow_of};

pub(super) fn typical(temper: Temper, story: usize, run: &Run) -> BoxedStrategy<What> {
    match run.baton {
        Baton::Offered(no) if run.row(no).state == State::Clarification => {
            let question = run.row(no).question.expect("it waits for an answer");
            answer_question(temper, run.row(question), no)
        }
        Baton::Offered(no) => take(temper, story, run.row(no)),
        Baton::HeldBack(no) => pick(vec![
            (3, likely::wait_seconds()),
            (4, likely::on(Order::Wake { no })),
            (1, likely::on(Order::TimeOut { no })),
        ]),
        Baton::Held(no) => work(temper, story, run.row(no)),
        Baton::Asked(no) => draws::answer(no, run.choices(no)),
        Baton::Loose { .. } | Baton::Done => likely::likely(story, run),
    }
}

fn take(temper: Temper, story: usize, handoff: &Handoff) -> BoxedStrategy<What> {
    let simply = accept(handoff, None);
    match temper {
        Temper::Lively | Temper::Stubborn => simply,
        Temper::Deep if handoff.kind == Kind::Return => {
            pick(vec![(2, simply), (3, draws::reject(handoff))])
        }
        Temper::Deep => pick(vec![(9, simply), (1, draws::reject(handoff))]),
        Temper::Curious => {
            let lease = proptest::option::weighted(0.2, draws::lease()).boxed();
            let asking = draws::accept_with(handoff, Just(Says::Unclear).boxed(), lease);
            pick(vec![(3, simply), (4, draws::clarify(handoff)), (1, asking)])
        }
        Temper::Frail => pick(vec![
            (9, accept(handoff, Some(20))),
            (1, draws::complete(story, handoff, Just(Outcome::Success).boxed())),
        ]),
    }
}

fn accept(handoff: &Handoff, lease: Option<u32>) -> BoxedStrategy<What> {
    let no = handoff.no;
    likely::on(Order::Accept { no, by: None, says: Says::Understood, lease })
}

fn work(temper: Temper, story: usize, handoff: &Handoff) -> BoxedStrategy<What> {
    let (no, place) = (handoff.no, handoff.to.place);
    let on = if is_delegate(place) {
        let (outcome, parcel) = (Just(Outcome::Success).boxed(), Just(Parcel::Full).boxed());
        draws::complete_to(handoff, outcome, parcel, Just(None).boxed())
    } else {
        likely::straight_on(story, handoff)
    };
    match temper {
        Temper::Lively | Temper::Stubborn if has_way_back(story, place) => {
            pick(vec![(1, on), (4, likely::back(story, handoff))])
        }
        Temper::Lively | Temper::Stubborn => {
            let n_checks = if likely::is_checked(story, handoff) { 12 } else { 1 };
            pick(vec![(6, on), (1, draws::reject(handoff)), (n_checks, draws::record(no))])
        }
        Temper::Deep => pick(vec![
            (2, on),
            (8, draws::delegate(story, handoff)),
            (1, draws::escalate(handoff)),
            (1, draws::reject(handoff)),
        ]),
        Temper::Curious => pick(vec![(2, on), (4, draws::clarify(handoff))]),
        Temper::Frail => {
            let lost = likely::on(Order::LoseLease { no, fence: handoff.fence });
            pick(vec![(1, on), (6, lost), (1, draws::delegate(story, handoff))])
        }
    }
}

fn answer_question(temper: Temper, question: &Handoff, about: u32) -> BoxedStrategy<What> {
    let reply = draws::reply(question, about);
    let (no, fence) = (question.no, question.fence);
    match (temper, question.state) {
        (Temper::Frail, State::Pending) => pick(vec![(1, reply), (4, accept(question, Some(5)))]),
        (Temper::Frail, _) => {
            pick(vec![(1, reply), (6, likely::on(Order::LoseLease { no, fence }))])
        }
        (Temper::Lively | Temper::Stubborn | Temper::Deep | Temper::Curious, _) => reply,
    }
}

fn has_way_back(story: usize, place: &str) -> bool {
    flow_of(story).edges_from(place).iter().any(|it| it.is_back)
}
