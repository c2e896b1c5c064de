//! An archive that tells of more than the data: what it proves is never destroyed.

use std::fs;
use std::path::PathBuf;

use crate::Project;

impl Project {
    /// A backup from before handoff 1 was accepted, restored after it was.
    fn restored_behind() -> Self {
        let project = Self::started();
        project.ok(&["backup", "old.db"]);
        project.ok(&["handoff", "accept", "1"]);
        project.ok(&["restore", "--replace", "old.db"]);
        project
    }

    /// The names of the sessions' folders, those that were put aside last.
    fn sessions(&self) -> Vec<PathBuf> {
        let folder = self.path().join(".project/07-audit/sessions");
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
        names.sort();
        names
    }

    fn session_log(&self, index: usize) -> String {
        fs::read_to_string(self.sessions()[index].join("log.jsonl")).unwrap()
    }

    fn is_accepted(&self) -> bool {
        self.ok(&["run", "show", "s1"]).contains("accepted")
    }

    fn recover_into_place(&self) {
        let said = self.run(&["recover", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        self.ok(&["restore", "--replace", report["database"].as_str().unwrap()]);
    }
}

#[test]
fn a_rebuild_after_an_older_restore_keeps_the_newer_sessions() {
    let project = Project::restored_behind();
    let newer = project.session_log(0);
    let notes = project.sessions()[0].join("notes.md");
    fs::write(&notes, "mine").unwrap();
    let said = project.run(&["archive", "rebuild"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("1 session has more events"), "{said:?}");
    assert!(said.stderr.contains("`baton recover` reads them"), "{said:?}");
    assert_eq!(project.sessions().len(), 2);
    assert!(project.session_log(0).len() < newer.len());
    assert_eq!(project.session_log(1), newer);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine", "files of others stay");
    // A second one has nothing to put aside.
    assert_eq!(project.json(&["archive", "rebuild"])["keptSessions"], 0);
    assert_eq!(project.sessions().len(), 2);
    assert!(!project.is_accepted());
    project.recover_into_place();
    assert!(project.is_accepted(), "what was acknowledged is back");
    project.ok(&["verify"]);
}

#[test]
fn what_happens_after_an_older_restore_does_not_overwrite_a_newer_session() {
    let project = Project::restored_behind();
    let newer = project.session_log(0);
    // Another end than the one which the archive knows, and as long.
    let said = project.run(&["handoff", "reject", "1", "--reason", "no"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("the archive knows more"), "{said:?}");
    assert_eq!(project.sessions().len(), 2);
    assert_eq!(project.session_log(1), newer);
    let said = project.run(&["recover", "--dry-run"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("tells of another course of run 1"), "{said:?}");
    // The database was chosen, so its own end stays where it is damaged later.
    let path = project.path().join(".baton/data/baton.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[..4096].fill(0);
    fs::write(&path, bytes).unwrap();
    project.recover_into_place();
    project.ok(&["verify"]);
    assert!(project.ok(&["run", "show", "s1"]).contains("rejected"));
}
