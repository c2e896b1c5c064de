//! A part of held work: delegate it, return it, ask a person.

use baton_api::{Delegation, Escalation, Returned};

use super::on;
use crate::api::Api;
use crate::args::PartArgs;
use crate::failure::Failure;
use crate::payload;

pub(super) async fn delegate(api: &Api, part: &PartArgs, to: &str) -> Result<(), Failure> {
    let body = Delegation {
        to_agent: to.to_owned(),
        package: Some(payload::package(&part.payload)?),
        reason: part.reason.clone(),
        fence: part.fence.fence,
        profile: api.profile(&part.profile),
    };
    on(api, &part.which, &part.write, "delegate", &body).await
}

pub(super) async fn give_back(api: &Api, part: &PartArgs, outcome: &str) -> Result<(), Failure> {
    let body = Returned {
        outcome: outcome.to_owned(),
        package: Some(payload::package(&part.payload)?),
        reason: part.reason.clone(),
        fence: part.fence.fence,
        profile: api.profile(&part.profile),
    };
    on(api, &part.which, &part.write, "return", &body).await
}

pub(super) async fn escalate(api: &Api, part: &PartArgs) -> Result<(), Failure> {
    let body = Escalation {
        package: Some(payload::package(&part.payload)?),
        reason: part.reason.clone(),
        fence: part.fence.fence,
        profile: api.profile(&part.profile),
    };
    on(api, &part.which, &part.write, "escalate", &body).await
}
