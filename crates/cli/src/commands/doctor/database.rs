//! Data in a database: whether it can be used, the nodes on it, and how far its log is behind.

use baton_http::{ClusterState, NodeDirectory as _};

use super::{Health, HealthCheck, finding, look_at_mark, look_inside};
use crate::args::{Cli, DATABASE_VARIABLE};
use crate::data::Data;
use crate::failure::Failure;
use crate::nodes::DatabaseNodes;
use crate::project::{DatabaseSource, PROJECT_FILE, Project, ProjectDatabase};
use crate::session::StoreBackend;
use crate::show;

pub(super) async fn look(
    cli: &Cli,
    project: Project,
    database: &ProjectDatabase,
    findings: &mut Vec<HealthCheck>,
) -> Result<(), Failure> {
    let place = database.url.to_string();
    if database.from == DatabaseSource::ProjectFile && database.url.has_password() {
        let what = format!("the password of the database is in {PROJECT_FILE}");
        let advice = format!(
            "whoever can read the repository can read it: put the address into {DATABASE_VARIABLE}, and \
             change the password"
        );
        findings.push(HealthCheck { what, state: Health::Waits { advice } });
    }
    let data = match Data::open(project).await {
        Ok(data) => data,
        Err(failure) => {
            let advice = "do what it says, then type `baton doctor` again".to_owned();
            findings.push(finding(format!("the data in {place}"), Err(failure), || advice));
            return Ok(());
        }
    };
    if let Data::Ours(session) = &data
        && let StoreBackend::Database(opened) = &session.backend
    {
        look_at_mark(session, findings).await?;
        look_at_nodes(&DatabaseNodes(opened.store.clone()).state().await?, findings);
    }
    look_inside(cli, data, &place, findings).await
}

fn look_at_nodes(cluster: &ClusterState, findings: &mut Vec<HealthCheck>) {
    for node in &cluster.nodes {
        let (name, url) = (show::visible(&node.name), show::visible(&node.url));
        let what = format!("the node {name} at {url}, Baton {}", show::visible(&node.version));
        let state = match node.is_alive {
            true => Health::Well,
            false => Health::Waits { advice: "it has not been heard of for a while".to_owned() },
        };
        findings.push(HealthCheck { what, state });
    }
    if let Some(delay) = &cluster.delay {
        let (what, advice) = (show::visible(&delay.to_string()), show::visible(&delay.advice()));
        findings.push(HealthCheck { what, state: Health::Waits { advice } });
    }
}
