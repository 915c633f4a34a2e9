//! Which steps run for which provider.

use crate::repair::MISSING_RESULT;

/// The text of a made-up result for APIs of the responses family.
const MISSING_RESULT_RESPONSES: &str = "aborted";

/// What a provider wants of the history it is sent.
///
/// Source: legacy engine, "Replay policy per model API".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How ids of tool calls have to look.
    pub call_ids: CallIds,
    /// Which thought signatures of other providers are taken out.
    pub signatures: Signatures,
    /// Whether reasoning without a usable signature is refused.
    pub signed_reasoning: bool,
    /// Which reasoning is sent again.
    pub reasoning: Reasoning,
    /// Whether the first message must not be an assistant's.
    pub assistant_not_first: bool,
    /// Whether neighbouring assistant messages become one.
    pub merge_assistants: bool,
    /// Whether neighbouring user messages become one.
    pub merge_users: bool,
    /// Whether reasoning items and calls refer to each other by id.
    pub linked_reasoning: bool,
    /// The text of a result that is made up for a missing one.
    pub missing_result: &'static str,
}

/// How ids of tool calls have to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallIds {
    /// As they are.
    Any,
    /// Letters and digits, at most 40, each id once; native ids of this kind stay.
    Strict(NativeIds),
    /// Exactly nine letters and digits, each id once.
    Nine,
    /// `call_…` or `fc_…`, at most 64.
    Responses,
}

/// Ids that stay though they are not of letters and digits alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NativeIds {
    /// None.
    None,
    /// `toolu_…`.
    Anthropic,
    /// `functions.<name>:<n>`.
    Kimi,
}

/// Which thought signatures are taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signatures {
    /// None.
    Keep,
    /// Those that are no base64.
    Base64Only,
    /// Those that are ids of Anthropic messages.
    NoMessageIds,
}

/// Which reasoning is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reasoning {
    /// All.
    All,
    /// That of the newest assistant message.
    Latest,
    /// That of the first message with calls in the turn that is going on.
    CurrentCalls,
}

impl Default for Policy {
    /// For an API that nothing is known of.
    fn default() -> Self {
        Self {
            call_ids: CallIds::Any,
            signatures: Signatures::NoMessageIds,
            signed_reasoning: false,
            reasoning: Reasoning::All,
            assistant_not_first: false,
            merge_assistants: false,
            merge_users: false,
            linked_reasoning: false,
            missing_result: MISSING_RESULT,
        }
    }
}

impl Policy {
    /// The policy for a model.
    ///
    /// - `api`, `provider`, `model`: as the configuration names them.
    /// - `reasons`: whether the model is declared a reasoning model.
    #[must_use]
    pub fn of_model(api: &str, provider: &str, model: &str, reasons: bool) -> Self {
        let model = model.to_lowercase();
        let signed_reasoning = ["anthropic", "amazon-bedrock", "anthropic-vertex"]
            .contains(&provider.to_lowercase().as_str());
        let plain = Self {
            signed_reasoning,
            ..Self::default()
        };
        match api {
            "anthropic-messages" | "bedrock-converse-stream" => Self {
                call_ids: CallIds::Strict(NativeIds::Anthropic),
                signatures: Signatures::Keep,
                signed_reasoning: true,
                reasoning: if is_older_claude(&model) {
                    Reasoning::Latest
                } else {
                    Reasoning::All
                },
                merge_assistants: true,
                merge_users: true,
                ..plain
            },
            "google-generative-ai" | "google-vertex" | "google-gemini-cli" => Self {
                call_ids: CallIds::Strict(NativeIds::None),
                signatures: Signatures::Base64Only,
                assistant_not_first: true,
                merge_assistants: true,
                ..plain
            },
            "openai-responses" | "azure-openai-responses" | "openai-codex-responses" => Self {
                call_ids: CallIds::Responses,
                linked_reasoning: true,
                missing_result: MISSING_RESULT_RESPONSES,
                ..plain
            },
            "openai-completions" => Self {
                call_ids: completions_ids(provider, &model),
                reasoning: if reasons || model.contains("kimi") || model.contains("mimo") {
                    Reasoning::All
                } else {
                    Reasoning::CurrentCalls
                },
                assistant_not_first: true,
                merge_assistants: true,
                merge_users: true,
                ..plain
            },
            _ => plain,
        }
    }
}

fn completions_ids(provider: &str, model: &str) -> CallIds {
    if provider.eq_ignore_ascii_case("mistral") {
        CallIds::Nine
    } else if model.contains("kimi") {
        CallIds::Strict(NativeIds::Kimi)
    } else {
        CallIds::Strict(NativeIds::None)
    }
}

/// Claude models from before opus 4.5 and sonnet 4.6, which take back only the reasoning of their last message.
fn is_older_claude(model: &str) -> bool {
    let Some((_, name)) = model.split_once("claude") else {
        return false;
    };
    let mut numbers = name
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty() && digits.len() < 3)
        .filter_map(|digits| digits.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let first_new = if name.contains("opus") {
        (4, 5)
    } else {
        (4, 6)
    };
    version < first_new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_api_gets_the_steps_that_are_right_everywhere() {
        assert_eq!(Policy::of_model("new", "x", "y", false), Policy::default());
        let bedrock = Policy::of_model("new", "Amazon-Bedrock", "y", false);
        assert!(bedrock.signed_reasoning);
    }

    #[test]
    fn older_claude_models_take_back_only_their_last_reasoning() {
        let reasoning =
            |model| Policy::of_model("anthropic-messages", "anthropic", model, true).reasoning;
        for model in [
            "claude-sonnet-4-5",
            "claude-3-7-sonnet-20250219",
            "claude-opus-4-20250514",
            "claude-opus-4-1",
            "claude-haiku-4-5-20251001",
            "claude-2",
        ] {
            assert_eq!(reasoning(model), Reasoning::Latest, "{model}");
        }
        for model in [
            "claude-opus-4-5",
            "claude-opus-4.6",
            "claude-sonnet-4-6",
            "claude-opus-5",
            "glm-5",
        ] {
            assert_eq!(reasoning(model), Reasoning::All, "{model}");
        }
    }

    #[test]
    fn completions_models_differ_in_ids_and_reasoning() {
        let policy = |provider, model, reasons| {
            let policy = Policy::of_model("openai-completions", provider, model, reasons);
            (policy.call_ids, policy.reasoning)
        };
        let strict = CallIds::Strict(NativeIds::None);
        assert_eq!(policy("x", "m", false), (strict, Reasoning::CurrentCalls));
        assert_eq!(policy("x", "m", true), (strict, Reasoning::All));
        let kimi = CallIds::Strict(NativeIds::Kimi);
        assert_eq!(policy("x", "Kimi-K2", false), (kimi, Reasoning::All));
        let nine = (CallIds::Nine, Reasoning::CurrentCalls);
        assert_eq!(policy("mistral", "large", false), nine);
    }
}
