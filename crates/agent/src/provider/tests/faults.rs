//! Requests that come to nothing.

use super::*;
use serde_json::{Value, json};

#[test]
fn refused_credentials_are_told_without_the_key() {
    let body = format!(
        r#"{{"error":{{"message":"Bad key {KEY}\u001b[1m\ntwo","code":"invalid_api_key"}}}}"#
    );
    let outcome = ask(vec![send(answer("401 Unauthorized", "", &body))]);
    assert_eq!(
        outcome.fails(ModelErrorKind::Unauthorized),
        "HTTP 401: Bad key *** [1m two (invalid_api_key)"
    );
}

#[test]
fn server_text_is_cut() {
    let reason =
        ask(vec![send(answer("400 Bad", "", &"<p>".repeat(5_000)))]).fails(ModelErrorKind::Refused);
    assert_eq!(reason.chars().count(), 300);
    // The key is removed before the cut, not halved by it.
    let body = format!("{}{KEY}", "x".repeat(295 - "HTTP 400: ".len()));
    let reason = ask(vec![send(answer("400 Bad", "", &body))]).fails(ModelErrorKind::Refused);
    assert!(reason.ends_with("x***"), "{reason}");
}

#[test]
fn a_rate_limit_is_handed_up_with_its_wait() {
    let check = |header: &str, retry_after: Option<Duration>| {
        let outcome = ask(vec![send(answer(
            "429 Too Many Requests",
            header,
            "slow down",
        ))]);
        let reason = outcome.fails(ModelErrorKind::RateLimited { retry_after });
        assert_eq!(reason, "HTTP 429: slow down");
    };
    check("retry-after: 31\r\n", Some(Duration::from_secs(31)));
    check("retry-after: Mon, 30 Nov 2026 17:41:00 GMT\r\n", None);
    check("", None);
}

#[test]
fn a_failed_request_is_made_once() {
    let oops = || send(answer("500 Oops", "", "oops"));
    let outcome = ask(vec![oops(), oops()]);
    assert_eq!(outcome.server.requests.try_iter().count(), 1);
    assert_eq!(outcome.fails(ModelErrorKind::Server), "HTTP 500: oops");
    ask(vec![hang_up(), oops()]).fails(ModelErrorKind::Transport);
}

#[test]
fn nobody_listening_is_told_from_a_broken_connection() {
    // Bound and let go again: the port is free.
    let base_url = server(Vec::new()).base_url;
    let settings = ProviderSettings::new(Dialect::OpenAi, "acme", base_url, "m1", 8_000);
    let mut model = ProviderModel::new(settings).unwrap();
    let request = ModelRequest {
        system_prompt: "",
        messages: &[HELLO],
        tools: &[],
        is_cancelled: &|| false,
    };
    let error = model.respond(request, &mut |_| {}).unwrap_err();
    assert_eq!(
        (error.kind, error.provider.as_str(), error.model.as_str()),
        (ModelErrorKind::Unreachable, "acme", "m1")
    );
    assert!(
        error.reason.starts_with("no answer from http://127.0.0.1:"),
        "{error}"
    );
}

