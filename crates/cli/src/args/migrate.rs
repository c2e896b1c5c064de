//! `baton migrate`: what may be typed.

use clap::Args;

use super::database::TypedDatabase;
use super::typed_database;

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Where the data is: a data folder, such as `.baton/data`, or a database, as `postgres://USER@HOST/NAME`
    #[arg(long, value_name = "DIR|DATABASE_URL", value_parser = typed_database)]
    pub(crate) from: TypedDatabase,
    /// Where it goes: a folder without data, or an empty database
    #[arg(long, value_name = "DIR|DATABASE_URL", value_parser = typed_database)]
    pub(crate) to: TypedDatabase,
}
