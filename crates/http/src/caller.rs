//! Who asks, and what makes it safe to ask twice.

use axum::http::HeaderMap;
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_engine::{Caller, Key, Mode};

use crate::problem::Problem;

/// Without credentials it is whoever sits at this machine. `route` is where a key counts, and
/// `request` all that has to be the same when it is sent again.
pub(crate) fn caller(headers: &HeaderMap, route: &str, request: &str) -> Result<Caller, Problem> {
    let principal = local()?;
    let key = match headers.get("idempotency-key").map(|it| it.to_str()) {
        None => None,
        Some(Ok(key)) if is_key(key) => Some(Key {
            scope: format!("http:{principal}:{route}"),
            key: key.to_owned(),
            request: Hash::of(request.as_bytes()),
        }),
        Some(_) => {
            let message = "`Idempotency-Key` has 1 to 200 plain characters";
            return Err(Problem::malformed("bad_key", message));
        }
    };
    Ok(Caller { principal, key, mode: Mode::Commit, expected: None })
}

fn is_key(key: &str) -> bool {
    !key.trim().is_empty() && key.len() <= 200 && key.bytes().all(|it| (b' '..=b'~').contains(&it))
}

pub(crate) fn local() -> Result<Principal, Problem> {
    Ok(Principal::parse("local")?)
}
