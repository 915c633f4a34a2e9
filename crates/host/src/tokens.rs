//! Counts tokens: exactly, in linear time, and each text once.

mod cache;
mod runs;
#[cfg(test)]
mod tests;
mod vocabulary;

use openclaw_transcript as transcript;

pub(crate) use vocabulary::Vocabulary;

/// Exact token counts in the `o200k` vocabulary, in which the store counts. The vocabulary is loaded at the first count.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenCounter;

impl TokenCounter {
    /// Tokens of a text. Text that looks like a control token is ordinary text. Runs of one kind of character longer
    /// than 64 KiB are counted in slices, which gives a few tokens too many.
    ///
    /// A text that was counted not long ago is looked up.
    #[must_use]
    pub fn text(&self, text: &str) -> u64 {
        Vocabulary::O200k.text(text)
    }

    /// Tokens of a message, as [`openclaw_transcript::count`] weighs its parts.
    #[must_use]
    pub fn message(&self, message_json: &str) -> u64 {
        Vocabulary::O200k.message(message_json)
    }
}

impl Vocabulary {
    /// Tokens of a text; see [`TokenCounter::text`].
    pub(crate) fn text(self, text: &str) -> u64 {
        cache::or_count(self, text, || {
            runs::slices(text).map(|slice| self.count(slice)).sum()
        })
    }

    /// Tokens of a message; see [`TokenCounter::message`].
    pub(crate) fn message(self, message_json: &str) -> u64 {
        transcript::count(message_json, &mut |text| self.text(text))
    }
}
