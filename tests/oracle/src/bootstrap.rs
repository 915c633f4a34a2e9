//! What a prompt shows of the workspace files, to the char.

use crate::support::{field, list, oracle, text};
use openclaw_agent::{
    BootstrapFile, BootstrapLimits, FileText, Injected, Injection, analyze_budget, inject,
};
use serde_json::Value;

/// The one case where a file has no path; ours always has one. See docs/differences.md.
const WITHOUT_PATH: &str = "no path skipped";

#[test]
fn files_are_cut_as_the_original_cuts_them() {
    oracle("bootstrap files", |captured, tally| {
        for case in list(&captured.golden("bootstrap-files")) {
            let name = text(case, "name");
            if name == WITHOUT_PATH {
                continue;
            }
            let files: Vec<_> = list(field(case, "files")).iter().map(file).collect();
            let option = |key| field(case, "options")[key].as_u64().map(size);
            let limits = BootstrapLimits::new(option("maxChars"), option("totalMaxChars"));
            let injection = inject(&files, limits);
            let expected = list(field(case, "output"));
            tally.same(name, "files", expected.len(), injection.files.len());
            for (expected, shown) in expected.iter().zip(&injection.files) {
                tally.same(name, "path", text(expected, "path"), &shown.path);
                if let Some(whole) = expected["content"].as_str() {
                    tally.same(name, "text", whole, &shown.text);
                    continue;
                }
                let units = shown.text.encode_utf16().count();
                tally.same(
                    name,
                    "length",
                    field(expected, "length").as_u64(),
                    Some(units as u64),
                );
                for part in ["head", "marker", "tail"] {
                    let part_text = text(expected, part);
                    let agrees = match part {
                        "head" => shown.text.starts_with(part_text),
                        "tail" => shown.text.ends_with(part_text),
                        _ => shown.text.contains(part_text),
                    };
                    tally.same(
                        name,
                        part,
                        Ok(part_text),
                        if agrees {
                            Ok(part_text)
                        } else {
                            Err(&shown.text)
                        },
                    );
                }
            }
            let warnings: Vec<_> = list(field(case, "warnings"))
                .iter()
                .filter_map(Value::as_str)
                .collect();
            tally.same(
                name,
                "warnings",
                warnings,
                injection.notes.iter().map(String::as_str).collect(),
            );
        }
    });
}

#[test]
fn files_stand_against_their_limits_as_in_the_original() {
    oracle("bootstrap budget", |captured, tally| {
        let case = captured.golden("bootstrap-budget-analysis");
        let totals = field(&case, "totals");
        let limits = BootstrapLimits::new(
            totals["bootstrapMaxChars"].as_u64().map(size),
            totals["bootstrapTotalMaxChars"].as_u64().map(size),
        );
        let (mut files, mut injection) = (Vec::new(), Injection::default());
        let chars =
            |file: &Value, key| "x".repeat(size(field(file, key).as_u64().expect("a number")));
        for expected in list(field(&case, "files")) {
            let (name, path) = (
                text(expected, "name").to_owned(),
                text(expected, "path").to_owned(),
            );
            injection.files.push(Injected {
                name: name.clone(),
                path: path.clone(),
                text: chars(expected, "injectedChars"),
            });
            let text = FileText::Read(chars(expected, "rawChars"));
            files.push(BootstrapFile { name, path, text });
        }
        let analysis = analyze_budget(&files, &injection, limits);
        for (expected, file) in list(field(&case, "files")).iter().zip(&analysis.files) {
            let name = text(expected, "name");
            let number = |key| field(expected, key).as_u64().map(size);
            tally.same(name, "raw", number("rawChars"), Some(file.raw_chars));
            tally.same(
                name,
                "injected",
                number("injectedChars"),
                Some(file.injected_chars),
            );
            tally.same(
                name,
                "limit",
                number("effectiveFileLimit"),
                Some(file.limit),
            );
            let flag = |key| field(expected, key).as_bool();
            tally.same(name, "near limit", flag("nearLimit"), Some(file.near_limit));
            tally.same(
                name,
                "truncated",
                flag("truncated"),
                Some(file.is_truncated()),
            );
            tally.same(name, "missing", flag("missing"), Some(file.missing));
            let causes: Vec<_> = list(field(expected, "causes"))
                .iter()
                .filter_map(Value::as_str)
                .collect();
            tally.same(
                name,
                "causes",
                causes,
                file.causes.iter().map(|cause| cause.as_str()).collect(),
            );
        }
        let names = |key| {
            list(field(&case, key))
                .iter()
                .map(|file| text(file, "name"))
                .collect::<Vec<_>>()
        };
        let truncated = analysis
            .truncated()
            .map(|file| file.name.as_str())
            .collect();
        tally.same("all", "truncated", names("truncatedFiles"), truncated);
        let near = analysis
            .files
            .iter()
            .filter(|file| file.near_limit)
            .map(|file| file.name.as_str())
            .collect();
        tally.same("all", "near limit", names("nearLimitFiles"), near);
        let near = field(&case, "totalNearLimit").as_bool();
        tally.same(
            "all",
            "total near limit",
            near,
            Some(analysis.total_near_limit),
        );
        let total = |key| totals[key].as_u64().map(size);
        tally.same("all", "raw", total("rawChars"), Some(analysis.raw_chars));
        tally.same(
            "all",
            "injected",
            total("injectedChars"),
            Some(analysis.injected_chars),
        );
    });
}

fn file(case: &Value) -> BootstrapFile {
    let said = || match case.get("gen").and_then(Value::as_str) {
        Some(rule) => generated(rule),
        None => text(case, "content").to_owned(),
    };
    BootstrapFile {
        name: text(case, "name").to_owned(),
        path: text(case, "path").to_owned(),
        text: if field(case, "missing") == true {
            FileText::Missing
        } else {
            FileText::Read(said())
        },
    }
}

/// The text a rule such as `"Line {i} of it." joined by newline, i=0..99` describes.
fn generated(rule: &str) -> String {
    let (line, range) = rule
        .strip_prefix('"')
        .and_then(|rule| rule.split_once("\" joined by newline, i=0.."))
        .unwrap_or_else(|| panic!("unknown rule: {rule}"));
    let last: usize = range.parse().expect("a number ends the rule");
    let lines: Vec<_> = (0..=last)
        .map(|i| line.replace("{i}", &i.to_string()))
        .collect();
    lines.join("\n")
}

fn size(number: u64) -> usize {
    usize::try_from(number).expect("captured sizes are small")
}
