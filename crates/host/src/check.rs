//! The host does not believe engines: an assembled list is checked, repaired and cut before a model sees it.

use crate::history::{Held, Manner, apply, joined, made, sum};
use openclaw_interface::Role;
use openclaw_interface::abi::Pick;
use openclaw_interface::hosting::AssemblyView;
use openclaw_transcript::{Message, groups_by_role, pair};
use std::ops::Range;

/// A list that may go to a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    pub(crate) messages: Vec<Held>,
    /// Text for the system prompt; never blank.
    pub(crate) addition: Option<String>,
    /// Tokens of messages and addition.
    pub(crate) tokens: u64,
    /// What had to be mended, in words.
    pub(crate) mends: Vec<String>,
}

/// What an engine assembled, wherever it lies.
pub(crate) struct Answer<'a> {
    pub(crate) picks: &'a [Pick],
    pub(crate) new_messages: Vec<&'a str>,
    pub(crate) addition: Option<&'a str>,
}

impl<'a> Answer<'a> {
    pub(crate) fn of(view: AssemblyView<'a>) -> Self {
        Self {
            picks: view.picks(),
            new_messages: view.new_messages().collect(),
            addition: view.system_prompt_addition(),
        }
    }
}

/// Checks an assembled list.
///
/// - `input`: what the engine was given.
/// - `budget_tokens`: what messages and addition may take; a list that takes more loses its oldest whole groups.
/// - `manner`: what the model's provider takes. The input is of that manner; so is what comes out.
///
/// # Errors
///
/// The answer breaks the contract: a pick that names nothing, a message of the input taken twice, a new message that is
/// none.
pub(crate) fn check(
    answer: &Answer<'_>,
    input: &[Held],
    budget_tokens: u64,
    manner: &Manner,
) -> Result<Checked, String> {
    let mut messages = picked(answer, input, manner)?;
    let mut mends = Vec::new();
    if !keeps_groups_whole(answer.picks, input) {
        repair(&mut messages, manner, &mut mends)?;
    }
    messages = joined(messages, manner);
    let addition = fitting_addition(answer.addition, budget_tokens, manner, &mut mends);
    let addition_tokens = addition.as_ref().map_or(0, |(_, tokens)| *tokens);
    fit(
        &mut messages,
        input,
        budget_tokens.saturating_sub(addition_tokens),
        manner,
        &mut mends,
    );
    let tokens = sum(&messages).saturating_add(addition_tokens);
    Ok(Checked {
        messages,
        addition: addition.map(|(text, _)| text),
        tokens,
        mends,
    })
}

fn picked(answer: &Answer<'_>, input: &[Held], manner: &Manner) -> Result<Vec<Held>, String> {
    let fresh = answer.new_messages.iter().enumerate();
    let fresh: Vec<Held> = fresh
        .map(|new| new_message(new, manner))
        .collect::<Result<_, _>>()?;
    let mut taken = vec![false; input.len()];
    let mut messages = Vec::with_capacity(answer.picks.len().min(input.len() + fresh.len()));
    for (place, pick) in answer.picks.iter().enumerate() {
        let index = pick.index as usize;
        let (list, name) = if pick.is_input() {
            (input, "messages")
        } else if pick.is_new_message() {
            (fresh.as_slice(), "newMessages")
        } else {
            return Err(format!(
                "picks[{place}] names list {}, there are 0 and 1",
                pick.kind
            ));
        };
        let message = list.get(index).ok_or_else(|| {
            format!(
                "picks[{place}] takes {name}[{index}], there are {} messages",
                list.len()
            )
        })?;
        if pick.is_input() && std::mem::replace(&mut taken[index], true) {
            return Err(format!(
                "picks[{place}] takes messages[{index}] a second time"
            ));
        }
        messages.push(message.clone());
    }
    Ok(messages)
}

fn new_message((index, json): (usize, &&str), manner: &Manner) -> Result<Held, String> {
    let message =
        Message::from_json(json).map_err(|error| format!("newMessages[{index}]: {error}"))?;
    match message.role() {
        Role::Other => Err(format!("newMessages[{index}] has a role that is not known")),
        role => Ok(manner.made(role, *json)),
    }
}

