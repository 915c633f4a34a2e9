//! Looks into a library file without running it.
//!
//! Pure: takes bytes, opens nothing.

use object::elf;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::read::macho::{FatArch, MachOFatFile32, MachOFile64};
use object::{Endianness, FileKind, Object, ObjectSection, ObjectSymbol};
use openclaw_interface::abi::{NOTE_OWNER, NoteFacts, PanicStrategy, ROOT_SYMBOL, c};
use openclaw_interface::{CONTRACT_MAJOR, CONTRACT_MINOR};

/// One of them is what a library hands the engine over with: the root module, or the table of the C door.
const ENTRY_SYMBOLS: [&str; 2] = [ROOT_SYMBOL, c::ENTRY_SYMBOL];

/// Libraries that one library may need, and the longest name of one.
const MAX_NEEDED: usize = 512;
const MAX_NAME_BYTES: usize = 4096;

/// What is known of an engine library that may be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryFacts {
    /// What the library says of itself.
    pub note: NoteFacts,
    /// Other libraries it needs.
    pub needed: Vec<String>,
}

/// Why a library file is refused before it is opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InspectFault {
    /// No library at all.
    #[error("not a shared library: {0}")]
    NotALibrary(String),
    /// A library for another system.
    #[error("built for {found}, this machine is {expected}")]
    WrongArchitecture {
        /// What the file is for.
        found: String,
        /// What this host is.
        expected: String,
    },
    /// The file ends too early.
    #[error("the file is cut off: it has {actual_bytes} bytes and describes {described_bytes}")]
    Truncated {
        /// Size of the file.
        actual_bytes: u64,
        /// Where its last described part ends.
        described_bytes: u64,
    },
    /// The file's own tables make no sense.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// A shared library that is no engine.
    #[error("not a context engine: it has no OpenClaw note")]
    NoNote,
    /// Built for another contract.
    #[error(
        "built for contract {found_major}.{found_minor}, this host speaks {CONTRACT_MAJOR}.{CONTRACT_MINOR}"
    )]
    ContractVersion {
        /// Major version in the note.
        found_major: u16,
        /// Minor version in the note.
        found_minor: u16,
    },
    /// A panic would end the host.
    #[error("built with panic = \"abort\": a panic in it would end the host")]
    PanicAborts,
    /// Shares the host's standard library.
    #[error("linked to the shared standard library {0}: its panic hook would replace the host's")]
    SharedStd(String),
    /// The note is there, the engine is not.
    #[error(
        "not a context engine: entry symbol {ROOT_SYMBOL} is missing, and so is {}",
        c::ENTRY_SYMBOL
    )]
    NoRootSymbol,
    /// Asks for a stack that can be executed.
    #[error("asks for an executable stack")]
    ExecutableStack,
}

impl InspectFault {
    /// Short and stable name of the kind.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotALibrary(_) => "load/not-a-library",
            Self::WrongArchitecture { .. } => "load/architecture",
            Self::Truncated { .. } => "load/truncated",
            Self::Damaged(_) => "load/damaged",
            Self::NoNote => "load/no-note",
            Self::ContractVersion { .. } => "load/contract-version",
            Self::PanicAborts => "load/panic-abort",
            Self::SharedStd(_) => "load/shared-std",
            Self::NoRootSymbol => "load/no-root-symbol",
            Self::ExecutableStack => "load/executable-stack",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotALibrary(_) | Self::NoNote => {
                "an engine is a cdylib whose crate writes `openclaw_interface::export_engine!`, or a C library with \
                 OPENCLAW_ENGINE_NOTE of openclaw_engine.h"
            }
            Self::WrongArchitecture { .. } => "build the engine for this machine",
            Self::Truncated { .. } | Self::Damaged(_) => {
                "copy or build it again; write a new file and rename it rather than writing in place"
            }
            Self::ContractVersion { .. } => {
                "rebuild the engine against the interface crate of this host, or update the host"
            }
            Self::PanicAborts => {
                "remove `panic = \"abort\"` from the profile the engine is built with"
            }
            Self::SharedStd(_) => "build without `-C prefer-dynamic`",
            Self::NoRootSymbol => {
                "export the engine with `openclaw_interface::export_engine!`, or openclaw_engine_c_v1 of \
                 openclaw_engine.h; do not strip dynamic symbols"
            }
            Self::ExecutableStack => "link with `-z noexecstack`",
        }
    }
}

