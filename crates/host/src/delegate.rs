//! The host's own compaction as a service of a running `compact`.
//!
//! The model that writes summaries belongs to the thread that runs the turn. So the hook runs on a thread of its own, and
//! the turn's thread serves what the hook asks until the hook has ended. An engine may ask from any thread.

use openclaw_interface::model::{CompactParams, CompactResult};
use openclaw_interface::{EngineError, ErrorCode};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

type Answer = Result<CompactResult, EngineError>;

enum Note {
    Asked(Box<CompactParams>, SyncSender<Answer>),
    /// The hook has ended: who still holds a [`Delegate`] is not served any more.
    Ended,
}

/// Where a running `compact` asks for the host's own compaction.
#[derive(Clone, Debug)]
pub(crate) struct Delegate(Sender<Note>);

impl Delegate {
    /// Has the host compact; waits for the answer.
    pub(crate) fn compact(&self, params: CompactParams) -> Answer {
        let (answer, answered) = sync_channel(1);
        let asked = self.0.send(Note::Asked(Box::new(params), answer));
        let gone = || EngineError::new(ErrorCode::Cancelled, "the compaction has ended");
        asked.map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }
}

/// Runs `hook` on a thread of its own and serves here what it delegates.
pub(crate) fn serving<T: Send>(
    hook: impl FnOnce(Delegate) -> T + Send,
    mut serve: impl FnMut(&CompactParams) -> Answer,
) -> T {
    let dispatch = tracing::dispatcher::get_default(Clone::clone);
    let span = tracing::Span::current();
    thread::scope(|scope| {
        let (notes, received) = channel();
        let running = scope.spawn(move || {
            let _ended = Ended(notes.clone());
            tracing::dispatcher::with_default(&dispatch, || span.in_scope(|| hook(Delegate(notes))))
        });
        attend(&received, &mut serve);
        running
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Says that the hook has ended, in whichever way.
struct Ended(Sender<Note>);

impl Drop for Ended {
    fn drop(&mut self) {
        // Nobody listens any more when the serving thread is gone.
        let _ = self.0.send(Note::Ended);
    }
}

fn attend(received: &Receiver<Note>, serve: &mut dyn FnMut(&CompactParams) -> Answer) {
    while let Ok(Note::Asked(params, answer)) = received.recv() {
        // The asker may have been abandoned meanwhile.
        let _ = answer.send(serve(&params));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_served_by_the_thread_that_waits_for_it() {
        let here = thread::current().id();
        let mut served = Vec::new();
        let late = serving(
            |delegate| {
                assert_ne!(thread::current().id(), here);
                let answer = thread::scope(|scope| {
                    let asked = scope.spawn(|| delegate.compact(CompactParams::default()));
                    asked.join().unwrap()
                });
                assert!(answer.unwrap().compacted);
                delegate
            },
            |_| {
                served.push(thread::current().id());
                Ok(CompactResult {
                    compacted: true,
                    ..CompactResult::default()
                })
            },
        );
        assert_eq!(served, [here]);
        let refused = late.compact(CompactParams::default()).unwrap_err();
        assert_eq!(refused.code, ErrorCode::Cancelled);
    }
}
