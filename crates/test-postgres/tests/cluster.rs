//! A cluster comes and goes as it should.

use baton_test_postgres::{Cluster, ClusterStop, Durability, Pooler, TestSchema};

#[test]
fn a_cluster_answers_and_is_gone_when_it_is_dropped() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    assert_eq!(cluster.sql("select 1 + 1").unwrap(), "2");
    assert_eq!(cluster.sql("show fsync").unwrap(), "off");
    let (programs, url) = (cluster.programs().clone(), cluster.url());
    drop(cluster);
    assert!(programs.sql(&url, "select 1").is_err());
}

#[test]
fn what_was_committed_is_there_after_a_crash() {
    let cluster = Cluster::start(Durability::Synced).unwrap();
    cluster.sql("create table kept (n int)").unwrap();
    cluster.sql("insert into kept values (7)").unwrap();
    cluster.stop(ClusterStop::Immediate).unwrap();
    assert!(cluster.sql("select 1").is_err());
    cluster.start_again().unwrap();
    assert_eq!(cluster.sql("select n from kept").unwrap(), "7");
    assert_eq!(cluster.sql("show fsync").unwrap(), "on");
}

#[test]
fn each_test_has_a_schema_of_its_own() {
    let (one, other) = (TestSchema::fresh(), TestSchema::fresh());
    one.sql("create table here (n int)");
    assert_eq!(one.sql("select to_regclass('here') is null"), "f");
    assert_eq!(other.sql("select to_regclass('here') is null"), "t");
    let (server, name) = (other.server_url().to_owned(), one.name().to_owned());
    assert!(one.url().starts_with(&server));
    drop(one);
    let left = format!("select count(*) from pg_namespace where nspname = '{name}'");
    assert_eq!(other.sql(&left), "0");
}

#[test]
fn a_pooler_stands_in_front_of_a_cluster() {
    let cluster = Cluster::start(Durability::Unsynced).unwrap();
    let pooler = Pooler::start(&cluster, 2).unwrap();
    let url = cluster.url_at(pooler.port());
    assert_eq!(cluster.programs().sql(&url, "select 1 + 1").unwrap(), "2");
}
