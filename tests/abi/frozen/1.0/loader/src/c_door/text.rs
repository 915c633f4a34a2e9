//! Texts that come from the other side: pointer and length, of which nothing is known.

use openclaw_interface::abi::c;

/// The bytes of a text.
///
/// # Safety
///
/// `ptr` is NULL, or `len` bytes are readable at it while the answer is used. With length 0 it is not read.
///
/// # Errors
///
/// What is wrong with pointer or length, to go on behind the name of the text.
pub(super) unsafe fn bytes<'a>(ptr: *const u8, len: usize) -> Result<&'a [u8], String> {
    if len == 0 {
        return Ok(&[]);
    }
    if ptr.is_null() {
        return Err(format!("has {len} bytes at a NULL pointer"));
    }
    if len > c::MAX_ANSWER_BYTES {
        return Err(format!(
            "has {len} bytes, the limit is {}",
            c::MAX_ANSWER_BYTES
        ));
    }
    // SAFETY: not NULL, and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(ptr, len) })
}

/// `bytes` as text.
///
/// # Errors
///
/// It is no UTF-8.
pub(super) fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("is no UTF-8 (byte {at})")
    })
}

/// `bytes` as text of at most `limit` bytes; what is no UTF-8 is replaced, and a cut shows as an ellipsis.
pub(super) fn readable(bytes: &[u8], limit: usize) -> String {
    const ELLIPSIS: &str = "…";
    // No character is longer than four bytes: one that is cut here lies beyond the limit.
    let near = bytes.len().min(limit + 4);
    let mut text = String::from_utf8_lossy(&bytes[..near]).into_owned();
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit - ELLIPSIS.len()));
        text.push_str(ELLIPSIS);
    }
    text
}
