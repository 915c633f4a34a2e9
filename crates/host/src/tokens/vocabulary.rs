//! The vocabularies, and which model has which.

use openclaw_transcript::estimate_text;

/// A vocabulary of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Vocabulary {
    /// Of GPT-4o and all later models of its maker; the closest for models whose vocabulary is not public.
    #[default]
    O200k,
    /// Of GPT-4 and GPT-3.5.
    Cl100k,
}

impl Vocabulary {
    /// The vocabulary of a model, by its id at the provider, in front of which a maker's name may stand.
    pub(crate) fn of_model(model_id: &str) -> Self {
        let id = model_id.to_lowercase();
        let name = id.rsplit('/').next().unwrap_or_default();
        let is_older = ["gpt-4", "gpt-3.5-turbo", "gpt-35-turbo"]
            .iter()
            .any(|family| {
                let rest = name.strip_prefix(family);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '_']))
            });
        if is_older { Self::Cl100k } else { Self::O200k }
    }

    /// Tokens of a text that has no long run.
    #[cfg(feature = "fast-tokens")]
    pub(super) fn count(self, text: &str) -> u64 {
        let name = match self {
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
        };
        match tiktoken::get_encoding(name) {
            Some(encoding) => encoding.count(text) as u64,
            None => estimate_text(text),
        }
    }

    #[cfg(not(feature = "fast-tokens"))]
    pub(super) fn count(self, text: &str) -> u64 {
        self.reference(text)
    }

    /// What every count must be.
    #[cfg(any(test, not(feature = "fast-tokens")))]
    pub(super) fn reference(self, text: &str) -> u64 {
        let vocabulary = match self {
            Self::O200k => tiktoken_rs::o200k_base_singleton(),
            Self::Cl100k => tiktoken_rs::cl100k_base_singleton(),
        };
        let no_control_tokens = std::collections::HashSet::new();
        let exact = vocabulary.count(text, &no_control_tokens);
        exact.map_or_else(|_| estimate_text(text), |tokens| tokens as u64)
    }
}
