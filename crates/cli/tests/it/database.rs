//! Data in a PostgreSQL database: the same commands, beside any number of servers, and never a password in
//! what is printed.

mod moved;
mod nodes;

use std::fs;

use baton_test_postgres::TestSchema;

use crate::{Project, Said};

/// A project whose data is in a schema of its own.
pub(crate) struct Shop {
    pub(crate) project: Project,
    pub(crate) schema: TestSchema,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let project = Project(tempfile::tempdir().unwrap());
        let shop = Self { project, schema: TestSchema::fresh() };
        shop.ok(&["init"]);
        shop
    }

    /// With the story `s1`, handed to the analyst as handoff 1.
    pub(crate) fn started() -> Self {
        let shop = Self::new();
        shop.ok(&["story", "add", "s1", "--title", "Log in"]);
        shop.ok(&["run", "start", "s1"]);
        shop
    }

    pub(crate) fn url(&self) -> String {
        format!("{}&pool=4", self.schema.url())
    }

    pub(crate) fn password(&self) -> String {
        let url = self.schema.url();
        let (user, _) = url.strip_prefix("postgres://").unwrap().split_once('@').unwrap();
        user.split_once(':').unwrap().1.to_owned()
    }

    pub(crate) fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.project.command(args);
        command.env("BATON_DATABASE_URL", self.url());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        let said = Said::from(self.command(args).output().unwrap());
        for text in [&said.stdout, &said.stderr] {
            assert!(!text.contains(&self.password()), "{args:?} shows the password: {text}");
        }
        said
    }

    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let said = self.run(args);
        assert_eq!(said.code, 0, "{args:?}: {said:?}");
        said.stdout
    }

    #[track_caller]
    pub(crate) fn fails(&self, args: &[&str], code: i32, complaint: &str) {
        let said = self.run(args);
        assert_eq!(said.code, code, "{args:?}: {said:?}");
        assert!(said.stderr.contains(complaint), "{args:?}: {said:?}");
    }
}

#[test]
fn every_command_works_on_a_database() {
    let shop = Shop::started();
    assert!(shop.ok(&["status"]).contains("analyst"));
    shop.ok(&["take"]);
    let shown = shop.ok(&["handoff", "show", "1"]);
    assert!(shown.contains("accepted"), "{shown}");
    assert!(shop.ok(&["verify"]).contains("1 run and"));
    shop.ok(&["audit", "checkpoint"]);
    assert!(shop.ok(&["audit", "verify"]).contains("1 checkpoint verified"));
    shop.ok(&["inbox"]);
    shop.ok(&["insights"]);
    shop.ok(&["run", "log", "1"]);
    let doctor = shop.ok(&["doctor"]);
    assert!(doctor.contains("1 run and") && doctor.contains("postgres://baton:***@"), "{doctor}");
    assert!(!shop.project.path().join(".baton/data/baton.db").exists(), "all is in the database");
    assert_eq!(shop.schema.sql("select count(*) from agent_handoffs"), "1");
}

#[test]
fn what_a_file_is_needed_for_is_done_by_other_programs() {
    let shop = Shop::started();
    shop.fails(&["backup", "a.db"], 2, "pg_dump --format=custom --schema=");
    shop.fails(&["restore", "a.db"], 2, "pg_restore --clean --if-exists");
    shop.fails(&["recover"], 2, "point-in-time");
    shop.fails(&["init", "--new-data"], 2, "createdb");
}

#[test]
fn an_initialized_project_names_its_database_unless_that_has_a_password() {
    let shop = Shop::new();
    let url = shop.url();
    let file = || fs::read_to_string(shop.project.path().join(".baton/baton.toml")).unwrap();
    assert!(!file().contains("postgres://"), "{}", file());
    let other = Project(tempfile::tempdir().unwrap());
    let said = other.run(&["init", "--database-url", &url]);
    assert_eq!(said.code, 0, "{said:?}");
    let file = fs::read_to_string(other.path().join(".baton/baton.toml")).unwrap();
    assert!(!file.contains("postgres://"), "{file}");
    assert!(said.stderr.contains("set BATON_DATABASE_URL"), "{said:?}");
    assert!(said.stdout.contains("postgres://baton:***@"), "{said:?}");
}

#[test]
fn what_is_typed_counts_first_then_the_environment_then_the_file() {
    let shop = Shop::started();
    let settings = shop.project.path().join(".baton/baton.toml");
    let named = |port: u16| format!("postgres://nobody@127.0.0.1:{port}/x");
    let text = fs::read_to_string(&settings).unwrap();
    let line = format!("[project]\ndatabase_url = \"{}\"\n", named(1));
    fs::write(&settings, text.replace("[project]\n", &line)).unwrap();
    shop.project.fails(&["status"], 5, "127.0.0.1:1/x, named by `database_url` in baton.toml");
    let mut command = shop.project.command(&["status"]);
    let said = Said::from(command.env("BATON_DATABASE_URL", named(2)).output().unwrap());
    assert!(said.stderr.contains("127.0.0.1:2/x, named by BATON_DATABASE_URL"), "{said:?}");
    let args = ["status", "--database-url", &named(3)];
    let said = Said::from(shop.command(&args).output().unwrap());
    assert!(said.stderr.contains("127.0.0.1:3/x, named by `--database-url`"), "{said:?}");
    assert!(shop.ok(&["status"]).contains("s1"));
}

