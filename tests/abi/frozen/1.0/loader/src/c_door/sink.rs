//! The host's side of `ce_sink`: collects an answer and refuses what no answer may hold.

use super::text;
use abi_stable::std_types::{ROption, RString};
use openclaw_interface::abi::{AssembleOut, ErrCode, Pick, c};
use openclaw_interface::{EngineError, ErrorCode, guard};

/// An answer in the making. Its address goes to the engine, for as long as one call takes.
#[repr(C)]
pub(super) struct Answer {
    /// First, so that a pointer to it is one to the whole.
    table: c::Sink,
    hook: &'static str,
    /// `None` when the hook assembles nothing.
    assembly: Option<Assembly>,
    json: Vec<u8>,
    /// Bytes of all texts.
    bytes: usize,
    /// What the engine said of its failure.
    error: Option<(i32, String)>,
    /// The first thing that was refused.
    refusal: Option<String>,
}

struct Assembly {
    input_messages: usize,
    picks: Vec<Pick>,
    new_messages: Vec<String>,
    addition: Option<String>,
    estimated_tokens: u64,
}

impl Answer {
    /// For a hook that answers JSON, or nothing.
    pub(super) fn small(hook: &'static str) -> Self {
        Self {
            table: TABLE,
            hook,
            assembly: None,
            json: Vec::new(),
            bytes: 0,
            error: None,
            refusal: None,
        }
    }

    /// For `assemble` of so many messages.
    pub(super) fn assembly(input_messages: usize) -> Self {
        Self {
            assembly: Some(Assembly {
                input_messages,
                picks: Vec::with_capacity(input_messages),
                new_messages: Vec::new(),
                addition: None,
                estimated_tokens: 0,
            }),
            ..Self::small("assemble")
        }
    }

    /// What the engine gets.
    pub(super) fn as_sink(&mut self) -> *mut c::Sink {
        std::ptr::from_mut(self).cast()
    }

    /// The JSON of a hook that returned `status`.
    pub(super) fn json(mut self, status: i32) -> Result<String, EngineError> {
        self.check(status)?;
        text::utf8(self.json).map_err(|problem| invalid(self.hook, &format!("answer {problem}")))
    }

    /// The list of an `assemble` that returned `status`.
    pub(super) fn assembled(mut self, status: i32) -> Result<AssembleOut, EngineError> {
        let assembly = self.assembly.take();
        let ext_json = self.json(status)?.into();
        let assembly = assembly.ok_or_else(|| invalid("assemble", "answer is missing"))?;
        Ok(AssembleOut {
            picks: assembly.picks.into(),
            new_messages: assembly
                .new_messages
                .into_iter()
                .map(RString::from)
                .collect(),
            estimated_tokens: assembly.estimated_tokens,
            system_prompt_addition: ROption::from(assembly.addition.map(RString::from)),
            ext_json,
        })
    }

    /// Whether the hook succeeded.
    fn check(&mut self, status: i32) -> Result<(), EngineError> {
        let hook = self.hook;
        let (said, message) = self.error.take().unzip();
        let code = if status == c::OK {
            said.unwrap_or(c::OK)
        } else {
            status
        };
        let refusal = self.refusal.take();
        match (code, message, refusal) {
            (c::OK, _, None) => Ok(()),
            (c::OK, _, Some(refusal)) => Err(invalid(hook, &refusal)),
            (code, Some(message), _) => Err(EngineError::new(error_code(code), message)),
            (c::INVALID_ANSWER, None, Some(refusal)) => Err(invalid(hook, &refusal)),
            (c::UNSUPPORTED, None, _) => Err(EngineError::unsupported(hook)),
            (code, None, _) => Err(EngineError::new(
                error_code(code),
                format!("{hook} failed with code {code} and gave no reason"),
            )),
        }
    }

    /// Takes the bytes of a text called `name` into account.
    ///
    /// # Safety
    ///
    /// As [`text::bytes`].
    unsafe fn take<'a>(
        &mut self,
        name: &str,
        ptr: *const u8,
        len: usize,
    ) -> Result<&'a [u8], String> {
        // SAFETY: the caller's promise.
        let bytes =
            unsafe { text::bytes(ptr, len) }.map_err(|problem| format!("{name} {problem}"))?;
        self.bytes += len;
        if self.bytes > c::MAX_ANSWER_BYTES {
            return Err(format!(
                "texts have {} bytes together, the limit is {}",
                self.bytes,
                c::MAX_ANSWER_BYTES
            ));
        }
        Ok(bytes)
    }

    /// What only `assemble` answers.
    fn assembling(&mut self, name: &str) -> Result<&mut Assembly, String> {
        self.assembly
            .as_mut()
            .ok_or_else(|| format!("{name} is for assemble only"))
    }
}

fn error_code(code: i32) -> ErrorCode {
    let code = u32::try_from(code).unwrap_or(c::FAILED as u32);
    ErrCode(if code == 0 { c::FAILED as u32 } else { code }).into()
}

