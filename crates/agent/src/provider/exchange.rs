//! One HTTP exchange on a thread of its own, so that a silent server cannot keep a cancelled turn waiting.

use std::io::{ErrorKind, Read};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use openclaw_host::ModelErrorKind;
use ureq::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use ureq::{Agent, Timeout};

use super::failure::Failure;
use super::settings::{ProviderSettings, SettingsError, SettingsErrorKind};
use crate::secret::{ApiKey, Header};

/// How long a cancelled request may take to notice.
const CANCEL_POLL: Duration = Duration::from_millis(50);
const PIECE_BYTES: usize = 16 << 10;
const PIECES_AHEAD: usize = 16;

/// The way to one server.
#[derive(Clone)]
pub(super) struct Line {
    agent: Agent,
    url: String,
    /// Scheme, host and port, for messages.
    origin: String,
    key: Option<ApiKey>,
    configured: Vec<Header>,
    /// All headers of a request, the configured ones over our own.
    headers: HeaderMap,
    idle_timeout: Duration,
}

/// What comes from the server, in order.
pub(super) enum Event {
    /// Status and headers; first, once.
    Head {
        status: u16,
        retry_after: Option<Duration>,
    },
    /// A piece of the body.
    Data(Vec<u8>),
    /// The body is complete.
    End,
}

/// A running exchange. Dropping it lets go of the connection at the server's next sign of life.
pub(super) struct Exchange {
    events: Receiver<Result<Event, Failure>>,
}

impl Line {
    pub(super) fn new(settings: &ProviderSettings) -> Result<Self, SettingsError> {
        let refuse = |kind| SettingsError {
            provider: settings.provider.clone(),
            kind,
        };
        let base_url = settings.base_url.trim_end_matches('/');
        if base_url.contains(['?', '#']) {
            return Err(refuse(SettingsErrorKind::QueryInUrl));
        }
        let url = settings.dialect.url(base_url);
        let uri: Uri = url
            .parse()
            .map_err(|_| refuse(SettingsErrorKind::BaseUrl))?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) =
            (uri.scheme_str(), uri.authority())
        else {
            return Err(refuse(SettingsErrorKind::BaseUrl));
        };
        if authority.as_str().contains('@') {
            return Err(refuse(SettingsErrorKind::CredentialsInUrl));
        }
        if settings
            .api_key
            .as_ref()
            .is_some_and(|key| !key.is_sendable())
        {
            return Err(refuse(SettingsErrorKind::ApiKey));
        }
        let headers = headers(settings).map_err(&refuse)?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .accept_encoding("identity") // a compressed stream arrives in lumps
            .timeout_resolve(Some(settings.connect_timeout))
            .timeout_connect(Some(settings.connect_timeout))
            .timeout_per_read(Some(settings.idle_timeout))
            .timeout_per_write(Some(settings.idle_timeout));
        if is_this_machine(authority.host()) {
            // A proxy elsewhere would look for the server on its own machine.
            config = config.proxy(None);
        }
        Ok(Self {
            agent: Agent::new_with_config(config.build()),
            origin: format!("{scheme}://{authority}"),
            url,
            key: settings.api_key.clone(),
            configured: settings.headers.clone(),
            headers,
            idle_timeout: settings.idle_timeout,
        })
    }

    /// The text without the key and without what stands in the configured headers.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) => key.hide_in(text),
            None => text.to_owned(),
        };
        self.configured
            .iter()
            .fold(text, |text, header| header.hide_in(&text))
    }

    fn run(&self, body: &str, events: &SyncSender<Result<Event, Failure>>) -> Result<(), Failure> {
        let mut request = self.agent.post(&self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let response = request.send(body).map_err(|error| self.broken(&error))?;
        let head = Event::Head {
            status: response.status().as_u16(),
            retry_after: retry_after(response.headers()),
        };
        // A receiver that is gone wants no more: the answer ended or was cancelled.
        if events.send(Ok(head)).is_err() {
            return Ok(());
        }
        let mut reader = response.into_body().into_reader();
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let bytes = reader
                .read(&mut piece)
                .map_err(|error| self.broken(&error.into()))?;
            let event = if bytes == 0 {
                Event::End
            } else {
                Event::Data(piece[..bytes].to_vec())
            };
            if events.send(Ok(event)).is_err() || bytes == 0 {
                return Ok(());
            }
        }
    }

    fn broken(&self, error: &ureq::Error) -> Failure {
        let origin = &self.origin;
        match error {
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => Failure::new(
                ModelErrorKind::Transport,
                format!("cannot reach {origin}: no connection in time"),
            ),
            ureq::Error::Timeout(_) => Failure::new(
                ModelErrorKind::Timeout,
                format!(
                    "{origin} was silent for {} ms",
                    self.idle_timeout.as_millis()
                ),
            ),
            error => {
                let kind = if is_nobody_there(error) {
                    ModelErrorKind::Unreachable
                } else {
                    ModelErrorKind::Transport
                };
                Failure::new(kind, format!("no answer from {origin}: {error}"))
            }
        }
    }
}

