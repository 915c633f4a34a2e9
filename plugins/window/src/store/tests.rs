use super::*;
use crate::tests::{Entry, commit, engine, entry, views};
use openclaw_interface::{ErrorCode as EngineErrorCode, Role};
use serde_json::json;

fn user(id: &str, json: &str) -> Entry {
    entry(id, Role::User, 1, json)
}

fn committed(home: &Path, key: &str, entries: &[Entry]) -> Result<CommitStatus, String> {
    let result = engine(Some(home), &json!({})).commit_turn(&views(entries), &commit(key));
    result
        .map(|result| result.status)
        .map_err(|error| error.message)
}

fn database(home: &Path) -> Connection {
    Connection::open(home.join(FILE_NAME)).unwrap()
}

fn stored(home: &Path) -> Vec<(String, String, String)> {
    let database = database(home);
    let mut select = database
        .prepare("SELECT advancement_key, entry_id, json FROM messages ORDER BY seq")
        .unwrap();
    let rows = select
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    rows.map(Result::unwrap).collect()
}

/// Cases D-1, D-2, D-8, I-1, I-2.
#[test]
fn a_key_is_stored_once_and_messages_as_they_are() {
    let home = tempfile::tempdir().unwrap();
    let first = [
        user("a", r#"{ "role":"user","n":1e999, "x":"ü" }"#),
        user("b", "{}"),
    ];
    assert_eq!(
        committed(home.path(), "k1", &first),
        Ok(CommitStatus::Committed)
    );
    assert_eq!(
        committed(home.path(), "k1", &first),
        Ok(CommitStatus::Duplicate)
    );
    assert_eq!(
        committed(home.path(), "k1", &[user("c", "other")]),
        Ok(CommitStatus::Duplicate)
    );
    assert_eq!(
        committed(home.path(), "k2", &[user("d", "{}")]),
        Ok(CommitStatus::Committed)
    );

    let row = |key: &str, id: &str, json: &str| (key.to_owned(), id.to_owned(), json.to_owned());
    assert_eq!(
        stored(home.path()),
        [
            row("k1", "a", &first[0].json),
            row("k1", "b", "{}"),
            row("k2", "d", "{}")
        ]
    );
}

/// Case I-3.
#[test]
fn an_entry_is_stored_once_and_equal_texts_each_time() {
    let home = tempfile::tempdir().unwrap();
    let texts = ["1", "2", "3", "4", "5"].map(|id| user(id, "ok"));
    committed(home.path(), "k1", &texts[..3]).unwrap();
    committed(home.path(), "k2", &texts[1..]).unwrap();
    committed(home.path(), "k3", &[user("", "ok"), user("", "ok")]).unwrap();
    let ids: Vec<_> = stored(home.path()).into_iter().map(|row| row.1).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5", "", ""]);
}

#[test]
fn the_same_key_in_another_session_is_another_turn() {
    let home = tempfile::tempdir().unwrap();
    let mut params = commit("k");
    let mut engine = engine(Some(home.path()), &json!({}));
    let entries = [user("a", "{}")];
    for _ in 0..2 {
        assert_eq!(
            engine
                .commit_turn(&views(&entries), &params)
                .unwrap()
                .status,
            CommitStatus::Committed
        );
        params.session_id = "other".into();
    }
    assert_eq!(stored(home.path()).len(), 2);
}

#[test]
fn what_cannot_be_told_apart_later_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let mut nameless = commit("k");
    nameless.session_id.clear();
    for (entries, params, name) in [
        (vec![user("a", "{}")], commit(""), "advancementKey"),
        (vec![], commit("k"), "messages"),
        (vec![user("a", "{}")], nameless, "sessionId"),
    ] {
        let error = engine(Some(home.path()), &json!({}))
            .commit_turn(&views(&entries), &params)
            .unwrap_err();
        assert_eq!(error.code, EngineErrorCode::InvalidParams);
        assert_eq!(
            error.message,
            format!("plugin `window` cannot store a turn: `{name}` is empty")
        );
    }
}

/// Case D-2.
#[test]
fn of_many_threads_with_one_key_one_commits() {
    for _ in 0..10 {
        let home = tempfile::tempdir().unwrap();
        // The file does not exist yet, so they race for the schema as well.
        let home = home.path();
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| committed(home, "k", &[user("a", "{}"), user("b", "{}")])))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap().unwrap())
                .collect()
        });
        assert_eq!(
            outcomes
                .iter()
                .filter(|status| **status == CommitStatus::Committed)
                .count(),
            1
        );
        assert_eq!(stored(home).len(), 2);
    }
}

#[test]
fn a_commit_that_fails_half_way_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let entries = [user("a", "{}"), user("bad", "{}")];
    committed(home.path(), "k0", &[user("z", "{}")]).unwrap();
    let trigger = "CREATE TRIGGER fail BEFORE INSERT ON messages WHEN NEW.entry_id = 'bad'
                   BEGIN SELECT RAISE(ABORT, 'disk on fire'); END";
    database(home.path()).execute_batch(trigger).unwrap();
    let error = committed(home.path(), "k", &entries).unwrap_err();
    assert!(
        error.contains(FILE_NAME) && error.contains("disk on fire"),
        "{error}"
    );
    assert_eq!(stored(home.path()).len(), 1);

    database(home.path())
        .execute_batch("DROP TRIGGER fail")
        .unwrap();
    assert_eq!(
        committed(home.path(), "k", &entries),
        Ok(CommitStatus::Committed)
    );
    assert_eq!(stored(home.path()).len(), 3);
}

