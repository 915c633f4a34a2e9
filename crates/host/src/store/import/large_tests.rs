//! A transcript with very many entries. `OPENCLAW_ENTRIES` sets how many; the default is small enough for every test run.

use super::tests::{HEADER, home};
use super::*;
use std::io;

/// Lines that nobody has to store: a header, and a chain of small rows, a message every tenth.
struct Counted {
    entries: u64,
    next: u64,
    read: u64,
}

impl TranscriptLines for Counted {
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        let text = match self.next {
            0 => HEADER.to_owned(),
            n if n > self.entries => return Ok(false),
            n => {
                let parent = match n {
                    1 => "null".to_owned(),
                    n => format!("\"{}\"", n - 1),
                };
                let body = match n % 10 {
                    0 => r#""type":"message","message":{"role":"user","content":"hi"}"#,
                    _ => r#""type":"custom","customType":"t","data":0"#,
                };
                format!(r#"{{"id":"{n}","parentId":{parent},{body}}}"#)
            }
        };
        line.extend_from_slice(text.as_bytes());
        line.push(b'\n');
        self.next += 1;
        self.read += line.len() as u64;
        Ok(true)
    }

    fn rewind(&mut self) -> io::Result<()> {
        (self.next, self.read) = (0, 0);
        Ok(())
    }

    fn bytes_read(&self) -> u64 {
        self.read
    }

    fn bytes_total(&self) -> Option<u64> {
        None
    }
}

#[test]
fn very_many_entries_come_in_and_out_and_are_found() {
    let entries = std::env::var("OPENCLAW_ENTRIES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(30_000);
    let mut home = home();
    let target = ImportTarget {
        name: "s",
        agent_id: "main",
        key: None,
        wait: Duration::ZERO,
    };
    let mut lines = Counted {
        entries,
        next: 0,
        read: 0,
    };
    let report = home.store.import(&mut lines, &target, &mut |_| {}).unwrap();
    let counts = (report.entries as u64, report.messages as u64);
    assert_eq!(counts, (entries, entries / 10));
    assert_eq!((report.skipped_lines, report.path_fault_count), (0, 0));
    let session = home.store.session("agent:main:s").unwrap().unwrap();
    assert_eq!(session.path_length, entries as i64);
    let mut exported = 0;
    let each = |_: &str| {
        exported += 1;
        Ok::<(), StoreError>(())
    };
    home.store.export(&session, each).unwrap();
    assert_eq!(exported, entries + 1);
    // The end is reached without the rest.
    let before = home.store.rows_read();
    let last = session.path_length - 1;
    let end = home.store.path_between(&session, last..last + 1).unwrap();
    assert_eq!(end[0].row.id(), Some(entries.to_string().as_str()));
    assert_eq!(home.store.rows_read() - before, 1);
}
