//! Why nothing could be recovered.

use baton_files::FileError;
use baton_store::StoreError;
use baton_store_sqlite::OpenError;

#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    #[error(transparent)]
    Files(#[from] FileError),
    #[error("the new database or its scratch database cannot be made")]
    Open(#[source] OpenError),
    #[error("the new database or its scratch database cannot be read or written")]
    Store(#[from] StoreError),
    #[error("what was brought back is not whole, so it is not given out: {}", problems.join("; "))]
    NotWhole { problems: Vec<String> },
}
