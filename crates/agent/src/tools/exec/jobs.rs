//! Background commands, shared by `exec`, which starts them, and `process`, which looks after them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::{ToolFailure, fail};
use super::Child;
use crate::line::one_line;

const MAX_JOBS: usize = 16;
const COMMAND_CHARS: usize = 120;

/// The jobs of one tool set.
#[derive(Clone, Default)]
pub(in super::super) struct Jobs(Arc<Mutex<Inner>>);

#[derive(Default)]
pub(in super::super) struct Inner {
    pub(in super::super) jobs: Vec<Job>,
    started: u64,
}

pub(in super::super) struct Job {
    pub(in super::super) id: String,
    pub(in super::super) command: String,
    pub(in super::super) child: Child,
}

impl Jobs {
    pub(super) fn add(&self, command: &str, child: Child) -> Result<String, ToolFailure> {
        let mut inner = self.lock();
        if inner.jobs.len() >= MAX_JOBS {
            return fail(format!(
                "exec: {MAX_JOBS} background sessions are there; remove one with process remove"
            ));
        }
        inner.started += 1;
        let id = format!("job-{}", inner.started);
        let command = one_line(command, COMMAND_CHARS);
        inner.jobs.push(Job {
            id: id.clone(),
            command,
            child,
        });
        Ok(id)
    }

    pub(in super::super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
