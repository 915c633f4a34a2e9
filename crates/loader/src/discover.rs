//! Looks at many build directories at once.

use crate::directory::BuildDirectory;
use crate::error::LoadError;
use std::path::PathBuf;

/// What was found: plugins and faults together, so that one broken plugin never hides another.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Directories that hold a plugin, in the order given.
    pub plugins: Vec<BuildDirectory>,
    /// The other directories, as given, and what is wrong with each.
    pub faults: Vec<(PathBuf, LoadError)>,
    /// Plugins set aside because an earlier directory has the same id: id, used, shadowed.
    pub shadowed: Vec<(String, PathBuf, PathBuf)>,
}

impl Discovery {
    /// Ids of the plugins that can be used.
    #[must_use]
    pub fn ids(&self) -> Vec<&str> {
        let ids = self.plugins.iter().map(|plugin| &*plugin.manifest.id);
        ids.collect()
    }
}

/// Reads and inspects the build directories at `paths` (absolute); the first of several with one id wins. Runs nothing.
#[must_use]
pub fn discover(paths: impl IntoIterator<Item = PathBuf>) -> Discovery {
    let mut discovery = Discovery::default();
    for path in paths {
        match BuildDirectory::read(&path) {
            Ok(plugin) => add(&mut discovery, plugin),
            Err(fault) => discovery.faults.push((path, fault)),
        }
    }
    discovery
}

fn add(discovery: &mut Discovery, plugin: BuildDirectory) {
    let Some(winner) = discovery
        .plugins
        .iter()
        .find(|other| other.manifest.id == plugin.manifest.id)
    else {
        discovery.plugins.push(plugin);
        return;
    };
    let same = winner.path.canonicalize().ok() == plugin.path.canonicalize().ok();
    if !same {
        discovery
            .shadowed
            .push((plugin.manifest.id, winner.path.clone(), plugin.path));
    }
}
