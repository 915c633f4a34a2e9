//! Random transcripts, for laws that hold whatever is appended.

use super::{Session, Store};
use crate::Ambient;
use openclaw_transcript::{
    NewCompaction, compaction_row, custom_row, leaf_row, message_row, reset_row,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering};

/// A row to append. Numbers name earlier rows, counted from the newest; one that is not there names nothing.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    what: What,
    parent: At,
}

/// Where a row goes.
#[derive(Clone, Debug)]
enum At {
    /// Where the session says.
    End,
    Behind(usize),
    Root,
}

#[derive(Clone, Debug)]
enum What {
    Message(String),
    Compaction(usize),
    Reset(Option<usize>),
    Custom,
    Leaf(Option<usize>),
    /// Written aside.
    Side,
    Unknown,
    WithoutId,
    WithIdOf(usize),
}

/// A store in a directory of its own, with one empty session.
pub(crate) fn empty() -> (tempfile::TempDir, Store, Session) {
    let directory = tempfile::tempdir().unwrap();
    let ids = AtomicI64::new(0);
    let ambient = Ambient::new(
        || 1_777_629_600_000,
        move || format!("made-{}", ids.fetch_add(1, Ordering::Relaxed)),
    );
    let mut store = Store::open(&directory.path().join("s.sqlite"), ambient).unwrap();
    // No power cut in tests; waiting for the disk would be most of their time.
    store
        .connection
        .pragma_update(None, "synchronous", "off")
        .unwrap();
    let session = store.session_or_new("agent:main:main", "/ws").unwrap();
    (directory, store, session)
}

/// Rows that mostly continue, and sometimes branch, move, reset or are odd.
pub(crate) fn any_steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let text = |role: &str| {
        let role = role.to_owned();
        "[a-z]{0,8}".prop_map(move |text| format!(r#"{{"role":"{role}","content":"{text}"}}"#))
    };
    let call = "[a-c]".prop_map(|id| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"{id}","name":"ls","arguments":{{}}}}]}}"#
        )
    });
    let result = "[a-c]".prop_map(|id| {
        format!(r#"{{"role":"toolResult","toolCallId":"{id}","content":"r","isError":false}}"#)
    });
    let excluded = Just(r#"{"role":"user","content":"x","excludeFromContext":true}"#.to_owned());
    let what = prop_oneof![
        6 => text("user").prop_map(What::Message),
        6 => text("assistant").prop_map(What::Message),
        4 => call.prop_map(What::Message),
        4 => result.prop_map(What::Message),
        1 => excluded.prop_map(What::Message),
        1 => (0..9_usize).prop_map(What::Compaction),
        1 => prop::option::of(0..9_usize).prop_map(What::Reset),
        1 => Just(What::Custom),
        2 => prop::option::weighted(0.9, 0..12_usize).prop_map(What::Leaf),
        1 => Just(What::Side),
        1 => Just(What::Unknown),
        1 => Just(What::WithoutId),
        1 => (0..9_usize).prop_map(What::WithIdOf),
    ];
    let parent = prop_oneof![12 => Just(At::End), 3 => (0..12_usize).prop_map(At::Behind), 1 => Just(At::Root)];
    prop::collection::vec(
        (what, parent).prop_map(|(what, parent)| Step { what, parent }),
        0..count,
    )
}

impl Step {
    /// The row's text, when it is the next of the session.
    pub(crate) fn row(&self, session: &Session) -> String {
        let next = session.next_seq;
        let name = |back: usize| format!("r{}", next - 1 - back as i64);
        let id = match self.what {
            What::WithIdOf(back) => name(back),
            _ => format!("r{next}"),
        };
        let parent = match self.parent {
            At::End => session.append_parent.clone(),
            At::Behind(back) => Some(name(back)),
            At::Root => None,
        };
        let parent = parent.as_deref();
        let user = r#"{"role":"user","content":"odd"}"#;
        match &self.what {
            What::Message(message) => message_row(&id, parent, "", message),
            What::WithIdOf(_) => message_row(&id, parent, "", user),
            What::Compaction(kept) => {
                let compaction = NewCompaction {
                    summary: "s",
                    first_kept_entry_id: Some(&name(*kept)),
                    tokens_before: 1,
                    tokens_after: None,
                    details_json: None,
                    from_hook: false,
                };
                compaction_row(&id, parent, "", &compaction)
            }
            What::Reset(kept) => reset_row(&id, parent, "", "new", kept.map(name).as_deref()),
            What::Custom => custom_row(&id, parent, "", "note", "1"),
            What::Leaf(target) => leaf_row(&id, parent, "", target.map(name).as_deref()),
            What::Side => {
                message_row(&id, parent, "", user).replacen('{', r#"{"appendMode":"side","#, 1)
            }
            What::Unknown => {
                custom_row(&id, parent, "", "note", "1").replacen("\"custom\"", "\"odd\"", 1)
            }
            What::WithoutId => format!(r#"{{"type":"message","message":{user}}}"#),
        }
    }
}
