//! One event as OpenClaw stores it: as text, or packed with zstd.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// Bytes an unpacked event may have, as OpenClaw itself bounds it.
pub(super) const MAX_EVENT_BYTES: u64 = 4 * 1024 * 1024;

pub(super) enum Event<'a> {
    Text(&'a [u8]),
    Packed { frame: &'a [u8], bytes: u64 },
}

impl<'a> Event<'a> {
    /// Reads the columns `event_json`, `event_zstd` and `event_utf8_bytes` behind the first.
    pub(super) fn read(row: &'a Row<'_>) -> Result<Self, String> {
        let column = |index| row.get_ref(index).map_err(|error| error.to_string());
        match (column(1)?, column(2)?, column(3)?) {
            (ValueRef::Text(text) | ValueRef::Blob(text), _, _) => Ok(Self::Text(text)),
            (_, ValueRef::Blob(frame), ValueRef::Integer(bytes)) => match u64::try_from(bytes) {
                Ok(bytes) if bytes <= MAX_EVENT_BYTES => Ok(Self::Packed { frame, bytes }),
                _ => Err(format!(
                    "it says to have {bytes} bytes, the limit is {MAX_EVENT_BYTES}"
                )),
            },
            (_, ValueRef::Blob(_), _) => Err("its size is missing".to_owned()),
            _ => Err("it is neither text nor packed".to_owned()),
        }
    }

    /// The event as one line, without its ending.
    pub(super) fn into_line(self, line: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Self::Text(text) => line.extend_from_slice(text),
            Self::Packed { frame, bytes } => unpack(frame, bytes, line)?,
        }
        // Between the members of an object a line break is white space; inside a string it would be no JSON.
        for byte in line {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        Ok(())
    }
}

fn unpack(frame: &[u8], bytes: u64, line: &mut Vec<u8>) -> Result<(), String> {
    let broken = |error: &dyn std::fmt::Display| format!("its zstd frame cannot be read: {error}");
    let mut decoder = StreamingDecoder::new_with_max_window_size(frame, 2 * MAX_EVENT_BYTES)
        .map_err(|error| broken(&error))?;
    decoder
        .by_ref()
        .take(bytes + 1)
        .read_to_end(line)
        .map_err(|error| broken(&error))?;
    let found = line.len() as u64;
    if found > bytes {
        return Err(format!("it says to have {bytes} bytes and has more"));
    }
    if found < bytes {
        return Err(format!("it says to have {bytes} bytes and has {found}"));
    }
    Ok(())
}
