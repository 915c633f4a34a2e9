//! Where the lines of a transcript come from.

use openclaw_transcript::MAX_LINE_BYTES;
use std::io::{self, BufRead, Seek, SeekFrom};

/// The lines of a transcript. They can be read again from the start.
pub trait TranscriptLines {
    /// Puts the next line with its ending into `line`, replacing what is there; `false` at the end. Of a line longer than
    /// [`MAX_LINE_BYTES`] the start is enough to be told so.
    ///
    /// # Errors
    ///
    /// The source cannot be read.
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool>;

    /// Goes back to the first line.
    ///
    /// # Errors
    ///
    /// The source cannot be read.
    fn rewind(&mut self) -> io::Result<()>;

    /// Bytes read since the first line.
    fn bytes_read(&self) -> u64;

    /// Bytes of all lines, where known.
    fn bytes_total(&self) -> Option<u64>;
}

/// The lines of a file, as long as it was when it was opened. Keeps one line in memory.
#[derive(Debug)]
pub struct FileLines<R> {
    reader: R,
    read: u64,
    total: u64,
}

impl<R: BufRead + Seek> FileLines<R> {
    /// Measures the file and goes to its start.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn new(mut reader: R) -> io::Result<Self> {
        let total = reader.seek(SeekFrom::End(0))?;
        reader.rewind()?;
        Ok(Self {
            reader,
            read: 0,
            total,
        })
    }
}

impl<R: BufRead + Seek> TranscriptLines for FileLines<R> {
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        while self.read < self.total {
            let ready = self.reader.fill_buf()?;
            if ready.is_empty() {
                return Err(io::Error::other(
                    "the file became shorter while it was read",
                ));
            }
            let left = usize::try_from(self.total - self.read).unwrap_or(usize::MAX);
            let ready = &ready[..ready.len().min(left)];
            let end = ready.iter().position(|byte| *byte == b'\n');
            let piece = &ready[..end.map_or(ready.len(), |end| end + 1)];
            // The rest of a line that is too long is passed over; two more bytes may be its ending.
            let room = (MAX_LINE_BYTES + 2).saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            let taken = piece.len();
            self.reader.consume(taken);
            self.read += taken as u64;
            if end.is_some() {
                return Ok(true);
            }
        }
        Ok(!line.is_empty())
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.reader.rewind()?;
        self.read = 0;
        Ok(())
    }

    fn bytes_read(&self) -> u64 {
        self.read
    }

    fn bytes_total(&self) -> Option<u64> {
        Some(self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Cursor};

    fn lines(bytes: &[u8], buffer: usize) -> Vec<Vec<u8>> {
        let reader = BufReader::with_capacity(buffer, Cursor::new(bytes));
        let mut lines = FileLines::new(reader).unwrap();
        let (mut line, mut all) = (Vec::new(), Vec::new());
        while lines.next_line(&mut line).unwrap() {
            all.push(line.clone());
        }
        assert_eq!(lines.bytes_read(), bytes.len() as u64);
        all
    }

    #[test]
    fn lines_are_the_same_whatever_the_buffer() {
        let text = b"one\n\ntwo\r\nthree and no end";
        let expected: Vec<Vec<u8>> = text
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        for buffer in 1..=text.len() + 1 {
            assert_eq!(lines(text, buffer), expected, "{buffer}");
        }
        assert_eq!(lines(b"", 8), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn line_that_is_too_long_is_kept_up_to_the_limit_and_passed_over() {
        let mut text = vec![b'x'; 2 * MAX_LINE_BYTES];
        text.extend(b"\nnext\n");
        let lines = lines(&text, 1 << 16);
        let sizes: Vec<usize> = lines.iter().map(Vec::len).collect();
        assert_eq!(sizes, [MAX_LINE_BYTES + 2, 5]);
    }

    #[test]
    fn file_is_read_as_long_as_it_was_and_not_shorter() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"one\ntwo\n").unwrap();
        let mut other = file.try_clone().unwrap();
        let mut lines = FileLines::new(BufReader::with_capacity(2, file)).unwrap();
        let mut line = Vec::new();
        assert!(lines.next_line(&mut line).unwrap());
        other.seek(SeekFrom::End(0)).unwrap();
        io::Write::write_all(&mut other, b"three\n").unwrap();
        lines.rewind().unwrap();
        let mut count = 0;
        while lines.next_line(&mut line).unwrap() {
            count += 1;
        }
        assert_eq!(count, 2);
        other.set_len(4).unwrap();
        lines.rewind().unwrap();
        assert!(lines.next_line(&mut line).unwrap());
        assert!(lines.next_line(&mut line).is_err());
    }
}
