//! Makes builds of a library that differ, and puts them where a host looks.

use crate::plugins::library;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Where the library of `unloadable` says which build it is, and how much room the text has behind the mark.
const BUILD: &[u8] = b"@@build:first         ";
const MARK_BYTES: usize = 8;
const TEXT_BYTES: usize = 24;

/// Offsets in the description of a note.
const FLAGS: usize = 14;
const TOOLCHAIN: usize = 16;

/// A build of a plugin's library.
pub struct Build(Vec<u8>);

impl Build {
    /// As cargo built it.
    ///
    /// # Panics
    ///
    /// As [`library`].
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self(fs::read(library(name)).expect("a library can be read"))
    }

    /// The build of `unloadable` with this text.
    ///
    /// # Panics
    ///
    /// The text is longer than 24 bytes.
    #[must_use]
    pub fn named(text: &str) -> Self {
        static TEMPLATE: OnceLock<(Vec<u8>, usize)> = OnceLock::new();
        let (bytes, at) = TEMPLATE.get_or_init(|| {
            let build = Self::of("unloadable");
            let at = build.position(BUILD) + MARK_BYTES;
            (build.0, at)
        });
        let (mut build, at) = (Self(bytes.clone()), *at);
        let padded = format!("{text:TEXT_BYTES$}");
        build.0[at..at + TEXT_BYTES].copy_from_slice(padded.as_bytes());
        build
    }

    /// The same engine in another file: what the note says of the compiler is for display.
    ///
    /// # Panics
    ///
    /// The library has no note.
    #[must_use]
    pub fn variant(mut self, number: u32) -> Self {
        let at = self.note() + TOOLCHAIN;
        let text = format!("{number:010}");
        self.0[at..at + text.len()].copy_from_slice(text.as_bytes());
        self
    }

    /// The same without the author's word that it may be unmapped.
    ///
    /// # Panics
    ///
    /// The library has no note.
    #[must_use]
    pub fn not_unloadable(mut self) -> Self {
        let at = self.note() + FLAGS;
        self.0[at] &= !1;
        self
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Puts it into a build directory as a linker should: as a new file under the old name.
    ///
    /// # Panics
    ///
    /// It cannot be written.
    pub fn put(&self, name: &str, directory: &Path) {
        let target = directory.join(library(name).file_name().expect("a library has a name"));
        let staged = directory.join("staged");
        fs::write(&staged, &self.0).expect("a library can be written");
        fs::rename(staged, target).expect("a library can be replaced");
    }

    fn note(&self) -> usize {
        self.position(b"OCENGINE")
    }

    fn position(&self, wanted: &[u8]) -> usize {
        let mut windows = self.0.windows(wanted.len());
        windows
            .position(|window| window == wanted)
            .expect("the library has it")
    }
}
