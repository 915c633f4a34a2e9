use std::thread;

use super::*;
use crate::error::ConfigErrorKind;

struct Home(tempfile::TempDir);

impl Home {
    fn new(text: Option<&str>) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        if let Some(text) = text {
            fs::write(home.config(), text).unwrap();
        }
        home
    }

    fn config(&self) -> PathBuf {
        self.0.path().join("openclaw.json")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.config()).unwrap()
    }

    fn backup(&self) -> Option<String> {
        fs::read_to_string(self.0.path().join("openclaw.json.bak")).ok()
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn edit(&self, edits: &[Edit]) -> Result<Outcome, WriteError> {
        edit_file(&self.config(), quick(), |_| Ok(edits.to_vec()))
    }
}

fn quick() -> WriteOptions {
    WriteOptions {
        lock_wait: Duration::from_millis(30),
        ..WriteOptions::default()
    }
}

fn allow(id: &str) -> Vec<Edit> {
    vec![Edit::append_unique(["plugins", "allow"], id)]
}

#[test]
fn former_text_is_kept_and_nothing_else_is_left() {
    let home = Home::new(Some("{plugins: {allow: ['a']}}"));
    assert!(home.edit(&allow("b")).unwrap().changed);
    assert_eq!(home.text(), "{plugins: {allow: ['a', 'b']}}");
    assert_eq!(home.backup().as_deref(), Some("{plugins: {allow: ['a']}}"));
    assert_eq!(home.files(), ["openclaw.json", "openclaw.json.bak"]);
}

/// Case N-17.
#[test]
fn nothing_is_written_when_nothing_changes() {
    let home = Home::new(Some("{plugins: {allow: ['a']}}"));
    let before = fs::metadata(home.config()).unwrap().modified().unwrap();
    assert!(!home.edit(&allow("a")).unwrap().changed);
    assert_eq!(
        fs::metadata(home.config()).unwrap().modified().unwrap(),
        before
    );
    assert_eq!(home.files(), ["openclaw.json"]);

    let missing = Home::new(None);
    assert!(!missing.edit(&[Edit::remove(["plugins"])]).unwrap().changed);
    assert!(missing.files().is_empty());
}

#[test]
fn missing_file_is_created_with_its_directory() {
    let home = Home::new(None);
    let config = home.0.path().join("new/state/openclaw.json");
    let outcome = edit_file(&config, quick(), |config| {
        assert!(config.is_missing());
        Ok::<_, WriteError>(allow("a"))
    });
    assert!(outcome.unwrap().changed);
    let text = fs::read_to_string(&config).unwrap();
    assert_eq!(
        text,
        "{\n  \"plugins\": {\n    \"allow\": [\"a\"]\n  }\n}\n"
    );
    assert!(!config.with_file_name("openclaw.json.bak").exists());
    #[cfg(unix)]
    assert_eq!(
        (mode(&config), mode(config.parent().unwrap())),
        (0o600, 0o700)
    );
}

/// Case C-11.
#[test]
fn file_that_cannot_be_used_is_never_overwritten() {
    for text in ["", "{plugins: ", "[]", "{a: 1, a: 2}", "\u{feff}"] {
        let home = Home::new(Some(text));
        let error = home.edit(&allow("a")).unwrap_err();
        assert!(matches!(error.kind, WriteErrorKind::Config(_)), "{error:?}");
        assert!(!error.help().is_empty());
        assert_eq!(home.text(), text);
        assert_eq!(home.files(), ["openclaw.json"]);
    }
    let directory = Home::new(None);
    fs::create_dir(directory.config()).unwrap();
    let error = directory.edit(&allow("a")).unwrap_err();
    assert!(matches!(
        error.kind,
        WriteErrorKind::Config(ConfigErrorKind::Directory)
    ));
}

