//! The built-in engine: always there, never quarantined.

use openclaw_interface::{
    AssembleRequest, Assembly, CompactResult, ContextEngine, CreateContext, EngineError, Host,
    Info, Message, model::BatchParams, model::CompactParams, model::IngestResult,
};

/// Id of the built-in engine; no plugin may have it.
pub const LEGACY_ID: &str = "legacy";

/// Passes the host's history through. What makes it fit and valid is the host's own pipeline, which every answer goes
/// through.
pub(crate) struct Legacy;

impl ContextEngine for Legacy {
    const ID: &'static str = LEGACY_ID;

    fn info() -> Info {
        Info::new(Self::ID, "Legacy Context Engine").version("1.0.0")
    }

    fn create(_context: CreateContext, _host: Host) -> Result<Self, EngineError> {
        Ok(Self)
    }

    fn ingest(
        &mut self,
        _message: Message<'_>,
        _params: &BatchParams,
    ) -> Result<IngestResult, EngineError> {
        Ok(IngestResult {
            ingested: Some(false),
            ingested_count: None,
        })
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        Ok(Assembly {
            estimated_tokens: 0,
            ..Assembly::pass_through(request.messages)
        })
    }

    /// Says that it cannot. Making a summary needs a compactor, which this host does not have yet.
    fn compact(&mut self, _params: &CompactParams) -> Result<CompactResult, EngineError> {
        Ok(CompactResult {
            reason: Some("the built-in engine cannot compact yet".into()),
            ..CompactResult::default()
        })
    }
}
