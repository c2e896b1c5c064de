//! Credentials in `Authorization: Bearer`: of the runner, and of one attempt at one handoff.
//!
//! Both come from one secret of the server. An attempt's token carries what it is for and a keyed
//! hash of that, so that nothing has to be stored for it and it outlives a restart of the server, as
//! its lease does. Whether its fence still counts, the engine decides.

use std::sync::Arc;

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use baton_core::hash::Hash;
use baton_core::names::AgentId;
use baton_core::run::HandoffId;
use baton_engine::Attempt;
use uuid::Uuid;

use crate::problem::ApiProblem;
use crate::runner_presence::RunnerPresence;

/// The secret that a server shares with its runners, and what it has heard of them: the same for every
/// clone of the key.
#[derive(Clone)]
pub struct RunnerKey {
    secret: [u8; 32],
    presence: Arc<RunnerPresence>,
}

/// What the credential of a request proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    None,
    Runner,
    Attempt(Attempt),
}

pub(crate) const RUNNER: &str = "baton-runner.";
pub(crate) const ATTEMPT: &str = "baton-attempt.";

impl RunnerKey {
    pub fn new(secret: [u8; 32]) -> Self {
        Self { secret, presence: Arc::default() }
    }

    /// Reads what [`RunnerKey::credential`] prints.
    pub fn parse(credential: &str) -> Option<Self> {
        let digits = credential.trim().strip_prefix(RUNNER)?;
        Hash::parse(digits).map(|it| Self::new(it.0))
    }

    /// The credential of a runner.
    pub fn credential(&self) -> String {
        format!("{RUNNER}{}", Hash(self.secret))
    }

    pub(crate) fn presence(&self) -> &RunnerPresence {
        &self.presence
    }

    /// The token of one attempt.
    pub(crate) fn attempt_token(&self, attempt: &Attempt) -> String {
        let claim = claim_of(attempt);
        format!("{ATTEMPT}{claim}.{}", self.sign(&claim))
    }

    pub(crate) fn read(&self, token: &str) -> Option<Credential> {
        if let Some(given) = Self::parse(token) {
            return (Hash::of(&given.secret) == Hash::of(&self.secret))
                .then_some(Credential::Runner);
        }
        let (claim, mac) = token.strip_prefix(ATTEMPT)?.rsplit_once('.')?;
        let given = Hash::parse(mac)?;
        // Hashed once more, so that the time of the comparison tells nothing.
        if Hash::of(&given.0) != Hash::of(&self.sign(claim).0) {
            return None;
        }
        let mut parts = claim.split('.');
        let (agent, id, fence) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Credential::Attempt(Attempt {
            agent: AgentId::parse(agent).ok()?,
            handoff: HandoffId(Uuid::parse_str(id).ok()?),
            fence: fence.parse().ok()?,
        }))
    }

    /// HMAC-SHA256 (RFC 2104).
    fn sign(&self, claim: &str) -> Hash {
        let padded = |pad: u8| {
            let mut block = [pad; 64];
            block.iter_mut().zip(self.secret).for_each(|(to, key)| *to ^= key);
            block
        };
        let inner = Hash::of(&[&padded(0x36)[..], b"attempt:", claim.as_bytes()].concat());
        Hash::of(&[&padded(0x5c)[..], &inner.0].concat())
    }
}

impl std::fmt::Debug for RunnerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RunnerKey(..)")
    }
}

fn claim_of(attempt: &Attempt) -> String {
    format!("{}.{}.{}", attempt.agent, attempt.handoff.0.simple(), attempt.fence)
}

/// The credential of a request. A token that is not ours is refused, and not taken for none.
pub(crate) fn credential(
    headers: &HeaderMap,
    key: Option<&RunnerKey>,
) -> Result<Credential, ApiProblem> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(Credential::None) };
    let value = value.to_str().unwrap_or_default();
    // Another scheme is for a proxy in front.
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Ok(Credential::None);
    }
    let known = key.and_then(|it| it.read(token.trim()));
    known.ok_or_else(|| {
        let message = if token.trim().is_empty() {
            "the token in `Authorization` is empty: `BATON_TOKEN` is set only for an agent that a \
             runner started; leave the header out"
        } else {
            "this server gave no such token; a runner's is in `runner.key` of its data, an agent's in \
             its `BATON_TOKEN`"
        };
        ApiProblem::new(StatusCode::UNAUTHORIZED, "bad_token", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(fence: u32) -> Attempt {
        Attempt {
            agent: AgentId::parse("implementer").unwrap(),
            handoff: HandoffId(Uuid::from_u128(7)),
            fence,
        }
    }

    #[test]
    fn a_token_says_which_attempt_it_is_for_and_nothing_in_it_can_be_changed() {
        let key = RunnerKey::new([7; 32]);
        let token = key.attempt_token(&attempt(3));
        assert_eq!(key.read(&token), Some(Credential::Attempt(attempt(3))));
        for other in [
            token.replace(".3.", ".4."),
            token.replace("implementer", "reviewer"),
            token[..token.len() - 1].to_owned(),
            format!("{token}0"),
            token.to_uppercase(),
            String::new(),
        ] {
            assert_eq!(key.read(&other), None, "{other}");
        }
        assert_eq!(RunnerKey::new([8; 32]).read(&token), None, "another server's");
    }

    #[test]
    fn the_runner_s_credential_is_read_as_it_is_printed() {
        let key = RunnerKey::new([7; 32]);
        let again = RunnerKey::parse(&format!("{}\n", key.credential())).unwrap();
        assert_eq!(again.read(&key.credential()), Some(Credential::Runner));
        assert_eq!(RunnerKey::new([8; 32]).read(&key.credential()), None);
        assert_eq!(format!("{key:?}"), "RunnerKey(..)", "no log has it");
    }

    /// The key and the text of RFC 4231's second case, with the prefix of our own claims.
    #[test]
    fn it_is_hmac() {
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let expected = "34051c43";
        let mac = RunnerKey::new(key).sign("what do ya want for nothing?").to_string();
        assert_eq!(&mac[..8], expected);
    }
}
