//! Transcripts that meet what is in the store already.

use super::*;
use crate::ambient::Ambient;
use preview::is_session_id;
use std::io::Cursor;
use std::sync::atomic::{AtomicI64, Ordering};

pub(super) const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}"#;

pub(super) struct Home {
    pub(super) store: Store,
    _directory: tempfile::TempDir,
}

pub(super) fn home() -> Home {
    let directory = tempfile::tempdir().unwrap();
    let ids = AtomicI64::new(0);
    let ambient = Ambient::new(
        || 1_777_629_600_000,
        move || format!("made-{}", ids.fetch_add(1, Ordering::Relaxed)),
    );
    let store = Store::open(&directory.path().join("store.sqlite"), ambient).unwrap();
    Home {
        store,
        _directory: directory,
    }
}

/// A message row; without an id for a blank one.
pub(super) fn said(id: &str, text: &str) -> String {
    let id = match id {
        "" => String::new(),
        id => format!(r#""id":"{id}","#),
    };
    format!(r#"{{"type":"message",{id}"message":{{"role":"user","content":"{text}"}}}}"#)
}

pub(super) fn file(lines: &[&str]) -> Vec<u8> {
    let lines = lines.iter().map(|line| format!("{line}\n"));
    lines.collect::<String>().into_bytes()
}

fn headed(id: &str) -> Vec<u8> {
    file(&[
        &HEADER.replace("\"s\"", &format!("\"{id}\"")),
        &said("a", id),
    ])
}

impl Home {
    pub(super) fn import(
        &mut self,
        bytes: &[u8],
        name: &str,
        key: Option<&str>,
    ) -> Result<ImportReport, StoreError> {
        let target = ImportTarget {
            name,
            agent_id: "main",
            key,
            wait: Duration::ZERO,
        };
        let mut lines = FileLines::new(Cursor::new(bytes)).unwrap();
        self.store.import(&mut lines, &target, &mut |_| {})
    }

    #[track_caller]
    pub(super) fn imports(&mut self, bytes: &[u8], name: &str, key: Option<&str>) -> ImportReport {
        self.import(bytes, name, key).unwrap()
    }

    #[track_caller]
    pub(super) fn refuses(
        &mut self,
        bytes: &[u8],
        name: &str,
        key: Option<&str>,
    ) -> StoreErrorKind {
        let before = self.store.sessions().unwrap();
        let error = self.import(bytes, name, key).unwrap_err();
        assert_eq!(self.store.sessions().unwrap(), before);
        error.kind
    }

    /// Key and id of every session, sorted.
    pub(super) fn sessions(&self) -> Vec<(Option<String>, String)> {
        let sessions = self.store.sessions().unwrap().into_iter();
        let mut sessions: Vec<_> = sessions.map(|one| (one.key, one.session_id)).collect();
        sessions.sort();
        sessions
    }

    /// Appends a message row as a turn does.
    pub(super) fn says(&mut self, name: &str, id: &str) -> Session {
        let mut session = self.store.session_named(name).unwrap();
        let parent = session.append_parent.clone();
        let message = r#"{"role":"user","content":"x"}"#;
        let row = openclaw_transcript::message_row(id, parent.as_deref(), "", message);
        self.store.append_rows(&mut session, &[row]).unwrap();
        session
    }

    pub(super) fn exported(&self, name: &str) -> Vec<String> {
        let session = self.store.session_named(name).unwrap();
        let mut lines = Vec::new();
        let each = |line: &str| {
            lines.push(line.to_owned());
            Ok::<_, StoreError>(())
        };
        self.store.export(&session, each).unwrap();
        lines
    }
}

/// The first session was gone from every list, without a word.
#[test]
fn key_of_another_transcript_is_refused() {
    let mut home = home();
    home.imports(&headed("one"), "one", Some("k"));
    let kind = home.refuses(&headed("two"), "two", Some("k"));
    assert!(
        matches!(&kind, StoreErrorKind::KeyTaken { key, session_id } if key == "k" && session_id == "one"),
        "{kind:?}"
    );

    // The same for the key that comes from the id.
    home.imports(&headed("three"), "three", Some("agent:main:four"));
    let kind = home.refuses(&headed("four"), "four", None);
    assert!(matches!(kind, StoreErrorKind::KeyTaken { .. }), "{kind:?}");
    home.imports(&headed("four"), "four", Some("k4"));
}

#[test]
fn transcript_keeps_its_key_and_the_report_names_it() {
    let mut home = home();
    home.imports(&headed("one"), "one", Some("k"));
    for asked in [None, Some("k"), Some("other")] {
        let report = home.imports(&headed("one"), "one", asked);
        assert_eq!(report.session_key, "k");
        assert_eq!(report.imported, Imported::Unchanged);
    }
    assert_eq!(home.sessions(), [(Some("k".into()), "one".into())]);
    home.imports(&headed("two"), "two", Some("k2"));
    home.refuses(&headed("one"), "one", Some("k2"));
}

#[test]
fn transcript_without_a_key_is_listed_by_its_id_and_gets_one_on_import() {
    let mut home = home();
    home.imports(&headed("one"), "one", Some("k"));
    let lose = "DELETE FROM session_keys";
    home.store.connection.execute(lose, []).unwrap();
    assert_eq!(home.sessions(), [(None, "one".into())]);
    assert_eq!(home.store.session_named("one").unwrap().key, "one");

    home.imports(&headed("two"), "two", Some("k"));
    home.refuses(&headed("one"), "one", Some("k"));
    let report = home.imports(&headed("one"), "one", None);
    assert_eq!(report.session_key, "agent:main:one");
    assert_eq!(
        home.store.session("agent:main:one").unwrap().unwrap().id,
        "one"
    );

    home.store.connection.execute(lose, []).unwrap();
    assert_eq!(
        home.imports(&headed("one"), "one", Some("new")).session_key,
        "new"
    );
}

#[test]
fn texts_that_cannot_be_keys_are_refused() {
    let mut home = home();
    let long = "ä".repeat(257);
    for key in ["", " \t", "\u{3000}", "a\nb", "a\u{7}", "a\u{85}b", &long] {
        let kind = home.refuses(&headed("one"), "one", Some(key));
        assert!(
            matches!(kind, StoreErrorKind::BadKey { .. }),
            "{key:?}: {kind:?}"
        );
        let error = home.store.session_or_new(key, "/").unwrap_err();
        assert!(matches!(error.kind, StoreErrorKind::BadKey { .. }));
    }
    // Known transcripts too.
    home.imports(&headed("one"), "one", None);
    home.refuses(&headed("one"), "one", Some(" "));
    for key in ["agent:main:main", "日誌 1", &"x".repeat(512)] {
        assert!(sessions::check_session_key(key).is_ok(), "{key}");
    }
}

/// Cases F-4, F-12.
#[test]
fn history_without_ids_stays_when_a_turn_is_added() {
    let mut home = home();
    let flat = file(&[HEADER, &said("", "1"), &said("", "2"), &said("", "3")]);
    assert_eq!(home.imports(&flat, "s", None).messages, 3);
    assert_eq!(home.says("s", "t1").message_count, 4);
    let session = home.says("s", "t2");
    assert_eq!(session.message_count, 5);
    let path = home.store.path_of(&session).unwrap();
    let seqs: Vec<i64> = path.iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5]);
}

