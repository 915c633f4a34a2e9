//! Why a request came to nothing, by status and by what the server says.

use std::time::Duration;

use openclaw_host::ModelErrorKind;
use openclaw_host::compaction::is_overflow;
use serde_json::Value;

use crate::surrogates::heal_half_surrogates;

/// A request that came to nothing.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: ModelErrorKind,
    /// Not cleaned yet; may hold anything the server wrote.
    pub(super) reason: String,
}

impl Failure {
    pub(super) fn new(kind: ModelErrorKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
        }
    }

    pub(super) fn bad_answer(reason: impl Into<String>) -> Self {
        Self::new(ModelErrorKind::BadAnswer, reason)
    }

    pub(super) fn cancelled() -> Self {
        Self::new(ModelErrorKind::Cancelled, "cancelled")
    }

    /// What an answer with a status other than 2xx means.
    pub(super) fn of_status(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        let said = said(body);
        let kind = match status {
            401 | 403 => ModelErrorKind::Unauthorized,
            429 => ModelErrorKind::RateLimited { retry_after },
            413 => ModelErrorKind::ContextOverflow,
            _ if is_overflow(&said) => ModelErrorKind::ContextOverflow,
            500.. => ModelErrorKind::Server,
            _ => ModelErrorKind::Refused,
        };
        let said = match status {
            300..400 => {
                "the server points to another address, and redirects are not followed".to_owned()
            }
            _ if said.is_empty() => "no further word".to_owned(),
            _ => said,
        };
        Self {
            kind,
            reason: format!("HTTP {status}: {said}"),
        }
    }

    /// What an error object inside an answer with status 2xx means.
    pub(super) fn of_error_object(error: &Value) -> Self {
        let said = error_text(error);
        let status = ["code", "status"]
            .iter()
            .find_map(|key| error.get(key)?.as_u64());
        let status = status.or_else(|| status_of(error.get("type")?.as_str()?));
        let kind = match status {
            Some(401 | 403) => ModelErrorKind::Unauthorized,
            Some(429) => ModelErrorKind::RateLimited { retry_after: None },
            Some(413) => ModelErrorKind::ContextOverflow,
            _ if is_overflow(&said) => ModelErrorKind::ContextOverflow,
            Some(400..500) => ModelErrorKind::Refused,
            _ => ModelErrorKind::Server,
        };
        Self::new(kind, format!("the server broke off: {said}"))
    }
}

/// The status that a server would have sent with an error of this type, where the type says it all.
fn status_of(kind: &str) -> Option<u64> {
    Some(match kind {
        "authentication_error" | "permission_error" => 401,
        "rate_limit_error" => 429,
        "request_too_large" => 413,
        "invalid_request_error" | "not_found_error" => 400,
        _ => return None,
    })
}

/// What a body says about an error: the message and code of an error object, or the body itself.
fn said(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let Ok(value) = serde_json::from_str::<Value>(&heal_half_surrogates(&text)) else {
        return text.trim().to_owned();
    };
    // Some servers wrap the object in a list.
    let value = value.get(0).unwrap_or(&value);
    error_text(value.get("error").unwrap_or(value))
}

fn error_text(error: &Value) -> String {
    if let Some(text) = error.as_str() {
        return text.to_owned();
    }
    let field = |key: &str| {
        error
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let message = ["message", "detail", "error"].into_iter().find_map(field);
    let code = ["code", "type"].into_iter().find_map(field);
    match (message, code) {
        (Some(message), Some(code)) => format!("{message} ({code})"),
        (Some(text), None) | (None, Some(text)) => text.to_owned(),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_decides_the_kind() {
        let check = |status, body: &str, kind| {
            let failure = Failure::of_status(status, None, body.as_bytes());
            assert_eq!(failure.kind, kind, "{status} {body}");
        };
        check(401, "", ModelErrorKind::Unauthorized);
        check(403, "no", ModelErrorKind::Unauthorized);
        check(
            429,
            "too many tokens",
            ModelErrorKind::RateLimited { retry_after: None },
        );
        check(413, "", ModelErrorKind::ContextOverflow);
        check(
            400,
            r#"{"error":{"code":"context_length_exceeded"}}"#,
            ModelErrorKind::ContextOverflow,
        );
        check(
            500,
            "the request exceeds the available context size",
            ModelErrorKind::ContextOverflow,
        );
        check(500, "oops", ModelErrorKind::Server);
        check(529, "", ModelErrorKind::Server);
        check(400, "no such field", ModelErrorKind::Refused);
        check(404, "", ModelErrorKind::Refused);
        check(307, "", ModelErrorKind::Refused);
    }

    #[test]
    fn the_servers_own_words_are_found() {
        let check = |body: &str, reason: &str| {
            assert_eq!(
                Failure::of_status(400, None, body.as_bytes()).reason,
                format!("HTTP 400: {reason}")
            );
        };
        check(
            r#"{"error":{"message":"bad","type":"invalid","code":null}}"#,
            "bad (invalid)",
        );
        check(
            r#"{"error":{"message":"bad","type":"invalid","code":"x"}}"#,
            "bad (x)",
        );
        check(r#"[{"error":{"message":"bad"}}]"#, "bad");
        check(r#"{"error":"bad"}"#, "bad");
        check(r#"{"detail":"bad"}"#, "bad");
        check("bad\n", "bad");
        check("", "no further word");
    }
}