/// Whether the picks are whole groups of the input, in order: then its pairs, which the host made sure of, are intact.
fn keeps_groups_whole(picks: &[Pick], input: &[Held]) -> bool {
    let is_result = |index: usize| {
        input
            .get(index)
            .is_some_and(|message| message.role == Role::ToolResult)
    };
    let mut expected = None;
    for pick in picks {
        let index = pick.index as usize;
        let continues = expected == Some(index);
        if !pick.is_input()
            || expected.is_some_and(|next| index < next || (index > next && is_result(next)))
        {
            return false;
        }
        if is_result(index) && !continues {
            return false;
        }
        expected = Some(index + 1);
    }
    expected.is_none_or(|next| !is_result(next))
}

/// Mends pairs, and brings what the engine made into the provider's form.
fn repair(
    messages: &mut Vec<Held>,
    manner: &Manner,
    mends: &mut Vec<String>,
) -> Result<(), String> {
    let parsed: Vec<Message> = messages
        .iter()
        .map(|message| Message::from_json(&message.json).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    let repaired = pair(&parsed);
    mends.extend(repaired.mends.iter().map(ToString::to_string));
    if !repaired.mends.is_empty() {
        *messages = apply(messages, repaired.pieces);
    }
    *messages = made(std::mem::take(messages), manner);
    Ok(())
}

/// The addition with its tokens, unless it is blank or larger than the whole budget.
fn fitting_addition(
    addition: Option<&str>,
    budget_tokens: u64,
    manner: &Manner,
    mends: &mut Vec<String>,
) -> Option<(String, u64)> {
    let text = addition.filter(|text| !text.trim().is_empty())?;
    let tokens = manner.vocabulary.text(text);
    if tokens > budget_tokens {
        mends.push(format!(
            "the system prompt addition has {tokens} tokens for a budget of {budget_tokens}: it was left out"
        ));
        return None;
    }
    Some((text.to_owned(), tokens))
}

/// Drops the oldest whole groups until the rest fits; a group that does not fit alone goes first. When nothing is left of
/// the engine's list, what fits of the history stands in.
fn fit(
    messages: &mut Vec<Held>,
    input: &[Held],
    budget_tokens: u64,
    manner: &Manner,
    mends: &mut Vec<String>,
) {
    let total = sum(messages);
    if total <= budget_tokens {
        return;
    }
    let before = messages.len();
    *messages = fitting_and_joined(messages, budget_tokens, manner, mends);
    let left_out = before.saturating_sub(messages.len());
    mends.push(format!(
        "{total} tokens for a budget of {budget_tokens}: {left_out} messages were left out"
    ));
    if messages.is_empty() {
        *messages = fitting_and_joined(input, budget_tokens, manner, mends);
        if !messages.is_empty() {
            mends.push(format!(
                "nothing of the answer fits: the newest {} messages that fit stand in",
                messages.len()
            ));
        }
    }
}

/// What fits, in the provider's order. A message that this order asks for takes room too.
fn fitting_and_joined(
    messages: &[Held],
    budget_tokens: u64,
    manner: &Manner,
    mends: &mut Vec<String>,
) -> Vec<Held> {
    let mut room = budget_tokens;
    let mut kept = fitting(messages, room, mends);
    loop {
        let whole = joined(kept.clone(), manner);
        let over = sum(&whole).saturating_sub(budget_tokens);
        if over == 0 {
            return whole;
        }
        room = sum(&kept).min(room).saturating_sub(over);
        kept = fitting(&kept, room, &mut Vec::new());
    }
}

fn fitting(messages: &[Held], budget_tokens: u64, mends: &mut Vec<String>) -> Vec<Held> {
    let groups = groups_by_role(messages.iter().map(|message| message.role));
    let cost = |group: &Range<usize>| sum(&messages[group.clone()]);
    let (small, large): (Vec<_>, Vec<_>) = groups
        .into_iter()
        .partition(|group| cost(group) <= budget_tokens);
    for group in large {
        let tokens = cost(&group);
        mends.push(format!(
            "a message of {tokens} tokens is larger than the budget alone: it was left out"
        ));
    }
    let mut room = budget_tokens;
    let newest = small.into_iter().rev().take_while(|group| {
        let fits = cost(group) <= room;
        room = room.saturating_sub(cost(group));
        fits
    });
    let mut kept: Vec<Range<usize>> = newest.collect();
    kept.reverse();
    kept.into_iter()
        .flat_map(|group| messages[group].to_vec())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_interface::Assembly;

    fn check(assembly: Assembly, input: &[Held], budget_tokens: u64) -> Result<Checked, String> {
        let answer = Answer {
            picks: &assembly.picks,
            new_messages: assembly.new_messages.iter().map(String::as_str).collect(),
            addition: assembly.system_prompt_addition.as_deref(),
        };
        super::check(&answer, input, budget_tokens, &Manner::default())
    }

    fn user(text: &str) -> Held {
        Held::made(
            Role::User,
            format!(r#"{{"role":"user","content":"{text}"}}"#),
        )
    }

    fn call(id: &str) -> Held {
        let json = format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"{id}","name":"ls","arguments":{{}}}}]}}"#
        );
        Held::made(Role::Assistant, json)
    }

    fn result(id: &str) -> Held {
        let json = format!(
            r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"ls","content":[],"isError":false}}"#
        );
        Held::made(Role::ToolResult, json)
    }

    fn history() -> Vec<Held> {
        vec![
            user("one"),
            call("a"),
            result("a"),
            user("two"),
            user("three"),
        ]
    }

    fn keeping(indices: &[u32]) -> Assembly {
        Assembly {
            picks: indices.iter().copied().map(Pick::input).collect(),
            ..Assembly::default()
        }
    }

    #[test]
    fn whole_groups_pass_untouched() {
        for picks in [&[0, 1, 2, 3, 4][..], &[1, 2], &[0, 3], &[], &[4]] {
            let checked = check(keeping(picks), &history(), u64::MAX).unwrap();
            assert_eq!(
                (checked.messages.len(), checked.mends.len()),
                (picks.len(), 0),
                "{picks:?}"
            );
        }
    }

    /// Case P-1.
    #[test]
    fn split_pair_is_mended_and_said() {
        for (picks, left) in [
            (&[0, 2, 3][..], 2),
            (&[0, 1, 3], 4),
            (&[2], 0),
            (&[2, 1], 2),
        ] {
            let checked = check(keeping(picks), &history(), u64::MAX).unwrap();
            assert_eq!(checked.messages.len(), left, "{picks:?}");
            assert!(!checked.mends.is_empty(), "{picks:?}");
        }
    }

    #[test]
    fn picks_that_name_nothing_or_repeat_break_the_contract() {
        let wrong = |picks: Vec<Pick>| {
            check(
                Assembly {
                    picks,
                    ..Assembly::default()
                },
                &history(),
                9,
            )
            .unwrap_err()
        };
        assert!(wrong(vec![Pick::input(5)]).contains("messages[5], there are 5"));
        assert!(wrong(vec![Pick::input(u32::MAX)]).contains("4294967295"));
        assert!(wrong(vec![Pick::new_message(0)]).contains("newMessages[0], there are 0"));
        assert!(wrong(vec![Pick::input(1), Pick::input(1)]).contains("a second time"));
        assert!(wrong(vec![Pick { index: 0, kind: 9 }]).contains("list 9"));
    }

    /// Case Q-7.
    #[test]
    fn new_message_that_is_none_breaks_the_contract() {
        for json in ["", "3", "null", "{", r#"{"role":"robot","content":"x"}"#] {
            let assembly = Assembly {
                picks: vec![Pick::new_message(0)],
                new_messages: vec![json.to_owned()],
                ..Assembly::default()
            };
            assert!(
                check(assembly, &[], 9)
                    .unwrap_err()
                    .starts_with("newMessages[0]"),
                "{json}"
            );
        }
    }

    /// Cases T-3 and T-4.
    #[test]
    fn list_over_budget_loses_its_oldest_whole_groups() {
        let long = "some words ".repeat(20);
        let input = vec![
            user(&long),
            call("a"),
            result("a"),
            user(&long),
            user("three"),
        ];
        let all = sum(&input);
        let mut assembly = keeping(&[0, 1, 2, 3, 4]);
        assembly.system_prompt_addition = Some("a few words that are added".into());
        let checked = check(assembly.clone(), &input, all).unwrap();
        assert!(checked.tokens <= all, "{} of {all}", checked.tokens);
        assert_eq!(checked.messages.len(), 4);
        assert!(checked.addition.is_some());
        assert!(checked.mends[0].contains("left out"));
        let checked = check(assembly, &input, 2).unwrap();
        assert_eq!(checked.addition, None);
        assert!(
            checked.mends[0].contains("addition has"),
            "{:?}",
            checked.mends
        );
        assert_eq!(check(keeping(&[4]), &input, 0).unwrap().messages.len(), 0);
    }

    #[test]
    fn blank_addition_is_none() {
        let assembly = Assembly {
            system_prompt_addition: Some(" \n".into()),
            ..Assembly::default()
        };
        assert_eq!(check(assembly, &[], 9).unwrap().addition, None);
    }
}
