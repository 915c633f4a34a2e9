//! What a probe came to.

use serde::{Deserialize, Serialize};

/// What the probes of one library with one set of settings came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The engine.
    pub engine_id: String,
    /// SHA-256 of the library, lower-case hex.
    pub library_sha256: String,
    /// When, in milliseconds since 1970.
    pub probed_at_ms: i64,
    /// How long it took, in milliseconds.
    pub elapsed_ms: u64,
    /// Every probe, in order.
    pub probes: Vec<ProbeOutcome>,
}

/// What one probe came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProbeOutcome {
    /// Short stable name, such as `commit-duplicate`.
    pub name: String,
    /// What it came to.
    #[serde(flatten)]
    pub finding: Finding,
}

/// What one probe came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "outcome", content = "reason")]
pub enum Finding {
    /// The engine kept its promise.
    Passed,
    /// It broke it: what was done, what was expected, what was found.
    Failed(String),
    /// It was not tried, and why.
    NotApplicable(String),
}

impl Verdict {
    /// The first broken promise, and how.
    #[must_use]
    pub fn failed(&self) -> Option<(&str, &str)> {
        self.probes.iter().find_map(|probe| match &probe.finding {
            Finding::Failed(reason) => Some((probe.name.as_str(), reason.as_str())),
            Finding::Passed | Finding::NotApplicable(_) => None,
        })
    }

    /// Number of probes passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        let is_passed = |probe: &&ProbeOutcome| probe.finding == Finding::Passed;
        self.probes.iter().filter(is_passed).count()
    }
}

impl ProbeOutcome {
    /// The promise it is about, as a sentence without its end.
    #[must_use]
    pub fn promise(&self) -> &'static str {
        match self.name.as_str() {
            "turn-undisturbed" => "turns run one after another and every hook answers",
            "commit-first" => "a new turn is answered `committed`",
            "commit-duplicate" => "the same key again is answered `duplicate`",
            "commit-second-instance" => "another instance knows the key",
            "commit-second-process" => "another process knows the key",
            "commit-other-payload" => "other messages under a stored key change nothing",
            "commit-acknowledged" => "an acknowledged turn survives the death of its process",
            "commit-killed" => "a commit that is killed is whole or absent",
            "fence-bootstrap" => "a turn that ends behind bootstrap leaves nothing",
            "fence-unfinished-turn" => "a turn left unfinished is never shown",
            _ => "a promise this version does not know",
        }
    }
}

/// Why a probe did not pass.
pub(super) enum Shortfall {
    /// The engine broke its promise.
    Broken(String),
    /// It cannot be told whether it did.
    Unclear(String),
    /// The probing itself failed.
    Probing(super::ProbeError),
}

impl From<String> for Shortfall {
    fn from(reason: String) -> Self {
        Self::Broken(reason)
    }
}

impl From<super::ProbeError> for Shortfall {
    fn from(error: super::ProbeError) -> Self {
        Self::Probing(error)
    }
}

/// Collects outcomes. A probe that builds on one that failed is not tried, so that one lie has one name.
#[derive(Default)]
pub(super) struct Report {
    pub(super) outcomes: Vec<ProbeOutcome>,
    /// Probes that nothing can build on: those that failed and those that were not tried.
    stopped: Vec<&'static str>,
}

impl Report {
    /// Runs a probe, when none of `needs` stands in its way.
    pub(super) fn probe(
        &mut self,
        name: &'static str,
        needs: &[&'static str],
        run: impl FnOnce() -> Result<(), Shortfall>,
    ) -> Result<(), super::ProbeError> {
        let finding = match needs.iter().find(|need| self.stopped.contains(need)) {
            Some(need) => {
                self.stopped.push(name);
                Finding::NotApplicable(format!("it builds on {need}, which did not pass"))
            }
            None => match run() {
                Ok(()) => Finding::Passed,
                Err(Shortfall::Broken(reason)) => {
                    self.stopped.push(name);
                    Finding::Failed(reason)
                }
                Err(Shortfall::Unclear(reason)) => Finding::NotApplicable(reason),
                Err(Shortfall::Probing(error)) => return Err(error),
            },
        };
        self.add(name, finding);
        Ok(())
    }

    pub(super) fn add(&mut self, name: &str, finding: Finding) {
        self.outcomes.push(ProbeOutcome {
            name: name.to_owned(),
            finding,
        });
    }
}
