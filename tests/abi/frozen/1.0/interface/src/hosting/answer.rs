//! An assembled answer in the engine's memory.

use crate::abi::{AssembleOut, Pick};
use crate::model::{Assembly, AssemblyExtra, EngineError, ErrorCode};
use abi_stable::std_types::RString;

/// What an engine assembled, borrowed from the engine's memory while the instance is there.
#[derive(Clone, Copy)]
pub struct AssemblyView<'a>(&'a AssembleOut);

impl<'a> AssemblyView<'a> {
    pub(super) fn new(out: &'a AssembleOut) -> Self {
        Self(out)
    }

    /// The assembled list, oldest first. Nothing is checked.
    #[must_use]
    pub fn picks(self) -> &'a [Pick] {
        self.0.picks.as_slice()
    }

    /// Message objects the engine made, as JSON text. Nothing is checked.
    pub fn new_messages(self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        self.0.new_messages.iter().map(RString::as_str)
    }

    /// The engine's guess for messages and addition, in tokens.
    #[must_use]
    pub fn estimated_tokens(self) -> u64 {
        self.0.estimated_tokens
    }

    /// Text for the system prompt.
    #[must_use]
    pub fn system_prompt_addition(self) -> Option<&'a str> {
        self.0
            .system_prompt_addition
            .as_ref()
            .into_option()
            .map(RString::as_str)
    }

    /// The rest of the answer.
    ///
    /// # Errors
    ///
    /// It is no JSON object of the contract's form.
    pub fn extra(self) -> Result<AssemblyExtra, EngineError> {
        let json = self.0.ext_json.as_str();
        if json.is_empty() {
            return Ok(AssemblyExtra::default());
        }
        serde_json::from_str(json).map_err(|error| {
            EngineError::new(
                ErrorCode::InvalidAnswer,
                format!("the answer cannot be read: {error}"),
            )
        })
    }

    /// A copy that needs no engine.
    ///
    /// # Errors
    ///
    /// As [`Self::extra`].
    pub fn to_assembly(self) -> Result<Assembly, EngineError> {
        Ok(Assembly {
            picks: self.picks().to_vec(),
            new_messages: self.new_messages().map(str::to_owned).collect(),
            estimated_tokens: self.estimated_tokens(),
            system_prompt_addition: self.system_prompt_addition().map(str::to_owned),
            extra: self.extra()?,
        })
    }
}
