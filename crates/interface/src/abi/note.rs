//! The note: what a library says of itself to a reader that does not run it.
//!
//! On ELF it is a `PT_NOTE` with owner `OpenClaw`, on Mach-O the section `__DATA,__openclaw`, the same bytes on both.
//! It prevents accidents. It is no security boundary.

use crate::{CONTRACT_MAJOR, CONTRACT_MINOR};

/// Owner name of the note.
pub const NOTE_OWNER: &str = "OpenClaw";

const OWNER_BYTES: usize = 12;
const MAGIC: [u8; 8] = *b"OCENGINE";
const TOOLCHAIN_BYTES: usize = 64;
const ID_BYTES: usize = 128;
const DESC_BYTES: usize = size_of::<Desc>();
const UNLOADABLE: u16 = 1;

#[repr(C)]
struct Desc {
    magic: [u8; 8],
    contract_major: u16,
    contract_minor: u16,
    panic: u8,
    pointer_width: u8,
    flags: u16,
    toolchain: [u8; TOOLCHAIN_BYTES],
    engine_id: [u8; ID_BYTES],
}

/// The note as it lies in the file: an ELF note header, the owner, the description.
#[repr(C, align(4))]
pub struct Note {
    owner_bytes: u32,
    desc_bytes: u32,
    kind: u32,
    owner: [u8; OWNER_BYTES],
    desc: Desc,
}

impl Note {
    /// The note of an engine, made at compile time by [`export_engine!`](crate::export_engine).
    ///
    /// # Panics
    ///
    /// Stops the compilation when `engine_id` is not a valid engine id or is reserved.
    #[must_use]
    pub const fn new(engine_id: &str, unwinds: bool) -> Self {
        assert!(!engine_id.is_empty(), "an engine id must not be empty");
        assert!(
            engine_id.len() <= ID_BYTES,
            "an engine id takes at most 128 bytes"
        );
        assert!(
            is_engine_id(engine_id),
            "an engine id is made of lower-case letters, digits, `-`, `_` and `.`, and starts with a letter or digit"
        );
        assert!(
            !matches!(engine_id.as_bytes(), b"legacy" | b"none"),
            "this engine id is reserved"
        );
        Self {
            owner_bytes: NOTE_OWNER.len() as u32 + 1,
            desc_bytes: DESC_BYTES as u32,
            kind: 1,
            owner: padded(NOTE_OWNER),
            desc: Desc {
                magic: MAGIC,
                contract_major: CONTRACT_MAJOR,
                contract_minor: CONTRACT_MINOR,
                panic: if unwinds { 1 } else { 2 },
                pointer_width: size_of::<usize>() as u8,
                flags: 0,
                toolchain: padded(env!("OPENCLAW_TOOLCHAIN")),
                engine_id: padded(engine_id),
            },
        }
    }

    /// The same note, with the author's word that the library may be unmapped once its objects are gone: it has no
    /// thread that outlives them, and leaves nothing behind that the process would call later.
    #[must_use]
    pub const fn unloadable(mut self) -> Self {
        self.desc.flags |= UNLOADABLE;
        self
    }
}

/// Whether `id` has the form of an engine id.
const fn is_engine_id(id: &str) -> bool {
    let bytes = id.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        let inner = matches!(bytes[index], b'-' | b'_' | b'.') && index > 0;
        if !(bytes[index].is_ascii_lowercase() || bytes[index].is_ascii_digit() || inner) {
            return false;
        }
        index += 1;
    }
    !bytes.is_empty()
}

/// `text` followed by zeros, cut where it does not fit.
const fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let mut index = 0;
    while index < text.len() && index < N {
        bytes[index] = text.as_bytes()[index];
        index += 1;
    }
    bytes
}

/// What happens in a library when code in it panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanicStrategy {
    /// The stack unwinds and the guard catches it.
    Unwind,
    /// The process ends. A host refuses such a library.
    Abort,
    /// A value this version does not know.
    Unknown(u8),
}

/// The note as read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteFacts {
    /// Major version of the contract the library was built for.
    pub contract_major: u16,
    /// Minor version of the contract the library was built for.
    pub contract_minor: u16,
    /// What a panic does.
    pub panic: PanicStrategy,
    /// Size of a pointer in bytes.
    pub pointer_bytes: u8,
    /// Whether its author says that it may be unmapped; see [`Note::unloadable`].
    pub is_unloadable: bool,
    /// The compiler, for display only.
    pub toolchain: String,
    /// The engine the library brings.
    pub engine_id: String,
}

