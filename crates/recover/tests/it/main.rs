//! Damages a database in every way that a disk can, and looks what is brought back.

mod archive;
mod damages;
mod wreckage;
