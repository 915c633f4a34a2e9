//! A file a turn: a header line, and the messages behind it. An honest write is whole or absent, and durable when it
//! returns.

use openclaw_interface::Messages;
use openclaw_interface::model::CommitParams;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Bytes a dishonest write puts down at a time.
const PIECE_BYTES: usize = 16 * 1024;

/// A turn to store.
#[derive(Clone)]
pub(crate) struct Turn {
    header: Header,
    body: Vec<u8>,
}

/// The first line of a turn's file.
#[derive(Clone, Serialize, Deserialize)]
struct Header {
    place: u64,
    key: String,
    messages: usize,
    hash: u64,
}

impl Turn {
    pub(crate) fn new(messages: Messages<'_>, params: &CommitParams) -> Self {
        let mut body = Vec::new();
        for message in messages.iter() {
            body.extend_from_slice(message.json().as_bytes());
            body.push(b'\n');
        }
        let hash = body.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let header = Header {
            place: params.admission.raw_seq,
            key: params.advancement_key.clone(),
            messages: messages.len(),
            hash,
        };
        Self { header, body }
    }

    pub(crate) fn key(&self) -> &str {
        &self.header.key
    }

    fn header_line(&self) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(&self.header)?;
        line.push(b'\n');
        Ok(line)
    }

    /// What a model is told of it, with its place in the order of turns.
    fn told(header: &Header, bytes: u64) -> (u64, String) {
        let Header {
            place,
            key,
            messages,
            hash,
        } = header;
        (
            *place,
            format!("{key}: {messages} messages, {bytes} bytes, {hash:016x}"),
        )
    }

    /// The same for a turn that is not on disk.
    pub(crate) fn told_unwritten(&self) -> io::Result<(u64, String)> {
        let bytes = self.header_line()?.len() + self.body.len();
        Ok(Self::told(&self.header, bytes as u64))
    }
}

/// The turns on disk.
pub(crate) struct Store {
    directory: PathBuf,
}

impl Store {
    pub(crate) fn open(agent_dir: &Path) -> io::Result<Self> {
        let directory = agent_dir.join("liar");
        fs::create_dir_all(&directory)?;
        Ok(Self { directory })
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.path(key).exists()
    }

    /// Writes a turn, unless its key is there; false when it was.
    pub(crate) fn write(&self, turn: &Turn) -> io::Result<bool> {
        let staged = self.stage(turn)?;
        let linked = fs::hard_link(&staged, self.path(turn.key()));
        fs::remove_file(&staged)?;
        match linked {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            linked => linked?,
        }
        File::open(&self.directory)?.sync_all()?;
        Ok(true)
    }

    /// Writes a turn over one that has its key.
    pub(crate) fn overwrite(&self, turn: &Turn) -> io::Result<()> {
        fs::rename(self.stage(turn)?, self.path(turn.key()))
    }

    /// Writes a turn that can be seen half.
    pub(crate) fn write_in_pieces(&self, turn: &Turn) -> io::Result<()> {
        let mut file = File::create(self.path(turn.key()))?;
        file.write_all(&turn.header_line()?)?;
        file.sync_all()?;
        for piece in turn.body.chunks(PIECE_BYTES) {
            file.write_all(piece)?;
            file.sync_all()?;
        }
        Ok(())
    }

    fn stage(&self, turn: &Turn) -> io::Result<PathBuf> {
        let staged = self
            .directory
            .join(format!("{}.staged", std::process::id()));
        let mut file = File::create(&staged)?;
        file.write_all(&turn.header_line()?)?;
        file.write_all(&turn.body)?;
        file.sync_all()?;
        Ok(staged)
    }

    /// What a model is told of each turn, by its place.
    pub(crate) fn told(&self) -> io::Result<Vec<(u64, String)>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == "turn") {
                let file = File::open(&path)?;
                let bytes = file.metadata()?.len();
                let mut line = String::new();
                BufReader::new(file).read_line(&mut line)?;
                all.push(Turn::told(&serde_json::from_str(&line)?, bytes));
            }
        }
        Ok(all)
    }

    /// A line at the end of a note.
    pub(crate) fn note(&self, name: &str, line: &str) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true);
        writeln!(file.open(self.directory.join(name))?, "{line}")
    }

    /// All lines of a note.
    pub(crate) fn notes(&self, name: &str) -> String {
        fs::read_to_string(self.directory.join(name)).unwrap_or_default()
    }

    fn path(&self, key: &str) -> PathBuf {
        let name: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
        self.directory.join(format!("{name}.turn"))
    }
}
