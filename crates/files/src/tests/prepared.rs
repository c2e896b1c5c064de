//! Links, pipes and devices where a file or a folder belongs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, Mode as Bits};

use super::{names, temporary};
use crate::{Access, Dir, FileError, FileKind, FileMode};

/// A folder beside the project's that must stay as it is.
struct Outside(tempfile::TempDir);

impl Outside {
    fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("file"), "theirs").unwrap();
        Self(outside)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    #[track_caller]
    fn assert_untouched(&self) {
        assert_eq!(names(&Dir::open(self.path()).unwrap()), ["file"]);
        assert_eq!(fs::read_to_string(self.path().join("file")).unwrap(), "theirs");
    }
}

#[test]
fn no_link_is_followed_at_any_name() {
    let outside = Outside::new();
    let (folder, dir) = temporary();
    symlink(outside.path(), folder.path().join("folder")).unwrap();
    symlink(outside.path().join("file"), folder.path().join("link")).unwrap();
    symlink(outside.path().join("none"), folder.path().join("dangling")).unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    symlink(".", folder.path().join("here")).unwrap();
    fs::write(folder.path().join("inside"), "ours").unwrap();
    for path in ["folder/file", "folder/none", "here/inside", "link", "dangling", "loop", "loop/x"]
    {
        let is_link = |error: FileError| {
            assert!(matches!(error, FileError::Link { .. }), "{path}: {error}");
        };
        is_link(dir.read(path, 100).unwrap_err());
        is_link(dir.open_file(path, Access::WriteOrCreate).unwrap_err());
        if path.contains('/') {
            is_link(dir.write_atomic(path, b"ours", FileMode::Shared).unwrap_err());
            is_link(dir.create_new(path, FileMode::Shared).unwrap_err());
            is_link(dir.remove(path).unwrap_err());
        } else {
            is_link(dir.subdir(path).unwrap_err());
            is_link(dir.make_dirs(path, FileMode::Shared).unwrap_err());
            is_link(dir.make_private(path).unwrap_err());
            assert_eq!(dir.entry(path).unwrap().unwrap().kind, FileKind::Link);
        }
    }
    outside.assert_untouched();
}

#[test]
fn the_link_is_replaced_or_removed_and_not_what_it_leads_to() {
    let outside = Outside::new();
    let (folder, dir) = temporary();
    for name in ["a", "b"] {
        symlink(outside.path().join("file"), folder.path().join(name)).unwrap();
    }
    symlink(outside.path(), folder.path().join("folder")).unwrap();
    dir.write_atomic("a", b"ours", FileMode::Shared).unwrap();
    dir.remove("b").unwrap();
    dir.remove("folder").unwrap();
    assert_eq!(names(&dir), ["a"]);
    outside.assert_untouched();
}

#[test]
fn a_tree_with_links_in_it_is_removed_and_they_are_not_followed() {
    let outside = Outside::new();
    let (folder, dir) = temporary();
    fs::create_dir_all(folder.path().join("tree/deep")).unwrap();
    symlink(outside.path(), folder.path().join("tree/deep/link")).unwrap();
    dir.remove("tree").unwrap();
    assert_eq!(names(&dir), Vec::<String>::new());
    outside.assert_untouched();
}

/// Were it opened, this would wait for a writer that never comes.
#[test]
fn a_pipe_is_refused_without_waiting() {
    let (folder, dir) = temporary();
    let path = folder.path().join("pipe");
    rustix::fs::mkfifoat(CWD, &path, Bits::RUSR | Bits::WUSR).unwrap();
    for access in [Access::Read, Access::Write, Access::WriteOrCreate] {
        let error = dir.open_file("pipe", access).unwrap_err();
        let found = FileKind::Pipe;
        assert!(
            matches!(&error, FileError::WrongKind { found: it, .. } if *it == found),
            "{error}"
        );
    }
    let expected = format!(
        "`{}` is a named pipe, where Baton needs a file: move it out of the way",
        path.display()
    );
    assert_eq!(dir.read("pipe", 100).unwrap_err().to_string(), expected);
}

#[test]
fn a_device_is_refused() {
    let dir = Dir::open(Path::new("/dev")).unwrap();
    let error = dir.read("zero", 100).unwrap_err();
    assert!(error.to_string().contains("is a device"), "{error}");
}

#[test]
fn what_has_a_second_name_is_read_and_not_written() {
    let outside = Outside::new();
    let (folder, dir) = temporary();
    fs::hard_link(outside.path().join("file"), folder.path().join("second")).unwrap();
    assert_eq!(dir.read("second", 100).unwrap(), b"theirs");
    for access in [Access::Write, Access::WriteOrCreate] {
        let error = dir.open_file("second", access).unwrap_err();
        assert!(matches!(error, FileError::HardLink { n_links: 2, .. }), "{error}");
    }
    assert!(dir.make_private("second").is_err());
    dir.write_atomic("second", b"ours", FileMode::Shared).unwrap();
    outside.assert_untouched();
}

#[test]
fn a_file_in_the_place_of_a_folder_and_the_other_way_round_are_named() {
    let (_folder, dir) = temporary();
    dir.write_atomic("file", b"", FileMode::Shared).unwrap();
    dir.make_dirs("folder", FileMode::Shared).unwrap();
    for (error, found, needed) in [
        (dir.subdir("file").unwrap_err(), "a file", "a folder"),
        (dir.make_dirs("file/below", FileMode::Shared).unwrap_err(), "a file", "a folder"),
        (dir.read("file/below", 1).unwrap_err(), "a file", "a folder"),
        (dir.read("folder", 1).unwrap_err(), "a folder", "a file"),
        (dir.open_file("folder", Access::Write).unwrap_err(), "a folder", "a file"),
    ] {
        let expected = format!("is {found}, where Baton needs {needed}");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

#[test]
fn the_folder_that_a_user_names_may_be_a_link() {
    let (folder, _) = temporary();
    let outside = Outside::new();
    let link = folder.path().join("link");
    symlink(outside.path(), &link).unwrap();
    assert_eq!(names(&Dir::open(&link).unwrap()), ["file"]);
    symlink(outside.path().join("none"), folder.path().join("dangling")).unwrap();
    let error = Dir::open_or_make(&folder.path().join("dangling"), FileMode::Private).unwrap_err();
    assert!(matches!(error, FileError::Link { .. }), "{error}");
    outside.assert_untouched();
}

#[test]
fn names_that_are_not_text_are_names() {
    use std::os::unix::ffi::OsStrExt as _;
    let (_folder, dir) = temporary();
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"\xff\n\x1b"));
    dir.write_atomic(odd, b"x", FileMode::Shared).unwrap();
    assert_eq!(dir.list().unwrap().len(), 1);
    assert_eq!(dir.read(odd, 1).unwrap(), b"x");
}
