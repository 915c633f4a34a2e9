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
