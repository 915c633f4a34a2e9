//! What the model is told when files were cut. Names no numbers, so that a provider's cache stays warm.

use serde_json::json;

use super::budget::BudgetAnalysis;

/// How often the model is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarningMode {
    /// Never.
    Off,
    /// Once for each set of cut files and sizes.
    Once,
    /// In every run.
    #[default]
    Always,
}

impl WarningMode {
    /// Reads the word of the configuration.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "off" => Self::Off,
            "once" => Self::Once,
            "always" => Self::Always,
            _ => return None,
        })
    }

    /// The word of the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Once => "once",
            Self::Always => "always",
        }
    }
}

/// Whether the model is told, and by what the telling is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncationNotice {
    /// Lines for the prompt; none when nothing is to be said.
    pub lines: &'static [&'static str],
    /// What was cut, for the list of what was told before; `None` when nothing was.
    pub signature: Option<String>,
}

const LINES: &[&str] = &[
    "[Bootstrap truncation warning]",
    "Some workspace files were cut before they were put here.",
    "Project Context is therefore partial; read such a file itself before relying on it.",
];

/// Decides what the model is told.
///
/// `told_before`: signatures of earlier notices; only [`WarningMode::Once`] looks at them.
#[must_use]
pub fn truncation_notice(
    analysis: &BudgetAnalysis,
    mode: WarningMode,
    told_before: &[String],
) -> TruncationNotice {
    let mut files: Vec<_> = analysis.truncated().collect();
    if files.is_empty() {
        return TruncationNotice {
            lines: &[],
            signature: None,
        };
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let files: Vec<_> = files
        .into_iter()
        .map(|file| {
            let causes: Vec<&str> = file.causes.iter().map(|cause| cause.as_str()).collect();
            json!({"path": file.path, "rawChars": file.raw_chars, "injectedChars": file.injected_chars, "causes": causes})
        })
        .collect();
    let signature = json!({
        "bootstrapMaxChars": analysis.limits.max_chars(),
        "bootstrapTotalMaxChars": analysis.limits.total_max_chars(),
        "files": files,
    })
    .to_string();
    let is_told = match mode {
        WarningMode::Off => false,
        WarningMode::Once => !told_before.contains(&signature),
        WarningMode::Always => true,
    };
    TruncationNotice {
        lines: if is_told { LINES } else { &[] },
        signature: Some(signature),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BootstrapFile, BootstrapLimits, FileText, analyze_budget, inject};
    use super::*;

    fn analysis(chars: usize) -> BudgetAnalysis {
        let limits = BootstrapLimits::new(Some(500), None);
        let files = [BootstrapFile {
            name: "SOUL.md".to_owned(),
            path: "/ws/SOUL.md".to_owned(),
            text: FileText::Read("x".repeat(chars)),
        }];
        analyze_budget(&files, &inject(&files, limits), limits)
    }

    /// Case B-1.
    #[test]
    fn modes_decide_how_often_the_model_is_told() {
        let told = |mode, before: &[String]| {
            !truncation_notice(&analysis(900), mode, before)
                .lines
                .is_empty()
        };
        let signature = truncation_notice(&analysis(900), WarningMode::Once, &[])
            .signature
            .unwrap();
        assert!(!told(WarningMode::Off, &[]));
        assert!(told(WarningMode::Once, &[]));
        assert!(!told(WarningMode::Once, std::slice::from_ref(&signature)));
        assert!(told(WarningMode::Always, std::slice::from_ref(&signature)));
        assert_ne!(
            truncation_notice(&analysis(901), WarningMode::Once, &[]).signature,
            Some(signature)
        );
    }

    #[test]
    fn whole_files_need_no_word() {
        let notice = truncation_notice(&analysis(500), WarningMode::Always, &[]);
        assert_eq!(
            notice,
            TruncationNotice {
                lines: &[],
                signature: None
            }
        );
    }

    #[test]
    fn modes_are_read_and_written_alike() {
        for mode in [WarningMode::Off, WarningMode::Once, WarningMode::Always] {
            assert_eq!(WarningMode::parse(mode.as_str()), Some(mode));
        }
        assert_eq!(WarningMode::parse("never"), None);
    }
}