/// Case C-4.
#[test]
fn hundred_edits_of_ten_writers_at_once_lose_nothing() {
    let home = Home::new(Some("{ plugins: { allow: ['first'] } }\n"));
    let options = WriteOptions {
        lock_wait: Duration::from_secs(60),
        ..WriteOptions::default()
    };
    thread::scope(|scope| {
        for writer in 0..10 {
            let path = home.config();
            scope.spawn(move || {
                for turn in 0..10 {
                    let id = format!("p{writer}-{turn}");
                    let outcome = edit_file::<WriteError>(&path, options, |_| Ok(allow(&id)));
                    assert!(outcome.unwrap().changed);
                }
            });
        }
    });
    let allowed = Config::read(&home.config())
        .unwrap()
        .plugins()
        .unwrap()
        .allow;
    assert_eq!(allowed.len(), 1 + 10 * 10);
    for writer in 0..10 {
        assert!(allowed.contains(&format!("p{writer}-9")));
    }
    assert_eq!(home.files(), ["openclaw.json", "openclaw.json.bak"]);
}

/// Case C-4.
#[test]
fn waiting_for_another_writer_is_bounded() {
    let home = Home::new(Some("{}"));
    let lock = File::create(home.0.path().join("openclaw.json.lock")).unwrap();
    lock.lock().unwrap();
    let error = home.edit(&allow("a")).unwrap_err();
    assert!(matches!(
        error.kind,
        WriteErrorKind::Busy { waited_ms: 30, .. }
    ));
    assert_eq!(home.text(), "{}");
}

/// Case C-4.
#[test]
fn lock_file_left_by_a_killed_writer_does_not_matter() {
    let home = Home::new(Some("{}"));
    File::create(home.0.path().join("openclaw.json.lock")).unwrap();
    assert!(home.edit(&allow("a")).unwrap().changed);
}

#[test]
fn plan_sees_the_present_text_and_may_refuse() {
    #[derive(Debug)]
    enum Own {
        Refused,
        Write(WriteError),
    }
    impl From<WriteError> for Own {
        fn from(error: WriteError) -> Self {
            Self::Write(error)
        }
    }
    let home = Home::new(Some("{a: 1}"));
    let refused = edit_file(&home.config(), quick(), |config| {
        assert!(config.get(&["a"]).is_some());
        Err(Own::Refused)
    });
    assert!(matches!(refused, Err(Own::Refused)));
    assert_eq!(home.files(), ["openclaw.json"]);
    let failed = edit_file::<Own>(&home.config(), quick(), |_| {
        Ok(vec![Edit::set(["a", "b"], 1)])
    });
    let Err(Own::Write(error)) = failed else {
        panic!("{failed:?}");
    };
    assert!(matches!(error.kind, WriteErrorKind::Edit(_)));
    assert_eq!(home.text(), "{a: 1}");
}

#[test]
fn read_only_environment_refuses_every_write() {
    let home = Home::new(None);
    let options = WriteOptions {
        read_only: true,
        ..quick()
    };
    let outcome = edit_file::<WriteError>(&home.config(), options, |_| Ok(allow("a")));
    assert!(matches!(
        outcome.unwrap_err().kind,
        WriteErrorKind::ReadOnly
    ));
    assert!(home.files().is_empty());
}

