//! What a build directory was made from, so that a library that cargo builds anew finds its way into it.

use crate::error::CliError;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name of the record in a build directory. It names places on this machine and is not part of what is shipped.
pub(crate) const RECORD: &str = ".openclaw-build.json";

/// The record that `plugins build` leaves in a build directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Built {
    /// Where cargo puts the library, for each profile; absolute.
    pub(crate) cargo_libraries: Vec<PathBuf>,
}

impl Built {
    /// - `library`: the library cargo made, such as `<target directory>/release/libx.so`.
    pub(crate) fn from_library(library: &Path) -> Self {
        let mut cargo_libraries = vec![library.to_owned()];
        // The developer's profile lies beside it.
        if let (Some(name), Some(profile)) = (library.file_name(), library.parent())
            && profile
                .file_name()
                .is_some_and(|profile| profile == "release")
        {
            cargo_libraries.push(profile.with_file_name("debug").join(name));
        }
        Self { cargo_libraries }
    }

    /// The record of a build directory; `None` when it has none, or one of another version.
    pub(crate) fn read(directory: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(directory.join(RECORD)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The record as a file.
    pub(crate) fn text(&self) -> Result<Vec<u8>, CliError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| {
            CliError::new(
                format!("cannot write down where cargo puts the library: {error}"),
                "use a target directory whose path is UTF-8",
            )
        })?;
        Ok(format!("{text}\n").into_bytes())
    }
}
