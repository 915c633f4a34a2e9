//! Identifiers that a summary must carry letter by letter: addresses, paths, hosts, long numbers and hashes.

/// Identifiers that a summary is held to.
pub(super) const KEPT_IDENTIFIERS: usize = 12;
const MIN_CHARS: usize = 4;
/// Longer ones would crowd out the summary.
const MAX_CHARS: usize = 256;
const HEX_RUN: usize = 8;
const DIGIT_RUN: usize = 6;

/// The identifiers in a text, in order, each once.
///
/// URLs, absolute paths of two parts and more, Windows paths, `host.name:port`, and words that hold eight hex digits or
/// six decimal ones in a row. Hashes are written in capitals; decimal fractions are no identifiers.
///
/// Source: compaction, "Safeguard mode".
#[must_use]
pub fn identifiers(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for token in text.split(is_border) {
        for word in words(token) {
            let fits = (MIN_CHARS..=MAX_CHARS).contains(&word.len());
            let identifier = fits.then(|| identifier(word)).flatten();
            found.extend(identifier);
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|one| seen.insert(one.clone()));
    found
}

/// Whether a summary carries an identifier.
pub(super) fn carries(summary: &str, identifier: &str) -> bool {
    summary.contains(identifier)
        || is_hash(identifier) && summary.to_ascii_uppercase().contains(identifier)
}

fn is_border(c: char) -> bool {
    c.is_whitespace() || "\"'`()[]{}<>,;".contains(c)
}

/// The words of a token; an address is one word whatever signs it holds.
fn words(token: &str) -> impl Iterator<Item = &str> {
    let address = token.find("://").map(|at| {
        let scheme = token[..at].rfind(|c: char| !c.is_ascii_alphanumeric());
        scheme.map_or(0, |before| {
            before + token[before..].chars().next().map_or(1, char::len_utf8)
        })
    });
    let address = address.map(|from| trimmed(&token[from..]));
    let others = token.split(['=', '|']).map(trimmed);
    let plain = address.is_none();
    address.into_iter().chain(others.filter(move |_| plain))
}

fn trimmed(word: &str) -> &str {
    word.trim_end_matches(|c: char| ".,:;!?".contains(c))
        .trim_start_matches(':')
}

fn identifier(word: &str) -> Option<String> {
    if is_hash(word) {
        return Some(word.to_ascii_uppercase());
    }
    let is = is_address(word)
        || is_path(word)
        || is_windows_path(word)
        || is_host_with_port(word)
        || is_numbered(word);
    is.then(|| word.to_owned())
}

fn is_hash(word: &str) -> bool {
    word.len() >= HEX_RUN && word.bytes().all(|c| c.is_ascii_hexdigit())
}

fn is_address(word: &str) -> bool {
    word.split_once("://").is_some_and(|(scheme, rest)| {
        !rest.is_empty() && scheme.len() > 1 && scheme.bytes().all(|c| c.is_ascii_alphanumeric())
    })
}

fn is_path(word: &str) -> bool {
    word.strip_prefix('/').is_some_and(|rest| {
        let parts = rest.split('/').filter(|part| !part.is_empty());
        !rest.starts_with('/') && parts.count() >= 2
    })
}

fn is_windows_path(word: &str) -> bool {
    matches!(word.as_bytes(), [drive, b':', b'\\' | b'/', _, ..] if drive.is_ascii_alphabetic())
}

fn is_host_with_port(word: &str) -> bool {
    word.rsplit_once(':').is_some_and(|(host, port)| {
        (2..=5).contains(&port.len())
            && port.bytes().all(|c| c.is_ascii_digit())
            && host.contains('.')
            && host
                .bytes()
                .all(|c| c.is_ascii_alphanumeric() || b".-".contains(&c))
    })
}

fn is_numbered(word: &str) -> bool {
    let is_word = word
        .chars()
        .all(|c| c.is_alphanumeric() || "_-.#@/:\\~+%&?".contains(c));
    is_word
        && !is_decimal(word)
        && (longest(word, |c| c.is_ascii_hexdigit()) >= HEX_RUN
            || longest(word, |c| c.is_ascii_digit()) >= DIGIT_RUN)
}

fn is_decimal(word: &str) -> bool {
    word.contains('.') && word.parse::<f64>().is_ok()
}

fn longest(word: &str, of: impl Fn(char) -> bool) -> usize {
    let runs = word.split(|c| !of(c)).map(str::len);
    runs.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(identifiers(text), expected, "{text}");
    }

    #[test]
    fn what_must_be_kept_to_the_letter_is_found() {
        check(
            "open <https://a.example/x?y=1>.",
            &["https://a.example/x?y=1"],
        );
        check("see:https://a.example/x", &["https://a.example/x"]);
        check("path=/srv/a/b.txt, mode=0644", &["/srv/a/b.txt"]);
        check(r"D:\data\x.csv!", &[r"D:\data\x.csv"]);
        check("db-1.example.org:5432", &["db-1.example.org:5432"]);
        check("commit 0badcafe00, again 0BADCAFE00", &["0BADCAFE00"]);
        check("VAL-100512 and VAL-1005", &["VAL-100512"]);
        check("订单 987654 完成", &["987654"]);
    }

    #[test]
    fn what_looks_like_one_but_is_none_is_passed_over() {
        check("3.1415926535 12:30 1/2/3 and/or //x/y / /usr", &[]);
        check("2026-05-01T10:00:00.000Z", &[]);
        check("", &[]);
        check(&format!("/srv/{}", "a/".repeat(500)), &[]);
    }

    #[test]
    fn a_hash_counts_in_either_case() {
        assert!(carries("at 0badcafe00", "0BADCAFE00"));
        assert!(!carries("at 0badcafe", "0BADCAFE00"));
        assert!(!carries("/SRV/A", "/srv/a"));
    }
}
