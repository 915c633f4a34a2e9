//! Databases as OpenClaw writes them, made here.

use super::event::MAX_EVENT_BYTES;
use super::*;
use crate::ambient::Ambient;
use crate::store::{ImportTarget, Imported, Store};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const TABLES: &str = "
    CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL,
        entry_json TEXT NOT NULL) STRICT;
    CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL) STRICT;
    CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, event_zstd BLOB,
        event_utf8_bytes INTEGER, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq)) STRICT;
    PRAGMA user_version = 23;
";

struct Home {
    directory: TempDir,
    live: Connection,
}

use tempfile::TempDir;

/// A database in use: its log and index lie beside it.
fn home() -> Home {
    let directory = tempfile::tempdir().unwrap();
    let live = Connection::open(directory.path().join("openclaw-agent.sqlite")).unwrap();
    live.pragma_update(None, "journal_mode", "wal").unwrap();
    live.execute_batch(TABLES).unwrap();
    Home { directory, live }
}

fn header(id: &str) -> String {
    format!(r#"{{"type":"session","version":4,"id":"{id}","timestamp":"","cwd":"/ws"}}"#)
}

fn said(id: &str, text: &str) -> String {
    format!(r#"{{"type":"message","id":"{id}","message":{{"role":"user","content":"{text}"}}}}"#)
}

impl Home {
    fn path(&self) -> PathBuf {
        self.directory.path().join("openclaw-agent.sqlite")
    }

    fn session(&self, key: &str, id: &str, current: &str) {
        let window = "INSERT INTO session_windows VALUES (?1, ?2)";
        self.live.execute(window, [id, key]).unwrap();
        let node = "INSERT OR REPLACE INTO session_nodes VALUES (?1, ?2, '{}')";
        self.live.execute(node, [key, current]).unwrap();
    }

    fn event(&self, id: &str, seq: i64, json: &str) {
        let sql = "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?1, ?2, ?3, 0)";
        self.live.execute(sql, params![id, seq, json]).unwrap();
    }

    fn packed(&self, id: &str, seq: i64, frame: &[u8], bytes: u64) {
        let sql = "INSERT INTO transcript_events VALUES (?1, ?2, NULL, ?3, ?4, 0)";
        self.live
            .execute(sql, params![id, seq, frame, bytes.cast_signed()])
            .unwrap();
    }

    /// Names and bytes of all files, the index of the log aside: readers note in it where they read.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let files = fs::read_dir(self.directory.path()).unwrap().flatten();
        files
            .map(|file| {
                let name = file.file_name().into_string().unwrap();
                let bytes = fs::read(file.path()).unwrap();
                let is_index = name.ends_with("-shm");
                (name, if is_index { Vec::new() } else { bytes })
            })
            .collect()
    }
}

fn frame(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

fn lines(store: &OpenClawStore, id: &str) -> Vec<String> {
    let session = &store.sessions_named(id).unwrap()[0];
    let mut lines = store.lines(session);
    let (mut line, mut all) = (Vec::new(), Vec::new());
    while lines.next_line(&mut line).unwrap() {
        let text = String::from_utf8(line.clone()).unwrap();
        all.push(text.strip_suffix('\n').unwrap().to_owned());
    }
    all
}

fn own_store(directory: &Path) -> Store {
    let ids = AtomicU64::new(0);
    let ambient = Ambient::new(
        || 0,
        move || format!("made-{}", ids.fetch_add(1, Ordering::Relaxed)),
    );
    Store::open(&directory.join("own/sessions.sqlite"), ambient).unwrap()
}

#[test]
fn sessions_are_imported_with_their_keys_events_and_all() {
    let home = home();
    home.session("agent:main:main", "old", "new");
    home.session("agent:main:main", "new", "new");
    home.session("agent:main:chat", "chat", "chat");
    let unknown = r#"{"type":"future", "n":0.0123456789012345678, "half":"\ud83d"}"#;
    for (id, events) in [
        ("old", vec![header("old"), said("a", "1")]),
        (
            "new",
            vec![header("new"), said("a", "2"), unknown.to_owned()],
        ),
        ("chat", vec![header("chat")]),
    ] {
        for (seq, event) in (0..).zip(&events) {
            home.event(id, seq, event);
        }
    }
    let large = said("b", &"long ".repeat(100_000));
    home.packed("new", 3, &frame(&large), large.len() as u64);

    let store = OpenClawStore::open(&home.path()).unwrap();
    let sessions = store.sessions().unwrap();
    let listed: Vec<_> = sessions
        .iter()
        .map(|one| (one.key.as_deref(), one.id.as_str(), one.events))
        .collect();
    let expected = [
        (Some("agent:main:chat"), "chat", 1),
        (Some("agent:main:main"), "new", 4),
        (None, "old", 2),
    ];
    assert_eq!(listed, expected);
    let named: Vec<String> = store
        .sessions_named("agent:main:main")
        .unwrap()
        .into_iter()
        .map(|one| one.id)
        .collect();
    assert_eq!(named, ["new", "old"]);
    assert_eq!(store.sessions_named("nobody").unwrap(), []);

    let mut own = own_store(home.directory.path());
    for session in &sessions {
        let target = ImportTarget {
            name: &session.id,
            agent_id: "main",
            key: session.key.as_deref(),
            wait: Duration::ZERO,
        };
        let mut lines = store.lines(session);
        let report = own.import(&mut lines, &target, &mut |_| {}).unwrap();
        assert_eq!(report.imported, Imported::New);
        assert_eq!(report.session_id, session.id);
    }
    store.finish().unwrap();
    let session = own.session("agent:main:main").unwrap().unwrap();
    let mut exported = Vec::new();
    let each = |line: &str| {
        exported.push(line.to_owned());
        Ok::<_, crate::store::StoreError>(())
    };
    own.export(&session, each).unwrap();
    assert_eq!(
        exported,
        [header("new"), said("a", "2"), unknown.to_owned(), large]
    );
    assert!(own.session("agent:main:old").unwrap().is_some());
}

/// Not a byte of it, and no file beside it, whether it is in use, at rest, or was left by a program that died.
#[test]
fn nothing_is_written_whatever_state_the_database_is_in() {
    let home = home();
    home.session("k", "s", "s");
    home.event("s", 0, &header("s"));
    let read = |home: &Home| {
        let before = home.files();
        let store = OpenClawStore::open(&home.path()).unwrap();
        assert_eq!(lines(&store, "s"), [header("s")]);
        store.finish().unwrap();
        assert_eq!(home.files(), before);
        before.len()
    };
    assert_eq!(read(&home), 3);

    // What a program that died leaves: a log and no index.
    let left = tempfile::tempdir().unwrap();
    for end in ["", "-wal"] {
        let name = format!("openclaw-agent.sqlite{end}");
        fs::copy(home.directory.path().join(&name), left.path().join(&name)).unwrap();
    }
    let spare = Connection::open_in_memory().unwrap();
    let left = Home {
        directory: left,
        live: spare,
    };
    assert_eq!(read(&left), 2);

    let Home { directory, live } = home;
    live.close().unwrap();
    let spare = Connection::open_in_memory().unwrap();
    let at_rest = Home {
        directory,
        live: spare,
    };
    assert_eq!(read(&at_rest), 1);
    let live = Connection::open(at_rest.path()).unwrap();
    live.pragma_update(None, "journal_mode", "delete").unwrap();
    live.close().unwrap();
    assert_eq!(read(&at_rest), 1);
}

#[test]
fn view_stays_the_same_while_openclaw_writes() {
    let home = home();
    home.session("k", "s", "s");
    home.event("s", 0, &header("s"));
    let store = OpenClawStore::open(&home.path()).unwrap();
    assert_eq!(store.sessions().unwrap()[0].events, 1);
    home.event("s", 1, &said("a", "late"));
    assert_eq!(lines(&store, "s"), [header("s")]);
    store.finish().unwrap();
}

#[test]
fn change_under_a_view_without_locks_is_told() {
    let home = home();
    home.session("k", "s", "s");
    home.event("s", 0, &header("s"));
    let path = home.path();
    home.live.close().unwrap();
    let store = OpenClawStore::open(&path).unwrap();
    let live = Connection::open(&path).unwrap();
    live.execute("INSERT INTO session_windows VALUES ('x', 'y')", [])
        .unwrap();
    let error = store.finish().unwrap_err();
    assert!(
        matches!(error.kind, OpenClawStoreErrorKind::Changed),
        "{error:?}"
    );
}

#[test]
fn event_that_cannot_be_unpacked_costs_only_itself() {
    let home = home();
    home.session("k", "s", "s");
    home.event("s", 0, &header("s"));
    let text = said("a", "1");
    let good = frame(&text);
    let bomb = frame(&" ".repeat(MAX_EVENT_BYTES as usize + 1));
    let bytes = text.len() as u64;
    home.packed("s", 1, &good[..good.len() / 2], bytes);
    home.packed("s", 2, b"no frame", 8);
    home.packed("s", 3, &good, bytes - 1);
    home.packed("s", 4, &good, bytes + 1);
    home.packed("s", 5, &bomb, MAX_EVENT_BYTES + 1);
    home.packed("s", 6, &bomb, MAX_EVENT_BYTES);
    home.packed("s", 7, &good, u64::MAX);
    home.packed("s", 8, &good, bytes);
    home.event("s", 9, "{\"type\":\"future\",\n\"x\":1}");
    let store = OpenClawStore::open(&home.path()).unwrap();
    let lines = lines(&store, "s");
    for (seq, line) in lines[1..8].iter().enumerate() {
        assert!(
            line.starts_with(&format!("event {}: it", seq + 1)),
            "{line}"
        );
    }
    assert_eq!(
        lines[8..],
        [text, "{\"type\":\"future\", \"x\":1}".to_owned()]
    );

    let session = &store.sessions().unwrap()[0];
    let target = ImportTarget {
        name: "s",
        agent_id: "main",
        key: None,
        wait: Duration::ZERO,
    };
    let mut own = own_store(home.directory.path());
    let mut lines = store.lines(session);
    let report = own.import(&mut lines, &target, &mut |_| {}).unwrap();
    assert_eq!((report.skipped_lines, report.entries), (7, 2));
}

#[test]
fn database_of_another_schema_is_refused_with_both_versions() {
    let check = |change: &str, texts: &[&str]| {
        let home = home();
        home.live.execute_batch(change).unwrap();
        let error = OpenClawStore::open(&home.path()).unwrap_err();
        let text = format!("{error}: {}", error.kind);
        for expected in texts {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(!error.help().is_empty());
    };
    check(
        "PRAGMA user_version = 24",
        &["version 24", "up to 23", "openclaw-agent.sqlite"],
    );
    check(
        "DROP TABLE session_nodes",
        &["version 23", "table `session_nodes`"],
    );
    check(
        "ALTER TABLE transcript_events RENAME COLUMN event_json TO json",
        &["column `event_json` in `transcript_events`"],
    );
    // An older one that packs nothing.
    let home = home();
    home.live
        .execute_batch(
            "ALTER TABLE transcript_events DROP COLUMN event_zstd;
             ALTER TABLE transcript_events DROP COLUMN event_utf8_bytes; PRAGMA user_version = 12",
        )
        .unwrap();
    home.session("k", "s", "s");
    home.event("s", 0, &header("s"));
    assert_eq!(
        lines(&OpenClawStore::open(&home.path()).unwrap(), "s"),
        [header("s")]
    );
}

#[test]
fn file_that_is_no_database_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    for bytes in [&b""[..], b"SQLite", b"{\"type\":\"session\"}"] {
        fs::write(&path, bytes).unwrap();
        assert!(!OpenClawStore::is_database(&path).unwrap());
    }
    fs::write(&path, b"SQLite format 3\0 and nonsense").unwrap();
    assert!(OpenClawStore::is_database(&path).unwrap());
    let error = OpenClawStore::open(&path).unwrap_err();
    assert!(
        matches!(error.kind, OpenClawStoreErrorKind::Damaged(_)),
        "{error:?}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"SQLite format 3\0 and nonsense");
    assert!(OpenClawStore::open(&directory.path().join("missing")).is_err());
}
