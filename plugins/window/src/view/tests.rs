use super::*;

fn marks(budget: u64) -> Marks {
    Marks {
        budget,
        high: budget / 10 * 9,
        low: budget / 10 * 6,
        note: 0,
    }
}

/// `u10 a5 r2`: a user message of 10 tokens, an assistant message of 5, a result of 2. `s` is a summary.
fn messages(text: &str) -> Vec<(Role, u32)> {
    text.split_whitespace()
        .map(|word| {
            let role = match &word[..1] {
                "u" => Role::User,
                "a" => Role::Assistant,
                "r" => Role::ToolResult,
                "s" => Role::CompactionSummary,
                other => panic!("no role {other}"),
            };
            (role, word[1..].parse().unwrap())
        })
        .collect()
}

fn shown(view: &View) -> Vec<usize> {
    view.pinned.clone().chain(view.window.clone()).collect()
}

#[track_caller]
fn check(text: &str, marks: &Marks, expected: &[usize]) {
    let messages = messages(text);
    let history = History::new(&messages, true);
    let view = history.view(history.advanced(Start::default(), marks));
    assert_eq!(shown(&view), expected, "{text}");
    assert_eq!(view.hidden, messages.len() - expected.len());
    let tokens: u64 = expected
        .iter()
        .map(|index| u64::from(messages[*index].1))
        .sum();
    assert_eq!(view.tokens, tokens);
}

#[test]
fn nothing_is_left_out_up_to_the_high_mark() {
    check("", &marks(100), &[]);
    check("u0", &marks(0), &[0]);
    check("u10 a20 u30 a30", &marks(100), &[0, 1, 2, 3]);
}

#[test]
fn a_window_that_moves_goes_to_the_low_mark() {
    // Ten for the pin leave fifty.
    check("u10 a20 u20 a20 u20 a20", &marks(100), &[0, 4, 5]);
    // The pin takes more than a quarter.
    check("u26 a20 u20 a20 u20 a20", &marks(100), &[4, 5]);
    check("u26 a20 u20 a10 u20 a10", &marks(100), &[2, 3, 4, 5]);
}

#[test]
fn a_window_starts_at_a_user_message_of_its_older_half() {
    check("u10 a50 a10 u20 a10", &marks(100), &[0, 3, 4]);
    check("u10 a50 a10 a20 u10 a10", &marks(100), &[0, 2, 3, 4, 5]);
    check("u10 a50 a10 a20 a20", &marks(100), &[0, 2, 3, 4]);
}

/// Cases P-1, P-7.
#[test]
fn a_call_and_its_results_stay_together() {
    check("u10 a10 u5 a10 r20 r20 r20 u5 a5", &marks(100), &[0, 7, 8]);
    check(
        "u10 a50 u5 a10 r10 r10 u5 a5",
        &marks(100),
        &[0, 2, 3, 4, 5, 6, 7],
    );
    check(
        "u10 a50 u11 a10 r10 r10 u5 a5",
        &marks(100),
        &[0, 3, 4, 5, 6, 7],
    );
}

/// Case T-3.
#[test]
fn thirty_two_large_messages_do_not_exceed_the_budget() {
    check(&["a12000"; 32].join(" "), &marks(98_000), &[28, 29, 30, 31]);
    check(&["u12000"; 32].join(" "), &marks(98_000), &[0, 29, 30, 31]);
}

#[test]
fn a_newest_group_that_is_too_large_stays_alone() {
    check("u10 a10 u10 a200", &marks(100), &[3]);
    check("u10 a10 u10 a50 r50 r50", &marks(100), &[3, 4, 5]);
    check("u200", &marks(100), &[0]);
    // It fits the high mark without the pin only.
    check("u10 a10 u10 a85", &marks(100), &[3]);
    check("u10 a10 u10 a75", &marks(100), &[0, 3]);
}

#[test]
fn a_summary_of_older_messages_is_pinned_before_the_first_user_message() {
    check("s10 u10 a50 u20 a20", &marks(100), &[0, 3, 4]);
    check("a10 u10 a50 u20 a20", &marks(100), &[1, 3, 4]);
}

#[test]
fn the_note_takes_part_of_the_budget() {
    let noted = Marks {
        note: 11,
        ..marks(100)
    };
    // Without messages left out there is no note.
    check("u10 a20 u30 a30", &noted, &[0, 1, 2, 3]);
    check("u10 a40 u20 a10 u10 a10", &marks(100), &[0, 2, 3, 4, 5]);
    check("u10 a40 u20 a10 u10 a10", &noted, &[0, 3, 4, 5]);
    check("u10 u50 a31", &noted, &[0, 2]);
}

