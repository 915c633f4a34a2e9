//! One id in the form a scheme wants.

use sha2::{Digest, Sha256};

use crate::replay::policy::{CallIds, NativeIds};

const STRICT_CHARS: usize = 40;
const NINE_CHARS: usize = 9;
const RESPONSES_CHARS: usize = 64;
const DEFAULT: &str = "defaulttoolid";

/// The form of an id that nobody has yet.
pub(super) fn plain(scheme: CallIds, original: &str) -> String {
    let clean: String = original
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    match scheme {
        CallIds::Strict(native) if is_native(native, original) => original.to_owned(),
        CallIds::Nine if clean.len() == NINE_CHARS => clean,
        CallIds::Nine if clean.len() > NINE_CHARS => clean[..NINE_CHARS].to_owned(),
        CallIds::Nine => hash(original, NINE_CHARS),
        _ if clean.is_empty() => DEFAULT.to_owned(),
        _ => clean[..clean.len().min(STRICT_CHARS)].to_owned(),
    }
}

/// The form of an id whose plain form another original has.
pub(super) fn hashed(scheme: CallIds, plain: &str, original: &str) -> String {
    match scheme {
        CallIds::Nine => hash(original, NINE_CHARS),
        _ => suffixed(plain, &hash(original, 8), STRICT_CHARS),
    }
}

/// The form of an original's later use.
pub(super) fn counted(scheme: CallIds, base: &str, count: u32) -> String {
    match scheme {
        CallIds::Nine => suffixed(base, &count.to_string(), NINE_CHARS),
        _ => suffixed(base, &count.to_string(), STRICT_CHARS),
    }
}

/// `base` and `suffix` in at most `max_chars` letters and digits: the base gives way.
fn suffixed(base: &str, suffix: &str, max_chars: usize) -> String {
    let base = base.chars().filter(char::is_ascii_alphanumeric);
    let base: String = base.take(max_chars.saturating_sub(suffix.len())).collect();
    format!("{base}{suffix}")
}

fn is_native(native: NativeIds, id: &str) -> bool {
    let is_word = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    };
    match native {
        NativeIds::None => false,
        NativeIds::Anthropic => {
            id.len() <= RESPONSES_CHARS && id.strip_prefix("toolu_").is_some_and(is_word)
        }
        NativeIds::Kimi => id
            .strip_prefix("functions.")
            .and_then(|rest| rest.split_once(':'))
            .is_some_and(|(name, count)| {
                is_word(name)
                    && !count.is_empty()
                    && count.bytes().all(|byte| byte.is_ascii_digit())
            }),
    }
}

/// An id for the responses family: `<call id>` or `<call id>|<item id>`, each in its own form.
pub(super) fn responses(original: &str) -> String {
    match original.split_once('|') {
        None => part(original, "call_"),
        Some((call, item)) => format!("{}|{}", part(call, "call_"), part(item, "fc_")),
    }
}

fn part(id: &str, prefix: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let fits = id.len() <= RESPONSES_CHARS && id.chars().all(is_word);
    if fits
        && ["call_", "fc_"]
            .iter()
            .any(|prefix| id.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()))
    {
        return id.to_owned();
    }
    let hash = hash(id, 10);
    let room = RESPONSES_CHARS - prefix.len() - 1 - hash.len();
    let rest = id.strip_prefix(prefix).unwrap_or(id);
    let clean: String = rest.chars().filter(|c| is_word(*c)).take(room).collect();
    if clean.is_empty() {
        format!("{prefix}{hash}")
    } else {
        format!("{prefix}{clean}_{hash}")
    }
}

/// The first hexadecimal digits of a text's SHA-256.
fn hash(text: &str, digits: usize) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    hex[..digits].to_owned()
}
