//! Asks an engine to compact, and the built-in compactor where the engine leaves it to the host.

use super::built_in::BuiltIn;
use super::{CompactionRecord, not_compacted};
use crate::LEGACY_ID;
use crate::delegate::serving;
use crate::desk::Visit;
use crate::guard::{Guarded, Hook};
use crate::quarantine::QuarantineRecord;
use crate::store::Session;
use openclaw_interface::model::{CompactParams, CompactResult};

/// What came of asking.
pub(in crate::turn) struct Asked {
    /// What the engine answered, or the built-in compactor in its place.
    pub(in crate::turn) result: CompactResult,
    /// Each answer, in order.
    pub(in crate::turn) records: Vec<CompactionRecord>,
    /// How the engine failed, when it did.
    pub(in crate::turn) failure: Option<QuarantineRecord>,
}

impl BuiltIn<'_> {
    /// Lets the engine compact. One that does not own compaction, or failed, is not the last word: when the context is
    /// as large as before, the built-in compactor is asked. `None` when the caller broke it off. Case L-3.
    pub(in crate::turn) fn ask(
        &mut self,
        engine: &mut Guarded,
        session: &Session,
        params: &CompactParams,
    ) -> Option<Asked> {
        let started_ms = self.now_ms();
        let visit = Visit::compaction(session);
        let hook = serving(
            |delegate| engine.compact(params, visit.served_by(delegate)),
            |params| self.compact(params),
        );
        let mut failure = None;
        let mut result = match hook {
            Hook::Done(result) => result,
            Hook::Absent(error) => not_compacted(error.message),
            Hook::Cancelled => return None,
            Hook::Fenced(reason) => not_compacted(reason),
            Hook::Failed(record) => {
                let reason = format!("it failed in compact: {}", record.reason);
                failure = Some(record);
                not_compacted(reason)
            }
        };
        if let Some(made) = self.answered.as_ref().filter(|it| it.compacted) {
            // The row is there, whatever the engine makes of it.
            if !result.compacted {
                result = made.clone();
            }
        }
        let mut records = vec![self.record(engine.id(), &result, started_ms)];
        let is_left_to_host = !engine.identity.owns_compaction || failure.is_some();
        if !result.compacted && is_left_to_host && self.answered.is_none() {
            tracing::info!(
                engine = engine.id(),
                reason = result.reason,
                "the engine did not compact; the built-in compactor does"
            );
            let started_ms = self.now_ms();
            let own = self.compact(params).ok()?;
            records.push(self.record(LEGACY_ID, &own, started_ms));
            let reasons = [(engine.id(), &result.reason), (LEGACY_ID, &own.reason)];
            let reasons = reasons.map(|(id, reason)| {
                format!("{id}: {}", reason.as_deref().unwrap_or("it gave no reason"))
            });
            result = match own.compacted {
                true => own,
                false => CompactResult {
                    reason: Some(reasons.join("; ")),
                    ok: own.ok && result.ok,
                    ..own
                },
            };
        }
        Some(Asked {
            result,
            records,
            failure,
        })
    }

    fn record(&self, engine_id: &str, result: &CompactResult, started_ms: i64) -> CompactionRecord {
        let elapsed_ms = self.now_ms().saturating_sub(started_ms);
        let compaction = result.result.as_ref();
        CompactionRecord {
            engine_id: engine_id.to_owned(),
            trigger: self.need.word().to_owned(),
            compacted: result.compacted,
            reason: result.reason.clone(),
            tokens_before: compaction.map(|it| it.tokens_before),
            tokens_after: compaction.and_then(|it| it.tokens_after),
            elapsed_ms: u64::try_from(elapsed_ms).unwrap_or(0),
            summariser: self.has_compacted().then(|| self.summariser.clone()),
        }
    }
}
