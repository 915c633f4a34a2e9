//! Runs a closure and turns a panic into data.
//!
//! Both sides use it: a library around every method of its engine, a host around every service it offers to one. The
//! panic hook is installed once per copy of this crate and chained to the one before; while a guarded closure runs on a
//! thread, panics of that thread are recorded instead of printed.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::ptr;
use std::sync::Once;

/// A caught panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// The panic's message, or a stand-in when its payload is no text.
    pub message: String,
    /// `file:line:column`, when the hook saw the panic.
    pub location: Option<String>,
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

const NO_TEXT: &str = "panic with a payload that is no text";

/// What the hook writes to: one per running [`run`], linked to the one around it.
struct Frame {
    seen: RefCell<Option<Panic>>,
    outer: *const Frame,
}

thread_local! {
    // No destructor: a library with thread-locals that have one can never be unloaded.
    static INNERMOST: Cell<*const Frame> = const { Cell::new(ptr::null()) };
}

/// Makes a frame the innermost one until dropped.
struct Entered;

impl Entered {
    fn new(frame: &Frame) -> Self {
        INNERMOST.set(frame);
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // SAFETY: `Entered` lives inside `run`, whose frame outlives it; frames leave in the order they came.
        let outer = unsafe { INNERMOST.get().as_ref() }.map_or(ptr::null(), |frame| frame.outer);
        INNERMOST.set(outer);
    }
}

/// Runs `f`.
///
/// The state `f` works on may be half changed after a panic; callers give it up.
///
/// # Errors
///
/// The panic, when `f` panics. A payload whose destructor panics as well is forgotten.
pub fn run<T>(f: impl FnOnce() -> T) -> Result<T, Panic> {
    install_hook();
    let frame = Frame {
        seen: RefCell::new(None),
        outer: INNERMOST.get(),
    };
    let _entered = Entered::new(&frame);
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        let text = payload_text(&*payload);
        let seen = frame.seen.take();
        discard(payload);
        // Another message is that of a panic which was caught further in: this one did not pass the hook.
        seen.filter(|seen| seen.message == text).unwrap_or(Panic {
            message: text,
            location: None,
        })
    })
}

/// Drops a value whose destructor may panic.
pub fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Its destructor may panic too, and so on; memory is the cheaper loss.
        std::mem::forget(payload);
    }
}

fn payload_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or(NO_TEXT)
        .to_owned()
}

fn install_hook() {
    static INSTALLED: Once = Once::new();
    if INSTALLED.is_completed() || std::thread::panicking() {
        return; // done, or the hook cannot be changed now and a later call does it
    }
    INSTALLED.call_once(|| {
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !record(info) {
                earlier(info);
            }
        }));
    });
}

/// Keeps the panic for the innermost [`run`] of this thread. `false` when there is none.
fn record(info: &PanicHookInfo<'_>) -> bool {
    // SAFETY: a frame is innermost only while its `run` is on this thread's stack.
    let Some(frame) = (unsafe { INNERMOST.get().as_ref() }) else {
        return false;
    };
    if let Ok(mut seen) = frame.seen.try_borrow_mut() {
        *seen = Some(Panic {
            message: info.payload_as_str().unwrap_or(NO_TEXT).to_owned(),
            location: info.location().map(ToString::to_string),
        });
    }
    true
}
