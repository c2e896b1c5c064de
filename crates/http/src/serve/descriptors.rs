//! The limit on open files of this process; every connection is one.

/// Kept for everything that is not a connection: the database, the archive, the log.
const RESERVED: u64 = 64;

/// The number of connections asked for, as far as the system's limit allows.
pub(super) fn most_connections(asked: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = asked as u64 + RESERVED;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(soft) = current else { return asked };
    if soft < wanted {
        let current = Some(maximum.map_or(wanted, |it| it.min(wanted)));
        // If it is not permitted, the limit stays as it was.
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
    let soft = getrlimit(Resource::Nofile).current.unwrap_or(wanted);
    // Half of a very low limit, so that there is always some room on both sides.
    let room = soft.saturating_sub(RESERVED).max(soft / 2);
    asked.min(usize::try_from(room).unwrap_or(asked)).max(1)
}
