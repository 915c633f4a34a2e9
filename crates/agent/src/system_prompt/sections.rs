//! Sections of a prompt, counted as they are put together.

use crate::utf16::utf16_len;

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SectionKind {
    /// Who the agent is and how it works.
    Instructions,
    /// The tools, a line each.
    Tools,
    /// The list of skills.
    Skills,
    /// Where the workspace is.
    Workspace,
    /// Files of the workspace.
    ProjectContext,
    /// Date and zone.
    Time,
    /// Facts about this run.
    Runtime,
}

/// A section, and what it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSection {
    /// What it is about.
    pub kind: SectionKind,
    /// Its heading, or its first words.
    pub title: String,
    /// Its size in chars, without what separates it from others.
    pub chars: usize,
}

impl PromptSection {
    /// Its size in tokens, at four chars each: an estimate.
    #[must_use]
    pub fn estimated_tokens(&self) -> usize {
        self.chars.div_ceil(4)
    }
}

const SEPARATOR: &str = "\n\n";
const TITLE_CHARS: usize = 40;

#[derive(Default)]
pub(super) struct Sections {
    text: String,
    sections: Vec<PromptSection>,
}

impl Sections {
    pub(super) fn add(&mut self, kind: SectionKind, text: String) {
        if !self.text.is_empty() {
            self.text.push_str(SEPARATOR);
        }
        let first = text.lines().next().unwrap_or_default();
        let title = crate::line::one_line(first.trim_start_matches('#'), TITLE_CHARS);
        self.sections.push(PromptSection {
            kind,
            title,
            chars: utf16_len(&text),
        });
        self.text.push_str(&text);
    }

    pub(super) fn finish(self) -> (String, Vec<PromptSection>) {
        (self.text, self.sections)
    }
}
