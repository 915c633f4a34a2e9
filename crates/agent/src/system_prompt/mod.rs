//! The system prompt of an agent turn: its sections in OpenClaw's order, with what changes kept behind what does not.
//!
//! Our own words. Looks nothing up: tools, skills, files, date and facts come in as values.
//!
//! Source: system prompt and context report, "System prompt order".

mod sections;
mod texts;

use openclaw_host::{SystemPrompt, ToolSpec};

use crate::bootstrap::Injected;
use sections::Sections;
pub use sections::{PromptSection, SectionKind};

/// What a system prompt is made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct PromptFacts<'a> {
    /// Absolute path of the agent's workspace.
    pub workspace_dir: &'a str,
    /// Tools the model may call, in any order.
    pub tools: &'a [ToolSpec],
    /// The list of skills; empty when there are none.
    pub skills: &'a str,
    /// Files of the workspace, cut to their limits.
    pub files: &'a [Injected],
    /// Whether `BOOTSTRAP.md` is among them and still to be done.
    pub is_first_run: bool,
    /// What is said about files that were cut.
    pub truncation_notice: &'a [&'a str],
    /// The present date and zone, a line each. Not looked at; a day is fine enough for most uses and keeps a provider's
    /// cache warm for longer.
    pub date: &'a [String],
    /// Names and values for the runtime line, such as `model` and `os`.
    pub runtime: &'a [(&'a str, &'a str)],
}

/// A system prompt, and what each part of it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltPrompt {
    /// The prompt.
    pub prompt: SystemPrompt,
    /// Its sections, in order.
    pub sections: Vec<PromptSection>,
}

impl BuiltPrompt {
    /// Chars of the sections of a kind.
    #[must_use]
    pub fn chars_of(&self, kind: SectionKind) -> usize {
        let sections = self.sections.iter().filter(|section| section.kind == kind);
        sections.map(|section| section.chars).sum()
    }
}

/// Writes the system prompt.
///
/// Tools are listed by name, so that their order of registration does not change the prompt.
#[must_use]
pub fn system_prompt(facts: &PromptFacts<'_>) -> BuiltPrompt {
    let mut stable = Sections::default();
    stable.add(SectionKind::Instructions, texts::IDENTITY.to_owned());
    if !facts.tools.is_empty() {
        stable.add(SectionKind::Tools, texts::tools(facts.tools));
        stable.add(SectionKind::Instructions, texts::TOOL_STYLE.to_owned());
    }
    stable.add(SectionKind::Instructions, texts::SAFETY.to_owned());
    // Without the tool that reads them the list would promise too much.
    if !facts.skills.is_empty() && facts.tools.iter().any(|tool| tool.name == "read") {
        stable.add(
            SectionKind::Skills,
            format!("{}\n\n{}", texts::SKILLS, facts.skills),
        );
    }
    stable.add(
        SectionKind::Workspace,
        texts::workspace(facts.workspace_dir),
    );
    if facts.is_first_run {
        stable.add(
            SectionKind::Instructions,
            texts::BOOTSTRAP_PENDING.to_owned(),
        );
    }
    if !facts.truncation_notice.is_empty() {
        stable.add(
            SectionKind::Instructions,
            texts::notice(facts.truncation_notice),
        );
    }
    if !facts.files.is_empty() {
        stable.add(SectionKind::Instructions, texts::WORKSPACE_FILES.to_owned());
        stable.add(
            SectionKind::ProjectContext,
            texts::project_context(facts.files),
        );
    }

    let mut dynamic = Sections::default();
    if !facts.date.is_empty() {
        dynamic.add(SectionKind::Time, texts::time(facts.date));
    }
    if !facts.runtime.is_empty() {
        dynamic.add(SectionKind::Runtime, texts::runtime(facts.runtime));
    }
    let (stable, mut sections) = stable.finish();
    let (dynamic, later) = dynamic.finish();
    sections.extend(later);
    BuiltPrompt {
        prompt: SystemPrompt { stable, dynamic },
        sections,
    }
}

#[cfg(test)]
mod tests;
