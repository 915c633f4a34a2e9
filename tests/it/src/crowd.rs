//! Many sessions at once, while the engine is replaced, fails and compacts.

use openclaw_host::compaction::{CompactionPolicy, CompactionSettings};
use openclaw_host::{CommitOutcome, CompactRequest, Host, LaneError, TurnError, TurnOutcome};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use support::{Build, Home, ScriptedModel, turn_in};

const ENGINE: &str = "unloadable";
const TURNS: usize = 50;

/// How many sessions there are; `OPENCLAW_SESSIONS` asks for more.
fn sessions() -> usize {
    let wanted = std::env::var("OPENCLAW_SESSIONS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(16)
}

/// Numbers that look random and are the same in every run (splitmix64).
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// What all sessions together have done.
#[derive(Default)]
struct Counts {
    ended: AtomicUsize,
    turns: AtomicU64,
    compactions: AtomicU64,
}

/// Answers at once and leaves summaries to the host's own rule.
fn model() -> ScriptedModel {
    ScriptedModel::done().at("offline", "offline")
}

fn key(session: usize) -> String {
    format!("agent:main:crowd-{session}")
}

/// Runs a turn, again while the session is held by a delivery.
fn answered(host: &Host, session: &str, text: &str) -> TurnOutcome {
    let mut model = model();
    let question = format!(
        "{text} {}",
        "The pump starts before the valve opens. ".repeat(10)
    );
    loop {
        match turn_in(
            host,
            session,
            &question,
            Some(&format!("{session} {text}")),
            &mut model,
        ) {
            Ok(outcome) => return outcome,
            Err(TurnError::Lane(LaneError::Busy { .. })) => {}
            Err(error) => panic!("{session}, {text}: {error}"),
        }
    }
}

/// Compactions leave a few turns as they are.
fn keeping_little() -> CompactionPolicy {
    CompactionPolicy {
        settings: CompactionSettings {
            keep_recent_tokens: 300,
            ..CompactionSettings::default()
        },
        ..CompactionPolicy::default()
    }
}

/// What one session did: the turns that its engine is owed, in order.
fn converse(host: &Host, session: usize, counts: &Counts) -> Vec<String> {
    let mut dice = Dice(session as u64);
    let key = key(session);
    let mut owed = Vec::new();
    for number in 0..TURNS {
        let text = format!("turn-{number}");
        let outcome = answered(host, &key, &text);
        assert_eq!(outcome.reply, "done");
        if outcome.record.commit != CommitOutcome::NotOwed {
            owed.push(text);
        }
        counts.turns.fetch_add(1, Ordering::Relaxed);
        if dice.roll(10) == 0 {
            let request = CompactRequest {
                session: key.clone(),
                ..CompactRequest::default()
            };
            match host.compact(&request, &mut model()) {
                Ok(outcome) => {
                    let made = u64::from(outcome.compacted);
                    counts.compactions.fetch_add(made, Ordering::Relaxed);
                }
                // The build that serves may fail in it.
                Err(TurnError::Engine { .. }) => {}
                Err(TurnError::Lane(LaneError::Busy { .. })) => {}
                Err(error) => panic!("{key}: {error}"),
            }
        }
    }
    owed
}

/// The next build: mostly one that works, and never two in a row that do not.
fn build(round: u64, dice: &mut Dice) -> Build {
    let flaws = ["assemble", "bootstrap", "compact", "create", "commit"];
    if round.is_multiple_of(3) {
        let flaw = flaws[dice.roll(flaws.len() as u64) as usize];
        return Build::named(&format!("fails-{flaw}"));
    }
    Build::named(&format!("good-{round}"))
}

/// Replaces the engine after every few turns until all sessions have ended. Gives the number of builds.
fn replace(home: &Home, host: &Host, counts: &Counts) -> u64 {
    let mut dice = Dice(1);
    for round in 1.. {
        build(round, &mut dice).put(ENGINE, &home.plugin_dir(ENGINE));
        // A build whose factory fails is refused, and the one before it goes on.
        let _ = host.reload(ENGINE);
        let next = counts.turns.load(Ordering::Relaxed) + sessions().div_ceil(8) as u64;
        while counts.turns.load(Ordering::Relaxed) < next {
            if counts.ended.load(Ordering::Relaxed) == sessions() {
                return round;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    unreachable!("the rounds do not end")
}

/// The turns an engine was given, in the order it was given them.
fn committed(directory: &Path, session_id: &str) -> Vec<String> {
    let text = fs::read_to_string(directory.join(session_id)).unwrap_or_default();
    let asked = text.lines().filter_map(|line| line.split(' ').next_back());
    asked.map(str::to_owned).collect()
}

/// Counts a session as ended, also when a check has failed.
struct Ends<'a>(&'a AtomicUsize);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Cases D-2 and H-8: whatever happens around them, an engine gets the turns it is owed, each once and in order.
#[test]
fn no_commit_is_lost_doubled_or_out_of_order() {
    let commits = tempfile::tempdir().unwrap();
    let home = Home::new()
        .with_engine(ENGINE, json!({ "commits": commits.path() }))
        .compacting(keeping_little())
        .reloading(Duration::from_secs(60), 100_000);
    let host = home.host();
    let counts = Counts::default();
    let (owed, builds) = std::thread::scope(|scope| {
        let start = |session| {
            let (host, counts) = (&host, &counts);
            scope.spawn(move || {
                let _ends = Ends(&counts.ended);
                converse(host, session, counts)
            })
        };
        let running: Vec<_> = (0..sessions()).map(start).collect();
        let builds = replace(&home, &host, &counts);
        let owed: Vec<Vec<String>> = running
            .into_iter()
            .map(|session| session.join().unwrap())
            .collect();
        (owed, builds)
    });
    Build::named("good-last").put(ENGINE, &home.plugin_dir(ENGINE));
    host.reload(ENGINE).unwrap();
    let mut given = 0;
    for (session, mut owed) in owed.into_iter().enumerate() {
        let key = key(session);
        let last = answered(&host, &key, "last");
        assert_eq!(last.record.commit, CommitOutcome::Committed, "{key}");
        owed.push("last".into());
        assert_eq!(
            committed(commits.path(), &last.record.session_id),
            owed,
            "{key}"
        );
        given += owed.len();
    }
    assert_eq!(host.store().backlog().unwrap(), []);
    let all = sessions() * TURNS;
    assert!(
        given > all / 2,
        "the engine served {given} of {all} turns over {builds} builds"
    );
    assert!(builds > 3, "{builds} builds");
    let compactions = counts.compactions.into_inner();
    assert!(compactions > sessions() as u64, "{compactions} compactions");
}
