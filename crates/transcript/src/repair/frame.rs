//! Frames: from one assistant message with calls to the next, and which result answers which call.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::ops::Range;

use openclaw_interface::Role;

use super::{Lead, Mend, MendKind, Piece, Repaired, edit};
use crate::message::{Call, Message};

/// A call and the message that answers it.
#[derive(Clone, Copy)]
struct Slot<'a> {
    call: &'a Call,
    caller: usize,
    answer: Option<usize>,
    adopted: bool,
}

/// The calls of one id that can take a result, in order.
#[derive(Default)]
struct Claims {
    open: VecDeque<usize>,
    /// Answered, but only by a made-up result.
    made_up: VecDeque<usize>,
}

impl Claims {
    fn count(&self) -> usize {
        self.open.len() + self.made_up.len()
    }
}

/// What becomes of a message.
#[derive(Clone, PartialEq, Eq)]
enum Fate {
    Kept,
    Changed(String),
    /// Answers a call: stands where the call wants it.
    Answer,
    Dropped,
}

pub(super) struct Frames<'a> {
    messages: &'a [Message],
    lead: &'a Lead,
    settled: usize,
    fates: Vec<Fate>,
    slots: Vec<Slot<'a>>,
    /// First slot of each assistant message with calls; its slots end where the next one's begin.
    frames: Vec<(usize, usize)>,
    mends: Vec<Mend>,
}

impl<'a> Frames<'a> {
    pub(super) fn of(messages: &'a [Message], lead: &'a Lead) -> Self {
        let mut frames = Self {
            messages,
            lead,
            settled: 0,
            fates: vec![Fate::Kept; messages.len()],
            slots: Vec::new(),
            frames: Vec::new(),
            mends: Vec::new(),
        };
        frames.open();
        let (named, unnamed) = frames.claim_in_frame();
        frames.settled = frames.settled(&named);
        let left = frames.claim_elsewhere(named);
        frames.adopt(unnamed);
        frames.drop_unclaimed(left);
        frames
    }

    /// Drops broken calls and lays out a slot for every other call.
    fn open(&mut self) {
        for (index, message) in self.messages.iter().enumerate() {
            if !message.broken_calls().is_empty() {
                self.fates[index] =
                    edit::without_broken_calls(message).map_or(Fate::Dropped, Fate::Changed);
                for (id, broken) in message.broken_calls() {
                    self.mend(index, id.as_deref(), MendKind::CallDropped(*broken));
                }
            }
            if message.calls().is_empty() {
                continue;
            }
            if message.failed() {
                self.fates[index] = Fate::Dropped;
                self.mend(index, None, MendKind::FailedTurnDropped);
            }
            self.frames.push((index, self.slots.len()));
            self.slots.extend(message.calls().iter().map(|call| Slot {
                call,
                caller: index,
                answer: None,
                adopted: false,
            }));
        }
    }

    /// Gives each result to a call of its own frame. Returns the results left, with and without an id.
    fn claim_in_frame(&mut self) -> (Vec<usize>, Vec<(usize, usize)>) {
        let (mut named, mut unnamed) = (Vec::new(), Vec::new());
        let ends: Vec<usize> = self
            .frames
            .iter()
            .skip(1)
            .map(|frame| frame.0)
            .chain([self.messages.len()])
            .collect();
        let before_first = self
            .frames
            .first()
            .map_or(self.messages.len(), |frame| frame.0);
        for index in 0..before_first {
            let message = &self.messages[index];
            if message.role() != Role::ToolResult {
                continue;
            }
            if message.result_of().is_some() && !self.lead.call_ids.is_empty() {
                named.push(index);
            } else {
                self.drop_result(index, MendKind::OrphanDropped);
            }
        }
        for (frame, end) in ends.into_iter().enumerate().take(self.frames.len()) {
            let mut claims = self.claims(self.slots_of(frame));
            for index in self.frames[frame].0..end {
                let message = &self.messages[index];
                if message.role() != Role::ToolResult {
                    continue;
                }
                let Some(id) = message.result_of() else {
                    unnamed.push((frame, index));
                    continue;
                };
                let claimed = claims
                    .get_mut(id)
                    .is_some_and(|claims| self.claim(claims, index));
                if !claimed {
                    named.push(index);
                }
            }
        }
        (named, unnamed)
    }