#[test]
fn a_stream_that_is_cut_is_no_answer() {
    let cut_in_event = format!("{}data: {{\"choices\":[{{\"del", events(&[HI]));
    for text in [events(&[HI]), cut_in_event] {
        let outcome = ask(vec![send(text)]);
        assert_eq!(outcome.streamed, ["Hi"]);
        let reason = outcome.fails(ModelErrorKind::Transport);
        assert_eq!(reason, "the stream ended before the answer was complete");
    }
    let half = answer("200 OK", "", r#"{"choices":[{"message":{"content":"Pl"#);
    assert_eq!(
        ask(vec![send(half)]).fails(ModelErrorKind::Transport),
        "the answer broke off"
    );
    assert_eq!(
        ask(vec![send(answer("200 OK", "", ""))]).fails(ModelErrorKind::Transport),
        "the answer is empty"
    );
    // Fewer bytes than promised, though all of them read well.
    let short = answer("200 OK", "", HI).replace("content-length: ", "content-length: 9");
    ask(vec![send(short)]).fails(ModelErrorKind::Transport);
}

#[test]
fn a_web_page_is_a_bad_answer() {
    let page = answer(
        "200 OK",
        "content-type: text/html\r\n",
        "<html>Sign in</html>",
    );
    ask(vec![send(page)]).fails(ModelErrorKind::BadAnswer);
}

#[test]
fn an_overflow_is_told_apart() {
    let said = r#"{"error":{"message":"This model's maximum context length is 8000 tokens.","type":"invalid_request_error"}}"#;
    let outcome = ask(vec![send(answer("400 Bad Request", "", said))]);
    outcome.fails(ModelErrorKind::ContextOverflow);
    let in_stream =
        events(&[r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#]);
    ask(vec![send(in_stream)]).fails(ModelErrorKind::ContextOverflow);
}

/// Case O-5.
#[test]
fn silence_rate_limits_and_cancel_mean_the_same_in_every_dialect() {
    for dialect in Dialect::ALL {
        let (hold, release) = channel();
        let silent = ask_with(
            vec![send_and_hang("", release)],
            |settings| {
                settings.dialect = dialect;
                settings.idle_timeout = Duration::from_millis(40);
            },
            &[],
            &|| false,
        );
        silent.fails(ModelErrorKind::Timeout);
        drop(hold);

        let (hold, release) = channel();
        let asked = Cell::new(0);
        let is_cancelled = || asked.replace(asked.get() + 1) >= 3;
        let set = |settings: &mut ProviderSettings| settings.dialect = dialect;
        let cancelled = ask_with(vec![send_and_hang("", release)], set, &[], &is_cancelled);
        cancelled.fails(ModelErrorKind::Cancelled);
        drop(hold);

        let busy = answer("429 Too Many Requests", "retry-after: 7\r\n", "slow down");
        let retry_after = Some(Duration::from_secs(7));
        ask_in(dialect, vec![send(busy)]).fails(ModelErrorKind::RateLimited { retry_after });
        ask_in(dialect, vec![hang_up()]).fails(ModelErrorKind::Transport);
    }
}

/// How six kinds of server refuse a prompt that is too large.
#[test]
fn an_overflow_is_known_in_every_servers_words() {
    let check = |status: &str, body: Value| {
        for dialect in Dialect::ALL {
            let script = vec![send(answer(status, "", &body.to_string()))];
            ask_in(dialect, script).fails(ModelErrorKind::ContextOverflow);
        }
    };
    let coded = json!({"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"});
    check("400 Bad Request", json!({"error": coded}));
    let anthropic = json!({"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"});
    check(
        "400 Bad Request",
        json!({"type": "error", "error": anthropic}),
    );
    let google =
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).";
    check(
        "400 Bad Request",
        json!([{"error": {"code": 400, "message": google, "status": "INVALID_ARGUMENT"}}]),
    );
    let llama =
        "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it";
    check(
        "400 Bad Request",
        json!({"error": {"code": 400, "message": llama, "type": "exceed_context_size_error"}}),
    );
    let vllm =
        "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens.";
    check(
        "400 Bad Request",
        json!({"object": "error", "message": vllm, "code": 400}),
    );
    check(
        "500 Error",
        json!({"error": "prompt too long; exceeded max context length by 12 tokens"}),
    );
}

#[test]
fn redirects_are_not_followed() {
    let (other, other_script) = (server(vec![hang_up()]), |url: &str| {
        format!("location: {url}/stolen\r\n")
    });
    let outcome = ask(vec![send(answer(
        "307 Moved",
        &other_script(&other.base_url),
        "",
    ))]);
    let reason = outcome.fails(ModelErrorKind::Refused);
    assert_eq!(
        reason,
        "HTTP 307: the server points to another address, and redirects are not followed"
    );
    assert!(other.requests.try_recv().is_err());
}

#[test]
fn a_silent_server_is_a_timeout() {
    let short = |settings: &mut ProviderSettings| settings.idle_timeout = Duration::from_millis(40);
    for text in [String::new(), events(&[HI])] {
        let (hold, release) = channel();
        let outcome = ask_with(vec![send_and_hang(text, release)], short, &[], &|| false);
        let reason = outcome.fails(ModelErrorKind::Timeout);
        assert!(reason.ends_with("was silent for 40 ms"), "{reason}");
        drop(hold);
    }
}

#[test]
fn silence_after_the_last_word_costs_nothing() {
    // Long enough for a busy machine to get as far as the last word.
    let short =
        |settings: &mut ProviderSettings| settings.idle_timeout = Duration::from_millis(400);
    let (_hold, release) = channel();
    let outcome = ask_with(
        vec![send_and_hang(events(&[HI, STOP]), release)],
        short,
        &[],
        &|| false,
    );
    assert_eq!(outcome.text(), "Hi");
}

/// Case O-5.
#[test]
fn a_cancelled_request_returns_while_the_server_hangs() {
    for text in [events(&[HI]), String::new()] {
        let (hold, release) = channel();
        let asked = Cell::new(0);
        let is_cancelled = || asked.replace(asked.get() + 1) >= 3;
        let outcome = ask_with(
            vec![send_and_hang(text, release)],
            |_| {},
            &[],
            &is_cancelled,
        );
        assert_eq!(outcome.fails(ModelErrorKind::Cancelled), "cancelled");
        drop(hold);
    }
}

#[test]
fn settings_faults_say_what_to_do() {
    let mut settings = ProviderSettings::new(
        Dialect::OpenAi,
        "acme",
        "http://127.0.0.1:1/v1",
        "m1",
        8_000,
    );
    settings.api_key = ApiKey::new("made-up-key\n");
    assert!(!format!("{settings:?}").contains("made-up"));
    let error = ProviderModel::new(settings).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot use model provider `acme`: its API key contains white space, a line break or another character that \
         cannot be sent"
    );
    assert!(error.help().contains("apiKey"));
}