/// The store was called damaged, and the file could not be imported.
#[test]
fn second_header_is_stored_and_exported_as_it_is() {
    let mut home = home();
    let second = HEADER.replace("\"s\"", "\"s2\"");
    let lines = [HEADER, &said("a", "1"), &second, &said("b", "2")].map(str::to_owned);
    let bytes = file(&lines.each_ref().map(String::as_str));
    let report = home.imports(&bytes, "s", None);
    assert_eq!((report.entries, report.messages), (3, 2));
    assert_eq!(report.faults.len(), 1, "{:?}", report.faults);
    assert_eq!(home.exported("s"), lines);
    assert_eq!(home.says("s", "t1").message_count, 3);
    assert_eq!(
        home.imports(&bytes, "s", None).imported,
        Imported::Unchanged
    );
}

#[test]
fn file_that_grew_beside_our_own_turns_is_refused_by_line() {
    let mut home = home();
    let (a, b, c) = (said("a", "1"), said("b", "2"), said("c", "3"));
    home.imports(&file(&[HEADER, &a]), "s", None);
    let grown = home.imports(&file(&[HEADER, &a, &b]), "s", None);
    assert_eq!(grown.imported, Imported::Extended { entries: 1 });
    home.says("s", "t1");
    // The file as it was, or shorter, is no fork.
    for old in [&file(&[HEADER, &a])[..], &file(&[HEADER, &a, &b])] {
        assert_eq!(home.imports(old, "s", None).imported, Imported::Unchanged);
    }
    let kind = home.refuses(&file(&[HEADER, &a, "{", &b, &c]), "s", None);
    assert!(
        matches!(&kind, StoreErrorKind::Forked { session_id, line: 5 } if session_id == "s"),
        "{kind:?}"
    );
    let kind = home.refuses(&file(&[HEADER, &c]), "s", None);
    assert!(matches!(kind, StoreErrorKind::SessionTaken(_)), "{kind:?}");
}

