//! The system prompt around an engine's addition.

/// A system prompt in two parts; an engine's addition stands between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    /// The same bytes turn after turn, so that a provider's prompt cache holds.
    pub stable: String,
    /// What may differ from turn to turn.
    pub dynamic: String,
}

impl SystemPrompt {
    /// The whole prompt: the stable part, the addition if there is one, the changing part; blank lines between.
    #[must_use]
    pub fn with_addition(&self, addition: Option<&str>) -> String {
        let parts = [
            Some(self.stable.as_str()),
            addition,
            Some(self.dynamic.as_str()),
        ];
        let parts: Vec<&str> = parts
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        parts.join("\n\n")
    }
}
