//! Directives and shortcuts inside messages.

use crate::support::{field, list, oracle, text};
use openclaw_agent::{
    Directives, Elevated, ExecAsk, ExecHost, ExecSecurity, Fast, Leveled, ModelScope, QueueDrop,
    QueueMode, Reasoning, Shortcut, Thinking, Trace, Verbose, take_directives, take_shortcut,
};
use serde_json::{Map, Value};

#[test]
fn directives_are_read_and_stripped_as_in_the_original() {
    oracle("inline directives", |captured, tally| {
        for case in list(&captured.golden("inline-directives")) {
            let (found, cleaned) = take_directives(text(case, "input"), &["two"]);
            let mut actual = Map::new();
            actual.insert("cleaned".to_owned(), cleaned.into());
            words(&found, &mut actual);
            let expected = field(case, "output")
                .as_object()
                .expect("outputs are objects");
            tally.same(
                field(case, "input"),
                "directives",
                sorted(expected),
                sorted(&actual),
            );
        }
    });
}

#[test]
fn shortcuts_are_found_as_in_the_original() {
    oracle("inline simple commands", |captured, tally| {
        for case in list(&captured.golden("inline-simple-commands")) {
            let expected = field(case, "output");
            let expected = expected.is_object().then(|| {
                (
                    text(expected, "command"),
                    text(expected, "cleaned").to_owned(),
                )
            });
            let actual = take_shortcut(text(case, "input")).map(|(shortcut, rest)| {
                let name = match shortcut {
                    Shortcut::Help => "/help",
                    Shortcut::Commands => "/commands",
                    Shortcut::Whoami => "/whoami",
                };
                (name, rest)
            });
            tally.same(field(case, "input"), "shortcut", expected, actual);
        }
    });
}

/// By key; numbers as one kind.
fn sorted(object: &Map<String, Value>) -> Vec<(String, String)> {
    let plain = |value: &Value| {
        value
            .as_f64()
            .map_or_else(|| value.to_string(), |number| number.to_string())
    };
    let mut fields: Vec<_> = object
        .iter()
        .map(|(key, value)| (key.clone(), plain(value)))
        .collect();
    fields.sort();
    fields
}

/// What was found, in the original's words.
fn words(found: &Directives, out: &mut Map<String, Value>) {
    level(
        out,
        "Think",
        "thinkLevel",
        found.think.as_ref(),
        |level| match level {
            Thinking::Off => "off",
            Thinking::Minimal => "minimal",
            Thinking::Low => "low",
            Thinking::Medium => "medium",
            Thinking::High => "high",
            Thinking::ExtraHigh => "xhigh",
            Thinking::Adaptive => "adaptive",
            Thinking::Max => "max",
            Thinking::Ultra => "ultra",
        },
    );
    level(
        out,
        "Verbose",
        "verboseLevel",
        found.verbose.as_ref(),
        |level| match level {
            Verbose::Off => "off",
            Verbose::On => "on",
            Verbose::Full => "full",
        },
    );
    level(
        out,
        "Trace",
        "traceLevel",
        found.trace.as_ref(),
        |level| match level {
            Trace::Off => "off",
            Trace::On => "on",
            Trace::Raw => "raw",
        },
    );
    level(
        out,
        "Fast",
        "fastMode",
        found.fast.as_ref(),
        |level| match level {
            Fast::Off => Value::from(false),
            Fast::On => Value::from(true),
            Fast::Auto => Value::from("auto"),
        },
    );
    level(
        out,
        "Reasoning",
        "reasoningLevel",
        found.reasoning.as_ref(),
        |level| match level {
            Reasoning::Off => "off",
            Reasoning::On => "on",
            Reasoning::Stream => "stream",
        },
    );
    level(
        out,
        "Elevated",
        "elevatedLevel",
        found.elevated.as_ref(),
        |level| match level {
            Elevated::Off => "off",
            Elevated::On => "on",
            Elevated::Ask => "ask",
            Elevated::Full => "full",
        },
    );
    flag(out, "hasStatusDirective", found.status);
    exec(found, out);
    model(found, out);
    queue(found, out);
}

