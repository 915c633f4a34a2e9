//! Two layouts that do not match, in a few words.

use abi_stable::abi_stability::abi_checking::{
    AbiInstability, AbiInstabilityError, AbiInstabilityErrors,
};
use abi_stable::abi_stability::stable_abi_trait::StableAbi;
use abi_stable::type_layout::{TLField, TLFieldOrFunction, TLFunction, TypeLayout};
use openclaw_interface::abi::Pick;
use std::fmt;

/// What differs between two layouts, a line for each type or function. abi_stable's own report is tens of kilobytes long.
pub(super) struct Mismatches(Vec<String>);

impl Mismatches {
    /// Of the two directions of a check that both failed, the one that says less: the other one also finds fault with
    /// what may differ.
    pub(super) fn fewest(
        library_as_newer: &AbiInstabilityErrors,
        library_as_older: &AbiInstabilityErrors,
    ) -> Self {
        let newer = Self::collect(library_as_newer, |pair| pair);
        // Here what was expected is the library's.
        let older = Self::collect(library_as_older, |(expected, found)| (found, expected));
        if older.0.len() < newer.0.len() {
            older
        } else {
            newer
        }
    }

    fn collect(errors: &AbiInstabilityErrors, sides: fn(Pair<String>) -> Pair<String>) -> Self {
        let faulty = errors.errors.iter().filter(|error| !error.errs.is_empty());
        let mut lines: Vec<_> = faulty
            .map(|error| {
                let place = Place::of(errors, error);
                let (expected, found) = sides(place.difference(&error.errs));
                format!("{}: expected {expected}, found {found}", place.name())
            })
            .collect();
        lines.dedup();
        Self(lines)
    }
}

impl fmt::Display for Mismatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LIMIT_LINES: usize = 4;
        const LIMIT_CHARS: usize = 160;
        let shown = self
            .0
            .iter()
            .take(LIMIT_LINES)
            .map(|line| super::first_line(line).chars().take(LIMIT_CHARS).collect())
            .collect::<Vec<String>>();
        f.write_str(&shown.join("; "))?;
        match self.0.len() - shown.len() {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

type Pair<T> = (T, T);
type Names = Pair<Vec<&'static str>>;
type Rule = fn(&AbiInstability, &Names) -> Option<Pair<String>>;

/// Where two layouts differ: a type on both sides, the function it was found in, and the contract's name for it.
struct Place {
    types: Pair<&'static TypeLayout>,
    functions: Option<Pair<TLFunction>>,
    field: Option<String>,
}

impl Place {
    fn of(errors: &AbiInstabilityErrors, error: &AbiInstabilityError) -> Self {
        let mut place = Self {
            types: (errors.interface, errors.implementation),
            functions: None,
            field: None,
        };
        for step in &error.stack_trace {
            match (step.expected, step.found) {
                (TLFieldOrFunction::Field(expected), TLFieldOrFunction::Field(found)) => {
                    if is_ours(place.types.0) && place.functions.is_none() {
                        let owner = type_name(place.types.0);
                        place.field = Some(format!("{owner}.{}", expected.name()));
                    }
                    place.types = (expected.layout(), found.layout());
                    place.functions = None;
                }
                (TLFieldOrFunction::Function(expected), TLFieldOrFunction::Function(found)) => {
                    place.functions = Some((expected, found));
                }
                _ => {}
            }
        }
        place
    }

    fn name(&self) -> String {
        let whole = self.functions.is_none() && is_ours(self.types.0);
        let field = self.field.clone().filter(|_| !whole);
        field.unwrap_or_else(|| type_name(self.types.0))
    }

    /// What was expected and what was found there.
    fn difference(&self, errors: &[AbiInstability]) -> Pair<String> {
        if let Some((expected, found)) = &self.functions {
            return (function_text(expected), function_text(found));
        }
        let (expected, found) = self.types;
        let names = (field_names(expected), field_names(found));
        let rules: [Rule; 3] = [prefix_difference, name_difference, size_difference];
        rules
            .iter()
            .find_map(|rule| errors.iter().find_map(|error| rule(error, &names)))
            .unwrap_or_else(|| (type_name(expected), type_name(found)))
    }
}

/// The fields after which two prefixes end.
fn prefix_difference(error: &AbiInstability, names: &Names) -> Option<Pair<String>> {
    let AbiInstability::MismatchedPrefixSize(counts) = error else {
        return None;
    };
    let last = |names: &[&str], count: u8| {
        let name = usize::from(count)
            .checked_sub(1)
            .and_then(|at| names.get(at));
        format!("a prefix up to `{}`", name.copied().unwrap_or_default())
    };
    let pair = (
        last(&names.0, counts.expected),
        last(&names.1, counts.found),
    );
    (pair.0 != pair.1).then_some(pair)
}

fn name_difference(error: &AbiInstability, names: &Names) -> Option<Pair<String>> {
    matches!(
        error,
        AbiInstability::UnexpectedField(_) | AbiInstability::FieldCountMismatch(_)
    )
    .then(|| first_difference(names))
    .flatten()
}

fn size_difference(error: &AbiInstability, _: &Names) -> Option<Pair<String>> {
    match error {
        AbiInstability::Size(sizes) => Some((
            format!("{} bytes", sizes.expected),
            format!("{} bytes", sizes.found),
        )),
        AbiInstability::FieldLifetimeMismatch(_) => {
            Some(("other lifetimes".into(), "its lifetimes".into()))
        }
        _ => None,
    }
}

/// The first field that is not the same on both sides.
fn first_difference((expected, found): &Names) -> Option<Pair<String>> {
    let text = |name: Option<&&str>| name.map_or("no more".into(), |name| format!("`{name}`"));
    (0..expected.len().max(found.len()))
        .map(|at| (expected.get(at), found.get(at)))
        .find(|(expected, found)| expected != found)
        .map(|(expected, found)| (text(expected), text(found)))
}

fn field_names(layout: &TypeLayout) -> Vec<&'static str> {
    let fields = layout.get_fields().map(|fields| fields.to_vec());
    fields
        .unwrap_or_default()
        .iter()
        .map(TLField::name)
        .collect()
}

fn function_text(function: &TLFunction) -> String {
    let parameters: Vec<_> = function
        .param_type_layouts
        .iter()
        .map(|layout| type_name(layout()))
        .collect();
    let answer = function
        .return_type_layout()
        .map_or_else(|| "()".into(), |layout| type_name(layout()));
    format!("fn({}) -> {answer}", parameters.join(", "))
}

fn is_ours(layout: &TypeLayout) -> bool {
    layout.package() == <Pick as StableAbi>::LAYOUT.package()
}

/// `Engine` for the method table that the macro behind `Engine` makes, else the type's name.
fn type_name(layout: &TypeLayout) -> String {
    let path = layout.mod_path().to_string();
    let made = path
        .rsplit("::")
        .next()
        .and_then(|module| module.strip_suffix("_trait"));
    match made {
        Some(of) if layout.name() == "VTable" => of.to_owned(),
        _ => layout.name().to_owned(),
    }
}
