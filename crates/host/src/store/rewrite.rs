//! Replaces messages of a transcript: the path goes on behind the last row that stays, with copies of what follows.
//!
//! Nothing stored is changed. What was replaced stays off the path, and turns that stood in the part written again are
//! anchored in it again, all in one transaction. Costs what stands behind the first replaced message.
//!
//! Source: transcript semantics, "Rewriting".

mod anchors;
#[cfg(test)]
mod tests;

use super::Store;
use super::entries::{insert, tokens_of};
use super::error::{Attempt, StoreError};
use super::path::{self, PathEntry, parsed};
use super::sessions::{self, Session};
use super::upkeep::{self, Step};
use anchors::Moved;
use openclaw_interface::model::MaintenanceResult;
use openclaw_transcript::{Copy, Message, MessageError, Row, copied_row, leaf_row};
use rusqlite::{Connection, OptionalExtension};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// What an engine asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RewriteRequest {
    replacements: Vec<Replacement>,
    /// The entries that may be written again besides those replaced; `None` for any.
    allowed_rewrite_suffix_entry_ids: Option<HashSet<String>>,
}

impl RewriteRequest {
    /// Replaces entries, given with their new messages as JSON. A text that is no JSON is left out.
    pub(crate) fn replacing<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let replacements = entries.filter_map(|(entry_id, json)| {
            Some(Replacement {
                entry_id: entry_id.to_owned(),
                message: RawValue::from_string(json.to_owned()).ok()?,
            })
        });
        Self {
            replacements: replacements.collect(),
            allowed_rewrite_suffix_entry_ids: None,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    #[serde(default)]
    entry_id: String,
    message: Box<RawValue>,
}

/// Why nothing was rewritten.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RewriteError {
    /// A new message is none.
    #[error("the new message of entry `{entry_id}` cannot be one: {error}")]
    BadMessage {
        entry_id: String,
        #[source]
        error: MessageError,
    },
    /// An entry behind the first replaced one is not among those that may be written again.
    #[error(
        "entry `{entry_id}` stands behind the first replaced entry and is not in allowedRewriteSuffixEntryIds"
    )]
    NotAllowed { entry_id: String },
    /// A row has no id that a copy could stand behind, or cannot be copied.
    #[error("row {seq} of the transcript has no id, so nothing can be written behind it")]
    NoId { seq: i64 },
    #[error("the session is not there any more")]
    NoSession,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Replaces messages on the active path of a session, all or nothing.
    ///
    /// - returns: what was changed; unchanged with a reason when there was nothing to do. The generation stays.
    pub(crate) fn rewrite(
        &mut self,
        session_id: &str,
        request: &RewriteRequest,
    ) -> Result<MaintenanceResult, RewriteError> {
        let wanted = wanted(request)?;
        if wanted.is_empty() {
            return Ok(unchanged("no replacements requested"));
        }
        let ambient = self.ambient.clone();
        let attempt = self.attempt("rewrite entries of");
        let transaction = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(|error| attempt.sql(error))?;
        let session = sessions::by_id(&transaction, session_id, &attempt)?;
        let mut session = session.ok_or(RewriteError::NoSession)?;
        if session.path_length == 0 {
            return Ok(unchanged("empty session"));
        }
        let matches = matches(&transaction, &session, &wanted, &attempt)?;
        let Some(first) = matches.values().map(|it| it.position).min() else {
            return Ok(unchanged("no changed matching message entries"));
        };
        let suffix = path::between(&transaction, &session, first..session.path_length, &attempt)?;
        check_allowed(&suffix, request, &matches)?;
        let mut new_id = || ambient.new_id();
        let copies = copies(
            &transaction,
            &session,
            first,
            &suffix,
            &matches,
            &mut new_id,
            &attempt,
        )?;
        let target = copies.last().and_then(Row::id).map(str::to_owned);

        let mut moved = Moved::default();
        let mut steps = Vec::with_capacity(copies.len());
        for (old, copy) in suffix.iter().zip(&copies) {
            let tokens = tokens_of(copy);
            let seq = insert(&transaction, &mut session, copy, tokens, &attempt)?;
            moved.add(old, seq, copy.id());
            steps.push(Step::of(seq, copy, tokens));
        }
        let leaf = leaf_row(
            &new_id(),
            target.as_deref(),
            &ambient.timestamp(),
            target.as_deref(),
        );
        let leaf = parsed(session.next_seq, &leaf, &attempt)?;
        insert(&transaction, &mut session, &leaf, 0, &attempt)?;
        upkeep::replace_end(&transaction, &mut session, first, &steps, target, &attempt)?;
        session.save(&transaction, ambient.now_ms(), &attempt)?;
        anchors::follow(&transaction, &session, &moved, &attempt)?;
        transaction.commit().map_err(|error| attempt.sql(error))?;
        Ok(MaintenanceResult {
            changed: true,
            bytes_freed: matches.values().map(Match::freed_bytes).sum(),
            rewritten_entries: matches.len() as u64,
            reason: None,
        })
    }
}

