//! Which engine the configuration asks for, and why.

use crate::legacy::LEGACY_ID;

/// What the configuration says of the context-engine slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Nothing: the built-in engine.
    Default,
    /// Switched off: the built-in engine.
    Off,
    /// An engine whose plugin the configuration disables: the built-in engine.
    Disabled {
        /// The engine named.
        engine_id: String,
        /// Why its plugin is disabled.
        reason: String,
    },
    /// This engine.
    Engine(String),
}

impl Slot {
    /// The engine a turn starts with.
    #[must_use]
    pub fn engine_id(&self) -> &str {
        match self {
            Self::Engine(id) => id,
            Self::Default | Self::Off | Self::Disabled { .. } => LEGACY_ID,
        }
    }

    /// Why that one, in words.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Default => "default".into(),
            Self::Off => "slot switched off".into(),
            Self::Disabled { engine_id, reason } => format!("`{engine_id}` is disabled: {reason}"),
            Self::Engine(_) => "configured".into(),
        }
    }
}
