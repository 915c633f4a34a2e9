//! What a library exports.

use crate::abi::{EngineModule, EngineModuleRef, EngineObject, HostObject, Reply};
use crate::author::{ContextEngine, Host, object};
use crate::convert::{params, reply};
use crate::guard;
use crate::model::EngineError;
use abi_stable::library::{CheckTypeLayout, LibHeader, RootModuleResult};
use abi_stable::marker_type::ErasedPrefix;
use abi_stable::prefix_type::{PrefixRefTrait, WithMetadata};
use abi_stable::std_types::{RResult, RStr};

/// The static behind [`ROOT_SYMBOL`](crate::abi::ROOT_SYMBOL).
pub type RootHeader = LibHeader;

/// What the constructor of the root module answers.
pub type RootResult = RootModuleResult;

/// Exports an engine from a `cdylib`: the root module and the note.
///
/// Write it once per library. It needs no other dependency than this crate, and works in crates that forbid `unsafe`.
///
/// The engine's id is checked when the library is compiled.
///
/// ```compile_fail
/// # use openclaw_interface::*;
/// # struct Bad;
/// # impl ContextEngine for Bad {
/// const ID: &'static str = "Bad Id";
/// #     fn info() -> Info { Info::new(Self::ID, "x") }
/// #     fn create(_: CreateContext, _: Host) -> Result<Self, EngineError> { Ok(Self) }
/// #     fn assemble(&mut self, r: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
/// #         Ok(Assembly::pass_through(r.messages)) }
/// # }
/// export_engine!(Bad);
/// # fn main() {}
/// ```
///
/// A host that reloads an engine keeps the old library mapped, because it cannot know what still points into it. An author
/// who knows that nothing does, says so with `export_engine!(MyEngine, unloadable)`: no thread of the engine outlives its
/// instances, and no thread-local value of it has a destructor. Then the host unmaps a replaced library that never failed.
#[macro_export]
macro_rules! export_engine {
    ($engine:ty) => {
        $crate::export_engine!(@ $engine, $crate::abi::Note::new(
            <$engine as $crate::ContextEngine>::ID,
            ::core::cfg!(panic = "unwind"),
        ));
    };
    ($engine:ty, unloadable) => {
        $crate::export_engine!(@ $engine, $crate::abi::Note::new(
            <$engine as $crate::ContextEngine>::ID,
            ::core::cfg!(panic = "unwind"),
        ).unloadable());
    };
    (@ $engine:ty, $note:expr) => {
        const _: () = {
            use $crate::author::macros as __macros;

            #[used]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__openclaw"))]
            #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".note.openclaw"))]
            static NOTE: $crate::abi::Note = $note;

            extern "C" fn root() -> __macros::RootResult {
                __macros::root::<$engine>()
            }

            #[unsafe(no_mangle)]
            static OPENCLAW_ENGINE_ROOT_V1: __macros::RootHeader = __macros::header(root);
        };
    };
}

/// The header a host finds first.
pub const fn header(root: extern "C" fn() -> RootModuleResult) -> LibHeader {
    // SAFETY: `root` is always `root::<E>` below, made by the macro, which erases an `EngineModuleRef`.
    unsafe { LibHeader::from_constructor::<EngineModuleRef>(root, CheckTypeLayout::Yes) }
}

struct Module<E>(std::marker::PhantomData<E>);

impl<E: ContextEngine> Module<E> {
    const VALUE: &'static WithMetadata<EngineModule> = &WithMetadata::new(EngineModule {
        info: info::<E>,
        create: create::<E>,
        tools: tools::<E>,
        execute_tool: execute_tool::<E>,
    });
}

/// Constructs the root module.
pub fn root<E: ContextEngine>() -> RootModuleResult {
    let module = EngineModuleRef(Module::<E>::VALUE.static_as_prefix()).to_prefix_ref();
    // SAFETY: the host casts back to the same type after it has compared the layouts.
    RResult::ROk(unsafe { module.cast::<ErasedPrefix>() })
}

/// `EngineModule::info` of engine `E`.
pub extern "C" fn info<E: ContextEngine>() -> Reply {
    reply(guard::run(E::info).map_err(EngineError::from))
}

/// `EngineModule::create` of engine `E`.
pub extern "C" fn create<E: ContextEngine>(
    context_json: RStr<'_>,
    host: HostObject,
) -> RResult<EngineObject, crate::abi::EngineError> {
    let made = guard::run(|| E::create(params(&context_json)?, Host::new(host)));
    match made.unwrap_or_else(|panic| Err(panic.into())) {
        Ok(engine) => RResult::ROk(object(engine)),
        Err(error) => RResult::RErr(error.into()),
    }
}

/// `EngineModule::tools` of engine `E`.
pub extern "C" fn tools<E: ContextEngine>() -> Reply {
    reply(guard::run(E::tools).map_err(EngineError::from))
}

/// `EngineModule::execute_tool` of engine `E`.
pub extern "C" fn execute_tool<E: ContextEngine>(call_json: RStr<'_>, host: HostObject) -> Reply {
    let ran = guard::run(|| E::execute_tool(&params(&call_json)?, &Host::new(host)));
    reply(ran.unwrap_or_else(|panic| Err(panic.into())))
}