    /// How many messages nothing later can change, given the results that found no call in their frame: a call ahead
    /// could claim one of these, and a result ahead a call that is open or whose answer was made up.
    fn settled(&self, waiting: &[usize]) -> usize {
        let is_real = |answer: usize| !self.messages[answer].synthetic();
        let open = self
            .slots
            .iter()
            .filter(|slot| !slot.answer.is_some_and(is_real));
        let first_open = open.map(|slot| slot.caller).next();
        let firsts = waiting.first().copied().into_iter().chain(first_open);
        let settled = firsts.min().unwrap_or(self.messages.len());
        // A call and its answer stay together.
        let split = |slot: &&Slot<'_>| {
            slot.caller < settled && slot.answer.is_some_and(|answer| answer >= settled)
        };
        self.slots
            .iter()
            .find(split)
            .map_or(settled, |slot| slot.caller)
    }

    /// The calls among these slots that can take a result, by id.
    fn claims(&self, slots: Range<usize>) -> HashMap<&'a str, Claims> {
        let mut claims: HashMap<&str, Claims> = HashMap::new();
        for index in slots {
            let Slot { call, answer, .. } = self.slots[index];
            match answer {
                None => claims.entry(&call.id).or_default().open.push_back(index),
                Some(answer) if self.messages[answer].synthetic() => {
                    claims.entry(&call.id).or_default().made_up.push_back(index);
                }
                Some(_) => {}
            }
        }
        claims
    }

    /// Gives a result to the first open call, a real one otherwise to the first whose answer was made up.
    fn claim(&mut self, claims: &mut Claims, index: usize) -> bool {
        let synthetic = self.messages[index].synthetic();
        let slot = match claims.open.pop_front() {
            None if !synthetic => claims.made_up.pop_front(),
            open => open,
        };
        let Some(slot) = slot else { return false };
        if synthetic {
            claims.made_up.push_back(slot);
        }
        if let Some(replaced) = self.slots[slot].answer.replace(index) {
            self.drop_result(replaced, MendKind::SyntheticReplaced);
        }
        self.fates[index] = Fate::Answer;
        true
    }

    /// Moves results to calls of other frames, where exactly one call can take them.
    fn claim_elsewhere(&mut self, mut results: Vec<usize>) -> Vec<usize> {
        let mut claims = self.claims(0..self.slots.len());
        results.retain(|&index| {
            let claims = self.messages[index]
                .result_of()
                .and_then(|id| claims.get_mut(id));
            !claims.is_some_and(|claims| claims.count() == 1 && self.claim(claims, index))
        });
        results
    }

    /// Gives results without an id to the only call of their frame.
    fn adopt(&mut self, results: Vec<(usize, usize)>) {
        for (frame, index) in results {
            let slots = self.slots_of(frame);
            let only = slots.start;
            let claims = (slots.len() == 1).then(|| self.claims(slots).into_values().next());
            if claims
                .flatten()
                .is_some_and(|mut claims| self.claim(&mut claims, index))
            {
                self.slots[only].adopted = true;
                let Slot { call, caller, .. } = self.slots[only];
                if self.fates[caller] != Fate::Dropped {
                    self.mend(index, Some(&call.id), MendKind::ResultAdopted);
                }
            } else {
                self.drop_result(index, MendKind::OrphanDropped);
            }
        }
    }

    fn drop_unclaimed(&mut self, results: Vec<usize>) {
        let mut open: HashMap<&str, bool> = HashMap::new();
        for slot in &self.slots {
            *open.entry(&slot.call.id).or_default() |= slot.answer.is_none();
        }
        for index in results {
            let id = self.messages[index].result_of().unwrap_or_default();
            let kind = match open.get(id) {
                Some(true) => MendKind::AmbiguousDropped,
                Some(false) => MendKind::DuplicateDropped,
                None if self.lead.call_ids.contains(id) => MendKind::DuplicateDropped,
                None => MendKind::OrphanDropped,
            };
            self.drop_result(index, kind);
        }
    }

    pub(super) fn repaired(mut self, missing_text: &str) -> Repaired {
        let mut pieces = Vec::with_capacity(self.messages.len());
        let mut frame = 0;
        let mut settled_pieces = 0;
        for (index, message) in self.messages.iter().enumerate() {
            if index == self.settled {
                settled_pieces = pieces.len();
            }
            match mem::replace(&mut self.fates[index], Fate::Dropped) {
                Fate::Kept => pieces.push(Piece::Keep(index)),
                Fate::Changed(json) => pieces.push(Piece::New {
                    json,
                    role: message.role(),
                }),
                Fate::Answer => {}
                Fate::Dropped => {
                    frame += usize::from(!message.calls().is_empty());
                    continue;
                }
            }
            if !message.calls().is_empty() {
                self.answers(frame, missing_text, &mut pieces);
                frame += 1;
            }
        }
        if self.settled == self.messages.len() {
            settled_pieces = pieces.len();
        }
        self.mends.sort_by_key(|mend| mend.message);
        Repaired {
            pieces,
            mends: self.mends,
            settled: self.settled,
            settled_pieces,
        }
    }

    /// Puts the results of a frame behind its call message.
    fn answers(&mut self, frame: usize, missing_text: &str, pieces: &mut Vec<Piece>) {
        let mut expected = self.frames[frame].0 + 1;
        for slot in self.slots_of(frame) {
            let Slot {
                call,
                caller,
                answer,
                adopted,
            } = self.slots[slot];
            let role = Role::ToolResult;
            let Some(answer) = answer else {
                let json = edit::missing(&self.messages[caller], call, missing_text);
                pieces.push(Piece::New { json, role });
                self.mend(caller, Some(&call.id), MendKind::ResultInserted);
                continue;
            };
            // Dropped messages in between do not make it a move.
            while expected < answer && self.fates[expected] == Fate::Dropped {
                expected += 1;
            }
            if answer != expected {
                self.mend(answer, Some(&call.id), MendKind::ResultMoved);
            }
            expected = expected.max(answer + 1);
            pieces.push(if adopted {
                Piece::New {
                    json: edit::adopted(&self.messages[answer], call),
                    role,
                }
            } else {
                Piece::Keep(answer)
            });
        }
    }

    fn slots_of(&self, frame: usize) -> Range<usize> {
        let end = self
            .frames
            .get(frame + 1)
            .map_or(self.slots.len(), |next| next.1);
        self.frames[frame].1..end
    }

    fn drop_result(&mut self, index: usize, kind: MendKind) {
        self.fates[index] = Fate::Dropped;
        self.mend(index, self.messages[index].result_of(), kind);
    }

    fn mend(&mut self, message: usize, call_id: Option<&str>, kind: MendKind) {
        self.mends.push(Mend {
            message,
            call_id: call_id.map(str::to_owned),
            kind,
        });
    }
}
