//! The server from outside: requests over TCP, on SQLite in a directory of its own.
#![expect(clippy::disallowed_methods, reason = "tests make and read files of their own")]

#[cfg(test)]
mod all_workflows;
#[cfg(test)]
mod approvals;
#[cfg(test)]
mod archive;
#[cfg(test)]
mod attribution;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod base_structure;
#[cfg(test)]
mod branches;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod client;
#[cfg(test)]
mod completion;
#[cfg(test)]
mod damaged_texts;
#[cfg(test)]
mod decided;
#[cfg(test)]
mod described;
#[cfg(test)]
#[path = "../../../wire/tests/skeletons/dice.rs"]
mod dice;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod error_pages;
#[cfg(test)]
mod events;
#[cfg(test)]
mod files;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod handoffs;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod inbox;
#[cfg(test)]
mod inbox_words;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod lists;
#[cfg(test)]
#[path = "../../../wire/tests/skeletons/marks.rs"]
mod marks;
#[cfg(test)]
mod names;
#[cfg(test)]
mod old_contract_names;
#[cfg(test)]
mod page;
#[cfg(test)]
mod page_lists;
#[cfg(test)]
mod page_turns;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod people;
#[cfg(test)]
mod preconditions;
#[cfg(test)]
mod problems;
#[cfg(test)]
mod prompt;
#[cfg(test)]
mod races;
#[cfg(test)]
mod repeats;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod shared;
#[cfg(test)]
mod shown;
#[cfg(test)]
mod store_place;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod templates;
#[cfg(test)]
mod two_lengths;
#[cfg(test)]
mod workflows;
#[cfg(test)]
mod world;
