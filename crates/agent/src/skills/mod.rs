//! Skills: folders with a `SKILL.md` that says how something is done. The prompt lists name, description and place; the
//! model reads the file itself when it needs it.
//!
//! Source: system prompt and context report, "Skills". Requirements that a skill may state in its metadata (programs,
//! settings) are not looked at.

mod catalogue;
mod discover;
mod front_matter;

pub use catalogue::{SkillCatalogue, SkillLimits, skill_catalogue};
pub use discover::{SkillFault, SkillFaultKind, SkillRoot, find_skills};

/// A skill the model may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name, 64 characters at most.
    pub name: String,
    /// What it is good for, 1,024 characters at most.
    pub description: String,
    /// Absolute path of its `SKILL.md`.
    pub path: std::path::PathBuf,
}
