//! The second half: an engine that panics, the reply all the same, and what `doctor` says.

use crate::failure::{Failure, require};
use crate::linking::link;
use crate::openclaw::{Openclaw, words};
use crate::screen::Screen;
use crate::serving::agent;
use crate::sessions::Session;

const ENGINE: &str = "unruly";
const HOOK: &str = "assemble";

/// What a turn told of the engine's failure.
#[derive(Debug)]
pub(crate) struct Broken {
    location: String,
}

/// Links an engine that panics in `assemble` and runs a turn.
pub(crate) fn turn(
    openclaw: &Openclaw,
    screen: &mut Screen,
    session: &Session,
) -> Result<Broken, Failure> {
    screen.heading("5  An engine that panics");
    let before = openclaw.text(&words(["doctor"]))?;
    require(before.code == Some(0), || {
        format!(
            "doctor finds fault before anything panicked:\n{}",
            before.stdout
        )
    })?;
    link(openclaw, screen, "tests/plugins/unruly", ENGINE)?;
    let command = agent("Are you still there?", session, "tour-panic");
    screen.command(&openclaw.shown(&command));
    let answer = openclaw.json(&command)?;
    let asked = answer.text("/turn/asked/engineId")?;
    let served = answer.text("/turn/served/engineId")?;
    require(asked == ENGINE && served == "legacy", || {
        format!("{asked} was asked and {served} served")
    })?;
    let reply = answer.text("/reply")?.lines().next().unwrap_or_default();
    require(!reply.is_empty(), || "the reply is empty".to_owned())?;
    screen.excerpt("reply", reply);
    let told = |field: &str| answer.text(&format!("/turn/substitution/{field}"));
    let (operation, location) = (told("operation")?, told("location")?);
    require(operation == HOOK, || {
        format!("{operation} failed instead of {HOOK}")
    })?;
    screen.fact(
        "engine",
        &format!(
            "asked {asked} · served {served}, {} of {} tokens · {asked} is {}",
            answer.number("/turn/context/assembledTokens")?,
            answer.number("/turn/context/budgetTokens")?,
            told("scope")?
        ),
    );
    screen.fact(
        "failed",
        &format!("{operation}: {} at {location}", told("reason")?),
    );
    Ok(Broken {
        location: location.to_owned(),
    })
}

/// Lets `doctor` name what failed.
pub(crate) fn doctor(
    openclaw: &Openclaw,
    screen: &mut Screen,
    broken: &Broken,
) -> Result<(), Failure> {
    screen.heading("6  What doctor says");
    let command = words(["doctor"]);
    screen.command(&openclaw.shown(&command));
    let answer = openclaw.text(&command)?;
    let code = answer
        .code
        .map_or("a signal".into(), |code| code.to_string());
    let mut is_shown = false;
    for line in answer.stdout.lines() {
        // The help of a finding stands below it.
        is_shown = line.starts_with("warning")
            || line.starts_with("error")
            || (is_shown && line.starts_with(' '));
        if is_shown {
            screen.printed(&openclaw.tidy(line));
        }
    }
    screen.fact("exit code", &code);
    let names = |line: &str| {
        [ENGINE, HOOK, &broken.location]
            .iter()
            .all(|what| line.contains(what))
    };
    require(answer.stdout.lines().any(names), || {
        format!(
            "doctor does not name {ENGINE}, {HOOK} and {}:\n{}",
            broken.location, answer.stdout
        )
    })?;
    require(answer.code == Some(1), || {
        format!("doctor ended with {code}")
    })
}
