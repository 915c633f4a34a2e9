//! Where the state directory, the config file and what lies beside them are.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Every place the command line needs. All paths are absolute when `current_dir` was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The directory `~` stands for.
    pub home: PathBuf,
    /// State directory.
    pub state_dir: PathBuf,
    /// The config file; may be outside the state directory.
    pub config_path: PathBuf,
    /// Copied plugins; beside the config file.
    pub extensions_dir: PathBuf,
    /// Everything of this host that OpenClaw does not know.
    pub native_dir: PathBuf,
    /// Workspace of an agent for which the config names none.
    pub default_workspace: PathBuf,
    /// The profile; `None` for the default one.
    pub profile: Option<String>,
}

/// The places cannot be worked out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot find the state directory")]
pub struct PathsError {
    /// Why.
    #[source]
    pub kind: PathsErrorKind,
}

/// Why the places cannot be worked out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathsErrorKind {
    /// A profile name with other characters than letters, digits, `_` and `-`, or none. The command exits 2.
    #[error("`{}` is not a profile name", name.escape_debug())]
    BadProfile {
        /// The name as given.
        name: String,
    },
    /// A variable holds a path that is not UTF-8. Configuration, records and plugins know text only.
    #[error("{variable} is not UTF-8")]
    NotUtf8 {
        /// The variable.
        variable: &'static str,
    },
    /// Neither OPENCLAW_HOME nor the home directory of the system is set.
    #[error("no home directory is set")]
    NoHome,
}

impl PathsError {
    /// Short stable code of the kind, such as `paths/bad-profile`.
    pub fn code(&self) -> &'static str {
        match self.kind {
            PathsErrorKind::BadProfile { .. } => "paths/bad-profile",
            PathsErrorKind::NotUtf8 { .. } => "paths/not-utf8",
            PathsErrorKind::NoHome => "paths/no-home",
        }
    }

    /// What to do next.
    pub fn help(&self) -> String {
        match self.kind {
            PathsErrorKind::BadProfile { .. } => "use letters, digits, `_` and `-` only",
            PathsErrorKind::NotUtf8 { variable } => {
                return format!("set {variable} to a path in UTF-8");
            }
            PathsErrorKind::NoHome => "set HOME or OPENCLAW_HOME",
        }
        .to_owned()
    }
}

/// Works out the places from the environment.
///
/// Values are trimmed, blank ones count as unset, `~` is the home directory, relative paths start at
/// `current_dir`. `profile` (from `--profile`) goes before OPENCLAW_PROFILE, OPENCLAW_STATE_DIR before both.
/// Asks the file system one thing: whether only the directory of a former version, `~/.clawdbot`, exists.
///
/// # Errors
///
/// A bad profile name, no home directory, or a variable in use that is not UTF-8.
pub fn resolve(
    env: &dyn Fn(&str) -> Option<OsString>,
    current_dir: &Path,
    profile: Option<&str>,
) -> Result<Paths, PathsError> {
    let system_home = || match value(env, "HOME")? {
        Some(home) => Ok(Some(home)),
        None => value(env, "USERPROFILE"),
    };
    let home = match value(env, "OPENCLAW_HOME")? {
        // The home of the system counts only where it is used.
        Some(own) if own.starts_with('~') => {
            let system = system_home()?.map(PathBuf::from);
            expand(&own, system.as_deref().unwrap_or(current_dir), current_dir)
        }
        Some(own) => expand(&own, current_dir, current_dir),
        None => {
            let system = system_home()?.ok_or(PathsError {
                kind: PathsErrorKind::NoHome,
            })?;
            expand(&system, current_dir, current_dir)
        }
    };
    let profile = match profile {
        Some(name) => profile_name(name)?,
        None => match value(env, "OPENCLAW_PROFILE")? {
            Some(name) => profile_name(&name)?,
            None => None,
        },
    };

    let own_state_dir = value(env, "OPENCLAW_STATE_DIR")?;
    let default_workspace = match (&own_state_dir, &profile) {
        // Next to the state the caller chose, so that a scratch directory keeps everything together.
        (Some(own), _) => expand(own, &home, current_dir).join("workspace"),
        (None, Some(profile)) => home.join(".openclaw").join(format!("workspace-{profile}")),
        (None, None) => home.join(".openclaw").join("workspace"),
    };
    let state_dir = match (own_state_dir, &profile) {
        (Some(own), _) => expand(&own, &home, current_dir),
        (None, Some(profile)) => home.join(format!(".openclaw-{profile}")),
        (None, None) => {
            let (current, former) = (home.join(".openclaw"), home.join(".clawdbot"));
            if !current.exists() && former.exists() {
                former
            } else {
                current
            }
        }
    };
    let config_path = match value(env, "OPENCLAW_CONFIG_PATH")? {
        Some(own) => expand(&own, &home, current_dir),
        None => state_dir.join("openclaw.json"),
    };
    Ok(Paths {
        extensions_dir: config_path.with_file_name("extensions"),
        native_dir: state_dir.join("native"),
        default_workspace,
        home,
        state_dir,
        config_path,
        profile,
    })
}

/// Expands `~` and `~/x` with `home`, and joins a relative path to `current_dir`. The text is trimmed.
///
/// `~name` is an ordinary relative name. `.` and `..` stay; nothing has to exist.
pub fn expand(path: impl AsRef<OsStr>, home: &Path, current_dir: &Path) -> PathBuf {
    let path = trimmed(path.as_ref());
    let path = Path::new(&path);
    match path.strip_prefix("~") {
        Ok(rest) if rest.as_os_str().is_empty() => home.to_owned(),
        Ok(rest) => home.join(rest),
        Err(_) => current_dir.join(path),
    }
}

fn value(
    env: &dyn Fn(&str) -> Option<OsString>,
    variable: &'static str,
) -> Result<Option<String>, PathsError> {
    let Some(value) = env(variable) else {
        return Ok(None);
    };
    let Some(text) = value.to_str().map(str::trim) else {
        let kind = PathsErrorKind::NotUtf8 { variable };
        return Err(PathsError { kind });
    };
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Trims what is UTF-8; other names are taken as they are.
fn trimmed(text: &OsStr) -> OsString {
    match text.to_str() {
        Some(text) => text.trim().into(),
        None => text.to_owned(),
    }
}

fn profile_name(name: &str) -> Result<Option<String>, PathsError> {
    let valid = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if !valid {
        return Err(PathsError {
            kind: PathsErrorKind::BadProfile {
                name: name.to_owned(),
            },
        });
    }
    Ok((!name.eq_ignore_ascii_case("default")).then(|| name.to_owned()))
}

#[cfg(test)]
mod tests;
