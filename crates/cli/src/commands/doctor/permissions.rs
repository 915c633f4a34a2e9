//! Who may read and write what belongs to this program.
#![cfg(unix)]

use super::Finding;
use crate::context::Context;
use crate::output::Mark;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Something that others than its owner can get at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) path: PathBuf,
    pub(super) mode: u32,
    /// The mode that closes it.
    pub(super) closed: u32,
    why: &'static str,
}

/// What is open: the configuration, which may hold keys of providers, and our own directory, which holds sessions.
pub(super) fn open(context: &Context) -> Vec<Open> {
    let paths = &context.paths;
    let judged: [(&Path, u32, &str); 2] = [
        (&paths.config_path, 0o077, "it may hold keys of providers"),
        (&paths.native_dir, 0o077, "it holds sessions"),
    ];
    let found = judged.into_iter().filter_map(|(path, forbidden, why)| {
        let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
        (mode & forbidden != 0).then(|| Open {
            path: path.to_owned(),
            mode,
            closed: mode & !forbidden,
            why,
        })
    });
    found.collect()
}

pub(super) fn findings(context: &Context) -> Vec<Finding> {
    let found = open(context);
    if found.is_empty() {
        return vec![Finding::new(
            Mark::Ok,
            "access",
            "configuration and sessions are open to their owner alone",
        )];
    }
    let one = |open: &Open| {
        let at = open.path.display();
        // Others who may write can make turns run anything; others who may read see it.
        let mark = if open.mode & 0o022 == 0 {
            Mark::Note
        } else {
            Mark::Warning
        };
        Finding::new(
            mark,
            "access",
            format!(
                "{at} is open to others (mode {:04o}): {}",
                open.mode, open.why
            ),
        )
        .help(format!(
            "`openclaw doctor --fix`, or `chmod {:o} {at}`",
            open.closed
        ))
    };
    found.iter().map(one).collect()
}
