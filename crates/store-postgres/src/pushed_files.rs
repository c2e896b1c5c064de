//! The workflow and agent files that all nodes use (`baton push`).

use baton_core::hash::Hash;
use baton_store::StoreResult;
use tokio_postgres::types::Type;

use crate::columns::Columns;
use crate::query::{Connections, SqlQuery};

/// A file, by its path below the project's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedFile {
    pub path: String,
    /// Of its text.
    pub hash: Hash,
    pub text: String,
}

/// Makes `files` the files of the project: all of them, and no others.
pub(crate) async fn replace(connections: &Connections, files: &[PushedFile]) -> StoreResult<()> {
    let paths: Vec<&str> = files.iter().map(|it| it.path.as_str()).collect();
    let hashes: Vec<&[u8]> = files.iter().map(|it| &it.hash.0[..]).collect();
    let texts: Vec<&str> = files.iter().map(|it| it.text.as_str()).collect();
    let sql = "with removed as (delete from pushed_files where path <> all($1))
               insert into pushed_files (path, hash, text)
               select path, hash, text from unnest($1, $2, $3) as new (path, hash, text)
               on conflict (path) do update set hash = excluded.hash, text = excluded.text";
    let query = SqlQuery::new(sql)
        .with(paths, Type::TEXT_ARRAY)
        .with(hashes, Type::BYTEA_ARRAY)
        .with(texts, Type::TEXT_ARRAY);
    connections.execute(&query).await.map(|_| ())
}

/// By path.
pub(crate) async fn list(connections: &Connections) -> StoreResult<Vec<PushedFile>> {
    let query = SqlQuery::new("select path, hash, text from pushed_files order by path");
    let rows = connections.read(&query).await?;
    let read = |row| {
        let row = Columns::of(row, "pushed_files", "path");
        Ok(PushedFile { path: row.get("path")?, hash: row.hash("hash")?, text: row.get("text")? })
    };
    rows.iter().map(read).collect()
}

/// One hash over all of them, which is cheap to ask for: it changes when a file does.
pub(crate) async fn version(connections: &Connections) -> StoreResult<Option<String>> {
    let sql = "select md5(string_agg(path || encode(hash, 'hex'), ' ' order by path)) as version
               from pushed_files";
    let row = connections.read_one(&SqlQuery::new(sql)).await?;
    row.map_or(Ok(None), |row| Columns::of(&row, "pushed_files", "version").get("version"))
}
