//! A server on the loopback interface that plays a script, one step for each connection.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Answers one connection after its request was read. The connection closes when it returns.
pub(in crate::provider) type Step = Box<dyn FnOnce(&mut TcpStream) + Send>;

pub(in crate::provider) struct Server {
    pub(in crate::provider) base_url: String,
    /// Each request as it came: head, blank line, body.
    pub(in crate::provider) requests: Receiver<String>,
}

pub(in crate::provider) fn server(script: Vec<Step>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    thread::spawn(move || {
        for step in script {
            let (mut stream, _) = listener.accept().unwrap();
            // A test may be over before its server is.
            let _ = sender.send(request(&mut stream));
            step(&mut stream);
        }
    });
    Server { base_url, requests }
}

/// Sends a text and closes.
pub(in crate::provider) fn send(text: impl Into<String>) -> Step {
    let text = text.into();
    Box::new(move |stream| stream.write_all(text.as_bytes()).unwrap())
}

/// Sends a text, then nothing until `release` is dropped.
pub(in crate::provider) fn send_and_hang(text: impl Into<String>, release: Receiver<()>) -> Step {
    let text = text.into();
    Box::new(move |stream| {
        stream.write_all(text.as_bytes()).unwrap();
        let _ = release.recv();
    })
}

/// Closes without a word.
pub(in crate::provider) fn hang_up() -> Step {
    Box::new(|_| {})
}

/// An answer with its headers; `extra` are whole header lines.
pub(in crate::provider) fn answer(status: &str, extra: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{extra}\r\n{body}",
        body.len()
    )
}

/// The beginning of an event stream and these events, each data with its blank line.
pub(in crate::provider) fn events(data: &[&str]) -> String {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n"
        .to_owned();
    data.iter()
        .fold(head, |text, data| format!("{text}data: {data}\n\n"))
}

fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text.into_owned();
            }
        }
        let read = stream.read(&mut piece).unwrap();
        assert_ne!(read, 0, "request ended early: {text}");
        bytes.extend_from_slice(&piece[..read]);
    }
}
