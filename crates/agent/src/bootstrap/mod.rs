//! The workspace files that every run begins with: which they are, how much of each is shown, and what is said about
//! what is not.
//!
//! Chars are UTF-16 units. Only `files.rs` reads anything; it goes through the [`Workspace`](crate::Workspace), so that
//! no file from elsewhere ends up in a prompt.
//!
//! Source: system prompt and context report, "Workspace files", "Truncation", "Warnings".

mod budget;
mod cut;
mod digest;
mod files;
mod inject;
mod warning;

pub use budget::{BudgetAnalysis, CutCause, FileBudget, analyze_budget};
pub use files::{BootstrapFault, BootstrapFile, Edition, FileText, read_bootstrap_files};
pub use inject::{Injected, Injection, inject};
pub use warning::{TruncationNotice, WarningMode, truncation_notice};

/// How much of the files is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootstrapLimits {
    max_chars: usize,
    total_max_chars: usize,
}

const DEFAULT_MAX_CHARS: usize = 20_000;
const DEFAULT_TOTAL_MAX_CHARS: usize = 60_000;
/// What is shown of `USER.md` at most, whatever is configured.
const USER_MAX_CHARS: usize = 4_000;
const USER_FILE: &str = "USER.md";
const AGENTS_FILE: &str = "AGENTS.md";

impl BootstrapLimits {
    /// Limits in chars; `None` and 0 stand for the default.
    #[must_use]
    pub fn new(max_chars: Option<usize>, total_max_chars: Option<usize>) -> Self {
        let or =
            |given: Option<usize>, default| given.filter(|chars| *chars > 0).unwrap_or(default);
        Self {
            max_chars: or(max_chars, DEFAULT_MAX_CHARS),
            total_max_chars: or(total_max_chars, DEFAULT_TOTAL_MAX_CHARS),
        }
    }

    /// Chars shown of one file.
    #[must_use]
    pub fn max_chars(&self) -> usize {
        self.max_chars
    }

    /// Chars shown of all files together.
    #[must_use]
    pub fn total_max_chars(&self) -> usize {
        self.total_max_chars
    }

    /// Chars shown of the file of this name.
    #[must_use]
    pub fn of_file(&self, name: &str) -> usize {
        if name == USER_FILE {
            self.max_chars.min(USER_MAX_CHARS)
        } else {
            self.max_chars
        }
    }
}

impl Default for BootstrapLimits {
    fn default() -> Self {
        Self::new(None, None)
    }
}
