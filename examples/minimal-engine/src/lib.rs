//! The smallest engine that serves turns: the newest messages that fit, call and result together.

#![forbid(unsafe_code)]

use openclaw_interface::model::CommitParams;
use openclaw_interface::{
    AssembleRequest, Assembly, CommitResult, CommitStatus, ContextEngine, CreateContext,
    EngineError, Host, Info, Messages, Role, export_engine,
};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::PathBuf;

struct Newest {
    /// One empty file per committed turn: it is made once, by whoever comes first, and survives a restart.
    turns: PathBuf,
}

impl ContextEngine for Newest {
    const ID: &'static str = "minimal-engine";

    fn info() -> Info {
        Info::new(Self::ID, "Newest messages")
            .version(env!("CARGO_PKG_VERSION"))
            .durable_turns()
    }

    fn create(context: CreateContext, _host: Host) -> Result<Self, EngineError> {
        let agent_dir = context
            .agent_dir
            .ok_or_else(|| EngineError::failed("no agent directory"))?;
        Ok(Self {
            turns: agent_dir.join("minimal-engine"),
        })
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        let budget = request.token_budget.unwrap_or(u64::MAX);
        let (mut start, mut tokens) = (request.messages.len(), 0);
        for (index, message) in request.messages.iter().enumerate().rev() {
            tokens += u64::from(message.tokens());
            if tokens > budget {
                break;
            }
            // A tool result never opens the list: its call would be missing.
            if message.role() != Role::ToolResult {
                start = index;
            }
        }
        Ok(Assembly::keeping(
            request.messages,
            start..request.messages.len(),
        ))
    }

    fn commit_turn(
        &mut self,
        _messages: Messages<'_>,
        params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        fs::create_dir_all(&self.turns)?;
        let name: String = params
            .advancement_key
            .bytes()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let status = match File::create_new(self.turns.join(name)) {
            Ok(file) => {
                file.sync_all()?;
                CommitStatus::Committed
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => CommitStatus::Duplicate,
            Err(error) => return Err(error.into()),
        };
        Ok(CommitResult { status })
    }
}

export_engine!(Newest);

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_interface::testing::{TestHost, calls, result, user};

    #[test]
    fn newest_messages_that_fit_are_shown_and_turns_are_stored_once() {
        let home = tempfile::tempdir().unwrap();
        let mut host = TestHost::<Newest>::new().agent_dir(home.path());
        host.turn("hello", "hello back");
        host.add(calls(&["a"]).tokens(10));
        host.add(result("a", "done").tokens(10));
        host.add(user("thanks").tokens(10));
        assert_eq!(host.shown_within(15), ["thanks"]);
        assert_eq!(
            host.shown_within(25),
            ["thanks"],
            "a result alone is not shown"
        );
        assert_eq!(host.shown_within(30), ["call a", "done", "thanks"]);
    }
}
