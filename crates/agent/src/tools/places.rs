//! From a path the model names to a place that may be touched.

use std::path::{Path, PathBuf};

use super::{ToolFailure, ToolSettings};
use crate::workspace::Workspace;

/// Where files may be read, and where written.
#[derive(Clone)]
pub(super) struct Places {
    workspace: Workspace,
    readable: Vec<Workspace>,
    home: Option<PathBuf>,
}

impl Places {
    pub(super) fn new(settings: &ToolSettings) -> Self {
        Self {
            workspace: settings.workspace.clone(),
            readable: settings.readable.clone(),
            home: settings.home.clone(),
        }
    }

    /// The workspace and the path in it.
    pub(super) fn to_write(&self, path: &str) -> Result<(&Workspace, PathBuf), ToolFailure> {
        match self.workspace.below(&self.absolute(path)) {
            Some(below) => Ok((&self.workspace, below)),
            None => Err(self.workspace.outside(path.to_owned()).into()),
        }
    }

    /// The directory that may be read and the path in it; relative paths are in the workspace.
    pub(super) fn to_read(&self, path: &str) -> Result<(&Workspace, PathBuf), ToolFailure> {
        let full = self.absolute(path);
        let elsewhere = self.readable.iter().filter(|_| full.is_absolute());
        elsewhere
            .filter_map(|place| Some((place, place.below(&full)?)))
            .next()
            .map_or_else(|| self.to_write(path), Ok)
    }

    fn absolute(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => Path::new(path).to_owned(),
        }
    }
}
