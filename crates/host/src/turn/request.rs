//! What a turn is asked for.

use super::{SystemPrompt, ViewSettings};
use crate::cancel::Cancel;
use crate::turn::TurnError;

/// What a turn is about.
#[derive(Clone, Debug, Default)]
pub struct TurnRequest {
    /// Stable logical name of the session; made when it is new.
    pub session_key: String,
    /// The user's text; not blank.
    pub text: String,
    /// What the text is.
    pub kind: TurnKind,
    /// Id of the turn. A turn with the id of an earlier one is that turn: it is finished if it died, and not done
    /// again if it was. `None` makes a new one.
    pub turn_id: Option<String>,
    /// The host's part of the system prompt.
    pub system_prompt: SystemPrompt,
    /// Tokens a request and its answer may take together, where less than the model's window.
    pub context_tokens: Option<u64>,
    /// How much of the history the model is shown.
    pub view: ViewSettings,
    /// Ends this turn early; a handle is for one turn.
    pub cancel: Cancel,
}

/// What a turn's text is.
///
/// Source: turn pipeline, "Which runs are what".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnKind {
    /// A message of the user.
    #[default]
    Message,
    /// A heartbeat: a message that the commit marks as such.
    Heartbeat,
    /// An announcement: the model gets it and it is not stored. The reply is stored, and no engine is owed the turn.
    Announcement,
}

impl TurnKind {
    /// Whether the text becomes an entry, and so the turn a commit.
    pub(super) fn is_stored(self) -> bool {
        match self {
            Self::Message | Self::Heartbeat => true,
            Self::Announcement => false,
        }
    }
}

impl TurnRequest {
    /// Refuses a request that makes no sense, before anything is touched.
    pub(super) fn check(&self) -> Result<(), TurnError> {
        if self.text.trim().is_empty() {
            return Err(TurnError::BlankText);
        }
        let is_id = |id: &str| {
            !id.trim().is_empty() && id.chars().count() <= 512 && !id.chars().any(char::is_control)
        };
        match &self.turn_id {
            Some(id) if !is_id(id) => Err(TurnError::BadTurnId),
            _ => Ok(()),
        }
    }
}
