//! How much was sent back of the newest attempts, so that the limits can be kept.

use super::{HandoffNo, Run};
use crate::sent_file::AttemptFiles;

/// The newest attempts of which something was sent. No more are at work at once.
const MOST_ATTEMPTS: usize = 64;

impl Run {
    pub(crate) fn files_of(&self, handoff: HandoffNo, fence: u32) -> AttemptFiles {
        let is_own = |it: &&AttemptFiles| it.handoff == handoff && it.fence == fence;
        let none = AttemptFiles { handoff, fence, n_files: 0, n_bytes: 0 };
        self.files.iter().find(is_own).copied().unwrap_or(none)
    }

    pub(crate) fn count_file(&mut self, handoff: HandoffNo, fence: u32, n_bytes: u64) {
        let mut counted = self.files_of(handoff, fence);
        counted.n_files += 1;
        counted.n_bytes += n_bytes;
        self.files.retain(|it| it.handoff != handoff || it.fence != fence);
        self.files.push(counted);
        let n_old = self.files.len().saturating_sub(MOST_ATTEMPTS);
        self.files.drain(..n_old);
    }
}
