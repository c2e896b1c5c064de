//! The server and the runner of a demo: started, killed and stopped by it, and by it alone.

use std::net::SocketAddr;

use super::programs::{BatonProcess, ChildPlace, DemoFolders};
use crate::failure::Failure;
use crate::project::{Project, ProjectDatabase};

pub(super) struct Crew {
    pub(super) folders: DemoFolders,
    /// Where the data goes, if not into the demo's own folder.
    database: Option<ProjectDatabase>,
    /// Where the server listens: after its first start, always the same.
    listen: SocketAddr,
    server: Option<BatonProcess>,
    runner: Option<BatonProcess>,
}

impl Crew {
    pub(super) fn new(
        folders: DemoFolders,
        database: Option<ProjectDatabase>,
        listen: SocketAddr,
    ) -> Self {
        Self { folders, database, listen, server: None, runner: None }
    }

    fn place(&self) -> ChildPlace<'_> {
        ChildPlace {
            project: &self.folders.project,
            state: Some(&self.folders.state),
            database: self.database.as_ref().map(|it| &it.url),
        }
    }

    /// The demo's project, with its data where the demo has it.
    pub(super) fn project(&self) -> Result<Project, Failure> {
        let mut project = Project::find(Some(&self.folders.project))?;
        project.database = self.database.clone();
        Ok(project)
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.listen)
    }

    /// Starts the server, where it is not there. It runs no agents: the runner does.
    pub(super) async fn start_server(&mut self) -> Result<(), Failure> {
        if self.server.is_some() {
            return Ok(());
        }
        let listen = self.listen.to_string();
        let args = ["serve", "--no-runner", "--listen", &listen];
        let (server, url) = BatonProcess::start(self.place(), &args, "listening on ").await?;
        self.server = Some(server);
        let address = url.strip_prefix("http://").and_then(|it| it.parse().ok());
        self.listen = address.ok_or_else(|| Failure::Broken {
            what: format!("the server listens on `{url}`, which is no address"),
        })?;
        Ok(())
    }

    pub(super) fn has_server(&self) -> bool {
        self.server.is_some()
    }

    pub(super) async fn start_runner(&mut self) -> Result<(), Failure> {
        let url = self.url();
        let args = ["runner", "--server", &url];
        let (runner, _) = BatonProcess::start(self.place(), &args, "running agents for ").await?;
        self.runner = Some(runner);
        Ok(())
    }

    pub(super) async fn stop_runner(&mut self) {
        if let Some(runner) = self.runner.take() {
            runner.stop().await;
        }
    }

    /// Ends the server as a crash would.
    pub(super) async fn kill_server(&mut self) {
        if let Some(server) = self.server.take() {
            server.kill().await;
        }
    }

    /// Fails where one of them has ended by itself: nothing more would happen.
    pub(super) fn check(&mut self) -> Result<(), Failure> {
        for (name, process) in [("server", &mut self.server), ("runner", &mut self.runner)] {
            if let Some(why) = process.as_mut().and_then(BatonProcess::has_ended) {
                return Err(Failure::Broken { what: format!("the {name} has ended: {why}") });
            }
        }
        Ok(())
    }

    /// Stops both. The agents under way are waited for, and they need the server for their results.
    pub(super) async fn stop(mut self) {
        if self.runner.is_some() {
            let _ = self.start_server().await;
            self.stop_runner().await;
        }
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }
}
