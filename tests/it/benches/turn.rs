//! What a turn costs beside its model, over the length of its session: `cargo bench -p it`.
//!
//! The model answers at once and has a usual window, so a session that outgrows it is compacted or windowed as in use. What
//! is left of a turn when its hooks are taken away is the host's own.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use openclaw_host::{Host, Model, ModelError, ModelInfo, ModelReply, ModelRequest, TurnRecord};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;
use support::{Home, import, say, turn_in};

const SIZES: [usize; 3] = [100, 10_000, 100_000];
const TURNS: usize = 41;
const SESSION: &str = "agent:main:main";

/// Answers at once, and leaves summaries to the host's own rule.
struct Instantly(ModelInfo);

impl Model for Instantly {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    fn respond(
        &mut self,
        request: ModelRequest<'_>,
        _on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError> {
        black_box(request.messages);
        Ok(say("done"))
    }
}

fn model() -> Instantly {
    Instantly(ModelInfo {
        provider: "offline".into(),
        id: "instant".into(),
        api: "offline".into(),
        context_window_tokens: 200_000,
        max_output_tokens: None,
    })
}

/// A transcript of `entries` messages, user and assistant in turn.
fn transcript(entries: usize) -> String {
    let mut lines = String::from(
        "{\"type\":\"session\",\"version\":4,\"id\":\"s\",\"timestamp\":\"\",\"cwd\":\"/\"}\n",
    );
    let mut parent = "null".to_owned();
    for n in 0..entries {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        let content =
            format!("message {n} of a conversation that goes on and on about pumps and valves");
        let message = json!({ "role": role, "content": content });
        let _ = writeln!(
            lines,
            "{{\"type\":\"message\",\"id\":\"m{n}\",\"parentId\":{parent},\"timestamp\":\"\",\"message\":{message}}}"
        );
        parent = format!("\"m{n}\"");
    }
    lines
}

/// One turn: its microseconds and its record.
fn turn(host: &Host) -> (f64, TurnRecord) {
    let started = Instant::now();
    let outcome =
        turn_in(host, SESSION, "go on", None, &mut model()).expect("the turn is answered");
    (started.elapsed().as_secs_f64() * 1e6, outcome.record)
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// Medians of a turn in a session of `entries`: the whole, the host's own part, and each hook.
fn measure(home: &Home, entries: usize) -> BTreeMap<String, f64> {
    let host = home.host();
    import(
        &mut host.store(),
        "s",
        transcript(entries).as_bytes(),
        Some(SESSION),
    );
    // Compactions and first contact are not what is measured.
    for _ in 0..5 {
        turn(&host);
    }
    let mut rows: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for _ in 0..TURNS {
        let (whole, record) = turn(&host);
        let mut own = whole;
        for hook in &record.hooks {
            #[expect(clippy::cast_precision_loss, reason = "microseconds of one turn")]
            let elapsed = hook.elapsed_us as f64;
            own -= elapsed;
            rows.entry(format!("  in {}", hook.hook))
                .or_default()
                .push(elapsed);
        }
        rows.entry("a turn".into()).or_default().push(whole);
        rows.entry("  in the host".into()).or_default().push(own);
    }
    rows.into_iter()
        .map(|(row, all)| (row, median(all)))
        .collect()
}

fn main() {
    println!(
        "{:<28} {:>11} {:>11} {:>11} {:>9}",
        "microseconds, median", SIZES[0], SIZES[1], SIZES[2], "ratio"
    );
    for engine in ["legacy", "window"] {
        let columns = SIZES.map(|entries| {
            let home = match engine {
                "legacy" => Home::new(),
                plugin => Home::new().with_engine(plugin, json!({})),
            };
            measure(&home, entries)
        });
        for (row, small) in &columns[0] {
            let [_, middle, large] =
                [0, 1, 2].map(|at: usize| columns[at].get(row).copied().unwrap_or(f64::NAN));
            println!(
                "{:<28} {small:>11.0} {middle:>11.0} {large:>11.0} {:>7.2} x",
                format!("{engine}: {row}"),
                large / small
            );
        }
    }
}
