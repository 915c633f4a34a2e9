//! Who may change a plugin: real files, owners, modes and links.

use openclaw_loader::{BuildDirectory, LoadError, Provenance, Trust, TrustFault, Vetted};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use support::{build_directory, library};

const MANIFEST: &str = "openclaw.plugin.json";

fn vet(directory: &Path) -> Result<Vetted, LoadError> {
    Vetted::read(directory, &Value::Null, &Trust::default())
}

#[track_caller]
fn fault(directory: &Path) -> (TrustFault, LoadError) {
    let error = vet(directory).unwrap_err();
    let openclaw_loader::LoadErrorKind::Untrusted(fault) = &error.kind else {
        panic!("{error:?}")
    };
    assert_eq!(error.plugin.as_deref(), Some("unruly"));
    (fault.clone(), error)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn file(directory: &Path) -> PathBuf {
    directory.join(library("unruly").file_name().unwrap())
}

/// Case N-10: directory and library; the manifest alone runs nothing.
#[test]
fn plugin_that_everybody_may_write_is_blocked() {
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("unruly", home.path());
    let (file, manifest) = (file(&directory), directory.join(MANIFEST));
    for (path, mode, allowed) in [
        (&directory, 0o777, false),
        (&directory, 0o1777, false),
        (&directory, 0o775, true),
        (&file, 0o666, false),
        (&file, 0o664, true),
        (&manifest, 0o666, true),
    ] {
        set_mode(path, mode);
        if allowed {
            vet(&directory).unwrap();
        } else {
            let (fault, error) = fault(&directory);
            assert_eq!(fault, TrustFault::WorldWritable { mode });
            assert_eq!(&error.path, path);
            assert!(
                error.kind.to_string().contains(&format!("{mode:04o}")),
                "{error}"
            );
            assert!(error.help().contains("chmod o-w"));
        }
        set_mode(path, 0o755);
    }
}

/// Whoever may write a directory above may put another build directory in its place.
#[test]
fn directory_above_that_everybody_may_write_is_named() {
    let home = tempfile::tempdir().unwrap();
    let above = home.path().join("above");
    let between = above.join("between");
    let directory = build_directory("unruly", &between);
    let link = home.path().join("link");
    symlink(&directory, &link).unwrap();
    set_mode(&above, 0o777);
    for path in [&directory, &link] {
        let (fault, error) = fault(path);
        assert_eq!(
            fault,
            TrustFault::WritableParent {
                parent: above.clone(),
                mode: 0o777
            }
        );
        for part in [
            above.to_str().unwrap(),
            "0777",
            "another directory in its place",
        ] {
            assert!(error.kind.to_string().contains(part), "{}", error.kind);
        }
        assert!(error.help().contains("chmod o-w"), "{}", error.help());
    }
    set_mode(&above, 0o1777);
    vet(&directory).unwrap();
    set_mode(&above, 0o775);
    vet(&link).unwrap();
    // A link lies in such a directory as well as what it leads to.
    let shared = home.path().join("shared");
    fs::create_dir(&shared).unwrap();
    let link = shared.join("link");
    symlink(&directory, &link).unwrap();
    set_mode(&shared, 0o777);
    assert!(matches!(fault(&link).0, TrustFault::WritableParent { .. }));
}

/// Only root can give files away; elsewhere there is nothing to try.
#[test]
fn plugin_of_another_user_is_blocked() {
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("unruly", home.path());
    for path in [file(&directory), directory.clone()] {
        if let Err(error) = chown(&path, Some(12_345), None) {
            println!("skipped: files cannot be given away here: {error}");
            return;
        }
        let (fault, error) = fault(&directory);
        let TrustFault::ForeignOwner { owner: 12_345, own } = fault else {
            panic!("{fault:?}")
        };
        assert_eq!(error.path, path);
        chown(&path, Some(own), None).unwrap();
    }
    vet(&directory).unwrap();
}

/// Case N-10: a library out of the directory, and one that is a link to its neighbour.
#[test]
fn library_that_is_a_link_is_blocked_and_a_link_to_the_directory_is_followed() {
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("unruly", home.path());
    let link = home.path().join("link");
    symlink(&directory, &link).unwrap();
    support::load(&link).unwrap();
    let library = file(&directory);
    let outside = home.path().join("outside");
    fs::rename(&library, &outside).unwrap();
    symlink(&outside, &library).unwrap();
    let (found, error) = fault(&directory);
    assert_eq!(
        found,
        TrustFault::LeavesDirectory {
            to: outside.canonicalize().unwrap()
        }
    );
    assert_eq!(error.path, library);
    fs::remove_file(&library).unwrap();
    let beside = directory.join("beside");
    fs::rename(&outside, &beside).unwrap();
    symlink("beside", &library).unwrap();
    assert_eq!(
        fault(&directory).0,
        TrustFault::IsLink {
            to: "beside".into()
        }
    );
}

#[test]
fn manifest_out_of_the_directory_is_blocked_and_one_beside_is_followed() {
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("unruly", home.path());
    let manifest = directory.join(MANIFEST);
    fs::rename(&manifest, directory.join("real.json")).unwrap();
    symlink("real.json", &manifest).unwrap();
    vet(&directory).unwrap();
    let outside = home.path().join("outside.json");
    fs::copy(&manifest, &outside).unwrap();
    fs::remove_file(&manifest).unwrap();
    symlink(&outside, &manifest).unwrap();
    let (found, error) = fault(&directory);
    assert!(matches!(found, TrustFault::LeavesDirectory { .. }));
    assert_eq!(error.path, manifest);
}

/// A file with another name may be changed through it.
#[test]
fn hard_links_are_blocked() {
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("unruly", home.path());
    for path in [file(&directory), directory.join(MANIFEST)] {
        let other = home.path().join("other-name");
        fs::hard_link(&path, &other).unwrap();
        let (found, error) = fault(&directory);
        assert_eq!(found, TrustFault::HardLinks { names: 2 });
        assert_eq!(error.path, path);
        assert!(
            error.help().contains("a file of its own"),
            "{}",
            error.help()
        );
        fs::remove_file(other).unwrap();
    }
    vet(&directory).unwrap();
}

/// A copied plugin must be what was copied, a linked one only says that it is not what was linked; the operator's list
/// binds both.
#[test]
fn changed_library_is_refused_for_a_copy_and_reported_for_a_link() {
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("unruly", home.path());
    let sha256 = BuildDirectory::read(&directory).unwrap().sha256;
    let vet = |provenance: Provenance, allowed: Option<&str>| {
        let trust = Trust {
            allowed: allowed.map(|hash| [hash.to_owned()].into()),
            provenance,
        };
        Vetted::read(&directory, &Value::Null, &trust)
    };
    let copied = || Provenance::Copied {
        sha256: sha256.clone(),
    };
    let linked = || Provenance::Linked {
        sha256: Some(sha256.clone()),
    };
    vet(copied(), Some(&sha256)).unwrap();
    assert!(!vet(linked(), None).unwrap().is_changed_since_linked());
    support::Build::of("unruly")
        .variant(7)
        .put("unruly", &directory);
    let error = vet(copied(), None).unwrap_err();
    assert_eq!(error.code(), "load/changed");
    assert!(error.kind.to_string().contains(&sha256), "{error}");
    let changed = vet(linked(), None).unwrap();
    assert!(changed.is_changed_since_linked());
    let libraries = openclaw_loader::Libraries::below(&home.path().join("private"));
    assert!(changed.load(&libraries).unwrap().is_changed_since_linked);
    let error = vet(linked(), Some(&sha256)).unwrap_err();
    assert_eq!(error.code(), "load/not-allowed");
    assert!(
        error.help().contains("plugins.allowedLibraries"),
        "{}",
        error.help()
    );
}
