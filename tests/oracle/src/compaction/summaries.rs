//! What a summary looks like and what it is held to.

use crate::support::{field, list, oracle, text};
use openclaw_host::compaction::{AuditInput, audit, cap_summary, identifiers, structured_fallback};
use serde_json::{Value, json};

#[test]
fn fallbacks_are_those_of_the_original() {
    oracle("structured fallback", |captured, tally| {
        for (index, case) in list(&captured.golden("structured-fallback"))
            .iter()
            .enumerate()
        {
            let previous = field(case, "previousSummary").as_str();
            tally.same(
                index,
                "output",
                text(case, "output"),
                structured_fallback(previous).as_str(),
            );
        }
    });
}

/// The summaries the recording was made from; it keeps only their lengths.
fn capped_inputs() -> [String; 5] {
    [
        "short".to_owned(),
        "a".repeat(200),
        "a".repeat(200),
        "b".repeat(20_000),
        "body".repeat(50) + "\nSUFFIX",
    ]
}

#[test]
fn summaries_are_cut_as_in_the_original() {
    oracle("cap summary", |captured, tally| {
        let golden = captured.golden("cap-summary");
        let cases = list(&golden);
        assert_eq!(cases.len(), capped_inputs().len());
        for (case, summary) in cases.iter().zip(capped_inputs()) {
            let name = format!("{} to {}", field(case, "summaryLength"), field(case, "max"));
            assert_eq!(
                json!(summary.len()),
                *field(case, "summaryLength"),
                "{name}"
            );
            let max =
                usize::try_from(field(case, "max").as_u64().expect("a limit")).expect("a limit");
            let cut = cap_summary(&summary, max, text(case, "suffix"));
            tally.same(
                &name,
                "length",
                field(case, "resultLength"),
                &json!(cut.len()),
            );
            let tail = text(case, "resultTail");
            tally.same(&name, "tail", tail, &cut[cut.len() - tail.len()..]);
        }
    });
}

#[test]
fn identifiers_are_those_of_the_original() {
    oracle("opaque identifiers", |captured, tally| {
        for case in list(&captured.golden("opaque-identifiers")) {
            let input = text(case, "input");
            let actual = json!(identifiers(input));
            tally.same(input, "identifiers", field(case, "identifiers"), &actual);
        }
    });
}

#[test]
fn summaries_are_judged_as_in_the_original() {
    oracle("summary quality audit", |captured, tally| {
        for (index, case) in list(&captured.golden("summary-quality-audit"))
            .iter()
            .enumerate()
        {
            let params = field(case, "params");
            let optional = |name: &str| params.get(name).and_then(Value::as_str);
            let texts = |name: &str| -> Vec<String> {
                let values = params.get(name).map_or(&[][..], list);
                values
                    .iter()
                    .map(|value| value.as_str().expect("a text").to_owned())
                    .collect()
            };
            let protected = optional("identifierPolicy") != Some("off");
            let identifiers = if protected {
                texts("identifiers")
            } else {
                Vec::new()
            };
            let sources = texts("sourceSummaries");
            let flaws = audit(&AuditInput {
                structural: text(params, "structuralSummary"),
                summary: text(params, "summary"),
                sources: &sources.iter().map(String::as_str).collect::<Vec<_>>(),
                identifiers: &identifiers,
                latest_ask: optional("latestAsk"),
                unresolved_ask: optional("latestUnresolvedUserRequest"),
            });
            let reasons: Vec<String> = flaws.iter().map(ToString::to_string).collect();
            let actual = json!({ "ok": reasons.is_empty(), "reasons": reasons });
            tally.same(index, "result", field(case, "result"), &actual);
        }
    });
}
