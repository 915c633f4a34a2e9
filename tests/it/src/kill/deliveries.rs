//! Deliveries that die.

use super::{Home, conversation};
use serde_json::json;
use support::Kills;

/// Sessions whose last turn waits for its engine.
const SESSIONS: usize = 10;

/// Case D-2: what waits for its engine is delivered, however often the process that delivers it dies.
#[test]
fn killed_delivery_is_made_again_and_once() {
    let home = Home::new();
    let quiet = json!({});
    let refusing = json!({ "commitTurn": "error" });
    let whole = home.finish("agent:main:first", "first", &quiet);
    let mut expected = vec!["first".to_owned()];
    let mut kills = Kills::new(whole);
    while let Some(index) = kills.next_try() {
        // Each round leaves turns that wait, in sessions of their own.
        let waiting: Vec<(String, String)> = (0..SESSIONS)
            .map(|number| {
                (
                    format!("agent:main:{index}-{number}"),
                    format!("turn-{index}-{number}"),
                )
            })
            .collect();
        if index % 6 == 1 {
            for (session, turn) in &waiting {
                home.finish(session, turn, &refusing);
                expected.push(turn.clone());
            }
        }
        let id = format!("driver-{index}");
        kills.kill(&mut home.turn("agent:main:driver", &id, &quiet));
        home.store();
        home.finish("agent:main:driver", &id, &quiet);
        expected.push(id);
    }
    // What a round left is delivered after later turns, a few at a time.
    home.finish("agent:main:driver", "last", &quiet);
    expected.push("last".to_owned());
    expected.sort();
    let store = home.store();
    assert_eq!(store.backlog().unwrap(), []);
    assert_eq!(home.committed(), expected);
    let (turns, _) = conversation(&store, "agent:main:driver");
    assert!(turns.iter().all(|(_, answers)| *answers == 1), "{turns:?}");
}
