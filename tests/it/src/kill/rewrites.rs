//! Rewrites that die.

use super::{Home, agent_files, conversation};
use serde_json::json;
use support::Kills;

const SESSION: &str = "agent:main:main";

/// Case F-9: after a killed rewrite each message is there once, as it was or as it was to be, and every turn is found.
#[test]
fn killed_rewrite_is_whole_or_absent() {
    let home = Home::new();
    let quiet = json!({});
    for index in 0..6 {
        home.finish(SESSION, &format!("turn-{index:04}"), &quiet);
    }
    let (mut texts, _) = conversation(&home.store(), SESSION);
    let mut kills = Kills::new(home.finish(SESSION, "turn-0006", &quiet));
    texts.push(("turn-0006".to_owned(), 1));
    while let Some(index) = kills.next_try() {
        let (now, ids) = conversation(&home.store(), SESSION);
        assert_eq!(now, texts, "try {index}");
        // One of the older messages, a different one each time.
        let place = index % 5;
        let rewritten = format!("rewritten {index}");
        let settings = json!({ "maintain": { "ask": "transcript.rewrite", "with": {
            "replacements": [{ "entryId": ids[place], "message": { "role": "user", "content": rewritten } }],
        } } });
        let turn_id = format!("turn-{:04}", index + 6);
        kills.kill(&mut home.turn(SESSION, &turn_id, &settings));
        // The same turn again, and nothing is rewritten any more.
        home.finish(SESSION, &turn_id, &quiet);
        texts.push((turn_id, 1));
        let (after, _) = conversation(&home.store(), SESSION);
        if after[place].0 == rewritten {
            texts[place].0 = rewritten;
        }
        assert_eq!(after, texts, "try {index}");
    }
    assert_eq!(home.committed().len(), texts.len());
    assert_eq!(home.store().backlog().unwrap(), []);
    let left = agent_files(&home.native_dir());
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
}
