//! The check of a prompt before it is sent. It reports; what does not fit is sent all the same, and the provider decides.

use super::admission::Admitted;
use super::record::ContextBudgetStatus;
use crate::compaction::{Counted, pressure_of, reserve_tokens};
use crate::history::{Held, sum};
use crate::tokens::Vocabulary;
use openclaw_interface::Role;

impl Admitted<'_> {
    /// Notes how the prompt compares with its budget. Left out for an engine that owns compaction, unless it says that the
    /// history may be too large even when its answer fits; then the larger of both counts.
    ///
    /// - `history`: the history before assembly.
    /// - `view`: what the engine made of it.
    ///
    /// Source: turn pipeline, "Prompt precheck, promptAuthority, ownsCompaction".
    pub(super) fn precheck(
        &mut self,
        history: &[Held],
        view: &[Held],
        may_overflow: bool,
        (system_prompt, schema_tokens): (&str, u64),
    ) {
        if self.turn.engine.identity.owns_compaction && !may_overflow {
            self.turn.record.context_budget = None;
            return;
        }
        let counted = match may_overflow && sum(history) > sum(view) {
            true => history,
            false => view,
        };
        let messages = || counted.iter().chain(&self.pending);
        let results = || {
            let results = messages().filter(|message| message.role == Role::ToolResult);
            results.map(|message| &*message.json)
        };
        let budget_tokens = self.facts.budget_tokens;
        let found = pressure_of(
            &Counted {
                message_tokens: messages().map(|it| u64::from(it.tokens)).collect(),
                system_tokens: Vocabulary::of_model(&self.facts.model_id).text(system_prompt),
                schema_tokens,
                budget_tokens,
                reserve_tokens: reserve_tokens(budget_tokens, 0),
            },
            &mut results(),
        );
        let status = ContextBudgetStatus {
            route: found.route.word().to_owned(),
            estimated_prompt_tokens: found.estimated_tokens,
            context_token_budget: budget_tokens,
            prompt_budget_tokens: found.prompt_budget_tokens,
            reserve_tokens: found.effective_reserve_tokens,
            overflow_tokens: found.overflow_tokens,
            tool_result_reducible_chars: found.reducible_units,
            message_count: view.len() + self.pending.len(),
            unwindowed_message_count: history.len() + self.pending.len(),
        };
        if found.overflow_tokens > 0 {
            tracing::info!(
                turn = self.turn.turn_id,
                route = status.route,
                estimated_tokens = status.estimated_prompt_tokens,
                budget_tokens = status.prompt_budget_tokens,
                "admitted provider attempt that may not fit"
            );
        }
        self.turn.record.context_budget = Some(status);
    }
}
