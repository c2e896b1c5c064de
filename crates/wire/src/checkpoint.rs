//! Checkpoints: what the log was at one moment, signed.
//!
//! The hashes of the log have no key: a program that can write the database can make them anew. A
//! checkpoint is signed (Ed25519), and a copy of it that is kept elsewhere proves that the log up to
//! there has not been cut, reordered or rewritten since.
//!
//! The root is a running hash over every event in the order of the log: position, run, version, and
//! the event's own hash, which covers all events of its run before it. So it covers the length and
//! the head of every run, and the order between runs, and the next root needs the new events only.

use std::collections::BTreeSet;

use baton_core::content::ContentId;
use baton_core::hash::Hash;
use baton_core::run::RunId;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The first line of a text that says nothing of lost texts, and of one that does.
const WITHOUT_LOSSES: &str = "baton checkpoint 1";
const WITH_LOSSES: &str = "baton checkpoint 2";
const SIGNATURE: &str = "signature ";

/// One event, as the root covers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLink {
    pub position: u64,
    pub run: RunId,
    pub version: u64,
    /// The name of the event.
    pub name: String,
    pub hash: Hash,
}

/// The log from its first event up to some event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPrefix {
    /// Of the last event; 0 before the first.
    pub position: u64,
    pub n_events: u64,
    pub n_runs: u64,
    pub n_handoffs: u64,
    pub root: Hash,
}

impl LogPrefix {
    pub const EMPTY: Self =
        Self { position: 0, n_events: 0, n_runs: 0, n_handoffs: 0, root: Hash::ZERO };

    /// The prefix that ends with the next event.
    #[must_use]
    pub fn with(&self, link: &LogLink) -> Self {
        let mut digest = Sha256::new();
        digest.update(self.root.0);
        digest.update(link.position.to_be_bytes());
        digest.update(link.run.0.as_bytes());
        digest.update(link.version.to_be_bytes());
        digest.update(link.hash.0);
        Self {
            position: link.position,
            n_events: self.n_events + 1,
            n_runs: self.n_runs + u64::from(link.name == "run.started"),
            n_handoffs: self.n_handoffs + u64::from(link.name == "handoff.created"),
            root: Hash(digest.finalize().into()),
        }
    }
}

/// The texts that are recorded as lost since the data was recovered from damage. No command adds to
/// them, or takes one away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostTexts {
    pub n: u64,
    /// Over the run and the id of each, in their order; zero where there is none.
    pub digest: Hash,
}

impl LostTexts {
    pub const NONE: Self = Self { n: 0, digest: Hash::ZERO };

    /// Of the number of the run and the id of each.
    pub fn of(texts: &[(u64, ContentId)]) -> Self {
        let ordered: BTreeSet<(u64, [u8; 32])> =
            texts.iter().map(|(run, id)| (*run, id.0.0)).collect();
        if ordered.is_empty() {
            return Self::NONE;
        }
        let mut digest = Sha256::new();
        for (run, id) in &ordered {
            digest.update(run.to_be_bytes());
            digest.update(id);
        }
        Self { n: ordered.len() as u64, digest: Hash(digest.finalize().into()) }
    }
}

/// What is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    pub project: Uuid,
    /// The epoch of the log: a restored backup begins another.
    pub epoch: String,
    /// Counted from 1 in a database.
    pub number: u64,
    pub at: Timestamp,
    pub log: LogPrefix,
    /// How many versions of stories there were, and the head of their chain.
    pub n_story_links: u64,
    pub story_head: Hash,
    /// The texts that were recorded as lost. Checkpoints of earlier versions do not say.
    pub lost_texts: Option<LostTexts>,
    /// Hash of the text of the checkpoint before it.
    pub previous: Hash,
    /// The public key.
    pub key: PublicKey,
}

/// The public half of the key that checkpoints are signed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

/// The secret half. It has no way out but [`CheckpointKey::to_line`], for its own file.
pub struct CheckpointKey(SigningKey);

/// A checkpoint with its signature, as it is stored, printed and kept elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCheckpoint {
    text: String,
    signature: [u8; 64],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    #[error("it is not a checkpoint: line {0} cannot be read")]
    Line(usize),
    #[error("its signature does not fit its text")]
    Signature,
}

impl PublicKey {
    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        Hash::parse(text.trim()).map(|it| Self(it.0))
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", Hash(self.0))
    }
}

impl CheckpointKey {
    /// A key from 32 random bytes.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(SigningKey::from_bytes(&bytes))
    }

    pub fn parse(line: &str) -> Option<Self> {
        Hash::parse(line.trim()).map(|it| Self::from_random(it.0))
    }

    pub fn to_line(&self) -> String {
        format!("{}\n", Hash(self.0.to_bytes()))
    }

    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    pub fn sign(&self, checkpoint: &Checkpoint) -> SignedCheckpoint {
        let text = checkpoint.text();
        let signature = self.0.sign(text.as_bytes()).to_bytes();
        SignedCheckpoint { text, signature }
    }
}

