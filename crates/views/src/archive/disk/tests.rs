use std::fs;

use super::*;

fn disk() -> (tempfile::TempDir, Disk) {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::new(dir.path().to_owned());
    (dir, disk)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_written_whole_and_nothing_else_is_left() {
    let (dir, disk) = disk();
    let folder = Path::new("a/b");
    for text in ["one", "two", "two", ""] {
        disk.write(folder, "x.md", text).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("a/b/x.md")).unwrap(), text);
        assert_eq!(names(&dir.path().join("a/b")), ["x.md"]);
    }
}

#[test]
fn what_a_killed_write_left_behind_is_taken_away() {
    let (dir, disk) = disk();
    fs::write(dir.path().join(".x.md.new"), "half a").unwrap();
    disk.write(Path::new(""), "x.md", "whole").unwrap();
    assert_eq!(names(dir.path()), ["x.md"]);
}

#[test]
fn a_file_that_cannot_be_written_leaves_nothing_half() {
    let (dir, disk) = disk();
    fs::create_dir_all(dir.path().join("x.md/in-the-way")).unwrap();
    let error = disk.write(Path::new(""), "x.md", "text").unwrap_err();
    assert!(error.to_string().starts_with("cannot write `x.md`: "), "{error}");
    assert_eq!(names(dir.path()), ["x.md"]);
    fs::write(dir.path().join("file"), "").unwrap();
    let error = disk.write(Path::new("file/below"), "x", "text").unwrap_err();
    let expected = "`file` is a file, where Baton needs a folder: move it out of the way";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn no_path_leads_out() {
    let (_dir, disk) = disk();
    for bad in ["..", "a/../..", "/etc", "/"] {
        let error = disk.write(Path::new(bad), "x", "text").unwrap_err();
        assert!(matches!(error.0, FileError::Outside { .. }), "{bad}: {error}");
    }
}

#[test]
fn no_link_is_followed_wherever_it_leads() {
    use std::os::unix::fs::symlink;
    let (dir, disk) = disk();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), dir.path().join("out")).unwrap();
    fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
    symlink(".git/hooks", dir.path().join("inside")).unwrap();
    for folder in ["out", "out/deeper", "inside", "inside/deeper"] {
        let error = disk.write(Path::new(folder), "x", "text").unwrap_err();
        assert!(matches!(error.0, FileError::Link { .. }), "{error}");
        let place = folder.split('/').next().unwrap();
        assert!(error.to_string().starts_with(&format!("`{place}` is a symbolic link")), "{error}");
    }
    assert_eq!(names(elsewhere.path()), [""; 0]);
    assert_eq!(names(&dir.path().join(".git/hooks")), [""; 0]);
    // A link in the place of a file is replaced, and its target is left alone.
    fs::create_dir(dir.path().join("real")).unwrap();
    fs::write(elsewhere.path().join("theirs"), "text").unwrap();
    symlink(elsewhere.path().join("theirs"), dir.path().join("real/y")).unwrap();
    disk.write(Path::new("real"), "y", "text").unwrap();
    disk.write(Path::new("real"), "y", "new").unwrap();
    assert_eq!(fs::read_to_string(elsewhere.path().join("theirs")).unwrap(), "text");
}

#[expect(clippy::disallowed_methods, reason = "the standard library makes no pipes with a name")]
#[test]
fn a_pipe_in_the_place_of_a_file_is_replaced_and_never_read() {
    let (dir, disk) = disk();
    let path = dir.path().join("x.md");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    // On a thread of its own: reading the pipe would wait for a writer that never comes.
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(disk.write(Path::new(""), "x.md", "text")));
    told.recv_timeout(std::time::Duration::from_secs(30)).expect("it ends").unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    assert_eq!(names(dir.path()), ["x.md"]);
}

fn is_own(path: &str) -> bool {
    path == "file" || path.starts_with("handoffs/HO-")
}

#[test]
fn a_folder_takes_the_place_of_another_and_what_is_of_others_stays() {
    let (dir, disk) = disk();
    for text in ["first", "second"] {
        disk.write(Path::new("f/.x.new"), "file", text).unwrap();
        disk.write(Path::new("f/.x.new"), text, "").unwrap();
        disk.swap(Path::new("f"), ".x.new", "x", is_own).unwrap();
        assert_eq!(names(&dir.path().join("f")), ["x"]);
    }
    assert_eq!(names(&dir.path().join("f/x")), ["file", "first", "second"]);
    disk.remove(Path::new("f"), "x").unwrap();
    disk.remove(Path::new("f"), "x").unwrap();
    assert_eq!(names(&dir.path().join("f")), [""; 0]);
}

#[test]
fn what_is_of_others_is_never_written_over() {
    let (dir, disk) = disk();
    // Folders where Baton has files, and a file where it has a folder.
    fs::create_dir_all(dir.path().join("x/file/deep")).unwrap();
    fs::create_dir_all(dir.path().join("x/deep/handoffs/HO-1")).unwrap();
    fs::write(dir.path().join("x/handoffs"), "theirs").unwrap();
    fs::write(dir.path().join("x/file.kept-1"), "theirs too").unwrap();
    disk.write(Path::new(".x.new"), "file", "ours").unwrap();
    disk.write(Path::new(".x.new/handoffs"), "HO-2", "ours").unwrap();
    disk.swap(Path::new(""), ".x.new", "x", is_own).unwrap();
    assert_eq!(names(dir.path()), ["x"]);
    let found = names(&dir.path().join("x"));
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(dir.path().join("x/deep/handoffs/HO-1").exists());
    assert_eq!(fs::read_to_string(dir.path().join("x/handoffs.kept-1")).unwrap(), "theirs");
    let kept = found.iter().filter(|it| it.starts_with("file.kept-1")).count();
    assert_eq!(kept, 2, "{found:?}");
    assert_eq!(fs::read_to_string(dir.path().join("x/file")).unwrap(), "ours");
}

#[test]
fn links_of_others_move_and_are_not_followed() {
    use std::os::unix::fs::symlink;
    let (dir, disk) = disk();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("HO-1"), "theirs").unwrap();
    fs::create_dir(dir.path().join("x")).unwrap();
    symlink(elsewhere.path(), dir.path().join("x/link")).unwrap();
    symlink(elsewhere.path(), dir.path().join("x/handoffs")).unwrap();
    disk.write(Path::new(".x.new"), "file", "ours").unwrap();
    disk.swap(Path::new(""), ".x.new", "x", is_own).unwrap();
    assert_eq!(names(&dir.path().join("x")), ["file", "link"]);
    assert_eq!(names(elsewhere.path()), ["HO-1"]);
    // Where the place itself leads out, nothing is moved there.
    fs::create_dir_all(dir.path().join(".y.old/mine")).unwrap();
    symlink(elsewhere.path(), dir.path().join("y")).unwrap();
    let error = disk.settle(Path::new(""), "y", is_own).unwrap_err();
    assert!(matches!(error.0, FileError::Link { .. }), "{error}");
    assert_eq!(names(elsewhere.path()), ["HO-1"]);
    assert!(dir.path().join(".y.old/mine").exists());
}

#[test]
fn folders_can_be_read_by_everybody_and_written_by_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let (dir, disk) = disk();
    disk.write(Path::new("a"), "x", "text").unwrap();
    let mode = fs::metadata(dir.path().join("a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o022, 0, "{mode:o}");
}