fn invalid(hook: &str, problem: &str) -> EngineError {
    EngineError::new(ErrorCode::InvalidAnswer, format!("{hook}: {problem}"))
}

const TABLE: c::Sink = c::Sink {
    size: size_of::<c::Sink>() as u32,
    reserved: 0,
    write,
    error,
    pick,
    new_message,
    prompt_addition,
    estimated_tokens,
};

/// Runs `f` on the answer behind `sink`, and remembers the first refusal. Nothing unwinds into the engine.
///
/// # Safety
///
/// `sink` is NULL or what a function of the engine got, which has not returned yet, and is used by one thread.
unsafe fn with(sink: *mut c::Sink, f: impl FnOnce(&mut Answer) -> Result<(), String>) -> i32 {
    // SAFETY: each table handed out is the first member of an `Answer`; the caller's promise for the rest.
    let Some(answer) = (unsafe { sink.cast::<Answer>().as_mut() }) else {
        return c::INVALID_ANSWER;
    };
    let taken = guard::run(|| f(answer)).unwrap_or_else(|panic| Err(panic.message));
    match taken {
        Ok(()) => c::OK,
        Err(problem) => {
            answer.refusal.get_or_insert(problem);
            c::INVALID_ANSWER
        }
    }
}

unsafe extern "C" fn write(sink: *mut c::Sink, ptr: *const u8, len: usize) -> i32 {
    let f = |answer: &mut Answer| {
        // SAFETY: the engine hands over readable bytes.
        let bytes = unsafe { answer.take("answer", ptr, len) }?;
        answer.json.extend_from_slice(bytes);
        Ok(())
    };
    // SAFETY: the engine passes its sink.
    unsafe { with(sink, f) }
}

unsafe extern "C" fn error(sink: *mut c::Sink, code: i32, ptr: *const u8, len: usize) -> i32 {
    let code = if code > 0 { code } else { c::FAILED };
    let f = |answer: &mut Answer| {
        // SAFETY: the engine hands over readable bytes.
        let message = match unsafe { text::bytes(ptr, len) } {
            Ok([]) => format!("{} failed and gave no reason", answer.hook),
            Ok(bytes) => text::readable(bytes, c::MAX_ERROR_BYTES),
            Err(problem) => format!("{} failed; its error text {problem}", answer.hook),
        };
        answer.error = Some((code, message));
        Ok(())
    };
    // SAFETY: the engine passes its sink.
    unsafe { with(sink, f) };
    code
}

unsafe extern "C" fn pick(sink: *mut c::Sink, index: u32, kind: u32) -> i32 {
    let f = |answer: &mut Answer| {
        let assembly = answer.assembling("pick")?;
        let limit = assembly.input_messages.saturating_add(c::MAX_NEW_MESSAGES);
        if assembly.picks.len() >= limit {
            return Err(format!(
                "more than {limit} picks for {} messages",
                assembly.input_messages
            ));
        }
        assembly.picks.push(Pick { index, kind });
        Ok(())
    };
    // SAFETY: the engine passes its sink.
    unsafe { with(sink, f) }
}

unsafe extern "C" fn new_message(sink: *mut c::Sink, ptr: *const u8, len: usize) -> i32 {
    let f = |answer: &mut Answer| {
        let place = answer.assembling("new_message")?.new_messages.len();
        if place >= c::MAX_NEW_MESSAGES {
            return Err(format!("more than {} new messages", c::MAX_NEW_MESSAGES));
        }
        let name = format!("new message {place}");
        // SAFETY: the engine hands over readable bytes.
        let bytes = unsafe { answer.take(&name, ptr, len) }?;
        let message = text::utf8(bytes.to_vec()).map_err(|problem| format!("{name} {problem}"))?;
        answer.assembling("new_message")?.new_messages.push(message);
        Ok(())
    };
    // SAFETY: the engine passes its sink.
    unsafe { with(sink, f) }
}

unsafe extern "C" fn prompt_addition(sink: *mut c::Sink, ptr: *const u8, len: usize) -> i32 {
    let f = |answer: &mut Answer| {
        answer.assembling("prompt_addition")?;
        // SAFETY: the engine hands over readable bytes.
        let bytes = unsafe { answer.take("prompt addition", ptr, len) }?;
        let addition =
            text::utf8(bytes.to_vec()).map_err(|problem| format!("prompt addition {problem}"))?;
        answer.assembling("prompt_addition")?.addition = Some(addition);
        Ok(())
    };
    // SAFETY: the engine passes its sink.
    unsafe { with(sink, f) }
}

unsafe extern "C" fn estimated_tokens(sink: *mut c::Sink, tokens: u64) -> i32 {
    let f = |answer: &mut Answer| {
        answer.assembling("estimated_tokens")?.estimated_tokens = tokens;
        Ok(())
    };
    // SAFETY: the engine passes its sink.
    unsafe { with(sink, f) }
}
