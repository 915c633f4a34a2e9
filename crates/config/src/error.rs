//! Why a config file cannot be used.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::key_path::KeyPath;
use crate::syntax::SyntaxFault;

/// A config file cannot be read, or a part of it does not mean anything.
#[derive(Debug, thiserror::Error)]
#[error("cannot use config {}", path.display())]
pub struct ConfigError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub kind: ConfigErrorKind,
}

/// What is wrong with a config file. The file is untouched in every case.
#[derive(Debug, thiserror::Error)]
pub enum ConfigErrorKind {
    /// The path is a directory.
    #[error("it is a directory")]
    Directory,
    /// The path is a pipe, a socket or a device: opening it could wait for ever.
    #[error("it is not a regular file")]
    NotAFile,
    /// The file exists and holds nothing; it was most likely cut short.
    #[error("the file is empty")]
    Empty,
    /// No permission to read it.
    #[error("no permission to read it")]
    PermissionDenied,
    /// Not UTF-8.
    #[error("not UTF-8 from byte {offset}")]
    NotUtf8 {
        /// Bytes that are valid before the first wrong one.
        offset: usize,
    },
    /// The system could not read it.
    #[error("reading failed")]
    Io(#[source] io::Error),
    /// Not JSON5, a key given twice, or nested too deep.
    #[error(transparent)]
    Syntax(SyntaxFault),
    /// Well-formed, but some keys hold what cannot be there. Never empty.
    #[error("{}", join(.0))]
    Invalid(Vec<KeyFault>),
    /// The part lives in another file.
    #[error("`{key}` is taken from {}", file.display())]
    Included {
        /// The key that holds `$include`.
        key: KeyPath,
        /// The file it names, as an absolute path when the config's own path is one.
        file: PathBuf,
    },
}

/// One key that holds what cannot be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFault {
    /// The key.
    pub key: KeyPath,
    /// Line it stands on, from 1; `None` when the place could not be found.
    pub line: Option<usize>,
    /// What is wrong with it.
    pub problem: KeyProblem,
}

/// What is wrong with one key. Holds types and names, never the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyProblem {
    /// No such key exists here.
    Unknown {
        /// The keys that do.
        known: &'static [&'static str],
    },
    /// The value has another type.
    WrongType {
        /// The wanted type, with article.
        wanted: &'static str,
        /// The found type, with article.
        found: &'static str,
    },
    /// A number outside its range.
    OutOfRange {
        /// The range, in words.
        wanted: &'static str,
    },
    /// A text of another form.
    WrongForm {
        /// The form, in words.
        wanted: &'static str,
    },
    /// A value that must be there is missing or blank.
    Missing,
}

impl ConfigError {
    /// Short stable code of the kind, such as `config/syntax`.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// What to do next.
    pub fn help(&self) -> String {
        self.kind.help(&self.path)
    }

    pub(crate) fn new(path: &Path, kind: ConfigErrorKind) -> Self {
        Self {
            path: path.to_owned(),
            kind,
        }
    }
}

impl ConfigErrorKind {
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Directory => "config/directory",
            Self::NotAFile => "config/not-a-file",
            Self::Empty => "config/empty",
            Self::PermissionDenied => "config/permission",
            Self::NotUtf8 { .. } => "config/not-utf8",
            Self::Io(_) => "config/io",
            Self::Syntax(fault) => fault.code(),
            Self::Invalid(_) => "config/invalid",
            Self::Included { .. } => "config/included",
        }
    }

    pub(crate) fn help(&self, path: &Path) -> String {
        let backup = crate::write::backup_of(path);
        let backup = backup.is_file().then(|| backup.display().to_string());
        let path = path.display();
        match self {
            Self::Directory | Self::NotAFile => {
                format!("move {path} away, or point OPENCLAW_CONFIG_PATH at a file")
            }
            Self::Empty => match backup {
                Some(backup) => {
                    format!("restore it from {backup}, or delete it to start with an empty one")
                }
                None => format!("restore {path}, or delete it to start with an empty one"),
            },
            Self::PermissionDenied => {
                format!("give the user who runs this read access to {path}")
            }
            Self::NotUtf8 { .. } => format!("save {path} as UTF-8"),
            Self::Io(_) => format!("check that {path} can be read"),
            Self::Syntax(fault) => {
                let former = backup
                    .map(|backup| format!("; the former version may be in {backup}"))
                    .unwrap_or_default();
                format!("correct line {} of {path}{former}", fault.line)
            }
            Self::Invalid(faults) => match faults.first() {
                Some(KeyFault {
                    key,
                    problem: KeyProblem::Unknown { known },
                    ..
                }) => format!("remove or rename `{key}`; known here: {}", known.join(", ")),
                Some(KeyFault { key, .. }) => format!("correct `{key}` in {path}"),
                None => format!("correct {path}"),
            },
            Self::Included { key, file } => format!(
                "move `{key}` from {} into {path}, in place of `$include`",
                file.display()
            ),
        }
    }
}

impl fmt::Display for KeyFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}`", self.key)?;
        if let Some(line) = self.line {
            write!(out, " (line {line})")?;
        }
        match &self.problem {
            KeyProblem::Unknown { .. } => out.write_str(" is not a known key"),
            KeyProblem::WrongType { wanted, found } => {
                write!(out, " must be {wanted}, found {found}")
            }
            KeyProblem::OutOfRange { wanted } | KeyProblem::WrongForm { wanted } => {
                write!(out, " must be {wanted}")
            }
            KeyProblem::Missing => out.write_str(" is missing or blank"),
        }
    }
}

fn join(faults: &[KeyFault]) -> String {
    let texts: Vec<String> = faults.iter().map(KeyFault::to_string).collect();
    texts.join("; ")
}
