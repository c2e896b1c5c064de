//! `baton evidence`: what was checked, and how it came out.

use baton_api::CheckResult;

use super::outcome::{Deed, tell_deed};
use crate::api::{Api, Ask};
use crate::args;
use crate::failure::Failure;
use crate::payload;

pub(crate) async fn run(api: &Api, args: &args::EvidenceArgs) -> Result<(), Failure> {
    let result = CheckResult {
        check: args.check.clone(),
        verdict: args.verdict.into(),
        detail: payload::words(args.detail.as_ref())?,
    };
    let (check, verdict) = (&args.check, result.verdict.name());
    let object = format!("that {check} {verdict} at handoff {}", args.which.typed());
    let ask = Ask::on(&args.which, "evidence", &result).writing(&args.write);
    tell_deed(api, &ask, &Deed::new("recorded", "record", &object)).await
}
