//! One build of an engine at a time.
//!
//! Two builds are two copies of everything in them, and neither sees the locks the other has on a file: locks of POSIX are
//! those of the process. So an instance of a new build is made when the last one of the old build is gone.

use crate::registry::Generation;
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Which build of each engine has instances, and how many.
pub(crate) struct Handover {
    busy: Mutex<HashMap<String, (Arc<Generation>, usize)>>,
    changed: Condvar,
    wait: Duration,
}

/// The right to have one instance of a build; ends when dropped.
pub(crate) struct Ticket {
    pub(crate) generation: Arc<Generation>,
    handover: Arc<Handover>,
}

impl Handover {
    /// - `wait`: how long to wait for the last instance of an old build.
    pub(crate) fn new(wait: Duration) -> Arc<Self> {
        Arc::new(Self {
            busy: Mutex::default(),
            changed: Condvar::new(),
            wait,
        })
    }

    /// A ticket for `wanted`, or for the old build when its instances did not end in time.
    pub(crate) fn enter(self: &Arc<Self>, wanted: &Arc<Generation>) -> Ticket {
        let id = &wanted.plugin.id;
        let deadline = Instant::now() + self.wait;
        let mut busy = self.busy.lock();
        let mut is_late = false;
        loop {
            let (current, instances) = busy
                .entry(id.clone())
                .or_insert_with(|| (Arc::clone(wanted), 0));
            if is_late || Arc::ptr_eq(current, wanted) {
                *instances += 1;
                return Ticket {
                    generation: Arc::clone(current),
                    handover: Arc::clone(self),
                };
            }
            is_late = self.changed.wait_until(&mut busy, deadline).timed_out();
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut busy = self.handover.busy.lock();
        let Some((_, instances)) = busy.get_mut(&self.generation.plugin.id) else {
            return;
        };
        *instances -= 1;
        let ended = (*instances == 0)
            .then(|| busy.remove(&self.generation.plugin.id))
            .flatten();
        drop(busy);
        if ended.is_some() {
            self.handover.changed.notify_all();
        }
    }
}