fn level<L: Copy, V: Into<Value>>(
    out: &mut Map<String, Value>,
    name: &str,
    key: &str,
    found: Option<&Leveled<L>>,
    word: impl Fn(L) -> V,
) {
    let Some(found) = found else { return };
    let upper = format!("{}{}", key[..1].to_uppercase(), &key[1..]);
    flag(out, &format!("has{name}Directive"), true);
    put(out, key, found.level.map(word));
    put(out, &format!("raw{upper}"), found.raw.clone());
    flag(out, &format!("clear{upper}"), found.clear);
}

fn exec(found: &Directives, out: &mut Map<String, Value>) {
    let Some(exec) = &found.exec else { return };
    flag(out, "hasExecDirective", true);
    flag(out, "hasExecOptions", exec.has_options());
    if let Some(host) = &exec.host {
        let word = host.value.map(|host| match host {
            ExecHost::Auto => "auto",
            ExecHost::Sandbox => "sandbox",
            ExecHost::Gateway => "gateway",
            ExecHost::Node => "node",
        });
        flag(out, "invalidExecHost", word.is_none());
        put(out, "execHost", word);
        put(out, "rawExecHost", Some(host.raw.clone()));
    }
    if let Some(security) = &exec.security {
        let word = security.value.map(|security| match security {
            ExecSecurity::Deny => "deny",
            ExecSecurity::Allowlist => "allowlist",
            ExecSecurity::Full => "full",
        });
        put(out, "execSecurity", word);
        put(out, "rawExecSecurity", Some(security.raw.clone()));
    }
    if let Some(ask) = &exec.ask {
        let word = ask.value.map(|ask| match ask {
            ExecAsk::Off => "off",
            ExecAsk::OnMiss => "on-miss",
            ExecAsk::Always => "always",
        });
        put(out, "execAsk", word);
        put(out, "rawExecAsk", Some(ask.raw.clone()));
    }
    put(out, "execNode", exec.node.clone());
    put(out, "rawExecNode", exec.node.clone());
}

fn model(found: &Directives, out: &mut Map<String, Value>) {
    let Some(model) = &found.model else { return };
    flag(out, "hasModelDirective", true);
    put(out, "rawModelDirective", model.model.clone());
    put(out, "rawModelProfile", model.profile.clone());
    put(out, "rawModelRuntime", model.runtime.clone());
    put(
        out,
        "modelDirectiveSource",
        Some(if model.by_alias { "alias" } else { "model" }),
    );
    let scope = model.scope.map(|scope| match scope {
        ModelScope::Session => "session",
        ModelScope::Agent => "agent",
        ModelScope::Global => "global",
    });
    put(out, "modelScope", scope);
    flag(out, "modelScopeConflict", model.scope_conflict);
}

fn queue(found: &Directives, out: &mut Map<String, Value>) {
    let Some(queue) = &found.queue else { return };
    flag(out, "hasQueueDirective", true);
    flag(out, "hasQueueOptions", queue.has_options());
    flag(out, "queueReset", queue.reset);
    let mode = queue.mode.map(|mode| match mode {
        QueueMode::Steer => "steer",
        QueueMode::Followup => "followup",
        QueueMode::Collect => "collect",
        QueueMode::Interrupt => "interrupt",
    });
    put(out, "queueMode", mode);
    put(out, "rawQueueMode", queue.raw_mode.clone());
    put(out, "debounceMs", queue.debounce_ms);
    put(out, "rawDebounce", queue.raw_debounce.clone());
    put(out, "cap", queue.cap);
    put(out, "rawCap", queue.raw_cap.clone());
    let drop = queue.drop.map(|drop| match drop {
        QueueDrop::Old => "old",
        QueueDrop::New => "new",
        QueueDrop::Summarize => "summarize",
    });
    put(out, "dropPolicy", drop);
    put(out, "rawDrop", queue.raw_drop.clone());
}

fn put(out: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        out.insert(key.to_owned(), value.into());
    }
}

fn flag(out: &mut Map<String, Value>, key: &str, is_set: bool) {
    put(out, key, is_set.then_some(true));
}
