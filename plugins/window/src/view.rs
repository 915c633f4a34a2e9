//! Where the window starts: a pure function of sizes, marks and the start before. Does no I/O and reads no message.

use openclaw_interface::Role;
use openclaw_transcript::groups_by_role;
use std::ops::Range;

/// A pinned message may take this part of the budget, so that the rest never starves.
const PIN_PART: u64 = 4;

/// How much a window may take. All in tokens; `low <= high <= budget`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// What the host allows.
    pub(crate) budget: u64,
    /// The window moves when it takes more than this.
    pub(crate) high: u64,
    /// What it takes at most after it has moved.
    pub(crate) low: u64,
    /// What the sentence about left-out messages takes at most.
    pub(crate) note: u64,
}

/// Where a window starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    /// Index of the first group shown.
    pub(crate) group: usize,
    /// Whether the pinned group, which lies before it, is shown too.
    pub(crate) pinned: bool,
}

/// What a start shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// Messages in front of the window; may be empty.
    pub(crate) pinned: Range<usize>,
    /// Messages in the window.
    pub(crate) window: Range<usize>,
    /// Messages left out.
    pub(crate) hidden: usize,
    /// Groups in the window.
    pub(crate) groups: usize,
    /// Tokens of all messages shown.
    pub(crate) tokens: u64,
}

/// Sizes of a history, indexed for constant-time questions about any stretch of it.
#[derive(Debug)]
pub(crate) struct History {
    groups: Vec<Range<usize>>,
    /// Tokens before each group, and at the end all of them.
    before: Vec<u64>,
    /// The first group at or after each one that a user message opens; the number of groups when there is none.
    next_user: Vec<usize>,
    /// The first group that a user message or a summary of older ones opens, when it is wanted in front.
    pin: Option<usize>,
}

impl History {
    /// - `messages`: role and tokens, oldest first; each result directly behind its call's group.
    /// - `pins`: whether the first user message stays in front.
    pub(crate) fn new(messages: &[(Role, u32)], pins: bool) -> Self {
        let groups = groups_by_role(messages.iter().map(|(role, _)| *role));
        let mut before = Vec::with_capacity(groups.len() + 1);
        let mut total = 0u64;
        before.push(total);
        for group in &groups {
            for (_, tokens) in &messages[group.clone()] {
                total = total.saturating_add(u64::from(*tokens));
            }
            before.push(total);
        }
        let opener = |group: &Range<usize>| messages[group.start].0;
        let mut next_user = vec![groups.len(); groups.len()];
        let mut next = groups.len();
        for (index, group) in groups.iter().enumerate().rev() {
            if opener(group) == Role::User {
                next = index;
            }
            next_user[index] = next;
        }
        // A summary stands for everything before it, the first user message included.
        let pin = groups.iter().position(|group| {
            pins && matches!(opener(group), Role::User | Role::CompactionSummary)
        });
        Self {
            groups,
            before,
            next_user,
            pin,
        }
    }

    /// The group that starts at `message`.
    pub(crate) fn group_at(&self, message: usize) -> Option<usize> {
        self.groups
            .binary_search_by_key(&message, |group| group.start)
            .ok()
    }

    /// The message each group starts with, oldest first.
    pub(crate) fn group_starts(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().map(|group| group.start)
    }

    /// What a start shows.
    pub(crate) fn view(&self, start: Start) -> View {
        let end = self.groups.last().map_or(0, |group| group.end);
        let first = self
            .groups
            .get(start.group)
            .map_or(end, |group| group.start);
        let pinned = self
            .pinned(start)
            .map_or(0..0, |pin| self.groups[pin].clone());
        View {
            hidden: first - pinned.len(),
            window: first..end,
            groups: self.groups.len().saturating_sub(start.group),
            tokens: self.shown(start, self.groups.len()),
            pinned,
        }
    }

    /// The start that follows from the history alone: what an engine that had been asked before each user message,
    /// always with these marks, would have come to.
    pub(crate) fn replayed(&self, marks: &Marks) -> Start {
        let mut start = Start::default();
        for end in 1..=self.groups.len() {
            let is_turn_end = self.next_user.get(end).is_none_or(|user| *user == end);
            if is_turn_end && self.cost(start, end, marks) > marks.high {
                start = self.moved_to_end(start, end, marks, marks.low);
            }
        }
        start
    }

    /// The start kept as long as the window fits the high mark, else moved forward to the low mark.
    pub(crate) fn kept(&self, start: Start, marks: &Marks) -> Start {
        let end = self.groups.len();
        if self.cost(start, end, marks) <= marks.high {
            start
        } else {
            self.moved_to_end(start, end, marks, marks.low)
        }
    }

    /// As [`Self::kept`], but goes back to the beginning when all of the history fits the low mark: the budget has
    /// grown, or the host has folded old messages into a summary.
    pub(crate) fn advanced(&self, start: Start, marks: &Marks) -> Start {
        let all = Start::default();
        if self.cost(all, self.groups.len(), marks) <= marks.low {
            all
        } else {
            self.kept(start, marks)
        }
    }

    /// The start moved forward until at most `limit` tokens are shown, however much would fit.
    pub(crate) fn shrunk(&self, start: Start, marks: &Marks, limit: u64) -> Start {
        let limit = limit.min(marks.low);
        let end = self.groups.len();
        if self.cost(start, end, marks) <= limit {
            start
        } else {
            self.moved_to_end(start, end, marks, limit)
        }
    }

    /// The first start not before `start` that shows at most `limit` tokens of the groups before `end`, or the newest
    /// group alone. A user message in the older half of that window is the better start.
    fn moved_to_end(&self, start: Start, end: usize, marks: &Marks, limit: u64) -> Start {
        let mut group = start.group;
        while group + 1 < end && self.cost(self.at(group, marks), end, marks) > limit {
            group += 1;
        }
        let user = self.next_user.get(group).copied().unwrap_or(end);
        if user < end && self.tokens(user..end) >= limit / 2 {
            let at_user = self.at(user, marks);
            if self.cost(at_user, end, marks) <= limit {
                return at_user;
            }
        }
        let found = self.at(group, marks);
        let pinned = found.pinned && self.cost(found, end, marks) <= marks.high;
        Start { group, pinned }
    }

    /// `group` as a start, with the pin in front where there is one that is not too large.
    fn at(&self, group: usize, marks: &Marks) -> Start {
        let pinned = self
            .pin
            .is_some_and(|pin| pin < group && self.tokens(pin..pin + 1) <= marks.budget / PIN_PART);
        Start { group, pinned }
    }

    fn pinned(&self, start: Start) -> Option<usize> {
        self.pin.filter(|pin| start.pinned && *pin < start.group)
    }

    fn tokens(&self, groups: Range<usize>) -> u64 {
        self.before[groups.end].saturating_sub(self.before[groups.start])
    }

    /// Tokens of the messages a start shows of the groups before `end`.
    fn shown(&self, start: Start, end: usize) -> u64 {
        let pinned = self
            .pinned(start)
            .map_or(0, |pin| self.tokens(pin..pin + 1));
        self.tokens(start.group.min(end)..end)
            .saturating_add(pinned)
    }

    /// What a start takes of the budget at `end`: messages and, when some are left out, the note.
    fn cost(&self, start: Start, end: usize, marks: &Marks) -> u64 {
        let kept = self.pinned(start).map_or(0, |pin| self.groups[pin].len());
        let first = self.groups.get(start.group).map_or(0, |group| group.start);
        let note = if first > kept { marks.note } else { 0 };
        self.shown(start, end).saturating_add(note)
    }
}

#[cfg(test)]
mod tests;
