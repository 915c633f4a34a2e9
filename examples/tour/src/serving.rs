//! Turns through a native engine, and the same turn again.

use crate::answer::Document;
use crate::failure::{Failure, require};
use crate::openclaw::{Openclaw, words};
use crate::screen::Screen;
use crate::sessions::{Session, messages};
use std::ffi::OsString;

/// The engine that has to serve.
pub(crate) const ENGINE: &str = "window";
const QUESTIONS: [&str; 3] = [
    "Where were we?",
    "What did we settle?",
    "And what comes next?",
];

/// A turn that was served.
#[derive(Debug)]
pub(crate) struct Turn {
    id: String,
    question: &'static str,
    pub(crate) engine: String,
    reply: String,
    tokens_before: u64,
    tokens_after: u64,
}

/// Runs turns that `window` has to serve, inside the budget.
pub(crate) fn turns(
    openclaw: &Openclaw,
    screen: &mut Screen,
    session: &Session,
) -> Result<Vec<Turn>, Failure> {
    screen.heading("3  Turns");
    let head = [
        "turn", "engine", "messages", "to model", "tokens", "to model", "budget", "commit",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let (mut turns, mut moves) = (Vec::new(), Vec::new());
    for (number, question) in (1..).zip(QUESTIONS) {
        let id = format!("tour-{number}");
        let command = agent(question, session, &id);
        screen.command(&openclaw.shown(&command));
        let answer = openclaw.json(&command)?;
        let turn = served(&answer, &id, question)?;
        rows.push(row(&answer, &turn)?);
        let told = answer
            .stderr
            .lines()
            .filter_map(|line| line.split_once("window placed: "));
        moves.extend(told.map(|(_, what)| format!("turn {number}: {what}")));
        turns.push(turn);
    }
    screen.table(&rows);
    let moved = match moves.as_slice() {
        [] => "never moved: everything fits".to_owned(),
        [only] => format!("moved once, {only}"),
        moves => format!("moved {} times; {}", moves.len(), moves.join("; ")),
    };
    screen.fact("window", &moved.replace(" plugin=\"window\"", ""));
    let given = turns.last().and_then(|turn| {
        let mut lines = turn.reply.lines();
        lines.find(|line| line.starts_with("The oldest"))
    });
    screen.excerpt("reply", given.unwrap_or_default());
    Ok(turns)
}

/// Checks that a turn was served as it must be.
fn served(answer: &Document, id: &str, question: &'static str) -> Result<Turn, Failure> {
    let engine = answer.text("/turn/served/engineId")?;
    require(engine == ENGINE, || {
        format!(
            "turn {id} was served by {engine}: {}",
            answer.value["turn"]["substitution"]
        )
    })?;
    let commit = answer.text("/turn/commit/status")?;
    require(commit == "committed", || {
        format!("the commit of turn {id} is {commit}")
    })?;
    let turn = Turn {
        id: id.to_owned(),
        question,
        engine: engine.to_owned(),
        reply: answer.text("/reply")?.to_owned(),
        tokens_before: answer.number("/turn/context/historyTokens")?,
        tokens_after: answer.number("/turn/context/assembledTokens")?,
    };
    let (budget, after) = (
        answer.number("/turn/context/budgetTokens")?,
        turn.tokens_after,
    );
    require(after <= budget, || {
        format!("turn {id} took {after} tokens of {budget}")
    })?;
    require(
        turn.tokens_before <= budget || after < turn.tokens_before,
        || format!("turn {id} is over its budget and dropped nothing"),
    )?;
    Ok(turn)
}

fn row(answer: &Document, turn: &Turn) -> Result<Vec<String>, Failure> {
    let context = |field: &str| answer.number(&format!("/turn/context/{field}"));
    Ok(vec![
        turn.id.clone(),
        format!("{} {}", turn.engine, answer.text("/turn/served/version")?),
        context("historyMessages")?.to_string(),
        context("assembledMessages")?.to_string(),
        turn.tokens_before.to_string(),
        turn.tokens_after.to_string(),
        context("budgetTokens")?.to_string(),
        answer.text("/turn/commit/status")?.to_owned(),
    ])
}

/// Repeats the last turn under its id, and offers all turns to the engine again.
pub(crate) fn repeat(
    openclaw: &Openclaw,
    screen: &mut Screen,
    session: &Session,
    turns: &[Turn],
) -> Result<(), Failure> {
    screen.heading("4  The same again");
    let Some(last) = turns.last() else {
        return Err(Failure::new("there was no turn to repeat"));
    };
    let before = messages(openclaw, session)?;
    let command = agent(last.question, session, &last.id);
    screen.command(&openclaw.shown(&command));
    let answer = openclaw.json(&command)?;
    let after = messages(openclaw, session)?;
    let is_same = answer.text("/reply")? == last.reply;
    require(
        answer.is("/isRepeat")? && is_same && before == after,
        || {
            format!(
                "turn {} was done a second time: {before} messages, then {after}",
                last.id
            )
        },
    )?;
    screen.fact(
        "reply",
        &format!("the stored one, byte for byte; {after} messages before and after"),
    );
    let recommit = words(["sessions", "recommit", &session.key]);
    screen.command(&openclaw.shown(&recommit));
    let answer = openclaw.json(&recommit)?;
    let (committed, duplicates) = (answer.number("/committed")?, answer.number("/duplicates")?);
    require(committed == 0 && duplicates == turns.len() as u64, || {
        format!(
            "{committed} turns were committed again, {duplicates} of {} known",
            turns.len()
        )
    })?;
    let engine = answer.text("/engineId")?;
    screen.fact(
        "commits",
        &format!("{engine}: {duplicates} duplicate, {committed} new"),
    );
    Ok(())
}

/// What the turns saved, in words.
pub(crate) fn saved(turns: &[Turn]) -> String {
    let sum = |of: fn(&Turn) -> u64| turns.iter().map(of).sum::<u64>();
    let (before, after) = (
        sum(|turn| turn.tokens_before),
        sum(|turn| turn.tokens_after),
    );
    if after < before {
        format!("{after} tokens of history instead of {before}")
    } else {
        "nothing had to go".to_owned()
    }
}

/// The command for a turn.
pub(crate) fn agent(question: &str, session: &Session, id: &str) -> Vec<OsString> {
    words([
        "agent",
        "-m",
        question,
        "--session-key",
        &session.key,
        "--turn-id",
        id,
    ])
}
