//! Turns that die and are repeated.

use super::{finish, is_healthy, silent, timed};
use crate::home::Home;
use openclaw_host::{Ambient, HostSettings, Store};
use openclaw_transcript::Role;
use serde_json::Value;
use support::Kills;

const SESSION: &str = "agent:main:main";

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
    let home = &Home::new().probed();
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
    let (message, id) = turn(0);
    let (_, whole_turn) = timed(home, &args(&message, &id).each_ref().map(String::as_str));
    let mut kills = Kills::new(whole_turn);
    let mut turns = 1;
    while let Some(index) = kills.next_try() {
        turns += 1;
        let (message, id) = turn(index);
        let args = args(&message, &id);
        let args = args.each_ref().map(String::as_str);
        for _ in 0..=index % 2 {
            kills.kill(&mut silent(home.command(args)));
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
    let expected: Vec<(String, usize)> = (0..turns).map(|index| (turn(index).0, 1)).collect();
    assert_eq!(conversation(home), expected);
    let recommit = finish(home, &["sessions", "recommit", "--json"]);
    assert_eq!(
        recommit["committed"], 0,
        "the engine had missed a turn: {recommit}"
    );
    assert_eq!(recommit["duplicates"], turns, "{recommit}");
    assert!(is_healthy(home));
}
