//! Base64, as far as it is looked at: whether a text is such, and the short form of a hash.

const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// How many bytes a text in the plain alphabet stands for; `None` when it is no base64. White space is ignored.
pub(crate) fn decoded_bytes(text: &str) -> Option<usize> {
    let (mut digits, mut padding) = (0usize, 0usize);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        match byte {
            b'=' => padding += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => digits += 1,
            _ => return None,
        }
    }
    let whole = digits > 0 && padding <= 2 && (digits + padding).is_multiple_of(4);
    whole.then(|| digits * 3 / 4)
}

/// Whether a text is base64 in either alphabet, with or without padding.
pub(crate) fn is_base64(text: &str) -> bool {
    let compact = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let (mut digits, mut padding, mut plain, mut url) = (0usize, 0usize, false, false);
    for byte in compact {
        match byte {
            b'=' => padding += 1,
            _ if padding > 0 => return false,
            b'+' | b'/' => plain = true,
            b'-' | b'_' => url = true,
            byte if byte.is_ascii_alphanumeric() => {}
            _ => return false,
        }
        digits += usize::from(byte != b'=');
    }
    // One digit left over holds six bits: no byte.
    digits > 0 && digits % 4 != 1 && padding <= 2 && !(plain && url)
}

/// The bytes in the URL-safe alphabet, without padding.
pub(crate) fn url_safe(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .fold(0u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            let index = (word >> (18 - 6 * digit)) & 63;
            text.push(char::from(URL_SAFE[index as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_texts_have_a_length() {
        for (text, bytes) in [
            ("AAAA", Some(3)),
            ("AA==", Some(1)),
            ("AAA=", Some(2)),
            ("AA\nAA", Some(3)),
            ("", None),
            ("A", None),
            ("AAA", None),
            ("A===", None),
            ("AA=A", None),
            ("AA-_", None),
            ("é+==", None),
        ] {
            assert_eq!(decoded_bytes(text), bytes, "{text}");
        }
    }

    #[test]
    fn signatures_may_be_in_either_alphabet_and_unpadded() {
        for text in ["c2ln", "c2l", "c2k=", "-_", "+/+/", " c2ln\n"] {
            assert!(is_base64(text), "{text}");
        }
        for text in ["", "c", "msg_!", "a-+a", "a=b", "é"] {
            assert!(!is_base64(text), "{text}");
        }
    }

    #[test]
    fn bytes_are_written_without_padding() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg"),
            (b"fo", "Zm8"),
            (b"foo", "Zm9v"),
            (b"\xff\xef\xfe", "_-_-"),
        ] {
            assert_eq!(url_safe(bytes), text);
        }
    }
}
