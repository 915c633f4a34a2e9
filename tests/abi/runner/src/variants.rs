//! The evolution table as data: each row is a contract made by a few edits, and what hosts and engines must make of it.

#[macro_use]
mod edits;
mod allowed;
mod never;

pub(crate) use edits::Edit;

/// How a variant's version differs.
#[derive(Clone, Copy)]
pub(crate) enum Bump {
    None,
    Minors(u16),
    Major,
    /// The crate says another major, its constants and so the note do not.
    MajorOfCrateOnly,
}

/// Whether a variant and the contract of the tree load each other, in both directions.
#[derive(Clone, Copy)]
pub(crate) enum Loads {
    Yes,
    /// Refused with this code, and a text that has these words besides both versions.
    No(&'static str, &'static [&'static str]),
    /// The compiler refuses it, with a text that has these words.
    NotBuilt(&'static [&'static str]),
}

/// Something a variant is able to, and what hosts print of it. Empty text: nothing beyond the common facts.
#[derive(PartialEq)]
pub(crate) struct Ability {
    pub(crate) fact: &'static str,
    pub(crate) both: &'static str,
    pub(crate) host_only: &'static str,
    pub(crate) engine_only: &'static str,
}

/// A contract that differs from the tree's.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    /// `allowed`, `never` or `major`: what the table says.
    pub(crate) row: &'static str,
    pub(crate) bump: Bump,
    /// The variant it goes on from.
    pub(crate) after: Option<&'static str>,
    pub(crate) edits: &'static [Edit],
    pub(crate) abilities: &'static [Ability],
    pub(crate) loads: Loads,
}

impl Variant {
    fn earlier(&self) -> Option<&'static Self> {
        all().find(|other| Some(other.name) == self.after)
    }

    /// Its edits, behind those of the variant it goes on from.
    pub(crate) fn all_edits(&self) -> Vec<&'static Edit> {
        let mut edits = self.earlier().map(Self::all_edits).unwrap_or_default();
        edits.extend(self.edits);
        edits
    }

    /// Its abilities, with those of the variant it goes on from.
    pub(crate) fn all_abilities(&self) -> Vec<&'static Ability> {
        let mut abilities = self.earlier().map(Self::all_abilities).unwrap_or_default();
        abilities.extend(self.abilities);
        abilities
    }

    /// Whether hosts of it can be: one whose crate and constants differ fails the contract's own tests.
    pub(crate) fn has_hosts(&self) -> bool {
        !matches!(self.bump, Bump::MajorOfCrateOnly)
    }

    /// Whether it is a later minor of `other`.
    pub(crate) fn grows_from(&self, other: &Self) -> bool {
        self.after == Some(other.name)
    }
}

/// Pairs of variants beyond variant and tree: rule, host, engine.
pub(crate) const PAIRS: &[(&str, &str, &str)] = &[
    ("allowed", "append-method", "append-two-methods"),
    ("allowed", "append-two-methods", "append-method"),
    ("never", "append-method", "append-other-signature"),
    ("never", "append-other-signature", "append-method"),
    ("never", "append-method", "insert-into-appended"),
    ("never", "insert-into-appended", "append-method"),
];

/// All of them, what they go on from first.
pub(crate) fn all() -> impl Iterator<Item = &'static Variant> {
    allowed::VARIANTS.iter().chain(never::VARIANTS)
}

/// A change that minors may make, and its opposite side must not notice.
const fn allowed(
    name: &'static str,
    edits: &'static [Edit],
    abilities: &'static [Ability],
) -> Variant {
    Variant {
        name,
        row: "allowed",
        bump: Bump::Minors(1),
        after: None,
        edits,
        abilities,
        loads: Loads::Yes,
    }
}

/// A change that no minor may make, made by one.
const fn never(
    name: &'static str,
    edits: &'static [Edit],
    words: &'static [&'static str],
) -> Variant {
    Variant {
        row: "never",
        loads: Loads::No("load/layout", words),
        ..allowed(name, edits, &[])
    }
}
