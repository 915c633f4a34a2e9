//! An engine that keeps its promises about turns, or breaks the one its settings name: `{"lie": "always-committed"}`.
//! What it has stored it tells the model in an addition to the system prompt. The variable `LIAR_DECLARES_NOTHING` makes
//! it promise nothing.

mod store;

use openclaw_interface::abi::Pick;
use openclaw_interface::model::{CommitParams, SessionParams};
use openclaw_interface::{
    AssembleRequest, Assembly, BootstrapResult, CommitResult, CommitStatus, ContextEngine,
    CreateContext, EngineError, Host, Info, Messages, export_engine,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::{Store, Turn};

export_engine!(Liar);

/// How long an early acknowledgement is ahead of its write.
const LATER: Duration = Duration::from_millis(300);

/// Turns that are in this process only, with the directory of their agent.
static UNWRITTEN: Mutex<Vec<(PathBuf, Turn)>> = Mutex::new(Vec::new());

struct Liar {
    lie: String,
    agent_dir: PathBuf,
    store: Store,
    /// Keys this instance has stored.
    own: BTreeSet<String>,
}

impl ContextEngine for Liar {
    const ID: &'static str = "liar";

    fn info() -> Info {
        let info = Info::new(Self::ID, "Liar engine").version(env!("CARGO_PKG_VERSION"));
        match std::env::var_os("LIAR_DECLARES_NOTHING") {
            Some(_) => info,
            None => info.durable_turns(),
        }
    }

    fn create(context: CreateContext, _host: Host) -> Result<Self, EngineError> {
        let agent_dir = context
            .agent_dir
            .ok_or_else(|| EngineError::failed("no agent directory"))?;
        let lie = context.settings.get("lie").and_then(|lie| lie.as_str());
        Ok(Self {
            lie: lie.unwrap_or_default().to_owned(),
            store: Store::open(&agent_dir)?,
            agent_dir,
            own: BTreeSet::new(),
        })
    }

    fn bootstrap(&mut self, _params: &SessionParams) -> Result<BootstrapResult, EngineError> {
        if self.lie == "stores-at-bootstrap" {
            self.store.note("begun", "a turn")?;
        }
        Ok(BootstrapResult {
            bootstrapped: true,
            ..BootstrapResult::default()
        })
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        let mut assembly = Assembly::pass_through(request.messages);
        assembly.system_prompt_addition = Some(self.addition()?);
        let prompt = request.params()?.prompt.clone().unwrap_or_default();
        match self.lie.as_str() {
            "shows-the-unfinished-turn" => self.store.note("prompts", &prompt)?,
            "repeats-the-prompt" => {
                let message =
                    serde_json::json!({ "role": "user", "content": prompt, "timestamp": 0 });
                assembly.new_messages.push(message.to_string());
                assembly.picks.push(Pick::new_message(0));
            }
            _ => {}
        }
        Ok(assembly)
    }

    fn commit_turn(
        &mut self,
        messages: Messages<'_>,
        params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        let turn = Turn::new(messages, params);
        let is_stored = match self.lie.as_str() {
            "hangs" => loop {
                thread::sleep(LATER);
            },
            "aborts" => std::process::abort(),
            _ => self.is_known(turn.key()),
        };
        let status = if is_stored {
            self.answer_again(&turn)?
        } else {
            self.own.insert(turn.key().to_owned());
            self.answer_first(turn)?
        };
        Ok(CommitResult { status })
    }

    fn dispose(&mut self) -> Result<(), EngineError> {
        if matches!(
            self.lie.as_str(),
            "acknowledges-early" | "writes-at-dispose"
        ) {
            write_unwritten()?;
        }
        Ok(())
    }
}

impl Liar {
    fn is_known(&self, key: &str) -> bool {
        if self.lie == "remembers-per-instance" {
            return self.own.contains(key);
        }
        let is_unwritten = unwritten()
            .iter()
            .any(|(agent_dir, turn)| *agent_dir == self.agent_dir && turn.key() == key);
        is_unwritten || self.store.has(key)
    }

    fn answer_first(&self, turn: Turn) -> Result<CommitStatus, EngineError> {
        match self.lie.as_str() {
            "forgets-on-restart" | "writes-at-dispose" | "acknowledges-early" => {
                unwritten().push((self.agent_dir.clone(), turn));
                if self.lie == "acknowledges-early" {
                    thread::spawn(|| {
                        thread::sleep(LATER);
                        write_unwritten()
                    });
                }
            }
            "commits-in-halves" => self.store.write_in_pieces(&turn)?,
            // Another process may have been faster.
            _ if !self.store.write(&turn)? && self.lie != "remembers-per-instance" => {
                return self.answer_again(&turn);
            }
            "duplicate-at-first" => return Ok(CommitStatus::Duplicate),
            _ => {}
        }
        Ok(CommitStatus::Committed)
    }

    fn answer_again(&self, turn: &Turn) -> Result<CommitStatus, EngineError> {
        match self.lie.as_str() {
            "always-committed" => Ok(CommitStatus::Committed),
            "overwrites" => {
                self.store.overwrite(turn)?;
                Ok(CommitStatus::Duplicate)
            }
            _ => Ok(CommitStatus::Duplicate),
        }
    }

    /// What a model is told of all that is stored.
    fn addition(&self) -> Result<String, EngineError> {
        let mut turns = self.store.told()?;
        for (agent_dir, turn) in unwritten().iter() {
            if *agent_dir == self.agent_dir {
                turns.push(turn.told_unwritten()?);
            }
        }
        turns.sort();
        let mut lines: Vec<String> = turns.into_iter().map(|(_, line)| line).collect();
        lines.insert(0, format!("{} turns are stored", lines.len()));
        match self.lie.as_str() {
            "shows-the-unfinished-turn" => lines.push(self.store.notes("prompts")),
            "stores-at-bootstrap" => lines.push(self.store.notes("begun")),
            "differs-each-time" => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                lines.push(format!("{:?}", now.unwrap_or_default()));
            }
            _ => {}
        }
        Ok(lines.join("\n"))
    }
}

fn unwritten() -> MutexGuard<'static, Vec<(PathBuf, Turn)>> {
    UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write_unwritten() -> Result<(), EngineError> {
    for (agent_dir, turn) in unwritten().drain(..) {
        Store::open(&agent_dir)?.write(&turn)?;
    }
    Ok(())
}
