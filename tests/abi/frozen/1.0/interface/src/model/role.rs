//! Who speaks in a message.

/// The role of a transcript message.
///
/// An open set: a role this version does not know is [`Role::Other`], and its name stays in the message's JSON.
///
/// Source: context engine contract, "Messages".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Typed by a person, or sent in their name.
    User,
    /// Produced by a model.
    Assistant,
    /// The outcome of one tool call of the assistant message before it.
    ToolResult,
    /// Written by a plugin; the model sees it as a user message.
    Custom,
    /// Stands for everything a compaction folded away.
    CompactionSummary,
    /// Stands for an abandoned branch.
    BranchSummary,
    /// A shell command the user ran, with its output.
    BashExecution,
    /// A role this version does not know.
    Other,
}

impl Role {
    /// The role a message's `role` field names.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "toolResult" => Self::ToolResult,
            "custom" => Self::Custom,
            "compactionSummary" => Self::CompactionSummary,
            "branchSummary" => Self::BranchSummary,
            "bashExecution" => Self::BashExecution,
            _ => Self::Other,
        }
    }

    /// The name in a message's `role` field; `other` for a role this version does not know.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::ToolResult => "toolResult",
            Self::Custom => "custom",
            Self::CompactionSummary => "compactionSummary",
            Self::BranchSummary => "branchSummary",
            Self::BashExecution => "bashExecution",
            Self::Other => "other",
        }
    }
}
