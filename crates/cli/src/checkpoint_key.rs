//! The key that checkpoints are signed with: a file of the data folder, for its owner alone. No
//! command prints or copies it; a backup does not have it.

use baton_core::decide::IdSource as _;
use baton_core::hash::Hash;
use baton_engine::{CheckpointKeys, SystemClock};
use baton_files::{Dir, FileMode};
use baton_store::StoreError;
use baton_wire::checkpoint::{CheckpointKey, PublicKey};

use crate::failure::Failure;

const KEY_FILE: &str = "audit.key";
const MOST_KEY_BYTES: u64 = 1024;

/// The key in a data folder.
pub(crate) struct DataKeys(pub(crate) Dir);

impl CheckpointKeys for DataKeys {
    fn key(&self) -> Result<CheckpointKey, StoreError> {
        match self.0.read_text(KEY_FILE, MOST_KEY_BYTES) {
            Ok(text) => CheckpointKey::parse(&text).ok_or_else(|| {
                let path = self.0.path().join(KEY_FILE);
                let why = "holds no key; put it back from where you keep a copy of the data folder, \
                           or remove it, and a new one is made";
                StoreError::Unavailable(format!("`{}` {why}", path.display()).into())
            }),
            Err(error) if error.is_not_found() => {
                let random = [SystemClock.nonce(), SystemClock.nonce(), SystemClock.nonce()];
                let key = CheckpointKey::from_random(Hash::of(&random.concat()).0);
                let written =
                    self.0.write_atomic(KEY_FILE, key.to_line().as_bytes(), FileMode::Private);
                written.map_err(|error| StoreError::Unavailable(Box::new(error)))?;
                Ok(key)
            }
            Err(error) => Err(StoreError::Unavailable(Box::new(error))),
        }
    }
}

/// The public key of a data folder; `None` where no checkpoint was signed yet.
pub(crate) fn public_key(data: &Dir) -> Result<Option<PublicKey>, Failure> {
    match data.read_text(KEY_FILE, MOST_KEY_BYTES) {
        Ok(text) => Ok(CheckpointKey::parse(&text).map(|it| it.public())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
