//! Puts an engine behind the boundary so that no panic leaves it.

use crate::abi::{AssembleOut, AssembleReq, Engine, Engine_TO, EngineObject, MessagesReq, Reply};
use crate::author::{AssembleRequest, ContextEngine};
use crate::convert::{done, params, reply};
use crate::guard::{self, Panic};
use crate::model::{Assembly, AssemblyExtra, EngineError, ErrorCode, Messages};
use abi_stable::erased_types::TD_Opaque;
use abi_stable::std_types::{ROption, RResult, RStr, RString};

/// An engine while it has not panicked.
struct Shim<E: ContextEngine> {
    engine: Option<E>,
}

/// `engine` as an object any host can call.
pub(crate) fn object<E: ContextEngine>(engine: E) -> EngineObject {
    Engine_TO::from_value(
        Shim {
            engine: Some(engine),
        },
        TD_Opaque,
    )
}

impl From<Panic> for EngineError {
    fn from(panic: Panic) -> Self {
        Self {
            code: ErrorCode::Panicked,
            message: panic.message,
            location: panic.location,
        }
    }
}

impl<E: ContextEngine> Shim<E> {
    /// Takes the engine out, calls it, and puts it back only when it did not panic.
    fn call<T>(
        &mut self,
        f: impl FnOnce(&mut E) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let Some(mut engine) = self.engine.take() else {
            return Err(EngineError::new(
                ErrorCode::Gone,
                "the instance panicked in an earlier call",
            ));
        };
        match guard::run(|| f(&mut engine)) {
            Ok(result) => {
                self.engine = Some(engine);
                result
            }
            Err(panic) => {
                drop_guarded(engine);
                Err(panic.into())
            }
        }
    }
}

fn drop_guarded<E>(engine: E) {
    // What a panicking destructor says is lost: nobody is left to hear it.
    let _ = guard::run(|| drop(engine));
}

impl<E: ContextEngine> Drop for Shim<E> {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            drop_guarded(engine);
        }
    }
}

impl<E: ContextEngine> Engine for Shim<E> {
    fn bootstrap(&mut self, params_json: RStr<'_>) -> Reply {
        reply(self.call(|engine| engine.bootstrap(&params(&params_json)?)))
    }

    fn maintain(&mut self, params_json: RStr<'_>) -> Reply {
        reply(self.call(|engine| engine.maintain(&params(&params_json)?)))
    }

    fn ingest(&mut self, request: MessagesReq<'_>) -> Reply {
        reply(self.call(|engine| {
            let message = Messages::new(request.messages.as_slice())
                .get(0)
                .ok_or_else(|| {
                    EngineError::new(ErrorCode::InvalidParams, "ingest got no message")
                })?;
            engine.ingest(message, &params(&request.params_json)?)
        }))
    }

    fn ingest_batch(&mut self, request: MessagesReq<'_>) -> Reply {
        reply(self.call(|engine| {
            engine.ingest_batch(
                Messages::new(request.messages.as_slice()),
                &params(&request.params_json)?,
            )
        }))
    }

    fn after_turn(&mut self, request: MessagesReq<'_>) -> Reply {
        done(self.call(|engine| {
            engine.after_turn(
                Messages::new(request.messages.as_slice()),
                &params(&request.params_json)?,
            )
        }))
    }

    fn commit_turn(&mut self, request: MessagesReq<'_>) -> Reply {
        reply(self.call(|engine| {
            engine.commit_turn(
                Messages::new(request.messages.as_slice()),
                &params(&request.params_json)?,
            )
        }))
    }

    fn assemble(
        &mut self,
        request: AssembleReq<'_>,
    ) -> RResult<AssembleOut, crate::abi::EngineError> {
        let assembly = self.call(|engine| {
            engine.assemble(&AssembleRequest::new(
                Messages::new(request.messages.as_slice()),
                Some(request.token_budget).filter(|budget| *budget > 0),
                request.params_json.as_str(),
            ))
        });
        match assembly.and_then(assemble_out) {
            Ok(out) => RResult::ROk(out),
            Err(error) => RResult::RErr(error.into()),
        }
    }

    fn compact(&mut self, params_json: RStr<'_>) -> Reply {
        reply(self.call(|engine| engine.compact(&params(&params_json)?)))
    }

    fn prepare_subagent_spawn(&mut self, params_json: RStr<'_>) -> Reply {
        reply(self.call(|engine| engine.prepare_subagent_spawn(&params(&params_json)?)))
    }

    fn rollback_subagent_spawn(&mut self, handle_json: RStr<'_>) -> Reply {
        done(self.call(|engine| engine.rollback_subagent_spawn(params(&handle_json)?)))
    }

    fn on_subagent_ended(&mut self, params_json: RStr<'_>) -> Reply {
        done(self.call(|engine| engine.on_subagent_ended(&params(&params_json)?)))
    }

    fn dispose(&mut self) -> Reply {
        done(self.call(ContextEngine::dispose))
    }

    fn call_json(&mut self, method: RStr<'_>, params_json: RStr<'_>) -> Reply {
        match self.call(|engine| engine.call(&method, &params_json)) {
            Ok(json) => RResult::ROk(json.into()),
            Err(error) => RResult::RErr(error.into()),
        }
    }
}

fn assemble_out(assembly: Assembly) -> Result<AssembleOut, EngineError> {
    Ok(AssembleOut {
        picks: assembly.picks.into(),
        new_messages: assembly
            .new_messages
            .into_iter()
            .map(RString::from)
            .collect(),
        estimated_tokens: assembly.estimated_tokens,
        system_prompt_addition: ROption::from(assembly.system_prompt_addition.map(RString::from)),
        ext_json: extra_json(&assembly.extra)?,
    })
}

/// The extra part of an assembly; empty text when there is nothing in it.
fn extra_json(extra: &AssemblyExtra) -> Result<RString, EngineError> {
    if *extra == AssemblyExtra::default() {
        return Ok(RString::new());
    }
    Ok(serde_json::to_string(extra)?.into())
}
