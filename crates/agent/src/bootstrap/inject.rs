//! From files to what the prompt shows of them. Pure.

use super::files::{BootstrapFile, FileText};
use super::{AGENTS_FILE, BootstrapLimits, cut, digest};
use crate::utf16::utf16_len;

/// Less room than this is not worth another file.
const FEWEST_CHARS: usize = 64;

/// What a prompt shows of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injected {
    /// Name of the file.
    pub name: String,
    /// Path as shown to the model.
    pub path: String,
    /// What is shown.
    pub text: String,
}

/// What a prompt shows of all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Injection {
    /// In order; files behind an exhausted budget are absent.
    pub files: Vec<Injected>,
    /// What was cut or left out, one line each, for the log.
    pub notes: Vec<String>,
}

/// Cuts each file to its limit and all of them to the total.
#[must_use]
pub fn inject(files: &[BootstrapFile], limits: BootstrapLimits) -> Injection {
    let mut injection = Injection::default();
    let mut left = limits.total_max_chars();
    for file in files {
        if left == 0 {
            break;
        }
        let text = match &file.text {
            FileText::Missing => cut::clamp(&format!("[MISSING] Expected at: {}", file.path), left),
            FileText::Read(text) => {
                if left < FEWEST_CHARS {
                    injection.notes.push(format!(
                        "remaining bootstrap budget is {left} chars (<{FEWEST_CHARS}); skipping additional bootstrap files"
                    ));
                    break;
                }
                let limit = limits.of_file(&file.name).min(left);
                let text = text.trim_end();
                let chars = utf16_len(text);
                if chars > limit {
                    injection.notes.push(format!(
                        "workspace bootstrap file {} is {chars} chars (limit {limit}); truncating in injected context",
                        file.name
                    ));
                }
                if file.name == AGENTS_FILE {
                    digest::cut_agents(&file.name, text, limit)
                } else {
                    cut::cut(&file.name, text, limit)
                }
            }
        };
        left -= utf16_len(&text);
        injection.files.push(Injected {
            name: file.name.clone(),
            path: file.path.clone(),
            text,
        });
    }
    injection
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, chars: usize) -> BootstrapFile {
        BootstrapFile {
            name: name.to_owned(),
            path: format!("/ws/{name}"),
            text: FileText::Read("x".repeat(chars)),
        }
    }

    /// Case B-4.
    #[test]
    fn no_other_limit_applies_below_the_configured_ones() {
        let limits = BootstrapLimits::new(Some(100_000), Some(200_000));
        for name in ["AGENTS.md", "SOUL.md"] {
            let injection = inject(&[file(name, 60_000)], limits);
            assert_eq!(injection.files[0].text.len(), 60_000, "{name}");
            assert!(injection.notes.is_empty());
        }
    }

    /// Case B-1.
    #[test]
    fn files_behind_the_total_are_absent_and_noted() {
        let files =
            ["AGENTS.md", "SOUL.md", "IDENTITY.md", "MEMORY.md"].map(|name| file(name, 30_000));
        let injection = inject(&files, BootstrapLimits::new(Some(20_000), Some(40_000)));
        let total: usize = injection
            .files
            .iter()
            .map(|file| utf16_len(&file.text))
            .sum();
        assert!(total <= 40_000, "{total}");
        assert!(
            injection.notes[0].contains("AGENTS.md is 30000 chars (limit 20000)"),
            "{:?}",
            injection.notes
        );
        assert!(injection.files.len() < 4);
    }
}
