//! Which file of a build directory is the plugin's library.

use super::{LIBRARY, MANIFEST, link, window};
use crate::home::{Home, write};
use std::fs;

/// Case N-7.
#[test]
fn library_is_found_among_what_cargo_leaves_and_other_plugins() {
    let home = Home::new().probed();
    let directory = window(&home);
    for name in ["libwindow.d", "libwindow.rlib", "window.pdb"] {
        write(&directory.join(name), "no library");
    }
    fs::create_dir(directory.join("deps")).unwrap();
    fs::copy(
        directory.join(LIBRARY),
        directory.join("deps/libwindow-0123.so"),
    )
    .unwrap();
    let other = LIBRARY.replace("window", "other");
    fs::copy(support::library("unruly"), directory.join(other)).unwrap();
    link(&home, &directory)
        .succeeds()
        .shows(&[&format!("library  {LIBRARY}"), "window is now selected"]);
}

/// Case N-7.
#[test]
fn two_libraries_of_one_engine_are_both_named_and_refused() {
    let home = Home::new();
    let directory = window(&home);
    let old = LIBRARY.replace("window", "window_old");
    let main = LIBRARY.replace("window", "engine");
    fs::copy(directory.join(LIBRARY), directory.join(&old)).unwrap();
    fs::rename(directory.join(LIBRARY), directory.join(&main)).unwrap();
    link(&home, &directory).fails().shows(&[&old, &main]);
    assert_eq!(home.config(), None);
}

#[cfg(unix)]
#[test]
fn file_with_two_names_is_mended_by_the_command_that_is_shown() {
    for name in [LIBRARY, MANIFEST] {
        let home = Home::new().probed();
        let directory = window(&home);
        fs::hard_link(directory.join(name), home.path("second")).unwrap();
        let ran = link(&home, &directory)
            .fails()
            .shows(&["2 names (hard links)"]);
        assert_eq!(home.config(), None);
        let root = home.path("").parent().unwrap().to_owned();
        let command = ran.stderr.split('`').find(|it| it.starts_with("cp "));
        let command = command.unwrap().replace("~~", &root.display().to_string());
        let mended = std::process::Command::new("sh")
            .args(["-c", &command])
            .status();
        assert!(mended.unwrap().success(), "{command}");
        link(&home, &directory).succeeds();
    }
}
