//! From the events of an exchange to a reply: status, then an event stream or one JSON document.

use openclaw_host::{ModelErrorKind, ModelReply};
use serde_json::Value;

use super::dialect::{Dialect, Framing, Reader};
use super::exchange::{Event, Exchange};
use super::failure::Failure;
use super::lines::Lines;
use super::sse::SseReader;
use crate::surrogates::heal_half_surrogates;

const MAX_ERROR_BYTES: usize = 64 << 10;
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// Reads the answer of an exchange.
pub(super) fn read(
    dialect: Dialect,
    exchange: Exchange,
    is_cancelled: &dyn Fn() -> bool,
    on_text: &mut dyn FnMut(&str),
) -> Result<ModelReply, Failure> {
    let head = exchange.next(is_cancelled)?;
    let Event::Head {
        status,
        retry_after,
    } = head
    else {
        return Err(Failure::bad_answer("a body came without a status"));
    };
    if !(200..300).contains(&status) {
        let body = error_body(&exchange, is_cancelled)?;
        return Err(Failure::of_status(status, retry_after, &body));
    }
    let mut body = Body::new(dialect);
    let mut bytes = 0;
    loop {
        match exchange.next(is_cancelled) {
            Ok(Event::Data(piece)) => {
                bytes += piece.len();
                if bytes > MAX_ANSWER_BYTES {
                    return Err(Failure::bad_answer("the answer is larger than 64 MiB"));
                }
                body.push(&piece, on_text)?;
                if body.answer.saw_done() {
                    return body.answer.finish();
                }
            }
            Ok(Event::End) => return body.finish(on_text),
            Ok(Event::Head { .. }) => return Err(Failure::bad_answer("a second status came")),
            // The last words of a stream are not worth an answer that is complete.
            Err(failure)
                if failure.kind != ModelErrorKind::Cancelled && body.answer.is_complete() =>
            {
                return body.answer.finish();
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// The body beside an error status; what came of it when the connection breaks.
fn error_body(exchange: &Exchange, is_cancelled: &dyn Fn() -> bool) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES {
        match exchange.next(is_cancelled) {
            Ok(Event::Data(piece)) => body.extend(piece),
            Err(failure) if failure.kind == ModelErrorKind::Cancelled => return Err(failure),
            Ok(Event::End | Event::Head { .. }) | Err(_) => break,
        }
    }
    body.truncate(MAX_ERROR_BYTES);
    Ok(body)
}

/// The body of an answer.
struct Body {
    answer: Box<dyn Reader>,
    frames: Frames,
}

/// A stream in its pieces, or a document.
enum Frames {
    /// Nothing came yet. The first character tells a document from a stream; the content type often lies.
    Unknown,
    Document(Vec<u8>),
    Events(SseReader),
    Lines(Lines),
}

impl Body {
    fn new(dialect: Dialect) -> Self {
        let frames = match dialect.framing() {
            Framing::Events => Frames::Unknown,
            Framing::Lines => Frames::Lines(Lines::default()),
        };
        Self {
            answer: dialect.reader(),
            frames,
        }
    }

    fn push(&mut self, piece: &[u8], on_text: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        if let Frames::Unknown = self.frames {
            let Some(first) = piece.iter().find(|byte| !byte.is_ascii_whitespace()) else {
                return Ok(());
            };
            self.frames = if matches!(first, b'{' | b'[') {
                Frames::Document(Vec::new())
            } else {
                Frames::Events(SseReader::default())
            };
        }
        let events = match &mut self.frames {
            Frames::Unknown => Vec::new(),
            Frames::Document(document) => {
                document.extend_from_slice(piece);
                Vec::new()
            }
            Frames::Events(events) => events.push(piece)?,
            Frames::Lines(lines) => {
                let lines = lines.push(piece)?;
                lines
                    .iter()
                    .map(|line| text(line).map(str::to_owned))
                    .collect::<Result<_, _>>()?
            }
        };
        for event in events {
            if self.answer.saw_done() {
                break;
            }
            if !event.trim().is_empty() {
                self.answer.event(&event, on_text)?;
            }
        }
        Ok(())
    }

    fn finish(mut self, on_text: &mut dyn FnMut(&str)) -> Result<ModelReply, Failure> {
        let (last, is_stream) = match self.frames {
            Frames::Unknown => return Err(broken_off("the answer is empty")),
            Frames::Document(document) => {
                let document = document_of(&document)?;
                self.answer.document(&document, on_text)?;
                return self.answer.finish();
            }
            Frames::Events(mut events) => (events.finish()?, events.saw_stream()),
            Frames::Lines(mut lines) => (Some(text(&lines.finish())?.to_owned()), true),
        };
        // An unfinished last event counts only if it is whole.
        if let Some(event) = last
            && (event == "[DONE]"
                || serde_json::from_str::<Value>(&heal_half_surrogates(&event)).is_ok())
        {
            self.answer.event(&event, on_text)?;
        }
        if self.answer.is_complete() {
            self.answer.finish()
        } else if is_stream {
            Err(broken_off(
                "the stream ended before the answer was complete",
            ))
        } else {
            Err(Failure::bad_answer(
                "the answer is neither an event stream nor JSON; check baseUrl",
            ))
        }
    }
}

fn text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes)
        .map_err(|error| Failure::bad_answer(format!("the answer is not UTF-8: {error}")))
}

fn document_of(bytes: &[u8]) -> Result<Value, Failure> {
    let document = serde_json::from_str(&heal_half_surrogates(text(bytes)?));
    document.map_err(|error| {
        if error.is_eof() {
            broken_off("the answer broke off")
        } else {
            Failure::bad_answer(format!("the answer is not JSON: {error}"))
        }
    })
}

fn broken_off(reason: &str) -> Failure {
    Failure::new(ModelErrorKind::Transport, reason)
}
