//! Counts are exact, and any text is counted in linear time without a panic.

use super::cache::counted_bytes;
use super::runs::{LONGEST_RUN_BYTES, RUN_SLICE_BYTES, slices};
use super::*;

const BOTH: [Vocabulary; 2] = [Vocabulary::O200k, Vocabulary::Cl100k];

fn tokens(text: &str) -> u64 {
    TokenCounter.text(text)
}

#[test]
fn ordinary_text_is_counted_exactly() {
    assert_eq!(tokens(""), 0);
    assert_eq!(tokens("hello world"), 2);
}

#[test]
fn counts_are_those_of_the_reference() {
    let odd = [
        "",
        " ",
        "\r\n\r\n  x",
        "don't  DON'T we'LL 've",
        "é e\u{301} 漢字かな カナ 한국어 русский العربية",
        "👩‍👩‍👧 🇩🇪 \u{1F1E9}\u{200D}\u{FE0F}",
        "<|endoftext|><|endofprompt|>",
        "fn f(x: &str) -> Vec<u8> { x.into() } // 0x1F 1_000",
        "\u{0}\u{7}\u{1b}[31m\u{85}\u{a0}\u{3000}\u{feff}",
        "12345678901234567890 3.14159 ١٢٣ Ⅻ",
        "{\"a\":[1,2,{\"b\":null}]}\n\t\t}",
        "camelCaseAndSNAKE_CASEǅungla ﬁ",
    ];
    let same = |text: &str| {
        for vocabulary in BOTH {
            let counts = (vocabulary.count(text), vocabulary.reference(text));
            assert_eq!(counts.0, counts.1, "{vocabulary:?} {text:?}");
        }
    };
    odd.iter().for_each(|text| same(text));
    // All of them behind each other, cut at every place.
    let all = odd.concat();
    for (at, _) in all.char_indices() {
        let (head, tail) = all.split_at(at);
        same(head);
        same(tail);
    }
    for unit in ["_", " ", "ab", "A", "^", "\n", "漢", "👩‍👩‍👧"] {
        same(&unit.repeat(RUN_SLICE_BYTES / unit.len()));
    }
}

proptest::proptest! {
    #[test]
    fn any_text_counts_as_in_the_reference(text in "(\\PC|[a-z' \n0-9]){0,60}") {
        for vocabulary in BOTH {
            proptest::prop_assert_eq!(vocabulary.count(&text), vocabulary.reference(&text));
        }
    }
}

#[test]
fn a_model_is_counted_for_in_its_own_vocabulary() {
    use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};
    for id in [
        "gpt-4",
        "gpt-4-turbo",
        "gpt-4-0613",
        "gpt-3.5-turbo",
        "gpt-3.5-turbo-0125",
        "gpt-4o",
        "gpt-4o-mini",
        "gpt-4.1",
        "gpt-5",
        "o3",
        "chatgpt-4o-latest",
    ] {
        let is_older = get_tokenizer(id) == Some(Tokenizer::Cl100kBase);
        let expected = if is_older {
            Vocabulary::Cl100k
        } else {
            Vocabulary::O200k
        };
        assert_eq!(Vocabulary::of_model(id), expected, "{id}");
        assert_eq!(
            Vocabulary::of_model(&format!("maker/{id}")),
            expected,
            "{id}"
        );
    }
    assert_eq!(Vocabulary::of_model("claude-sonnet-4-5"), Vocabulary::O200k);
    assert_eq!(Vocabulary::of_model(""), Vocabulary::O200k);
}

#[test]
fn a_text_is_counted_once() {
    let text = "a text that no other test has: quince".repeat(9);
    let message = format!(r#"{{"role":"user","content":"{text}"}}"#);
    let before = counted_bytes();
    let tokens = TokenCounter.text(&text);
    assert_eq!(counted_bytes() - before, text.len());
    assert_eq!(TokenCounter.text(&text), tokens);
    assert_eq!(TokenCounter.message(&message), tokens);
    assert_eq!(counted_bytes() - before, text.len(), "looked up");
    let _ = Vocabulary::Cl100k.text(&text);
    assert_eq!(
        counted_bytes() - before,
        2 * text.len(),
        "another vocabulary"
    );
}

/// Case T-7: what goes to the splitter stays short, whatever the text is.
#[test]
fn odd_texts_are_counted_in_parts_of_bounded_runs() {
    let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAUA+/8".repeat(30_000);
    for text in [
        " ".repeat(1_000_000),
        "a".repeat(1_000_000),
        "\n".repeat(1_000_000),
        "漢".repeat(300_000),
        "<|endoftext|>".repeat(60_000),
        base64,
    ] {
        let shown: String = text.chars().take(8).collect();
        let mut longest = 0;
        for slice in slices(&text) {
            let run = slice.chars().map(|c| c.is_alphanumeric()).fold(
                (0, 0, None),
                |(most, now, last), is| {
                    let now = if last == Some(is) { now + 1 } else { 1 };
                    (most.max(now), now, Some(is))
                },
            );
            longest = longest.max(run.0);
        }
        assert!(longest <= LONGEST_RUN_BYTES, "{shown:?}: {longest}");
        let counted = tokens(&text);
        assert!(
            counted > 0 && counted <= text.len() as u64,
            "{shown:?}: {counted}"
        );
    }
}

/// Case T-8.
#[test]
fn control_tokens_in_a_text_are_text() {
    assert!(tokens("see <|endoftext|> here") > 5);
}

/// Cases T-6 and T-7.
#[test]
fn long_runs_are_counted_in_slices_that_lose_nothing() {
    for unit in ["_", " ", "ab", "A", "^", "👩‍👩‍👧"] {
        let text = unit.repeat(300_000 / unit.len());
        assert_eq!(
            slices(&text).map(str::len).sum::<usize>(),
            text.len(),
            "{unit}"
        );
        assert!(tokens(&text) > 0, "{unit}");
    }
    let spaces = " ".repeat(300_000);
    assert!(slices(&spaces).all(|slice| slice.len() <= LONGEST_RUN_BYTES));
    let prose = "some words and then more ".repeat(20_000);
    assert_eq!(slices(&prose).count(), 1);
}

/// Case T-1.
#[test]
fn cjk_text_is_not_undercounted() {
    assert!(tokens(&"漢".repeat(160)) >= 100);
}
