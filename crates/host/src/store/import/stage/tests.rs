//! Large transcripts: in slices, out of sight, all or nothing.

use super::*;
use crate::store::StoreErrorKind;
use crate::store::import::tests::{HEADER, Home, file, home, said};
use crate::store::import::{FileLines, ImportTarget, Imported, TranscriptLines};
use openclaw_transcript::parse_row;
use std::io::{self, Cursor};

/// A row of 64 KiB without a message: nothing to count.
fn large(number: usize) -> String {
    let data = "x".repeat(64 * 1024);
    format!(r#"{{"type":"custom","id":"{number}","customType":"t","data":"{data}"}}"#)
}

/// A transcript that takes several slices.
fn many(from: usize, to: usize) -> Vec<String> {
    let rows = (from..to).map(large);
    std::iter::once(HEADER.to_owned()).chain(rows).collect()
}

fn bytes(lines: &[String]) -> Vec<u8> {
    file(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

const ROWS: usize = 200;

/// Lines that do something when a number of them was read.
struct Watched<F> {
    lines: FileLines<Cursor<Vec<u8>>>,
    left: usize,
    then: F,
}

impl<F: FnMut() -> io::Result<()>> TranscriptLines for Watched<F> {
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        self.left = self.left.wrapping_sub(1);
        if self.left == 0 {
            (self.then)()?;
        }
        self.lines.next_line(line)
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.lines.rewind()
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }

    fn bytes_total(&self) -> Option<u64> {
        self.lines.bytes_total()
    }
}

fn watched<F: FnMut() -> io::Result<()>>(lines: &[String], left: usize, then: F) -> Watched<F> {
    Watched {
        lines: FileLines::new(Cursor::new(bytes(lines))).unwrap(),
        left,
        then,
    }
}

const TARGET: ImportTarget<'_> = ImportTarget {
    name: "s",
    agent_id: "main",
    key: None,
    wait: Duration::ZERO,
};

/// Another connection to the same store.
fn other(home: &Home) -> Store {
    let ambient = home.store.ambient.clone();
    Store::open(home.store.path(), ambient).unwrap()
}

fn count(store: &Store, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    let count = store.connection.query_row(&sql, [], |row| row.get(0));
    count.unwrap()
}

/// What a killed import leaves: rows, and nobody who claims them.
fn dead_import(home: &mut Home, target: Target) {
    let mut stage = Stage::new(&mut home.store, target);
    for number in 0..3 {
        let row = parse_row(number, &large(number)).unwrap();
        let counted = Counted {
            rows: vec![(row, 0)],
            bytes: SLICE_BYTES,
        };
        stage.take(counted).unwrap();
    }
    assert_eq!(count(&home.store, "imports"), 1);
}

fn new_target() -> Target {
    Target::New {
        key: "agent:main:s".into(),
        id: "s".into(),
        header: HEADER.into(),
    }
}

#[test]
fn rows_are_out_of_sight_until_the_last_one_is_there_and_others_write_meanwhile() {
    let mut home = home();
    let mut spy = other(&home);
    let lines = many(0, ROWS);
    let mut seen = 0;
    let mut source = watched(&lines, ROWS - 5, || {
        seen = count(&spy, "entries");
        assert_eq!(spy.sessions().unwrap(), []);
        assert!(spy.session_named("s").is_err());
        assert!(spy.session("agent:main:s").unwrap().is_none());
        // A turn of another session.
        let mut session = spy.session_or_new("other", "/").unwrap();
        let row =
            openclaw_transcript::message_row("o", None, "", r#"{"role":"user","content":"x"}"#);
        spy.append_rows(&mut session, &[row]).unwrap();
        Ok(())
    });
    let mut told = Vec::new();
    let report = home
        .store
        .import(&mut source, &TARGET, &mut |progress| told.push(progress))
        .unwrap();
    assert!(seen > 60, "{seen} rows were stored before the end");
    assert_eq!((report.imported, report.entries), (Imported::New, ROWS));
    assert!(told.len() > 3 && told.is_sorted_by_key(|progress| progress.bytes_read));
    let last = told.last().unwrap();
    assert_eq!(Some(last.bytes_read), last.bytes_total);
    assert_eq!(home.exported("s"), lines);
    assert_eq!(home.sessions().len(), 2);
    assert_eq!(count(&home.store, "imports"), 0);
    assert_eq!(
        home.imports(&bytes(&lines), "s", None).imported,
        Imported::Unchanged
    );
}

#[test]
fn failure_in_the_middle_leaves_nothing() {
    let mut home = home();
    let lines = many(0, ROWS);
    let mut source = watched(&lines, ROWS - 5, || Err(io::Error::other("gone")));
    let error = home
        .store
        .import(&mut source, &TARGET, &mut |_| {})
        .unwrap_err();
    assert!(
        matches!(error.kind, StoreErrorKind::Transcript(_)),
        "{error:?}"
    );
    for table in ["sessions", "entries", "imports", "session_keys"] {
        assert_eq!(count(&home.store, table), 0, "{table}");
    }
    home.imports(&bytes(&lines), "s", None);
    assert_eq!(home.exported("s"), lines);
}

#[test]
fn rows_behind_known_ones_come_all_or_not_at_all() {
    let mut home = home();
    let all = many(0, ROWS);
    home.imports(&bytes(&all[..4]), "s", Some("k"));
    let before = home.store.session_named("s").unwrap();
    let mut spy = other(&home);
    let mut look = || {
        assert!(count(&spy, "imports") == 1);
        assert_eq!(spy.session_named("s").unwrap(), before);
        assert!(
            spy.sweep_imports(None).is_ok(),
            "a living import is left alone"
        );
        Ok(())
    };
    let mut source = watched(&all, ROWS - 5, || {
        look()?;
        Err(io::Error::other("gone"))
    });
    home.store
        .import(&mut source, &TARGET, &mut |_| {})
        .unwrap_err();
    assert_eq!(home.exported("s"), all[..4]);
    assert_eq!(count(&home.store, "entries"), 3);

    let mut source = watched(&all, ROWS - 5, &mut look);
    let report = home
        .store
        .import(&mut source, &TARGET, &mut |_| {})
        .unwrap();
    let entries = ROWS - 3;
    assert_eq!(report.imported, Imported::Extended { entries });
    assert_eq!(report.session_key, "k");
    assert_eq!(home.exported("s"), all);
    assert_eq!(count(&home.store, "imports"), 0);
    assert_eq!(count(&home.store, "sessions"), 1);
    let session = home.store.session_named("s").unwrap();
    assert_eq!(session.next_seq, i64::try_from(ROWS).unwrap() + 1);
    assert_eq!(session.path_length, i64::try_from(ROWS).unwrap());
}

#[test]
fn what_a_dead_import_left_is_never_seen_and_swept() {
    for again in [false, true] {
        let mut home = home();
        dead_import(&mut home, new_target());
        assert_eq!(home.sessions(), []);
        if again {
            let lines = many(0, 3);
            home.imports(&bytes(&lines), "s", None);
            assert_eq!(home.exported("s"), lines);
        } else {
            // Opening sweeps a little; the next import of anything sweeps the rest.
            drop(other(&home));
            home.imports(
                &file(&[&HEADER.replace("\"s\"", "\"t\""), &said("a", "1")]),
                "t",
                None,
            );
            assert_eq!(home.sessions().len(), 1);
            assert_eq!(count(&home.store, "entries"), 1);
        }
        assert_eq!(count(&home.store, "imports"), 0);
    }
}

#[test]
fn dead_extension_holds_up_no_turn() {
    let mut home = home();
    home.imports(&bytes(&many(0, 3)), "s", None);
    let session = home.store.session_named("s").unwrap();
    dead_import(&mut home, Target::Known(session));
    home.says("s", "t1");
    assert_eq!(home.exported("s").len(), 5);
    home.store.sweep_imports(None).unwrap();
    assert_eq!(home.exported("s").len(), 5);
    assert_eq!(count(&home.store, "entries"), 4);
}

#[test]
fn second_import_at_the_same_time_is_refused() {
    let mut home = home();
    let mut second = other(&home);
    let lines = many(0, ROWS);
    let copy = bytes(&lines);
    let mut refused = None;
    let mut source = watched(&lines, ROWS - 5, || {
        let mut lines = FileLines::new(Cursor::new(copy.clone()))?;
        refused = second.import(&mut lines, &TARGET, &mut |_| {}).err();
        Ok(())
    });
    home.store
        .import(&mut source, &TARGET, &mut |_| {})
        .unwrap();
    let kind = refused.unwrap().kind;
    assert!(
        matches!(&kind, StoreErrorKind::ImportRunning(id) if id == "s"),
        "{kind:?}"
    );
    assert_eq!(home.exported("s"), lines);
}

#[test]
fn import_waits_for_the_turn_of_its_session_and_keeps_turns_out() {
    let mut home = home();
    let lines = many(0, 3);
    let turn = home
        .store
        .lanes(Duration::ZERO)
        .enter("agent:main:s")
        .unwrap();
    let kind = home.refuses(&bytes(&lines), "s", None);
    assert!(matches!(kind, StoreErrorKind::Lane(_)), "{kind:?}");
    drop(turn);
    let spy = other(&home);
    let mut source = watched(&lines, 4, || {
        assert!(spy.lanes(Duration::ZERO).enter("agent:main:s").is_err());
        Ok(())
    });
    home.store
        .import(&mut source, &TARGET, &mut |_| {})
        .unwrap();
    assert!(spy.lanes(Duration::ZERO).enter("agent:main:s").is_ok());
}

#[test]
fn idempotency_key_stays_with_the_first_of_moved_rows() {
    let row = |id: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","message":{{"role":"user","content":"x","idempotencyKey":"k"}}}}"#
        )
    };
    let mut home = home();
    let mut lines = vec![HEADER.to_owned(), row("a")];
    home.imports(&bytes(&lines), "s", None);
    lines.push(row("b"));
    lines.extend((0..ROWS).map(large));
    let report = home.imports(&bytes(&lines), "s", None);
    assert_eq!(report.imported, Imported::Extended { entries: ROWS + 1 });
    let sql = "SELECT count(*) FROM entries WHERE idempotency_key = 'k' AND seq = 1";
    let kept: i64 = home
        .store
        .connection
        .query_row(sql, [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 1);
    assert_eq!(home.exported("s"), lines);
}