#[test]
fn a_database_that_cannot_be_used_says_why_and_what_to_do() {
    let shop = Shop::started();
    let url = shop.url();
    let (server, _) = url.split_once('?').unwrap();
    let check = |url: &str, code: i32, word: &str, complaint: &str| {
        let mut command = shop.project.command(&["status"]);
        let said = Said::from(command.env("BATON_DATABASE_URL", url).output().unwrap());
        assert_eq!(said.code, code, "{said:?}");
        assert!(said.stderr.contains(&format!("[{word}]")), "{word}: {said:?}");
        assert!(said.stderr.contains(complaint), "{complaint}: {said:?}");
        assert!(!said.stderr.contains(&shop.password()), "{said:?}");
        assert_eq!(said.stdout, "");
    };
    check("mysql://a:geheim@h/x", 2, "usage", "begins with `postgres://`");
    let odd = url.replace("/postgres?", ":port/postgres?");
    check(&odd, 2, "bad_database_url", "is no address of a PostgreSQL database");
    let nowhere = "postgres://ada:geheim@127.0.0.1:1/x";
    check(nowhere, 5, "unavailable", "cannot be reached");
    let wrong = url.replace(&shop.password(), "geheim");
    check(&wrong, 5, "database_refused", "refuses the user or the password");
    let missing = url.replace("/postgres?", "/nothing_here?");
    check(&missing, 5, "database_unsuitable", "there is no database of that name");
    let foreign = TestSchema::fresh();
    foreign.sql("create table theirs (id integer)");
    check(&foreign.url(), 5, "database_unsuitable", "has tables that are not Baton's");
    let newer = TestSchema::fresh();
    let other = Project::new();
    let mut command = other.command(&["status"]);
    let said = Said::from(command.env("BATON_DATABASE_URL", newer.url()).output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    newer.sql(
        "insert into schema_migrations (number, name, hash) values (9999, 'later', decode(repeat('00', 32), 'hex'))",
    );
    check(&newer.url(), 5, "database_newer", "update this one");
    assert!(server.starts_with("postgres://"));
}

#[test]
fn other_programs_are_given_addresses_that_they_take() {
    let shop = Shop::started();
    let said = shop.run(&["backup", "a.db"]);
    let schema = format!("--schema={}", shop.schema.name());
    assert!(said.stderr.contains(&schema), "{said:?}");
    for command in ["backup", "restore"] {
        let said = shop.run(&[command, "a.db"]);
        let (line, _) = said.stderr.split_once("baton migrate").unwrap();
        let (_, line) = line.split_once('`').unwrap();
        assert!(!line.contains("pool=") && !line.contains("?schema="), "{said:?}");
    }
}

#[test]
fn a_project_whose_database_is_not_named_is_refused() {
    let shop = Shop::started();
    for args in [
        &["story", "add", "s2"][..],
        &["status"],
        &["verify"],
        &["serve", "--listen", "127.0.0.1:0"],
        &["push"],
        &["backup", "a.db"],
        &["init", "--new-data"],
        &["init", "--if-new"],
        &["--data", "elsewhere", "serve", "--listen", "127.0.0.1:0"],
    ] {
        shop.project.fails(args, 5, "set BATON_DATABASE_URL");
    }
    let said = shop.project.run(&["doctor"]);
    assert!(format!("{said:?}").contains("set BATON_DATABASE_URL"), "{said:?}");
    assert!(!shop.project.path().join(".baton/data/baton.db").exists());
    assert!(!shop.project.path().join("elsewhere/baton.db").exists());
    // Moved back to the folder, it is there.
    let mut command = shop.command(&["migrate", "--from", "env", "--to", ".baton/data"]);
    let said = Said::from(command.output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    shop.project.ok(&["status"]);
}

#[test]
fn a_project_may_be_made_again_and_again_where_that_is_asked_for() {
    let shop = Shop::started();
    shop.fails(&["init"], 4, "is a Baton project already");
    let said = shop.ok(&["init", "--if-new"]);
    assert!(said.contains("nothing was changed"), "{said}");
    assert!(shop.ok(&["status"]).contains("s1"));
    let new = Project(tempfile::tempdir().unwrap());
    new.ok(&["init", "--if-new"]);
    new.ok(&["init", "--if-new"]);
    new.fails(&["init"], 4, "is a Baton project already");
    // The database of another project is no reason to succeed.
    let mut command = shop.project.command(&["init", "--if-new"]);
    let other = Shop::started();
    let said = Said::from(command.env("BATON_DATABASE_URL", other.url()).output().unwrap());
    assert_eq!(said.code, 5, "{said:?}");
}

#[test]
fn an_empty_database_that_data_is_moved_from_stays_empty() {
    let empty = TestSchema::fresh();
    let project = Project::new();
    let mut command = project.command(&["migrate", "--from", "env", "--to", "saved"]);
    let said = Said::from(command.env("BATON_DATABASE_URL", empty.url()).output().unwrap());
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.stderr.contains("has no data of Baton"), "{said:?}");
    let n_tables = "select count(*) from pg_tables where schemaname = current_schema()";
    assert_eq!(empty.sql(n_tables), "0");
}

#[test]
fn a_database_of_another_project_is_refused() {
    let [one, other] = [Shop::started(), Shop::started()];
    let said = {
        let mut command = one.project.command(&["story", "list"]);
        Said::from(command.env("BATON_DATABASE_URL", other.url()).output().unwrap())
    };
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.stderr.contains("[other_project]"), "{said:?}");
    // A project with data of its own does not begin with an empty database.
    let own = Project::started();
    let empty = TestSchema::fresh();
    let mut command = own.command(&["story", "list"]);
    let said = Said::from(command.env("BATON_DATABASE_URL", empty.url()).output().unwrap());
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.stderr.contains("baton migrate --from "), "{said:?}");
    // Without its data, the archive still tells.
    fs::remove_dir_all(own.path().join(".baton/data")).unwrap();
    let mut command = own.command(&["story", "list"]);
    let said = Said::from(command.env("BATON_DATABASE_URL", empty.url()).output().unwrap());
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.stderr.contains("the archive of this project tells"), "{said:?}");
}
