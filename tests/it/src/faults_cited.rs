//! Every known fault of configuration, installing, manifests and command line is cited by a test or said to be open.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Letters of the catalogue, and how many faults each has.
const FAULTS: [(&str, usize); 4] = [("C", 15), ("N", 20), ("M", 6), ("J", 1)];

const OPEN: &str = include_str!("../../../docs/faults-open.md");

fn known() -> BTreeSet<String> {
    FAULTS
        .iter()
        .flat_map(|(letter, count)| (1..=*count).map(move |number| format!("{letter}-{number}")))
        .collect()
}

/// What a comment in front of a test cites.
fn citations(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(str::trim_start);
    lines
        .filter(|line| line.starts_with("/// Case ") || line.starts_with("/// Cases "))
        .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '-'))
        .map(str::to_owned)
}

fn cited_below(directory: &Path, cited: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path: PathBuf = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            cited_below(&path, cited);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            cited.extend(citations(&fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn each_fault_is_cited_or_open_and_not_both() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut cited = BTreeSet::new();
    for folder in ["crates", "plugins", "tests"] {
        cited_below(&root.join(folder), &mut cited);
    }
    let rows = OPEN.lines().filter_map(|line| line.strip_prefix("| "));
    let rows = rows.filter_map(|row| row.split_once(" |"));
    let open: BTreeSet<String> = rows.map(|(fault, _)| fault.to_owned()).collect();
    let known = known();
    let missing: Vec<_> = known
        .iter()
        .filter(|fault| cited.contains(*fault) == open.contains(*fault))
        .collect();
    assert!(
        missing.is_empty(),
        "neither cited nor open, or both: {missing:?}"
    );
}

#[test]
fn citation_is_a_line_of_its_own() {
    let found: Vec<_> =
        citations("    /// Cases N-1 and N-20.\n// Case N-2.\n/// On N-3.").collect();
    assert!(found.contains(&"N-1".to_owned()) && found.contains(&"N-20".to_owned()));
    assert!(
        !found.iter().any(|it| it == "N-2" || it == "N-3"),
        "{found:?}"
    );
}
