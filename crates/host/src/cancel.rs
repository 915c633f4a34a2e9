//! Ends a turn early.

use parking_lot::{Condvar, Mutex};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Ends one turn early: its model request, its waits, its tools and the engine see it. Clones are the same handle; any
/// thread may use it, before, in and after the turn.
#[derive(Clone, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    wake: Arc<(Mutex<()>, Condvar)>,
}

impl Cancel {
    /// A handle that nobody has used.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the turn. There is no way back.
    pub fn cancel(&self) {
        let (lock, wake) = &*self.wake;
        let _waiting = lock.lock();
        self.flag.store(true, Ordering::SeqCst);
        wake.notify_all();
    }

    /// Whether the turn is to end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::SeqCst)
    }

    /// What engines look at.
    pub(crate) fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }

    /// Waits, unless cancelled.
    pub(crate) fn wait(&self, duration: Duration) {
        let until = Instant::now() + duration;
        let (lock, wake) = &*self.wake;
        let mut waiting = lock.lock();
        while !self.is_cancelled() {
            if wake.wait_until(&mut waiting, until).timed_out() {
                return;
            }
        }
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cancel({})", self.is_cancelled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_ends_with_a_cancel() {
        let cancel = Cancel::new();
        let other = cancel.clone();
        let waiting = std::thread::spawn(move || other.wait(Duration::from_secs(3600)));
        cancel.cancel();
        waiting.join().unwrap();
        cancel.wait(Duration::from_secs(3600));
    }

    #[test]
    fn wait_ends_by_itself() {
        let cancel = Cancel::new();
        cancel.wait(Duration::from_millis(1));
        assert!(!cancel.is_cancelled());
    }
}
