//! Ids of tool calls as a provider takes them. The transcript keeps the original ones.

mod form;

use std::collections::{HashMap, HashSet, VecDeque};

use openclaw_interface::Role;

use super::draft::{Draft, Verdict};
use super::policy::CallIds;
use crate::blocks::{self, Fate};
use crate::json;
use crate::message::{Message, RESULT_ID_FIELDS, is_call, read_call};

/// Renames calls and their results together. Expects repaired pairs: a call's result stands right behind its message.
///
/// An id depends on the ones before it only, so that a longer history gets the same ids at its start.
pub(super) fn rename(draft: &mut Draft, scheme: CallIds) {
    if scheme == CallIds::Any {
        return;
    }
    let lead = draft.lead();
    let mut names = Naming {
        lead: &lead.names,
        own: Names::new(scheme),
    };
    // New ids of the calls whose results are due, by old id.
    let mut due: HashMap<String, VecDeque<String>> = HashMap::new();
    draft.each(|_, message| match message.role() {
        Role::Assistant => {
            due.clear();
            rename_calls(message, &mut names, &mut due)
        }
        Role::ToolResult => {
            let new = message
                .result_of()
                .and_then(|id| due.get_mut(id))
                .and_then(VecDeque::pop_front);
            new.map_or(Verdict::Keep, |new| rename_result(message, &new))
        }
        Role::User
        | Role::Custom
        | Role::CompactionSummary
        | Role::BranchSummary
        | Role::BashExecution
        | Role::Other => Verdict::Keep,
    });
}

fn rename_calls(
    message: &Message,
    names: &mut Naming<'_>,
    due: &mut HashMap<String, VecDeque<String>>,
) -> Verdict {
    if message.calls().is_empty() {
        return Verdict::Keep;
    }
    let object = message.object();
    let edited = blocks::edited(&object, |block| {
        if !is_call(block) {
            return Fate::Keep;
        }
        let Ok(call) = read_call(block) else {
            return Fate::Keep;
        };
        let new = names.next(&call.id);
        let same = new == call.id;
        let fate = if same {
            Fate::Keep
        } else {
            Fate::Become(block.with("id", &json::quote(&new)))
        };
        due.entry(call.id).or_default().push_back(new);
        fate
    });
    edited.map_or(Verdict::Keep, |left| {
        Verdict::Change(blocks::with_blocks(&object, &left))
    })
}

fn rename_result(message: &Message, new: &str) -> Verdict {
    if message.result_of() == Some(new) {
        return Verdict::Keep;
    }
    let mut object = message.object();
    let new = json::quote(new);
    for field in RESULT_ID_FIELDS {
        if object.get(field).is_some() {
            object.set(field, &new);
        }
    }
    Verdict::Change(object.write())
}

/// The ids given so far.
#[derive(Clone, Debug)]
pub(super) struct Names {
    scheme: CallIds,
    taken: HashSet<String>,
    /// How often an original was used, and what its first use became.
    used: HashMap<String, (u32, String)>,
}

impl Default for Names {
    fn default() -> Self {
        Self::new(CallIds::Any)
    }
}

impl Names {
    pub(super) fn new(scheme: CallIds) -> Self {
        Self {
            scheme,
            taken: HashSet::new(),
            used: HashMap::new(),
        }
    }

    /// Gives out the id for the next use of an original.
    pub(super) fn next(&mut self, original: &str) {
        if matches!(self.scheme, CallIds::Any | CallIds::Responses) {
            return;
        }
        let mut naming = Naming {
            lead: self,
            own: Self::new(self.scheme),
        };
        naming.next(original);
        let Self { taken, used, .. } = naming.own;
        self.taken.extend(taken);
        self.used.extend(used);
    }

    pub(super) fn size_bytes(&self) -> usize {
        let taken: usize = self.taken.iter().map(String::len).sum();
        let used = self.used.iter();
        taken
            + used
                .map(|(id, (_, new))| id.len() + new.len())
                .sum::<usize>()
    }
}

/// The ids given so far, and before that.
struct Naming<'a> {
    lead: &'a Names,
    own: Names,
}

impl Naming<'_> {
    /// The id for the next use of an original.
    fn next(&mut self, original: &str) -> String {
        if self.own.scheme == CallIds::Responses {
            return form::responses(original);
        }
        let used = [&self.own, self.lead];
        let used = used.iter().find_map(|names| names.used.get(original));
        let (count, base, id) = match used.cloned() {
            None => {
                let id = self.first(original);
                (1, id.clone(), id)
            }
            Some((count, base)) => {
                let mut next = count + 1;
                let id = loop {
                    let id = form::counted(self.own.scheme, &base, next);
                    if !self.is_taken(&id) {
                        break id;
                    }
                    next += 1;
                };
                (next, base, id)
            }
        };
        self.own.used.insert(original.to_owned(), (count, base));
        self.own.taken.insert(id.clone());
        id
    }

    fn first(&self, original: &str) -> String {
        let scheme = self.own.scheme;
        let plain = form::plain(scheme, original);
        if !self.is_taken(&plain) {
            return plain;
        }
        let mut id = form::hashed(scheme, &plain, original);
        let mut count = 2;
        while self.is_taken(&id) {
            id = form::counted(scheme, &plain, count);
            count += 1;
        }
        id
    }

    fn is_taken(&self, id: &str) -> bool {
        self.own.taken.contains(id) || self.lead.taken.contains(id)
    }
}

#[cfg(test)]
mod tests;
