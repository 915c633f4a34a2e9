//! `openclaw agent`: one turn.

use crate::args::AgentArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use crate::turns::{Said, Turns};
use serde_json::json;
use std::io::Read;
use std::process::ExitCode;

pub(crate) fn run(
    context: &Context,
    args: &AgentArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let said = Said {
        session_key: &args.session_key,
        text: message_text(&args.message)?,
        turn_id: args.turn_id.clone(),
    };
    let mut turns = Turns::open(context, args.model.as_deref(), output)?;
    let outcome = turns.run(said, output)?;
    output.document(
        &json!({ "reply": outcome.reply, "isRepeat": outcome.is_repeat, "turn": outcome.record }),
    );
    Ok(ExitCode::SUCCESS)
}

fn message_text(message: &str) -> Result<String, CliError> {
    if message != "-" {
        return Ok(message.to_owned());
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| {
            CliError::new(
                format!("cannot read the message from stdin: {error}"),
                "give UTF-8 text, or use -m TEXT",
            )
        })?;
    Ok(text.trim_end_matches('\n').to_owned())
}
