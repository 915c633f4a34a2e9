//! Zip archives: a good one is installed, one made to do harm is refused as a whole.

use super::copies::{ACCEPTED, installs};
use super::{LIBRARY, MANIFEST, window};
use crate::home::Home;
use std::fs::{self, File};
use std::io::{Seek, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A zip of the window engine below `package/`, and what `more` adds to it.
fn zip(home: &Home, more: impl FnOnce(&mut ZipWriter<File>)) {
    let directory = window(home);
    let file = File::create(home.path("w.zip")).expect("a file can be made");
    let mut archive = ZipWriter::new(file);
    for (name, mode) in [(LIBRARY, 0o755), (MANIFEST, 0o644)] {
        let bytes = fs::read(directory.join(name)).expect("a build directory has it");
        add(&mut archive, &format!("package/{name}"), mode, &bytes);
    }
    more(&mut archive);
    archive.finish().expect("the archive ends");
}

fn add(archive: &mut ZipWriter<impl Write + Seek>, name: &str, mode: u32, bytes: &[u8]) {
    let options = SimpleFileOptions::default().unix_permissions(mode);
    archive.start_file(name, options).expect("an entry begins");
    archive.write_all(bytes).expect("an entry is written");
}

fn is_refused(home: &Home, said: &str) {
    let ran = home.run(&format!("{ACCEPTED} w.zip")).fails();
    ran.shows(&[said, "nothing was installed"]);
    assert!(!home.state_dir().exists());
    assert!(!home.path("evil").exists());
}

#[test]
fn good_zip_is_installed_and_recorded() {
    let home = Home::new().probed();
    zip(&home, |_| {});
    home.run(&format!("{ACCEPTED} w.zip"))
        .succeeds()
        .shows(&["window is now selected"]);
    let copy = home.state_dir().join("extensions/window");
    let original = home.path("window").join(LIBRARY);
    let same = |a, b| fs::read(a).expect("it is there") == fs::read(b).expect("it is there");
    assert!(same(copy.join(LIBRARY), original));
    assert_eq!(installs(&home)["window"]["source"], "archive");
}

#[test]
fn names_in_a_zip_that_lead_out_are_refused() {
    for (name, said) in [
        ("../evil", "leads out"),
        ("package/../../evil", "leads out"),
        ("/evil", "is absolute"),
        ("package\\evil", "backslash"),
    ] {
        let home = Home::new();
        zip(&home, |archive| add(archive, name, 0o644, b"x"));
        is_refused(&home, said);
    }
}

#[test]
fn link_in_a_zip_is_refused_even_when_it_stays_inside() {
    for target in ["../../../evil", MANIFEST] {
        let home = Home::new();
        zip(&home, |archive| {
            let options = SimpleFileOptions::default();
            archive
                .add_symlink("package/link", target, options)
                .expect("a link can be written");
        });
        is_refused(&home, "is a link");
    }
}
