//! Providers with a cache of prompts, and the one that clears old tool uses itself.

use serde_json::json;

use super::settings::Pruning;

/// The beta a request names to have old tool uses cleared by the service.
pub const CLEARING_BETA: &str = "context-management-2025-06-27";
const CLEARING_EDIT: &str = "clear_tool_uses_20250919";
const USES_KEPT: u64 = 3;
const MIN_TRIGGER_TOKENS: u64 = 50_000;
const MIN_CLEARED_TOKENS: u64 = 12_500;

/// Whether a provider keeps prompts of this model in a cache, so that pruning by the age of that cache is worth it.
///
/// Source: pruning, "When it may prune anything new".
#[must_use]
pub fn caches_prompts(provider: &str, model: &str) -> bool {
    let (provider, model) = (provider.to_lowercase(), model.to_lowercase());
    let is_claude = model.contains("claude");
    match provider.as_str() {
        "anthropic" => true,
        "anthropic-vertex" | "amazon-bedrock" => is_claude,
        "google" | "google-vertex" | "google-gemini-cli" => ["gemini-2.5", "gemini-3"]
            .iter()
            .any(|family| model.starts_with(family)),
        "kilocode" => is_claude || model.starts_with("anthropic/"),
        _ => false,
    }
}

impl Pruning {
    /// The edit that asks the service to clear old tool uses, as JSON; for routes that prune so, which then get no rounds
    /// of their own. Tools whose results are spared here are spared there.
    ///
    /// Source: pruning, "Server-side variant".
    #[must_use]
    pub fn service_edit(&self, window_tokens: u64) -> String {
        let share = |percent: u64| {
            u64::try_from(u128::from(window_tokens) * u128::from(percent) / 100).unwrap_or(u64::MAX)
        };
        json!({
            "type": CLEARING_EDIT,
            "trigger": {"type": "input_tokens", "value": share(30).max(MIN_TRIGGER_TOKENS)},
            "keep": {"type": "tool_uses", "value": USES_KEPT},
            "clear_at_least": {"type": "input_tokens", "value": share(5).max(MIN_CLEARED_TOKENS)},
            "exclude_tools": self.denied(),
            "clear_tool_inputs": false,
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn only_providers_with_a_cache_of_prompts_count() {
        for (provider, model) in [
            ("Anthropic", "any"),
            ("amazon-bedrock", "us.anthropic.claude-sonnet-4-5"),
            ("google", "gemini-2.5-pro"),
            ("kilocode", "anthropic/x"),
        ] {
            assert!(caches_prompts(provider, model), "{provider} {model}");
        }
        for (provider, model) in [
            ("amazon-bedrock", "nova"),
            ("google", "gemini-1.5-pro"),
            ("kilocode", "openai/gpt-5"),
            ("mock", "m1"),
        ] {
            assert!(!caches_prompts(provider, model), "{provider} {model}");
        }
    }

    #[test]
    fn the_service_is_asked_for_a_share_of_the_window() {
        let config = json!({"mode": "cache-ttl", "tools": {"deny": ["exec"]}});
        let pruning = Pruning::from_config(&config).unwrap();
        for (window, trigger, least) in [
            (32_000, 50_000, 12_500),
            (200_000, 60_000, 12_500),
            (1_000_001, 300_000, 50_000),
        ] {
            let edit: Value = serde_json::from_str(&pruning.service_edit(window)).unwrap();
            let numbers =
                ["trigger", "clear_at_least", "keep"].map(|name| edit[name]["value"].as_u64());
            assert_eq!(numbers, [Some(trigger), Some(least), Some(3)]);
            assert_eq!(edit["exclude_tools"], json!(["exec"]));
        }
    }
}
