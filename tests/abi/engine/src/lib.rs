//! A small engine that uses every part of the contract once. Variants put more in at the marks.

use openclaw_interface::abi::Pick;
use openclaw_interface::model::{ToolAnswer, ToolCall, ToolDescriptor};
use openclaw_interface::{
    AssembleRequest, Assembly, CommitResult, CommitStatus, ContextEngine, CreateContext,
    EngineError, Host, Info, LogLevel, Messages, export_engine,
};

struct Probe {
    host: Host,
    committed: Vec<String>,
}

impl Probe {
    /// What the engine saw of the host beyond the common part.
    fn report(&self, _request: &AssembleRequest<'_>) -> Result<String, EngineError> {
        #[allow(unused_mut, reason = "variants add to it")]
        let mut report: Vec<String> = Vec::new();
        // mark: report
        Ok(report.join(" "))
    }
}

impl ContextEngine for Probe {
    const ID: &'static str = "probe";

    fn info() -> Info {
        #[allow(unused_mut, reason = "variants add to it")]
        let mut info = Info::new(Self::ID, "Probe").version("1.0.0");
        // mark: info
        info
    }

    fn create(_context: CreateContext, host: Host) -> Result<Self, EngineError> {
        host.log(LogLevel::Info, "made");
        Ok(Self {
            host,
            committed: Vec::new(),
        })
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        let count = request.messages.len();
        let mut assembly = Assembly::keeping(request.messages, count.saturating_sub(2)..count);
        let seen: Vec<_> = request
            .messages
            .iter()
            .map(|message| format!("{} {}", message.id(), message.role().name()))
            .collect();
        let unknown: Vec<_> = request.params()?.extra.keys().cloned().collect();
        let text =
            serde_json::json!({ "seen": seen, "budget": request.token_budget, "unknown": unknown });
        assembly.picks.push(Pick::new_message(0));
        assembly.new_messages.push(text.to_string());
        let tokens = self.host.count_tokens("sixteen bytes is");
        let cancelled = self.host.is_cancelled();
        assembly.system_prompt_addition = Some(format!(
            "{tokens} tokens, cancelled: {cancelled}, {}",
            self.report(request)?
        ));
        // mark: assembly
        Ok(assembly)
    }

    fn commit_turn(
        &mut self,
        messages: Messages<'_>,
        params: &openclaw_interface::model::CommitParams,
    ) -> Result<CommitResult, EngineError> {
        let known = self.committed.contains(&params.advancement_key);
        self.committed.push(params.advancement_key.clone());
        let status = if known || messages.is_empty() {
            CommitStatus::Duplicate
        } else {
            CommitStatus::Committed
        };
        Ok(CommitResult { status })
    }

    fn call(&mut self, method: &str, _params_json: &str) -> Result<String, EngineError> {
        match method {
            "ping" => self.host.call("echo", "{\"pong\":1}"),
            // mark: call
            _ => Err(EngineError::unsupported(method)),
        }
    }

    fn tools() -> Vec<ToolDescriptor> {
        vec![ToolDescriptor {
            name: "probe_tool".into(),
            ..ToolDescriptor::default()
        }]
    }

    fn execute_tool(call: &ToolCall, host: &Host) -> Result<ToolAnswer, EngineError> {
        Ok(ToolAnswer {
            text: format!("{} counts {}", call.name, host.count_tokens("four")),
            ..ToolAnswer::default()
        })
    }

    // mark: hooks
}

export_engine!(Probe);
