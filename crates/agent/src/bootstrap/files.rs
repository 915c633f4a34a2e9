//! Which files are read, in both editions of the documents, and reading them.

use std::path::Path;

use crate::workspace::{AccessError, Workspace};

const MAX_FILE_BYTES: u64 = 2 << 20;

/// Which documents name the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edition {
    /// AGENTS, SOUL, IDENTITY, USER, BOOTSTRAP, MEMORY.
    #[default]
    Current,
    /// AGENTS, SOUL, TOOLS, IDENTITY, USER, HEARTBEAT, BOOTSTRAP.
    Early,
}

/// A file of the workspace that belongs into the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootstrapFile {
    /// Name, such as `AGENTS.md`.
    pub name: String,
    /// Absolute path, as shown to the model.
    pub path: String,
    /// What it says.
    pub text: FileText,
}

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileText {
    /// It should be there and is not, or could not be read.
    Missing,
    /// Its text; bytes that are no UTF-8 replaced.
    Read(String),
}

/// A file that is there and was not read.
#[derive(Debug, thiserror::Error)]
#[error("workspace file {name} is left out: {reason}")]
pub struct BootstrapFault {
    /// Name of the file.
    pub name: &'static str,
    /// Why.
    #[source]
    pub reason: AccessError,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// Named as missing when it is not there.
    Expected,
    /// Only when a file with exactly this name is there.
    Present,
    /// Like `Present`, until the workspace is set up.
    FirstRun,
}

impl Edition {
    fn files(self) -> &'static [(&'static str, When)] {
        match self {
            Self::Current => &[
                ("AGENTS.md", When::Expected),
                ("SOUL.md", When::Expected),
                ("IDENTITY.md", When::Expected),
                ("USER.md", When::Present),
                ("BOOTSTRAP.md", When::FirstRun),
                ("MEMORY.md", When::Present),
            ],
            Self::Early => &[
                ("AGENTS.md", When::Expected),
                ("SOUL.md", When::Expected),
                ("TOOLS.md", When::Expected),
                ("IDENTITY.md", When::Expected),
                ("USER.md", When::Expected),
                ("HEARTBEAT.md", When::Expected),
                ("BOOTSTRAP.md", When::FirstRun),
            ],
        }
    }
}

/// Reads the files of an edition, in order of the prompt.
///
/// - `is_first_run`: whether the workspace is not set up yet; only then `BOOTSTRAP.md` counts.
/// - Files above 2 MiB, links that lead out of the workspace and what is no file are faults and count as missing.
#[must_use]
pub fn read_bootstrap_files(
    workspace: &Workspace,
    edition: Edition,
    is_first_run: bool,
) -> (Vec<BootstrapFile>, Vec<BootstrapFault>) {
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    let names = workspace
        .names(Path::new("."), usize::MAX)
        .unwrap_or_default();
    for &(name, when) in edition.files() {
        // On file systems that ignore case, a file of another case would be found too.
        let is_there = names.iter().any(|found| found.name == name);
        let is_wanted = match when {
            When::Expected => true,
            When::Present => is_there,
            When::FirstRun => is_there && is_first_run,
        };
        if !is_wanted {
            continue;
        }
        let text = match workspace.read(Path::new(name), MAX_FILE_BYTES) {
            Ok(bytes) => FileText::Read(String::from_utf8_lossy(&bytes).into_owned()),
            Err(reason) => {
                if is_there {
                    faults.push(BootstrapFault { name, reason });
                }
                FileText::Missing
            }
        };
        let path = workspace.root().join(name).display().to_string();
        files.push(BootstrapFile {
            name: name.to_owned(),
            path,
            text,
        });
    }
    (files, faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(files: &[BootstrapFile]) -> Vec<(&str, bool)> {
        files
            .iter()
            .map(|file| (file.name.as_str(), file.text == FileText::Missing))
            .collect()
    }

    /// Case B-1.
    #[test]
    fn each_edition_has_its_files_and_names_missing_ones() {
        let home = tempfile::tempdir().unwrap();
        for name in ["AGENTS.md", "BOOTSTRAP.md", "MEMORY.md", "user.md"] {
            fs::write(home.path().join(name), "x\n").unwrap();
        }
        let workspace = Workspace::open(home.path()).unwrap();
        let read = |edition, first| read_bootstrap_files(&workspace, edition, first).0;
        assert_eq!(
            names(&read(Edition::Current, true)),
            [
                ("AGENTS.md", false),
                ("SOUL.md", true),
                ("IDENTITY.md", true),
                ("BOOTSTRAP.md", false),
                ("MEMORY.md", false)
            ]
        );
        let early = read(Edition::Early, false);
        assert_eq!(
            names(&early),
            [
                ("AGENTS.md", false),
                ("SOUL.md", true),
                ("TOOLS.md", true),
                ("IDENTITY.md", true),
                ("USER.md", true),
                ("HEARTBEAT.md", true)
            ]
        );
        assert_eq!(
            early[0].path,
            workspace.root().join("AGENTS.md").display().to_string()
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_workspace_is_a_fault() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("ws")).unwrap();
        fs::write(home.path().join("secret"), "made-up").unwrap();
        std::os::unix::fs::symlink("../secret", home.path().join("ws/SOUL.md")).unwrap();
        let workspace = Workspace::open(&home.path().join("ws")).unwrap();
        let (files, faults) = read_bootstrap_files(&workspace, Edition::Current, false);
        assert_eq!(files[1].text, FileText::Missing);
        assert_eq!((faults.len(), faults[0].name), (1, "SOUL.md"));
        assert!(
            matches!(faults[0].reason, AccessError::Outside { .. }),
            "{:?}",
            faults[0]
        );
    }
}
