//! Beneath a folder that anybody may have prepared.

mod killed;
mod prepared;
mod staged;

use std::fs;
use std::path::Path;

use crate::{Access, Dir, FileError, FileMode};

fn temporary() -> (tempfile::TempDir, Dir) {
    let folder = tempfile::tempdir().unwrap();
    let dir = Dir::open(folder.path()).unwrap();
    (folder, dir)
}

fn names(dir: &Dir) -> Vec<String> {
    dir.list().unwrap().into_iter().map(|(it, _)| it.into_string().unwrap()).collect()
}

#[test]
fn what_is_written_is_read_and_nothing_else_is_left() {
    let (_folder, dir) = temporary();
    for text in ["one", "longer than one", ""] {
        dir.make_dirs("a/b", FileMode::Shared).unwrap();
        dir.write_atomic("a/b/x", text.as_bytes(), FileMode::Shared).unwrap();
        assert_eq!(dir.read_text("a/b/x", 100).unwrap(), text);
        assert_eq!(names(&dir.subdir("a/b").unwrap()), ["x"]);
    }
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let (_folder, dir) = temporary();
    dir.make_dirs("a", FileMode::Shared).unwrap();
    for path in ["..", "../x", "a/../x", "a/..", "/etc/hostname", "/", ""] {
        let error = dir.read(path, 100).unwrap_err();
        assert!(matches!(error, FileError::Outside { .. }), "{path:?}: {error}");
        let error = dir.write_atomic(path, b"x", FileMode::Shared).unwrap_err();
        assert!(matches!(error, FileError::Outside { .. }), "{path:?}: {error}");
    }
}

#[test]
fn a_file_over_the_limit_is_not_read() {
    let (_folder, dir) = temporary();
    dir.write_atomic("x", b"12345", FileMode::Shared).unwrap();
    assert_eq!(dir.read("x", 5).unwrap(), b"12345");
    let error = dir.read("x", 4).unwrap_err();
    assert!(error.to_string().ends_with("x` has 5 bytes; at most 4 are read"), "{error}");
}

#[test]
fn what_is_there_is_never_made_new() {
    let (_folder, dir) = temporary();
    dir.create_new("x", FileMode::Private).unwrap().write(b"first").unwrap();
    let error = dir.create_new("x", FileMode::Private).unwrap_err();
    assert!(matches!(error, FileError::Exists { .. }), "{error}");
    dir.create_new("y", FileMode::Private).unwrap();
    let error = dir.rename_new("y", &dir, "x").unwrap_err();
    assert!(matches!(error, FileError::Exists { .. }), "{error}");
    assert_eq!(dir.read("x", 9).unwrap(), b"first");
    dir.rename("y", &dir, "x").unwrap();
    assert_eq!((names(&dir), dir.read("x", 9).unwrap()), (vec!["x".to_owned()], Vec::new()));
}

#[test]
fn what_is_not_there_has_no_entry_and_is_removed_without_a_word() {
    let (_folder, dir) = temporary();
    for path in ["x", "a/b/x"] {
        assert_eq!(dir.entry(path).unwrap(), None);
        dir.remove(path).unwrap();
        let error = dir.open_file(path, Access::Write).unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
}

#[test]
fn a_folder_is_removed_with_all_that_is_in_it() {
    let (_folder, dir) = temporary();
    dir.make_dirs("a/b/c", FileMode::Shared).unwrap();
    dir.write_atomic("a/b/x", b"x", FileMode::Shared).unwrap();
    dir.remove("a").unwrap();
    assert_eq!(names(&dir), [""; 0]);
}

#[test]
fn a_folder_stays_the_same_when_its_path_leads_elsewhere() {
    let (folder, dir) = temporary();
    let inner = dir.make_dirs("a", FileMode::Shared).unwrap();
    fs::rename(folder.path().join("a"), folder.path().join("moved")).unwrap();
    if cfg!(unix) {
        inner.write_atomic("x", b"x", FileMode::Shared).unwrap();
        assert_eq!(fs::read(folder.path().join("moved/x")).unwrap(), b"x");
    }
}

#[test]
fn a_folder_that_was_named_is_made_with_those_above_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    Dir::open_or_make(&path, FileMode::Private).unwrap();
    Dir::open_or_make(&path, FileMode::Private).unwrap();
    fs::write(path.join("file"), "").unwrap();
    let error = Dir::open(&path.join("file")).unwrap_err();
    assert!(matches!(error, FileError::WrongKind { .. }), "{error}");
    assert!(Dir::open(Path::new("")).is_ok(), "the current folder");
}

#[test]
fn private_is_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, dir) = temporary();
    let mode = |name: &str| {
        fs::symlink_metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777
    };
    dir.make_dirs("private", FileMode::Private).unwrap();
    dir.make_dirs("shared", FileMode::Shared).unwrap();
    dir.create_new("p", FileMode::Private).unwrap();
    dir.write_atomic("a", b"", FileMode::Private).unwrap();
    dir.open_file("o", Access::WriteOrCreate).unwrap();
    assert_eq!(["private", "p", "a", "o"].map(mode), [0o700, 0o600, 0o600, 0o600]);
    assert_eq!(mode("shared") & 0o022, 0);
    fs::set_permissions(folder.path().join("p"), fs::Permissions::from_mode(0o644)).unwrap();
    dir.make_private("p").unwrap();
    assert_eq!(mode("p"), 0o600);
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn a_folder_knows_where_it_was_moved_to_and_that_it_was_deleted() {
    let (folder, dir) = temporary();
    let root = folder.path().canonicalize().unwrap();
    let inner = dir.make_dirs("a/b", FileMode::Shared).unwrap();
    assert_eq!(inner.current_path(), Some(root.join("a/b")));
    fs::rename(root.join("a"), root.join("moved (deleted)")).unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    assert_eq!(inner.current_path(), Some(root.join("moved (deleted)/b")));
    fs::remove_dir(root.join("moved (deleted)/b")).unwrap();
    assert_eq!(inner.current_path(), None);
    fs::create_dir(root.join("moved (deleted)/b")).unwrap();
    assert_eq!(inner.current_path(), None, "another of the same name");
}
