//! The `openclaw.json` of the temporary home.

use crate::failure::Failure;
use crate::openclaw::Openclaw;
use crate::sessions::Session;
use std::fs;

/// The window of the imaginary model where the session is large enough, in tokens.
const MOST_TOKENS: u64 = 8_000;
/// Below this the system prompt alone would fill the window, in tokens.
const LEAST_TOKENS: u64 = 600;

/// Writes the file as a user would have it: with comments, a limit that half of the session fits in, and the settings
/// of an engine that is not there yet.
pub(crate) fn write(openclaw: &Openclaw, session: &Session) -> Result<(), Failure> {
    let context_tokens = (session.tokens / 2).clamp(LEAST_TOKENS, MOST_TOKENS);
    let text = format!(
        "{{
  // small on purpose
  agents: {{ defaults: {{ contextTokens: {context_tokens} }} }},
  plugins: {{
    entries: {{
      unruly: {{ config: {{ assemble: 'panic', when: 'still there' }} }}, // wrong on purpose
    }},
  }},
}}
"
    );
    let path = openclaw.config_path();
    fs::write(&path, text)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}

/// The file as it is now.
pub(crate) fn read(openclaw: &Openclaw) -> Result<String, Failure> {
    let path = openclaw.config_path();
    fs::read_to_string(&path)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
}

/// The comments of a config, with the lines they are on, from 1.
pub(crate) fn comments(text: &str) -> Vec<(usize, &str)> {
    let lines = (1..).zip(text.lines());
    lines
        .filter_map(|(number, line)| Some((number, &line[line.find("//")?..])))
        .collect()
}
