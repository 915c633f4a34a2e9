//! Stores that are damaged in many ways, foreign, locked, or new at the same moment for many.

use super::*;
use crate::store::{FileLines, ImportTarget};
use std::io::Cursor;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

static IDS: AtomicU64 = AtomicU64::new(0);

fn ambient() -> Ambient {
    let id = || format!("made-{}", IDS.fetch_add(1, Ordering::Relaxed));
    Ambient::new(|| 1_777_629_600_000, id).with_store_wait(Duration::from_millis(20))
}

fn transcript(id: &str, rows: usize) -> Vec<String> {
    let header =
        format!(r#"{{"type":"session","version":4,"id":"{id}","timestamp":"","cwd":"/"}}"#);
    let text = "words ".repeat(100);
    let rows = (0..rows).map(|row| {
        let message = format!(r#"{{"role":"user","content":"{row} {text}"}}"#);
        let parent = row.checked_sub(1).map(|parent| format!("e{parent}"));
        openclaw_transcript::message_row(&format!("e{row}"), parent.as_deref(), "", &message)
    });
    std::iter::once(header).chain(rows).collect()
}

/// A store with two sessions of this many rows, closed.
fn filled(directory: &Path, rows: usize) -> PathBuf {
    let path = directory.join("sessions.sqlite");
    let mut store = Store::open(&path, ambient()).unwrap();
    for id in ["one", "two"] {
        let mut text = transcript(id, rows).join("\n");
        text.push('\n');
        let target = ImportTarget {
            name: id,
            agent_id: "main",
            key: Some(if id == "one" { "k" } else { "agent:main:two" }),
            wait: Duration::ZERO,
        };
        let mut lines = FileLines::new(Cursor::new(text.into_bytes())).unwrap();
        store.import(&mut lines, &target, &mut |_| {}).unwrap();
    }
    path
}

fn exported(path: &Path, name: &str) -> Vec<String> {
    let store = Store::open(path, ambient()).unwrap();
    let session = store.session_named(name).unwrap();
    let mut lines = Vec::new();
    let each = |line: &str| {
        lines.push(line.to_owned());
        Ok::<_, StoreError>(())
    };
    store.export(&session, each).unwrap();
    lines
}

#[track_caller]
fn opens(path: &Path) -> StoreErrorKind {
    let before = fs::read(path).unwrap();
    let kind = match Store::open(path, ambient()).and_then(|store| store.verify()) {
        Err(error) => {
            let text = format!("{error}");
            assert!(text.contains(&path.display().to_string()), "{text}");
            assert!(!error.help().is_empty());
            error.kind
        }
        Ok(()) => panic!("it opens"),
    };
    assert_eq!(fs::read(path).unwrap(), before, "it was changed");
    kind
}

#[track_caller]
fn repaired(path: &Path) -> RepairReport {
    let before = fs::read(path).unwrap();
    let Repair::Replaced(report) = Store::repair(path, &ambient()).unwrap() else {
        panic!("nothing was repaired");
    };
    assert_eq!(fs::read(&report.set_aside).unwrap(), before);
    assert!(
        report
            .set_aside
            .to_string_lossy()
            .contains("sessions.sqlite.damaged-")
    );
    assert_eq!(Store::repair(path, &ambient()).unwrap(), Repair::Sound);
    report
}

#[test]
fn sound_and_missing_stores_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sessions.sqlite");
    assert_eq!(Store::repair(&path, &ambient()).unwrap(), Repair::Missing);
    assert!(!path.exists());
    filled(directory.path(), 3);
    let before = fs::read(&path).unwrap();
    assert_eq!(Store::repair(&path, &ambient()).unwrap(), Repair::Sound);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn store_with_a_broken_header_is_saved_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = filled(directory.path(), 50);
    let mut bytes = fs::read(&path).unwrap();
    bytes[..100].fill(b'#');
    fs::write(&path, bytes).unwrap();
    assert!(matches!(opens(&path), StoreErrorKind::Damaged(_)));
    let report = repaired(&path);
    assert_eq!(
        (report.sessions, report.entries, report.lost_entries),
        (2, 100, 0)
    );
    assert_eq!(report.incomplete, Vec::<String>::new());
    assert_eq!(exported(&path, "k"), transcript("one", 50));
    assert_eq!(exported(&path, "agent:main:two"), transcript("two", 50));
}

#[test]
fn empty_file_is_no_new_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sessions.sqlite");
    fs::write(&path, b"").unwrap();
    assert!(matches!(opens(&path), StoreErrorKind::Damaged(_)));
    assert!(Store::open_to_read(&path, ambient()).is_err());
    let report = repaired(&path);
    assert_eq!((report.sessions, report.entries), (0, 0));
    // A log without its file is what is left of a store.
    fs::remove_file(&path).unwrap();
    fs::write(beside(&path, "-wal"), b"log").unwrap();
    let error = Store::open(&path, ambient()).unwrap_err();
    assert!(
        matches!(error.kind, StoreErrorKind::Damaged(_)),
        "{error:?}"
    );
    assert!(!path.exists());
}

