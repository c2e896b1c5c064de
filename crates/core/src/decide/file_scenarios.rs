//! Scenarios of files that a runner sends back.

use super::fixture::*;
use crate::command::{Command, SendFile};
use crate::event::{Event, FileEvent};
use crate::outcome::Outcome;
use crate::run::HandoffNo;
use crate::sent_file::{
    FileBytes, HoldingEnd, MOST_FILE_BYTES, MOST_FILES, SentFile, SentFileKind,
};

fn sent(fence: u32, end: HoldingEnd, n_bytes: u64) -> Command {
    let bytes = FileBytes::New { text: "hello".into(), n_bytes };
    let file = SentFile { kind: SentFileKind::Log, record: "{}".into(), bytes };
    Command::SendFile(SendFile { handoff: HandoffNo(1), fence, end, file })
}

fn held() -> (Tester, u32) {
    let mut tester = Tester::started();
    let fence = tester.does(&accept_with(1, 20)).done.fence.unwrap();
    (tester, fence)
}

#[test]
fn a_file_is_kept_as_two_texts_and_moves_nothing() {
    let (mut tester, fence) = held();
    let before = tester.run.clone();
    let done = tester.does(&sent(fence, HoldingEnd::Unknown, 5));
    let [Event::File(FileEvent::Sent { record, text, n_bytes: 5, .. })] = done.events[..] else {
        panic!("{:?}", done.events)
    };
    let ids: Vec<_> = done.contents.iter().map(|it| it.id).collect();
    assert_eq!(ids, [record, text.unwrap()]);
    assert_eq!(tester.run.moved_at, before.moved_at);
    assert_eq!(tester.run.handoffs, before.handoffs);
}

#[test]
fn bytes_that_the_run_has_are_not_stored_again_and_left_out_ones_not_at_all() {
    let (mut tester, fence) = held();
    let first = tester.does(&sent(fence, HoldingEnd::Unknown, 5));
    let Event::File(FileEvent::Sent { text: Some(stored), .. }) = first.events[0] else { panic!() };
    for (bytes, expected) in
        [(FileBytes::Stored { text: stored, n_bytes: 5 }, Some(stored)), (FileBytes::LeftOut, None)]
    {
        let file = SentFile { kind: SentFileKind::Artifact, record: "{}".into(), bytes };
        let (handoff, end) = (HandoffNo(1), HoldingEnd::Unknown);
        let again = tester.does(&Command::SendFile(SendFile { handoff, fence, end, file }));
        let Event::File(FileEvent::Sent { text, .. }) = again.events[0] else { panic!() };
        assert_eq!(text, expected);
        assert_eq!(again.contents.len(), 1, "the record alone");
    }
}

#[test]
fn a_holder_that_lost_the_work_sends_nothing_any_more() {
    let (mut tester, fence) = held();
    tester.does(&lose(1, fence));
    for end in [HoldingEnd::Lost, HoldingEnd::Unknown] {
        let refused = tester.would(&sent(fence, end, 5)).unwrap_err();
        assert_eq!(refused.code(), "stale_fence", "{end:?}");
    }
}

#[test]
fn a_holder_that_ended_its_work_itself_may_still_send_its_files() {
    let (mut tester, fence) = held();
    tester.does(&complete(1, Outcome::Success, plan()));
    tester.does(&sent(fence, HoldingEnd::Own, 5));
    tester.does(&Command::CancelRun { reason: None });
    tester.does(&sent(fence, HoldingEnd::Own, 5));
}

#[test]
fn an_attempt_sends_so_many_files_and_bytes_and_no_more() {
    let (mut tester, fence) = held();
    let refused = tester.would(&sent(fence, HoldingEnd::Own, MOST_FILE_BYTES + 1)).unwrap_err();
    assert_eq!(refused.code(), "files_full");
    tester.does(&sent(fence, HoldingEnd::Own, MOST_FILE_BYTES));
    assert_eq!(tester.would(&sent(fence, HoldingEnd::Own, 1)).unwrap_err().code(), "files_full");
    for _ in 1..MOST_FILES {
        tester.does(&sent(fence, HoldingEnd::Own, 0));
    }
    let refused = tester.would(&sent(fence, HoldingEnd::Own, 0)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "50 files with 8388608 bytes of this attempt at HO-001 are kept, and more than 50 files or 8388608 \
         bytes are not; send fewer or smaller files"
    );
}
