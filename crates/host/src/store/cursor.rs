//! Where a reader of visible messages stopped, as text that it keeps unchanged.
//!
//! Base64url of a JSON object, without padding. A text that is not exactly what this writes is refused. It is no
//! authorisation.

use serde::{Deserialize, Serialize};

/// Bytes a cursor's text may have.
const MAX_BYTES: usize = 2048;
const VERSION: u32 = 1;
const START: i64 = -1;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A place between two messages of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Cursor {
    pub(super) agent_id: String,
    pub(super) generation: String,
    pub(super) session_id: String,
    /// The last message's position among all rows; -1 at the start.
    pub(super) last_event_seq: i64,
    /// Its position among the messages of the path; -1 at the start.
    pub(super) last_message_position: i64,
    version: u32,
}

impl Cursor {
    /// Before the first message.
    pub(super) fn start(agent_id: &str, session_id: &str, generation: &str) -> Self {
        Self {
            agent_id: agent_id.to_owned(),
            generation: generation.to_owned(),
            session_id: session_id.to_owned(),
            last_event_seq: START,
            last_message_position: START,
            version: VERSION,
        }
    }

    /// Behind a message.
    pub(super) fn behind(mut self, seq: i64, message_position: i64) -> Self {
        (self.last_event_seq, self.last_message_position) = (seq, message_position);
        self
    }

    pub(super) fn is_start(&self) -> bool {
        self.last_message_position == START
    }

    pub(super) fn text(&self) -> String {
        encode(serde_json::to_string(self).unwrap_or_default().as_bytes())
    }

    /// The cursor of a text; `None` for one this never wrote.
    pub(super) fn read(text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let cursor: Self = serde_json::from_slice(&decode(text)?).ok()?;
        let is_place = cursor.last_event_seq >= 1 && cursor.last_message_position >= 0;
        let is_start = cursor.last_event_seq == START && cursor.is_start();
        (cursor.version == VERSION && (is_place || is_start) && cursor.text() == text)
            .then_some(cursor)
    }
}

fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        let chars = (0..=chunk.len()).map(|at| group >> (18 - 6 * at) & 63);
        text.extend(chars.map(|index| char::from(ALPHABET[index as usize])));
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        let mut group = 0_u32;
        for char in chunk {
            let index = ALPHABET.iter().position(|it| it == char)?;
            group = group << 6 | u32::try_from(index).ok()?;
        }
        let group = group << (6 * (4 - chunk.len()));
        let whole = chunk.len().checked_sub(1).filter(|whole| *whole > 0)?;
        bytes.extend(group.to_be_bytes().iter().skip(1).take(whole));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cursor_is_read_back_and_nothing_else_is() {
        let start = Cursor::start("main", "s", "g");
        for cursor in [start.clone(), start.clone().behind(5, 1)] {
            assert_eq!(Cursor::read(&cursor.text()), Some(cursor));
        }
        let json = |text: &str| encode(text.as_bytes());
        let text = start.text();
        for wrong in [
            String::new(),
            "not a cursor".into(),
            format!("{text}="),
            format!("{text}A"),
            text.replace(char::is_alphanumeric, "A"),
            json("{}"),
            json(
                r#"{"agentId":"main","generation":"g","sessionId":"s","lastEventSeq":-1,"lastMessagePosition":-1,"version":2}"#,
            ),
            json(
                r#"{"agentId":"main","generation":"g","sessionId":"s","lastEventSeq":-1,"lastMessagePosition":0,"version":1}"#,
            ),
            json(
                r#"{"agentId":"main","generation":"g","sessionId":"s","lastEventSeq":-2,"lastMessagePosition":-2,"version":1}"#,
            ),
            json(
                r#"{ "agentId":"main","generation":"g","sessionId":"s","lastEventSeq":-1,"lastMessagePosition":-1,"version":1}"#,
            ),
            Cursor::start("main", &"s".repeat(2000), "g").text(),
        ] {
            assert_eq!(Cursor::read(&wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_survive_and_one_text_stands_for_them(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn damage_never_panics(text in "[A-Za-z0-9_=+/-]{0,30}") {
            prop_assert_eq!(Cursor::read(&text), None);
        }
    }
}
