//! The archive, as a project on disk has it.

use crate::Project;
use crate::serve::Served;

const CURRENT: &str = "state/current.json";

impl Project {
    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// The folder of the only session.
    fn session(&self) -> std::path::PathBuf {
        let sessions = self.path().join(".project/07-audit/sessions");
        let mut folders = std::fs::read_dir(sessions).unwrap();
        folders.next().unwrap().unwrap().path()
    }
}

#[test]
fn every_command_leaves_the_archive_up_to_date() {
    let project = Project::started();
    assert!(project.read(CURRENT).contains(r#""currentAgent": "analyst""#));
    assert!(project.session().join("handoffs/HO-001.yaml").exists());
    project.ok(&["run", "cancel", "s1"]);
    assert!(project.read(CURRENT).contains(r#""status": "cancelled""#));
    assert!(project.session().join("completion.xml").exists());
    let doctor = project.ok(&["doctor"]);
    assert!(doctor.contains("the archive in .project/07-audit/sessions"), "{doctor}");
}

#[test]
fn the_archive_is_made_again_by_hand_and_nothing_of_others_goes() {
    let project = Project::started();
    let before = project.read(CURRENT);
    let theirs = project.path().join(".project/07-audit/sessions/theirs.txt");
    std::fs::remove_dir_all(project.session()).unwrap();
    std::fs::remove_file(project.path().join(CURRENT)).unwrap();
    std::fs::write(&theirs, "theirs").unwrap();
    let said = project.ok(&["archive", "rebuild"]);
    assert_eq!(said, "archived 1 run in .project/07-audit/sessions\n");
    assert_eq!(project.read(CURRENT), before);
    assert_eq!(std::fs::read_to_string(theirs).unwrap(), "theirs");
    assert_eq!(project.json(&["archive", "rebuild"])["runs"], 1);
}

#[test]
fn after_a_restore_a_rebuild_leaves_no_open_run_that_does_not_exist() {
    let project = Project::started();
    let before = project.read(CURRENT);
    project.ok(&["backup", "copy.db"]);
    project.ok(&["story", "add", "s2"]);
    project.ok(&["run", "start", "s2"]);
    let n_states = || std::fs::read_dir(project.path().join("state/runs")).unwrap().count();
    assert_eq!(n_states(), 2);
    project.ok(&["restore", "copy.db", "--replace"]);
    let said = project.ok(&["archive", "rebuild"]);
    let expected = "archived 1 run in .project/07-audit/sessions; 1 folder there is of no run in this database, and was left alone\n";
    assert_eq!(said, expected);
    assert_eq!((n_states(), project.read(CURRENT)), (1, before));
    assert_eq!(project.json(&["archive", "rebuild"])["unknownSessions"], 1);
}

#[test]
fn a_project_without_the_section_gets_no_files() {
    let project = Project::new();
    let file = project.path().join(".baton/baton.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.find("[archive]").unwrap()]).unwrap();
    project.ok(&["story", "add", "s1"]);
    project.ok(&["run", "start", "s1"]);
    assert!(!project.path().join("state").exists() && !project.path().join(".project").exists());
    project.fails(&["archive", "rebuild"], 3, "keeps no archive");
}

#[test]
fn an_archive_that_cannot_be_written_fails_no_command_and_is_told_by_the_doctor() {
    let project = Project::new();
    std::fs::write(project.path().join("state"), "a file in the way").unwrap();
    project.ok(&["story", "add", "s1"]);
    let said = project.run(&["run", "start", "s1"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("the archive is behind:"), "{said:?}");
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(doctor.stdout.contains("make room or mend the path"), "{doctor:?}");
    std::fs::remove_file(project.path().join("state")).unwrap();
    project.ok(&["status"]);
    assert!(project.read(CURRENT).contains(r#""story": "s1""#));
}

#[test]
fn a_deleted_archive_is_missed_by_the_doctor() {
    let project = Project::started();
    std::fs::remove_dir_all(project.path().join(".project")).unwrap();
    let missed = "it has 0 of 1 run; type `baton archive rebuild`";
    let found = project.run(&["doctor"]);
    assert!(found.stdout.contains(missed), "{found:?}");
    let server = project.serves();
    let found = project.run(&["doctor"]);
    assert!(found.stdout.contains(missed), "{found:?}");
    project.ok(&["archive", "rebuild"]);
    let found = project.run(&["doctor"]);
    assert!(!found.stdout.contains("archive rebuild"), "{found:?}");
    drop(server);
}

#[test]
fn a_server_that_cannot_write_the_archive_says_so_on_stderr() {
    let project = Project::new();
    std::fs::write(project.path().join("state"), "a file in the way").unwrap();
    project.ok(&["story", "add", "s1"]);
    project.run(&["run", "start", "s1"]);
    let stderr = |level: &str| {
        let log = project.path().join("stderr");
        let mut command = project.command(&["serve", "--listen", "127.0.0.1:0", "--no-runner"]);
        command.env("BATON_LOG", level).stderr(std::fs::File::create(&log).unwrap());
        let served = Served::spawn(command, || {
            let said = std::fs::read_to_string(&log).unwrap();
            Some(said.split_once("listening on ")?.1.split_once('\n')?.0.to_owned())
        });
        let begin = std::time::Instant::now();
        while served.curl(&[], "/readyz").body != "ready, but the archive is behind\n" {
            assert!(begin.elapsed().as_secs() < 30, "the archive is tried");
        }
        assert_eq!(served.stop(), Some(0));
        std::fs::read_to_string(&log).unwrap()
    };
    let told = stderr("");
    assert!(told.contains(" WARN the archive cannot be written; the runs go on"), "{told}");
    assert!(!told.contains('\u{1b}'), "no colours in a file: {told}");
    assert!(!stderr("off").contains("cannot be written"));
    let odd = project.command(&["serve"]).env("BATON_LOG", "loud").output().unwrap();
    assert_eq!(odd.status.code(), Some(2), "{odd:?}");
}

#[test]
fn a_server_keeps_the_archive_up_to_date_and_makes_it_again_when_asked() {
    let project = Project::started();
    let served = project.serves();
    let accept = r#"{"action":"accept","handoffId":1}"#;
    let accepted = served.curl(&["-X", "POST", "-d", accept], "/api/handoffs");
    assert_eq!(accepted.status, 200, "{accepted:?}");
    let path = project.path().join(CURRENT);
    let begin = std::time::Instant::now();
    while !std::fs::read_to_string(&path).unwrap().contains(r#""status": "accepted""#) {
        assert!(begin.elapsed().as_secs() < 30, "the archive follows");
        std::thread::yield_now();
    }
    std::fs::remove_file(&path).unwrap();
    let rebuilt = served.curl(&["-X", "POST"], "/api/v1/archive/rebuild");
    assert_eq!((rebuilt.status, &rebuilt.body["runs"]), (200, &1.into()), "{rebuilt:?}");
    assert!(path.exists());
    std::fs::remove_file(&path).unwrap();
    assert!(project.ok(&["archive", "rebuild"]).starts_with("archived 1 run in "));
    assert!(path.exists());
    assert!(project.ok(&["doctor"]).contains("the archive in .project/07-audit/sessions"));
}
