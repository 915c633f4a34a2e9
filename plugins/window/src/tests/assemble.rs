//! Lists over many turns, each assembled by a fresh instance.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Case E-1.
#[test]
fn the_list_of_a_turn_is_the_beginning_of_the_next_one() {
    let home = tempfile::tempdir().unwrap();
    let (mut before, mut moves): (Vec<String>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut note = None;
    for count in 0..60 {
        let entries = turns(count);
        let budget = 10_000 + (count as u64 * 37) % 101;
        let (picks, assembly) = assembled(Some(home.path()), &entries, Some(budget));
        let list: Vec<String> = picks
            .iter()
            .map(|index| entries[*index as usize].json.clone())
            .collect();
        if list.starts_with(&before) && assembly.system_prompt_addition == note {
            assert_eq!(list.len(), before.len() + if count == 0 { 0 } else { 4 });
        } else {
            moves.push(count);
        }
        assert!(assembly.estimated_tokens <= budget / 10 * 9 + 9);
        (before, note) = (list, assembly.system_prompt_addition);
    }
    assert_eq!(moves.len(), 5, "moved at {moves:?}");
}

#[test]
fn another_home_comes_to_the_same_list() {
    let home = tempfile::tempdir().unwrap();
    for count in 0..60 {
        let entries = turns(count);
        let remembered = assembled(Some(home.path()), &entries, Some(10_000));
        assert_eq!(
            remembered,
            assembled(None, &entries, Some(10_000)),
            "{count} turns"
        );
    }
    std::fs::write(home.path().join(store::FILE_NAME), "not a database").unwrap();
    let entries = turns(60);
    assert_eq!(
        assembled(Some(home.path()), &entries, Some(10_000)),
        assembled(None, &entries, Some(10_000))
    );
}

#[test]
fn a_moved_start_is_found_by_its_message() {
    let home = tempfile::tempdir().unwrap();
    let mut entries = turns(30);
    let (before, _) = assembled(Some(home.path()), &entries, Some(10_000));
    // Something that lies before the window goes away; the window stays.
    entries.drain(4..8);
    let (after, _) = assembled(Some(home.path()), &entries, Some(10_000));
    assert_eq!(after[1], before[1] - 4);
    assert_eq!(after.len(), before.len());
    // Back to a few turns: everything fits again.
    let (rewound, assembly) = assembled(Some(home.path()), &turns(5), Some(10_000));
    assert_eq!(rewound.len(), 20);
    assert_eq!(assembly.system_prompt_addition, None);
}

#[test]
fn a_history_cut_behind_the_start_is_windowed_anew() {
    let home = tempfile::tempdir().unwrap();
    let (first, _) = assembled(Some(home.path()), &turns(90), Some(10_000));
    let short = turns(first[1] as usize / 4 + 1);
    let (rewound, _) = assembled(Some(home.path()), &short, Some(10_000));
    assert_eq!(rewound, assembled(None, &short, Some(10_000)).0);
    assert!(rewound.len() > 40);
}

/// Case I-3.
#[test]
fn equal_texts_without_ids_keep_their_order_and_place() {
    let home = tempfile::tempdir().unwrap();
    let mut entries = Vec::new();
    let mut before = Vec::new();
    for count in 1..=60 {
        entries.push(entry(
            "",
            Role::User,
            100,
            r#"{"role":"user","content":"ok"}"#,
        ));
        entries.push(entry(
            "",
            Role::Assistant,
            100,
            r#"{"role":"assistant","content":"ok"}"#,
        ));
        let (picks, _) = assembled(Some(home.path()), &entries, Some(2_000));
        assert!(picks.is_sorted() && picks.last() == Some(&(count * 2 - 1)));
        let is_kept = picks.starts_with(&before);
        assert!(is_kept || picks.len() < before.len());
        before = picks;
    }
}

/// Case L-13.
#[test]
fn an_unknown_budget_is_the_last_known_one() {
    let home = tempfile::tempdir().unwrap();
    let entries = turns(750);
    let (picks, assembly) = assembled(Some(home.path()), &entries, Some(1_000_000));
    assert_eq!(
        (picks.len(), assembly.system_prompt_addition),
        (3_000, None)
    );
    assert_eq!(assembled(Some(home.path()), &entries, None).0.len(), 3_000);
    assert_eq!(assembled(None, &entries, None).0.len(), 3_000);

    let entries = turns(30);
    let (limited, _) = assembled(Some(home.path()), &entries, Some(10_000));
    assert!(limited.len() < 120);
    assert_eq!(assembled(Some(home.path()), &entries, None).0, limited);
}

/// Case T-4.
#[test]
fn the_estimate_holds_messages_and_note() {
    let entries = turns(30);
    let (picks, assembly) = assembled(None, &entries, Some(10_000));
    let note = assembly.system_prompt_addition.unwrap();
    let hidden = entries.len() - picks.len();
    assert_eq!(
        note,
        format!(
            "{hidden} older messages of this conversation are not shown, the newest part follows directly behind the \
             first message; ask the user when something from them is needed."
        )
    );
    assert_eq!(
        assembly.estimated_tokens,
        picks.len() as u64 * 100 + NoServices.count_tokens(&note)
    );
    assert_eq!(
        crate::note(1, false),
        "1 older message of this conversation is not shown; ask the user when something from them is needed."
    );
}

/// Case Q-8.
#[test]
fn message_text_is_never_read() {
    let home = tempfile::tempdir().unwrap();
    let entries: Vec<_> = [
        "{}",
        r#"{"content":null}"#,
        r#"{"content":"x"}"#,
        r#"{"content":[]}"#,
        "not json",
        "",
    ]
    .iter()
    .map(|json| entry("", Role::Other, 1, *json))
    .collect();
    assert_eq!(
        assembled(Some(home.path()), &entries, Some(1_000)).0,
        [0, 1, 2, 3, 4, 5]
    );
    assert_eq!(assembled(Some(home.path()), &entries, Some(1)).0, [5]);
}

#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl HostServices for Counting {
    fn log(&self, _level: LogLevel, _message: &str) {}

    fn is_cancelled(&self) -> bool {
        false
    }

    fn count_tokens(&self, text: &str) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        NoServices.count_tokens(text)
    }

    fn call(&self, service: &str, params: &str) -> Result<String, EngineError> {
        NoServices.call(service, params)
    }
}

#[test]
fn a_long_history_asks_the_host_for_two_counts() {
    let counts = Counting::default();
    let entries = turns(5_000);
    let assembly = served(None, &json!({}), counts.clone()).assemble(
        &views(&entries),
        Some(10_000),
        &session(),
    );
    assert!(assembly.unwrap().picks.len() < 100);
    assert_eq!(counts.0.load(Ordering::Relaxed), 2);
}
