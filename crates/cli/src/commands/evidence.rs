//! `baton evidence`: what was checked, and how it came out.

use baton_api::CheckResult;

use super::outcome::tell;
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
    tell(api, &Ask::on(&args.which, "evidence", &result).writing(&args.write)).await
}
