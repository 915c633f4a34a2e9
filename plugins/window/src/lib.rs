//! A sliding window: the model sees the newest messages that fit, and the window moves in steps.
//!
//! Reads sizes and roles, never the text of a message. Writes one file, `window.sqlite` in the agent's directory.
//! Calls no model and keeps nothing in memory between turns.
//!
//! # Invariants
//!
//! - A call and its results are shown together or not at all.
//! - Between two moves the list of a turn is the beginning of the next turn's list, byte for byte.
//! - A lost or unreadable file costs one move of the window, never an answer.
//! - A turn is stored once, and an acknowledged turn survives a power failure.
//!
//! # Limits
//!
//! What is left out is not summarised. A newest group that is larger than the budget is shown alone, and the host
//! decides what to do with it.

#![forbid(unsafe_code)]

mod compaction;
mod memory;
mod settings;
mod store;
#[cfg(test)]
mod tests;
mod view;

use memory::{Memory, Place};
use openclaw_interface::model::{CommitParams, CompactParams, SessionParams};
use openclaw_interface::{
    AssembleRequest, Assembly, BootstrapResult, CommitResult, CompactResult, ContextEngine,
    CreateContext, EngineError, ErrorCode, Host, Info, LogLevel, Messages, export_engine,
};
use settings::Settings;
use std::path::PathBuf;
use store::{Store, StoreError, Turn};
use view::{History, Marks, Start, View};

export_engine!(Window);

/// The engine.
///
/// Without an agent directory it assembles, each time from the history alone, and refuses to commit.
#[derive(Debug)]
pub struct Window {
    settings: Settings,
    agent_dir: Option<PathBuf>,
    host: Host,
}

impl ContextEngine for Window {
    const ID: &'static str = "window";

    fn info() -> Info {
        Info::new(Self::ID, "Sliding window")
            .version(env!("CARGO_PKG_VERSION"))
            .durable_turns()
    }

    fn create(context: CreateContext, host: Host) -> Result<Self, EngineError> {
        let settings = Settings::parse(&context.settings).map_err(|error| {
            EngineError::new(
                ErrorCode::InvalidParams,
                format!("plugin `window`: {error}"),
            )
        })?;
        Ok(Self {
            settings,
            agent_dir: context.agent_dir,
            host,
        })
    }

    fn bootstrap(&mut self, _params: &SessionParams) -> Result<BootstrapResult, EngineError> {
        Ok(BootstrapResult {
            bootstrapped: true,
            imported_messages: None,
            reason: Some("nothing to import: every turn brings its history".into()),
        })
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        let messages = request.messages;
        let session = request.params()?.session_id.as_str();
        let memory = self.recall(session);
        let known_budget = memory
            .as_ref()
            .map(|memory| memory.budget_tokens)
            .filter(|tokens| *tokens > 0);
        let Some(budget) = request.token_budget.or(known_budget) else {
            return Ok(Assembly::pass_through(messages));
        };
        let sizes: Vec<_> = messages
            .iter()
            .map(|message| (message.role(), message.tokens()))
            .collect();
        let history = History::new(&sizes, self.settings.pins_first_user_message());
        let marks = self.marks(budget);
        let start = start(&history, messages, &marks, memory.as_ref());
        let view = history.view(start);
        let assembly = self.assembly(messages, &view);
        self.remember(
            session,
            Memory {
                budget_tokens: budget,
                place: Place::of(start, &history, messages, memory.as_ref()),
                shown_tokens: assembly.estimated_tokens,
                shown_groups: view.groups,
                shrink_to_tokens: None,
            },
            memory,
            &view,
        );
        Ok(assembly)
    }

    fn commit_turn(
        &mut self,
        messages: Messages<'_>,
        params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        let session_id = match params.session_id.as_str() {
            "" => params.admission.session_id.as_str(),
            id => id,
        };
        for (name, is_missing) in [
            ("advancementKey", params.advancement_key.is_empty()),
            ("sessionId", session_id.is_empty()),
            ("messages", messages.is_empty()),
        ] {
            if is_missing {
                let message = format!("plugin `window` cannot store a turn: `{name}` is empty");
                return Err(EngineError::new(ErrorCode::InvalidParams, message));
            }
        }
        let turn = Turn {
            session_id,
            advancement_key: &params.advancement_key,
            is_heartbeat: params.is_heartbeat,
            first_entry_id: &params.admission.entry_id,
            last_entry_id: &params.terminal.entry_id,
            messages,
        };
        match self.with_store(|store| store.commit(&turn)) {
            Ok(status) => Ok(CommitResult { status }),
            Err(why) => Err(EngineError::failed(format!(
                "plugin `window` cannot store a turn: {why}"
            ))),
        }
    }

