//! What one turn remembers for the next: a cache, rebuilt from the history when it is lost.

use crate::view::{History, Start};
use openclaw_interface::{Message, Messages};
use serde::{Deserialize, Serialize};

/// What is remembered of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Memory {
    /// The budget last named by the host, in tokens.
    pub(crate) budget_tokens: u64,
    /// Where the window starts; `None` when nothing is left out.
    pub(crate) place: Option<Place>,
    /// Tokens of the last answer, its prompt addition included.
    pub(crate) shown_tokens: u64,
    /// Groups in the last window, the pinned one not counted.
    pub(crate) shown_groups: usize,
    /// Set by a compaction: what the next answer may take at most, in tokens.
    pub(crate) shrink_to_tokens: Option<u64>,
}

/// Where a window starts, in a form that can be found again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Place {
    index: usize,
    fingerprint: u64,
    pinned: bool,
    /// Messages from here to the end when the window moved here. Fewer mean that the history was cut since.
    following: usize,
    /// Whether a compaction put the window here, so that it stays even when everything seems to fit.
    shrunk: bool,
}

impl Place {
    /// The place of `start`. Where the window has not moved, it is the one in `memory`.
    pub(crate) fn of(
        start: Start,
        history: &History,
        messages: Messages<'_>,
        memory: Option<&Memory>,
    ) -> Option<Self> {
        if start == Start::default() {
            return None;
        }
        let index = history.view(start).window.start;
        let place = Self {
            index,
            fingerprint: fingerprint(messages.get(index)?),
            pinned: start.pinned,
            following: messages.len() - index,
            shrunk: memory.is_some_and(|memory| memory.shrink_to_tokens.is_some()),
        };
        let before = memory
            .and_then(|memory| memory.place.as_ref())
            .filter(|before| before.is_at(&place));
        Some(before.cloned().unwrap_or(place))
    }

    fn is_at(&self, other: &Self) -> bool {
        (self.index, self.fingerprint, self.pinned)
            == (other.index, other.fingerprint, other.pinned)
    }
}

impl Memory {
    /// Whether a compaction put the window where it is.
    pub(crate) fn is_shrunk(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.shrunk)
    }

    /// The remembered start in this history; `None` when it is not there any more.
    pub(crate) fn start(&self, history: &History, messages: Messages<'_>) -> Option<Start> {
        let Some(place) = &self.place else {
            return Some(Start::default());
        };
        let is_there = |index: &usize| {
            messages
                .get(*index)
                .is_some_and(|message| fingerprint(message) == place.fingerprint)
        };
        let index = Some(place.index)
            .filter(|index| history.group_at(*index).is_some() && is_there(index))
            .or_else(|| {
                history
                    .group_starts()
                    .filter(is_there)
                    .min_by_key(|index| index.abs_diff(place.index))
            })?;
        if messages.len() - index < place.following {
            return None;
        }
        Some(Start {
            group: history.group_at(index)?,
            pinned: place.pinned,
        })
    }
}

/// Identifies a message: by its entry id, or by its text where the host has none. 64-bit FNV-1a, which is the same in
/// every build.
fn fingerprint(message: Message<'_>) -> u64 {
    let (kind, text) = match message.id() {
        "" => (b'j', message.json()),
        id => (b'i', id),
    };
    std::iter::once(kind)
        .chain(text.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
}