#[test]
fn a_newer_or_foreign_file_is_refused_untouched() {
    for (setup, expected) in [
        (
            "CREATE TABLE turns (x); PRAGMA user_version = 7",
            "has schema version 7, this version of the plugin knows up to 1; update the plugin or move the file away",
        ),
        (
            "CREATE TABLE x (y)",
            "is a database of something else; move the file away",
        ),
        (
            "PRAGMA user_version = -3",
            "is a database of something else; move the file away",
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(FILE_NAME);
        database(home.path()).execute_batch(setup).unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = committed(home.path(), "k", &[user("a", "{}")]).unwrap_err();
        assert_eq!(
            error,
            format!(
                "plugin `window` cannot store a turn: {}: {expected}",
                path.display()
            )
        );
        assert_eq!(std::fs::read(&path).unwrap(), before);
        let names = std::fs::read_dir(home.path()).unwrap();
        let mut names: Vec<_> = names.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [LOCK_NAME, FILE_NAME]);
    }
}

#[test]
fn a_damaged_file_and_a_directory_that_cannot_be_made_name_the_path() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(
        home.path().join(FILE_NAME),
        "not a database, but long enough to be looked at".repeat(9),
    )
    .unwrap();
    let error = committed(home.path(), "k", &[user("a", "{}")]).unwrap_err();
    assert!(
        error.contains("window.sqlite: file is not a database"),
        "{error}"
    );

    let below_a_file = home.path().join(FILE_NAME).join("agent");
    let error = committed(&below_a_file, "k", &[user("a", "{}")]).unwrap_err();
    assert!(error.contains("cannot be created"), "{error}");
}

#[test]
fn a_file_in_use_is_not_called_damaged() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).unwrap();
    store.connection.busy_timeout(Duration::ZERO).unwrap();
    let other = database(home.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.remember("s", &Memory::default()).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Busy), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    store.remember("s", &Memory::default()).unwrap();
}

#[test]
fn an_empty_file_left_by_a_crash_is_used() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(FILE_NAME), "").unwrap();
    assert_eq!(
        committed(home.path(), "k", &[user("a", "{}")]),
        Ok(CommitStatus::Committed)
    );
}

#[test]
fn a_commit_waits_for_the_disk_and_a_memory_does_not() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).unwrap();
    let setting = |store: &Store, name: &str| -> rusqlite::types::Value {
        store
            .connection
            .pragma_query_value(None, name, |row| row.get(0))
            .unwrap()
    };
    assert_eq!(setting(&store, "journal_mode"), "wal".to_owned().into());
    assert_eq!(setting(&store, "synchronous"), 1.into());
    require_durable(&store.connection).unwrap();
    assert_eq!(setting(&store, "synchronous"), 2.into());
}

#[test]
fn memories_are_kept_by_session_and_unreadable_ones_are_none() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).unwrap();
    let memory = Memory {
        budget_tokens: u64::MAX,
        shown_groups: 3,
        ..Memory::default()
    };
    store.remember("a", &Memory::default()).unwrap();
    store.remember("a", &memory).unwrap();
    assert_eq!(store.recall("a").unwrap(), Some(memory));
    assert_eq!(store.recall("b").unwrap(), None);
    database(home.path())
        .execute("UPDATE windows SET memory = '{'", [])
        .unwrap();
    assert_eq!(store.recall("a").unwrap(), None);
}

/// The queries of the README, in its order.
#[test]
fn the_queries_of_the_readme_answer() {
    let home = tempfile::tempdir().unwrap();
    let mut heartbeat = commit("k");
    heartbeat.is_heartbeat = true;
    let mut engine = engine(Some(home.path()), &json!({}));
    engine
        .commit_turn(&views(&[user("a", "{}"), user("b", "{}")]), &heartbeat)
        .unwrap();
    Store::open(home.path())
        .unwrap()
        .remember("s", &Memory::default())
        .unwrap();
    let queries: Vec<_> = include_str!("../../README.md")
        .split("```sql")
        .skip(1)
        .flat_map(|block| block.split("```").next().unwrap().trim().split(";"))
        .filter(|query| !query.is_empty())
        .collect();
    let database = database(home.path());
    let answers: Vec<(String, i64)> = queries
        .iter()
        .map(|query| {
            database
                .query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap()
        })
        .collect();
    assert_eq!(
        answers,
        [
            ("s".to_owned(), 1),
            ("s".to_owned(), 2),
            ("s".to_owned(), 0)
        ]
    );
}

#[cfg(unix)]
#[test]
fn directory_and_files_are_for_the_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let agent_dir = home.path().join("agents/main");
    let store = Store::open(&agent_dir).unwrap();
    store.remember("s", &Memory::default()).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.path().join("agents")), 0o700);
    assert_eq!(mode(&agent_dir), 0o700);
    let files: Vec<_> = std::fs::read_dir(&agent_dir)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(files.len(), 4);
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

/// Case H-5: two builds in one process do not see each other's locks within the file.
#[test]
fn file_has_one_user_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).unwrap();
    let lock = File::open(home.path().join(LOCK_NAME)).unwrap();
    assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
    drop(store);
    lock.try_lock().unwrap();
}
