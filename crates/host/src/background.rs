//! Work behind replies that are out: maintenance of engines that ask for it.
//!
//! A job holds its session's lane, so that there is one a session, and the next run of that session waits until the job
//! is done and its engine has said goodbye. Other sessions are never delayed.

use crate::cancel::Cancel;
use crate::lane::Lane;
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the end of a host waits for jobs it has cancelled.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// The jobs of a host.
#[derive(Default)]
pub(crate) struct Background {
    jobs: Arc<Jobs>,
}

#[derive(Default)]
struct Jobs {
    running: Mutex<Running>,
    ended: Condvar,
}

#[derive(Default)]
struct Running {
    cancels: HashMap<u64, Cancel>,
    last: u64,
}

/// A job that runs; ends it when dropped, whichever way.
struct Job {
    jobs: Arc<Jobs>,
    number: u64,
}

impl Background {
    /// Runs `work` on a thread of its own, in the lane of its session.
    ///
    /// - `cancel`: what the job listens to; used when the host ends first.
    pub(crate) fn run(&self, lane: Lane, cancel: Cancel, work: impl FnOnce() + Send + 'static) {
        let job = self.jobs.start(cancel);
        let started = std::thread::Builder::new()
            .name("maintenance".into())
            .spawn(move || {
                // Ends in this order: the lane before the job, so that who waits for the jobs can enter.
                let _job = job;
                let _lane = lane;
                work();
            });
        if let Err(error) = started {
            tracing::warn!(reason = %error, "no thread for maintenance in the background; it is left out this time");
        }
    }

    /// Waits until no job runs, at most this long. Answers whether that is so.
    pub(crate) fn settle(&self, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        let mut running = self.jobs.running.lock();
        while !running.cancels.is_empty() {
            let waited = self.jobs.ended.wait_until(&mut running, until);
            if waited.timed_out() {
                return running.cancels.is_empty();
            }
        }
        true
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        for cancel in self.jobs.running.lock().cancels.values() {
            cancel.cancel();
        }
        if !self.settle(LAST_WAIT) {
            let waited_ms = LAST_WAIT.as_millis() as u64;
            tracing::warn!(
                waited_ms,
                "maintenance in the background does not end; it is left behind"
            );
        }
    }
}

impl Jobs {
    fn start(self: &Arc<Self>, cancel: Cancel) -> Job {
        let mut running = self.running.lock();
        running.last += 1;
        let number = running.last;
        running.cancels.insert(number, cancel);
        Job {
            jobs: Arc::clone(self),
            number,
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.jobs.running.lock().cancels.remove(&self.number);
        self.jobs.ended.notify_all();
    }
}
