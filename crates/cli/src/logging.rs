//! Logs to stderr, as `--verbose` and `OPENCLAW_LOG` say.

use tracing_subscriber::EnvFilter;

/// Parts of the HTTP client that write down whole requests, keys and prompts included. No filter opens them further.
const TALKATIVE: [&str; 4] = [
    "rustls=warn",
    "ureq=warn",
    "ureq_proto=warn",
    "ureq_proto::util=warn",
];

/// Installs the log. `verbose`: 0 for what somebody has to act on and is not told otherwise, 1 for changes of state, 2
/// for every call.
pub(crate) fn install(verbose: u8) {
    let default = match verbose {
        0 => "error",
        1 => "info",
        _ => "trace",
    };
    let filter =
        EnvFilter::try_from_env("OPENCLAW_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let talkative = TALKATIVE.iter().filter_map(|one| one.parse().ok());
    let filter = talkative.fold(filter, EnvFilter::add_directive);
    // A second installation, in a process that has a log, is not wanted and not an error.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .without_time()
        // A log that cannot be written is not worth the panic that telling so can end in.
        .log_internal_errors(false)
        .try_init();
}
