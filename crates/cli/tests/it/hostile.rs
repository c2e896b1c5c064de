//! Repositories that somebody has prepared: each place of a project is something else than it should
//! be, and every command leaves everything outside the project as it was, ends, and says why.

mod outside;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use self::outside::{Outside, SECRET};
use crate::{Project, Said};

/// Long enough for any of the commands, short against a pipe that nothing is ever written to.
const PATIENCE: Duration = Duration::from_secs(60);
const SPARSE_BYTES: u64 = 1 << 30;

/// Where something is put, and whether a folder belongs there.
const PLACES: &[(&str, bool)] = &[
    (".baton", true),
    (".baton/baton.toml", false),
    (".baton/data", true),
    (".baton/data/baton.lock", false),
    (".baton/data/baton.db", false),
    (".baton/data/baton.db-wal", false),
    (".baton/data/baton.db-shm", false),
    (".baton/data/baton.db-journal", false),
    (".baton/data/baton.mark", false),
    (".baton/data/restore-in-progress.json", false),
    (".baton/agents", true),
    (".baton/agents/analyst.md", false),
    (".baton/workflows", true),
    (".baton/workflows/story-pipeline.yaml", false),
    ("agents", true),
    ("state", true),
    ("state/current.json", false),
    ("state/runs", true),
    (".project", true),
    (".project/07-audit", true),
    (".project/07-audit/sessions", true),
];

/// Everything that opens a project. Two of them are tried at each place that is prepared; the others
/// take turns, so that each meets every kind of thing.
const COMMANDS: &[&[&str]] = &[
    &["doctor"],
    &["verify"],
    &["backup", "copy.db"],
    &["restore", "good.db", "--replace"],
    &["archive", "rebuild"],
    &["agent", "list"],
    &["agent", "new", "painter"],
    &["workflow", "list"],
    &["workflow", "check", "story-pipeline"],
    &["workflow", "eject", "story-pipeline"],
    &["run", "start", "s1"],
    &["run", "show", "s1"],
    &["inbox"],
    &["prompt", "1"],
    &["handoff", "accept", "1"],
    &["story", "import", "stories.yaml"],
    &["lint", "handoff.json"],
    &["init"],
    &["watch"],
    &["open", "--print"],
    SERVE,
];

const SERVE: &[&str] = &["serve", "--listen", "127.0.0.1:0"];

/// What stands in a place.
#[derive(Debug, Clone, Copy)]
enum Thing {
    LinkToFile,
    LinkToFolder,
    RelativeLink,
    DanglingLink,
    LinkLoop,
    LinkToDevice,
    Pipe,
    /// A folder where a file belongs, and a file where a folder does.
    WrongKind,
    Sparse,
    HardLink,
}

impl Thing {
    fn put(self, path: &Path, is_folder: bool, outside: &Outside) {
        match self {
            Self::LinkToFile => symlink(outside.file(), path).unwrap(),
            Self::LinkToFolder => symlink(outside.folder(), path).unwrap(),
            Self::RelativeLink => symlink(relative(path, &outside.file()), path).unwrap(),
            Self::DanglingLink => symlink(outside.folder().join("none"), path).unwrap(),
            Self::LinkLoop => symlink(path.file_name().unwrap(), path).unwrap(),
            Self::LinkToDevice => symlink("/dev/zero", path).unwrap(),
            Self::Pipe => {
                assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
            }
            Self::WrongKind if is_folder => fs::write(path, "a file").unwrap(),
            Self::WrongKind => fs::create_dir_all(path.join("folder")).unwrap(),
            Self::Sparse => fs::File::create(path).unwrap().set_len(SPARSE_BYTES).unwrap(),
            Self::HardLink => fs::hard_link(outside.file(), path).unwrap(),
        }
    }
}

/// From the folder of `from` to `to`, by way of the root.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let up = from.parent().unwrap().components().skip(1).map(|_| "..");
    up.collect::<PathBuf>().join(to.strip_prefix("/").unwrap())
}

