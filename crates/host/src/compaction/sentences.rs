//! Sentences of a conversation, and which of them tell most.

use std::collections::HashMap;

use openclaw_transcript::said;
use unicode_segmentation::UnicodeSegmentation;

use super::conversation::{joined, speaker};
use super::summariser::SummaryRequest;
use super::text::{head, one_line, units};

/// UTF-16 units of a sentence as it is quoted.
pub(super) const SENTENCE_UNITS: usize = 240;
/// Sentence rules look ahead without bound; so they get slices.
const SLICE_UNITS: usize = 2_000;
const MIN_WORDS: usize = 3;
const DECISION_WORDS: &[&str] = &[
    "decided", "agreed", "chose", "use", "done", "fixed", "changed", "because",
];

/// A sentence, who said it, and how much it tells.
pub(super) struct Sentence {
    line: String,
    pub(super) words: Vec<String>,
    score: f64,
}

/// The best sentences that fit, in their order.
pub(super) fn best(
    sentences: &[Sentence],
    room: usize,
    of: impl Fn(&Sentence) -> bool,
) -> Vec<String> {
    let mut order: Vec<usize> = (0..sentences.len())
        .filter(|at| of(&sentences[*at]))
        .collect();
    order.sort_by(|a, b| {
        let by_score = sentences[*b].score.total_cmp(&sentences[*a].score);
        by_score.then(b.cmp(a))
    });
    let mut left = room;
    let mut chosen: Vec<usize> = Vec::new();
    for at in order {
        let cost = units(&sentences[at].line) + 3;
        if cost > left {
            break;
        }
        left -= cost;
        chosen.push(at);
    }
    chosen.sort_unstable();
    let mut lines: Vec<String> = chosen
        .into_iter()
        .map(|at| sentences[at].line.clone())
        .collect();
    lines.dedup();
    lines
}

/// The sentences of a request, scored.
pub(super) fn sentences(request: &SummaryRequest<'_>) -> Vec<Sentence> {
    let mut found = Vec::new();
    for message in request.messages {
        // Output of tools is too much and too little at once.
        let Some(speaker) = speaker(message.role()) else {
            continue;
        };
        found.extend(split(&joined(&said(message))).map(|text| sentence(speaker, text)));
    }
    if request.messages.is_empty() {
        let lines = request
            .conversation
            .lines()
            .filter(|line| !line.starts_with(['#', '[']));
        found.extend(lines.flat_map(split).map(|text| sentence("Earlier", text)));
    }
    score(&mut found);
    found
}

/// Sentences of a text, each in one line and not too long.
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(slices)
        .flat_map(UnicodeSegmentation::unicode_sentences)
        .map(str::trim)
        .filter(|sentence| sentence.unicode_words().nth(MIN_WORDS - 1).is_some())
}

fn slices(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let slice = head(rest, SLICE_UNITS);
        rest = &rest[slice.len()..];
        (!slice.is_empty()).then_some(slice)
    })
}

fn sentence(speaker: &str, text: &str) -> Sentence {
    let words = text.unicode_words().map(str::to_lowercase).collect();
    Sentence {
        line: format!("{speaker}: {}", one_line(text, SENTENCE_UNITS)),
        words,
        score: 0.0,
    }
}

/// Scores by how often a sentence's words stand in the whole, by words of decision, and by age.
#[expect(clippy::cast_precision_loss, reason = "a weight")]
fn score(sentences: &mut [Sentence]) {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for word in sentences.iter().flat_map(|sentence| &sentence.words) {
        // Short words are everywhere.
        if word.chars().count() > 3 || !word.is_ascii() {
            *counts.entry(word.clone()).or_default() += 1;
        }
    }
    let total = sentences.len().max(1) as f64;
    for (at, sentence) in sentences.iter_mut().enumerate() {
        let known: Vec<f64> = sentence
            .words
            .iter()
            .filter_map(|word| counts.get(word))
            .map(|count| f64::from(*count).ln_1p())
            .collect();
        let common = known.iter().sum::<f64>() / (sentence.words.len() as f64).max(1.0);
        let decides = sentence
            .words
            .iter()
            .any(|word| DECISION_WORDS.contains(&word.as_str()));
        let asks = sentence.line.starts_with("User");
        sentence.score = common
            + f64::from(u8::from(decides))
            + 0.5 * f64::from(u8::from(asks))
            + at as f64 / total;
    }
}
