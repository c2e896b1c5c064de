//! `init` makes a whole project, or leaves what the next `init` finishes.

use std::fs;

use crate::Project;

#[test]
fn a_half_made_project_is_finished_by_the_next_init() {
    let whole = Project(tempfile::tempdir().unwrap());
    whole.ok(&["init"]);
    let read = |project: &Project, name: &str| {
        fs::read_to_string(project.path().join(".baton").join(name)).unwrap()
    };
    let halves: [&[(&str, &str)]; 4] = [
        &[],
        &[(".gitignore", "")],
        &[(".gitignore", ""), ("baton.toml", &read(&whole, "baton.toml"))],
        &[("baton.toml", "")],
    ];
    for half in halves {
        let project = Project(tempfile::tempdir().unwrap());
        fs::create_dir(project.path().join(".baton")).unwrap();
        for (name, text) in half {
            fs::write(project.path().join(".baton").join(name), text).unwrap();
        }
        project.ok(&["init"]);
        for name in [".gitignore", "baton.toml"] {
            assert_eq!(read(&project, name), read(&whole, name), "{half:?}");
        }
        project.ok(&["status"]);
        project.fails(&["init"], 4, "is a Baton project already");
    }
}

#[test]
fn what_a_person_has_written_is_kept() {
    let project = Project(tempfile::tempdir().unwrap());
    fs::create_dir(project.path().join(".baton")).unwrap();
    let file = project.path().join(".baton/baton.toml");
    fs::write(&file, "[project]\n").unwrap();
    project.ok(&["init"]);
    assert_eq!(fs::read_to_string(file).unwrap(), "[project]\n");
}

#[test]
fn the_data_is_kept_out_of_a_repository_before_anything_else_is_there() {
    let project = Project(tempfile::tempdir().unwrap());
    let folder = project.path().join(".baton");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("agents"), "in the way").unwrap();
    assert_ne!(project.run(&["init"]).code, 0);
    assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), "/data/\n");
    assert!(!folder.join("baton.toml").exists());
}
