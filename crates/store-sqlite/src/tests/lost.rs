//! Files that are deleted or replaced under a store in use: nothing more is recorded, and the open
//! data is not lost.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use baton_core::story::Story;
use baton_files::Dir;
use baton_store::{AppendError, RunFilter, Store, StoreError, WriteFault};
use baton_store_tests::dump;
use baton_store_tests::sample::*;

use crate::{CommandContext, DataLock, DataOption, FILE, SqliteStore, connect, lock};

/// Far longer than the watcher needs.
const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn nothing_is_recorded_once_the_database_is_gone() {
    for name in [FILE, "baton.db-wal", "baton.db-shm", lock::FILE] {
        let dir = tempfile::tempdir().unwrap();
        let _lock = DataLock::take(&Dir::open(dir.path()).unwrap(), Duration::ZERO).unwrap();
        let store = with_a_tale(dir.path()).await;
        fs::remove_file(dir.path().join(name)).unwrap();
        store.guard.look();
        let what = refused(&store).await;
        let expected =
            format!("{}` was deleted or moved while Baton had it open", path(&dir, name));
        assert!(what.contains(&expected), "{what}");
        assert_eq!(store.runs(&RunFilter::default()).await.unwrap().len(), 1, "reads go on");
    }
}

#[tokio::test]
async fn nothing_is_recorded_once_the_database_is_another() {
    for name in [FILE, lock::FILE] {
        let dir = tempfile::tempdir().unwrap();
        let _lock = DataLock::take(&Dir::open(dir.path()).unwrap(), Duration::ZERO).unwrap();
        let store = with_a_tale(dir.path()).await;
        fs::copy(dir.path().join(name), dir.path().join("other")).unwrap();
        fs::rename(dir.path().join("other"), dir.path().join(name)).unwrap();
        store.guard.look();
        let what = refused(&store).await;
        assert!(what.contains("was replaced by another file"), "{what}");
    }
}

#[tokio::test]
async fn the_thread_notices_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let store = with_a_tale(dir.path()).await;
    assert_eq!(store.write_fault(), None);
    fs::remove_file(dir.path().join(FILE)).unwrap();
    until(&store, || store.write_fault().is_some());
}

#[tokio::test]
async fn all_that_was_recorded_is_copied_while_it_is_still_open() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("shop/.baton/data");
    let store = with_a_tale(&data).await;
    store.rescue_when_lost(context(&data));
    let before = dump(&store).await;
    fs::remove_dir_all(&data).unwrap();
    let copy = data.join("rescued-1");
    let is_named = || {
        let fault = store.write_fault().map(|it| it.to_string()).unwrap_or_default();
        let command = format!("`baton restore {} --replace --project ", copy.join(FILE).display());
        fault.contains(&command)
    };
    until(&store, is_named);
    store.close().await;
    let copy = SqliteStore::open(&copy).unwrap();
    assert_eq!(dump(&copy).await, before);
}

#[tokio::test]
async fn a_stop_right_after_the_loss_copies_it_too() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("shop/.baton/data");
    let store = with_a_tale(&data).await;
    store.rescue_when_lost(context(&data));
    let before = dump(&store).await;
    for name in [FILE, "baton.db-wal", "baton.db-shm"] {
        fs::remove_file(data.join(name)).unwrap();
    }
    store.close().await;
    let copy = SqliteStore::open(&data.join("rescued-1")).unwrap();
    assert_eq!(dump(&copy).await, before);
    assert!(!data.join(FILE).exists(), "no empty database is left in its place");
}

/// What is deleted, and where the copy then is.
#[tokio::test]
async fn where_the_folder_around_the_data_is_gone_the_copy_is_beside_the_project() {
    for (deleted, copy) in [
        ("shop/.baton/data", "shop/.baton/data/rescued-1"),
        ("shop/.baton", "shop-baton-rescued-1"),
        ("shop", "shop-baton-rescued-1"),
        ("", "shop-baton-rescued-1"),
    ] {
        let above = tempfile::tempdir().unwrap();
        let parent = above.path().join("parent");
        let data = parent.join("shop/.baton/data");
        let store = with_a_tale(&data).await;
        store.rescue_when_lost(context(&data));
        let before = dump(&store).await;
        fs::remove_dir_all(parent.join(deleted)).unwrap();
        store.close().await;
        let copy = if deleted.is_empty() { above.path() } else { &parent }.join(copy);
        let saved = SqliteStore::open(&copy).unwrap();
        assert_eq!(dump(&saved).await, before, "{deleted}");
        assert_private(&copy);
    }
}