impl NoteFacts {
    /// Reads a note's description. `None` when `desc` is too short, has another magic or an id that is no text.
    ///
    /// Numbers are little-endian, as on every target this contract is built for. A longer description is a newer one:
    /// what follows is ignored.
    #[must_use]
    pub fn read(desc: &[u8]) -> Option<Self> {
        let rest = desc.get(..DESC_BYTES)?.strip_prefix(&MAGIC)?;
        let (fixed, texts) = rest.split_at_checked(8)?;
        let (toolchain, engine_id) = texts.split_at_checked(TOOLCHAIN_BYTES)?;
        Some(Self {
            contract_major: u16::from_le_bytes([fixed[0], fixed[1]]),
            contract_minor: u16::from_le_bytes([fixed[2], fixed[3]]),
            panic: match fixed[4] {
                1 => PanicStrategy::Unwind,
                2 => PanicStrategy::Abort,
                other => PanicStrategy::Unknown(other),
            },
            pointer_bytes: fixed[5],
            is_unloadable: u16::from_le_bytes([fixed[6], fixed[7]]) & UNLOADABLE != 0,
            toolchain: text(toolchain).unwrap_or_default(),
            engine_id: text(engine_id)?,
        })
    }

    /// Reads a whole note, header and owner included, as it lies in a Mach-O section.
    #[must_use]
    pub fn read_whole(note: &[u8]) -> Option<Self> {
        let (header, desc) = note.split_at_checked(12 + OWNER_BYTES)?;
        let owner: [u8; OWNER_BYTES] = padded(NOTE_OWNER);
        (header[12..] == owner).then(|| Self::read(desc)).flatten()
    }
}

fn text(padded: &[u8]) -> Option<String> {
    let end = padded
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(padded.len());
    String::from_utf8(padded[..end].to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(note: &Note) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(note.owner_bytes.to_le_bytes());
        bytes.extend(note.desc_bytes.to_le_bytes());
        bytes.extend(note.kind.to_le_bytes());
        bytes.extend(note.owner);
        bytes.extend(note.desc.magic);
        bytes.extend(note.desc.contract_major.to_le_bytes());
        bytes.extend(note.desc.contract_minor.to_le_bytes());
        bytes.extend([note.desc.panic, note.desc.pointer_width]);
        bytes.extend(note.desc.flags.to_le_bytes());
        bytes.extend(note.desc.toolchain);
        bytes.extend(note.desc.engine_id);
        bytes
    }

    #[test]
    fn note_reads_back_as_written() {
        let facts = NoteFacts::read_whole(&bytes_of(&Note::new("my-engine.2", true))).unwrap();
        assert_eq!(facts.engine_id, "my-engine.2");
        assert_eq!(facts.panic, PanicStrategy::Unwind);
        assert_eq!(
            (facts.contract_major, facts.contract_minor),
            (CONTRACT_MAJOR, CONTRACT_MINOR)
        );
        assert!(facts.toolchain.starts_with("rustc "), "{}", facts.toolchain);
    }

    #[test]
    fn library_is_unloadable_only_when_its_note_says_so() {
        let is_unloadable = |note: &Note| {
            NoteFacts::read_whole(&bytes_of(note)).is_some_and(|facts| facts.is_unloadable)
        };
        assert!(!is_unloadable(&Note::new("e", true)));
        assert!(is_unloadable(&Note::new("e", true).unloadable()));
    }

    #[test]
    fn cut_or_foreign_note_is_no_note() {
        let bytes = bytes_of(&Note::new("e", false));
        for end in 0..bytes.len() {
            assert_eq!(NoteFacts::read_whole(&bytes[..end]), None, "cut at {end}");
        }
        let mut foreign = bytes.clone();
        foreign[12] = b'X';
        assert_eq!(NoteFacts::read_whole(&foreign), None);
        assert_eq!(
            NoteFacts::read_whole(&bytes).map(|facts| facts.panic),
            Some(PanicStrategy::Abort)
        );
    }

    #[test]
    fn engine_ids_have_one_form() {
        for good in ["a", "7", "window", "my-engine_2.x"] {
            assert!(is_engine_id(good), "{good}");
        }
        for bad in ["", "-a", "../x", "A", "a b", "ä", "a/b", "__proto__"] {
            assert!(!is_engine_id(bad), "{bad}");
        }
    }
}
