//! What was decided on tool results, as it is kept between requests and in the transcript.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::apply::Mode;
use super::keys;
use crate::json::Object;
use crate::message::Message;
use crate::row::{Row, RowKind};
use crate::scan;

/// The custom type of the row that holds decisions.
pub const CACHE_TTL_ROW: &str = "openclaw.cache-ttl";

/// Decisions on tool results, in the order of the results.
///
/// Source: pruning, "Memory of decisions".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    decided: Vec<Decided>,
    ambiguous: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Decided {
    key: String,
    /// What the decision was made on; `None` when that was not written down.
    source_hash: Option<String>,
    mode: Mode,
}

/// When a request last touched the cache of a model's provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch<'a> {
    /// The time, in milliseconds since 1970.
    pub timestamp_ms: i64,
    /// Who offers the model.
    pub provider: &'a str,
    /// The model.
    pub model: &'a str,
}

/// A tool result of a list, and what is decided on it.
pub(super) struct Slot {
    key: keys::Key,
    pub(super) mode: Option<Mode>,
}

impl Decisions {
    /// Reads the `data` of a row; `None` when it is not of that form.
    #[must_use]
    pub fn from_row_data(data: &str) -> Option<Self> {
        let data: Value = serde_json::from_str(data).ok()?;
        let pruned = data.get("prunedToolResults")?.as_array()?;
        let list = |name: &str| {
            data.get(name)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        let text = |one: &Value, name: &str| Some(one.get(name)?.as_str()?.to_owned());

        let mut modes = HashMap::new();
        for one in pruned {
            let mode = match one.get("mode")?.as_str()? {
                "soft" => Mode::Soft,
                "hard" => Mode::Hard(text(one, "placeholder")?),
                _ => return None,
            };
            modes.insert(text(one, "key")?, mode);
        }
        let mut decided = Vec::new();
        for one in list("frozenToolResults") {
            let key = text(one, "key")?;
            let texts = one.get("texts").and_then(Value::as_array).map(|texts| {
                let texts = texts.iter().map(|text| text.as_str().unwrap_or_default());
                Mode::Cut(texts.map(str::to_owned).collect())
            });
            decided.push(Decided {
                mode: modes.remove(&key).or(texts).unwrap_or(Mode::Whole),
                source_hash: text(one, "sourceHash"),
                key,
            });
        }
        let unfrozen = pruned.iter().filter_map(|one| text(one, "key"));
        for key in unfrozen {
            if let Some(mode) = modes.remove(&key) {
                decided.push(Decided {
                    key,
                    source_hash: None,
                    mode,
                });
            }
        }
        let ambiguous = list("ambiguousToolResultBaseKeys").filter_map(Value::as_str);
        Some(Self {
            decided,
            ambiguous: ambiguous.map(str::to_owned).collect(),
        })
    }

    /// The decisions in force at the end of a path: those of its newest row since the last reset.
    #[must_use]
    pub fn on_path(path: &[&Row]) -> Self {
        let since_reset = path
            .iter()
            .rev()
            .take_while(|row| !matches!(row.kind(), RowKind::Reset { .. }));
        since_reset
            .filter_map(|row| Self::from_row_data(&data(row)?))
            .next()
            .unwrap_or_default()
    }

    /// Whether every result is sent as it is: then there is nothing to remember over a restart.
    #[must_use]
    pub fn are_plain(&self) -> bool {
        self.decided.iter().all(|one| one.mode == Mode::Whole)
    }

    /// The `data` of a row that holds these decisions.
    ///
    /// - `touch`: the request that goes with them; `None` when pruning is off and results are only kept to size.
    #[must_use]
    pub fn row_data(&self, touch: Option<Touch<'_>>) -> String {
        let mut data = Map::new();
        if let Some(touch) = touch {
            data.insert("timestamp".into(), touch.timestamp_ms.into());
            data.insert("provider".into(), touch.provider.into());
            data.insert("modelId".into(), touch.model.into());
        }
        let pruned = self.decided.iter().filter_map(|one| match &one.mode {
            Mode::Soft => Some(json!({"key": one.key, "mode": "soft"})),
            Mode::Hard(placeholder) => {
                Some(json!({"key": one.key, "mode": "hard", "placeholder": placeholder}))
            }
            Mode::Cut(_) | Mode::Whole => None,
        });
        data.insert("prunedToolResults".into(), pruned.collect());
        let ambiguous = self.ambiguous.iter().cloned().map(Value::from);
        data.insert("ambiguousToolResultBaseKeys".into(), ambiguous.collect());
        let frozen = self.decided.iter().filter_map(|one| {
            let hash = one.source_hash.as_deref()?;
            Some(match &one.mode {
                Mode::Cut(texts) => json!({"key": one.key, "sourceHash": hash, "texts": texts}),
                Mode::Soft | Mode::Hard(_) | Mode::Whole => {
                    json!({"key": one.key, "sourceHash": hash})
                }
            })
        });
        data.insert("frozenToolResults".into(), frozen.collect());
        Value::from(data).to_string()
    }

    /// The results of a list with what was decided on them. A result with another text than the decision's is undecided.
    pub(super) fn slots(&mut self, messages: &[Message]) -> Vec<Option<Slot>> {
        let mut known: HashMap<&str, &Decided> = self
            .decided
            .iter()
            .map(|one| (one.key.as_str(), one))
            .collect();
        let mut slots = Vec::with_capacity(messages.len());
        for key in keys::of_messages(messages, &mut self.ambiguous) {
            slots.push(key.map(|key| {
                // What was decided before the key became ambiguous belongs to the first result with that text.
                let names = [Some(key.key.as_str()), key.base.as_deref()];
                let fits = |one: &&Decided| {
                    one.source_hash
                        .as_ref()
                        .is_none_or(|hash| *hash == key.source_hash)
                };
                let name = names
                    .into_iter()
                    .flatten()
                    .find(|name| known.get(name).is_some_and(fits));
                let mode = name
                    .and_then(|name| known.remove(name))
                    .map(|one| one.mode.clone());
                Slot { key, mode }
            }));
        }
        slots
    }

    /// Remembers what is decided on these results, and nothing else.
    pub(super) fn keep<'a>(&mut self, slots: impl Iterator<Item = &'a Slot>) {
        let (mut decided, mut bases) = (Vec::new(), BTreeSet::new());
        for Slot { key, mode } in slots {
            bases.extend(key.base.clone());
            decided.extend(mode.clone().map(|mode| Decided {
                key: key.key.clone(),
                source_hash: Some(key.source_hash.clone()),
                mode,
            }));
        }
        self.decided = decided;
        self.ambiguous.retain(|base| bases.contains(base));
    }
}

/// When the cache of a model's provider was last touched, from the rows of a path; names are compared in lower case.
#[must_use]
pub fn last_touch_ms(path: &[&Row], provider: &str, model: &str) -> Option<i64> {
    path.iter().rev().find_map(|row| {
        let data = data(row)?;
        let data = Object::read(&data).ok()?;
        let is = |field: &str, name: &str| {
            data.string(field)
                .is_some_and(|text| text.to_lowercase() == name.to_lowercase())
        };
        (is("provider", provider) && is("modelId", model))
            .then(|| data.integer("timestamp"))
            .flatten()
    })
}

/// The `data` of a row with decisions.
fn data(row: &Row) -> Option<String> {
    let RowKind::Custom { custom_type } = row.kind() else {
        return None;
    };
    if custom_type != CACHE_TTL_ROW {
        return None;
    }
    let text = scan::readable(row.raw().trim())?;
    let data = Object::read(&text).ok()?.get("data")?.to_owned();
    Some(data)
}