#[test]
fn ids_made_for_version_1_do_not_depend_on_the_name_of_the_file() {
    let mut home = home();
    let header = r#"{"type":"session","id":"s","timestamp":"","cwd":"/"}"#;
    let (one, two) = (said("", "1"), said("", "2"));
    home.imports(&file(&[header, &one]), "here", None);
    let again = home.imports(&file(&[header, &one, &two]), "there", None);
    assert_eq!(again.imported, Imported::Extended { entries: 1 });

    home.imports(&file(&[&one, &two]), "x", None);
    home.imports(&file(&[&one, &two]), "y", None);
    assert_eq!(home.exported("x")[1..], home.exported("y")[1..]);
}

#[test]
fn names_that_cannot_be_ids_give_distinct_ids_that_stay() {
    let mut home = home();
    let bytes = file(&[&said("a", "1")]);
    let names = ["日誌", "会議", "a b", "a.b", "ü", "-", "", "--", "_x", "名"];
    let mut ids: Vec<String> = Vec::new();
    for name in names {
        let report = home.imports(&bytes, name, None);
        assert_eq!(report.imported, Imported::New, "{name}");
        assert!(is_session_id(&report.session_id), "{}", report.session_id);
        let again = home.imports(&bytes, name, None);
        assert_eq!(
            (again.imported, &again.session_id),
            (Imported::Unchanged, &report.session_id)
        );
        ids.push(report.session_id);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), names.len());
    // Another file of that name, and the same one grown.
    let other = home.imports(&file(&[&said("b", "2")]), "日誌", None);
    assert_eq!(other.imported, Imported::New);
    let grown = home.imports(&file(&[&said("b", "2"), &said("c", "3")]), "日誌", None);
    assert_eq!(grown.imported, Imported::Extended { entries: 1 });
    assert_eq!(home.imports(&bytes, "a_B-1", None).session_id, "a_B-1");
    let long = "x".repeat(300);
    assert!(is_session_id(&home.imports(&bytes, &long, None).session_id));
}

#[test]
fn path_faults_name_lines() {
    let mut home = home();
    let lines = [HEADER, "", &said("a", "1"), "{", &said("a", "2")];
    let report = home.imports(&file(&lines), "s", None);
    let texts: Vec<String> = report.path_faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["line 5: id `a` is taken by line 3; left off the path"]
    );
}
