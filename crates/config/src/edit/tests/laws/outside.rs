//! An edit touches one container: bytes outside it stay, and so does every value in it that is not edited.

use super::{Edit, Place, Written, apply, document, value};
use proptest::prelude::*;

/// Places that a path can lead to: no item of a list is on the way.
fn reachable(places: &[Place]) -> Vec<&Place> {
    let is_reachable = |(path, _): &&Place| !path.iter().any(|key| key == "[]");
    places.iter().filter(is_reachable).collect()
}

/// What stands directly in `container`, in its order, without `except`.
fn children<'d>(document: &'d Written, container: &Place, except: Option<&Place>) -> Vec<&'d str> {
    let places = [&document.scalars, &document.objects, &document.arrays];
    let mut inside: Vec<&Place> = places
        .into_iter()
        .flatten()
        .filter(|(path, _)| path.len() == container.0.len() + 1)
        .filter(|(_, range)| container.1.start < range.start && range.end < container.1.end)
        .filter(|place| Some(*place) != except)
        .collect();
    inside.sort_by_key(|(_, range)| range.start);
    inside
        .into_iter()
        .map(|(_, range)| &document.text[range.clone()])
        .collect()
}

/// What is left of the edited text between the bytes that stand around `container`.
fn inside<'t>(document: &Written, container: &Place, edited: &'t str) -> Option<&'t str> {
    let (_, range) = container;
    edited
        .strip_prefix(&document.text[..range.start])?
        .strip_suffix(&document.text[range.end..])
}

/// Whether `parts` follow each other in `text`.
fn holds_in_order(text: &str, parts: &[&str]) -> bool {
    let mut rest = text;
    parts.iter().all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// Applies `edit`, which may touch `container` alone, and in it nothing but `except`.
fn check(
    document: &Written,
    edit: Edit,
    container: &Place,
    except: Option<&Place>,
) -> Result<(), TestCaseError> {
    let edited = apply(&document.text, &[edit]);
    prop_assert!(edited.is_ok(), "{:?}", edited);
    let edited = edited.unwrap_or_default();
    let left = inside(document, container, &edited);
    prop_assert!(
        left.is_some(),
        "bytes outside of {container:?} changed: {edited}"
    );
    let kept = children(document, container, except);
    prop_assert!(
        holds_in_order(left.unwrap_or_default(), &kept),
        "{kept:?} in {edited}"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn remove_touches_one_object(document in document(), pick in any::<prop::sample::Index>()) {
        let values = [&document.scalars, &document.objects, &document.arrays];
        let values: Vec<&Place> = values.into_iter().flat_map(|it| reachable(it)).collect();
        let values: Vec<&Place> = values.into_iter().filter(|(path, _)| !path.is_empty()).collect();
        let removed = values[pick.index(values.len())];
        let parent = &removed.0[..removed.0.len() - 1];
        let container = document.objects.iter().find(|(path, range)| {
            path == parent && range.start < removed.1.start && removed.1.end < range.end
        });
        let container = container.expect("what has a key stands in an object");
        let edit = Edit::Remove { path: removed.0.clone() };
        check(&document, edit, container, Some(removed))?;
    }

    #[test]
    fn append_touches_one_list(
        document in document(),
        value in value(),
        pick in any::<prop::sample::Index>(),
    ) {
        let lists = reachable(&document.arrays);
        prop_assume!(!lists.is_empty());
        let list = lists[pick.index(lists.len())];
        let edit = Edit::AppendUnique { path: list.0.clone(), value };
        check(&document, edit, list, None)?;
    }

    #[test]
    fn set_of_something_new_and_nested_touches_one_object(
        document in document(),
        value in value(),
        pick in any::<prop::sample::Index>(),
        depth in 1_usize..4,
    ) {
        let objects = reachable(&document.objects);
        let object = objects[pick.index(objects.len())];
        let new = (0..depth).map(|level| format!("new {level}"));
        let path = object.0.iter().cloned().chain(new).collect();
        check(&document, Edit::Set { path, value }, object, None)?;
    }
}
