//! How old tool results are pruned: `agents.defaults.contextPruning`.

use serde_json::Value;

const TTL_MS: u64 = 5 * MINUTE_MS;
const MINUTE_MS: u64 = 60_000;
const PLACEHOLDER: &str = "[Old tool result content cleared]";

/// Settings of pruning by the age of the provider's cache.
///
/// Source: pruning, "Configuration".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruning {
    pub(super) ttl_ms: u64,
    pub(super) hard_clear: bool,
    pub(super) placeholder: String,
    deny: Vec<String>,
    allow: Vec<String>,
}

impl Pruning {
    /// Reads the object `contextPruning`; `None` unless its `mode` is `cache-ttl`. What cannot be read has its default.
    #[must_use]
    pub fn from_config(config: &Value) -> Option<Self> {
        if config.get("mode")?.as_str()? != "cache-ttl" {
            return None;
        }
        let hard = config.get("hardClear");
        let placeholder = hard
            .and_then(|hard| hard.get("placeholder")?.as_str())
            .map(str::trim)
            .filter(|text| !text.is_empty());
        let patterns = |name| {
            let list = config
                .get("tools")
                .and_then(|tools| tools.get(name)?.as_array());
            let texts = list.into_iter().flatten().filter_map(Value::as_str);
            texts
                .map(|text| text.trim().to_lowercase())
                .filter(|text| !text.is_empty())
                .collect()
        };
        Some(Self {
            ttl_ms: config.get("ttl").and_then(duration_ms).unwrap_or(TTL_MS),
            hard_clear: hard.and_then(|hard| hard.get("enabled")?.as_bool()) != Some(false),
            placeholder: placeholder.unwrap_or(PLACEHOLDER).to_owned(),
            deny: patterns("deny"),
            allow: patterns("allow"),
        })
    }

    /// Whether the object's `ttl` can be read; without one it is 5 minutes.
    #[must_use]
    pub fn reads_ttl(config: &Value) -> bool {
        config
            .get("ttl")
            .is_none_or(|ttl| duration_ms(ttl).is_some())
    }

    /// Patterns of the tools that are spared.
    pub(super) fn denied(&self) -> &[String] {
        &self.deny
    }

    /// Whether results of a tool may be pruned.
    pub(super) fn covers(&self, tool: &str) -> bool {
        let tool = tool.trim().to_lowercase();
        let is_in = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, &tool));
        !is_in(&self.deny) && (self.allow.is_empty() || is_in(&self.allow))
    }
}

/// A number, alone or with a unit; alone it means minutes.
fn duration_ms(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_lowercase(),
        _ => return None,
    };
    let unit_at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1000,
        "" | "m" => MINUTE_MS,
        "h" => 60 * MINUTE_MS,
        "d" => 24 * 60 * MINUTE_MS,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a float cast saturates, and units are small"
    )]
    let ms = (number * unit_ms as f64).round() as u64;
    (number.is_finite() && number >= 0.0).then_some(ms)
}

/// Whether a pattern, in which `*` stands for any text, covers a name.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_its_own_mode_switches_it_on() {
        for off in [
            json!({}),
            json!({"mode": "off"}),
            json!({"mode": 1}),
            json!(null),
        ] {
            assert_eq!(Pruning::from_config(&off), None, "{off}");
        }
        let pruning = Pruning::from_config(&json!({"mode": "cache-ttl"})).unwrap();
        assert_eq!(
            (pruning.ttl_ms, pruning.hard_clear, &*pruning.placeholder),
            (300_000, true, PLACEHOLDER)
        );
    }

    #[test]
    fn a_time_has_a_unit_or_means_minutes() {
        for (ttl, ms) in [
            (json!("10s"), 10_000),
            (json!("1"), 60_000),
            (json!(2), 120_000),
            (json!(" 1.5 H "), 5_400_000),
            (json!("1d"), 86_400_000),
            (json!("250ms"), 250),
            (json!("0"), 0),
            (json!(""), TTL_MS),
            (json!("soon"), TTL_MS),
            (json!("-1m"), TTL_MS),
            (json!("5 years"), TTL_MS),
            (json!([]), TTL_MS),
        ] {
            let config = json!({"mode": "cache-ttl", "ttl": ttl});
            let is_default = ms == TTL_MS;
            assert_eq!(Pruning::reads_ttl(&config), !is_default, "{ttl}");
            assert_eq!(Pruning::from_config(&config).unwrap().ttl_ms, ms, "{ttl}");
        }
    }

    #[test]
    fn denied_tools_are_spared_and_allowed_ones_alone_are_pruned() {
        let covers = |tools: Value, tool: &str| {
            let config = json!({"mode": "cache-ttl", "tools": tools});
            Pruning::from_config(&config).unwrap().covers(tool)
        };
        assert!(covers(json!({}), "anything"));
        assert!(!covers(json!({"deny": ["Ex*"]}), " EXEC "));
        assert!(covers(json!({"deny": ["ex*", 7, " "]}), "read"));
        assert!(!covers(json!({"allow": ["read"]}), "readme"));
        assert!(!covers(json!({"allow": ["*"], "deny": ["a*c*e"]}), "abcde"));
        for (pattern, name, expected) in [
            ("*", "", true),
            ("a*", "a", true),
            ("*b", "ab", true),
            ("a*b", "ab", true),
            ("ab*ba", "aba", false),
            ("a**c", "abc", true),
            ("a*x*c", "abc", false),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
