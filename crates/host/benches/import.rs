//! What an import costs, against copying the same file in the same run: `cargo bench -p openclaw-host --bench import`,
//! with transcripts of its own, or with the files named behind `--`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use openclaw_host::{Ambient, FileLines, ImportTarget, Store};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const HEADER: &str = r#"{"type":"session","version":4,"id":"bench","timestamp":"","cwd":"/"}"#;

fn main() -> io::Result<()> {
    let directory = tempfile::tempdir()?;
    let files: Vec<PathBuf> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .map(PathBuf::from)
        .collect();
    let files = if files.is_empty() {
        vec![
            prose(&directory.path().join("10 MB of prose"), 10_000_000)?,
            prose(&directory.path().join("100 MB of prose"), 100_000_000)?,
            tiny(&directory.path().join("1,000,000 tiny rows"), 1_000_000)?,
        ]
    } else {
        files
    };
    for file in files {
        measure(&file, directory.path())?;
    }
    Ok(())
}

fn measure(file: &Path, directory: &Path) -> io::Result<()> {
    let bytes = fs::metadata(file)?.len();
    let copied = timed(|| {
        let copy = directory.join("copy");
        fs::copy(file, &copy)?;
        File::open(&copy)?.sync_all()?;
        fs::remove_file(copy)
    })?;
    let store_path = directory.join("store/sessions.sqlite");
    let mut entries = 0;
    let imported = timed(|| {
        let ids = AtomicU64::new(0);
        let ambient = Ambient::new(
            || 0,
            move || format!("made-{}", ids.fetch_add(1, Ordering::Relaxed)),
        );
        let mut store = Store::open(&store_path, ambient).map_err(io::Error::other)?;
        let mut lines = FileLines::new(BufReader::with_capacity(1 << 16, File::open(file)?))?;
        let target = ImportTarget {
            name: "bench",
            agent_id: "main",
            key: None,
            wait: Duration::ZERO,
        };
        let report = store.import(&mut lines, &target, &mut |_| {});
        entries = report.map_err(io::Error::other)?.entries;
        Ok(())
    })?;
    let stored = fs::metadata(&store_path)?.len();
    fs::remove_dir_all(directory.join("store"))?;
    let rate = |time: Duration| megabytes(bytes) / time.as_secs_f64();
    println!(
        "{}: {:.1} MB, {entries} entries: imported in {:.2} s, {:.1} MB/s, {:.0} entries/s; copied with {:.0} MB/s; \
         store {:.1} MB{}",
        file.file_name().unwrap_or_default().display(),
        megabytes(bytes),
        imported.as_secs_f64(),
        rate(imported),
        entries as f64 / imported.as_secs_f64(),
        rate(copied),
        megabytes(stored),
        peak_memory().unwrap_or_default(),
    );
    Ok(())
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn timed(work: impl FnOnce() -> io::Result<()>) -> io::Result<Duration> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

/// The most memory this process had so far, where the system tells.
fn peak_memory() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(format!(
        "; at most {:.0} MB of memory so far",
        kib * 1.024e-3
    ))
}

/// A transcript of messages of about 4,000 bytes each.
fn prose(path: &Path, size: usize) -> io::Result<PathBuf> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "{HEADER}")?;
    let (mut written, mut state, mut row) = (0, 1u64, 0usize);
    while written < size {
        let mut text = String::new();
        while text.len() < 4_000 {
            // Xorshift: the same words in every run.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let word = state % 6_000;
            text.push_str(SYLLABLES[word as usize % SYLLABLES.len()]);
            text.push_str(SYLLABLES[(word / 30) as usize % SYLLABLES.len()]);
            text.push_str(if state % 11 == 0 { ".\\n" } else { " " });
        }
        written += write_row(&mut file, row, &text)?;
        row += 1;
    }
    file.into_inner()?.sync_all()?;
    Ok(path.to_owned())
}

const SYLLABLES: [&str; 30] = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su",
    "ta", "ve", "wi", "xo", "yu", "za", "bre", "cli", "dro", "fla", "gre", "pli", "stra", "tri",
    "vor",
];

fn tiny(path: &Path, rows: usize) -> io::Result<PathBuf> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "{HEADER}")?;
    for row in 0..rows {
        write_row(&mut file, row, "tiny")?;
    }
    file.into_inner()?.sync_all()?;
    Ok(path.to_owned())
}

fn write_row(file: &mut impl Write, row: usize, text: &str) -> io::Result<usize> {
    let parent = match row.checked_sub(1) {
        Some(parent) => format!("\"e{parent}\""),
        None => "null".to_owned(),
    };
    let line = format!(
        "{{\"type\":\"message\",\"id\":\"e{row}\",\"parentId\":{parent},\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    );
    file.write_all(line.as_bytes())?;
    Ok(line.len())
}
