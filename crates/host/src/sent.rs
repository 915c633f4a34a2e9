//! What is left out of requests that stands in the history: images that were answered long ago, and old and large tool
//! results.
//!
//! The transcript is not changed. What was decided on a result is remembered for its session, so that the same bytes are
//! sent again: in memory, and in a row of the transcript once a result is not sent whole.

use crate::history::{Held, History, Manner};
use openclaw_transcript::{
    Decisions, Message, Piece, Pruned, Pruning, Reasoning, ResultBudget, Role, Touch,
    caches_prompts, last_touch_ms, prune_history_images, prune_tool_results,
};
use parking_lot::Mutex;
use std::collections::HashMap;

/// Sessions whose decisions are kept in memory. Those of others are read again from their rows.
const SESSIONS: usize = 256;

/// What requests have carried, by session.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    by_session: Mutex<HashMap<String, Remembered>>,
}

#[derive(Clone, Debug, Default)]
struct Remembered {
    decisions: Decisions,
    touched: Option<Touched>,
}

/// When a request last touched the cache of a model's provider.
#[derive(Clone, Debug)]
struct Touched {
    at_ms: i64,
    provider: String,
    model: String,
}

/// What a request is for.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) provider: &'a str,
    pub(crate) model: &'a str,
    pub(crate) window_tokens: u64,
    pub(crate) manner: &'a Manner,
    /// How old results are pruned; `None` when they are not.
    pub(crate) pruning: Option<&'a Pruning>,
}

/// The list of a request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) messages: Vec<Held>,
    /// The `data` of a row to store, when there is something new to remember.
    pub(crate) row_data: Option<String>,
}

impl Target<'_> {
    /// Whether requests to this model may be pruned by the age of its cache.
    pub(crate) fn is_pruned(&self) -> bool {
        self.pruning.is_some() && caches_prompts(self.provider, self.model)
    }
}

impl Sent {
    /// Shortens the list of a request.
    ///
    /// - `history`: of the session, for what an earlier process has decided.
    /// - `now_ms`: asked for only when old results are pruned.
    pub(crate) fn shorten(
        &self,
        messages: Vec<Held>,
        history: &History,
        target: Target<'_>,
        now_ms: impl FnOnce() -> i64,
    ) -> Request {
        if !messages.iter().any(may_shrink) {
            return Request {
                messages,
                row_data: None,
            };
        }
        let (messages, parsed) = without_old_images(messages, target.manner);
        let mut remembered = self.remembered(history, target);
        let now_ms = target.is_pruned().then(now_ms);
        let touched_ms = remembered.touched.as_ref().and_then(|touched| {
            (touched.provider == target.provider && touched.model == target.model)
                .then_some(touched.at_ms)
        });
        let idle_ms = now_ms
            .zip(touched_ms)
            .map(|(now, then)| now.saturating_sub(then));
        let budget = ResultBudget {
            window_tokens: target.window_tokens,
            pruning: target.pruning.filter(|_| target.is_pruned()),
            idle_ms: idle_ms.map(|idle| u64::try_from(idle).unwrap_or(0)),
            reasoning_dropped: target.manner.policy.reasoning != Reasoning::All,
        };
        let pruned = prune_tool_results(&parsed, &remembered.decisions, budget);
        if let Some(now_ms) = now_ms.filter(|_| pruned.pruned > 0) {
            remembered.touched = Some(Touched::of(target, now_ms));
        }
        let is_new = pruned.decisions != remembered.decisions && !pruned.decisions.are_plain();
        let touch = remembered.touched.as_ref().map(Touched::view);
        let row_data = is_new.then(|| pruned.decisions.row_data(touch));
        remembered.decisions = pruned.decisions;
        self.remember(target.session_id, remembered);
        Request {
            messages: changed(messages, pruned.list, target.manner),
            row_data,
        }
    }

