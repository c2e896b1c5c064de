//! The order of a list.

use crate::named::named;

named! {
    /// Which end of a list comes first, and so what "after a row" means.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Order {
        #[default]
        OldestFirst = "oldest",
        NewestFirst = "newest",
    }
}
