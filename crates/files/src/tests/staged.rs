//! Staging folders, and what is left of those whose owner was killed.

use super::{names, temporary};
use crate::{FileMode, STAGING_LOCK, Staging};

const PREFIX: &str = ".baton-copy-";

#[test]
fn a_staging_folder_is_gone_when_it_is_dropped() {
    let (_folder, dir) = temporary();
    let first = Staging::make(&dir, PREFIX).unwrap();
    let second = Staging::make(&dir, PREFIX).unwrap();
    assert_ne!(first.path(), second.path());
    first.dir().write_atomic("x", b"x", FileMode::Private).unwrap();
    drop((first, second));
    assert_eq!(names(&dir), [""; 0]);
}

#[test]
fn only_what_a_killed_process_has_left_is_abandoned() {
    let (_folder, dir) = temporary();
    let _in_use = Staging::make(&dir, PREFIX).unwrap();
    for name in ["dead", "being-made"] {
        dir.make_dirs(format!("{PREFIX}{name}"), FileMode::Private).unwrap();
    }
    dir.write_atomic(format!("{PREFIX}dead/{STAGING_LOCK}"), b"", FileMode::Private).unwrap();
    dir.write_atomic(format!("{PREFIX}file"), b"", FileMode::Private).unwrap();
    let abandoned = Staging::abandoned(&dir, PREFIX).unwrap();
    assert_eq!(abandoned, [format!("{PREFIX}dead").as_str()]);
}
