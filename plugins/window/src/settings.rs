//! The plugin's settings: read once, strictly. Does not know where they were written.

use serde_json::{Map, Value};

const HIGH_SHARE: &str = "highShare";
const LOW_SHARE: &str = "lowShare";
const PIN_FIRST_USER_MESSAGE: &str = "pinFirstUserMessage";
const NAMES: [&str; 3] = [HIGH_SHARE, LOW_SHARE, PIN_FIRST_USER_MESSAGE];

/// How the window behaves. `0 < low_share <= high_share <= 1` always holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    high_share: f64,
    low_share: f64,
    pin_first_user_message: bool,
}

/// Why a setting was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("setting `{name}` is {value}: expected {expected}")]
pub(crate) struct SettingError {
    /// Its key under `plugins.entries.window.config`.
    pub(crate) name: String,
    /// What was found, as JSON, cut when long.
    pub(crate) value: String,
    /// What would be right.
    pub(crate) expected: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            high_share: 0.9,
            low_share: 0.6,
            pin_first_user_message: true,
        }
    }
}

impl Settings {
    /// Reads settings; what is absent has its default.
    pub(crate) fn parse(settings: &Map<String, Value>) -> Result<Self, SettingError> {
        if let Some((name, value)) = settings
            .iter()
            .find(|(name, _)| !NAMES.contains(&name.as_str()))
        {
            let expected = format!("no such setting; known are `{}`", NAMES.join("`, `"));
            return Err(refused(name, value, expected));
        }
        let default = Self::default();
        let parsed = Self {
            high_share: share(settings, HIGH_SHARE)?.unwrap_or(default.high_share),
            low_share: share(settings, LOW_SHARE)?.unwrap_or(default.low_share),
            pin_first_user_message: flag(settings, PIN_FIRST_USER_MESSAGE)?
                .unwrap_or(default.pin_first_user_message),
        };
        if parsed.low_share > parsed.high_share {
            let expected = format!("at most `{HIGH_SHARE}`, which is {}", parsed.high_share);
            return Err(refused(LOW_SHARE, &parsed.low_share.into(), expected));
        }
        Ok(parsed)
    }

    /// Tokens a window may take before it moves.
    pub(crate) fn high_mark_tokens(&self, budget_tokens: u64) -> u64 {
        portion(budget_tokens, self.high_share)
    }

    /// Tokens a window may take after it has moved.
    pub(crate) fn low_mark_tokens(&self, budget_tokens: u64) -> u64 {
        portion(budget_tokens, self.low_share)
    }

    /// Whether the first user message stays in front.
    pub(crate) fn pins_first_user_message(&self) -> bool {
        self.pin_first_user_message
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a token count needs no exactness, and the cast back saturates"
)]
fn portion(budget_tokens: u64, share: f64) -> u64 {
    ((budget_tokens as f64 * share) as u64).min(budget_tokens)
}

fn share(settings: &Map<String, Value>, name: &str) -> Result<Option<f64>, SettingError> {
    let Some(value) = settings.get(name) else {
        return Ok(None);
    };
    match value.as_f64().filter(|share| *share > 0.0 && *share <= 1.0) {
        Some(share) => Ok(Some(share)),
        None => Err(refused(name, value, "a number above 0 and at most 1")),
    }
}

fn flag(settings: &Map<String, Value>, name: &str) -> Result<Option<bool>, SettingError> {
    let Some(value) = settings.get(name) else {
        return Ok(None);
    };
    match value.as_bool() {
        Some(flag) => Ok(Some(flag)),
        None => Err(refused(name, value, "true or false")),
    }
}

