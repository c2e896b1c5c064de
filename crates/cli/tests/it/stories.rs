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

#[test]
fn the_documented_stories_are_stored_as_they_read() {
    let project = Project::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/stories.yaml");
    let said = project.run(&["story", "import", file]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    let story = project.json(&["story", "show", "shop:12"]);
    let expected = ["An order over 5,000 EUR is refused", "A reminder is sent after 14 days"];
    assert_eq!(story["acceptance"], serde_json::json!(expected));
    let split = "- { key: x, acceptance: [An order over 5,000 EUR is refused] }\n";
    std::fs::write(project.path().join("split.yaml"), split).unwrap();
    let said = project.run(&["story", "import", "split.yaml"]);
    assert!(said.stderr.contains("`An order over 5` and `000 EUR is refused`"), "{said:?}");
}

#[test]
fn a_list_in_a_pipe_has_its_texts_whole() {
    let project = Project::new();
    let title =
        "A title that is longer than any column of a list may be on a terminal of usual width";
    project.ok(&["story", "add", "s1", "--title", title]);
    assert!(project.ok(&["story", "list"]).contains(title));
    assert!(!project.ok(&["agent", "list"]).contains('…'));
}
