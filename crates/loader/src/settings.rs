//! A plugin's settings against its manifest's schema.

use crate::error::LoadErrorKind;
use crate::manifest::Manifest;
use serde_json::Value;

/// Checks `plugins.entries.<id>.config` against the manifest's schema. Missing settings are an empty object.
///
/// # Errors
///
/// All problems, each with the path of the value; or that the schema itself is unusable.
pub fn check_settings(manifest: &Manifest, settings: &Value) -> Result<(), LoadErrorKind> {
    let empty = Value::Object(serde_json::Map::new());
    let settings = if settings.is_null() { &empty } else { settings };
    if !settings.is_object() {
        return Err(LoadErrorKind::Settings(vec![format!(
            "they are {settings}, not an object"
        )]));
    }
    let validator = jsonschema::validator_for(&manifest.config_schema).map_err(|error| {
        LoadErrorKind::ManifestField {
            field: "configSchema",
            problem: format!("is no usable schema: {error}"),
        }
    })?;
    let problems: Vec<_> = validator
        .iter_errors(settings)
        .map(|error| {
            let at = error.instance_path().to_string();
            format!(
                "{}: {error}",
                if at.is_empty() {
                    "config".to_owned()
                } else {
                    at.trim_start_matches('/').replace('/', ".")
                }
            )
        })
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(LoadErrorKind::Settings(problems))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(settings: Value) -> Result<(), String> {
        let manifest = Manifest::parse(
            "{id: 'e', configSchema: {type: 'object', additionalProperties: false,
              properties: {share: {type: 'number', maximum: 1}}}}",
        )
        .unwrap();
        check_settings(&manifest, &settings).map_err(|kind| kind.to_string())
    }

    #[test]
    fn settings_are_checked_with_path_value_and_bound() {
        assert_eq!(check(Value::Null), Ok(()));
        assert_eq!(check(json!({"share": 0.5})), Ok(()));
        let problem = check(json!({"share": 7, "other": 1})).unwrap_err();
        assert!(
            problem.contains("share: 7 is greater than the maximum of 1"),
            "{problem}"
        );
        assert!(problem.contains("'other' was unexpected"), "{problem}");
        assert!(check(json!([])).unwrap_err().contains("not an object"));
    }
}
