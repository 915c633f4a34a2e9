//! Runs one host with one engine and compares what it says with what the rules say.

use crate::variants::{self, Loads, Variant};
use crate::workspace::{Built, Places, Result};
use std::collections::BTreeMap;
use std::process::Command;

const LIMIT_BYTES: usize = 1000;

/// How the names of frozen copies start.
pub(crate) const FROZEN: &str = "frozen-";

/// The table, printed as it grows.
#[derive(Default)]
pub(crate) struct Report {
    deviations: usize,
    rows: usize,
}

impl Report {
    /// Adds a row.
    pub(crate) fn add(&mut self, row: &str, engine: &str, host: &str, expected: &str, got: &str) {
        if self.rows == 0 {
            println!(
                "{:<9} {:<26} {:<26} {:<28} got",
                "rule", "engine", "host", "expected"
            );
        }
        self.rows += 1;
        let sign = if expected == got {
            String::new()
        } else {
            self.deviations += 1;
            "   DEVIATES".into()
        };
        println!("{row:<9} {engine:<26} {host:<26} {expected:<28} {got}{sign}");
    }

    /// Whether everything was as expected.
    pub(crate) fn is_good(&self) -> bool {
        println!("{} pairs, {} deviate", self.rows, self.deviations);
        self.deviations == 0
    }
}

/// Facts a host printed about an engine, by name.
type Facts = BTreeMap<String, String>;

/// What every accepted pair says, whatever the versions.
const COMMON: [(&str, &str); 13] = [
    ("name", "Probe"),
    ("log", "Info made"),
    ("picks", "0/1 0/2 1/0"),
    (
        "new",
        r#"{"seen":["a user","b other","c bashExecution"],"budget":1099511627776,"unknown":[]}"#,
    ),
    ("estimate", "9"),
    ("addition", "4 tokens, cancelled: true, "),
    ("unknown", "{}"),
    ("commit", "CommitResult { status: Committed }"),
    ("commit again", "CommitResult { status: Duplicate }"),
    ("ping", r#""{\"pong\":1}""#),
    ("newest", "Unsupported"),
    ("bootstrap", "Unsupported"),
    ("tool", "\"probe_tool counts 1\""),
];

fn variant(name: &str) -> Option<&'static Variant> {
    variants::all().find(|variant| variant.name == name)
}

/// The facts of an accepted pair: the common ones, changed by what host and engine are able to.
fn expected_facts(host: &str, engine: &str) -> Facts {
    let mut facts: Facts = COMMON
        .iter()
        .chain(&[("dispose", "()")])
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let abilities = |name: &str| {
        variant(name)
            .map(Variant::all_abilities)
            .unwrap_or_default()
    };
    let (of_host, of_engine) = (abilities(host), abilities(engine));
    let only_engine = of_engine
        .iter()
        .filter(|ability| !of_host.contains(ability));
    for ability in of_host.iter().chain(only_engine) {
        let value = match (of_host.contains(ability), of_engine.contains(ability)) {
            (true, true) => ability.both,
            (true, false) => ability.host_only,
            (false, _) => ability.engine_only,
        };
        if !value.is_empty() {
            facts.insert(ability.fact.to_owned(), value.to_owned());
        }
    }
    facts
}

/// What the rules say of a pair.
fn expected_loads(host: &str, engine: &str) -> Loads {
    if host == engine {
        return Loads::Yes;
    }
    let (of_host, of_engine) = (variant(host), variant(engine));
    match (of_host, of_engine) {
        (Some(a), Some(b)) if a.grows_from(b) || b.grows_from(a) => Loads::Yes,
        (Some(_), Some(_)) => Loads::No("load/layout", &["Engine", "tidy"]),
        (Some(one), None) | (None, Some(one)) => one.loads,
        (None, None) => Loads::Yes,
    }
}

fn run_host(host: &Built, engines: &[&Built], places: &Places) -> Result<Vec<Facts>> {
    let output = Command::new(&host.host)
        .arg(places.work.join("private"))
        .args(engines.iter().map(|engine| &engine.plugin))
        .output()
        .map_err(|error| format!("{}: {error}", host.host.display()))?;
    let mut runs = Vec::new();
    let mut facts = Facts::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (name, value) = line.split_once('\t').unwrap_or((line, ""));
        if name == "end" {
            runs.push(std::mem::take(&mut facts));
        } else {
            facts.insert(name.to_owned(), value.to_owned());
        }
    }
    if !output.status.success() || runs.len() != engines.len() {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        facts.insert("died".into(), format!("{}: {error}", output.status));
        runs.push(facts);
    }
    Ok(runs)
}