#[tokio::test]
async fn no_copy_goes_through_a_link() {
    let parent = tempfile::tempdir().unwrap();
    let theirs = tempfile::tempdir().unwrap();
    let project = parent.path().join("shop");
    let data = project.join(".baton/data");
    let store = with_a_tale(&data).await;
    store.rescue_when_lost(context(&data));
    fs::remove_dir_all(project.join(".baton")).unwrap();
    std::os::unix::fs::symlink(theirs.path(), project.join(".baton")).unwrap();
    store.close().await;
    assert_eq!(fs::read_dir(theirs.path()).unwrap().count(), 0);
    assert!(parent.path().join("shop-baton-rescued-1").join(FILE).exists());
}

#[tokio::test]
async fn a_copy_that_was_deleted_with_the_rest_is_made_again() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("shop/.baton/data");
    let store = with_a_tale(&data).await;
    store.rescue_when_lost(context(&data));
    fs::remove_file(data.join(FILE)).unwrap();
    until(&store, || says(&store, "shop/.baton/data/rescued-1"));
    fs::remove_dir_all(parent.path().join("shop")).unwrap();
    until(&store, || says(&store, "shop-baton-rescued-1"));
    assert!(says(&store, "bring `.baton` back or type `baton init --project "));
}

#[tokio::test]
async fn a_lock_that_was_deleted_before_the_rest_does_not_hide_it() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("shop/.baton/data");
    fs::create_dir_all(&data).unwrap();
    let lock = DataLock::take(&Dir::open(&data).unwrap(), Duration::ZERO).unwrap();
    let store = with_a_tale(&data).await;
    store.rescue_when_lost(context(&data));
    fs::remove_file(data.join(lock::FILE)).unwrap();
    store.guard.look();
    assert!(says(&store, "another Baton may work on the same data"));
    fs::remove_dir_all(&data).unwrap();
    until(&store, || says(&store, "baton restore "));
    drop(lock);
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[tokio::test]
async fn data_that_was_moved_is_where_it_says() {
    for (from, to, command) in [
        ("shop", "store", "`baton serve --project PARENT/store`"),
        (
            "shop/.baton/data",
            "data",
            "move it back, or type `baton serve --project PARENT/shop --data PARENT/data`",
        ),
    ] {
        let parent = tempfile::tempdir().unwrap();
        let root = parent.path().canonicalize().unwrap();
        let data = root.join("shop/.baton/data");
        let store = with_a_tale(&data).await;
        store.rescue_when_lost(context(&data));
        let before = dump(&store).await;
        fs::rename(root.join(from), root.join(to)).unwrap();
        store.guard.look();
        let what = refused(&store).await;
        let command = command.replace("PARENT", root.to_str().unwrap());
        assert!(what.contains("nothing is lost: stop this server, then "), "{what}");
        assert!(what.contains(&command), "{what}");
        store.close().await;
        assert!(!root.join("shop/.baton/data/rescued-1").exists(), "nothing needs a copy");
        let moved = if from == "shop" { root.join("store/.baton/data") } else { root.join(to) };
        let again = SqliteStore::open(&moved).unwrap();
        assert_eq!(dump(&again).await, before);
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[tokio::test]
async fn data_that_was_moved_and_then_deleted_is_copied() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("shop/.baton/data");
    let store = with_a_tale(&data).await;
    store.rescue_when_lost(context(&data));
    fs::rename(parent.path().join("shop"), parent.path().join("store")).unwrap();
    until(&store, || says(&store, "nothing is lost"));
    fs::remove_dir_all(parent.path().join("store")).unwrap();
    until(&store, || says(&store, "baton restore "));
}

#[tokio::test]
async fn a_database_or_a_log_that_was_cut_is_noticed_and_left_alone() {
    for name in [FILE, "baton.db-wal"] {
        let parent = tempfile::tempdir().unwrap();
        let data = parent.path().join("shop/.baton/data");
        let store = with_a_tale(&data).await;
        store.rescue_when_lost(context(&data));
        // While a reader is active, the owner does not truncate its log.
        let reader = connect::reading(&data.join(FILE)).unwrap();
        reader.execute_batch("begin; select count(*) from runs").unwrap();
        let file = fs::File::options().write(true).open(data.join(name)).unwrap();
        let n_bytes = file.metadata().unwrap().len();
        assert!(n_bytes > 0);
        store.guard.look();
        file.set_len(n_bytes - 1).unwrap();
        until(&store, || store.write_fault().is_some());
        let what = store.write_fault().unwrap().to_string();
        assert!(what.contains(&format!("{name}` was cut from ")), "{what}");
        assert!(what.contains(&format!(" to {} bytes while", n_bytes - 1)), "{what}");
        assert!(what.contains("`baton recover --project "), "{what}");
        assert_eq!(refused(&store).await, what);
        store.close().await;
        assert_eq!(file.metadata().unwrap().len(), n_bytes - 1, "{name}");
        assert!(!data.join("rescued-1").exists(), "what can be read is not what was recorded");
    }
}

/// SQLite writes the next frame where the last one ended, and checkpoints whatever is before it.
#[tokio::test]
async fn what_is_left_of_a_log_that_was_damaged_right_after_a_commit_is_not_moved() {
    type Harm = fn(&fs::File, u64);
    let harms: [(&str, Harm); 3] = [
        ("cut", |log, _| log.set_len(0).unwrap()),
        ("half", |log, n_bytes| log.set_len(n_bytes / 2).unwrap()),
        ("hole", |log, n_bytes| {
            log.set_len(0).unwrap();
            log.set_len(n_bytes).unwrap();
        }),
    ];
    for (what, harm) in harms {
        let parent = tempfile::tempdir().unwrap();
        let data = parent.path().join("shop/.baton/data");
        let store = with_a_tale(&data).await;
        store.rescue_when_lost(context(&data));
        let log_bytes = || fs::metadata(data.join("baton.db-wal")).unwrap().len();
        until(&store, || log_bytes() == 0);
        let before = fs::read(data.join(FILE)).unwrap();
        store.add_story(&Story::named(story_key("s-9")), moment(9)).await.unwrap();
        let log = fs::File::options().write(true).open(data.join("baton.db-wal")).unwrap();
        harm(&log, log_bytes());
        // A command may arrive before the change is detected: it is not executed.
        let _ = store.add_story(&Story::named(story_key("s-10")), moment(10)).await;
        until(&store, || store.write_fault().is_some());
        store.close().await;
        assert!(fs::read(data.join(FILE)).unwrap() == before, "{what}: the database was changed");
    }
}

#[tokio::test]
async fn a_database_that_was_overwritten_in_place_is_noticed() {
    use std::os::unix::fs::FileExt as _;
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("shop/.baton/data");
    let store = with_a_tale(&data).await;
    store.rescue_when_lost(context(&data));
    until(&store, || fs::metadata(data.join("baton.db-wal")).unwrap().len() == 0);
    assert_eq!(store.write_fault(), None, "moving the log is its owner's own work");
    let file = fs::File::options().write(true).open(data.join(FILE)).unwrap();
    // File-system timestamps are coarse.
    until(&store, || {
        file.write_all_at(&[0xff; 4096], 4096).unwrap();
        store.write_fault().is_some()
    });
    let what = refused(&store).await;
    assert!(what.contains("was written to by another program"), "{what}");
    assert!(what.contains("`baton verify --project "), "{what}");
}

#[tokio::test]
async fn what_was_put_in_its_place_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let store = with_a_tale(dir.path()).await;
    let others = [(FILE, "another database"), ("baton.db-wal", "its log"), ("baton.db-shm", "x")];
    for (name, text) in others {
        fs::remove_file(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name), text).unwrap();
    }
    store.close().await;
    for (name, text) in others {
        assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), text, "{name}");
    }
}

