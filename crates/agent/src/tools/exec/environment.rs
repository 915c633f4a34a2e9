//! What a command gets of this process's environment: names known to be harmless. Keys of providers have any name, so
//! that a list of bad names would not do.

use std::ffi::{OsStr, OsString};

const NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "XDG_RUNTIME_DIR",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "WINDIR",
];
/// Nobody looks at a command: no colours, no pager, no questions.
const SET: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

#[derive(Clone)]
pub(super) struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    pub(super) fn of(inherited: &[(OsString, OsString)]) -> Self {
        let mut variables: Vec<_> = inherited
            .iter()
            .filter(|(name, _)| is_harmless(name))
            .cloned()
            .collect();
        variables.extend(
            SET.iter()
                .map(|(name, value)| (OsString::from(name), OsString::from(value))),
        );
        Self(variables)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

fn is_harmless(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    NAMES
        .iter()
        .any(|harmless| harmless.eq_ignore_ascii_case(name))
        || name.starts_with("LC_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_names_pass() {
        let inherited: Vec<(OsString, OsString)> = [
            "PATH",
            "LC_ALL",
            "OPENAI_API_KEY",
            "LD_PRELOAD",
            "MY_TOKEN",
            "HOMEKEY",
        ]
        .map(|name| (name.into(), "x".into()))
        .into();
        let environment = Environment::of(&inherited);
        let names: Vec<&str> = environment
            .iter()
            .filter_map(|(name, _)| name.to_str())
            .collect();
        assert_eq!(
            names,
            [
                "PATH",
                "LC_ALL",
                "TERM",
                "PAGER",
                "GIT_PAGER",
                "GIT_TERMINAL_PROMPT"
            ]
        );
    }
}
