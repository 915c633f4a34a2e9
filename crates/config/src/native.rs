//! Settings of this host that OpenClaw does not know: `<state dir>/native/native.json5`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::document::Config;
use crate::error::{ConfigError, ConfigErrorKind, KeyFault, KeyProblem};
use crate::section::Section;

const ALLOWED_LIBRARIES: &str = "allowedLibraries";

/// Settings of this host. They never stand in `openclaw.json`, which OpenClaw would then refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeSettings {
    /// A turn that another engine than the selected one would serve is an error. Default `false`.
    pub strict: bool,
    /// `plugins.allowedLibraries`: the only libraries that may be loaded, by SHA-256 in lower-case hex. `None`, when the
    /// key is absent, allows all; an empty list allows none.
    pub allowed_libraries: Option<BTreeSet<String>>,
    /// `reload.leakedGenerations`: replaced libraries that may stay mapped in a process. Default 32.
    pub leaked_generations: u64,
}

impl Default for NativeSettings {
    fn default() -> Self {
        Self {
            strict: false,
            allowed_libraries: None,
            leaked_generations: 32,
        }
    }
}

/// The settings and what in the file could not be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NativeSettingsRead {
    /// The settings.
    pub settings: NativeSettings,
    /// Unknown keys.
    pub faults: Vec<KeyFault>,
}

impl NativeSettings {
    /// Name of the file in the native directory.
    pub const FILE_NAME: &str = "native.json5";

    /// Reads `native.json5` in `native_dir`; a missing file gives the defaults.
    ///
    /// # Errors
    ///
    /// Those of [`Config::read`], and `Invalid` for a known key with a value of a wrong type: a default in its place
    /// would be less strict than what was asked for. Unknown keys are returned beside the settings.
    pub fn read(native_dir: &Path) -> Result<NativeSettingsRead, ConfigError> {
        let path = native_dir.join(Self::FILE_NAME);
        let config = Config::read(&path)?;
        let (settings, faults) = config.view(|root| {
            root.only(&["strict", "plugins", "reload"]);
            let (plugins, reload) = (root.section("plugins"), root.section("reload"));
            plugins.only(&[ALLOWED_LIBRARIES]);
            reload.only(&["leakedGenerations"]);
            let default = Self::default();
            Self {
                strict: root.bool("strict").unwrap_or(default.strict),
                allowed_libraries: allowed_libraries(&plugins),
                leaked_generations: reload
                    .count("leakedGenerations")
                    .unwrap_or(default.leaked_generations),
            }
        });
        let (faults, wrong): (Vec<_>, Vec<_>) = faults
            .into_iter()
            .partition(|fault| matches!(fault.problem, KeyProblem::Unknown { .. }));
        if !wrong.is_empty() {
            return Err(ConfigError::new(&path, ConfigErrorKind::Invalid(wrong)));
        }
        Ok(NativeSettingsRead { settings, faults })
    }
}

fn allowed_libraries(plugins: &Section<'_, '_>) -> Option<BTreeSet<String>> {
    plugins.get(ALLOWED_LIBRARIES)?;
    let hashes = plugins.strings(ALLOWED_LIBRARIES);
    let is_hash =
        |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !hashes.iter().all(is_hash) {
        let wanted = "a list of SHA-256 hashes, 64 hexadecimal digits each";
        plugins.fault(ALLOWED_LIBRARIES, KeyProblem::WrongForm { wanted });
    }
    Some(
        hashes
            .iter()
            .map(|hash| hash.to_ascii_lowercase())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_path::KeyPath;

    fn read(text: Option<&str>) -> Result<NativeSettingsRead, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(text) = text {
            std::fs::write(folder.path().join(NativeSettings::FILE_NAME), text).unwrap();
        }
        NativeSettings::read(folder.path())
    }

    #[test]
    fn missing_file_gives_the_defaults() {
        let read = read(None).unwrap();
        assert_eq!(read, NativeSettingsRead::default());
        assert!(!read.settings.strict);
        assert_eq!(read.settings.allowed_libraries, None);
        assert_eq!(read.settings.leaked_generations, 32);
    }

    #[test]
    fn allowed_libraries_and_the_limit_of_reloads_are_read() {
        let hash = "AB".repeat(32);
        let text = format!(
            "{{plugins: {{allowedLibraries: ['{hash}']}}, reload: {{leakedGenerations: 5}}}}"
        );
        let settings = read(Some(&text)).unwrap().settings;
        let allowed: Vec<_> = settings.allowed_libraries.into_iter().flatten().collect();
        assert_eq!(allowed, ["ab".repeat(32)]);
        assert_eq!(settings.leaked_generations, 5);
        let none = read(Some("{plugins: {allowedLibraries: []}}")).unwrap();
        assert_eq!(none.settings.allowed_libraries, Some(BTreeSet::new()));
    }

    #[test]
    fn allow_list_that_is_no_list_of_hashes_is_an_error() {
        for value in ["'all'", "['abc']", "[7]", "null", "{}"] {
            let text = format!("{{plugins: {{allowedLibraries: {value}}}}}");
            let error = read(Some(&text)).unwrap_err();
            let ConfigErrorKind::Invalid(faults) = error.kind else {
                panic!("{error:?}")
            };
            let key = faults[0].key.to_string();
            assert!(key.starts_with("plugins.allowedLibraries"), "{key}");
        }
        assert!(read(Some("{plugins: [], strict: true}")).is_err());
        assert!(read(Some("{reload: {leakedGenerations: 0}}")).is_err());
    }

    #[test]
    fn unknown_key_is_a_fault_beside_the_settings() {
        let read = read(Some("{\n  strict: true,\n  stict: true,\n}")).unwrap();
        assert!(read.settings.strict);
        assert_eq!(read.faults.len(), 1);
        assert_eq!(read.faults[0].key, KeyPath::new(["stict"]));
        assert_eq!(read.faults[0].line, Some(3));
    }

    #[test]
    fn value_of_another_type_is_an_error() {
        for value in ["'yes'", "1", "null"] {
            let error = read(Some(&format!("{{stict: 1, strict: {value}}}"))).unwrap_err();
            let ConfigErrorKind::Invalid(faults) = error.kind else {
                panic!("{error:?}")
            };
            assert_eq!(faults.len(), 1, "{value}");
            assert_eq!(faults[0].key, KeyPath::new(["strict"]));
        }
    }

    #[test]
    fn help_names_a_backup_only_where_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NativeSettings::FILE_NAME);
        let help = |text: &str| {
            std::fs::write(&path, text).unwrap();
            NativeSettings::read(folder.path()).unwrap_err().help()
        };
        for text in ["{strict", ""] {
            assert!(!help(text).contains(".bak"), "{}", help(text));
        }
        std::fs::write(folder.path().join("native.json5.bak"), "{}").unwrap();
        for text in ["{strict", ""] {
            assert!(help(text).contains("native.json5.bak"), "{}", help(text));
        }
    }

    #[test]
    fn file_that_does_not_parse_is_an_error() {
        assert!(read(Some("{strict")).is_err());
        assert!(read(Some("")).is_err());
    }
}
