//! Engines, from the crate to the slot.

use crate::config::{self, comments};
use crate::failure::{Failure, require};
use crate::openclaw::{Openclaw, words};
use crate::screen::Screen;
use crate::serving::ENGINE;
use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

/// Builds and links the engine.
pub(crate) fn engine(openclaw: &Openclaw, screen: &mut Screen) -> Result<(), Failure> {
    screen.heading("2  Build an engine and select it");
    let before = config::read(openclaw)?;
    link(openclaw, screen, "plugins/window", ENGINE)?;
    let after = config::read(openclaw)?;
    let kept = comments(&after);
    let is_kept = |comment: &str| kept.iter().any(|(_, other)| *other == comment);
    for (number, comment) in comments(&before) {
        require(is_kept(comment), || {
            format!("the comment on line {number} of openclaw.json is gone: {comment}")
        })?;
    }
    let shown: Vec<&str> = kept.iter().map(|(_, comment)| *comment).collect();
    screen.fact(
        "config",
        &format!(
            "{} lines became {}, comments kept: {}",
            before.lines().count(),
            after.lines().count(),
            shown.join(" · ")
        ),
    );
    Ok(())
}

/// Makes a build directory of the crate and links it, so that the slot names its engine.
pub(crate) fn link(
    openclaw: &Openclaw,
    screen: &mut Screen,
    crate_dir: &str,
    id: &str,
) -> Result<(), Failure> {
    let directory: OsString = openclaw.at_home(id).into();
    let mut build = words(["plugins", "build", crate_dir, "--out"]);
    build.push(directory.clone());
    screen.command(&openclaw.shown(&build));
    let start = Instant::now();
    let built = openclaw.slow_json(&build)?;
    let library = Path::new(built.text("/library")?);
    screen.fact(
        "built",
        &format!(
            "{} {} · contract {} · {} of {:.1} MB · {:.1} s",
            built.text("/id")?,
            built.text("/version")?,
            built.text("/contract")?,
            library.file_name().unwrap_or_default().display(),
            built.number("/libraryBytes")? as f64 / 1e6,
            start.elapsed().as_secs_f64()
        ),
    );
    let mut install = words(["plugins", "install", "-l"]);
    install.push(directory);
    screen.command(&openclaw.shown(&install));
    let linked = openclaw.json(&install)?;
    require(linked.is("/selected")? && linked.text("/id")? == id, || {
        format!("engine {id} was linked and is not selected")
    })
}
