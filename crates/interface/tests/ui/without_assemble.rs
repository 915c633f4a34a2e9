use openclaw_interface::{
    AssembleRequest, Assembly, ContextEngine, CreateContext, EngineError, Host, Info, export_engine,
};

struct Engine;

impl ContextEngine for Engine {
    const ID: &'static str = "engine";

    fn info() -> Info {
        Info::new(Self::ID, "Engine")
    }

    fn create(_context: CreateContext, _host: Host) -> Result<Self, EngineError> {
        Ok(Self)
    }
}

export_engine!(Engine);

fn main() {}
