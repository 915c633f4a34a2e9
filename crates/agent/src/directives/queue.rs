//! `/queue <mode> debounce:<duration> cap:<number> drop:<policy>`: what happens to messages that come during a turn.

use super::scan::{arguments, cut, find, name_with_colon, skip_space, word_end};

/// What `/queue` asks for. The raw texts stand beside their values, so that a wrong one can be shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueDirective {
    /// The mode.
    pub mode: Option<QueueMode>,
    /// The word taken for a mode.
    pub raw_mode: Option<String>,
    /// Back to the default.
    pub reset: bool,
    /// Milliseconds to wait for more messages.
    pub debounce_ms: Option<f64>,
    /// `debounce:` as written.
    pub raw_debounce: Option<String>,
    /// Messages kept at most, `> 0`.
    pub cap: Option<u64>,
    /// `cap:` as written.
    pub raw_cap: Option<String>,
    /// What goes when there are too many.
    pub drop: Option<QueueDrop>,
    /// `drop:` as written.
    pub raw_drop: Option<String>,
}

/// What happens to a message that comes during a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum QueueMode {
    Steer,
    Followup,
    Collect,
    Interrupt,
}

/// What goes when too many messages wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum QueueDrop {
    Old,
    New,
    Summarize,
}

impl QueueDirective {
    /// Whether it names any option beside the mode.
    #[must_use]
    pub fn has_options(&self) -> bool {
        self.raw_debounce.is_some() || self.raw_cap.is_some() || self.raw_drop.is_some()
    }

    fn set(&mut self, key: &str, raw: &str) -> bool {
        let raw_value = Some(raw.to_owned());
        match key {
            "debounce" => {
                self.debounce_ms = duration_ms(raw);
                self.raw_debounce = raw_value;
            }
            "cap" => {
                self.cap = raw.parse().ok().filter(|cap| *cap > 0);
                self.raw_cap = raw_value;
            }
            "drop" => {
                self.drop = match raw.to_lowercase().as_str() {
                    "old" | "oldest" => Some(QueueDrop::Old),
                    "new" | "newest" => Some(QueueDrop::New),
                    "summarize" | "summary" => Some(QueueDrop::Summarize),
                    _ => None,
                };
                self.raw_drop = raw_value;
            }
            _ => return false,
        }
        true
    }
}

fn mode(word: &str) -> Option<QueueMode> {
    Some(match word.to_lowercase().as_str() {
        "steer" | "steering" => QueueMode::Steer,
        "followup" | "followups" => QueueMode::Followup,
        "collect" | "coalesce" => QueueMode::Collect,
        "interrupt" | "interrupts" | "abort" => QueueMode::Interrupt,
        _ => return None,
    })
}

/// A duration such as `500`, `500ms`, `2s`, `1.5m`; a bare number is milliseconds.
fn duration_ms(text: &str) -> Option<f64> {
    let unit_at = text
        .find(|char: char| !char.is_ascii_digit() && char != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor = match unit.to_lowercase().as_str() {
        "" | "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    let ms = number.parse::<f64>().ok()? * factor;
    Some(ms.round()).filter(|ms| ms.is_finite())
}

pub(super) fn take(text: &mut String) -> Option<QueueDirective> {
    let name = find(text, &["queue"])?;
    let mut found = QueueDirective::default();
    let mut end = name_with_colon(text, name.end);
    let mut at = arguments(text, name.end);
    let first = at;
    while at < text.len() {
        let token_end = word_end(text, at);
        let token = &text[at..token_end];
        if matches!(token.to_lowercase().as_str(), "default" | "reset" | "clear") {
            found.reset = true;
            end = token_end;
            break;
        }
        let is_option = token
            .split_once(['=', ':'])
            .is_some_and(|(key, value)| found.set(&key.to_lowercase(), value));
        if !is_option {
            let word = mode(token);
            // The first word is taken for a mode in any case, a later one only when it is one.
            if at != first && (word.is_none() || found.raw_mode.is_some()) {
                break;
            }
            found.mode = word;
            found.raw_mode = Some(token.to_owned());
        }
        end = token_end;
        at = skip_space(text, token_end);
    }
    cut(text, name.start..end);
    Some(found)
}
