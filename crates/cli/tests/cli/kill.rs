//! Kills a turn at many moments and repeats it: nothing is lost, nothing is done twice.
//!
//! `OPENCLAW_KILLS` sets how often; the default is small enough for every test run.

use crate::home::Home;
use openclaw_host::{Ambient, HostSettings, Store};
use openclaw_transcript::Role;
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

const SESSION: &str = "agent:main:main";

fn kills() -> usize {
    std::env::var("OPENCLAW_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(12)
}

fn finish(home: &Home, args: &[&str]) -> Value {
    home.finish(&mut home.command(args)).succeeds().json()
}

/// User texts of the active path, each with the number of assistant messages behind it.
fn conversation(home: &Home) -> Vec<(String, usize)> {
    let path = HostSettings::store_path(&home.state_dir().join("native"), "main");
    let store = Store::open_to_read(&path, Ambient::new(|| 0, String::new))
        .unwrap()
        .unwrap();
    let session = store.session(SESSION).unwrap().unwrap();
    let mut turns: Vec<(String, usize)> = Vec::new();
    for entry in store.path_of(&session).unwrap() {
        let Some(message) = entry.row.message() else {
            continue;
        };
        let json: Value = serde_json::from_str(message.json()).unwrap();
        match message.role() {
            Role::User => turns.push((json["content"].as_str().unwrap().to_owned(), 0)),
            _ => turns.last_mut().unwrap().1 += 1,
        }
    }
    turns
}

#[test]
fn killed_turn_is_finished_by_repeating_it() {
    let home = &Home::new();
    let plugin = support::build_directory("window", &home.path("plugins"));
    finish(
        home,
        &[
            "plugins",
            "install",
            "-l",
            plugin.to_str().unwrap(),
            "--json",
        ],
    );
    let turn = |index: usize| (format!("message {index}"), format!("turn-{index}"));
    let args = |message: &str, id: &str| {
        ["agent", "--json", "-m", message, "--turn-id", id].map(str::to_owned)
    };
    let started = Instant::now();
    let (message, id) = turn(0);
    finish(home, &args(&message, &id).each_ref().map(String::as_str));
    let whole_turn = started.elapsed();
    let mut died = 0;
    for index in 1..=kills() {
        let (message, id) = turn(index);
        let args = args(&message, &id);
        let args = args.each_ref().map(String::as_str);
        // Moments spread evenly over a turn, and a little beyond. Killing needs real time: there is no clock to hand in.
        let part = (index as f64 * 0.618_034).fract() * 1.1;
        for _ in 0..=index % 2 {
            let mut child = home
                .command(args)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_secs_f64(whole_turn.as_secs_f64() * part));
            child.kill().unwrap();
            died += usize::from(!child.wait().unwrap().success());
        }
        let outcome = finish(home, &args);
        assert_eq!(
            outcome["turn"]["substitution"],
            Value::Null,
            "turn {index}: {outcome}"
        );
        assert!(
            outcome["reply"].as_str().unwrap().contains(&message),
            "turn {index}: {outcome}"
        );
    }
    assert!(died > kills() / 2, "only {died} processes died in mid-turn");
    let expected: Vec<(String, usize)> = (0..=kills()).map(|index| (turn(index).0, 1)).collect();
    assert_eq!(conversation(home), expected);
    let recommit = finish(home, &["sessions", "recommit", "--json"]);
    assert_eq!(
        recommit["committed"], 0,
        "the engine had missed a turn: {recommit}"
    );
    assert_eq!(recommit["duplicates"], kills() + 1, "{recommit}");
    assert_eq!(finish(home, &["doctor", "--json"])["ok"], true);
}

/// An import is there as a whole or not at all, whenever it is killed; a second try always ends it.
#[test]
fn killed_import_leaves_all_or_nothing() {
    let home = &Home::new();
    let data = "x".repeat(64 * 1024);
    let mut text =
        String::from(r#"{"type":"session","version":4,"id":"s","timestamp":"","cwd":"/"}"#);
    for id in 0..200 {
        text += &format!(
            "\n{{\"type\":\"custom\",\"id\":\"{id}\",\"customType\":\"t\",\"data\":\"{data}\"}}"
        );
    }
    text.push('\n');
    crate::home::write(&home.path("s.jsonl"), &text);
    let import = ["sessions", "import", "s.jsonl", "--json"];
    let store = home.state_dir().join("native/agents/main");
    let started = Instant::now();
    finish(home, &import);
    let whole = started.elapsed();
    let (mut died, kills) = (0, kills().div_ceil(2));
    for index in 1..=kills {
        std::fs::remove_dir_all(&store).unwrap();
        let part = (index as f64 * 0.618_034).fract() * 1.1;
        let mut child = home
            .command(import)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole.mul_f64(part));
        child.kill().unwrap();
        died += usize::from(!child.wait().unwrap().success());
        let list = finish(home, &["sessions", "list", "--json"]);
        let sessions = list["sessions"].as_array().unwrap();
        assert!(
            sessions.iter().all(|session| session["entries"] == 200),
            "{list}"
        );
        finish(home, &import);
        let exported = home.run("sessions export s").succeeds();
        assert!(exported.stdout == text, "kill {index}: another export");
        assert_eq!(finish(home, &["doctor", "--json"])["ok"], true);
    }
    assert!(died > kills / 3, "only {died} imports died in the middle");
}
