//! Directives in a message, such as `/think high`: found, read and taken out of what the model sees.
//!
//! Pure functions on text; who may give a directive and what becomes of it is decided elsewhere. A code fence protects
//! nothing, as in the original.
//!
//! Source: commands and directives, "Directives: grammar" and "Stripping".

mod exec;
mod levels;
mod model;
mod queue;
mod scan;
mod shortcut;

pub use exec::{ExecAsk, ExecDirective, ExecHost, ExecOption, ExecSecurity};
pub use levels::{Elevated, Fast, Leveled, Reasoning, Thinking, Trace, Verbose};
pub use model::{ModelDirective, ModelScope};
pub use queue::{QueueDirective, QueueDrop, QueueMode};
pub use shortcut::{Shortcut, take_shortcut, take_status};

use levels::take_level;

/// The directives of one message; of several with one name the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directives {
    /// `/think`, `/thinking`, `/t`.
    pub think: Option<Leveled<Thinking>>,
    /// `/verbose`, `/v`.
    pub verbose: Option<Leveled<Verbose>>,
    /// `/trace`.
    pub trace: Option<Leveled<Trace>>,
    /// `/fast`.
    pub fast: Option<Leveled<Fast>>,
    /// `/reasoning`, `/reason`.
    pub reasoning: Option<Leveled<Reasoning>>,
    /// `/elevated`, `/elev`.
    pub elevated: Option<Leveled<Elevated>>,
    /// `/exec`.
    pub exec: Option<ExecDirective>,
    /// `/status` somewhere in the message.
    pub status: bool,
    /// `/model`, or the alias of a configured model.
    pub model: Option<ModelDirective>,
    /// `/queue`.
    pub queue: Option<QueueDirective>,
}

impl Directives {
    /// Whether the message has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Reads the directives of a message and returns it without them.
///
/// - `model_aliases`: names of configured models that act as directives; not those of commands or skills.
/// - The returned text is empty when nothing but directives was said.
#[must_use]
pub fn take_directives(message: &str, model_aliases: &[&str]) -> (Directives, String) {
    let mut text = message.to_owned();
    let found = Directives {
        think: take_level(&mut text, &["thinking", "think", "t"]),
        verbose: take_level(&mut text, &["verbose", "v"]),
        trace: take_level(&mut text, &["trace"]),
        fast: take_level(&mut text, &["fast"]),
        reasoning: take_level(&mut text, &["reasoning", "reason"]),
        elevated: take_level(&mut text, &["elevated", "elev"]),
        exec: exec::take(&mut text),
        status: shortcut::take_first_status(&mut text),
        model: model::take(&mut text, model_aliases),
        queue: queue::take(&mut text),
    };
    (found, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn left(message: &str, expected: &str) -> Directives {
        let (found, text) = take_directives(message, &["two"]);
        assert_eq!(text, expected, "{message:?}");
        found
    }

    #[test]
    fn directives_go_and_everything_else_stays() {
        let found = left("/think low /verbose full /queue collect do it", "do it");
        assert_eq!(found.think.unwrap().level, Some(Thinking::Low));
        assert_eq!(found.verbose.unwrap().level, Some(Verbose::Full));
        assert_eq!(found.queue.unwrap().mode, Some(QueueMode::Collect));
        assert!(
            left(
                "see /usr/bin/think and (/think high)",
                "see /usr/bin/think and (/think high)"
            )
            .is_empty()
        );
        left("hello  /think high  world", "hello   world");
        left("/think low /think high both", "/think high both");
        left("a\r\n/think high\r\nb", "a\r\nb");
        left("", "");
    }

    #[test]
    fn a_word_that_is_no_level_stays_when_more_follows() {
        let found = left("/think banana more", "banana more").think.unwrap();
        assert_eq!((found.raw, found.level), (None, None));
        let found = left("/think banana", "").think.unwrap();
        assert_eq!((found.raw.as_deref(), found.level), (Some("banana"), None));
    }

    #[test]
    fn an_alias_of_a_model_is_a_directive() {
        let found = left("/two hello", "hello").model.unwrap();
        assert_eq!(
            (found.model.as_deref(), found.by_alias),
            (Some("two"), true)
        );
        assert!(left("/three hello", "/three hello").is_empty());
    }

    #[test]
    fn a_mode_alone_on_its_line_leaves_the_next_line_whole() {
        let found = left("/queue interrupt\nplease do X", "please do X")
            .queue
            .unwrap();
        assert_eq!(found.mode, Some(QueueMode::Interrupt));
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(message in "(/think|/queue|/model|/exec|/status|high|cap|[ \\n\\r\\t:=@\"é日a-z/-]){0,12}") {
            let (found, text) = take_directives(&message, &["a"]);
            prop_assert!(text.len() <= message.len());
            prop_assert_eq!(found.is_empty(), text == message);
        }
    }
}
