//! Stories are edited, and agents' files checked.

use crate::Project;

#[test]
fn a_story_is_edited_in_parts() {
    let project = Project::new();
    project.ok(&["story", "add", "base"]);
    let add = ["story", "add", "s1", "--title", "Old", "--description", "Why", "--branch", "b"];
    project
        .ok(&[&add[..], &["--acceptance", "one", "--depends-on", "base", "--priority", "3"]]
            .concat());
    project.fails(&["story", "edit", "s1"], 2, "name what to change");
    project.fails(&["story", "edit", "s2", "--title", "x"], 3, "there is no story `s2`");
    let edit =
        ["story", "edit", "s1", "--title", "New", "--acceptance", "two", "--acceptance", "three"];
    let page = project.ok(&edit);
    assert!(page.contains("New") && page.contains("accepted when  three"), "{page}");
    let story = project.json(&["story", "show", "s1"]);
    assert_eq!(story["description"], "Why");
    assert_eq!(story["acceptance"], serde_json::json!(["two", "three"]));
    assert_eq!((&story["priority"], &story["branch"]), (&3.into(), &"b".into()));
    let edit = ["story", "edit", "s1", "--priority", "-1", "--branch", "", "--depends-on", ""];
    project.ok(&edit);
    let story = project.json(&["story", "show", "s1"]);
    assert_eq!(story["priority"], -1);
    assert!(story["branch"].is_null() && story["dependsOn"].as_array().unwrap().is_empty());
    let said = project.run(&["story", "edit", "s1", "--depends-on", "bas"]);
    assert!(said.stderr.contains("which is no story yet (did you mean `base`?)"), "{said:?}");
    let page = project.ok(&["story", "show", "base"]);
    assert!(page.contains("depends on    –"), "{page}");
}

#[test]
fn an_agents_file_is_checked_by_the_loader_of_every_command() {
    let project = Project::new();
    project.ok(&["agent", "new", "coder"]);
    assert_eq!(project.ok(&["agent", "check", "coder"]), "coder is sound\n");
    assert!(project.ok(&["agent", "check"]).ends_with(" agents are sound\n"));
    let file = project.path().join(".baton/agents/coder.md");
    assert_eq!(project.ok(&["agent", "check", ".baton/agents/coder.md"]), "coder is sound\n");
    std::fs::write(&file, "---\nname: coder\ndescripton: x\n---\nDo it.\n").unwrap();
    for args in [
        &["agent", "check"][..],
        &["agent", "check", "coder"],
        &["agent", "check", ".baton/agents/coder.md"],
    ] {
        project.fails(args, 1, "descripton: is not a key here; did you mean `description`?");
    }
    project.fails(&["agent", "check", "codr"], 3, "there is no agent or file `codr`");
}