impl Exchange {
    /// Sends the body and starts to listen.
    pub(super) fn start(line: &Line, body: Arc<str>) -> Self {
        let (sender, events) = sync_channel(PIECES_AHEAD);
        let (worker, worker_sender) = (line.clone(), sender.clone());
        let started = std::thread::Builder::new()
            .name("model-request".to_owned())
            .spawn(move || {
                if let Err(failure) = worker.run(&body, &worker_sender) {
                    // Nobody listens any more: nobody to tell.
                    let _ = worker_sender.send(Err(failure));
                }
            });
        if let Err(error) = started {
            let failure = Failure::new(
                ModelErrorKind::Transport,
                format!("cannot start a thread: {error}"),
            );
            // The channel is new and has room.
            let _ = sender.try_send(Err(failure));
        }
        Self { events }
    }

    /// Waits for what comes next.
    pub(super) fn next(&self, is_cancelled: &dyn Fn() -> bool) -> Result<Event, Failure> {
        loop {
            if is_cancelled() {
                return Err(Failure::cancelled());
            }
            match self.events.recv_timeout(CANCEL_POLL) {
                Ok(event) => return event,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::new(
                        ModelErrorKind::Transport,
                        "the request ended without an answer",
                    ));
                }
            }
        }
    }
}

/// The headers of every request.
fn headers(settings: &ProviderSettings) -> Result<HeaderMap, SettingsErrorKind> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for &(name, value) in settings.dialect.headers() {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Some(key) = &settings.api_key {
        let (name, value) = settings.dialect.key_header(key);
        headers.insert(name, secret(&value).ok_or(SettingsErrorKind::ApiKey)?);
    }
    for header in &settings.headers {
        let refused = || SettingsErrorKind::Header {
            name: header.name().to_owned(),
        };
        let name: HeaderName = header.name().parse().map_err(|_| refused())?;
        if [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION].contains(&name) {
            return Err(refused());
        }
        headers.insert(name, secret(header.reveal()).ok_or_else(refused)?);
    }
    Ok(headers)
}

fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Whether the address is of no server, rather than of one in trouble.
fn is_nobody_there(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::HostNotFound => true,
        ureq::Error::Io(error) => error.kind() == ErrorKind::ConnectionRefused,
        _ => false,
    }
}

fn is_this_machine(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// The wait a server asks for; `None` for a date, which needs a clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms")
        .map(|ms| ms / 1_000.0)
        .or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Dialect;

    fn line(base_url: &str, key: &str) -> Result<Line, SettingsErrorKind> {
        let mut settings = ProviderSettings::new(Dialect::OpenAi, "acme", base_url, "m", 1);
        settings.api_key = ApiKey::new(key);
        Line::new(&settings).map_err(|error| error.kind)
    }

    #[test]
    fn base_urls_are_checked() {
        let url = |base: &str| line(base, "").map(|line| line.url);
        assert_eq!(
            url("http://127.0.0.1:1/v1/").as_deref(),
            Ok("http://127.0.0.1:1/v1/chat/completions")
        );
        assert_eq!(
            url("https://[::1]:1").as_deref(),
            Ok("https://[::1]:1/chat/completions")
        );
        for bad in [
            "",
            "/v1",
            "localhost:1/v1",
            "ftp://127.0.0.1/v1",
            "http:// /v1",
            "http://",
        ] {
            assert_eq!(url(bad), Err(SettingsErrorKind::BaseUrl), "{bad}");
        }
        assert_eq!(
            url("http://ada:pw@127.0.0.1/v1"),
            Err(SettingsErrorKind::CredentialsInUrl)
        );
        assert_eq!(
            url("http://127.0.0.1/v1?x=1"),
            Err(SettingsErrorKind::QueryInUrl)
        );
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_refused() {
        assert_eq!(
            line("http://127.0.0.1:1", "made-up\n").err(),
            Some(SettingsErrorKind::ApiKey)
        );
    }

    #[test]
    fn headers_that_cannot_be_sent_are_named() {
        for (name, value) in [
            ("", "x"),
            ("two words", "x"),
            ("x-team", "a\nb"),
            ("Content-Length", "1"),
        ] {
            let mut settings =
                ProviderSettings::new(Dialect::OpenAi, "acme", "http://127.0.0.1:1", "m", 1);
            settings.headers = vec![Header::new(name, value)];
            let error = Line::new(&settings).err().map(|error| error.kind);
            let name = name.to_owned();
            assert_eq!(error, Some(SettingsErrorKind::Header { name }));
        }
    }

    #[test]
    fn this_machine_is_known_by_its_names() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "[::1]"] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in ["10.0.0.1", "localhost.example", "[::2]", ""] {
            assert!(!is_this_machine(host), "{host}");
        }
    }

    #[test]
    fn retry_after_is_read_as_seconds() {
        let check = |name: &'static str, value: &'static str, expected| {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
            assert_eq!(retry_after(&headers), expected, "{name}: {value}");
        };
        check("retry-after", "7", Some(Duration::from_secs(7)));
        check("retry-after", " 0.5 ", Some(Duration::from_millis(500)));
        check("retry-after-ms", "20", Some(Duration::from_millis(20)));
        check("retry-after", "Mon, 30 Nov 2026 17:41:00 GMT", None);
        check("retry-after", "-1", None);
        check("retry-after", "1e999", None);
        check("x-other", "7", None);
    }
}
