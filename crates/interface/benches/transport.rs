//! What crossing the boundary costs, against a direct call in the same run: `cargo bench -p openclaw-interface`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use openclaw_interface::hosting::{AssemblyView, EngineFactory, EngineInstance, NoServices};
use openclaw_interface::model::{AssembleParams, SessionParams};
use openclaw_interface::{
    AssembleRequest, Assembly, BootstrapResult, ContextEngine, CreateContext, EngineError, Host,
    Info, Message, Messages, Role,
};
use serde_json::Value;
use std::hint::black_box;
use std::time::Instant;

/// Passes everything through.
struct PassThrough;

impl ContextEngine for PassThrough {
    const ID: &'static str = "pass-through";

    fn info() -> Info {
        Info::new(Self::ID, "Pass-through")
    }

    fn create(_context: CreateContext, _host: Host) -> Result<Self, EngineError> {
        Ok(Self)
    }

    fn bootstrap(&mut self, _params: &SessionParams) -> Result<BootstrapResult, EngineError> {
        Ok(BootstrapResult::default())
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        Ok(Assembly::pass_through(request.messages))
    }
}

/// The same engine behind a trait object of the same program: no boundary, no guard.
trait Direct {
    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError>;
    fn dispose(&mut self) -> Result<(), EngineError>;
}

impl<E: ContextEngine> Direct for E {
    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        ContextEngine::assemble(self, request)
    }

    fn dispose(&mut self) -> Result<(), EngineError> {
        ContextEngine::dispose(self)
    }
}

/// Median times of one call of each function in nanoseconds. Their batches, of about half a millisecond each, take
/// turns, so that whatever else the machine does meets both.
fn medians(mut one: impl FnMut(), mut other: impl FnMut()) -> (f64, f64) {
    let mut times = [Vec::new(), Vec::new()];
    let batches = [batch(&mut one), batch(&mut other)];
    for _ in 0..301 {
        times[0].push(per_call(&mut one, batches[0]));
        times[1].push(per_call(&mut other, batches[1]));
    }
    let [one, other] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    (one, other)
}

fn per_call(f: &mut impl FnMut(), batch: u32) -> f64 {
    let started = Instant::now();
    (0..batch).for_each(|_| f());
    started.elapsed().as_secs_f64() * 1e9 / f64::from(batch)
}

fn batch(f: &mut impl FnMut()) -> u32 {
    let started = Instant::now();
    (0..10).for_each(|_| f());
    (0.5e-3 / (started.elapsed().as_secs_f64() / 10.0).max(1e-9)).clamp(1.0, 1e6) as u32
}

fn median(f: impl FnMut()) -> f64 {
    medians(f, || {}).0
}

fn row(what: &str, time: f64, baseline: f64) {
    println!(
        "{what:<52} {:>12.3} us {:>9.2} x",
        time / 1000.0,
        time / baseline
    );
}

fn engine() -> EngineInstance {
    let (factory, _) =
        EngineFactory::built_in::<PassThrough>().expect("the engine describes itself");
    factory
        .create(&CreateContext::default(), NoServices)
        .expect("the engine can be made")
}

fn main() {
    println!("{:<52} {:>15} {:>11}", "call", "median", "to direct");
    let mut engine = engine();
    let mut direct: Box<dyn Direct> = black_box(Box::new(PassThrough));
    for count in [10, 1_000, 10_000] {
        let texts: Vec<String> = (0..count)
            .map(|index| {
                format!(
                    r#"{{"role":"user","content":"{index} {}"}}"#,
                    "x".repeat(2000)
                )
            })
            .collect();
        let messages: Vec<Message<'_>> = texts
            .iter()
            .map(|text| Message::new("id", Role::User, 500, text))
            .collect();
        let params = AssembleParams {
            session_id: "s".into(),
            ..AssembleParams::default()
        };
        let (baseline, guarded) = medians(
            || {
                let request =
                    AssembleRequest::new(Messages::of(black_box(&messages)), Some(1), "{}");
                black_box(direct.assemble(&request).expect("the engine answers"));
            },
            || {
                let read = |view: AssemblyView<'_>| black_box(view.picks().len());
                black_box(
                    engine
                        .assemble_with(black_box(&messages), Some(1), &params, read)
                        .expect("it answers"),
                );
            },
        );
        row(
            &format!("assemble, {count} messages: direct dyn call"),
            baseline,
            baseline,
        );
        row(
            &format!("assemble, {count} messages: guarded engine"),
            guarded,
            baseline,
        );
        let cloned = median(|| {
            black_box(black_box(&texts).clone());
        });
        row(
            &format!("assemble, {count} messages: one copy of the messages"),
            cloned,
            baseline,
        );
        let both_ways = median(|| {
            let sent: Vec<Value> = texts
                .iter()
                .filter_map(|text| serde_json::from_str(text).ok())
                .collect();
            black_box(serde_json::to_string(&sent).unwrap_or_default());
        });
        row(
            &format!("assemble, {count} messages: JSON both ways"),
            both_ways,
            baseline,
        );
    }
    let (call, dispose) = medians(
        || black_box(direct.dispose()).expect("the engine answers"),
        || black_box(engine.dispose()).expect("the engine answers"),
    );
    row("no-op: direct dyn call", call, call);
    row("no-op: guarded engine (dispose)", dispose, call);
    let params = SessionParams {
        session_id: "s".into(),
        ..SessionParams::default()
    };
    let bootstrap = median(|| {
        black_box(engine.bootstrap(&params)).expect("the engine answers");
    });
    row(
        "small JSON both ways: guarded engine (bootstrap)",
        bootstrap,
        call,
    );
}
