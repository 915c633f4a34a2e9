//! The settings under `agents.defaults.compaction`.

use crate::error::KeyProblem;
use crate::section::Section;

/// Turns that may be quoted behind a summary.
const RECENT_TURNS: u64 = 12;
/// New summaries after a refused one, at most.
const RETRIES: u64 = 3;

/// How sessions are compacted, as written; `None` where nothing is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compaction {
    /// `enabled`: whether sessions are compacted without being asked.
    pub enabled: Option<bool>,
    /// `keepRecentTokens`: tokens of the end that stay as they are.
    pub keep_recent_tokens: Option<u64>,
    /// `recentTurnsPreserve`: turns quoted behind a summary, 0 to 12.
    pub recent_turns: Option<u8>,
    /// `identifierPolicy`: whether identifiers are carried over letter by letter; `strict` or `off`.
    pub strict_identifiers: Option<bool>,
    /// `qualityGuard.enabled`: whether a summary is checked.
    pub quality_guard: Option<bool>,
    /// `qualityGuard.maxRetries`: new summaries after a refused one, 0 to 3.
    pub max_retries: Option<u8>,
    /// `timeoutSeconds`: how long one request for a summary may take.
    pub timeout_seconds: Option<u64>,
    /// `maxActiveTranscriptBytes`: bytes from which on a transcript is compacted; 0 for any size.
    pub max_active_bytes: Option<u64>,
}

impl Compaction {
    pub(crate) fn of(root: &Section<'_, '_>) -> Self {
        let section = root
            .section("agents")
            .section("defaults")
            .section("compaction");
        let guard = section.section("qualityGuard");
        Self {
            enabled: section.bool("enabled"),
            keep_recent_tokens: section.count("keepRecentTokens"),
            recent_turns: up_to(
                &section,
                "recentTurnsPreserve",
                RECENT_TURNS,
                "a whole number from 0 to 12",
            ),
            strict_identifiers: strictness(&section),
            quality_guard: guard.bool("enabled"),
            max_retries: up_to(&guard, "maxRetries", RETRIES, "a whole number from 0 to 3"),
            timeout_seconds: section.count("timeoutSeconds"),
            max_active_bytes: up_to(
                &section,
                "maxActiveTranscriptBytes",
                i64::MAX as u64,
                "a whole number of bytes",
            ),
        }
    }
}

/// A whole number from 0 to `most`.
fn up_to<T: TryFrom<u64>>(
    section: &Section<'_, '_>,
    key: &str,
    most: u64,
    wanted: &'static str,
) -> Option<T> {
    let value = section.get(key)?;
    let number = value.as_u64().filter(|number| *number <= most);
    let number = number.and_then(|number| T::try_from(number).ok());
    if number.is_none() {
        section.fault(key, KeyProblem::OutOfRange { wanted });
    }
    number
}

fn strictness(section: &Section<'_, '_>) -> Option<bool> {
    match section.string("identifierPolicy")?.as_str() {
        "strict" => Some(true),
        "off" => Some(false),
        _ => {
            let wanted = "`strict` or `off`";
            section.fault("identifierPolicy", KeyProblem::WrongForm { wanted });
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Compaction, Config};

    fn read(compaction: &str) -> Result<Compaction, String> {
        let text = format!("{{ agents: {{ defaults: {{ compaction: {compaction} }} }} }}");
        let path = std::path::Path::new("openclaw.json");
        let config = Config::from_text(path, text).map_err(|error| error.to_string())?;
        config.compaction().map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn settings_are_read_as_written() {
        let read_settings = read(
            "{ enabled: false, keepRecentTokens: 900, recentTurnsPreserve: 0, identifierPolicy: 'off', \
             qualityGuard: { enabled: false, maxRetries: 3 }, timeoutSeconds: 7, maxActiveTranscriptBytes: 0 }",
        );
        let expected = Compaction {
            enabled: Some(false),
            keep_recent_tokens: Some(900),
            recent_turns: Some(0),
            strict_identifiers: Some(false),
            quality_guard: Some(false),
            max_retries: Some(3),
            timeout_seconds: Some(7),
            max_active_bytes: Some(0),
        };
        assert_eq!(read_settings, Ok(expected));
        assert_eq!(read("{}"), Ok(Compaction::default()));
    }

    /// Case L-16.
    #[test]
    fn a_value_out_of_range_is_named_with_its_path() {
        for (settings, key) in [
            ("{ qualityGuard: { maxRetries: -1 } }", "maxRetries"),
            ("{ qualityGuard: { maxRetries: '3' } }", "maxRetries"),
            ("{ recentTurnsPreserve: 13 }", "recentTurnsPreserve"),
            ("{ keepRecentTokens: 0 }", "keepRecentTokens"),
            ("{ identifierPolicy: 'loose' }", "identifierPolicy"),
            (
                "{ maxActiveTranscriptBytes: 1.5 }",
                "maxActiveTranscriptBytes",
            ),
            ("{ timeoutSeconds: 0 }", "timeoutSeconds"),
            ("7", "compaction"),
        ] {
            let error = read(settings).unwrap_err();
            assert!(error.contains(key), "{settings}: {error}");
        }
    }
}
