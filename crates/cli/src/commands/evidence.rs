//! `baton evidence`: what was checked, and how it came out.

use baton_http::api::{CheckResult, VerdictWord};

use super::outcome::tell;
use crate::api::{Api, Ask};
use crate::args::{self, VerdictName};
use crate::failure::Failure;
use crate::payload;

pub(crate) async fn run(api: &Api, args: &args::EvidenceArgs) -> Result<(), Failure> {
    let result = CheckResult {
        check: args.check.clone(),
        verdict: match args.verdict {
            VerdictName::Passed => VerdictWord::Passed,
            VerdictName::Failed => VerdictWord::Failed,
        },
        detail: payload::words(args.detail.as_ref())?,
    };
    tell(api, &Ask::on(&args.which, "evidence", &result).writing(&args.write)).await
}
