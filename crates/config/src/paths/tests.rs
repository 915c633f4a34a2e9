use super::*;

fn places(vars: &[(&str, &str)], profile: Option<&str>) -> Result<Paths, PathsError> {
    let env = |name: &str| {
        let found = vars.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| OsString::from(value))
    };
    resolve(&env, Path::new("/cwd"), profile)
}

#[test]
fn state_dir_and_config_follow_the_environment() {
    let check = |vars: &[(&str, &str)], state_dir: &str, config_path: &str| {
        let paths = places(vars, None).unwrap();
        assert_eq!(paths.state_dir, Path::new(state_dir), "{vars:?}");
        assert_eq!(paths.config_path, Path::new(config_path), "{vars:?}");
        assert_eq!(paths.native_dir, paths.state_dir.join("native"));
        assert_eq!(
            paths.extensions_dir,
            paths.config_path.parent().unwrap().join("extensions")
        );
    };
    let home = ("HOME", "/h");
    check(&[home], "/h/.openclaw", "/h/.openclaw/openclaw.json");
    check(
        &[home, ("OPENCLAW_STATE_DIR", "  ~/s ")],
        "/h/s",
        "/h/s/openclaw.json",
    );
    check(
        &[home, ("OPENCLAW_STATE_DIR", "s")],
        "/cwd/s",
        "/cwd/s/openclaw.json",
    );
    check(
        &[home, ("OPENCLAW_STATE_DIR", " ")],
        "/h/.openclaw",
        "/h/.openclaw/openclaw.json",
    );
    check(
        &[home, ("OPENCLAW_CONFIG_PATH", "c.json")],
        "/h/.openclaw",
        "/cwd/c.json",
    );
    check(
        &[home, ("OPENCLAW_HOME", "/o")],
        "/o/.openclaw",
        "/o/.openclaw/openclaw.json",
    );
    check(
        &[
            home,
            ("OPENCLAW_HOME", "~/o"),
            ("OPENCLAW_STATE_DIR", "~/s"),
        ],
        "/h/o/s",
        "/h/o/s/openclaw.json",
    );
    check(
        &[("OPENCLAW_HOME", "/o")],
        "/o/.openclaw",
        "/o/.openclaw/openclaw.json",
    );
}

#[test]
fn profile_names_a_state_dir_and_a_workspace() {
    let check = |vars: &[(&str, &str)], flag: Option<&str>, state: &str, workspace: &str| {
        let vars = [&[("HOME", "/h")], vars].concat();
        let paths = places(&vars, flag).unwrap();
        assert_eq!(paths.state_dir, Path::new(state), "{vars:?} {flag:?}");
        assert_eq!(paths.default_workspace, Path::new(workspace));
    };
    let variable = ("OPENCLAW_PROFILE", "work");
    let work = ("/h/.openclaw-work", "/h/.openclaw/workspace-work");
    let plain = ("/h/.openclaw", "/h/.openclaw/workspace");
    check(&[], Some("work"), work.0, work.1);
    check(&[variable], None, work.0, work.1);
    check(
        &[("OPENCLAW_PROFILE", "other")],
        Some("work"),
        work.0,
        work.1,
    );
    check(&[variable], Some("default"), plain.0, plain.1);
    check(&[("OPENCLAW_PROFILE", "Default ")], None, plain.0, plain.1);
    check(
        &[variable, ("OPENCLAW_STATE_DIR", "/s")],
        None,
        "/s",
        "/s/workspace",
    );
}

#[test]
fn bad_profile_name_is_its_own_kind() {
    for name in ["", "a b", "a/b", "../x", "ä", "a.b", " a"] {
        let error = places(&[("HOME", "/h")], Some(name)).unwrap_err();
        let name = name.to_owned();
        assert_eq!(error.kind, PathsErrorKind::BadProfile { name });
        assert!(error.help().contains("letters"));
    }
    let error = places(&[("HOME", "/h"), ("OPENCLAW_PROFILE", "a b")], None).unwrap_err();
    assert!(matches!(error.kind, PathsErrorKind::BadProfile { .. }));
}

#[test]
fn missing_home_is_an_error() {
    let error = places(&[("HOME", " ")], None).unwrap_err();
    assert_eq!(error.kind, PathsErrorKind::NoHome);
}

#[test]
fn former_state_dir_serves_only_while_it_is_alone() {
    let home = tempfile::tempdir().unwrap();
    let vars = [("HOME", home.path().to_str().unwrap())];
    let state_dir = || places(&vars, None).unwrap().state_dir;
    std::fs::create_dir(home.path().join(".clawdbot")).unwrap();
    assert_eq!(state_dir(), home.path().join(".clawdbot"));
    std::fs::create_dir(home.path().join(".openclaw")).unwrap();
    assert_eq!(state_dir(), home.path().join(".openclaw"));
}

#[test]
fn tilde_and_relative_paths_expand() {
    let check = |path: &str, expanded: &str| {
        let found = expand(path, Path::new("/h"), Path::new("/cwd"));
        assert_eq!(found, Path::new(expanded), "{path:?}");
    };
    check("~", "/h");
    check("~/a b", "/h/a b");
    check(" /x ", "/x");
    check("~name/x", "/cwd/~name/x");
    check("my plügin 漢字", "/cwd/my plügin 漢字");
}

#[cfg(unix)]
#[test]
fn variable_that_is_not_utf8_is_named() {
    use std::os::unix::ffi::OsStringExt;
    let check = |bad: &'static str, others: &[(&str, &str)]| {
        let env = |name: &str| {
            if name == bad {
                return Some(OsString::from_vec(b"/h\xff".to_vec()));
            }
            let found = others.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        };
        resolve(&env, Path::new("/cwd"), None).map_err(|error| error.kind)
    };
    let home = [("HOME", "/h")];
    for variable in [
        "OPENCLAW_HOME",
        "OPENCLAW_STATE_DIR",
        "OPENCLAW_CONFIG_PATH",
        "OPENCLAW_PROFILE",
    ] {
        assert_eq!(
            check(variable, &home),
            Err(PathsErrorKind::NotUtf8 { variable })
        );
    }
    let variable = "HOME";
    assert_eq!(
        check(variable, &[]),
        Err(PathsErrorKind::NotUtf8 { variable })
    );
    assert!(check(variable, &[("OPENCLAW_HOME", "/o")]).is_ok());
}
