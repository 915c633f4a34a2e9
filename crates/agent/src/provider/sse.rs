//! Reads a stream of server-sent events from pieces cut anywhere. Only the data of events counts.

use super::failure::Failure;
use super::lines::{Lines, MAX_BYTES};

/// The reader. Linear in the input, however it is cut.
#[derive(Debug, Default)]
pub(super) struct SseReader {
    lines: Lines,
    data: Vec<u8>,
    has_data: bool,
    /// Whether any line of an event stream was seen.
    saw_stream: bool,
}

impl SseReader {
    /// Takes the next bytes and returns the data of the events they complete.
    ///
    /// # Errors
    ///
    /// When an event is larger than 16 MiB or not UTF-8.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, Failure> {
        let mut events = Vec::new();
        for line in self.lines.push(bytes)? {
            events.extend(self.end_line(&line)?);
        }
        Ok(events)
    }

    /// The data of a last event that no blank line ended; some servers leave it out.
    pub(super) fn finish(&mut self) -> Result<Option<String>, Failure> {
        let line = self.lines.finish();
        self.end_line(&line)?;
        self.end_event()
    }

    /// Whether what came looks like an event stream at all.
    pub(super) fn saw_stream(&self) -> bool {
        self.saw_stream
    }

    fn end_line(&mut self, line: &[u8]) -> Result<Option<String>, Failure> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = line
            .strip_prefix("\u{FEFF}".as_bytes())
            .filter(|_| !self.saw_stream)
            .unwrap_or(line);
        if line.is_empty() {
            return self.end_event();
        }
        self.saw_stream |= [&b"data:"[..], b"event:", b"id:", b"retry:", b":"]
            .iter()
            .any(|name| line.starts_with(name));
        if let Some(data) = line.strip_prefix(b"data:") {
            if self.data.len() + data.len() > MAX_BYTES {
                return Err(Failure::bad_answer(
                    "an event of the stream is larger than 16 MiB",
                ));
            }
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data
                .extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            self.has_data = true;
        }
        Ok(None)
    }

    fn end_event(&mut self) -> Result<Option<String>, Failure> {
        if !std::mem::take(&mut self.has_data) {
            return Ok(None);
        }
        let data = String::from_utf8(std::mem::take(&mut self.data));
        data.map(Some)
            .map_err(|_| Failure::bad_answer("an event of the stream is not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut reader = SseReader::default();
        let mut events: Vec<String> = pieces
            .iter()
            .flat_map(|piece| reader.push(piece).unwrap())
            .collect();
        events.extend(reader.finish().unwrap());
        events
    }

    #[test]
    fn events_are_read_in_all_spellings() {
        let check = |stream: &str, expected: &[&str]| {
            assert_eq!(read(&[stream.as_bytes()]), expected, "{stream:?}")
        };
        check("data: a\n\ndata:b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("event: x\nid: 1\ndata: a\ndata: b\n\n", &["a\nb"]);
        check(": ping\n\n\n\nretry: 5\n\ndata: a\n\n", &["a"]);
        check("\u{FEFF}data: a\n\n", &["a"]);
        check("data: a\n\ndata: no blank line", &["a", "no blank line"]);
        check("data:  two spaces\n\n", &[" two spaces"]);
        check("", &[]);
    }

    #[test]
    fn pieces_may_be_cut_anywhere() {
        let stream = "data: {\"c\":\"日本\"}\r\n\r\n: ping\n\ndata: [DONE]\n\n".as_bytes();
        for at in 0..=stream.len() {
            assert_eq!(
                read(&[&stream[..at], &stream[at..]]),
                ["{\"c\":\"日本\"}", "[DONE]"],
                "{at}"
            );
        }
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(read(&bytes), ["{\"c\":\"日本\"}", "[DONE]"]);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut reader = SseReader::default();
        let piece = vec![b'x'; 1 << 20];
        let failed = (0..=16).any(|_| reader.push(&piece).is_err());
        assert!(failed);
    }

    #[test]
    fn a_web_page_is_no_stream() {
        let mut reader = SseReader::default();
        reader.push(b"<html>\n<body>data: x</body>\n").unwrap();
        assert!(!reader.saw_stream());
    }
}