impl Checkpoint {
    fn text(&self) -> String {
        let Self {
            project, epoch, number, at, log, n_story_links, story_head, previous, key, ..
        } = self;
        let LogPrefix { position, n_events, n_runs, n_handoffs, root } = log;
        let (first_line, losses) = match self.lost_texts {
            None => (WITHOUT_LOSSES, String::new()),
            Some(LostTexts { n, digest }) => {
                (WITH_LOSSES, format!("lost-texts {n}\nlost-digest {digest}\n"))
            }
        };
        format!(
            "{first_line}\nproject {project}\nepoch {epoch}\nnumber {number}\nat {at}\n\
             position {position}\nevents {n_events}\nruns {n_runs}\nhandoffs {n_handoffs}\n\
             root {root}\nstories {n_story_links}\nstory-head {story_head}\n{losses}\
             previous {previous}\nkey {key}\n"
        )
    }

    fn parse(text: &str) -> Result<Self, CheckpointError> {
        let mut lines = text.lines().enumerate();
        let has_losses = match lines.next() {
            Some((_, WITHOUT_LOSSES)) => false,
            Some((_, WITH_LOSSES)) => true,
            Some(_) | None => return Err(CheckpointError::Line(1)),
        };
        let mut fields = LineFields { lines };
        let checkpoint = Self {
            project: fields.read("project", |it| it.parse().ok())?,
            epoch: fields.read("epoch", |it| Some(it.to_owned()))?,
            number: fields.read("number", |it| it.parse().ok())?,
            at: fields.read("at", |it| it.parse().ok())?,
            log: LogPrefix {
                position: fields.read("position", |it| it.parse().ok())?,
                n_events: fields.read("events", |it| it.parse().ok())?,
                n_runs: fields.read("runs", |it| it.parse().ok())?,
                n_handoffs: fields.read("handoffs", |it| it.parse().ok())?,
                root: fields.read("root", Hash::parse)?,
            },
            n_story_links: fields.read("stories", |it| it.parse().ok())?,
            story_head: fields.read("story-head", Hash::parse)?,
            lost_texts: match has_losses {
                false => None,
                true => Some(LostTexts {
                    n: fields.read("lost-texts", |it| it.parse().ok())?,
                    digest: fields.read("lost-digest", Hash::parse)?,
                }),
            },
            previous: fields.read("previous", Hash::parse)?,
            key: fields.read("key", PublicKey::parse)?,
        };
        // One text for one checkpoint: what is read is exactly what was signed.
        if checkpoint.text() == text { Ok(checkpoint) } else { Err(CheckpointError::Line(1)) }
    }
}

struct LineFields<I> {
    lines: I,
}

impl<'a, I: Iterator<Item = (usize, &'a str)>> LineFields<I> {
    fn read<T>(
        &mut self,
        name: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, CheckpointError> {
        let (index, line) = self.lines.next().ok_or(CheckpointError::Line(1))?;
        let value = line.strip_prefix(name).and_then(|it| it.strip_prefix(' '));
        value.and_then(read).ok_or(CheckpointError::Line(index + 1))
    }
}

impl SignedCheckpoint {
    /// As a store returned it, which may be damaged: see [`SignedCheckpoint::check`].
    pub fn new(text: String, signature: [u8; 64]) -> Self {
        Self { text, signature }
    }

    /// Reads what [`SignedCheckpoint::print`] wrote.
    pub fn parse(printed: &str) -> Result<Self, CheckpointError> {
        let printed = printed.replace("\r\n", "\n");
        let n_lines = printed.lines().count();
        let at = printed.rfind(SIGNATURE).ok_or(CheckpointError::Line(n_lines.max(1)))?;
        let (text, line) = printed.split_at(at);
        let mut signature = [0; 64];
        hex::decode_to_slice(line[SIGNATURE.len()..].trim(), &mut signature)
            .map_err(|_| CheckpointError::Line(n_lines))?;
        Ok(Self { text: text.to_owned(), signature })
    }