fn unchanged(reason: &str) -> MaintenanceResult {
    MaintenanceResult {
        reason: Some(reason.to_owned()),
        ..MaintenanceResult::default()
    }
}

/// The new messages by entry; of several for one the last.
fn wanted(request: &RewriteRequest) -> Result<HashMap<&str, Message>, RewriteError> {
    let named = request
        .replacements
        .iter()
        .filter(|it| !it.entry_id.trim().is_empty());
    named
        .map(|it| {
            let message = Message::from_json(it.message.get());
            let message = message.map_err(|error| RewriteError::BadMessage {
                entry_id: it.entry_id.clone(),
                error,
            })?;
            Ok((it.entry_id.as_str(), message))
        })
        .collect()
}

/// A message on the path that is replaced.
struct Match<'a> {
    position: i64,
    old_bytes: usize,
    new: &'a Message,
}

impl Match<'_> {
    fn freed_bytes(&self) -> u64 {
        self.old_bytes.saturating_sub(self.new.json().len()) as u64
    }
}

/// The messages on the path that would change.
fn matches<'a>(
    connection: &Connection,
    session: &Session,
    wanted: &'a HashMap<&str, Message>,
    attempt: &Attempt,
) -> Result<HashMap<&'a str, Match<'a>>, StoreError> {
    let mut matches = HashMap::new();
    for (entry_id, new) in wanted {
        let found: Option<(i64, i64, String)> = connection
            .prepare_cached(
                "SELECT a.position, a.seq, e.row FROM entries e INDEXED BY entries_by_id \
                 CROSS JOIN active_path a ON a.session_id = e.session_id AND a.seq = e.seq \
                 WHERE e.session_id = ?1 AND e.entry_id = ?2 AND a.message_position IS NOT NULL",
            )
            .and_then(|mut statement| {
                statement
                    .query_row([&*session.id, *entry_id], |row| {
                        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                    })
                    .optional()
            })
            .map_err(|error| attempt.sql(error))?;
        let Some((position, seq, text)) = found else {
            continue;
        };
        let row = parsed(seq, &text, attempt)?;
        let Some(old) = row.message().filter(|old| differs(old.json(), new.json())) else {
            continue;
        };
        let found = Match {
            position,
            old_bytes: old.json().len(),
            new,
        };
        matches.insert(*entry_id, found);
    }
    Ok(matches)
}

/// Whether two texts say different things as JSON; numbers this program cannot hold are compared as text.
fn differs(old: &str, new: &str) -> bool {
    if old == new {
        return false;
    }
    let value = |text| serde_json::from_str::<Value>(text).ok();
    match (value(old), value(new)) {
        (Some(old), Some(new)) => old != new,
        _ => true,
    }
}

/// Refuses a rewrite that would write entries again which the engine did not count on.
fn check_allowed(
    suffix: &[PathEntry],
    request: &RewriteRequest,
    matches: &HashMap<&str, Match<'_>>,
) -> Result<(), RewriteError> {
    let Some(allowed) = &request.allowed_rewrite_suffix_entry_ids else {
        return Ok(());
    };
    for entry in suffix {
        let id = entry.row.id().unwrap_or_default();
        if !allowed.contains(id) && !matches.contains_key(id) {
            return Err(RewriteError::NotAllowed {
                entry_id: id.to_owned(),
            });
        }
    }
    Ok(())
}

/// The rows of the suffix once more, one behind the other.
fn copies(
    connection: &Connection,
    session: &Session,
    first: i64,
    suffix: &[PathEntry],
    matches: &HashMap<&str, Match<'_>>,
    new_id: &mut dyn FnMut() -> String,
    attempt: &Attempt,
) -> Result<Vec<Row>, RewriteError> {
    let mut parent = match first {
        0 => None,
        _ => {
            let before = path::between(connection, session, first - 1..first, attempt)?;
            let before = before
                .first()
                .ok_or_else(|| attempt.damaged("a path has a hole"))?;
            let id = before
                .row
                .id()
                .ok_or(RewriteError::NoId { seq: before.seq })?;
            Some(id.to_owned())
        }
    };
    let ids: Vec<String> = suffix.iter().map(|_| new_id()).collect();
    let renamed: HashMap<&str, &str> = suffix
        .iter()
        .zip(&ids)
        .filter_map(|(entry, id)| Some((entry.row.id()?, id.as_str())))
        .collect();
    let mut copies = Vec::with_capacity(suffix.len());
    for (entry, id) in suffix.iter().zip(&ids) {
        let replaced = entry.row.id().and_then(|id| matches.get(id));
        let copy = Copy {
            id,
            parent: parent.as_deref(),
            message: replaced.map(|it| it.new),
            moved: &|id| renamed.get(id).copied(),
        };
        let text = copied_row(&entry.row, &copy).ok_or(RewriteError::NoId { seq: entry.seq })?;
        let row = parsed(session.next_seq, &text, attempt)?;
        copies.push(row);
        parent = Some(id.clone());
    }
    Ok(copies)
}
