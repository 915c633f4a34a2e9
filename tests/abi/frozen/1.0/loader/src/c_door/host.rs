//! The host's side of `ce_host`: services behind a pointer that an engine may hold.

use super::text;
use abi_stable::std_types::{RResult, RStr};
use openclaw_interface::abi::{HostObject, c};
use openclaw_interface::hosting::{HostServices, NoServices};
use openclaw_interface::{EngineError, ErrorCode, guard};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Closed handles that are kept, so that an engine which calls too late is answered instead of reading freed memory. A
/// courtesy with a bound: the header forbids such calls.
const PARKED: usize = 1024;

static PARKING: Mutex<VecDeque<Arc<Handle>>> = Mutex::new(VecDeque::new());

/// What the engine's pointer leads to.
#[repr(C)]
struct Handle {
    /// First, so that a pointer to it is one to the whole.
    table: c::Host,
    /// `None` once the instance is gone.
    services: RwLock<Option<Arc<Services>>>,
}

struct Services(HostObject);

// SAFETY: the contract lets any thread call a host object at any time.
unsafe impl Send for Services {}
// SAFETY: as above.
unsafe impl Sync for Services {}

/// A host's services, lent to an engine until dropped.
pub(super) struct HostLease(Arc<Handle>);

impl HostLease {
    pub(super) fn new(services: HostObject) -> Self {
        Self(Arc::new(Handle {
            table: TABLE,
            services: RwLock::new(Some(Arc::new(Services(services)))),
        }))
    }

    /// What the engine gets.
    pub(super) fn as_ptr(&self) -> *const c::Host {
        Arc::as_ptr(&self.0).cast()
    }
}

impl Drop for HostLease {
    fn drop(&mut self) {
        let services = {
            let mut open = self
                .0
                .services
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            open.take()
        };
        drop(services);
        let mut parking = PARKING.lock().unwrap_or_else(PoisonError::into_inner);
        if parking.len() == PARKED {
            parking.pop_front();
        }
        parking.push_back(Arc::clone(&self.0));
    }
}

const TABLE: c::Host = c::Host {
    size: size_of::<c::Host>() as u32,
    reserved: 0,
    log,
    cancelled,
    count_tokens,
    call_json,
};

/// The services behind `host`; `None` when they are gone. Held only while one call lasts, and never locked meanwhile.
///
/// # Safety
///
/// `host` is NULL or what the engine got, and the engine has not been destroyed.
unsafe fn services(host: *const c::Host) -> Option<Arc<Services>> {
    // SAFETY: each table handed out is the first member of a `Handle`; the caller's promise for the rest.
    let handle = unsafe { host.cast::<Handle>().as_ref() }?;
    let open = handle.services.read();
    open.unwrap_or_else(PoisonError::into_inner).clone()
}

unsafe extern "C" fn log(host: *const c::Host, level: u32, ptr: *const u8, len: usize) {
    let _ = guard::run(|| {
        // SAFETY: the engine passes its host.
        let Some(services) = (unsafe { services(host) }) else {
            return;
        };
        // SAFETY: the engine hands over readable bytes.
        let line = match unsafe { text::bytes(ptr, len) } {
            Ok(bytes) => text::readable(bytes, c::MAX_LOG_BYTES),
            Err(problem) => format!("a log line {problem}"),
        };
        services.0.log(level, line.as_str().into());
    });
}

unsafe extern "C" fn cancelled(host: *const c::Host) -> i32 {
    // Whoever asks too late had better stop.
    const TOO_LATE: bool = true;
    let answer = guard::run(|| {
        // SAFETY: the engine passes its host.
        unsafe { services(host) }.map_or(TOO_LATE, |services| services.0.cancelled())
    });
    i32::from(answer.unwrap_or(TOO_LATE))
}

unsafe extern "C" fn count_tokens(host: *const c::Host, ptr: *const u8, len: usize) -> u64 {
    let counted = guard::run(|| {
        // SAFETY: the engine hands over readable bytes.
        let bytes = unsafe { text::bytes(ptr, len) }.ok()?;
        let text = String::from_utf8_lossy(bytes);
        // SAFETY: the engine passes its host.
        Some(match unsafe { services(host) } {
            Some(services) => services.0.count_tokens(RStr::from(text.as_ref())),
            None => NoServices.count_tokens(&text),
        })
    });
    counted.ok().flatten().unwrap_or(if ptr.is_null() {
        0
    } else {
        (len as u64).div_ceil(4)
    })
}

unsafe extern "C" fn call_json(
    host: *const c::Host,
    service: *const u8,
    service_len: usize,
    params: *const u8,
    params_len: usize,
    receive: Option<c::Receive>,
    context: *mut c_void,
) -> i32 {
    let called = guard::run(|| {
        // SAFETY: the engine hands over readable bytes.
        let service = unsafe { argument("service", service, service_len) }?;
        // SAFETY: as above.
        let params = unsafe { argument("params_json", params, params_len) }?;
        // SAFETY: the engine passes its host.
        let services = unsafe { services(host) }
            .ok_or_else(|| EngineError::new(ErrorCode::Gone, "the instance is gone"))?;
        match services.0.call_json(service.into(), params.into()) {
            RResult::ROk(json) => Ok(json),
            RResult::RErr(error) => Err(error.into()),
        }
    });
    let called: Result<_, EngineError> = called.unwrap_or_else(|panic| Err(panic.into()));
    let (status, text) = match &called {
        Ok(json) => (c::OK, json.as_str()),
        Err(error) => (status(error.code), error.message.as_str()),
    };
    if let Some(receive) = receive {
        // An empty text has no address worth knowing.
        let start = if text.is_empty() {
            ptr::null()
        } else {
            text.as_ptr()
        };
        // SAFETY: the engine's own function, which does not unwind; the text lives until it returns.
        unsafe { receive(context, start, text.len()) };
    }
    status
}

/// A text that must be one.
///
/// # Safety
///
/// As [`text::bytes`].
unsafe fn argument<'a>(name: &str, ptr: *const u8, len: usize) -> Result<&'a str, EngineError> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { text::bytes(ptr, len) };
    bytes
        .and_then(|bytes| std::str::from_utf8(bytes).map_err(|_| "is no UTF-8".to_owned()))
        .map_err(|problem| EngineError::new(ErrorCode::InvalidParams, format!("{name} {problem}")))
}

fn status(code: ErrorCode) -> i32 {
    let code = openclaw_interface::abi::ErrCode::from(code).0;
    i32::try_from(code)
        .ok()
        .filter(|code| *code > 0)
        .unwrap_or(c::FAILED)
}
