//! A child process is killed before each change of the disk in turn, until it comes to its end.

use std::path::Path;
use std::process::Command;

use super::{names, temporary};
use crate::{Dir, FileMode, fail_point};

const FOLDER: &str = "BATON_FILES_TEST_FOLDER";
const STEP: &str = "BATON_FILES_TEST_STEP";

/// The child: it does nothing where it is run as a test of its own.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test tells its child what to do")]
fn child() {
    let (Ok(folder), Ok(step)) = (std::env::var(FOLDER), std::env::var(STEP)) else { return };
    let dir = Dir::open(Path::new(&folder)).unwrap();
    fail_point::kill_at(step.parse().unwrap());
    dir.write_atomic("file", b"new text", FileMode::Private).unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test tells its child what to do")]
fn a_replaced_file_is_the_old_or_the_new_one_whenever_the_process_is_killed() {
    let (folder, dir) = temporary();
    for step in 1..100 {
        dir.write_atomic("file", b"old", FileMode::Private).unwrap();
        let ended = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::killed::child"])
            .env(FOLDER, folder.path())
            .env(STEP, step.to_string())
            .output()
            .unwrap();
        let text = dir.read_text("file", 100).unwrap();
        if ended.status.success() {
            assert_eq!((text.as_str(), names(&dir)), ("new text", vec!["file".to_owned()]));
            // create, a write in pieces, sync, rename, sync of the folder
            assert!(step > 5, "killed only {step} times");
            return;
        }
        assert!(["old", "new text"].contains(&text.as_str()), "{text:?} after {step} steps");
    }
    panic!("it never came to its end");
}
