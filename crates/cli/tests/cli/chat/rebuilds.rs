//! The engine is built anew while a chat runs.

use crate::home::Home;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

/// A chat that runs, with `--json`.
struct Chat {
    child: Child,
    input: Option<ChildStdin>,
    records: Receiver<String>,
    talk: Receiver<String>,
}

/// The lines of a stream as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

impl Chat {
    fn start(home: &Home) -> Self {
        let mut command = home.command(["chat", "--json"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command can be run");
        Self {
            input: child.stdin.take(),
            records: lines(child.stdout.take().expect("stdout is a pipe")),
            talk: lines(child.stderr.take().expect("stderr is a pipe")),
            child,
        }
    }

    /// Runs a turn and returns its record.
    fn turn(&mut self, text: &str) -> Value {
        let input = self.input.as_mut().expect("the chat goes on");
        writeln!(input, "{text}").expect("the chat reads");
        let line = self.records.recv_timeout(LONG).expect("a turn ends");
        serde_json::from_str::<Value>(&line).expect("a record is JSON")["turn"].take()
    }

    /// Waits for a line of talk with this text.
    fn told(&self, text: &str) -> String {
        loop {
            let line = self.talk.recv_timeout(LONG).expect(text);
            if line.contains(text) {
                return line;
            }
        }
    }

    fn end(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().expect("the chat ends").success());
    }
}

fn linked(home: &Home) -> (PathBuf, PathBuf) {
    let directory = support::build_directory("window", &home.path("plugins"));
    let link = [
        "plugins",
        "install",
        "-l",
        directory.to_str().expect("text"),
    ];
    home.finish(&mut home.command(link)).succeeds();
    let name = support::library("window");
    let library = directory.join(name.file_name().expect("a library has a name"));
    (directory, library)
}

/// Another build of the library: the same code, other bytes.
fn build(number: u8) -> Vec<u8> {
    let mut bytes = fs::read(support::library("window")).expect("a library can be read");
    bytes.extend([number; 16]);
    bytes
}

/// Puts a file in place as a linker or an installer does: beside it, then renamed.
fn put(path: &Path, bytes: &[u8]) {
    let staged = path.with_extension("staged");
    fs::write(&staged, bytes).expect("a file can be written");
    fs::rename(&staged, path).expect("a file can be renamed");
}

fn generation(record: &Value) -> &Value {
    assert_eq!(record["substitution"], Value::Null, "{record}");
    assert_eq!(record["served"]["engineId"], "window", "{record}");
    &record["served"]["generation"]
}

/// Cases H-3 and H-4: a good build serves from the next turn on, a broken one is told and changes nothing.
#[test]
fn next_turn_runs_the_new_build_and_never_a_broken_one() {
    let home = Home::new().probed();
    let (_, library) = linked(&home);
    let mut chat = Chat::start(&home);
    assert_eq!(generation(&chat.turn("one")), 1);
    put(&library, &build(2));
    chat.told("engine window reloaded: build 2");
    assert_eq!(generation(&chat.turn("two")), 2);
    put(&library, b"no library");
    let line = chat.told("is not used");
    assert!(line.contains("the one before goes on serving"), "{line}");
    assert_eq!(generation(&chat.turn("three")), 2);
    put(&library, &build(3));
    chat.told("engine window reloaded: build 3");
    let last = chat.turn("four");
    assert_eq!(generation(&last), 3);
    assert_eq!(last["context"]["historyMessages"], 6, "{last}");
    chat.end();
}

/// What cargo makes goes into the build directory by itself, and what another engine's build makes does not.
#[test]
fn library_that_cargo_builds_is_taken_over() {
    let home = Home::new().probed();
    let (directory, library) = linked(&home);
    let made = home.path("target/debug");
    fs::create_dir_all(&made).expect("a directory can be made");
    let made = made.join(library.file_name().expect("a library has a name"));
    let record = json!({ "cargoLibraries": [made] });
    fs::write(directory.join(".openclaw-build.json"), record.to_string())
        .expect("a file can be written");
    let mut chat = Chat::start(&home);
    assert_eq!(generation(&chat.turn("one")), 1);
    fs::write(&made, build(2)).expect("a file can be written");
    chat.told("engine window reloaded: build 2");
    assert_eq!(generation(&chat.turn("two")), 2);
    fs::copy(support::library("unruly"), &made).expect("a file can be copied");
    fs::write(&made, build(3)).expect("a file can be written");
    chat.told("engine window reloaded: build 3");
    assert_eq!(generation(&chat.turn("three")), 3);
    assert_eq!(fs::read(&library).expect("a library is there"), build(3));
    chat.end();
}