fn project() -> Project {
    let project = Project::started();
    project.ok(&["backup", "good.db"]);
    fs::write(project.path().join("stories.yaml"), "- key: s9\n").unwrap();
    let artifacts = r#"{"summary":"Done","files_changed":["state/current.json","agents/x","out"]}"#;
    fs::write(project.path().join("handoff.json"), artifacts).unwrap();
    project
}

/// A copy of a project, made without Baton.
fn copy_of(project: &Project) -> Project {
    let copy = Project(tempfile::tempdir().unwrap());
    let from = project.path().join(".");
    let copied = Command::new("cp").arg("-a").arg(from).arg(copy.path()).status().unwrap();
    assert!(copied.success());
    copy
}

impl Project {
    /// Runs a command that has to end by itself, or to be a server that listens.
    #[track_caller]
    fn ends(&self, args: &[&str]) -> Said {
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (ended, has_ended) = mpsc::channel();
        std::thread::spawn(move || ended.send(until_it_listens(stderr)));
        let stderr = has_ended.recv_timeout(PATIENCE);
        if !matches!(&stderr, Ok((_, Ending::Ended))) {
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let Ok((stderr, served)) = stderr else { panic!("{args:?} did not end") };
        let said = Said::from(output);
        match served {
            Ending::Ended => Said { stderr, ..said },
            Ending::Listens => Said { stderr, code: 0, ..said },
        }
    }
}

enum Ending {
    Ended,
    Listens,
}

/// What a command says, to its end or to the line by which a server tells that it listens.
fn until_it_listens(stderr: impl BufRead) -> (String, Ending) {
    let mut said = String::new();
    for line in stderr.lines() {
        let line = line.unwrap();
        let listens = line.starts_with("listening on ");
        said += &line;
        said.push('\n');
        if listens {
            return (said, Ending::Listens);
        }
    }
    (said, Ending::Ended)
}

#[track_caller]
fn check(project: &Project, outside: &Outside, args: &[&str], what: &str) {
    let said = project.ends(args);
    outside.assert_untouched(&format!("{what}, {args:?}: {said:?}"));
    let text = format!("{}{}", said.stdout, said.stderr);
    // A second name is as good as the first: what it names is in the project, and may be read.
    let shows = text.contains(SECRET) && !what.ends_with("HardLink");
    assert!(!shows, "{what}, {args:?} shows what is outside: {said:?}");
    assert!(!text.contains("panicked") && !text.contains('\u{1b}'), "{what}, {args:?}: {said:?}");
    assert!((0..=5).contains(&said.code), "{what}, {args:?}: {said:?}");
    assert!(said.code == 0 || !said.stderr.trim().is_empty(), "{what}, {args:?}: {said:?}");
}

#[track_caller]
fn check_everywhere(thing: Thing) {
    let prepared = project();
    let mut turn = 0..;
    for (place, is_folder) in PLACES {
        let project = copy_of(&prepared);
        let outside = Outside::new();
        let path = project.path().join(place);
        if fs::symlink_metadata(&path).is_ok() {
            Command::new("rm").arg("-r").arg(&path).status().unwrap();
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        thing.put(&path, *is_folder, &outside);
        outside.remember();
        let what = format!("{place} as {thing:?}");
        check(&project, &outside, &["status"], &what);
        check(&project, &outside, &["story", "add", "s2"], &what);
        for n in turn.by_ref().take(2) {
            check(&project, &outside, COMMANDS[n % COMMANDS.len()], &what);
        }
    }
}

#[test]
fn a_link_to_a_file_outside() {
    check_everywhere(Thing::LinkToFile);
}

#[test]
fn a_link_to_a_folder_outside() {
    check_everywhere(Thing::LinkToFolder);
}

#[test]
fn a_relative_link() {
    check_everywhere(Thing::RelativeLink);
}

#[test]
fn a_link_to_nothing() {
    check_everywhere(Thing::DanglingLink);
}

#[test]
fn a_link_to_itself() {
    check_everywhere(Thing::LinkLoop);
}

#[test]
fn a_link_to_a_device() {
    check_everywhere(Thing::LinkToDevice);
}

#[test]
fn a_pipe() {
    check_everywhere(Thing::Pipe);
}

#[test]
fn a_folder_for_a_file_and_a_file_for_a_folder() {
    check_everywhere(Thing::WrongKind);
}

#[test]
fn a_huge_file() {
    check_everywhere(Thing::Sparse);
}

#[test]
fn a_second_name_of_a_file_outside() {
    check_everywhere(Thing::HardLink);
}

/// The two defects that were found, through a real clone: the lock as a link truncated what it led
/// to, and the archive was written through a link inside the project.
#[test]
fn a_cloned_repository() {
    let outside = Outside::new();
    let origin = Project::new();
    let data = origin.path().join(".baton/data");
    fs::create_dir_all(&data).unwrap();
    symlink(outside.file(), data.join("baton.lock")).unwrap();
    symlink(".git/hooks", origin.path().join("state")).unwrap();
    symlink(".baton/data", origin.path().join(".project")).unwrap();
    fs::remove_file(origin.path().join(".baton/.gitignore")).unwrap();
    let git = |folder: &Path, args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=ada", "-c", "user.email=ada@example.com"]).args(args);
        let output = command.current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    };
    git(origin.path(), &["init", "-q"]);
    git(origin.path(), &["add", "-A", "-f"]);
    git(origin.path(), &["commit", "-q", "-m", "prepared"]);
    let clone = Project(tempfile::tempdir().unwrap());
    git(clone.path(), &["clone", "-q", origin.path().to_str().unwrap(), "."]);
    outside.remember();
    for args in COMMANDS {
        check(&clone, &outside, args, "a clone");
    }
    clone.fails(&["status"], 5, "baton.lock` is a symbolic link; Baton follows no links");
    fs::remove_file(clone.path().join(".baton/data/baton.lock")).unwrap();
    let hooks = || fs::read_dir(clone.path().join(".git/hooks")).unwrap().count();
    let n_hooks = hooks();
    clone.ok(&["story", "add", "s1"]);
    let started = clone.ends(&["run", "start", "s1"]);
    assert!(started.stderr.contains("`.project` is a symbolic link"), "{started:?}");
    fs::remove_file(clone.path().join(".project")).unwrap();
    let said = clone.ends(&["status"]);
    assert!(said.stderr.contains("`state` is a symbolic link"), "{said:?}");
    assert_eq!(hooks(), n_hooks);
    let in_data = |it: &str| clone.path().join(".baton/data").join(it).exists();
    assert!(!in_data("07-audit"));
    outside.assert_untouched("the archive");
}

#[test]
fn names_that_are_not_text_and_names_that_would_draw_on_a_terminal() {
    let project = project();
    let outside = Outside::new();
    outside.remember();
    for name in [&b"\xff\xfe"[..], b"a\x1b[31m", b"line\nbreak", b"-rf", b" "] {
        for (folder, ending) in
            [(".baton/agents", ".md"), (".baton/workflows", ".yaml"), ("state/runs", ".json")]
        {
            let name = [name, ending.as_bytes()].concat();
            let path = project.path().join(folder).join(OsStr::from_bytes(&name));
            fs::write(path, "---\nname: x\n---\n").unwrap();
        }
    }
    for args in COMMANDS {
        check(&project, &outside, args, "odd names");
    }
}

#[test]
fn an_artifact_outside_is_not_looked_at() {
    let project = project();
    let outside = Outside::new();
    let claim = format!(r#"{{"path":"out","sha256":"{}"}}"#, "0".repeat(64));
    let package = format!(r#"{{"summary":"Done","files_changed":[{claim}]}}"#);
    fs::write(project.path().join("claimed.json"), package).unwrap();
    let lint = || project.run(&["lint", "claimed.json", "--json"]);
    let out = project.path().join("out");
    fs::write(&out, "inside").unwrap();
    let said = lint();
    assert!(said.stdout.contains("artifact_changed"), "what is inside is looked at: {said:?}");
    fs::remove_file(&out).unwrap();
    symlink(outside.file(), &out).unwrap();
    outside.remember();
    let said = lint();
    assert!(!said.stdout.contains("artifact_changed"), "{said:?}");
    outside.assert_untouched("lint");
}
