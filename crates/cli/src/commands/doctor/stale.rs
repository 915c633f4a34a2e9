//! Settings that lead to what is no longer there, told apart from what is only out of reach.

use super::Finding;
use crate::context::Context;
use crate::engines::Engines;
use crate::output::Mark;
use openclaw_host::{LEGACY_ID, Slot};
use openclaw_loader::LoadErrorKind;
use std::path::Path;

/// What `--fix` would take away. That it is missing is told where it is looked for.
pub(super) fn findings(context: &Context, engines: &Engines) -> Vec<Finding> {
    let paths = deleted(context, engines).into_iter();
    let paths = paths.map(|path| format!("`{path}` in `plugins.load.paths` was deleted"));
    let slot = slot(context, engines);
    let slot = slot.map(|id| format!("no plugin can bring `{id}`, which the slot names"));
    let one =
        |text| Finding::new(Mark::Note, "stale", text).help("`openclaw doctor --fix` removes it");
    paths.chain(slot).map(one).collect()
}

/// Load paths whose directory was deleted, as they are written: the directory around it is there. Without that one it
/// may be a disk that is not mounted, and the entry stays.
pub(super) fn deleted(context: &Context, engines: &Engines) -> Vec<String> {
    let written = engines.plugins.load_paths.iter();
    let is_deleted = |path: &&String| {
        let path = path.trim();
        let absolute = context.absolute(path.as_ref());
        let is_missing =
            absolute.symlink_metadata().is_err() && absolute.parent().is_some_and(Path::is_dir);
        !path.is_empty() && (is_missing || is_dangling(&absolute))
    };
    written.filter(is_deleted).cloned().collect()
}

/// A link that leads nowhere.
fn is_dangling(path: &Path) -> bool {
    path.is_symlink() && !path.exists()
}

/// The engine the slot names although no plugin can bring it: none that was found, and none that could not be looked at.
pub(super) fn slot(context: &Context, engines: &Engines) -> Option<String> {
    let Slot::Engine(id) = &engines.slot else {
        return None;
    };
    let deleted = deleted(context, engines);
    let gone: Vec<_> = deleted
        .iter()
        .map(|path| context.absolute(path.as_ref()))
        .collect();
    let is_complete =
        engines.discovery.faults.iter().all(|(path, fault)| {
            matches!(fault.kind, LoadErrorKind::Missing) && gone.contains(path)
        });
    let is_missing = id != LEGACY_ID && engines.plugin(id).is_none();
    (is_missing && is_complete).then(|| id.clone())
}
