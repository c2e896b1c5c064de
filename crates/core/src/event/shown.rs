//! What a creation says is shown of the agents from then on.

use super::Created;
use crate::run::{Portrait, Run, RunCast};

impl Run {
    pub(super) fn record_shown(&mut self, created: &Created) {
        if let Some(cast) = created.cast {
            self.casts.push(RunCast { since: created.handoff, cast, is_after: false });
        }
        let parties = [
            (&created.from.agent, created.from_portrait),
            (&created.to.agent, created.to_portrait),
        ];
        for (agent, portrait) in parties {
            let Some(portrait) = portrait else { continue };
            self.portraits.push(Portrait {
                agent: agent.clone(),
                since: created.handoff,
                portrait,
            });
        }
    }
}
