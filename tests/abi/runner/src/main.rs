//! Proves the evolution rules of the plugin contract: builds variants of it, and loads each one's engine into hosts of
//! the others.
//!
//! - `abi-runner`: everything. Exit code 1 when one pair of host and engine behaves otherwise than the table says.
//! - `abi-runner only <variant>...`: some variants.
//! - `abi-runner freeze <major.minor>`: keeps the contract of the tree below `tests/abi/frozen`, as released.

mod check;
mod variants;
mod workspace;

use check::{FROZEN, Report, check_crowd, check_pair, check_refusal_of_compiler};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use variants::{PAIRS, Variant};
use workspace::{Built, Places, Result, Sources};

/// Name of the contract as it stands in the tree.
const CURRENT: &str = "current";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        [] => run(&|_| true),
        ["only", names @ ..] => run(&|name| names.contains(&name)),
        ["freeze", version] => freeze(version).map(|()| true),
        _ => Err("usage: abi-runner [only <variant>... | freeze <major.minor>]".into()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn places() -> Result<Places> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let root = root
        .canonicalize()
        .map_err(|error| format!("{}: {error}", root.display()))?;
    Ok(Places {
        work: root.join("target/abi"),
        root,
    })
}

fn freeze(version: &str) -> Result<()> {
    let places = places()?;
    let sources = Sources::current(&places.root)?;
    let [major, minor, _] = sources.version()?;
    if version != format!("{major}.{minor}") {
        return Err(format!("the contract of the tree is {major}.{minor}"));
    }
    let directory = places.root.join("tests/abi/frozen").join(version);
    sources.write(&directory)?;
    println!("contract {version} is kept in {}", directory.display());
    Ok(())
}

/// Builds and checks all that `wanted` names, frozen copies always. `false` when something deviates.
fn run(wanted: &dyn Fn(&str) -> bool) -> Result<bool> {
    let places = places()?;
    let started = Instant::now();
    let current = Sources::current(&places.root)?;
    let mut built =
        BTreeMap::from([(CURRENT.to_owned(), current.clone().build(CURRENT, &places)?)]);
    let mut report = Report::default();

    let frozen = frozen(&places, &mut built)?;
    check_pair(&mut report, "released", (CURRENT, CURRENT), &built, &places)?;
    for name in &frozen {
        for pair in [(CURRENT, name.as_str()), (name, CURRENT), (name, name)] {
            check_pair(&mut report, "released", pair, &built, &places)?;
        }
    }
    for variant in variants::all().filter(|variant| wanted(variant.name)) {
        match build(variant, &current, &places) {
            Ok(made) => built.insert(variant.name.to_owned(), made),
            Err(problem) => {
                check_refusal_of_compiler(&mut report, variant, &problem);
                continue;
            }
        };
        let mut pairs = vec![(CURRENT, variant.name)];
        pairs.extend(frozen.iter().map(|name| (name.as_str(), variant.name)));
        if variant.has_hosts() {
            pairs.push((variant.name, CURRENT));
            pairs.extend(frozen.iter().map(|name| (variant.name, name.as_str())));
            pairs.push((variant.name, variant.name));
        }
        for pair in pairs {
            check_pair(&mut report, variant.row, pair, &built, &places)?;
        }
    }
    for (row, host, engine) in PAIRS {
        if built.contains_key(*host) && built.contains_key(*engine) {
            check_pair(&mut report, row, (host, engine), &built, &places)?;
        }
    }
    check_crowd(&mut report, CURRENT, &built, &places)?;
    println!("{} s", started.elapsed().as_secs());
    Ok(report.is_good())
}

fn build(variant: &Variant, current: &Sources, places: &Places) -> Result<Built> {
    let mut sources = current.clone();
    sources.bump(variant.bump)?;
    for edit in variant.all_edits() {
        sources.edit(edit)?;
    }
    sources.build(variant.name, places)
}

/// Builds the frozen copies and answers their names.
fn frozen(places: &Places, built: &mut BTreeMap<String, Built>) -> Result<Vec<String>> {
    let directory = places.root.join("tests/abi/frozen");
    let mut names = Vec::new();
    for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
        let name = format!("{FROZEN}{}", entry.file_name().to_string_lossy());
        let made = Sources::frozen(&entry.path())?.build(&name, places)?;
        built.insert(name.clone(), made);
        names.push(name);
    }
    names.sort();
    Ok(names)
}
