//! What a compaction takes from the messages without a model.

use openclaw_transcript::{Message, Role, said};

use super::ask;
use super::conversation::joined;
use super::files::FileLists;
use super::identifiers::{KEPT_IDENTIFIERS, identifiers};
use super::input::CompactionInput;
use super::prepare::Prepared;

/// Messages at the end of what is folded whose identifiers a summary is held to.
const IDENTIFIER_MESSAGES: usize = 10;

/// Files read and changed up to the cut.
pub(super) fn files(input: &CompactionInput, prepared: &Prepared<'_>) -> FileLists {
    let previous = input.previous.as_ref();
    let mut files = previous
        .map(|previous| previous.files.clone())
        .unwrap_or_default();
    prepared.folded().for_each(|message| files.add(message));
    files.settled()
}

/// The newest identifiers of what is folded.
pub(super) fn newest_identifiers(prepared: &Prepared<'_>) -> Vec<String> {
    let folded: Vec<&Message> = prepared.folded().collect();
    let mut found: Vec<String> = Vec::new();
    for message in folded.iter().rev().take(IDENTIFIER_MESSAGES) {
        for identifier in identifiers(&joined(&said(message))) {
            if found.len() < KEPT_IDENTIFIERS && !found.contains(&identifier) {
                found.push(identifier);
            }
        }
    }
    found
}

/// The latest request, when it is not in the kept end word for word. Case S-4.
pub(super) fn latest_ask(input: &CompactionInput, prepared: &Prepared<'_>) -> Option<String> {
    let first_kept = prepared.cut.first_kept - input.offset;
    let is_user = |message: &Message| message.role() == Role::User;
    let kept = &input.entries[first_kept..];
    if kept.iter().filter_map(|entry| entry.message()).any(is_user) {
        return None;
    }
    let folded: Vec<&Message> = prepared.folded().collect();
    let asks = folded.iter().rev().filter(|message| is_user(message));
    asks.map(|message| joined(&said(message)))
        .find(|text| !text.trim().is_empty())
}

/// The text of a message that waits for its answer, in short.
pub(super) fn pending_request(input: &CompactionInput, entry_id: &str) -> Option<String> {
    let at = input.place_of(entry_id)?;
    let text = joined(&said(input.entries[at].message()?));
    (!text.trim().is_empty()).then(|| ask::repeated(&text))
}
