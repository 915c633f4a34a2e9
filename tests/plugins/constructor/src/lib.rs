//! An engine that is right in every way. When its library is opened, its constructor makes the file that the environment
//! variable `NOTELESS_MARK` names.

use openclaw_interface::{
    AssembleRequest, Assembly, ContextEngine, CreateContext, EngineError, Host, Info, export_engine,
};

#[used]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static CONSTRUCTOR: extern "C" fn() = mark;

extern "C" fn mark() {
    if let Some(path) = std::env::var_os("NOTELESS_MARK") {
        let _ = std::fs::write(path, "ran");
    }
}

struct Constructor;

export_engine!(Constructor);

impl ContextEngine for Constructor {
    const ID: &'static str = "constructor";

    fn info() -> Info {
        Info::new(Self::ID, "Engine with a constructor")
    }

    fn create(_context: CreateContext, _host: Host) -> Result<Self, EngineError> {
        Ok(Self)
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        Ok(Assembly::pass_through(request.messages))
    }
}
