//! A rough estimate of a request before it is sent, and what would make it fit.

use openclaw_transcript::{
    IMAGE_TOKENS, Message, Role, Said, estimate_text, has_blocks, said, tool_name,
};

use super::text::units;

const PER_MESSAGE: u64 = 12;
const PER_BLOCK: u64 = 6;
/// Characters of a tool result that are sent at most, by window; and its share of the window in percent.
const RESULT_UNITS: [(u64, u64); 3] = [(0, 16_000), (100_000, 32_000), (200_000, 64_000)];
const RESULT_SHARE_PERCENT: u64 = 30;
const UNITS_PER_TOKEN: u64 = 4;

/// What would make a request fit.
///
/// Source: compaction, "Pre-prompt check".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Nothing: it fits.
    Fits,
    /// Only a compaction.
    CompactOnly,
    /// Shorter tool results are enough.
    TruncateToolResultsOnly,
    /// Both.
    CompactThenTruncate,
}

impl Route {
    /// Its word in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::CompactOnly => "compact_only",
            Self::TruncateToolResultsOnly => "truncate_tool_results_only",
            Self::CompactThenTruncate => "compact_then_truncate",
        }
    }
}

/// A request whose parts are counted already.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Tokens of each message, the new prompt among them.
    pub message_tokens: Vec<u64>,
    /// Tokens of the system prompt.
    pub system_tokens: u64,
    /// Tokens of the tool schemas.
    pub schema_tokens: u64,
    /// Tokens the request and its answer may take.
    pub budget_tokens: u64,
    /// Tokens to keep free; capped to a quarter of the budget.
    pub reserve_tokens: u64,
}

/// The same check on exact counts.
///
/// - `results`: the tool results among the messages, as JSON. Looked at only where the request does not fit.
#[must_use]
pub fn pressure_of(counted: &Counted, results: &mut dyn Iterator<Item = &str>) -> Pressure {
    let messages = counted.message_tokens.iter();
    let messages = messages.map(|tokens| tokens.saturating_add(PER_MESSAGE));
    let sum = messages.fold(
        counted.system_tokens.saturating_add(counted.schema_tokens),
        u64::saturating_add,
    );
    let mut found = budgeted(
        with_margin(sum),
        counted.budget_tokens,
        counted.reserve_tokens,
    );
    if found.overflow_tokens > 0 {
        let results: Vec<Message> = results
            .filter_map(|json| Message::from_json(json).ok())
            .collect();
        found.reducible_units = reducible(&results, counted.budget_tokens);
        found.route = route(found.overflow_tokens, found.reducible_units);
    }
    found
}

/// What an estimate is held against. Nothing is known of tool results yet.
fn budgeted(estimated_tokens: u64, budget_tokens: u64, reserve_tokens: u64) -> Pressure {
    let effective_reserve_tokens = reserve_tokens.min(budget_tokens / 4);
    let prompt_budget_tokens = (budget_tokens - effective_reserve_tokens).max(1);
    let overflow_tokens = estimated_tokens.saturating_sub(prompt_budget_tokens);
    Pressure {
        route: route(overflow_tokens, 0),
        estimated_tokens,
        prompt_budget_tokens,
        effective_reserve_tokens,
        overflow_tokens,
        reducible_units: 0,
    }
}

/// A request as the check sees it.
#[derive(Clone, Copy, Debug)]
pub struct PressureInput<'a> {
    /// Messages before the prompt.
    pub messages: &'a [Message],
    /// The system prompt.
    pub system_prompt: &'a str,
    /// The new prompt; empty when there is none.
    pub prompt: &'a str,
    /// Tokens of the tool schemas, safety margin included.
    pub tool_schema_tokens: u64,
    /// Tokens the request and its answer may take.
    pub budget_tokens: u64,
    /// Tokens to keep free; capped to a quarter of the budget.
    pub reserve_tokens: u64,
}

/// What the check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressure {
    /// What would make it fit.
    pub route: Route,
    /// The estimate.
    pub estimated_tokens: u64,
    /// What the estimate is held against.
    pub prompt_budget_tokens: u64,
    /// The reserve after the cap.
    pub effective_reserve_tokens: u64,
    /// By how much the estimate is too large.
    pub overflow_tokens: u64,
    /// UTF-16 units that shorter tool results would free.
    pub reducible_units: u64,
}

/// Estimates a request, on the high side, and says what would make it fit.
#[must_use]
pub fn pressure(input: &PressureInput<'_>) -> Pressure {
    let system = match input.system_prompt.trim() {
        "" => 0,
        _ => PER_MESSAGE + estimate_text(input.system_prompt),
    };
    let messages = input.messages.iter().map(message_tokens);
    let sum = messages.fold(
        system + PER_MESSAGE + estimate_text(input.prompt),
        u64::saturating_add,
    );
    let estimated_tokens = with_margin(sum).saturating_add(input.tool_schema_tokens);
    let found = budgeted(estimated_tokens, input.budget_tokens, input.reserve_tokens);
    let reducible_units = reducible(input.messages, input.budget_tokens);
    Pressure {
        route: route(found.overflow_tokens, reducible_units),
        reducible_units,
        ..found
    }
}

