use openclaw_interface::{
    AssembleRequest, Assembly, ContextEngine, CreateContext, EngineError, Host, Info, export_engine,
};

struct Engine;

impl ContextEngine for Engine {
    const ID: &'static str = "legacy";

    fn info() -> Info {
        Info::new(Self::ID, "Engine")
    }

    fn create(_context: CreateContext, _host: Host) -> Result<Self, EngineError> {
        Ok(Self)
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        Ok(Assembly::pass_through(request.messages))
    }
}

export_engine!(Engine);

fn main() {}
