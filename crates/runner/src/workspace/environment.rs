//! What programs in a workspace are given: variables, and a port of their own.

use std::net::{Ipv4Addr, TcpListener};

use super::{WorkspaceError, WorkspaceRecord, Workspaces};
use crate::git::without_folders_of;

impl Workspaces {
    /// What every program in a workspace gets: a little of the runner's own environment, and what the
    /// project sets.
    pub(crate) fn environment(&self, record: &WorkspaceRecord) -> Vec<(String, String)> {
        // The time zone, because programs tell in it when their rate limit ends.
        const PASSED_ON: [&str; 5] = ["PATH", "HOME", "LANG", "TMPDIR", "TZ"];
        let own = self.env.iter().filter(|(name, _)| PASSED_ON.contains(&name.as_str())).cloned();
        let port = record.port.to_string();
        let set = self.settings.env.iter();
        let set = set.map(|(name, value)| (name.clone(), value.replace("{port}", &port)));
        own.chain(set).map(|(name, value)| self.without_own_programs(name, value)).collect()
    }

    /// A search path without folders of the workspace or the project: what is found there was not
    /// trusted.
    fn without_own_programs(&self, name: String, value: String) -> (String, String) {
        if name != "PATH" {
            return (name, value);
        }
        let value = without_folders_of(&self.git.path, &value);
        (name, value)
    }

    pub(super) fn free_port(&self) -> Result<u16, WorkspaceError> {
        let taken: Vec<u16> = self.all()?.iter().map(|it| it.port).collect();
        let is_free = |port: &u16| {
            !taken.contains(port) && TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()
        };
        match self.settings.ports {
            Some((first, last)) => {
                let no_port = WorkspaceError::NoPort { first, last };
                (first..=last).find(is_free).ok_or(no_port)
            }
            None => {
                for _ in 0..100 {
                    let any = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
                    let port = any.and_then(|it| it.local_addr()).map(|it| it.port());
                    if let Ok(port) = port
                        && !taken.contains(&port)
                    {
                        return Ok(port);
                    }
                }
                Err(WorkspaceError::NoPort { first: 1024, last: u16::MAX })
            }
        }
    }
}
