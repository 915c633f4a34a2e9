//! The models of one turn, in the order they are asked.

use super::{Model, ModelInfo};
use crate::requirements::ExecutionHost;

/// A model that may answer a turn, and what runs it.
pub struct Candidate<'m> {
    /// The model.
    pub model: &'m mut dyn Model,
    /// What runs it.
    pub host: ExecutionHost,
}

/// The models of one turn: the one that is asked, and those that are asked in its place when it gives no answer.
pub struct Candidates<'m> {
    asked: Candidate<'m>,
    /// The next one last.
    fallbacks: Vec<Candidate<'m>>,
    /// What runs them, in order.
    hosts: Vec<ExecutionHost>,
    first: ModelInfo,
}

impl<'m> Candidates<'m> {
    /// - `fallbacks`: in the order they are asked.
    #[must_use]
    pub fn new(first: Candidate<'m>, mut fallbacks: Vec<Candidate<'m>>) -> Self {
        let hosts = std::iter::once(&first).chain(&fallbacks);
        let hosts = hosts.map(|candidate| candidate.host.clone()).collect();
        fallbacks.reverse();
        Self {
            first: first.model.info().clone(),
            asked: first,
            fallbacks,
            hosts,
        }
    }

    /// What runs the models, those included that are never asked.
    pub(crate) fn hosts(&self) -> &[ExecutionHost] {
        &self.hosts
    }

    /// The model that is asked now.
    pub(crate) fn model(&mut self) -> &mut dyn Model {
        self.asked.model
    }

    /// What runs the model that is asked now.
    pub(crate) fn host(&self) -> &ExecutionHost {
        &self.asked.host
    }

    /// The model that was asked first.
    pub(crate) fn first(&self) -> &ModelInfo {
        &self.first
    }

    /// Goes on to the next model; `false` when there is none.
    pub(crate) fn advance(&mut self) -> bool {
        let Some(next) = self.fallbacks.pop() else {
            return false;
        };
        self.asked = next;
        true
    }
}

impl<'m, M: Model> From<&'m mut M> for Candidates<'m> {
    /// One model that this program runs itself.
    fn from(model: &'m mut M) -> Self {
        Self::from(model as &'m mut dyn Model)
    }
}

impl<'m> From<&'m mut dyn Model> for Candidates<'m> {
    /// One model that this program runs itself.
    fn from(model: &'m mut dyn Model) -> Self {
        let host = ExecutionHost::embedded();
        Self::new(Candidate { model, host }, Vec::new())
    }
}
