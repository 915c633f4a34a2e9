//! The built-in engine: always there, never quarantined.

use openclaw_interface::{
    AssembleRequest, Assembly, CompactResult, ContextEngine, CreateContext, EngineError, Host,
    Info, Message, model::BatchParams, model::CompactParams, model::IngestResult,
};

/// Id of the built-in engine; no plugin may have it.
pub const LEGACY_ID: &str = "legacy";

/// Passes the host's history through. What makes it fit and valid is the host's own pipeline, which every answer goes
/// through. It compacts by the service that plugins get as well.
pub(crate) struct Legacy {
    host: Host,
}

impl ContextEngine for Legacy {
    const ID: &'static str = LEGACY_ID;

    fn info() -> Info {
        Info::new(Self::ID, "Legacy Context Engine").version("1.0.0")
    }

    fn create(_context: CreateContext, host: Host) -> Result<Self, EngineError> {
        Ok(Self { host })
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

    fn compact(&mut self, params: &CompactParams) -> Result<CompactResult, EngineError> {
        self.host.ask(params)
    }
}
