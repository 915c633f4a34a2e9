//! What loading and reloading an engine costs, step by step: `cargo bench -p openclaw-loader`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use openclaw_host::Reloaded;
use openclaw_interface::hosting::NoServices;
use openclaw_interface::model::CreateContext;
use openclaw_loader::{Libraries, Trust, Vetted};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};
use support::{Build, Home, build_directory, library};

const LOADS: usize = 101;
const RELOADS: u32 = 50;

fn main() {
    for engine in ["unloadable", "window"] {
        let size = fs::metadata(library(engine)).map_or(0, |it| it.len());
        println!("load of `{engine}`, {} kB", size / 1024);
        steps(engine);
        println!();
    }
    println!(
        "{:<40} {:>12} {:>20}",
        "reload", "median", "memory per reload"
    );
    for (engine, is_unloadable) in [
        ("unloadable", true),
        ("unloadable", false),
        ("window", false),
    ] {
        reloads(engine, is_unloadable);
    }
}

/// Median time of each step of a load, and its part of the whole.
fn steps(engine: &str) {
    let home = tempfile::tempdir().expect("a temporary directory can be made");
    let directory = build_directory(engine, home.path());
    let libraries = Libraries::below(&home.path().join("private"));
    let context = CreateContext {
        agent_dir: Some(home.path().join("agent")),
        ..CreateContext::default()
    };
    let mut times: BTreeMap<usize, (&str, Vec<Duration>)> = BTreeMap::new();
    let mut whole = Vec::new();
    for _ in 0..LOADS {
        let started = Instant::now();
        let plugin = Vetted::read(&directory, &Value::Null, &Trust::default())
            .and_then(|vetted| vetted.load(&libraries))
            .expect("the engine can be loaded");
        let loaded = started.elapsed();
        let instance = plugin.factory.create(&context, NoServices);
        let created = started.elapsed() - loaded;
        drop(instance.expect("the engine can be made"));
        whole.push(loaded + created);
        let last = [("create", created)];
        for (index, (step, time)) in plugin.steps.iter().chain(last).enumerate() {
            times
                .entry(index)
                .or_insert((step, Vec::new()))
                .1
                .push(time);
        }
    }
    let whole = median(whole);
    for (step, times) in times.into_values() {
        row(step, median(times), whole);
    }
    row("all, with manifest, trust and settings", whole, whole);
}

fn row(what: &str, time: Duration, whole: Duration) {
    let share = time.as_secs_f64() / whole.as_secs_f64() * 100.0;
    println!(
        "  {what:<38} {:>9.1} us {share:>7.1} %",
        time.as_secs_f64() * 1e6
    );
}

/// Time and memory of a reload of a host, the trial of the new build and the end of the old one included.
fn reloads(engine: &str, is_unloadable: bool) {
    let home = Home::new()
        .with_engine(engine, Value::Null)
        .reloading(Duration::ZERO, u64::MAX);
    let host = home.host();
    let build = |number| {
        let build = Build::of(engine).variant(number);
        if is_unloadable {
            build
        } else {
            build.not_unloadable()
        }
    };
    let mut times = Vec::new();
    let mut before = None;
    for number in 0..RELOADS + 10 {
        if number == 10 {
            before = resident_kb();
        }
        build(number).put(engine, &home.plugin_dir(engine));
        let started = Instant::now();
        let reloaded = host.reload(engine).expect("the engine can be reloaded");
        times.push(started.elapsed());
        assert!(matches!(reloaded, Reloaded::Replaced { .. }));
    }
    let growth = before
        .zip(resident_kb())
        .map_or("not known".into(), |(before, after)| {
            format!("{} kB", after.saturating_sub(before) / u64::from(RELOADS))
        });
    let mode = if is_unloadable { "unloaded" } else { "leaked" };
    let what = format!("`{engine}`, the old one {mode}");
    println!(
        "{what:<40} {:>9.1} us {growth:>20}",
        median(times).as_secs_f64() * 1e6
    );
    let census = host.generations();
    println!("  {} leaked, {} unloaded", census.leaked, census.unloaded);
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Resident memory of this process; `None` where the system does not say.
fn resident_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
