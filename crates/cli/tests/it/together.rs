//! Two at once: they wait for each other.

use std::process::Stdio;

use crate::{Project, Said};

#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    let project = Project::new();
    let children: Vec<_> = (0..8)
        .map(|n| {
            let key = format!("s{n}");
            let mut command = project.command(&["story", "add", &key]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let said = Said::from(child.wait_with_output().unwrap());
        assert_eq!(said.code, 0, "{said:?}");
    }
    assert_eq!(project.json(&["story", "list"]).as_array().unwrap().len(), 8);
}

#[test]
fn of_many_who_accept_at_once_one_does() {
    let project = Project::started();
    let children: Vec<_> = (0..6)
        .map(|_| {
            let mut command = project.command(&["handoff", "accept", "1"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let codes: Vec<i32> =
        children.into_iter().map(|it| Said::from(it.wait_with_output().unwrap()).code).collect();
    assert_eq!(codes.iter().filter(|it| **it == 0).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|it| **it == 4).count(), 5, "{codes:?}");
}
