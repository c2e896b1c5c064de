//! The caller of a request, and its idempotency key.

use axum::http::HeaderMap;
use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_engine::{Caller, CommandMode, Key};

use crate::problem::ApiProblem;

/// `route` is the scope of the idempotency key, and `request` everything that has to be the same
/// when the request is sent again.
pub(crate) fn caller(
    headers: &HeaderMap,
    route: &str,
    request: &str,
) -> Result<Caller, ApiProblem> {
    let principal = principal(headers)?;
    let key = match headers.get("idempotency-key").map(|it| it.to_str()) {
        None => None,
        Some(Ok(key)) if is_key(key) => Some(Key {
            scope: format!("http:{principal}:{route}"),
            key: key.to_owned(),
            request: Hash::of(request.as_bytes()),
        }),
        Some(_) => {
            let message = "`Idempotency-Key` has 1 to 200 plain characters";
            return Err(ApiProblem::malformed("bad_key", message));
        }
    };
    Ok(Caller { principal, key, mode: CommandMode::Commit, expected: None })
}

fn is_key(key: &str) -> bool {
    !key.trim().is_empty() && key.len() <= 200 && key.bytes().all(|it| (b' '..=b'~').contains(&it))
}

/// The name in `Baton-As`, else the local user. A name, not a credential: it is trusted because
/// only this machine can send requests.
pub(crate) fn principal(headers: &HeaderMap) -> Result<Principal, ApiProblem> {
    let Some(name) = headers.get("baton-as") else { return Ok(Principal::parse("local")?) };
    // Names are UTF-8, which header values may contain although HTTP does not define it.
    let name = std::str::from_utf8(name.as_bytes())
        .map_err(|_| ApiProblem::malformed("bad_name", "`Baton-As` is not UTF-8 text"))?;
    Ok(Principal::typed(name)?)
}