/// Case C-12.
#[test]
fn included_part_is_refused_and_the_other_file_named() {
    let text = "{plugins: {$include: './plugins.json5'}, other: {}}";
    let home = Home::new(Some(text));
    let error = home.edit(&allow("a")).unwrap_err();
    match error.kind {
        WriteErrorKind::Config(ConfigErrorKind::Included { file, .. }) => {
            assert_eq!(file, home.0.path().join("plugins.json5"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(home.text(), text);
    assert_eq!(home.files(), ["openclaw.json"]);
    assert!(home.edit(&[Edit::set(["other", "x"], 1)]).unwrap().changed);
}

/// Case C-2.
#[test]
fn placeholders_and_odd_numbers_survive_a_write() {
    let text =
        "{ token: \"Bearer ${ACME_TOKEN}\", n: 0x10, big: 12345678901234567890, plugins: {} }";
    let home = Home::new(Some(text));
    home.edit(&allow("a")).unwrap();
    assert!(home.text().starts_with(&text[..text.len() - "{} }".len()]));
    assert_eq!(home.backup().as_deref(), Some(text));
}

/// Case C-13.
#[test]
fn place_that_takes_no_files_gives_a_clear_error() {
    let home = Home::new(Some("{}"));
    // Stands for a read-only directory, which would not stop a privileged user.
    fs::create_dir(home.0.path().join("openclaw.json.lock")).unwrap();
    let error = home.edit(&allow("a")).unwrap_err();
    match &error.kind {
        WriteErrorKind::Io { step, .. } => assert_eq!(*step, "creating the lock file"),
        other => panic!("{other:?}"),
    }
    assert!(error.help().contains("create files in"));
    assert_eq!(home.text(), "{}");
    assert_eq!(home.files(), ["openclaw.json", "openclaw.json.lock"]);
}

/// Case C-13.
#[cfg(unix)]
#[test]
fn read_only_directory_changes_nothing() {
    let home = Home::new(Some("{}"));
    set_mode(&home.config(), 0o444);
    set_mode(home.0.path(), 0o555);
    let outcome = home.edit(&allow("a"));
    set_mode(home.0.path(), 0o755);
    match outcome {
        Err(error) => {
            assert!(matches!(error.kind, WriteErrorKind::Io { .. }));
            assert_eq!(home.text(), "{}");
            assert_eq!(home.files(), ["openclaw.json"]);
        }
        // A privileged user may write there; then the write must be whole.
        Ok(outcome) => assert!(outcome.changed && home.backup().as_deref() == Some("{}")),
    }
}

/// Case C-3.
#[cfg(unix)]
#[test]
fn mode_is_kept_and_the_backup_is_not_wider() {
    for wanted in [0o600, 0o640, 0o644, 0o444] {
        let home = Home::new(Some("{}"));
        set_mode(&home.config(), wanted);
        home.edit(&allow("a")).unwrap();
        let backup = home.0.path().join("openclaw.json.bak");
        assert_eq!((mode(&home.config()), mode(&backup)), (wanted, wanted));

        // A backup that was wide open before does not stay so.
        set_mode(&backup, 0o666);
        home.edit(&allow("b")).unwrap();
        assert_eq!(mode(&backup), wanted);
    }
}

/// Case C-3. Only a privileged process can give the file away first; for another one it is its own before and after.
#[cfg(unix)]
#[test]
fn owner_and_group_are_kept() {
    use std::os::unix::fs::{MetadataExt, chown};
    let home = Home::new(Some("{}"));
    let _ = chown(home.config(), Some(4242), Some(4243));
    let owner = || {
        let metadata = fs::metadata(home.config()).unwrap();
        (metadata.uid(), metadata.gid())
    };
    let before = owner();
    assert!(home.edit(&allow("a")).unwrap().changed);
    assert_eq!(owner(), before);
}

#[cfg(unix)]
#[test]
fn link_stays_a_link_and_its_target_changes() {
    let home = Home::new(None);
    let real = home.0.path().join("dotfiles");
    fs::create_dir(&real).unwrap();
    fs::write(real.join("config.json5"), "{}").unwrap();
    std::os::unix::fs::symlink("dotfiles/config.json5", home.config()).unwrap();
    home.edit(&allow("a")).unwrap();
    assert!(fs::symlink_metadata(home.config()).unwrap().is_symlink());
    assert!(
        fs::read_to_string(real.join("config.json5"))
            .unwrap()
            .contains("allow")
    );
    assert!(real.join("config.json5.bak").exists());
    assert_eq!(home.files(), ["dotfiles", "openclaw.json"]);
}

#[cfg(unix)]
#[test]
fn link_that_leads_nowhere_is_refused() {
    let home = Home::new(None);
    std::os::unix::fs::symlink("nowhere", home.config()).unwrap();
    let error = home.edit(&allow("a")).unwrap_err();
    assert!(matches!(error.kind, WriteErrorKind::Io { .. }));
    assert_eq!(home.files(), ["openclaw.json"]);
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
