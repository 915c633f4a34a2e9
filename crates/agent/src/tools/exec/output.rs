//! What a command says, however much: its beginning and its end are kept, in bounded memory.

use std::collections::VecDeque;

const HEAD_BYTES: usize = 8 << 10;
const TAIL_BYTES: usize = 32 << 10;

/// The beginning and the end of a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Output {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..over);
        self.left_out += over as u64;
    }

    /// As text: bytes that are no UTF-8, and zeros, replaced; a notice where something is left out.
    pub(super) fn text(&self) -> String {
        let (first, second) = self.tail.as_slices();
        let bytes = if self.left_out == 0 {
            [&self.head, first, second].concat()
        } else {
            let notice = format!("\n[... {} bytes of output left out ...]\n", self.left_out);
            [&self.head, notice.as_bytes(), first, second].concat()
        };
        String::from_utf8_lossy(&bytes).replace('\0', "\u{FFFD}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_are_kept() {
        let mut output = Output::default();
        output.push(b"start ");
        for _ in 0..1_000 {
            output.push(&[b'x'; 1_000]);
        }
        output.push(b" end\0\xFF");
        let text = output.text();
        assert!(text.starts_with("start xx") && text.ends_with(" end\u{FFFD}\u{FFFD}"));
        let left_out = 6 + 1_000_000 + 6 - HEAD_BYTES - TAIL_BYTES;
        assert!(text.contains(&format!(
            "\n[... {left_out} bytes of output left out ...]\n"
        )));
        assert!(text.len() < HEAD_BYTES + TAIL_BYTES + 100);
    }

    #[test]
    fn short_output_is_whole() {
        let mut output = Output::default();
        let text = "é".repeat(HEAD_BYTES);
        for byte in text.as_bytes() {
            output.push(&[*byte]);
        }
        assert_eq!(output.text(), text);
    }
}