fn route(overflow: u64, reducible: u64) -> Route {
    // Cut text frees fewer tokens than its length suggests.
    let enough = overflow
        .saturating_mul(4)
        .saturating_add(2_048)
        .max(overflow.saturating_mul(6));
    match (overflow, reducible) {
        (0, _) => Route::Fits,
        (_, 0) => Route::CompactOnly,
        _ if reducible >= enough => Route::TruncateToolResultsOnly,
        _ => Route::CompactThenTruncate,
    }
}

/// Six fifths, rounded up.
pub(super) fn with_margin(tokens: u64) -> u64 {
    u64::try_from((u128::from(tokens) * 6).div_ceil(5)).unwrap_or(u64::MAX)
}

fn message_tokens(message: &Message) -> u64 {
    let parts = said(message);
    // A plain text has no frame of its own.
    let per_block = if has_blocks(message) { PER_BLOCK } else { 0 };
    let frame = PER_MESSAGE + tool_name(message).map_or(0, |name| json_tokens(units(&name)));
    let parts = parts.iter().map(|part| {
        per_block
            + match part {
                Said::Text(text) if message.role() == Role::ToolResult => {
                    (units(text) as u64).div_ceil(2).max(estimate_text(text))
                }
                Said::Text(text) | Said::Thinking(text) => estimate_text(text),
                Said::Image => IMAGE_TOKENS,
                Said::Call { name, arguments } => {
                    let arguments = arguments.as_deref().unwrap_or_default();
                    json_tokens(units(name)) + json_tokens(units(arguments))
                }
                Said::Other => json_tokens(units(message.json())),
            }
    });
    parts.fold(frame, u64::saturating_add)
}

fn json_tokens(units: usize) -> u64 {
    (units as u64).div_ceil(3)
}

/// Characters of one tool result that a request with this window may hold.
#[must_use]
pub fn result_limit_units(window: u64) -> u64 {
    RESULT_UNITS
        .iter()
        .rev()
        .find(|(from, _)| window >= *from)
        .map_or(0, |(_, units)| *units)
        .min(window.saturating_mul(RESULT_SHARE_PERCENT * UNITS_PER_TOKEN) / 100)
}

fn reducible(messages: &[Message], window: u64) -> u64 {
    let cap = result_limit_units(window);
    let together = (4 * cap).max(window.saturating_mul(UNITS_PER_TOKEN) / 2);
    let sizes = messages
        .iter()
        .filter(|message| message.role() == Role::ToolResult)
        .map(text_units);
    let (mut total, mut kept) = (0u64, 0u64);
    for size in sizes {
        total = total.saturating_add(size);
        kept = kept.saturating_add(size.min(cap));
    }
    total - kept.min(together)
}

fn text_units(message: &Message) -> u64 {
    let parts = said(message);
    let sizes = parts.iter().map(|part| match part {
        Said::Text(text) => units(text) as u64,
        Said::Thinking(_) | Said::Call { .. } | Said::Image | Said::Other => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(json: &str) -> Message {
        Message::from_json(json).unwrap()
    }

    fn check(messages: &[Message], budget_tokens: u64) -> Pressure {
        pressure(&PressureInput {
            messages,
            system_prompt: "",
            prompt: "",
            tool_schema_tokens: 0,
            budget_tokens,
            reserve_tokens: 20_000,
        })
    }

    #[test]
    fn a_request_that_is_too_large_gets_a_route() {
        let said = message(&format!(
            r#"{{"role":"user","content":"{}"}}"#,
            "a ".repeat(6_000)
        ));
        let result = |units| {
            message(&format!(
                r#"{{"role":"toolResult","toolCallId":"c","toolName":"t","content":[{{"type":"text","text":"{}"}}]}}"#,
                "b".repeat(units)
            ))
        };
        let route = |messages: &[Message], budget| check(messages, budget).route;
        assert_eq!(route(std::slice::from_ref(&said), 8_000), Route::Fits);
        assert_eq!(
            route(std::slice::from_ref(&said), 4_000),
            Route::CompactOnly
        );
        assert_eq!(route(&[said.clone(), result(9_000)], 14_000), Route::Fits);
        assert_eq!(
            route(&[result(40_000)], 32_000),
            Route::TruncateToolResultsOnly
        );
        assert_eq!(
            route(&[said, result(40_000)], 8_000),
            Route::CompactThenTruncate
        );
    }

    #[test]
    fn any_budget_leaves_something() {
        let found = check(&[], 0);
        assert_eq!(
            (found.prompt_budget_tokens, found.effective_reserve_tokens),
            (1, 0)
        );
    }
}
