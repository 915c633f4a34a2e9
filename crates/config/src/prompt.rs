//! The settings under `agents.defaults` that shape a system prompt.

use crate::section::Section;

/// What a system prompt is made with. Limits are in chars.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptSettings {
    /// `bootstrapMaxChars`.
    pub bootstrap_max_chars: Option<u64>,
    /// `bootstrapTotalMaxChars`.
    pub bootstrap_total_max_chars: Option<u64>,
    /// `bootstrapPromptTruncationWarning`: `off`, `once` or `always`, as written.
    pub truncation_warning: Option<String>,
    /// `userTimezone`: an IANA name.
    pub user_timezone: Option<String>,
    /// `skills.limits.maxSkillsPromptChars`, at the root.
    pub max_skills_chars: Option<u64>,
}

impl PromptSettings {
    pub(crate) fn of(root: &Section<'_, '_>) -> Self {
        let defaults = root.section("agents").section("defaults");
        let limits = root.section("skills").section("limits");
        Self {
            bootstrap_max_chars: defaults.count("bootstrapMaxChars"),
            bootstrap_total_max_chars: defaults.count("bootstrapTotalMaxChars"),
            truncation_warning: defaults.string("bootstrapPromptTruncationWarning"),
            user_timezone: defaults.string("userTimezone"),
            max_skills_chars: limits.count("maxSkillsPromptChars"),
        }
    }
}
