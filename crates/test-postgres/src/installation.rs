//! Where the programs of PostgreSQL are, and as whom they run.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// Names the folder of `initdb` and `pg_ctl` where they are in no usual place.
const FOLDER_VARIABLE: &str = "BATON_POSTGRES_BIN";
/// Debian keeps the programs of each version in a folder of its own.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The account of the Debian package. PostgreSQL refuses to run as root.
const ACCOUNT: &str = "postgres";
const MISSING: &str = "PostgreSQL is not installed: install version 14 or newer (Debian and Ubuntu: \
     `apt-get install postgresql`), or set BATON_POSTGRES_BIN to the folder of `initdb` and `pg_ctl`";

/// An installed PostgreSQL.
#[derive(Debug, Clone)]
pub struct PostgresPrograms {
    folder: PathBuf,
    /// Who runs it, where that is not the current user.
    account: Option<Account>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl PostgresPrograms {
    /// The newest that is installed; otherwise says what to install.
    pub fn find() -> Result<Self> {
        let folder = folder().context(MISSING)?;
        Ok(Self { folder, account: account()? })
    }

    pub(crate) fn account(&self) -> Option<Account> {
        self.account
    }

    /// One of its own programs, as the account that may run it.
    pub fn command(&self, program: &str) -> Command {
        self.as_account(Command::new(self.folder.join(program)))
    }

    /// Another program as the same account.
    pub(crate) fn as_account(&self, mut command: Command) -> Command {
        if let Some(Account { uid, gid }) = self.account {
            command.uid(uid).gid(gid);
        }
        // Its messages are compared and shown in one language; the folder is one that it may enter.
        command.env("LC_ALL", "C").current_dir("/").stdin(Stdio::null());
        command
    }

    pub(crate) fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }

    /// Runs SQL on a server, each statement in a transaction of its own unless it says otherwise, and
    /// returns the rows: values with `|` between them.
    pub fn sql(&self, url: &str, sql: &str) -> Result<String> {
        let options = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"];
        let output = self
            .command("psql")
            .args(options)
            .args(["--set", "ON_ERROR_STOP=1", "--command", sql, url])
            .output()
            .context("start psql")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{sql}` failed: {said}");
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }
}

impl PostgresPrograms {
    /// What `pg_dump` writes of one schema.
    pub fn dump(&self, url: &str, schema: &str) -> Result<String> {
        let mut dump = self.command("pg_dump");
        let output = dump.args(["--schema", schema, url]).output().context("start pg_dump")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "pg_dump failed: {said}");
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs what [`PostgresPrograms::dump`] has written.
    pub fn restore(&self, url: &str, dump: &str) -> Result<()> {
        let mut psql = self.command("psql");
        psql.args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", url]);
        let piped = psql.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut psql = piped.spawn().context("start psql")?;
        if let Some(mut input) = psql.stdin.take() {
            input.write_all(dump.as_bytes())?;
        }
        let output = psql.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the dump could not be restored: {said}");
        Ok(())
    }
}

fn folder() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(FOLDER_VARIABLE) {
        return Some(PathBuf::from(named));
    }
    newest_version().or_else(|| {
        let path = std::env::var_os("PATH")?;
        let found =
            std::env::split_paths(&path).map(|it| it.join("initdb")).find(|it| it.is_file());
        // A link into the folder of a version, which has the other programs too.
        Some(found?.canonicalize().ok()?.parent()?.to_owned())
    })
}

fn newest_version() -> Option<PathBuf> {
    let versions = std::fs::read_dir(VERSIONS).ok()?.flatten();
    let number = |it: &PathBuf| it.file_name()?.to_str()?.parse::<u32>().ok();
    let folders = versions.map(|it| it.path()).filter(|it| has_programs(&it.join("bin")));
    folders.max_by_key(number).map(|it| it.join("bin"))
}

fn has_programs(folder: &Path) -> bool {
    ["initdb", "pg_ctl", "psql"].iter().all(|it| folder.join(it).is_file())
}

/// PostgreSQL refuses to run as root.
fn account() -> Result<Option<Account>> {
    if !is_root()? {
        return Ok(None);
    }
    let accounts = std::fs::read_to_string("/etc/passwd")?;
    for line in accounts.lines() {
        let mut fields = line.split(':');
        if fields.next() != Some(ACCOUNT) {
            continue;
        }
        let ids: Vec<u32> = fields.skip(1).take(2).flat_map(str::parse).collect();
        if let [uid, gid] = ids[..] {
            return Ok(Some(Account { uid, gid }));
        }
    }
    bail!("PostgreSQL does not run as root, and there is no account `{ACCOUNT}`")
}

fn is_root() -> Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(std::fs::metadata("/proc/self").context("who runs this is not known")?.uid() == 0)
}
