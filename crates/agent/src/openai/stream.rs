//! From the events of an exchange to a reply: status, then an event stream or one JSON document.

use openclaw_host::{ModelErrorKind, ModelReply};
use serde_json::Value;

use super::answer::Answer;
use super::exchange::{Event, Exchange};
use super::failure::Failure;
use super::sse::SseReader;
use crate::surrogates::heal_half_surrogates;

const MAX_ERROR_BYTES: usize = 64 << 10;
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// Reads the answer of an exchange.
pub(super) fn read(
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
    let mut body = Body::default();
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

/// The body of an answer. Its first character tells a document from a stream; the content type often lies.
#[derive(Default)]
struct Body {
    answer: Answer,
    events: SseReader,
    document: Vec<u8>,
    is_document: Option<bool>,
}

impl Body {
    fn push(&mut self, piece: &[u8], on_text: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        let is_document = match self.is_document {
            Some(known) => known,
            None => {
                let Some(first) = piece.iter().find(|byte| !byte.is_ascii_whitespace()) else {
                    return Ok(());
                };
                *self.is_document.insert(matches!(first, b'{' | b'['))
            }
        };
        if is_document {
            self.document.extend_from_slice(piece);
            return Ok(());
        }
        for event in self.events.push(piece)? {
            self.answer.event(&event, on_text)?;
            if self.answer.saw_done() {
                break;
            }
        }
        Ok(())
    }

    fn finish(mut self, on_text: &mut dyn FnMut(&str)) -> Result<ModelReply, Failure> {
        match self.is_document {
            None => Err(broken_off("the answer is empty")),
            Some(true) => {
                let text = std::str::from_utf8(&self.document).map_err(|error| {
                    Failure::bad_answer(format!("the answer is not UTF-8: {error}"))
                })?;
                let document = serde_json::from_str::<Value>(&heal_half_surrogates(text));
                let document = document.map_err(|error| {
                    if error.is_eof() {
                        broken_off("the answer broke off")
                    } else {
                        Failure::bad_answer(format!("the answer is not JSON: {error}"))
                    }
                })?;
                self.answer.document(&document, on_text)?;
                self.answer.finish()
            }
            Some(false) => {
                // An unfinished last event counts only if it is whole.
                if let Some(event) = self.events.finish()?
                    && (event == "[DONE]"
                        || serde_json::from_str::<Value>(&heal_half_surrogates(&event)).is_ok())
                {
                    self.answer.event(&event, on_text)?;
                }
                if self.answer.is_complete() {
                    self.answer.finish()
                } else if self.events.saw_stream() {
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
    }
}

fn broken_off(reason: &str) -> Failure {
    Failure::new(ModelErrorKind::Transport, reason)
}
