//! The folder with the captured material.

use super::parsed;
use serde_json::Value;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;

pub(crate) const FOLDER: &str = "OPENCLAW_ORACLES";
const REQUIRED: &str = "OPENCLAW_ORACLES_REQUIRED";

/// The captured material. Whatever is asked for has to be there: its methods panic with the file's path.
pub(crate) struct Captured {
    folder: PathBuf,
}

impl Captured {
    /// `None` when no folder is named and none is required.
    pub(super) fn from_environment() -> Result<Option<Self>, String> {
        Self::new(env::var_os(FOLDER), env::var_os(REQUIRED).as_deref())
    }

    fn new(folder: Option<OsString>, required: Option<&OsStr>) -> Result<Option<Self>, String> {
        let required = required.is_some_and(|value| !value.is_empty() && value != "0");
        match folder.filter(|folder| !folder.is_empty()) {
            Some(folder) => {
                let folder = PathBuf::from(folder);
                if !folder.is_dir() {
                    return Err(format!("{FOLDER} names no folder: {}", folder.display()));
                }
                Ok(Some(Self { folder }))
            }
            None if required => Err(format!("{FOLDER} is not set, and {REQUIRED} is")),
            None => Ok(None),
        }
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        let path = self.folder.join(path);
        fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        parsed(path, &self.text(path))
    }

    /// The recorded inputs and outputs of one function of the original.
    pub(crate) fn golden(&self, name: &str) -> Value {
        self.json(&format!("openclaw-outputs/golden/{name}.json"))
    }

    /// Paths of the files in `folder` with this extension, sorted.
    pub(crate) fn files(&self, folder: &str, extension: &str) -> Vec<String> {
        let at = self.folder.join(folder);
        let entries = fs::read_dir(&at)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", at.display()));
        let names = entries.map(|entry| entry.expect("an entry of a readable folder").file_name());
        let names = names.map(|name| name.into_string().expect("captured files have UTF-8 names"));
        let suffix = format!(".{extension}");
        let mut paths: Vec<_> = names
            .filter(|name| name.ends_with(&suffix))
            .map(|name| format!("{folder}/{name}"))
            .collect();
        paths.sort();
        paths
    }
}

fn outcome(folder: Option<&OsStr>, required: Option<&str>) -> &'static str {
    match Captured::new(folder.map(OsStr::to_owned), required.map(OsStr::new)) {
        Ok(Some(_)) => "runs",
        Ok(None) => "skipped",
        Err(_) => "fails",
    }
}

#[test]
fn unset_folder_skips_unless_it_is_required() {
    for unset in [None, Some(OsStr::new(""))] {
        assert_eq!(outcome(unset, None), "skipped");
        assert_eq!(outcome(unset, Some("")), "skipped");
        assert_eq!(outcome(unset, Some("0")), "skipped");
        assert_eq!(outcome(unset, Some("1")), "fails");
    }
}

#[test]
fn named_folder_has_to_be_there_even_when_not_required() {
    let home = tempfile::tempdir().unwrap();
    let missing = home.path().join("missing");
    for required in [None, Some("1")] {
        assert_eq!(outcome(Some(home.path().as_os_str()), required), "runs");
        assert_eq!(outcome(Some(missing.as_os_str()), required), "fails");
    }
}
