//! Many reloads while turns run.

use super::{ENGINE, home, plain, put};
use openclaw_host::{Host, Reloaded};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use support::{Build, ScriptedModel, turn_in};

/// Set in the child process that has the memory to itself.
const CHILD: &str = "RELOAD_CHILD";

/// Runs this test alone in a process of its own, and gives what it printed. `None` in that process.
pub(super) fn alone(test: &str) -> Option<String> {
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    Some(text)
}

/// The build that served a turn; every turn is answered, and only a build that fails is replaced by the built-in engine.
fn answered(host: &Host, session: &str, model: &mut ScriptedModel) -> Option<u64> {
    let outcome = turn_in(host, session, "hello", None, model).unwrap();
    assert_eq!(outcome.reply, "done");
    let record = outcome.record;
    let (system_prompt, _) = model.requests.pop().unwrap();
    match record.substitution {
        None => {
            let build = record.served.version.unwrap();
            let said = format!("build={build} ");
            assert!(
                system_prompt.contains(&said),
                "{said} not in {system_prompt}"
            );
            assert!(build.starts_with("good-"), "{build}");
            record.served.generation
        }
        Some(substitution) => {
            assert_eq!(substitution.reason, "this build fails in assemble");
            None
        }
    }
}

/// Lets the threads end, also when a check has failed.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Case H-8: 1,000 reloads under the turns of four threads; every tenth build panics.
#[test]
fn every_turn_is_answered_by_the_old_or_the_new_build() {
    if alone("reload::under_load::every_turn_is_answered_by_the_old_or_the_new_build").is_some() {
        return;
    }
    const RELOADS: u64 = 1000;
    let home = home(plain()).reloading(Duration::from_secs(60), RELOADS);
    let host = home.host();
    put(&home, &Build::named("good-0"));
    host.reload(ENGINE).unwrap();
    let (is_over, turns) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let _over = Over(&is_over);
        for thread in 0..4 {
            let (host, is_over, turns) = (&host, &is_over, &turns);
            scope.spawn(move || {
                let mut model = ScriptedModel::done();
                let mut newest = 0;
                for turn in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    // Short sessions: their length is not what is tried here.
                    let session = format!("agent:main:load-{thread}-{}", turn / 10);
                    if let Some(generation) = answered(host, &session, &mut model) {
                        assert!(generation >= newest, "{generation} after {newest}");
                        newest = generation;
                    }
                    turns.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 1..=RELOADS {
            let name = if round % 10 == 0 {
                "fails-assemble".to_owned()
            } else {
                format!("good-{round}")
            };
            put(&home, &Build::named(&name));
            let reloaded = host.reload(ENGINE).unwrap();
            assert!(matches!(reloaded, Reloaded::Replaced { .. }));
            // Some turns on every build.
            let seen = turns.load(Ordering::Relaxed);
            while turns.load(Ordering::Relaxed) < seen + 2 {
                std::thread::yield_now();
            }
        }
    });
    put(&home, &Build::named("good-last"));
    host.reload(ENGINE).unwrap();
    let served = answered(&host, "agent:main:load-0", &mut ScriptedModel::done());
    assert!(served.is_some());
    let census = host.generations();
    assert_eq!(census.live + census.retired, 1, "{census:?}");
    assert!(census.unloaded >= RELOADS * 8 / 10, "{census:?}");
}