#[test]
fn truncated_store_keeps_what_is_before_the_cut() {
    let directory = tempfile::tempdir().unwrap();
    let path = filled(directory.path(), 200);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let bytes = file.metadata().unwrap().len();
    file.set_len(bytes / 4096 / 2 * 4096).unwrap();
    assert!(matches!(opens(&path), StoreErrorKind::Damaged(_)));
    let report = repaired(&path);
    assert!(report.entries > 50, "{report:?}");
    assert!(
        report.lost_entries > 0 && !report.incomplete.is_empty(),
        "{report:?}"
    );
    let lines = exported(&path, "k");
    let all = transcript("one", 200);
    assert!(lines.iter().all(|line| all.contains(line)));
}

/// Whatever page is lost: nothing panics, nothing is made up, and most of the rest is there.
#[test]
fn any_lost_page_costs_only_what_was_on_it() {
    let original = tempfile::tempdir().unwrap();
    let path = filled(original.path(), 60);
    let bytes = fs::read(&path).unwrap();
    let all = [transcript("one", 60), transcript("two", 60)].concat();
    let (mut saved, mut damaged) = (0, 0);
    for page in 0..bytes.len() / 4096 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sessions.sqlite");
        let mut bytes = bytes.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xA5);
        fs::write(&path, &bytes).unwrap();
        let Repair::Replaced(report) = Store::repair(&path, &ambient()).unwrap() else {
            continue;
        };
        assert_eq!(fs::read(&report.set_aside).unwrap(), bytes);
        damaged += 1;
        saved += report.entries;
        let store = Store::open(&path, ambient()).unwrap();
        for session in store.sessions().unwrap() {
            let lines = exported(&path, &session.session_id);
            for line in &lines[1..] {
                assert!(all.contains(line), "page {page} made up {line}");
            }
        }
    }
    assert!(damaged > 10, "{damaged}");
    let share = saved as f64 / (damaged as f64 * 120.0);
    assert!(share > 0.75, "only {share} of the entries were saved");
}

/// A session that lost entries is another history, so that engines take it up anew.
#[test]
fn session_that_lost_an_entry_gets_another_generation() {
    let directory = tempfile::tempdir().unwrap();
    let path = filled(directory.path(), 20);
    let store = Store::open(&path, ambient()).unwrap();
    let generation = |store: &Store, key: &str| store.session(key).unwrap().unwrap().generation;
    let before = ["k", "agent:main:two"].map(|key| generation(&store, key));
    let sql = "UPDATE entries SET row = '{' WHERE session_id = 'one' AND seq = 7";
    store.connection.execute(sql, []).unwrap();
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    bytes[..16].fill(0);
    fs::write(&path, bytes).unwrap();
    let report = repaired(&path);
    assert_eq!((report.entries, report.lost_entries), (39, 1));
    assert_eq!(report.incomplete, ["k"]);
    let store = Store::open(&path, ambient()).unwrap();
    let after = ["k", "agent:main:two"].map(|key| generation(&store, key));
    assert_ne!(after[0], before[0]);
    assert_eq!(after[1], before[1]);
    let path_length = store
        .path_of(&store.session("k").unwrap().unwrap())
        .unwrap()
        .len();
    assert_eq!(path_length, 19);
}

