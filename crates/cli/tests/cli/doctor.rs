//! The doctor reads what a turn reads, and both follow the same rules.

use crate::home::{Home, Ran, select_unruly, write};
use serde_json::json;

fn doctor_and_turn(config: &str) -> (Ran, Ran) {
    let home = Home::new().probed();
    home.write_config(config);
    (home.run("doctor"), home.run("agent -m hello"))
}

/// Cases Q-2 and L-11.
#[test]
fn what_stops_a_turn_is_found() {
    let check = |config: &str, texts: &[&str]| {
        let (doctor, turn) = doctor_and_turn(config);
        turn.fails();
        doctor.fails().shows(texts).shows(&["→"]);
    };
    for value in ["-1", "0", "1.5", "Infinity", "'a'"] {
        let config = format!("{{agents: {{defaults: {{contextTokens: {value}}}}}}}");
        check(&config, &["`agents.defaults.contextTokens` (line 1)"]);
    }
    check(
        "{agents: {defaults: {workspace: 1}}}",
        &["`agents.defaults.workspace`"],
    );
    check(
        "{agents: {defaults: {model: 'a/b'}}}",
        &["there is no provider `a`", "models.providers.a"],
    );
    let provider = |fields: &str| format!("{{models: {{providers: {{p: {{{fields}}}}}}}}}");
    let model = "models: [{id: 'm'}]";
    check(&provider(model), &["models.providers.p.baseUrl"]);
    check(
        &provider("models: [{}]"),
        &["`models.providers.p.models.0.id`"],
    );
    for (fields, text) in [
        ("baseUrl: ''", "baseUrl"),
        ("baseUrl: 'ftp://x'", "not an http or https URL"),
        (
            "baseUrl: 'http://x', apiKey: '${NOT_SET}'",
            "`NOT_SET` is not set",
        ),
        ("baseUrl: 'http://x', api: 'telepathy'", "telepathy"),
        ("baseUrl: 'http://x', headers: {'a b': 'c'}", "header `a b`"),
    ] {
        check(
            &provider(&format!("{model}, {fields}")),
            &[text, "models.providers.p"],
        );
    }
    // Each key is a finding of its own.
    let home = Home::new().probed();
    home.write_config(
        "{agents: {defaults: {contextTokens: 0, workspace: 1}}, models: {providers: 1}}",
    );
    let findings = home.run("doctor --json").fails().json();
    let findings = findings["findings"].as_array().unwrap().clone();
    let errors = findings.iter().filter(|it| it["mark"] == "error");
    assert_eq!(errors.count(), 3, "{findings:#?}");
}

#[test]
fn provider_that_is_not_asked_is_a_note() {
    let home = Home::new().probed();
    home.write_config(
        "{agents: {defaults: {model: {primary: 'offline', fallbacks: ['a/b']}}}, models: {providers: {p: {}}}}",
    );
    home.run("doctor")
        .succeeds()
        .shows(&["models.providers.p", "fallbacks", "offline"]);
}

#[test]
fn plugins_are_linked_whatever_the_models_are() {
    let home = Home::new().probed();
    home.write_config("{agents: {defaults: {model: '', contextTokens: 0}}}");
    let plugin = support::build_directory("window", &home.path("plugins"));
    let args = ["plugins", "install", "-l", plugin.to_str().unwrap()];
    home.finish(&mut home.command(args)).succeeds();
}

/// Case R-4.
#[test]
fn slot_means_a_plugin_in_any_case() {
    let home = Home::new().probed();
    select_unruly(&home, " Unruly ", json!({}));
    home.run("doctor").succeeds();
    let ran = home.run("agent -m hello --json").succeeds();
    assert_eq!(ran.json()["turn"]["served"]["engineId"], "unruly");
    assert_eq!(ran.json()["turn"]["asked"]["engineId"], "unruly");
    select_unruly(&home, "LEGACY", json!({}));
    home.run("doctor").succeeds();
    let document = home.run("agent -m hello --json").succeeds().json();
    assert_eq!(document["turn"]["asked"]["engineId"], "legacy");
    assert_eq!(document["turn"]["substitution"], json!(null));
}

