//! Several servers on one database.

use std::fs;

use baton_test_postgres::TestSchema;
use serde_json::Value;

use super::Shop;
use crate::Said;
use crate::health::wait_for;
use crate::serve::Served;

impl Shop {
    /// A server with this folder for what belongs to its machine.
    fn serves(&self, data: &str) -> Served {
        let args = ["serve", "--listen", "127.0.0.1:0", "--no-runner", "--data", data];
        Served::listening(self.command(&args))
    }
}

#[test]
fn every_server_on_a_database_is_a_node_and_commands_find_one() {
    let shop = Shop::started();
    shop.fails(&["open", "--print"], 5, "no server is running for this project");
    let [one, other] = [shop.serves("one"), shop.serves("other")];
    let accept = r#"{"action":"accept","handoffId":1}"#;
    assert_eq!(one.curl(&["-X", "POST", "-d", accept], "/api/handoffs").status, 200);
    wait_for(|| {
        let got = other.curl(&[], "/api/v1/handoffs/1").body;
        match got["state"].as_str() {
            Some("accepted") => Ok(()),
            _ => Err(got.to_string()),
        }
    });
    let status: Value = serde_json::from_str(&shop.ok(&["status", "--json"])).unwrap();
    let mut urls: Vec<&str> =
        status["nodes"].as_array().unwrap().iter().map(|it| it["url"].as_str().unwrap()).collect();
    urls.sort_unstable();
    let mut expected = [one.url.as_str(), other.url.as_str()];
    expected.sort_unstable();
    assert_eq!(urls, expected);
    for server in [&one, &other] {
        let ready = server.curl(&[], "/readyz").body.as_str().unwrap().to_owned();
        // A node may be about to write its archive.
        assert!(ready.starts_with("ready"), "{ready}");
        assert!(ready.contains(&one.url) && ready.contains(&other.url), "{ready}");
        let metrics = server.curl(&[], "/metrics").body.as_str().unwrap().to_owned();
        assert!(metrics.contains("baton_nodes 2"), "{metrics}");
        assert!(metrics.contains("baton_log_delay_seconds 0"), "{metrics}");
    }
    let found = shop.ok(&["open", "--print"]);
    assert!(expected.contains(&found.trim().trim_end_matches('/')), "{found}");
    assert!(shop.ok(&["doctor"]).contains("the node "));
    assert_eq!(one.stop(), Some(0));
    let found = shop.ok(&["open", "--print"]);
    assert_eq!(found.trim().trim_end_matches('/'), other.url, "the one that is left");
}

#[test]
fn two_nodes_in_one_folder_write_one_archive() {
    let shop = Shop::new();
    let nodes = [shop.serves("one"), shop.serves("other")];
    for n in 0..10 {
        let (story, node) = (format!("s{n}"), &nodes[n % 2]);
        shop.ok(&["story", "add", &story, "--server", &node.url]);
        shop.ok(&["run", "start", &story, "--server", &node.url]);
    }
    let sessions = shop.project.path().join(".project/07-audit/sessions");
    wait_for(|| {
        for node in &nodes {
            let ready = node.curl(&[], "/readyz").body.as_str().unwrap().to_owned();
            assert!(!ready.contains("archive"), "{ready}");
        }
        let n_written = fs::read_dir(&sessions).map_or(0, |it| it.flatten().count());
        if n_written >= 10 { Ok(()) } else { Err(format!("{n_written} sessions")) }
    });
}

#[test]
fn a_node_whose_database_was_restored_stops_and_a_new_one_goes_on() {
    let shop = Shop::started();
    let server = shop.serves("one");
    // As a node does that finds the restored data.
    shop.schema.sql("update identity set epoch = 'aaaaaaaa'");
    assert_eq!(server.ended(), Some(5));
    let server = shop.serves("one");
    assert_eq!(server.curl(&[], "/readyz").status, 200);
}

#[test]
fn all_nodes_share_the_secret_of_their_runners() {
    let shop = Shop::started();
    let [_one, _other] = [shop.serves("one"), shop.serves("other")];
    let key = |data: &str| {
        let path = shop.project.path().join(data).join("runner.key");
        fs::read_to_string(path).unwrap().lines().next().unwrap().to_owned()
    };
    assert_eq!(key("one"), key("other"));
}

#[test]
fn a_typed_password_is_in_no_list_of_processes() {
    let shop = Shop::started();
    let args = ["serve", "--listen", "127.0.0.1:0", "--no-runner", "--database-url", &shop.url()];
    let server = Served::listening(shop.project.command(&args));
    let arguments = fs::read(format!("/proc/{}/cmdline", server.id())).unwrap();
    let arguments = String::from_utf8(arguments).unwrap();
    assert!(arguments.contains("--database-url\0env"), "{arguments:?}");
    assert!(!arguments.contains(&shop.password()), "{arguments:?}");
}

#[test]
fn pushed_files_count_on_every_node() {
    let shop = Shop::new();
    shop.ok(&["push", "--clear"]);
    let server = shop.serves("one");
    let folder = shop.project.path().join(".baton/workflows");
    fs::write(folder.join("plain.yaml"), crate::PLAIN).unwrap();
    let said = shop.ok(&["push", "--dry-run"]);
    assert!(said.contains("added    .baton/workflows/plain.yaml"), "{said}");
    assert!(shop.schema.sql("select count(*) from pushed_files") == "0");
    shop.ok(&["push"]);
    fs::remove_file(folder.join("plain.yaml")).unwrap();
    shop.ok(&["story", "add", "s1"]);
    let start = ["run", "start", "s1", "--workflow", "plain", "--server", &server.url];
    wait_for(|| {
        let said = shop.run(&start);
        if said.code == 0 { Ok(()) } else { Err(said.stderr) }
    });
    // Commands tell of the files that are used, not of those that happen to be here.
    let listed = shop.ok(&["workflow", "list"]);
    assert!(listed.contains("plain.yaml (pushed)"), "{listed}");
    shop.ok(&["workflow", "show", "plain"]);
    shop.ok(&["agent", "list"]);
    assert!(shop.ok(&["doctor"]).contains("used by every node in place of the files here"));
    assert!(shop.ok(&["push", "--dry-run"]).contains("removed  .baton/workflows/plain.yaml"));
    fs::write(folder.join("plain.yaml"), "name: plain\nstart: nowhere\n").unwrap();
    shop.fails(&["push"], 1, "nothing was pushed");
    // Where the data is in a folder, there is nothing to push to.
    let said = Said::from(crate::Project::new().command(&["push"]).output().unwrap());
    assert_eq!(said.code, 2, "{said:?}");
    drop(TestSchema::fresh());
}