    /// A history whose tool results count what they take in a request, where that is less than what is stored. The
    /// messages are those given; `None` when all are sent whole.
    pub(crate) fn sized(
        &self,
        messages: &[Held],
        history: &History,
        target: Target<'_>,
    ) -> Option<Vec<Held>> {
        let remembered = self.remembered(history, target);
        if remembered.decisions.are_plain() && all_fit(messages, target.window_tokens) {
            return None;
        }
        let budget = ResultBudget {
            window_tokens: target.window_tokens,
            pruning: None,
            idle_ms: None,
            reasoning_dropped: false,
        };
        let pruned = prune_tool_results(&parsed(messages), &remembered.decisions, budget);
        let mut sized = messages.to_vec();
        for (held, piece) in sized.iter_mut().zip(pruned.list.pieces) {
            if let Piece::New { json, role } = piece {
                held.tokens = target.manner.made(role, json).tokens;
            }
        }
        Some(sized)
    }

    /// Notes that a request which began at this time was answered.
    pub(crate) fn touch(&self, target: Target<'_>, began_ms: i64) {
        let mut kept = self.by_session.lock();
        if let Some(remembered) = kept.get_mut(target.session_id) {
            remembered.touched = Some(Touched::of(target, began_ms));
        }
    }

    fn remembered(&self, history: &History, target: Target<'_>) -> Remembered {
        if let Some(remembered) = self.by_session.lock().get(target.session_id) {
            return remembered.clone();
        }
        let row = history.decisions();
        let rows: Vec<_> = row.iter().copied().collect();
        let touched_ms = last_touch_ms(&rows, target.provider, target.model);
        Remembered {
            decisions: Decisions::on_path(&rows),
            touched: touched_ms.map(|at_ms| Touched::of(target, at_ms)),
        }
    }

    fn remember(&self, session_id: &str, remembered: Remembered) {
        let mut kept = self.by_session.lock();
        if kept.len() >= SESSIONS && !kept.contains_key(session_id) {
            kept.clear();
        }
        kept.insert(session_id.to_owned(), remembered);
    }
}

impl Touched {
    fn of(target: Target<'_>, at_ms: i64) -> Self {
        Self {
            at_ms,
            provider: target.provider.to_owned(),
            model: target.model.to_owned(),
        }
    }

    fn view(&self) -> Touch<'_> {
        Touch {
            timestamp_ms: self.at_ms,
            provider: &self.provider,
            model: &self.model,
        }
    }
}

/// Whether something in a message may be left out: a look at the bytes, which sees too much rather than too little.
fn may_shrink(held: &Held) -> bool {
    let names_media = || {
        let media = ["\"image\"", "[media", "media://", "[Image:", "[image:"];
        media.iter().any(|word| held.json.contains(word))
    };
    match held.role {
        Role::ToolResult => true,
        Role::User => names_media(),
        _ => false,
    }
}

/// Whether results are sent whole if nothing was decided on them: a look at their bytes, of which a weighted char has half
/// or more.
fn all_fit(messages: &[Held], window_tokens: u64) -> bool {
    let results = messages.iter().filter(|held| held.role == Role::ToolResult);
    let mut units = results.map(|held| 2 * held.json.len() as u64);
    let (one, all) = (16_000.min(window_tokens), 2 * window_tokens);
    units
        .try_fold(0_u64, |sum, units| (units <= one).then_some(sum + units))
        .is_some_and(|sum| sum <= all)
}

fn parsed(messages: &[Held]) -> Vec<Message> {
    messages
        .iter()
        .map(|held| Message::from_json(&held.json).expect("a held message was read before"))
        .collect()
}

fn without_old_images(messages: Vec<Held>, manner: &Manner) -> (Vec<Held>, Vec<Message>) {
    let read = parsed(&messages);
    let pruned = prune_history_images(&read);
    if pruned.changed == 0 {
        return (messages, read);
    }
    let messages = changed(messages, pruned, manner);
    let read = parsed(&messages);
    (messages, read)
}

/// The list with the messages that a pruning changed.
fn changed(mut messages: Vec<Held>, pruned: Pruned, manner: &Manner) -> Vec<Held> {
    for (held, piece) in messages.iter_mut().zip(pruned.pieces) {
        if let Piece::New { json, role } = piece {
            let id = std::mem::take(&mut held.id);
            *held = Held {
                id,
                ..manner.made(role, json)
            };
        }
    }
    messages
}