/// As a server of the project that owns the data.
fn context(data: &Path) -> CommandContext {
    let project = data.parent().unwrap().parent().unwrap();
    CommandContext::new(Dir::open(project).unwrap(), ".baton", DataOption::OfProject).unwrap()
}

fn says(store: &SqliteStore, words: &str) -> bool {
    store.write_fault().is_some_and(|it| it.to_string().contains(words))
}

fn assert_private(folder: &Path) {
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(folder), mode(&folder.join(FILE))), (0o700, 0o600));
    }
}

async fn with_a_tale(dir: &Path) -> SqliteStore {
    let store = SqliteStore::open(dir).unwrap();
    put_all(&store, &tale(1, "s-1")).await;
    store
}

async fn refused(store: &SqliteStore) -> String {
    let error = store.append(start(2, "s-2").into()).await.unwrap_err();
    assert!(
        matches!(error, AppendError::Store(StoreError::Unwritable(WriteFault::Replaced { .. }))),
        "{error:?}"
    );
    assert_eq!(store.write_fault().unwrap().to_string(), error.to_string());
    error.to_string()
}

/// Waits for a state that the watcher sets; fails with the store's actual state.
#[track_caller]
pub(super) fn until(store: &SqliteStore, is_so: impl Fn() -> bool) {
    let began_at = Instant::now();
    while !is_so() {
        let fault = store.write_fault();
        assert!(began_at.elapsed() < LONG, "after {LONG:?}: {fault:?}");
        std::thread::yield_now();
    }
}

fn path(dir: &tempfile::TempDir, name: &str) -> String {
    format!("`{}", dir.path().join(name).display())
}
