//! Compaction by the size of a transcript on disk, once per limit of growth.

use serde::{Deserialize, Serialize};

/// Remembers that a transcript stayed large after a compaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ByteLatch {
    /// Its size then.
    pub active_bytes: u64,
    /// Its session.
    pub session_id: String,
    /// The limit then.
    pub max_bytes: u64,
}

/// Whether the size of a transcript asks for a compaction.
///
/// - `max_bytes`: 0 switches the guard off.
/// - `latch`: what [`byte_latch`] gave after the last compaction. It holds until the transcript has grown by the limit
///   again, so that what cannot get smaller is not compacted in every turn.
///
/// Source: compaction, "Triggers".
#[must_use]
pub fn bytes_due(
    session_id: &str,
    active_bytes: u64,
    max_bytes: u64,
    latch: Option<&ByteLatch>,
) -> bool {
    let held = latch.is_some_and(|latch| {
        latch.session_id == session_id
            && latch.max_bytes == max_bytes
            && active_bytes < latch.active_bytes.saturating_add(max_bytes)
    });
    max_bytes > 0 && active_bytes >= max_bytes && !held
}

/// What to remember after a compaction; `None` when it helped.
#[must_use]
pub fn byte_latch(session_id: &str, active_bytes: u64, max_bytes: u64) -> Option<ByteLatch> {
    (max_bytes > 0 && active_bytes >= max_bytes).then(|| ByteLatch {
        active_bytes,
        session_id: session_id.to_owned(),
        max_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_that_stays_large_is_left_alone_until_it_has_grown_by_the_limit() {
        assert!(!bytes_due("s", 99, 100, None));
        assert!(bytes_due("s", 100, 100, None));
        assert!(!bytes_due("s", u64::MAX, 0, None));
        assert_eq!(byte_latch("s", 99, 100), None);
        let latch = byte_latch("s", 150, 100).unwrap();
        assert!(!bytes_due("s", 249, 100, Some(&latch)));
        assert!(bytes_due("s", 250, 100, Some(&latch)));
        assert!(bytes_due("t", 150, 100, Some(&latch)), "another session");
        assert!(bytes_due("s", 150, 120, Some(&latch)), "another limit");
    }
}
