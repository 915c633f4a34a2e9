use std::path::Path;

use super::*;
use crate::document::Config;
use crate::error::{ConfigError, ConfigErrorKind};

fn config(text: &str) -> Config {
    Config::from_text(Path::new("openclaw.json"), text.to_owned()).unwrap()
}

fn fault_keys(error: ConfigError) -> Vec<String> {
    match error.kind {
        ConfigErrorKind::Invalid(faults) => faults.iter().map(|f| f.key.to_string()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn providers_are_read_in_order_and_other_keys_are_passed_over() {
    let models = config(
        "{models: {mode: 'merge', providers: {
            local: {baseUrl: 'http://127.0.0.1:1/v1', api: 'openai-completions', extra: 1,
                models: [{id: 'm/1', name: 'M', contextWindow: 8192, maxTokens: 1e3, reasoning: true, cost: {}}]},
            acme: {apiKey: '${ACME_TOKEN}', headers: {'X-Team': 'a'}},
        }}}",
    )
    .models()
    .unwrap();
    let names: Vec<&str> = models.providers.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["local", "acme"]);
    let local = models.provider("LOCAL").unwrap();
    assert_eq!(local.api.as_deref(), Some("openai-completions"));
    let expected = Model {
        id: "m/1".to_owned(),
        name: "M".to_owned(),
        context_window_tokens: Some(8192),
        max_output_tokens: Some(1000),
        reasoning: true,
    };
    assert_eq!(local.model("m/1"), Some(&expected));
    assert!(config("{}").models().unwrap().providers.is_empty());
}

/// Case C-2.
#[test]
fn variables_are_looked_up_per_provider() {
    let models = config(
        "{models: {providers: {
            good: {baseUrl: 'http://${HOST_NAME}/v1', apiKey: {source: 'env', id: 'ACME_TOKEN'}, headers: {h: 'Bearer ${ACME_TOKEN}'}},
            bad: {apiKey: '${NOT_SET}'},
        }}}",
    )
    .models()
    .unwrap();
    let env = |name: &str| match name {
        "ACME_TOKEN" => Some("t0p".into()),
        "HOST_NAME" => Some("localhost".into()),
        _ => None,
    };
    let good = models.provider("good").unwrap().resolve(&env).unwrap();
    assert_eq!(
        good.base_url.as_ref().unwrap().expose(),
        "http://localhost/v1"
    );
    assert_eq!(good.api_key.as_ref().unwrap().expose(), "t0p");
    assert_eq!(good.headers[0].1.expose(), "Bearer t0p");
    assert!(!format!("{good:?}").contains("t0p"));
    let error = models.provider("bad").unwrap().resolve(&env).unwrap_err();
    assert_eq!(error.variable, "NOT_SET");
}

/// Case C-15.
#[test]
fn wrong_types_name_their_keys() {
    let error = config(
        "{models: {providers: {p: {baseUrl: 1, apiKey: [], models: [{name: 'x'}, {id: 'y', contextWindow: 0}, 3]}}}}",
    )
    .models()
    .unwrap_err();
    let prefix = "models.providers.p";
    let expected = [
        "baseUrl",
        "apiKey",
        "models.0.id",
        "models.1.contextWindow",
        "models.2",
        "models.2.id",
    ]
    .map(|key| format!("{prefix}.{key}"));
    assert_eq!(fault_keys(error), expected[..]);
    let error = config("{agents: {defaults: {model: 1, contextTokens: 1.5}}}")
        .agent_defaults()
        .unwrap_err();
    let expected = ["agents.defaults.model", "agents.defaults.contextTokens"];
    assert_eq!(fault_keys(error), expected);
}

#[test]
fn default_model_is_a_string_or_has_fallbacks() {
    let defaults = |text: &str| {
        let text = format!("{{agents: {{defaults: {{{text}}}}}}}");
        config(&text).agent_defaults().unwrap()
    };
    let plain = defaults("model: ' acme/org/m ', contextTokens: 32000, workspace: '~/w'");
    let choice = plain.model.unwrap();
    assert_eq!(choice.primary.provider.as_deref(), Some("acme"));
    assert_eq!(choice.primary.model, "org/m");
    assert_eq!(choice.primary.to_string(), "acme/org/m");
    assert_eq!(plain.context_tokens, Some(32_000));
    assert_eq!(plain.workspace.as_deref(), Some("~/w"));

    let choice = defaults("model: {primary: 'm', fallbacks: ['a/b']}")
        .model
        .unwrap();
    assert_eq!(
        choice.primary,
        ModelRef {
            provider: None,
            model: "m".to_owned()
        }
    );
    assert_eq!(choice.fallbacks, [ModelRef::parse("a/b").unwrap()]);
    assert_eq!(defaults("workspace: ' '"), AgentDefaults::default());
}

#[test]
fn default_model_that_names_none_is_a_fault() {
    let check = |model: &str, key: &str, words: &str| {
        let error = config(&format!("{{agents: {{defaults: {{model: {model}}}}}}}"))
            .agent_defaults()
            .unwrap_err();
        assert!(
            error.kind.to_string().contains(words),
            "{model}: {}",
            error.kind
        );
        assert_eq!(fault_keys(error), [key], "{model}");
    };
    let (model, primary) = ("agents.defaults.model", "agents.defaults.model.primary");
    check("''", model, "missing or blank");
    check("' '", model, "missing or blank");
    check("'local/'", model, "must be `<provider>/<model>`");
    check("'/m'", model, "must be `<provider>/<model>`");
    check("{}", primary, "missing or blank");
    check("{primary: ''}", primary, "missing or blank");
    check("{primary: 7}", primary, "must be a string, found a number");
    let fallback = "agents.defaults.model.fallbacks.1";
    check("{primary: 'm', fallbacks: ['a/b', ' ']}", fallback, "blank");
    check(
        "{primary: 'm', fallbacks: ['a/b', 1]}",
        fallback,
        "a string",
    );
}

#[test]
fn infinite_number_is_called_one() {
    for value in ["Infinity", "-Infinity", "NaN", "null"] {
        let error = config(&format!(
            "{{agents: {{defaults: {{contextTokens: {value}}}}}}}"
        ))
        .agent_defaults()
        .unwrap_err();
        let text = error.kind.to_string();
        assert!(
            text.contains("must be a finite number, found null, Infinity or NaN"),
            "{text}"
        );
    }
}