/// Case N-13.
#[test]
fn turn_tells_the_true_fault_of_a_broken_plugin() {
    let home = Home::new().probed();
    let directory = select_unruly(&home, "unruly", json!({}));
    let manifest = directory.join("openclaw.plugin.json");
    let whole = std::fs::read_to_string(&manifest).unwrap();
    write(&manifest, "{\"id\": \"unruly\",");
    home.run("agent -m hello")
        .succeeds()
        .shows(&["the file ends while", "line 1, column 17"]);
    // Known id, and a library that is a directory.
    write(&manifest, &whole);
    let library = support::library("unruly");
    let library = directory.join(library.file_name().unwrap());
    std::fs::remove_file(&library).unwrap();
    std::fs::create_dir(&library).unwrap();
    home.run("agent -m hello")
        .succeeds()
        .shows(&["is not a regular file"]);
    let list = home.run("plugins list --json").succeeds().json();
    assert_eq!(list["plugins"][0]["status"], "error");
    std::fs::remove_dir_all(&directory).unwrap();
    home.run("agent -m hello")
        .succeeds()
        .shows(&["there is nothing at this path"]);
}

#[test]
fn settings_of_a_wrong_type_stop_the_turn() {
    let home = Home::new().probed();
    let path = home.state_dir().join("native/native.json5");
    write(&path, "{strict: 'yes'}");
    home.run("agent -m hello")
        .fails()
        .shows(&["native.json5", "`strict`", "true or false"]);
    home.run("doctor").fails().shows(&["`strict`"]);
    write(&path, "{stict: true}");
    home.run("agent -m hello")
        .succeeds()
        .shows(&["warning:", "`stict`"]);
    write(&path, "{strict");
    let ran = home.run("agent -m hello").fails();
    assert!(!ran.stderr.contains(".bak"), "{ran:#?}");
}

#[test]
fn ended_processes_with_one_cause_are_one_finding() {
    let home = Home::new().probed();
    select_unruly(
        &home,
        "unruly",
        json!({ "assemble": "panic", "when": "hello" }),
    );
    for _ in 0..3 {
        home.run("agent -m hello").succeeds();
    }
    select_unruly(
        &home,
        "unruly",
        json!({ "assemble": "error", "when": "hello" }),
    );
    home.run("agent -m hello").succeeds();
    let ran = home.run("doctor").fails();
    assert_eq!(ran.stdout.matches("quarantine ").count(), 2, "{ran:#?}");
    ran.shows(&["in 3 processes, which have ended"]);
}

