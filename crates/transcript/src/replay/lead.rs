//! What stands before a list that is replayed: as much of it as the list has to know.

use openclaw_interface::Role;

use super::call_ids::Names;
use super::policy::Policy;
use crate::message::Message;

/// The messages that a replay has been over, as far as messages behind them have to know.
#[derive(Clone, Debug, Default)]
pub struct ReplayLead {
    pub(super) names: Names,
    /// The time of the newest compaction summary, where that has one; `None` when there is no summary.
    pub(super) summarized_ms: Option<Option<i64>>,
    is_empty: bool,
}

impl ReplayLead {
    /// Nothing.
    #[must_use]
    pub fn new(policy: &Policy) -> Self {
        Self {
            names: Names::new(policy.call_ids),
            summarized_ms: None,
            is_empty: true,
        }
    }

    /// Puts messages behind those that are there: all that a replay kept, as they were given to it.
    pub fn add<'a>(&mut self, kept: impl Iterator<Item = &'a Message>) {
        for message in kept {
            self.is_empty = false;
            if message.role() == Role::CompactionSummary {
                self.summarized_ms = Some(message.timestamp_ms());
            }
            for call in message.calls() {
                self.names.next(&call.id);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Bytes of its texts.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.names.size_bytes()
    }
}