/// Looks into a library file.
///
/// # Errors
///
/// The first reason, in the order of [`InspectFault`], why it must not be opened.
pub fn inspect(bytes: &[u8]) -> Result<LibraryFacts, InspectFault> {
    let (facts, has_entry) = match FileKind::parse(bytes) {
        Ok(FileKind::Elf64) => elf_facts(bytes)?,
        Ok(FileKind::MachO64) => mach_o_facts(bytes)?,
        Ok(FileKind::MachOFat32) => mach_o_facts(own_slice(bytes)?)?,
        Ok(FileKind::Elf32 | FileKind::MachO32) => {
            return Err(wrong_architecture("a 32-bit machine"));
        }
        Ok(kind) => return Err(InspectFault::NotALibrary(format!("it is {kind:?}"))),
        Err(_) if bytes.is_empty() => return Err(InspectFault::NotALibrary("it is empty".into())),
        Err(_) => return Err(InspectFault::NotALibrary("its format is unknown".into())),
    };
    let note = &facts.note;
    if note.contract_major != CONTRACT_MAJOR {
        return Err(InspectFault::ContractVersion {
            found_major: note.contract_major,
            found_minor: note.contract_minor,
        });
    }
    if usize::from(note.pointer_bytes) != size_of::<usize>() {
        return Err(wrong_architecture(&format!(
            "pointers of {} bytes",
            note.pointer_bytes
        )));
    }
    if note.panic != PanicStrategy::Unwind {
        return Err(InspectFault::PanicAborts);
    }
    if let Some(shared) = facts.needed.iter().find(|name| is_shared_std(name)) {
        return Err(InspectFault::SharedStd(shared.clone()));
    }
    if !has_entry {
        return Err(InspectFault::NoRootSymbol);
    }
    Ok(facts)
}

fn is_shared_std(library: &str) -> bool {
    library
        .rsplit('/')
        .next()
        .is_some_and(|name| name.starts_with("libstd-"))
}

fn damaged(error: object::Error) -> InspectFault {
    InspectFault::Damaged(error.to_string())
}

fn wrong_architecture(found: &str) -> InspectFault {
    InspectFault::WrongArchitecture {
        found: found.to_owned(),
        expected: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
    }
}

fn check_architecture(
    architecture: object::Architecture,
    endianness: Endianness,
) -> Result<(), InspectFault> {
    let own = match std::env::consts::ARCH {
        "x86_64" => object::Architecture::X86_64,
        "aarch64" => object::Architecture::Aarch64,
        _ => architecture,
    };
    if architecture == own && endianness == Endianness::default() {
        Ok(())
    } else {
        Err(wrong_architecture(&format!(
            "{architecture:?} ({endianness:?} endian)"
        )))
    }
}

/// Facts of an ELF file, and whether it defines an entry symbol.
fn elf_facts(bytes: &[u8]) -> Result<(LibraryFacts, bool), InspectFault> {
    if !cfg!(target_os = "linux") {
        return Err(wrong_architecture("an ELF system such as Linux"));
    }
    let header = elf::FileHeader64::<Endianness>::parse(bytes).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    check_elf_extent(bytes, header, endian)?;
    let file = ElfFile64::<Endianness>::parse(bytes).map_err(damaged)?;
    check_architecture(file.architecture(), endian)?;
    if header.e_type(endian) != elf::ET_DYN {
        return Err(InspectFault::NotALibrary(
            "it is an executable or object file".into(),
        ));
    }
    let mut note = None;
    let mut is_stack_described = false;
    for segment in file.elf_program_headers() {
        if segment.p_type(endian) == elf::PT_INTERP {
            return Err(InspectFault::NotALibrary("it is an executable".into()));
        }
        if segment.p_type(endian) == elf::PT_GNU_STACK {
            is_stack_described = true;
            if segment.p_flags(endian).contains(elf::PF_X) {
                return Err(InspectFault::ExecutableStack);
            }
        }
        note = note.or(elf_note(segment, endian, bytes)?);
    }
    let note = note.ok_or(InspectFault::NoNote)?;
    // The system takes silence for consent.
    if !is_stack_described {
        return Err(InspectFault::ExecutableStack);
    }
    let table = file.elf_dynamic_table().map_err(damaged)?;
    let mut needed = Vec::new();
    for entry in table.iter() {
        if entry.tag == elf::DT_NEEDED {
            needed.push(library_name(table.string(entry).map_err(damaged)?)?);
            check_count(&needed)?;
        }
    }
    let has_entry = file.dynamic_symbols().any(|symbol| {
        symbol.is_definition()
            && symbol
                .name()
                .is_ok_and(|name| ENTRY_SYMBOLS.contains(&name))
    });
    Ok((LibraryFacts { note, needed }, has_entry))
}

/// A damaged table names the same long text over and over: what is kept of it has a bound.
fn library_name(name: &[u8]) -> Result<String, InspectFault> {
    if name.len() > MAX_NAME_BYTES {
        let reason = format!("it needs a library whose name has {} bytes", name.len());
        return Err(InspectFault::Damaged(reason));
    }
    Ok(String::from_utf8_lossy(name).into_owned())
}

