//! How long the steps of a load take.

use std::time::{Duration, Instant};

/// Names of steps and how long each took, in the order they were first taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps(Vec<(&'static str, Duration)>);

impl Steps {
    /// The steps.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Duration)> + '_ {
        self.0.iter().copied()
    }

    /// Runs `f` as a step; one that is taken again adds to its time.
    pub(crate) fn time<T>(&mut self, step: &'static str, f: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = f();
        let elapsed = started.elapsed();
        match self.0.iter_mut().find(|(name, _)| *name == step) {
            Some((_, time)) => *time += elapsed,
            None => self.0.push((step, elapsed)),
        }
        result
    }
}
