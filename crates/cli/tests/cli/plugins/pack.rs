//! `plugins pack`: a build directory as one archive.

use super::copies::ACCEPTED;
use super::{LIBRARY, MANIFEST, window};
use crate::home::{Home, write};
use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Name, mode and bytes of each entry.
fn entries(archive: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let bytes = fs::read(archive).unwrap();
    let mut archive = tar::Archive::new(GzDecoder::new(bytes.as_slice()));
    let read = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        let header = entry.header().clone();
        assert_eq!(
            (
                header.mtime().unwrap(),
                header.uid().unwrap(),
                header.gid().unwrap()
            ),
            (0, 0, 0),
            "{name}"
        );
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (name, header.mode().unwrap(), bytes)
    });
    read.collect()
}

#[test]
fn same_files_make_the_same_bytes() {
    let home = Home::new();
    let plugin = window(&home);
    write(&plugin.join("package.json"), "{\"name\": \"window\"}\n");
    write(
        &plugin.join(".openclaw-build.json"),
        "{\"cargoLibraries\": []}",
    );
    write(&plugin.join("precious.txt"), "not packed");
    let ran = home
        .run("plugins pack window --out one.tgz --json")
        .succeeds();
    let document = ran.json();
    assert_eq!(
        document["files"],
        serde_json::json!([LIBRARY, MANIFEST, "package.json"])
    );
    let packed = entries(&home.path("one.tgz"));
    let names: Vec<_> = packed
        .iter()
        .map(|(name, mode, _)| (name.as_str(), *mode))
        .collect();
    let library = format!("package/{LIBRARY}");
    assert_eq!(
        names,
        [
            (library.as_str(), 0o755),
            ("package/openclaw.plugin.json", 0o644),
            ("package/package.json", 0o644)
        ]
    );
    assert_eq!(packed[0].2, fs::read(plugin.join(LIBRARY)).unwrap());

    // Elsewhere, written later and with other modes.
    fs::create_dir(home.path("copy")).unwrap();
    for name in [LIBRARY, MANIFEST, "package.json"] {
        let copy = home.path("copy").join(name);
        fs::write(&copy, fs::read(plugin.join(name)).unwrap()).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
    let again = home
        .run("plugins pack copy --out two.tgz --json")
        .succeeds()
        .json();
    assert_eq!(document["sha256"], again["sha256"]);
    assert_eq!(
        fs::read(home.path("one.tgz")).unwrap(),
        fs::read(home.path("two.tgz")).unwrap()
    );
    write(&home.path("copy/package.json"), "{\"name\": \"other\"}\n");
    let other = home
        .run("plugins pack copy --out three.tgz --json")
        .succeeds()
        .json();
    assert_ne!(document["sha256"], other["sha256"]);
}

#[test]
fn archive_that_is_there_stays_and_a_broken_directory_is_not_packed() {
    let home = Home::new();
    let plugin = window(&home);
    let name = home.run("plugins pack window --json").succeeds().json()["archive"].clone();
    let name = name.as_str().unwrap().to_owned();
    assert!(
        name.starts_with("~~/here/window-") && name.ends_with(".tgz"),
        "{name}"
    );
    home.run("plugins pack window")
        .fails()
        .shows(&["there is something at", "--out"]);
    fs::remove_file(plugin.join(LIBRARY)).unwrap();
    home.run("plugins pack window --out broken.tgz")
        .fails()
        .shows(&["~~/here/window"]);
    assert!(!home.path("broken.tgz").exists());
}

#[test]
fn packed_plugin_can_be_installed_elsewhere_and_serves() {
    let made = Home::new();
    let plugin = window(&made);
    made.run("plugins pack window --out w.tgz").succeeds();

    let home = Home::new().probed();
    fs::copy(made.path("w.tgz"), home.path("w.tgz")).unwrap();
    home.run(&format!("{ACCEPTED} w.tgz"))
        .succeeds()
        .shows(&["window is now selected"]);
    let copy = home.state_dir().join("extensions/window");
    for name in [LIBRARY, MANIFEST] {
        assert_eq!(
            fs::read(copy.join(name)).unwrap(),
            fs::read(plugin.join(name)).unwrap(),
            "{name}"
        );
    }
    home.run("agent -m hello --json")
        .succeeds()
        .shows(&["\"engineId\": \"window\"", "\"status\": \"committed\""]);
}
