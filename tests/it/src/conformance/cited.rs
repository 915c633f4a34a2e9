//! Every case has a test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Cases of transcript semantics, "Conformance cases".
const CASES: std::ops::RangeInclusive<u32> = 1..=43;

/// The numbers in the sentences that cite cases: `Conformance case 3.`, `Conformance cases 15 to 17;`.
fn cited(text: &str) -> BTreeSet<u32> {
    let mut numbers = BTreeSet::new();
    let joined = text.replace("\n/// ", " ");
    for rest in joined.split("Conformance case").skip(1) {
        let end = rest.find(['.', ';', ':', '\n']).unwrap_or(rest.len());
        let words = rest[..end].trim_start_matches('s').split_whitespace();
        let mut before = None;
        let mut is_range = false;
        for word in words {
            if word == "to" {
                is_range = true;
                continue;
            }
            let Ok(number) = word.trim_matches(',').parse::<u32>() else {
                if word == "and" {
                    continue;
                }
                break;
            };
            match before.filter(|_| is_range) {
                Some(first) => numbers.extend(first..=number),
                None => drop(numbers.insert(number)),
            }
            (before, is_range) = (Some(number), false);
        }
    }
    numbers
}

fn of_folder(folder: &Path) -> BTreeSet<u32> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries
        .flat_map(|entry| {
            let path = entry.path();
            let is_source = path.extension().is_some_and(|it| it == "rs");
            if path.is_dir() {
                of_folder(&path)
            } else if is_source && !path.ends_with("cited.rs") {
                cited(&fs::read_to_string(&path).unwrap())
            } else {
                BTreeSet::new()
            }
        })
        .collect()
}

#[test]
fn every_case_is_cited_by_a_test() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = of_folder(&workspace.join("tests"));
    found.extend(of_folder(&workspace.join("crates/host/src")));
    let missing: Vec<u32> = CASES.filter(|number| !found.contains(number)).collect();
    assert_eq!(missing, [0; 0], "no test cites these cases");
    let unknown: Vec<u32> = found.into_iter().filter(|it| !CASES.contains(it)).collect();
    assert_eq!(unknown, [0; 0], "there are no such cases");
}

#[test]
fn numbers_are_read_as_sentences_name_them() {
    let text = "/// Conformance case 3.\n/// Conformance cases 15 to 17; and 99\n/// Conformance cases 28, 29 and 42: 5";
    let expected: BTreeSet<u32> = [3, 15, 16, 17, 28, 29, 42].into();
    assert_eq!(cited(text), expected);
}
