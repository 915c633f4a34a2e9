//! A transcript in a store of its own.

use openclaw_host::{Ambient, ImportReport, SessionSummary, Store, StoreError};
use std::sync::atomic::{AtomicI64, Ordering};
use tempfile::TempDir;

/// An imported transcript. Its store lies in a temporary folder and has a clock that never stands still.
pub(crate) struct Stored {
    pub(crate) report: ImportReport,
    store: Store,
    _home: TempDir,
}

impl Stored {
    /// Imports a transcript into a new store; `name` is the file's name without `.jsonl`.
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let ticks = AtomicI64::new(1_777_629_600_000);
        let ids = AtomicI64::new(0);
        let ambient = Ambient::new(
            move || ticks.fetch_add(1, Ordering::Relaxed),
            move || format!("made-{}", ids.fetch_add(1, Ordering::Relaxed)),
        );
        let mut store = Store::open(&home.path().join("store.sqlite"), ambient)
            .expect("a new store can be made");
        let report = support::import(&mut store, name, bytes, None);
        Self {
            report,
            store,
            _home: home,
        }
    }

    pub(crate) fn import_again(&mut self, name: &str, bytes: &[u8]) -> ImportReport {
        support::import(&mut self.store, name, bytes, None)
    }

    /// The lines an export writes, header first.
    pub(crate) fn exported(&self) -> Vec<String> {
        let key = &self.report.session_key;
        let session = self.store.session_named(key).expect("it was imported");
        let mut lines = Vec::new();
        self.store
            .export(&session, |line| {
                lines.push(line.to_owned());
                Ok::<_, StoreError>(())
            })
            .expect("what was stored can be read");
        lines
    }

    /// What a list of sessions says.
    pub(crate) fn summaries(&self) -> Vec<SessionSummary> {
        self.store.sessions().expect("what was stored can be read")
    }
}
