//! What a turn and a read cost in sessions of 1,000, 10,000 and 100,000 entries: `cargo bench -p openclaw-host`.
//!
//! The model answers at once, so that what is measured is the host's own. A session `with a boundary` has a compaction
//! 100 entries before its end, as long sessions have; one `without` hands its whole history to every turn.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod instant;

use instant::{Instantly, open};
use openclaw_host::{FileLines, Host, ImportTarget, NoTools, Store, SystemPrompt, TurnRequest};
use openclaw_interface::model::service::{Delta, DeltaRequest};
use openclaw_transcript::{NewCompaction, compaction_row, message_row};
use std::hint::black_box;
use std::io::Cursor;
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const PAGE: u64 = 200;

fn turn(host: &Host, session_key: &str) {
    let request = TurnRequest {
        session_key: session_key.into(),
        text: "go on".into(),
        turn_id: None,
        system_prompt: SystemPrompt::default(),
        context_tokens: None,
        ..TurnRequest::default()
    };
    let mut model = Instantly::new(100_000_000, "done");
    let outcome = host.turn(request, &mut model, &mut NoTools, &mut |_| {});
    black_box(outcome.expect("the turn is answered"));
}

/// A transcript of `entries` messages, user and assistant in turn.
fn transcript(id: &str, entries: usize, has_boundary: bool) -> String {
    let mut lines = vec![format!(
        r#"{{"type":"session","version":4,"id":"{id}","timestamp":"","cwd":"/"}}"#
    )];
    let mut parent: Option<String> = None;
    for n in 0..entries {
        let row_id = format!("m{n}");
        let row = if has_boundary && n + 100 == entries {
            let compaction = NewCompaction {
                summary: "what was said before",
                first_kept_entry_id: parent.as_deref(),
                tokens_before: 9,
                tokens_after: None,
                details_json: None,
                from_hook: false,
            };
            compaction_row(&row_id, parent.as_deref(), "", &compaction)
        } else {
            let role = if n % 2 == 0 { "user" } else { "assistant" };
            let message = format!(
                r#"{{"role":"{role}","content":"message {n} of a conversation that goes on"}}"#
            );
            message_row(&row_id, parent.as_deref(), "", &message)
        };
        lines.push(row);
        parent = Some(row_id);
    }
    lines.join("\n") + "\n"
}

/// Median time of a call in microseconds.
fn median(times: usize, mut f: impl FnMut()) -> f64 {
    let mut all: Vec<f64> = (0..times)
        .map(|_| {
            let started = Instant::now();
            f();
            started.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn page(
    store: &Store,
    session_id: &str,
    cursor: Option<String>,
    max: u64,
) -> (usize, String, bool) {
    let mut request = DeltaRequest {
        cursor,
        max_messages: Some(max),
        max_bytes: Some(67_108_864),
        ..DeltaRequest::default()
    };
    request.session_target.session_id = Some(session_id.to_owned());
    let answer = store.delta("main", &request).expect("the delta is read");
    match serde_json::from_str(&answer) {
        Ok(Delta::Page {
            entries,
            cursor,
            has_more,
            ..
        }) => (entries.len(), cursor, has_more),
        other => panic!("no page: {other:?}"),
    }
}

/// The cursor `behind` messages before the end.
fn cursor_before_end(store: &Store, session_id: &str, behind: u64) -> String {
    let session = store
        .session_named(session_id)
        .expect("the session is there");
    let mut left = session.message_count.unsigned_abs().saturating_sub(behind);
    let mut cursor = None;
    while left > 0 {
        let (read, next, _) = page(store, session_id, cursor, left.min(10_000));
        left -= read as u64;
        cursor = Some(next);
    }
    cursor.expect("the session is longer")
}

/// Median times at one size, in the order of [`ROWS`].
fn measure(entries: usize) -> [f64; 7] {
    let home = tempfile::tempdir().expect("a temporary directory can be made");
    let native_dir = home.path();
    let [long, whole] = [("long", true), ("whole", false)].map(|(id, has_boundary)| {
        let host = open(native_dir);
        let file = transcript(id, entries, has_boundary);
        let key = format!("agent:main:{id}");
        let target = ImportTarget {
            name: id,
            agent_id: "main",
            key: Some(&key),
            wait: Duration::ZERO,
        };
        let mut lines = FileLines::new(Cursor::new(file)).expect("memory can be read");
        let report = host.store().import(&mut lines, &target, &mut |_| {});
        black_box(report.expect("the transcript is imported"));
        key
    });
    let cold = median(15, || turn(&open(native_dir), &long));
    let host = open(native_dir);
    turn(&host, &long);
    let warm = median(31, || turn(&host, &long));
    turn(&host, &whole);
    let legacy = median(15, || turn(&host, &whole));
    let store = host.store();
    let newest = cursor_before_end(&store, "whole", PAGE);
    let newest_page = median(51, || {
        assert_eq!(page(&store, "whole", Some(newest.clone()), PAGE).0, 200);
    });
    let new = cursor_before_end(&store, "whole", 4);
    let what_is_new = median(101, || {
        assert_eq!(page(&store, "whole", Some(new.clone()), PAGE).0, 4);
    });
    let session = store.session_named("whole").expect("the session is there");
    let full = median(3, || {
        black_box(store.path_of(&session).expect("the path is read"));
    });
    let list = median(51, || {
        black_box(store.sessions().expect("the sessions are read"));
    });
    let per_entry = full / entries as f64;
    [
        cold,
        warm,
        what_is_new,
        newest_page,
        list,
        per_entry,
        legacy,
    ]
}

const ROWS: [&str; 7] = [
    "open, append a turn (cold host, with a boundary)",
    "append a turn (warm host, with a boundary)",
    "read 4 new messages behind a cursor",
    "read the newest page of 200 messages",
    "list the sessions",
    "cold full read, per entry",
    "a whole legacy turn (warm host, without a boundary)",
];

fn main() {
    // Loads the vocabulary of the token counter.
    measure(SIZES[0]);
    let times = SIZES.map(measure);
    println!(
        "microseconds, median{:>32} {:>11} {:>11} {:>9}",
        SIZES[0], SIZES[1], SIZES[2], "ratio"
    );
    for (index, what) in ROWS.iter().enumerate() {
        let [small, middle, large] = [0, 1, 2].map(|size: usize| times[size][index]);
        println!(
            "{what:<52} {small:>11.2} {middle:>11.2} {large:>11.2} {:>7.2} x",
            large / small
        );
    }
}
