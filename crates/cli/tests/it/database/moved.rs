//! Data that is moved from a folder to a database and back.

use std::fs;

use baton_test_postgres::TestSchema;

use super::Shop;
use crate::{Project, Said};

/// A project with a finished step, a checkpoint and a second story.
fn worked_on() -> Project {
    let project = Project::plain();
    project.ok(&["take"]);
    project.ok(&["done", "--payload", "{}"]);
    project.ok(&["story", "add", "s2", "--title", "Another"]);
    project.ok(&["story", "edit", "s2", "--title", "Another one"]);
    project.ok(&["audit", "checkpoint"]);
    project.ok(&["run", "start", "s2", "--key", "once"]);
    project
}

fn on(project: &Project, schema: &TestSchema, args: &[&str]) -> Said {
    let mut command = project.command(args);
    Said::from(command.env("BATON_DATABASE_URL", schema.url()).output().unwrap())
}

#[test]
fn everything_is_moved_there_and_back_and_the_old_side_stays() {
    let project = worked_on();
    let database = project.path().join(".baton/data/baton.db");
    let before = fs::read(&database).unwrap();
    let list = project.ok(&["handoff", "list", "--all", "--json"]);
    let schema = TestSchema::fresh();
    let args = ["migrate", "--from", ".baton/data", "--to", "env"];
    let said = on(&project, &schema, &args);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("2 runs and"), "{said:?}");
    assert!(said.stdout.contains("every row compared"), "{said:?}");
    assert_eq!(fs::read(&database).unwrap(), before, "the old side is as it was");
    // A second time there is nothing to do.
    let said = on(&project, &schema, &args);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("all of it is there already"), "{said:?}");
    // It is the same project, so nothing stands in the way.
    let said = on(&project, &schema, &["handoff", "list", "--all", "--json"]);
    assert_eq!(said.stdout, list, "{said:?}");
    let said = on(&project, &schema, &["audit", "verify"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("1 checkpoint verified"), "{said:?}");
    // The work goes on, and comes back.
    let said = on(&project, &schema, &["take", "--by", "implementer"]);
    assert_eq!(said.code, 0, "{said:?}");
    let list = on(&project, &schema, &["handoff", "list", "--all", "--json"]).stdout;
    let said = on(&project, &schema, &["migrate", "--from", "env", "--to", "saved"]);
    assert_eq!(said.code, 0, "{said:?}");
    let back = |args: &[&str]| {
        let args = [args, &["--data", "saved"]].concat();
        project.ok(&args)
    };
    assert_eq!(back(&["handoff", "list", "--all", "--json"]), list);
    assert!(back(&["audit", "verify"]).contains("1 checkpoint verified"));
    back(&["done", "--payload", "{}", "--by", "implementer"]);
    assert!(back(&["verify"]).contains("every chain is whole"));
    // What has changed since is not taken for the same.
    let said = on(&project, &schema, &args);
    assert_eq!(said.code, 4, "{said:?}");
}

/// Of two runs that are started at once, the later one may be earlier in the log.
#[test]
fn data_of_runs_that_were_started_at_once_is_moved_back() {
    let shop = Shop::started();
    shop.ok(&["story", "add", "s2", "--title", "Another"]);
    shop.ok(&["run", "start", "s2"]);
    shop.schema.sql(
        "update events set position = last.position + version
         from (select max(position) as position from events) as last where run_number = 1",
    );
    let said = on(&shop.project, &shop.schema, &["migrate", "--from", "env", "--to", "saved"]);
    assert_eq!(said.code, 0, "{said:?}");
    let verified = shop.project.ok(&["verify", "--data", "saved"]);
    assert!(verified.contains("2 runs and"), "{verified}");
}

#[test]
fn a_move_that_was_killed_goes_on_and_nothing_else_opens_it_before() {
    let project = worked_on();
    let schema = TestSchema::fresh();
    let args = ["migrate", "--from", ".baton/data", "--to", "env"];
    for stage in ["moved events", "moved contents"] {
        let mut command = project.command(&args);
        command.env("BATON_DATABASE_URL", schema.url()).env("BATON_KILL_AT_STAGE", stage);
        let said = Said::from(command.output().unwrap());
        assert_eq!(said.code, -1, "{said:?}");
        let said = on(&project, &schema, &["status"]);
        assert_eq!(said.code, 5, "{said:?}");
        assert!(said.stderr.contains("data is being moved into the database"), "{said:?}");
    }
    // What was changed in between is moved too.
    project.ok(&["take", "--by", "implementer"]);
    let said = on(&project, &schema, &args);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("it goes on"), "{said:?}");
    assert!(on(&project, &schema, &["verify"]).stdout.contains("2 runs and"));
    // The same on the way back.
    let args = ["migrate", "--from", "env", "--to", "saved"];
    let mut command = project.command(&args);
    command.env("BATON_DATABASE_URL", schema.url()).env("BATON_KILL_AT_STAGE", "moved events");
    assert_eq!(Said::from(command.output().unwrap()).code, -1);
    for args in [["verify"].as_slice(), &["status"], &["doctor"], &["story", "add", "s9"]] {
        let said = project.run(&[args, &["--data", "saved"]].concat());
        assert_ne!(said.code, 0, "{args:?}: {said:?}");
        let text = said.stdout + &said.stderr;
        assert!(text.contains("not all of it; repeat the interrupted"), "{args:?}: {text}");
    }
    let elsewhere = TestSchema::fresh();
    let args_on = ["migrate", "--from", "saved", "--to", &elsewhere.url()];
    assert_eq!(project.run(&args_on).code, 5);
    assert!(!project.path().join("saved/baton.db").exists());
    let said = on(&project, &schema, &args);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(project.ok(&["verify", "--data", "saved"]).contains("every chain is whole"));
    assert!(!project.path().join("saved/moving").exists());
}

#[test]
fn data_is_moved_only_between_a_folder_and_a_database_that_rests_and_is_empty() {
    let project = worked_on();
    project.fails(&["migrate", "--from", ".baton/data", "--to", "x"], 2, "both are folders");
    project.fails(&["migrate", "--from", "nothing", "--to", "postgres://h/x"], 3, "nothing");
    let shop = Shop::started();
    let said = on(&project, &shop.schema, &["migrate", "--from", ".baton/data", "--to", "env"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.stderr.contains("has other data already"), "{said:?}");
    let server = project.serves();
    let empty = TestSchema::fresh();
    let said = on(&project, &empty, &["migrate", "--from", ".baton/data", "--to", "env"]);
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.stderr.contains("a server has the data"), "{said:?}");
    drop(server);
    let args = ["migrate", "--from", ".baton/data", "--to", &empty.url()];
    let said = project.run(&args);
    assert_eq!(said.code, 0, "{said:?}");
    let password = shop.password();
    assert!(!format!("{said:?}").contains(&password), "{said:?}");
}