/// What a host made of an engine, in a few words: `accepted`, `refused load/layout`, or what is wrong with it.
fn judge(facts: &Facts, (host, engine): (&str, &str), built: &BTreeMap<String, Built>) -> String {
    if let Some(death) = facts.get("died") {
        return format!("died: {death} after {facts:?}");
    }
    let Some(code) = facts.get("refused") else {
        let expected = expected_facts(host, engine);
        return if *facts == expected {
            "accepted".into()
        } else {
            let of = |a: &Facts, b: &Facts| {
                let differing = a.iter().filter(|(name, value)| b.get(*name) != Some(value));
                differing
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            format!(
                "accepted, but says {} for {}",
                of(facts, &expected),
                of(&expected, facts)
            )
        };
    };
    let text = facts.get("text").map(String::as_str).unwrap_or_default();
    if text.len() >= LIMIT_BYTES {
        return format!("refused {code}, but with {} bytes", text.len());
    }
    let version = |name: &str| {
        built
            .get(name)
            .map(|built| format!("{}.{}", built.version[0], built.version[1]))
    };
    let words = match expected_loads(host, engine) {
        // What is released speaks as it did then.
        Loads::No(_, words) if !host.starts_with(FROZEN) => words,
        _ => &[],
    };
    let wanted = words.iter().map(|word| Some((*word).to_owned()));
    let missing: Vec<_> = wanted
        .chain([version(host), version(engine)])
        .flatten()
        .filter(|word| !text.contains(word.as_str()))
        .collect();
    if missing.is_empty() {
        format!("refused {code}")
    } else {
        format!("refused {code}, but does not say {missing:?}: {text}")
    }
}

fn expected_text(host: &str, engine: &str) -> String {
    match expected_loads(host, engine) {
        Loads::Yes => "accepted".into(),
        Loads::No(code, _) => format!("refused {code}"),
        Loads::NotBuilt(_) => "does not build".into(),
    }
}

/// Adds a row for a variant that the compiler refused.
pub(crate) fn check_refusal_of_compiler(report: &mut Report, variant: &Variant, problem: &str) {
    let expected = match variant.loads {
        Loads::NotBuilt(_) => "does not build",
        _ => "builds",
    };
    let got = match variant.loads {
        Loads::NotBuilt(words) if words.iter().all(|word| problem.contains(word)) => expected,
        _ => problem,
    };
    report.add(variant.row, variant.name, "compiler", expected, got);
}

/// Checks one pair of host and engine.
pub(crate) fn check_pair(
    report: &mut Report,
    row: &str,
    pair: (&str, &str),
    built: &BTreeMap<String, Built>,
    places: &Places,
) -> Result<()> {
    let (host, engine) = pair;
    let runs = run_host(&built[host], &[&built[engine]], places)?;
    let got = runs
        .last()
        .map(|facts| judge(facts, pair, built))
        .unwrap_or_default();
    report.add(row, engine, host, &expected_text(host, engine), &got);
    if std::env::var_os("ABI_TEXTS").is_some() {
        for text in runs.iter().filter_map(|facts| facts.get("text")) {
            println!("          {} bytes: {text}", text.len());
        }
    }
    Ok(())
}

/// Loads all engines into one process, forwards and backwards: what one of them is must not change the verdict on
/// another.
pub(crate) fn check_crowd(
    report: &mut Report,
    host: &str,
    built: &BTreeMap<String, Built>,
    places: &Places,
) -> Result<()> {
    let names: Vec<_> = built.keys().map(String::as_str).collect();
    let backwards = names.iter().rev().copied();
    let order: Vec<_> = names.iter().copied().chain(backwards).collect();
    let engines: Vec<_> = order.iter().map(|name| &built[*name]).collect();
    let runs = run_host(&built[host], &engines, places)?;
    let mut wrong = Vec::new();
    for (name, facts) in order.iter().zip(&runs) {
        let got = judge(facts, (host, name), built);
        if got != expected_text(host, name) {
            wrong.push(format!("{name}: {got}"));
        }
    }
    if runs.len() != order.len() {
        wrong.push(format!("{} of {} verdicts", runs.len(), order.len()));
    }
    let got = if wrong.is_empty() {
        "as alone".into()
    } else {
        wrong.join(", ")
    };
    report.add("all", "all in one process, twice", host, "as alone", &got);
    Ok(())
}
