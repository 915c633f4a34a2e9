//! The sessions of the temporary home.

use crate::failure::Failure;
use crate::openclaw::{Openclaw, words};
use crate::screen::Screen;
use serde_json::Value;
use std::path::PathBuf;

/// The session the turns run in.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) key: String,
    pub(crate) messages: u64,
    pub(crate) tokens: u64,
}

/// Imports the files; returns the largest session.
pub(crate) fn import(
    openclaw: &Openclaw,
    screen: &mut Screen,
    files: &[PathBuf],
) -> Result<Session, Failure> {
    screen.heading("1  Import a session");
    let mut command = words(["sessions", "import"]);
    command.extend(files.iter().map(|file| openclaw.absolute(file).into()));
    screen.command(&openclaw.shown(&command));
    let imported = openclaw.json(&command)?;
    for (index, import) in imported.list("/imports")?.iter().enumerate() {
        let at = |field: &str| format!("/imports/{index}/{field}");
        let (entries, messages) = (
            imported.number(&at("entries"))?,
            imported.number(&at("messages"))?,
        );
        screen.fact(
            "session",
            &format!(
                "{} · version {} · {entries} entries, {messages} messages on its path",
                imported.text(&at("sessionKey"))?,
                imported.number(&at("headerVersion"))?,
            ),
        );
        for (field, one) in [("faults", "fault"), ("mends", "mend")] {
            let lines = texts(&import[field]);
            let plural = if lines.len() == 1 { "" } else { "s" };
            screen.facts(&format!("{} {one}{plural}", lines.len()), &lines, 2);
        }
    }
    let listed = sessions(openclaw)?;
    let largest = listed.into_iter().max_by_key(|session| session.tokens);
    let session = largest.ok_or_else(|| Failure::new("nothing was imported"))?;
    screen.fact("tokens", &format!("{} in {}", session.tokens, session.key));
    Ok(session)
}

/// How many messages a session has now.
pub(crate) fn messages(openclaw: &Openclaw, session: &Session) -> Result<u64, Failure> {
    let listed = sessions(openclaw)?;
    let own = listed.into_iter().find(|other| other.key == session.key);
    own.map(|own| own.messages)
        .ok_or_else(|| Failure::new(format!("session {} is gone", session.key)))
}

fn sessions(openclaw: &Openclaw) -> Result<Vec<Session>, Failure> {
    let listed = openclaw.json(&words(["sessions", "list"]))?;
    let session = |index: usize| {
        let at = |field: &str| format!("/sessions/{index}/{field}");
        Ok(Session {
            key: listed.text(&at("sessionKey"))?.to_owned(),
            messages: listed.number(&at("messages"))?,
            tokens: listed.number(&at("tokens"))?,
        })
    };
    (0..listed.list("/sessions")?.len()).map(session).collect()
}

fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