    /// Moves the window forward at the next `assemble`, when the prompt was really too large or a person asked.
    ///
    /// A host that measures its whole transcript finds it too large at every turn; that alone moves nothing, because
    /// the window already is smaller.
    fn compact(&mut self, params: &CompactParams) -> Result<CompactResult, EngineError> {
        if !compaction::is_pressing(params) {
            return Ok(compaction::skipped(
                "the window keeps itself below its budget",
            ));
        }
        let Some(memory) = self.recall(&params.session_id) else {
            return Ok(compaction::skipped("no window of this session is known"));
        };
        if memory.shrink_to_tokens.is_some() {
            return Ok(compaction::skipped(
                "already compacted, the window moves at the next turn",
            ));
        }
        if memory.shown_groups < 2 {
            return Ok(compaction::skipped(
                "the window shows the newest message group alone",
            ));
        }
        let shrinking = Memory {
            shrink_to_tokens: Some(memory.shown_tokens / 2),
            ..memory
        };
        let stored = self.with_store(|store| store.remember(&params.session_id, &shrinking));
        Ok(match stored {
            Ok(()) => compaction::promised(shrinking.shown_tokens),
            Err(why) => compaction::failed(&why),
        })
    }
}

impl Window {
    fn marks(&self, budget_tokens: u64) -> Marks {
        // Room for any number of messages, so that the marks do not depend on how many there are.
        let note = note(u32::MAX as usize, true);
        Marks {
            budget: budget_tokens,
            high: self.settings.high_mark_tokens(budget_tokens),
            low: self.settings.low_mark_tokens(budget_tokens),
            note: self.host.count_tokens(&note),
        }
    }

    fn assembly(&self, messages: Messages<'_>, view: &View) -> Assembly {
        let mut assembly =
            Assembly::keeping(messages, view.pinned.clone().chain(view.window.clone()));
        if view.hidden > 0 {
            let note = note(view.hidden, !view.pinned.is_empty());
            assembly.estimated_tokens = assembly
                .estimated_tokens
                .saturating_add(self.host.count_tokens(&note));
            assembly.system_prompt_addition = Some(note);
        }
        assembly
    }

    /// Opens the store for one use. The error says why there is none, or what failed.
    fn with_store<T>(
        &self,
        act: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, String> {
        let Some(agent_dir) = &self.agent_dir else {
            return Err("the host named no agent directory".into());
        };
        Store::open(agent_dir)
            .and_then(|mut store| act(&mut store))
            .map_err(|error| error.to_string())
    }

    fn recall(&mut self, session_id: &str) -> Option<Memory> {
        if !self.remembers(session_id) {
            return None;
        }
        self.with_store(|store| store.recall(session_id))
            .unwrap_or_else(|why| {
                self.host.log(
                    LogLevel::Warn,
                    &format!("the window's start is not remembered: {why}"),
                );
                None
            })
    }

    fn remember(&mut self, session_id: &str, memory: Memory, before: Option<Memory>, view: &View) {
        if !self.remembers(session_id) || before.as_ref() == Some(&memory) {
            return;
        }
        if before.and_then(|before| before.place) != memory.place {
            let (hidden, shown) = (view.hidden, memory.shown_tokens);
            self.host.log(
                LogLevel::Info,
                &format!("window placed: {hidden} messages left out, {shown} tokens shown"),
            );
        }
        if let Err(error) = self.with_store(|store| store.remember(session_id, &memory)) {
            self.host.log(
                LogLevel::Warn,
                &format!("the window's start is not remembered: {error}"),
            );
        }
    }

    fn remembers(&self, session_id: &str) -> bool {
        self.agent_dir.is_some() && !session_id.is_empty()
    }
}

/// Where the window starts: where it did before, as far as that is known and still fits.
fn start(
    history: &History,
    messages: Messages<'_>,
    marks: &Marks,
    memory: Option<&Memory>,
) -> Start {
    let remembered = memory.and_then(|memory| memory.start(history, messages));
    let start = match remembered {
        Some(start) if memory.is_some_and(Memory::is_shrunk) => history.kept(start, marks),
        Some(start) => history.advanced(start, marks),
        None => history.replayed(marks),
    };
    match memory.and_then(|memory| memory.shrink_to_tokens) {
        Some(limit) => history.shrunk(start, marks, limit),
        None => start,
    }
}

/// What the model is told when messages are left out. Changes only when the window moves.
fn note(hidden: usize, is_pinned: bool) -> String {
    let what = match hidden {
        1 => "1 older message of this conversation is".to_owned(),
        _ => format!("{hidden} older messages of this conversation are"),
    };
    let gap = if is_pinned {
        ", the newest part follows directly behind the first message"
    } else {
        ""
    };
    format!("{what} not shown{gap}; ask the user when something from them is needed.")
}
