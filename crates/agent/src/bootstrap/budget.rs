//! How the files stand against their limits, for reports and warnings. Pure.

use super::BootstrapLimits;
use super::files::{BootstrapFile, FileText};
use super::inject::Injection;
use crate::utf16::utf16_len;

/// Share of a limit from which on a file counts as near it.
const NEAR_PERCENT: usize = 85;

/// Why less of a file is shown than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutCause {
    /// The file is larger than what is shown of one file.
    FileLimit,
    /// The files before it left too little of the total.
    TotalLimit,
}

impl CutCause {
    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileLimit => "per-file-limit",
            Self::TotalLimit => "total-limit",
        }
    }
}

/// One file against its limits; all sizes in chars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBudget {
    /// Name of the file.
    pub name: String,
    /// Path as shown.
    pub path: String,
    /// Whether it should be there and is not.
    pub missing: bool,
    /// Size without white space at the end.
    pub raw_chars: usize,
    /// What the prompt shows.
    pub injected_chars: usize,
    /// The most that is shown of this file.
    pub limit: usize,
    /// Whether it comes near its limit or is above.
    pub near_limit: bool,
    /// Why it was cut; empty when it was not.
    pub causes: Vec<CutCause>,
}

impl FileBudget {
    /// Whether less is shown than there is.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        !self.missing && self.injected_chars < self.raw_chars
    }
}

/// All files against their limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetAnalysis {
    /// In order of the prompt.
    pub files: Vec<FileBudget>,
    /// The limits they were held against.
    pub limits: BootstrapLimits,
    /// Chars of all files there are.
    pub raw_chars: usize,
    /// Chars the prompt shows of them.
    pub injected_chars: usize,
    /// Whether the total comes near its limit.
    pub total_near_limit: bool,
}

impl BudgetAnalysis {
    /// The files that were cut.
    pub fn truncated(&self) -> impl Iterator<Item = &FileBudget> {
        self.files.iter().filter(|file| file.is_truncated())
    }
}

/// Holds what is shown of the files against the limits.
#[must_use]
pub fn analyze_budget(
    files: &[BootstrapFile],
    injection: &Injection,
    limits: BootstrapLimits,
) -> BudgetAnalysis {
    let sizes = files.iter().map(|file| {
        let shown = injection.files.iter().find(|shown| shown.path == file.path);
        let injected_chars = shown.map_or(0, |shown| utf16_len(&shown.text));
        let raw_chars = match &file.text {
            FileText::Missing => None,
            FileText::Read(text) => Some(utf16_len(text.trim_end())),
        };
        FileSizes {
            name: &file.name,
            path: &file.path,
            raw_chars,
            injected_chars,
        }
    });
    analyze_sizes(sizes, limits)
}

struct FileSizes<'a> {
    name: &'a str,
    path: &'a str,
    /// `None` when the file is missing.
    raw_chars: Option<usize>,
    injected_chars: usize,
}

fn analyze_sizes<'a>(
    sizes: impl Iterator<Item = FileSizes<'a>>,
    limits: BootstrapLimits,
) -> BudgetAnalysis {
    let near = |chars: usize, limit: usize| chars * 100 >= limit * NEAR_PERCENT;
    let mut left = limits.total_max_chars();
    let mut analysis = BudgetAnalysis {
        files: Vec::new(),
        limits,
        raw_chars: 0,
        injected_chars: 0,
        total_near_limit: false,
    };
    for size in sizes {
        let limit = limits.of_file(size.name);
        let raw_chars = size.raw_chars.unwrap_or(0);
        let mut file = FileBudget {
            name: size.name.to_owned(),
            path: size.path.to_owned(),
            missing: size.raw_chars.is_none(),
            raw_chars,
            injected_chars: if size.raw_chars.is_some() {
                size.injected_chars
            } else {
                0
            },
            limit,
            near_limit: size.raw_chars.is_some() && near(raw_chars, limit),
            causes: Vec::new(),
        };
        if file.is_truncated() {
            if raw_chars > limit {
                file.causes.push(CutCause::FileLimit);
            }
            if left < raw_chars.min(limit) {
                file.causes.push(CutCause::TotalLimit);
            }
        }
        left = left.saturating_sub(size.injected_chars);
        analysis.raw_chars += file.raw_chars;
        analysis.injected_chars += file.injected_chars;
        analysis.files.push(file);
    }
    analysis.total_near_limit = near(analysis.injected_chars, limits.total_max_chars());
    analysis
}

#[cfg(test)]
mod tests {
    use super::super::inject::inject;
    use super::*;

    fn file(name: &str, text: FileText) -> BootstrapFile {
        BootstrapFile {
            name: name.to_owned(),
            path: format!("/ws/{name}"),
            text,
        }
    }

    fn of(chars: usize) -> FileText {
        FileText::Read("x".repeat(chars))
    }

    /// Case B-1.
    #[test]
    fn cut_files_are_told_with_their_causes() {
        let limits = BootstrapLimits::new(Some(1_000), Some(2_500));
        let files = [
            file("AGENTS.md", of(1_500)),
            file("SOUL.md", FileText::Missing),
            file("IDENTITY.md", of(1_000)),
            file("USER.md", of(10)),
            file("MEMORY.md", of(900)),
            file("NOTES.md", of(5)),
        ];
        let analysis = analyze_budget(&files, &inject(&files, limits), limits);
        let causes: Vec<_> = analysis
            .files
            .iter()
            .map(|file| (file.is_truncated(), file.causes.clone()))
            .collect();
        assert_eq!(
            causes,
            [
                (true, vec![CutCause::FileLimit]),
                (false, vec![]),
                (false, vec![]),
                (false, vec![]),
                (true, vec![CutCause::TotalLimit]),
                (true, vec![CutCause::TotalLimit]),
            ]
        );
        assert!(analysis.files[1].missing && analysis.total_near_limit);
        assert_eq!(
            (analysis.raw_chars, analysis.truncated().count()),
            (3_415, 3)
        );
        assert!(analysis.injected_chars <= 2_500);
        assert!(analysis.files[2].near_limit && !analysis.files[3].near_limit);
    }
}
