//! What `baton verify` finds: every column, row and object of the database is changed in turn by
//! another program, and every kind of damage to the file is made by hand.

mod edits;
mod file;
mod flips;
mod forger;
mod populated;
mod rows;
mod table;
mod unreadable;
