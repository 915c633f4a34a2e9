//! `openclaw chat`.

mod rebuilds;

use crate::home::{Home, Ran};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// Runs the chat with these bytes as its input.
fn chat(home: &Home, options: &[&str], input: &[u8]) -> Ran {
    let mut command = home.command(["chat"].iter().chain(options));
    let file = home.path("input");
    std::fs::File::create(&file)
        .and_then(|mut file| file.write_all(input))
        .expect("a file can be written");
    let input = std::fs::File::open(&file).expect("a file can be read");
    home.finish(command.stdin(Stdio::from(input)))
}

/// What `--json` printed, a document a line.
fn documents(ran: &Ran) -> Vec<Value> {
    let lines = ran.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn each_line_is_a_turn_of_one_session() {
    let home = Home::new();
    let ran = chat(
        &home,
        &["--json"],
        b"first\n\n/help\nsecond\n/quit\nnever\n",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = documents(&ran);
    let histories: Vec<&Value> = lines
        .iter()
        .map(|line| &line["turn"]["context"]["historyMessages"])
        .collect();
    assert_eq!(histories, [0, 2]);
    assert_eq!(lines[0]["turn"]["sessionId"], lines[1]["turn"]["sessionId"]);
}

#[test]
fn line_that_cannot_be_sent_is_told_and_the_chat_goes_on() {
    let home = Home::new();
    let ran = chat(&home, &[], b"/nope\n\xff\xfe\nlast without an end");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("there is no command /nope"), "{ran:?}");
    assert!(ran.stderr.contains("the line is not UTF-8"), "{ran:?}");
    assert!(ran.stdout.contains("last without an end"), "{ran:?}");
    let list = home.run("sessions list --json");
    let sessions: Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!(sessions["sessions"][0]["messages"], 2, "{list:?}");
}

#[test]
fn session_is_compacted_between_two_lines() {
    let home = Home::new();
    let long = "The pump starts before the valve opens. ".repeat(40);
    let input = format!("{long}\n{long}\n{long}\n/compact the valve\nand now?\n");
    let ran = chat(&home, &["--json"], input.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = documents(&ran);
    assert_eq!(lines[3]["compacted"], true, "{ran:?}");
    assert_eq!(lines[3]["summariser"], "extractive");
    let after = &lines[4]["turn"]["context"]["historyMessages"];
    assert!(after.as_u64() < Some(6), "{after}");
    let ran = chat(&home, &[], b"/compact\n/compact\n");
    assert_eq!(ran.code, 0, "nothing to do is no failure: {ran:?}");
    ran.shows(&["compaction skipped"]);
}
