//! `baton recover` as a person types it.

use std::path::PathBuf;

use crate::Project;

impl Project {
    fn database(&self) -> PathBuf {
        self.path().join(".baton/data/baton.db")
    }

    /// Where `recover` says that it has put the new database. Nothing of the work is missing; what no
    /// run proves may be.
    fn recovered(&self) -> String {
        let said = self.run(&["recover", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!((said.code, &report["complete"]), (1, &false.into()), "{report}");
        assert_eq!(report["missing"], serde_json::json!([]), "{report}");
        assert_eq!(report["unproven"], serde_json::json!(["stories", "answers"]), "{report}");
        report["database"].as_str().unwrap().to_owned()
    }
}

fn zero_page(project: &Project, n: usize) {
    let mut bytes = std::fs::read(project.database()).unwrap();
    bytes[n * 4096..(n + 1) * 4096].fill(0);
    std::fs::write(project.database(), bytes).unwrap();
}

#[test]
fn a_damaged_database_is_recovered_beside_itself_and_put_in_place() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let before = project.json(&["run", "show", "s1"]);
    zero_page(&project, 0);
    let damaged = std::fs::read(project.database()).unwrap();
    project.fails(&["status"], 5, "baton recover");
    let said = project.run(&["recover"]);
    assert!(said.stdout.contains("can be recovered: 1 run, 1 handoff"), "{said:?}");
    assert!(!said.stdout.contains("missing: "), "{said:?}");
    assert!(said.stdout.contains("not proven: the remembered answers"), "{said:?}");
    assert_eq!(std::fs::read(project.database()).unwrap(), damaged);
    let database = project.recovered();
    assert!(
        database.ends_with("recovered-2/baton.db"),
        "each gets a folder of its own: {database}"
    );
    for name in ["report.txt", "report.json"] {
        assert!(PathBuf::from(&database).with_file_name(name).exists(), "{name}");
    }
    project.ok(&["restore", "--replace", &database]);
    project.ok(&["verify"]);
    assert_eq!(project.json(&["run", "show", "s1"]), before);
}

#[test]
fn a_database_that_is_gone_is_made_again_from_the_archive() {
    let project = Project::started();
    project.ok(&["handoff", "accept", "1"]);
    let before = project.json(&["run", "show", "s1"]);
    std::fs::remove_file(project.database()).unwrap();
    let database = project.recovered();
    project.ok(&["restore", "--replace", &database]);
    assert_eq!(project.json(&["run", "show", "s1"]), before);
}

#[test]
fn where_nothing_is_left_that_is_said() {
    let project = Project::new();
    let said = project.run(&["recover"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("neither a database nor its log"), "{said:?}");
    let said = project.run(&["recover", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(report["database"].is_null(), "{report}");
    let data = project.path().join(".baton/data");
    let names = std::fs::read_dir(data).unwrap().map(|it| it.unwrap().file_name());
    assert!(names.into_iter().all(|it| !it.to_string_lossy().contains("recover")));
}

#[test]
fn a_dry_run_keeps_nothing() {
    let project = Project::started();
    let said = project.ok(&["recover", "--dry-run"]);
    assert!(said.contains("can be recovered: 1 run"), "{said}");
    assert!(!project.path().join(".baton/data/recovered-1").exists());
}

/// A backup has a name of its own. It is called by it, whatever copy was looked at.
#[test]
fn a_damaged_backup_is_named_as_it_was_typed_and_recovered_by_its_name() {
    let project = Project::started();
    project.ok(&["backup", "kept.db"]);
    let path = project.path().join("kept.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() / 4096 - 1;
    bytes[last * 4096..].fill(0x5a);
    std::fs::write(&path, &bytes).unwrap();
    let said = project.run(&["restore", "--replace", "kept.db"]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("`kept.db`"), "{said:?}");
    assert!(said.stderr.contains("baton recover --from kept.db"), "{said:?}");
    assert!(!said.stderr.contains(".baton-copy"), "{said:?}");
    let said = project.run(&["recover", "--from", "kept.db", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["runs"], 1, "{said:?}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    // The database of a data folder by its name, and the folder itself.
    for from in [".baton/data/baton.db", ".baton/data"] {
        let report = project.json(&["recover", "--from", from, "--dry-run"]);
        assert_eq!(report["complete"], true, "{report}");
    }
    project.fails(&["recover", "--from", "none.db"], 5, "none.db");
}
