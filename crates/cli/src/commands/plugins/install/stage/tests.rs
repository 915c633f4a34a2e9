use super::*;

const SMALL: Limits = Limits {
    file_bytes: 10,
    total_bytes: 15,
    entries: 4,
};

fn stage(at: &TempDir) -> Stage {
    Stage::new(at.path(), SMALL).expect("a stage can be made")
}

fn file(stage: &mut Stage, name: &str, bytes: usize) -> Result<(), String> {
    stage
        .file(name, false, &mut vec![b'x'; bytes].as_slice())
        .map_err(|refused| refused.0)
}

#[test]
fn names_that_lead_elsewhere_are_refused_and_make_nothing() {
    let at = tempfile::tempdir().unwrap();
    for name in [
        "../a",
        "a/../../b",
        "/a",
        "a\\b",
        "..\\a",
        "C:/a",
        "a\0b",
        "",
        "./",
    ] {
        let mut stage = stage(&at);
        assert!(file(&mut stage, name, 1).is_err(), "{name:?}");
        assert!(fs::read_dir(stage.content()).unwrap().next().is_none());
    }
    assert!(fs::read_dir(at.path()).unwrap().next().is_none());
}

#[test]
fn limits_are_kept_to_the_byte() {
    let at = tempfile::tempdir().unwrap();
    let mut one = stage(&at);
    assert_eq!(file(&mut one, "a", 10), Ok(()));
    assert_eq!(file(&mut one, "b", 5), Ok(()));
    assert!(
        file(&mut one, "c", 1)
            .unwrap_err()
            .contains("more than 15 bytes")
    );
    assert!(
        file(&mut stage(&at), "a", 11)
            .unwrap_err()
            .contains("larger than 10 bytes")
    );
    let mut many = stage(&at);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(file(&mut many, name, 0), Ok(()));
    }
    assert!(
        file(&mut many, "e", 0)
            .unwrap_err()
            .contains("more than 4 entries")
    );
}

#[test]
fn names_that_differ_in_case_only_are_duplicates() {
    let at = tempfile::tempdir().unwrap();
    for (first, second) in [("a", "a"), ("a", "A"), ("d/a", "D/b"), ("a", "a/b")] {
        let mut stage = stage(&at);
        assert_eq!(file(&mut stage, first, 1), Ok(()));
        let refused = file(&mut stage, second, 1).unwrap_err();
        assert!(refused.contains("twice"), "{first} {second}: {refused}");
    }
    let mut stage = stage(&at);
    assert_eq!(file(&mut stage, "d/a", 1), Ok(()));
    assert_eq!(file(&mut stage, "d/b", 1), Ok(()));
    stage
        .directory("d")
        .expect("a directory may be named again");
}

#[test]
fn placing_replaces_the_whole_directory_and_leaves_nothing_else() {
    let at = tempfile::tempdir().unwrap();
    let target = at.path().join("e");
    for name in ["one", "two"] {
        let mut stage = stage(&at);
        file(&mut stage, &format!("p/{name}"), 1).unwrap();
        let directory = stage.plugin_dir().unwrap();
        stage.place(&directory, &target).unwrap();
        let there: Vec<_> = fs::read_dir(&target).unwrap().flatten().collect();
        assert_eq!(there.len(), 1);
        assert_eq!(there[0].file_name(), name);
    }
    assert_eq!(fs::read_dir(at.path()).unwrap().count(), 1);
}
