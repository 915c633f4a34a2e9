//! Where this process is: environment, directories, clock.

use crate::error::CliError;
use openclaw_config::{Config, NativeSettings, Paths, WriteOptions, resolve};
use openclaw_host::Ambient;
use openclaw_loader::Trust;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The only agent so far.
pub(crate) const AGENT_ID: &str = "main";

/// Where this process is. The one place that reads the real environment.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) paths: Paths,
    pub(crate) current_dir: PathBuf,
}

impl Context {
    pub(crate) fn of_process(profile: Option<&str>) -> Result<Self, CliError> {
        let current_dir = std::env::current_dir().map_err(|error| {
            CliError::new(
                format!("cannot tell the current directory: {error}"),
                "change to a directory that exists",
            )
        })?;
        // What is derived from it ends up in the config, in records and in what plugins are told: text, all of it.
        if current_dir.to_str().is_none() {
            return Err(CliError::new(
                format!(
                    "the current directory {} is not UTF-8",
                    current_dir.display()
                ),
                "change to a directory whose path is UTF-8",
            ));
        }
        let paths = resolve(&variable, &current_dir, profile)?;
        Ok(Self { paths, current_dir })
    }

    /// `openclaw.json`; empty when there is none.
    pub(crate) fn config(&self) -> Result<Config, CliError> {
        Ok(Config::read(&self.paths.config_path)?)
    }

    /// Our own settings, and what is wrong with them in words.
    pub(crate) fn native_settings(&self) -> Result<(NativeSettings, Vec<String>), CliError> {
        let read = NativeSettings::read(&self.paths.native_dir)?;
        Ok((
            read.settings,
            read.faults.iter().map(ToString::to_string).collect(),
        ))
    }

    /// What the operator allows of a plugin, whoever installed it.
    pub(crate) fn trust(&self) -> Result<Trust, CliError> {
        Ok(Trust {
            allowed: self.native_settings()?.0.allowed_libraries,
            ..Trust::default()
        })
    }

    /// How `openclaw.json` may be written.
    pub(crate) fn write_options(&self) -> WriteOptions {
        let read_only = variable("OPENCLAW_CONFIG_READONLY").is_some_and(|value| value == "1");
        WriteOptions {
            read_only,
            ..WriteOptions::default()
        }
    }

    /// A path from the command line, absolute.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        openclaw_config::expand(path, &self.paths.home, &self.current_dir)
    }

    /// Time and fresh ids of the real world. `OPENCLAW_STORE_WAIT_MS` says how long to wait for a locked store.
    pub(crate) fn ambient() -> Ambient {
        let ambient = Ambient::new(now_ms, || uuid::Uuid::now_v7().to_string());
        let wait = variable("OPENCLAW_STORE_WAIT_MS")
            .and_then(|value| value.to_str()?.parse().ok().map(Duration::from_millis));
        match wait {
            Some(wait) => ambient.with_store_wait(wait),
            None => ambient,
        }
    }
}

/// A variable of the environment.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
