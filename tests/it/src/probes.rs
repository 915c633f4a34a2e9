//! What a host does with what was found out about an engine.

use openclaw_host::{Finding, ProbeCache, ProbeOutcome, Scope, TurnError, Verdict};
use openclaw_loader::BuildDirectory;
use serde_json::{Value, json};
use support::{Home, ScriptedModel, turn};

/// A verdict of the window engine, as another process leaves it.
fn keep_verdict(home: &Home, settings: &Value, finding: Finding) {
    let plugin = BuildDirectory::read(&home.path().join("window")).unwrap();
    let probes = vec![ProbeOutcome {
        name: "commit-second-process".into(),
        finding,
    }];
    let verdict = Verdict {
        engine_id: "window".into(),
        library_sha256: plugin.sha256(),
        probed_at_ms: 0,
        elapsed_ms: 0,
        probes,
    };
    let cache = ProbeCache::new(&home.native_dir());
    cache.write(&verdict, settings).unwrap();
}

#[test]
fn engine_that_broke_a_promise_is_degraded_until_it_is_found_to_keep_it() {
    let home = Home::new().with_engine("window", Value::Null);
    let host = home.host();
    let served = || {
        let outcome = turn(&host, "hello", None, &mut ScriptedModel::done()).unwrap();
        (outcome.record.served.engine_id, outcome.record.substitution)
    };
    assert_eq!(
        served(),
        ("window".into(), None),
        "what nobody probed serves as declared"
    );
    keep_verdict(&home, &Value::Null, Finding::Failed("it forgot".into()));
    let (engine, substitution) = served();
    let substitution = substitution.unwrap();
    assert_eq!(engine, "legacy");
    assert_eq!(substitution.scope, Scope::Degraded);
    assert_eq!(
        substitution.reason,
        "semantics probe failed: commit-second-process: it forgot"
    );
    let TurnError::Engine { failure, .. } = host.recommit("agent:main:main").unwrap_err() else {
        panic!("the engine is at fault");
    };
    assert_eq!(failure, substitution);
    keep_verdict(&home, &Value::Null, Finding::Passed);
    assert_eq!(served(), ("window".into(), None));
}

#[test]
fn verdict_of_other_settings_means_nothing() {
    let settings = json!({ "highShare": 0.8 });
    let home = Home::new().with_engine("window", settings.clone());
    keep_verdict(&home, &json!({}), Finding::Failed("it forgot".into()));
    let served = || {
        let outcome = turn(&home.host(), "hello", None, &mut ScriptedModel::done());
        outcome.unwrap().record.served.engine_id
    };
    assert_eq!(served(), "window");
    keep_verdict(&home, &settings, Finding::Failed("it forgot".into()));
    assert_eq!(served(), "legacy");
}
