//! Cuts pieces of bytes into lines. Linear in the input, however it is cut.

use super::failure::Failure;

/// More than any provider sends in one line.
pub(super) const MAX_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Lines {
    unfinished: Vec<u8>,
}

impl Lines {
    /// The lines that the next bytes complete, without their line feeds.
    ///
    /// # Errors
    ///
    /// When a line is larger than 16 MiB.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
        let mut finished = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        let mut piece = pieces.next().unwrap_or_default();
        loop {
            if self.unfinished.len() + piece.len() > MAX_BYTES {
                return Err(Failure::bad_answer(
                    "a line of the stream is larger than 16 MiB",
                ));
            }
            self.unfinished.extend_from_slice(piece);
            // The last piece is an unfinished line.
            let Some(next) = pieces.next() else {
                return Ok(finished);
            };
            finished.push(self.finish());
            piece = next;
        }
    }

    /// The last line, which no line feed ended.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.unfinished)
    }
}