#[test]
fn stores_of_others_and_newer_ones_are_refused_untouched() {
    let check = |sql: &str, is_expected: fn(&StoreErrorKind) -> bool| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sessions.sqlite");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        connection.close().unwrap();
        let kind = opens(&path);
        assert!(is_expected(&kind), "{kind:?}");
        let before = fs::read(&path).unwrap();
        let error = Store::repair(&path, &ambient()).unwrap_err();
        assert!(is_expected(&error.kind), "{error:?}");
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    };
    check("CREATE TABLE notes (text TEXT)", |kind| {
        matches!(kind, StoreErrorKind::Foreign)
    });
    check(
        "CREATE TABLE notes (text TEXT); PRAGMA user_version = 99",
        |kind| matches!(kind, StoreErrorKind::Newer { found: 99, .. }),
    );
}

#[test]
fn locked_store_is_told_after_the_wait_and_opens_when_free() {
    let directory = tempfile::tempdir().unwrap();
    let path = filled(directory.path(), 3);
    let lock = Connection::open(&path).unwrap();
    lock.execute_batch("PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE")
        .unwrap();
    lock.execute_batch("UPDATE sessions SET tip = tip; COMMIT")
        .unwrap();
    let error = Store::open(&path, ambient()).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Busy), "{error:?}");
    assert!(error.help().contains("OPENCLAW_STORE_WAIT_MS"));
    assert!(Store::repair(&path, &ambient()).is_err());
    drop(lock);
    Store::open(&path, ambient()).unwrap();
}

/// The switch to a log is a lock SQLite does not wait for.
#[test]
fn many_open_a_new_store_at_once() {
    for _ in 0..10 {
        let directory = tempfile::tempdir().unwrap();
        let path = Arc::new(directory.path().join("agents/sessions.sqlite"));
        let barrier = Arc::new(Barrier::new(12));
        let threads: Vec<_> = (0..12)
            .map(|number| {
                let (path, barrier) = (Arc::clone(&path), Arc::clone(&barrier));
                std::thread::spawn(move || {
                    let ambient = ambient().with_store_wait(Duration::from_secs(30));
                    barrier.wait();
                    let mut store = Store::open(&path, ambient).unwrap();
                    store.session_or_new(&format!("key {number}"), "/").unwrap();
                })
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        let store = Store::open(&path, ambient()).unwrap();
        assert_eq!(store.sessions().unwrap().len(), 12);
        let names = fs::read_dir(path.parent().unwrap()).unwrap().flatten();
        let left: Vec<_> = names
            .filter(|name| name.file_name().to_string_lossy().starts_with('.'))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Full disk: the store can grow no further. Nothing of the transcript stays, and the store works.
#[test]
fn full_disk_leaves_nothing_of_an_import() {
    let directory = tempfile::tempdir().unwrap();
    let path = filled(directory.path(), 3);
    let mut store = Store::open(&path, ambient()).unwrap();
    let pages: i64 = store
        .connection
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    let limit = |store: &Store, pages: i64| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        store.connection.query_row(&sql, [], |_| Ok(())).unwrap();
    };
    limit(&store, pages + 1_500);
    let data = "x".repeat(64 * 1024);
    let rows = (0..200)
        .map(|id| format!(r#"{{"type":"custom","id":"{id}","customType":"t","data":"{data}"}}"#));
    let text: Vec<String> = transcript("large", 0).into_iter().chain(rows).collect();
    let bytes = (text.join("\n") + "\n").into_bytes();
    let target = ImportTarget {
        name: "large",
        agent_id: "main",
        key: None,
        wait: Duration::ZERO,
    };
    let mut lines = FileLines::new(Cursor::new(bytes)).unwrap();
    let error = store.import(&mut lines, &target, &mut |_| {}).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Full), "{error:?}");
    assert!(error.help().contains("space"));
    assert_eq!(store.sessions().unwrap().len(), 2);
    let entries: i64 = store
        .connection
        .query_row("SELECT count(*) FROM entries", [], |row| row.get(0))
        .unwrap();
    assert_eq!(entries, 6);
    store.verify().unwrap();
    limit(&store, pages + 100_000);
    store.import(&mut lines, &target, &mut |_| {}).unwrap();
    assert_eq!(exported(&path, "large"), text);
}
