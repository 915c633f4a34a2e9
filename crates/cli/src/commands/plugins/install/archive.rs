//! Unpacks `.zip`, `.tgz`, `.tar.gz` and `.tar` into a stage. Directories and regular files only.

use super::stage::{Refused, Stage};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use tar::EntryType;

/// A zip file is read as a whole to find its end.
const ZIP_LIMIT_BYTES: u64 = 256 << 20;
/// What a tar stream may hold beside its files: headers and padding of all entries, and more.
const TAR_LIMIT_BYTES: u64 = 1 << 30;

/// The formats, by file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Format {
    Zip,
    Tar,
    TarGz,
}

impl Format {
    /// The format that a file name says it has.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_lowercase();
        if name.ends_with(".zip") {
            Some(Self::Zip)
        } else if name.ends_with(".tgz") || name.ends_with(".tar.gz") {
            Some(Self::TarGz)
        } else if name.ends_with(".tar") {
            Some(Self::Tar)
        } else {
            None
        }
    }
}

/// Unpacks the archive at `path`.
pub(super) fn unpack(path: &Path, format: Format, stage: &mut Stage) -> Result<(), Refused> {
    let file = BufReader::new(File::open(path)?);
    match format {
        Format::Zip => zip(file, stage),
        Format::Tar => tar(file, stage),
        Format::TarGz => tar(MultiGzDecoder::new(file), stage),
    }
}

fn tar(stream: impl Read, stage: &mut Stage) -> Result<(), Refused> {
    let mut archive = tar::Archive::new(stream.take(TAR_LIMIT_BYTES));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = String::from_utf8(entry.path_bytes().into_owned())
            .map_err(|error| Refused(format!("a name is not UTF-8: {error}")))?;
        let is_executable = entry.header().mode()? & 0o100 != 0;
        match entry.header().entry_type() {
            EntryType::XGlobalHeader => {}
            EntryType::Directory => stage.directory(&name)?,
            EntryType::Regular | EntryType::Continuous => {
                let size = entry.size();
                let mut counted = Counted(&mut entry, 0);
                stage.file(&name, is_executable, &mut counted)?;
                if counted.1 != size {
                    return Err(Refused(format!("it ends within {name:?}")));
                }
            }
            other => {
                let kind = match other {
                    EntryType::Symlink | EntryType::Link => "a link",
                    EntryType::Char | EntryType::Block => "a device",
                    EntryType::Fifo => "a pipe",
                    _ => "no regular file",
                };
                return Err(Refused(format!("{name:?} is {kind}")));
            }
        }
    }
    // To the end, so that a check sum there is looked at.
    io::copy(&mut archive.into_inner(), &mut io::sink())?;
    Ok(())
}

fn zip(file: BufReader<File>, stage: &mut Stage) -> Result<(), Refused> {
    if file.get_ref().metadata()?.len() > ZIP_LIMIT_BYTES {
        return Err(Refused(format!(
            "it is larger than {ZIP_LIMIT_BYTES} bytes"
        )));
    }
    let broken = |error: zip::result::ZipError| Refused(error.to_string());
    let mut archive = zip::ZipArchive::new(file).map_err(broken)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(broken)?;
        let name = std::str::from_utf8(entry.name_raw())
            .map_err(|error| Refused(format!("a name is not UTF-8: {error}")))?
            .to_owned();
        let mode = entry.unix_mode().unwrap_or(0);
        // The kind of file, where the archive was made on a Unix.
        match mode & 0o170_000 {
            0 | 0o100_000 | 0o040_000 => {}
            0o120_000 => return Err(Refused(format!("{name:?} is a link"))),
            _ => return Err(Refused(format!("{name:?} is no regular file"))),
        }
        if entry.is_dir() {
            stage.directory(&name)?;
        } else {
            stage.file(&name, mode & 0o100 != 0, &mut entry)?;
        }
    }
    Ok(())
}

/// Counts what is read.
struct Counted<'a, R>(&'a mut R, u64);

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1 += read as u64;
        Ok(read)
    }
}