#[test]
fn odd_load_paths_are_told() {
    let home = Home::new().probed();
    home.write_config(r#"{"plugins": {"load": {"paths": ["", "plugins/window"]}}}"#);
    let plugin = support::build_directory("window", &home.path("plugins"));
    assert!(plugin.ends_with("plugins/window"));
    home.run("doctor").fails().shows(&[
        "`plugins.load.paths[0]`",
        "blank",
        "`plugins/window` in `plugins.load.paths` starts at the current directory",
    ]);
    home.run("agent -m hello").succeeds();
}

/// Case R-2.
#[test]
fn selected_engine_is_run_in_a_scratch_directory() {
    let home = Home::new().probed();
    select_unruly(&home, "unruly", json!({}));
    let report = home.run("doctor --json").succeeds().json();
    let engine = &report["engine"];
    assert_eq!(engine["id"], "unruly");
    assert_eq!(engine["works"], true);
    assert_eq!(engine["info"]["id"], "unruly");
    let calls: Vec<_> = engine["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["call"].as_str().unwrap())
        .collect();
    for call in [
        "making an instance",
        "assemble of turn 4",
        "compact",
        "dispose",
    ] {
        assert!(calls.contains(&call), "{calls:?}");
    }
    assert!(
        report["checked"]
            .as_str()
            .unwrap()
            .contains("ran in a process of its own")
    );
    assert!(
        !home.state_dir().join("native/agents").exists(),
        "nothing is left of it"
    );

    for settings in [
        json!({ "assemble": "panic" }),
        json!({ "assemble": "abort" }),
        json!({ "create": "error" }),
    ] {
        select_unruly(&home, "unruly", settings);
        let ran = home.run("doctor").fails();
        ran.shows(&[
            "error   exercise   unruly does not work",
            "turns go on with legacy",
        ]);
        assert!(
            !home.state_dir().join("native/health").exists(),
            "nobody is set aside"
        );
        home.run("doctor --no-run --json")
            .shows(&["no plugin was loaded"]);
    }
}

/// Cases N-2, N-5 and C-8.
#[test]
fn fix_removes_what_leads_to_a_deleted_directory_and_nothing_else() {
    let home = Home::new().probed();
    let directory = support::build_directory("window", &home.path("plugins"));
    let deleted = directory.display();
    let unmounted = home.path("disk/plugin");
    let kept =
        "// mine\n{\n  future: { key: 0x10 }, // stays\n  plugins: {\n    load: { paths: [\n";
    let rest = "    entries: { window: { config: { keepMessages: 3 } }, other: { enabled: true } },\n  },\n}\n";
    let config = format!(
        "{kept}      '{deleted}',\n    ] }},\n    slots: {{ contextEngine: 'window' }},\n{rest}"
    );
    home.write_config(&config);
    std::fs::remove_dir_all(&directory).unwrap();
    home.run("doctor").fails().shows(&[
        "stale      `~~/here/plugins/window` in `plugins.load.paths` was deleted",
        "`openclaw doctor --fix` removes it",
    ]);
    assert_eq!(
        home.config().unwrap(),
        config,
        "without --fix nothing is written"
    );
    home.run("doctor --fix").shows(&[
        "repaired   removed `~~/here/plugins/window` from `plugins.load.paths`",
        "repaired   emptied `plugins.slots.contextEngine`: no plugin brings `window`",
    ]);
    let fixed = home.config().unwrap();
    for stays in ["// mine", "future: { key: 0x10 }, // stays", rest.trim()] {
        assert!(fixed.contains(stays), "{stays}: {fixed}");
    }
    assert!(
        !fixed.contains("plugins/window") && !fixed.contains("contextEngine"),
        "{fixed}"
    );
    let backup = std::fs::read_to_string(home.config_path().with_extension("json.bak")).unwrap();
    assert_eq!(backup, config);
    home.run("agent -m hello").succeeds();

    // What may only be out of reach stays, and so does a slot it may fill.
    let config = json!({ "plugins": {
        "load": { "paths": [unmounted] }, "slots": { "contextEngine": "ghost" },
    } });
    home.write_config(&config.to_string());
    home.run("doctor --fix").fails().shows(&[
        "no usable plugin brings it",
        "there is nothing at this path",
    ]);
    assert_eq!(home.config_json(), config);
}

/// Cases C-3 and N-10.
#[cfg(unix)]
#[test]
fn fix_closes_what_is_open_to_others() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new().probed();
    home.write_config("{}");
    let native = home.state_dir().join("native");
    let modes = || {
        [home.config_path(), native.clone()]
            .map(|path| path.metadata().unwrap().permissions().mode() & 0o777)
    };
    for (path, mode) in [(home.config_path(), 0o666), (native.clone(), 0o755)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    home.run("doctor")
        .fails()
        .shows(&["is open to others (mode 0666)", "chmod 600"]);
    assert_eq!(modes(), [0o666, 0o755]);
    home.run("doctor --fix")
        .succeeds()
        .shows(&["mode 0600, before 0666", "mode 0700, before 0755"]);
    assert_eq!(modes(), [0o600, 0o700]);
    home.run("doctor --fix")
        .succeeds()
        .shows(&["repaired: nothing"]);
    assert_eq!(home.config().as_deref(), Some("{}"));
}

#[test]
fn failures_of_ended_processes_are_forgotten_when_the_engine_works() {
    let home = Home::new().probed();
    select_unruly(
        &home,
        "unruly",
        json!({ "assemble": "panic", "when": "hello" }),
    );
    home.run("agent -m hello").succeeds();
    home.run("doctor").fails().shows(&["which has ended"]);
    let ran = home.run("doctor --fix");
    assert!(!ran.stdout.contains("quarantined"), "{ran:#?}");
    ran.shows(&["forgot 1 failure of unruly in ended processes"]);
    let ran = home.run("doctor");
    assert!(!ran.stdout.contains("quarantined"), "{ran:#?}");
}