#[test]
fn pinning_can_be_switched_off() {
    let history = History::new(&messages("u10 a50 u20 a20"), false);
    let view = history.view(history.advanced(Start::default(), &marks(100)));
    assert_eq!(shown(&view), [2, 3]);
}

#[test]
fn a_history_that_shrank_to_the_low_mark_is_shown_whole() {
    let history = History::new(&messages("s10 u10 a20"), true);
    assert_eq!(
        history.advanced(
            Start {
                group: 2,
                pinned: true
            },
            &marks(100)
        ),
        Start::default()
    );
}

#[test]
fn shrinking_moves_a_window_that_would_fit() {
    let history = History::new(&messages("u10 a10 u10 a10 u10 a10"), true);
    for (limit, expected) in [(60, 0), (50, 2), (30, 4), (29, 5), (0, 5)] {
        assert_eq!(
            history.shrunk(Start::default(), &marks(100), limit).group,
            expected,
            "{limit}"
        );
    }
}

#[test]
fn sums_of_any_size_do_not_overflow() {
    let history = History::new(&[(Role::User, u32::MAX); 9], true);
    for budget in [0, 1, u64::MAX] {
        let marks = Marks {
            note: u64::MAX,
            ..marks(budget)
        };
        let view = history.view(history.replayed(&marks));
        assert!(!view.window.is_empty());
    }
}

/// Small and deterministic; the same numbers everywhere.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % limit
    }

    fn turn(&mut self, largest: u64) -> Vec<(Role, u32)> {
        let mut tokens = || self.below(largest) as u32;
        let mut messages = vec![(Role::User, tokens())];
        for _ in 0..tokens() % 4 {
            messages.push((Role::Assistant, tokens()));
            for _ in 0..tokens() % 4 {
                messages.push((Role::ToolResult, tokens()));
            }
        }
        messages.push((Role::Assistant, tokens()));
        messages
    }
}

#[test]
fn every_window_is_whole_fits_and_moves_forward_only() {
    for seed in 0..300 {
        let mut numbers = Numbers(seed);
        let largest = 1 + numbers.below(400);
        let pins = seed % 2 == 0;
        let mut messages = Vec::new();
        let mut start = Start::default();
        for _ in 0..40 {
            messages.extend(numbers.turn(largest));
            let budget = 2_000 + numbers.below(60);
            let marks = Marks {
                note: 20,
                ..marks(budget)
            };
            let history = History::new(&messages, pins);
            let next = history.advanced(start, &marks);
            let view = history.view(next);

            assert!(next.group >= start.group, "seed {seed}");
            assert!(
                history.group_at(view.window.start).is_some() && view.window.end == messages.len()
            );
            assert!(view.pinned.end <= view.window.start && view.pinned.len() <= 1);
            assert!(!view.window.is_empty());
            let note = if view.hidden > 0 { marks.note } else { 0 };
            assert!(
                view.tokens + note <= marks.high || view.groups == 1 && view.pinned.is_empty(),
                "seed {seed}"
            );
            if next != start && view.groups > 1 {
                assert!(view.tokens + note <= marks.low, "seed {seed}");
            }
            start = next;
        }
    }
}

#[test]
fn a_lost_memory_comes_to_the_same_window() {
    let marks = Marks {
        note: 20,
        ..marks(2_000)
    };
    for seed in 0..300 {
        let mut numbers = Numbers(seed);
        let largest = 1 + numbers.below(1_000);
        let mut messages = Vec::new();
        let mut start = Start::default();
        for turn in 0..40 {
            messages.extend(numbers.turn(largest));
            let history = History::new(&messages, true);
            start = history.advanced(start, &marks);
            assert_eq!(history.replayed(&marks), start, "seed {seed}, turn {turn}");
        }
    }
}

#[test]
fn a_window_moves_rarely() {
    let mut messages = Vec::new();
    let mut numbers = Numbers(7);
    let (mut start, mut moves) = (Start::default(), 0);
    for _ in 0..1_000 {
        messages.extend(messages_of_100_tokens());
        let history = History::new(&messages, true);
        let next = history.advanced(start, &marks(9_900 + numbers.below(200)));
        moves += usize::from(next != start);
        start = next;
    }
    // 100,000 tokens, and a move makes room for about 3,000.
    assert!((30..=36).contains(&moves), "{moves} moves");
}

fn messages_of_100_tokens() -> Vec<(Role, u32)> {
    messages("u20 a20 r40 a20")
}
