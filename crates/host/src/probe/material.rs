//! The turns that engines are probed with: made of their number, so that parent and child have the same.

use crate::turn::{commit_params, committed_facts};
use openclaw_interface::model::{
    Anchor, AssembleParams, CommitParams, CompactParams, SessionParams, SessionTarget,
};
use openclaw_interface::{Message, Role};
use serde_json::{Map, Value, json};

/// Turns of a few kilobytes come first.
pub(super) const SMALL_TURNS: u32 = 4;
/// Size of the tool result of the later turns, so that a commit takes time to be killed in.
const LARGE_RESULT_BYTES: usize = 256 * 1024;
const SMALL_RESULT_BYTES: usize = 2 * 1024;

/// Where the tool result's text goes.
const LONG_TEXT: &str = "@long-text@";

/// Tokens an assembled list may take: room for all turns.
pub(super) const BUDGET_TOKENS: u64 = 2_000_000;

/// Tokens the prompt may take after a compaction.
const COMPACTED_TOKENS: u64 = 1_000;

/// Stands in the prompt of a turn that is never finished, and nowhere else.
pub(super) const MARK: &str = "unfinished-turn-mark-7f3a";

const SESSION_ID: &str = "probe-session";
const SESSION_KEY: &str = "agent:probe:main";
const AGENT_ID: &str = "probe";
/// Milliseconds since 1970 of the first turn; the turns are a minute apart.
const START_MS: u64 = 1_777_629_600_000;

/// A message as the host holds it.
pub(super) struct Made {
    id: String,
    role: Role,
    json: String,
}

impl Made {
    pub(super) fn view(&self) -> Message<'_> {
        let tokens = u32::try_from(self.json.len().div_ceil(4)).unwrap_or(u32::MAX);
        Message::new(&self.id, self.role, tokens, &self.json)
    }
}

/// The user's text of a turn.
pub(super) fn prompt(turn: u32) -> String {
    format!("Read part {turn} of the minutes and tell me what was decided.")
}

/// The advancement key of a turn.
fn key(turn: u32) -> String {
    format!("probe-turn-{turn}")
}

/// The messages of a turn: user, assistant with a tool call, its result, assistant. `other` has other texts and ids.
pub(super) fn messages(turn: u32, other: bool) -> Vec<Made> {
    let version = if other { "other" } else { "first" };
    let call_id = format!("call-{turn}-{version}");
    let timestamp = START_MS + u64::from(turn) * 60_000;
    let assistant = |content: Value, stop: &str| {
        json!({
            "role": "assistant", "content": content, "api": "probe", "provider": "probe", "model": "probe",
            "usage": { "input": 900, "output": 40, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 940,
                "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 } },
            "stopReason": stop, "timestamp": timestamp, "__openclaw": { "runId": key(turn) },
        })
    };
    let bytes = match turn {
        ..=SMALL_TURNS => SMALL_RESULT_BYTES,
        _ => LARGE_RESULT_BYTES,
    };
    let line = format!("{version} minutes, part {turn}: the hedge stays as it is. ");
    let long_text = line.repeat(bytes / line.len());
    let parts = [
        json!({
            "role": "user", "content": prompt(turn), "timestamp": timestamp,
            "idempotencyKey": format!("{}:user", key(turn)), "__openclaw": { "senderIsOwner": true },
        }),
        assistant(
            json!([
                { "type": "text", "text": "I read them." },
                { "type": "toolCall", "id": call_id, "name": "read", "arguments": { "path": format!("minutes-{turn}.md") } },
            ]),
            "toolUse",
        ),
        json!({
            "role": "toolResult", "toolCallId": call_id, "toolName": "read",
            "content": [{ "type": "text", "text": LONG_TEXT }],
            "isError": false, "timestamp": timestamp, "__openclaw": { "runId": key(turn) },
        }),
        assistant(
            json!([{ "type": "text", "text": format!("The {version} reading of part {turn}: nothing changes.") }]),
            "stop",
        ),
    ];
    let roles = [
        Role::User,
        Role::Assistant,
        Role::ToolResult,
        Role::Assistant,
    ];
    roles
        .into_iter()
        .zip(parts)
        .enumerate()
        .map(|(place, (role, json))| Made {
            id: format!("entry-{turn}-{place}-{version}"),
            role,
            // The long text needs no escapes: writing it as JSON would take longer than many a commit.
            json: json.to_string().replace(LONG_TEXT, &long_text),
        })
        .collect()
}

/// The history before a turn.
pub(super) fn history(turn: u32) -> Vec<Made> {
    (1..turn).flat_map(|turn| messages(turn, false)).collect()
}

/// What `commitTurn` gets beside the messages.
pub(super) fn commit(turn: u32, messages: &[Made]) -> CommitParams {
    let first = u64::from(turn - 1) * 4;
    let anchor = |place: u64, made: Option<&Made>| Anchor {
        agent_id: AGENT_ID.into(),
        session_id: SESSION_ID.into(),
        session_key: SESSION_KEY.into(),
        store_path: "probe".into(),
        generation: "probe-generation".into(),
        entry_id: made.map(|made| made.id.clone()).unwrap_or_default(),
        raw_seq: place + 1,
        active_message_position: place,
        ..Anchor::default()
    };
    let mut admission = anchor(first, messages.first());
    admission.idempotency_key = Some(format!("{}:user", key(turn)));
    admission
        .extra
        .insert("logicalTurnId".into(), key(turn).into());
    admission.extra.insert("role".into(), "user".into());
    let facts = committed_facts(("probe", "probe"), BUDGET_TOKENS, BUDGET_TOKENS);
    commit_params(
        &key(turn),
        admission,
        anchor(first + 3, messages.last()),
        facts,
    )
}

/// What `bootstrap` and `maintain` get.
pub(super) fn session() -> SessionParams {
    let known = |text: &str| Some(text.to_owned());
    SessionParams {
        session_id: SESSION_ID.into(),
        session_key: known(SESSION_KEY),
        session_file: SESSION_KEY.into(),
        session_target: Some(SessionTarget {
            agent_id: known(AGENT_ID),
            session_id: known(SESSION_ID),
            session_key: known(SESSION_KEY),
            store_path: known("probe"),
            extra: Map::new(),
        }),
        ..SessionParams::default()
    }
}

/// What `assemble` gets beside messages and budget.
pub(super) fn assembly(turn: u32, prompt_text: Option<&str>) -> AssembleParams {
    AssembleParams {
        session_id: SESSION_ID.into(),
        session_key: Some(SESSION_KEY.into()),
        prompt: Some(prompt_text.map_or_else(|| prompt(turn), str::to_owned)),
        model: Some("probe".into()),
        available_tools: vec!["read".into()],
        ..AssembleParams::default()
    }
}

/// What `compact` gets.
pub(super) fn compaction() -> CompactParams {
    let session = session();
    CompactParams {
        session_id: session.session_id,
        session_key: session.session_key,
        token_budget: Some(COMPACTED_TOKENS),
        force: true,
        compaction_target: Some("budget".into()),
        session_target: session.session_target,
        ..CompactParams::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_differ_by_number_and_version_and_are_the_same_each_time() {
        let json = |turn, other| -> Vec<String> {
            messages(turn, other)
                .into_iter()
                .map(|it| it.json)
                .collect()
        };
        assert_eq!(json(1, false), json(1, false));
        assert_ne!(json(1, false), json(1, true));
        assert_ne!(json(1, false), json(2, false));
        let large: usize = json(SMALL_TURNS + 1, false).iter().map(String::len).sum();
        assert!(large > 200_000, "{large}");
    }
}