fn check_count(needed: &[String]) -> Result<(), InspectFault> {
    if needed.len() > MAX_NEEDED {
        let reason = format!("it needs more than {MAX_NEEDED} libraries");
        return Err(InspectFault::Damaged(reason));
    }
    Ok(())
}

/// Refuses a file that is shorter than its tables say: mapping it would be a bus error later.
fn check_elf_extent(
    bytes: &[u8],
    header: &elf::FileHeader64<Endianness>,
    endian: Endianness,
) -> Result<(), InspectFault> {
    let actual_bytes = bytes.len() as u64;
    let table_end = |offset: u64, count: u16, size: u16| {
        offset.saturating_add(u64::from(count) * u64::from(size))
    };
    let tables = [
        table_end(
            header.e_phoff(endian),
            header.e_phnum(endian),
            header.e_phentsize(endian),
        ),
        table_end(
            header.e_shoff(endian),
            header.e_shnum(endian),
            header.e_shentsize(endian),
        ),
    ];
    let mut described_bytes = tables.into_iter().max().unwrap_or(0);
    if described_bytes <= actual_bytes {
        let segments = header.program_headers(endian, bytes).map_err(damaged)?;
        let ends = segments
            .iter()
            .map(|it| it.p_offset(endian).saturating_add(it.p_filesz(endian)));
        described_bytes = ends.fold(described_bytes, u64::max);
    }
    if described_bytes > actual_bytes {
        return Err(InspectFault::Truncated {
            actual_bytes,
            described_bytes,
        });
    }
    Ok(())
}

fn elf_note(
    segment: &elf::ProgramHeader64<Endianness>,
    endian: Endianness,
    bytes: &[u8],
) -> Result<Option<NoteFacts>, InspectFault> {
    let Some(mut notes) = segment.notes(endian, bytes).map_err(damaged)? else {
        return Ok(None);
    };
    while let Some(note) = notes.next().map_err(damaged)? {
        if note.name() == NOTE_OWNER.as_bytes() {
            return NoteFacts::read(note.desc())
                .map(Some)
                .ok_or_else(|| InspectFault::Damaged("its OpenClaw note cannot be read".into()));
        }
    }
    Ok(None)
}

/// Facts of a Mach-O file, and whether it defines an entry symbol.
fn mach_o_facts(bytes: &[u8]) -> Result<(LibraryFacts, bool), InspectFault> {
    if !cfg!(target_vendor = "apple") {
        return Err(wrong_architecture("an Apple system"));
    }
    let file = MachOFile64::<Endianness>::parse(bytes).map_err(damaged)?;
    check_architecture(file.architecture(), file.endianness())?;
    if file.kind() != object::ObjectKind::Dynamic {
        return Err(InspectFault::NotALibrary(
            "it is an executable or object file".into(),
        ));
    }
    let section = file
        .section_by_name("__openclaw")
        .ok_or(InspectFault::NoNote)?;
    let note = NoteFacts::read_whole(section.data().map_err(damaged)?)
        .ok_or_else(|| InspectFault::Damaged("its OpenClaw note cannot be read".into()))?;
    let mut needed = mach_o_needed(&file)?;
    needed.sort();
    let has_entry = file.symbols().any(|symbol| {
        let name = symbol.name().ok().and_then(|name| name.strip_prefix('_'));
        symbol.is_definition() && name.is_some_and(|name| ENTRY_SYMBOLS.contains(&name))
    });
    Ok((LibraryFacts { note, needed }, has_entry))
}

fn mach_o_needed(file: &MachOFile64<'_, Endianness>) -> Result<Vec<String>, InspectFault> {
    let endian = file.endianness();
    let mut needed = Vec::new();
    let mut commands = file.macho_load_commands().map_err(damaged)?;
    while let Some(command) = commands.next().map_err(damaged)? {
        if let Some(dylib) = command.dylib().map_err(damaged)? {
            let name = command.string(endian, dylib.dylib.name).map_err(damaged)?;
            needed.push(library_name(name)?);
            check_count(&needed)?;
        }
    }
    Ok(needed)
}

/// The part of a universal file that is for this machine.
fn own_slice(bytes: &[u8]) -> Result<&[u8], InspectFault> {
    let file = MachOFatFile32::parse(bytes).map_err(damaged)?;
    let own = file
        .arches()
        .iter()
        .find(|arch| check_architecture(arch.architecture(), Endianness::default()).is_ok());
    own.ok_or_else(|| wrong_architecture("other machines only"))?
        .data(bytes)
        .map_err(damaged)
}
