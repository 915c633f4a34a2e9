//! At most so many user turns: an old session is sent from a later start on.

use openclaw_interface::Role;

use super::draft::Draft;

/// How many user turns are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TurnLimit(u32);

impl TurnLimit {
    /// The limit a configuration names, rounded down; `None` when it limits nothing.
    #[must_use]
    pub fn new(turns: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float cast saturates, and NaN becomes 0"
        )]
        let turns = turns.floor() as u32;
        (turns > 0).then_some(Self(turns))
    }

    /// How many of `count` turns are kept.
    ///
    /// The start moves in steps of about half the limit, so that a provider's cache of the prefix stays good between
    /// them: a limit of 5 keeps 8 of 8 turns, then 5 of 9, 6 of 10, up to 8 of 12.
    #[must_use]
    pub fn kept(self, count: usize) -> usize {
        let target = self.0 as usize;
        let most = target + target.div_ceil(2);
        if count <= most {
            return count;
        }
        let step = most - target + 1;
        target + (count - target) % step
    }

    /// What stays of messages: so many at their front, and those from the second number on. `None` when all do.
    ///
    /// - `roles`: who speaks, and whether the message was carried over a reset.
    #[must_use]
    pub fn window(self, roles: &[(Role, bool)]) -> Option<(usize, usize)> {
        let said = |role: Role| matches!(role, Role::User | Role::Assistant);
        let lead = roles
            .iter()
            .take_while(|(role, prelude)| *prelude || !said(*role))
            .count();
        let turns: Vec<usize> = (lead..roles.len())
            .filter(|index| roles[*index] == (Role::User, false))
            .collect();
        let kept = self.kept(turns.len());
        (kept < turns.len()).then(|| (lead, turns[turns.len() - kept]))
    }
}

/// Cuts the history so that it starts at a user turn and holds as many as the limit keeps. What stands before the first
/// turn (summaries, what was carried over a reset) always stays.
///
/// Source: legacy engine, "Limit".
pub(super) fn cut(draft: &mut Draft, limit: Option<TurnLimit>) {
    let Some(limit) = limit else { return };
    let roles = draft.messages().iter().zip(draft.origins());
    let roles: Vec<_> = roles
        .map(|(message, origin)| (message.role(), origin.prelude))
        .collect();
    if let Some((lead, start)) = limit.window(&roles) {
        draft.retain(|index, _| index < lead || index >= start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::tests::say;
    use crate::repair::Piece;
    use proptest::prelude::*;

    #[test]
    fn a_limit_is_a_whole_number_of_turns() {
        let turns = |limit| TurnLimit::new(limit).map(|limit| limit.0);
        for nothing in [0.0, -1.0, 0.9, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(turns(nothing), None, "{nothing}");
        }
        assert_eq!(turns(2.7), Some(2));
        assert_eq!(turns(f64::INFINITY), Some(u32::MAX));
    }

    fn kept(roles: &[&str], prelude: usize, limit: f64) -> Vec<usize> {
        let messages: Vec<_> = roles.iter().map(|role| say(role, "x")).collect();
        let mut draft = Draft::of(&messages, prelude);
        cut(&mut draft, TurnLimit::new(limit));
        let pieces = draft.pieces().into_iter();
        pieces
            .map(|piece| match piece {
                Piece::Keep(index) => index,
                Piece::New { json, .. } => panic!("a cut makes no message, but made {json}"),
            })
            .collect()
    }

    #[test]
    fn what_stands_before_the_first_turn_stays() {
        let roles = [
            "branchSummary",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "user",
        ];
        assert_eq!(kept(&roles, 0, 1.0), [0, 5, 6]);
        assert_eq!(kept(&roles, 0, 2.0), [0, 5, 6]);
        assert_eq!(kept(&roles, 3, 1.0), [0, 1, 2, 6]);
        assert_eq!(kept(&roles, 0, 4.0), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(kept(&["assistant", "user", "user", "user"], 0, 1.0), [3]);
        assert_eq!(kept(&[], 0, 1.0), [0_usize; 0]);
    }

    proptest! {
        #[test]
        fn the_window_holds_the_limit_and_slides_in_steps(limit in 1_u32..40, count in 0_usize..400) {
            let limit = TurnLimit(limit);
            let (target, kept, next) = (limit.0 as usize, limit.kept(count), limit.kept(count + 1));
            prop_assert!(kept >= count.min(target) && kept <= target + target.div_ceil(2));
            // The start stays, or moves by a whole step.
            let (start, next_start) = (count - kept, count + 1 - next);
            prop_assert!(next_start == start || next_start - start == target.div_ceil(2) + 1);
        }
    }
}
