//! Settings of this host that OpenClaw does not know: `<state dir>/native/native.json5`.

use std::path::Path;

use crate::document::Config;
use crate::error::{ConfigError, KeyFault};

/// Settings of this host. They never stand in `openclaw.json`, which OpenClaw would then refuse.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NativeSettings {
    /// A turn that another engine than the selected one would serve is an error. Default `false`.
    pub strict: bool,
}

/// The settings and what in the file could not be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NativeSettingsRead {
    /// The settings; a key with a fault has its default.
    pub settings: NativeSettings,
    /// Unknown keys and values of a wrong type.
    pub faults: Vec<KeyFault>,
}

impl NativeSettings {
    /// Name of the file in the native directory.
    pub const FILE_NAME: &str = "native.json5";

    /// Reads `native.json5` in `native_dir`; a missing file gives the defaults.
    ///
    /// # Errors
    ///
    /// Those of [`Config::read`]. Faults of single keys are returned beside the settings.
    pub fn read(native_dir: &Path) -> Result<NativeSettingsRead, ConfigError> {
        let config = Config::read(&native_dir.join(Self::FILE_NAME))?;
        let (settings, faults) = config.view(|root| {
            root.only(&["strict"]);
            Self {
                strict: root.bool("strict").unwrap_or_default(),
            }
        });
        Ok(NativeSettingsRead { settings, faults })
    }
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
    fn value_of_another_type_leaves_the_default() {
        let read = read(Some("{strict: 'yes'}")).unwrap();
        assert!(!read.settings.strict);
        assert_eq!(read.faults.len(), 1);
    }

    #[test]
    fn file_that_does_not_parse_is_an_error() {
        assert!(read(Some("{strict")).is_err());
        assert!(read(Some("")).is_err());
    }
}