fn refused(name: &str, value: &Value, expected: impl Into<String>) -> SettingError {
    const SHOWN_CHARS: usize = 60;
    let json = value.to_string();
    let mut shown: String = json.chars().take(SHOWN_CHARS).collect();
    if shown.len() < json.len() {
        shown.push('…');
    }
    SettingError {
        name: name.to_owned(),
        value: shown,
        expected: expected.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(settings: Value) -> Result<Settings, SettingError> {
        Settings::parse(settings.as_object().unwrap())
    }

    #[test]
    fn absent_settings_have_defaults_and_the_bounds_are_accepted() {
        assert_eq!(parse(json!({})), Ok(Settings::default()));
        for settings in [
            json!({"highShare": 1}),
            json!({"highShare": 1.0, "lowShare": 1.0}),
            json!({"lowShare": 1e-9}),
            json!({"lowShare": 0.9}),
            json!({"pinFirstUserMessage": false}),
        ] {
            assert!(parse(settings.clone()).is_ok(), "{settings}");
        }
    }

    #[test]
    fn a_refusal_names_setting_value_and_expectation() {
        let share = "a number above 0 and at most 1";
        for (settings, expected) in [
            (json!({"highShare": 0}), format!("setting `highShare` is 0: expected {share}")),
            (json!({"highShare": 1.01}), format!("setting `highShare` is 1.01: expected {share}")),
            (json!({"lowShare": -0.5}), format!("setting `lowShare` is -0.5: expected {share}")),
            (json!({"lowShare": "0.5"}), format!("setting `lowShare` is \"0.5\": expected {share}")),
            (json!({"lowShare": null}), format!("setting `lowShare` is null: expected {share}")),
            (
                json!({"highShare": 0.5}),
                "setting `lowShare` is 0.6: expected at most `highShare`, which is 0.5".to_owned(),
            ),
            (
                json!({"pinFirstUserMessage": 1}),
                "setting `pinFirstUserMessage` is 1: expected true or false".to_owned(),
            ),
            (
                json!({"highshare": 0.5}),
                "setting `highshare` is 0.5: expected no such setting; known are `highShare`, `lowShare`, \
                 `pinFirstUserMessage`"
                    .to_owned(),
            ),
        ] {
            assert_eq!(parse(settings).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_long_value_is_cut() {
        let error = parse(json!({"lowShare": "ö".repeat(1000)})).unwrap_err();
        assert_eq!(error.value.chars().count(), 61);
    }

    #[test]
    fn marks_never_exceed_the_budget() {
        for budget in [0, 1, 10_000, u64::MAX] {
            let settings = parse(json!({"highShare": 1, "lowShare": 1})).unwrap();
            assert!(settings.high_mark_tokens(budget) <= budget);
            assert!(settings.low_mark_tokens(budget) <= budget);
        }
        assert_eq!(Settings::default().high_mark_tokens(10_000), 9_000);
        assert_eq!(Settings::default().low_mark_tokens(10_000), 6_000);
    }

    #[test]
    fn the_manifest_has_the_same_names_defaults_and_bounds() {
        let manifest: Value =
            serde_json::from_str(include_str!("../openclaw.plugin.json")).unwrap();
        let schema = &manifest["configSchema"];
        assert_eq!(schema["additionalProperties"], json!(false));
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(
            properties.keys().map(String::as_str).collect::<Vec<_>>(),
            NAMES
        );

        let defaults: Map<String, Value> = properties
            .iter()
            .map(|(name, property)| (name.clone(), property["default"].clone()))
            .collect();
        assert_eq!(Settings::parse(&defaults), Ok(Settings::default()));

        for name in [HIGH_SHARE, LOW_SHARE] {
            let property = &properties[name];
            assert_eq!(property["type"], "number");
            for (value, accepted) in [
                (property["maximum"].as_f64().unwrap(), true),
                (property["maximum"].as_f64().unwrap() + 1e-9, false),
                (property["exclusiveMinimum"].as_f64().unwrap(), false),
                (property["exclusiveMinimum"].as_f64().unwrap() + 1e-9, true),
            ] {
                let settings = Map::from_iter([(name.to_owned(), json!(value))]);
                assert_eq!(share(&settings, name).is_ok(), accepted, "{name} {value}");
            }
        }
        assert_eq!(properties[PIN_FIRST_USER_MESSAGE]["type"], "boolean");
    }
}
