//! A compaction's own work, without a model: `cargo bench -p openclaw-host --bench compaction`.
//!
//! The time for each message should stay the same from row to row.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod instant;

use instant::{Instantly, open};
use openclaw_host::compaction::{
    CompactionInput, CompactionRequest, CompactionSettings, CompactionWorld, Extractive, HEADINGS,
    Outcome, Summariser, SummariserLimits, SummaryError, SummaryRequest, Trigger, compact,
};
use openclaw_host::{CompactRequest, FileLines, ImportTarget};
use openclaw_transcript::{Row, estimate, estimate_text, message_row, parse_row};
use std::hint::black_box;
use std::io::Cursor;
use std::time::{Duration, Instant};

/// Answers at once; what is left is the host's own work.
struct AtOnce(String);

impl Summariser for AtOnce {
    fn limits(&self) -> SummariserLimits {
        SummariserLimits {
            window_tokens: 200_000,
            max_output_tokens: Some(8_000),
        }
    }

    fn summarise(&mut self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        black_box(request.prompt);
        Ok(self.0.clone())
    }
}

/// A session of turns with a tool call each: four messages of about 400 characters.
fn session(messages: usize) -> Vec<Row> {
    let text = "The parser reads the index first; then it looks for the table. ".repeat(6);
    let rows = (0..messages).map(|at| {
        let message = match at % 4 {
            0 => format!(r#"{{"role":"user","content":"Step {at}. {text}"}}"#),
            1 => format!(
                r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"c{at}","name":"read","arguments":{{"path":"/srv/data/{at}.csv"}}}}]}}"#
            ),
            2 => format!(
                r#"{{"role":"toolResult","toolCallId":"c{}","toolName":"read","content":[{{"type":"text","text":"{text}"}}]}}"#,
                at - 1
            ),
            _ => format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"Done {at}. {text}"}}]}}"#),
        };
        let parent = at.checked_sub(1).map(|before| format!("r{before}"));
        let line = message_row(&format!("r{at}"), parent.as_deref(), "", &message);
        parse_row(at + 1, &line).expect("a row that was just made")
    });
    rows.collect()
}

/// Milliseconds to read a path and to compact it: the best of a few.
fn best(rows: &[&Row], tokens: &[u64], summariser: &mut dyn Summariser) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..5 {
        let started = Instant::now();
        let input = CompactionInput::of_path(rows, &|row, _| tokens[row]);
        let read = started.elapsed().as_secs_f64() * 1e3;
        let request = CompactionRequest {
            trigger: Trigger::Budget,
            budget_tokens: 150_000,
            fixed_tokens: 10_000,
            known_tokens: None,
            pending_entry_id: None,
            focus: None,
            last_without_gain: None,
        };
        let world = CompactionWorld {
            count_tokens: &estimate_text,
            now_ms: &|| 0,
            wait: &|_| {},
            is_cancelled: &|| false,
        };
        let outcome = compact(
            &input,
            summariser,
            &CompactionSettings::default(),
            &request,
            &world,
        );
        let whole = started.elapsed().as_secs_f64() * 1e3;
        assert!(matches!(outcome, Ok(Outcome::Compacted(_))), "{outcome:?}");
        best = [best[0].min(read), best[1].min(whole - read)];
    }
    best
}

/// Milliseconds of a whole compaction by hand, from the stored session to the stored row: the best of three sessions.
fn by_hand(rows: &[Row], summary: &str) -> f64 {
    let lines = rows.iter().map(Row::raw).collect::<Vec<_>>().join("\n");
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let home = tempfile::tempdir().expect("a temporary directory");
        let host = open(home.path());
        let header = r#"{"type":"session","version":4,"id":"s","timestamp":"","cwd":"/"}"#;
        let mut file = FileLines::new(Cursor::new(format!("{header}\n{lines}\n")))
            .expect("memory can be read");
        let target = ImportTarget {
            name: "s",
            agent_id: "main",
            key: Some("k"),
            wait: Duration::ZERO,
        };
        host.store()
            .import(&mut file, &target, &mut |_| {})
            .expect("the session is imported");
        let request = CompactRequest {
            session: "k".into(),
            ..CompactRequest::default()
        };
        let started = Instant::now();
        let outcome = host.compact(&request, &mut Instantly::new(200_000, summary));
        best = best.min(started.elapsed().as_secs_f64() * 1e3);
        assert!(outcome.as_ref().is_ok_and(|it| it.compacted), "{outcome:?}");
    }
    best
}

fn main() {
    let good = HEADINGS.map(|heading| format!("{heading}\nStep by step."));
    println!(
        "{:<28} {:>9} {:>12} {:>12} {:>16}",
        "summariser", "messages", "read, ms", "compact, ms", "us per message"
    );
    for messages in [1_000, 10_000, 50_000] {
        let rows = session(messages);
        let tokens: Vec<u64> = rows
            .iter()
            .map(|row| row.message().map_or(0, |message| estimate(message.json())))
            .collect();
        let whole = by_hand(&rows, &good.join("\n\n"));
        #[expect(clippy::cast_precision_loss, reason = "a few thousand messages")]
        let each = whole * 1e3 / messages as f64;
        println!(
            "{:<28} {messages:>9} {:>12} {whole:>12.2} {each:>16.2}",
            "Host::compact, with store", "-"
        );
        let rows: Vec<&Row> = rows.iter().collect();
        let mut at_once = AtOnce(good.join("\n\n"));
        let summarisers: [(&str, &mut dyn Summariser); 2] = [
            ("answers at once", &mut at_once),
            ("extractive", &mut Extractive),
        ];
        for (name, summariser) in summarisers {
            let [read, compact] = best(&rows, &tokens, summariser);
            #[expect(clippy::cast_precision_loss, reason = "a few thousand messages")]
            let each = (read + compact) * 1e3 / messages as f64;
            println!("{name:<28} {messages:>9} {read:>12.2} {compact:>12.2} {each:>16.2}");
        }
    }
}
