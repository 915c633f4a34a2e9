//! Packages of a registry, fetched by the user's own npm: it knows registries, proxies and credentials.

use crate::error::CliError;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A package, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Spec {
    pub(in super::super) name: String,
    /// An exact version or a tag.
    selector: Option<String>,
}

impl Spec {
    /// Reads `[npm:][@scope/]name[@version or tag]`.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(in super::super) fn parse(text: &str) -> Result<Self, String> {
        let spec = text.strip_prefix("npm:").unwrap_or(text).trim();
        if spec.is_empty() {
            return Err("it names no package".into());
        }
        // The first character may be the `@` of a scope.
        let at = spec.char_indices().skip(1).find(|(_, c)| *c == '@');
        let (name, selector) = match at {
            Some((at, _)) => (&spec[..at], Some(&spec[at + 1..])),
            None => (spec, None),
        };
        let unscoped = match name.strip_prefix('@') {
            Some(scoped) => match scoped.split_once('/') {
                Some((scope, unscoped)) if is_word(scope) => unscoped,
                _ => return Err(format!("`{name}` is no scoped package name")),
            },
            None => name,
        };
        if !is_word(unscoped) {
            return Err(format!("`{name}` is no package name"));
        }
        if let Some(selector) = selector {
            let is_range = selector.is_empty()
                || selector.starts_with(|c: char| !c.is_ascii_alphanumeric())
                || selector
                    .split('.')
                    .any(|part| part.eq_ignore_ascii_case("x"))
                || (selector.starts_with(|c: char| c.is_ascii_digit())
                    && selector
                        .split(['-', '+'])
                        .next()
                        .is_some_and(|core| core.split('.').count() != 3))
                || !selector
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c));
            if is_range {
                return Err(format!(
                    "`{selector}` is neither an exact version nor a tag"
                ));
            }
        }
        Ok(Self {
            name: name.to_owned(),
            selector: selector.map(str::to_owned),
        })
    }

    /// As npm takes it.
    pub(in super::super) fn text(&self) -> String {
        match &self.selector {
            Some(selector) => format!("{}@{selector}", self.name),
            None => self.name.clone(),
        }
    }

    /// The same package in exactly this version.
    pub(super) fn pinned(&self, version: &str) -> Self {
        Self {
            name: self.name.clone(),
            selector: Some(version.to_owned()),
        }
    }
}

fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    !text.is_empty() && !text.starts_with(['.', '_', '-']) && text.chars().all(is_part)
}

/// Lets npm put the package's archive into `directory`, which is empty. No script of the package runs.
pub(super) fn pack(spec: &Spec, directory: &Path) -> Result<PathBuf, CliError> {
    let text = spec.text();
    let ran = Command::new("npm")
        .args(["pack", "--ignore-scripts", "--silent", "--pack-destination"])
        .arg(directory)
        .arg("--")
        .arg(&text)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output();
    let output = ran.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => CliError::new(
            format!("`{text}` is a package of a registry, and there is no npm to fetch it"),
            "install npm, or name a directory or an archive that exists",
        ),
        _ => CliError::new(format!("npm cannot be run: {error}"), "check your npm"),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last: Vec<&str> = said.lines().rev().take(5).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        return Err(CliError::new(
            format!("npm cannot fetch `{text}`: {}", last.join("; ")),
            format!("see what `npm view {text}` says; a local path must exist"),
        ));
    }
    let files = fs::read_dir(directory).map_err(|error| CliError::io("read", directory, &error))?;
    let mut archives = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|it| it == "tgz"));
    match (archives.next(), archives.next()) {
        (Some(archive), None) => Ok(archive),
        _ => Err(CliError::new(
            format!("npm said that it fetched `{text}` and left not one archive"),
            "check your npm: `npm pack` has to write one .tgz",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_a_name_and_an_exact_version_or_a_tag() {
        for (text, npm) in [
            ("window", "window"),
            ("npm:window", "window"),
            ("@me/window", "@me/window"),
            ("@me/window@1.2.3-rc.1+b", "@me/window@1.2.3-rc.1+b"),
            ("window@latest", "window@latest"),
        ] {
            assert_eq!(
                Spec::parse(text).map(|spec| spec.text()),
                Ok(npm.into()),
                "{text}"
            );
        }
        for wrong in [
            "",
            "npm:",
            "@me",
            "@me/",
            "@/x",
            "A",
            "a b",
            "window@",
            "window@^1.0.0",
            "window@~1",
            "window@1",
            "window@1.x",
            "window@1.2.x",
            "window@>=1",
            "window@*",
            "window@1 || 2",
            "https://example.com/x.tgz",
            "git:x",
            "--evil",
            "window@--evil",
            "window@../x",
        ] {
            assert!(Spec::parse(wrong).is_err(), "{wrong}");
        }
    }
}