    pub fn print(&self) -> String {
        format!("{}{SIGNATURE}{}\n", self.text, hex::encode(self.signature))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn signature(&self) -> &[u8; 64] {
        &self.signature
    }

    /// Hash of the text, by which the next checkpoint names this one.
    pub fn hash(&self) -> Hash {
        Hash::of(self.text.as_bytes())
    }

    /// The checkpoint, if it was signed by the key that it names. Whose key that is, the caller has
    /// to know.
    pub fn check(&self) -> Result<Checkpoint, CheckpointError> {
        let checkpoint = Checkpoint::parse(&self.text)?;
        let key = VerifyingKey::from_bytes(&checkpoint.key.0);
        let key = key.map_err(|_| CheckpointError::Signature)?;
        key.verify_strict(self.text.as_bytes(), &Signature::from_bytes(&self.signature))
            .map_err(|_| CheckpointError::Signature)?;
        Ok(checkpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(position: u64) -> LogLink {
        let name = if position == 1 { "run.started" } else { "handoff.created" };
        let run = RunId(Uuid::from_u128(7));
        let hash = Hash::of(&position.to_be_bytes());
        LogLink { position, run, version: position, name: name.to_owned(), hash }
    }

    fn signed(key: &CheckpointKey) -> SignedCheckpoint {
        signed_with(key, Some(LostTexts::of(&[(3, ContentId(Hash::of(b"a text")))])))
    }

    fn signed_with(key: &CheckpointKey, lost_texts: Option<LostTexts>) -> SignedCheckpoint {
        key.sign(&Checkpoint {
            project: Uuid::from_u128(1),
            epoch: "ABCDEFGH".to_owned(),
            number: 1,
            at: Timestamp::constant(1_750_000_000, 5),
            log: LogPrefix::EMPTY.with(&link(1)).with(&link(2)),
            n_story_links: 3,
            story_head: Hash::of(b"stories"),
            lost_texts,
            previous: Hash::ZERO,
            key: key.public(),
        })
    }

    #[test]
    fn what_is_printed_is_read_again_and_proves_itself() {
        let key = CheckpointKey::from_random([7; 32]);
        let signed = signed(&key);
        let again = SignedCheckpoint::parse(&signed.print()).unwrap();
        assert_eq!(again, signed);
        let checkpoint = again.check().unwrap();
        assert_eq!((checkpoint.log.n_events, checkpoint.log.n_runs), (2, 1));
        assert_eq!(checkpoint.key, key.public());
        assert_eq!(CheckpointKey::parse(&key.to_line()).unwrap().public(), key.public());
        let windows = signed.print().replace('\n', "\r\n");
        assert_eq!(SignedCheckpoint::parse(&windows).unwrap(), signed);
    }

    #[test]
    fn a_checkpoint_that_was_signed_before_losses_were_covered_stays_valid() {
        let key = CheckpointKey::from_random([7; 32]);
        let printed = signed_with(&key, None).print();
        assert!(printed.starts_with("baton checkpoint 1\n"), "{printed}");
        assert_eq!(printed.lines().count(), 15);
        // As it was signed by the version before.
        let hash = SignedCheckpoint::parse(&printed).unwrap().hash();
        assert_eq!(
            hash.to_string(),
            "bdfbeaffe668da8aeb9a0485d66716ce2397bbaf54c386ea9b2b4147f4278084"
        );
        let read = SignedCheckpoint::parse(&printed).unwrap().check().unwrap();
        assert_eq!(read.lost_texts, None);
    }

    #[test]
    fn the_digest_of_losses_depends_on_each_and_not_on_their_order() {
        let [a, b] = [b"a", b"b"].map(|it| ContentId(Hash::of(it)));
        let both = LostTexts::of(&[(1, a), (2, b)]);
        assert_eq!(both, LostTexts::of(&[(2, b), (1, a)]));
        assert_eq!(both.n, 2);
        for other in [vec![], vec![(1, a)], vec![(1, b), (2, a)], vec![(1, a), (3, b)]] {
            assert_ne!(both, LostTexts::of(&other));
        }
    }

    #[test]
    fn every_changed_byte_is_found() {
        let key = CheckpointKey::from_random([7; 32]);
        let printed = signed(&key).print();
        for index in 0..printed.len() - 1 {
            let mut bytes = printed.clone().into_bytes();
            bytes[index] = if bytes[index] == b'0' { b'1' } else { b'0' };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let read = SignedCheckpoint::parse(&text).and_then(|it| it.check());
            assert!(read.is_err(), "{index}: {text}");
        }
    }

    #[test]
    fn the_root_depends_on_every_part_and_on_the_order() {
        let whole = LogPrefix::EMPTY.with(&link(1)).with(&link(2)).root;
        let other = |change: fn(&mut LogLink)| {
            let mut last = link(2);
            change(&mut last);
            LogPrefix::EMPTY.with(&link(1)).with(&last).root
        };
        assert_ne!(whole, other(|it| it.position = 3));
        assert_ne!(whole, other(|it| it.version = 3));
        assert_ne!(whole, other(|it| it.hash = Hash::ZERO));
        assert_ne!(whole, other(|it| it.run = RunId(Uuid::from_u128(8))));
        assert_ne!(whole, LogPrefix::EMPTY.with(&link(2)).with(&link(1)).root);
    }
}
