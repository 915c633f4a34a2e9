//! Small trees, and what growing them one row at a time does.

use proptest::prelude::*;

use super::*;

/// A content row. `parent`: an id, `-` for null, nothing for absent.
fn row(id: &str, parent: &str) -> Link {
    let parent = match parent {
        "" => Parent::Absent,
        "-" => Parent::Null,
        id => Parent::Id(id.to_owned()),
    };
    Link {
        id: (!id.is_empty()).then(|| id.to_owned()),
        parent,
        side: false,
        node: Node::Content,
    }
}

fn aside(id: &str, parent: &str) -> Link {
    Link {
        side: true,
        ..row(id, parent)
    }
}

fn reset(id: &str, parent: &str) -> Link {
    Link {
        node: Node::Reset,
        ..row(id, parent)
    }
}

fn opaque(id: &str, parent: &str) -> Link {
    Link {
        node: Node::Opaque,
        ..row(id, parent)
    }
}

fn leaf(id: &str, target: &str) -> Link {
    let target = (target != "-").then(|| target.to_owned());
    Link {
        node: Node::Leaf {
            target,
            append_parent: None,
        },
        ..row(id, "")
    }
}

fn ids(links: &[Link], path: &ActivePath) -> String {
    path.rows
        .iter()
        .map(|row| links[*row].id.as_deref().unwrap_or("?"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[track_caller]
fn check(links: &[Link], expected: &str, faults: &[(usize, PathFaultKind)]) {
    let path = active_path(links);
    assert_eq!(ids(links, &path), expected);
    let found: Vec<_> = path
        .faults
        .iter()
        .map(|fault| (fault.row, fault.kind.clone()))
        .collect();
    assert_eq!(found, faults);
}

#[test]
fn the_last_row_decides_the_branch() {
    check(&[], "", &[]);
    check(&[row("a", "-"), row("b", "a"), row("c", "b")], "a b c", &[]);
    check(&[row("a", "-"), row("b", "a"), row("c", "a")], "a c", &[]);
    check(&[row("a", ""), row("b", ""), row("c", "")], "a b c", &[]);
}

/// Case F-3.
#[test]
fn abandoned_branches_are_not_on_the_path() {
    let mut links = vec![row("root", "-")];
    for branch in 0..3 {
        links.push(row(&format!("{branch}.0"), "root"));
        links.extend(
            (1..100).map(|n| row(&format!("{branch}.{n}"), &format!("{branch}.{}", n - 1))),
        );
    }
    let path = active_path(&links);
    assert_eq!(
        path.rows,
        [0].into_iter().chain(201..301).collect::<Vec<_>>()
    );
}

/// Case F-4.
#[test]
fn a_null_parent_in_the_middle_does_not_lose_what_came_before() {
    let links = [row("a", "-"), row("b", "a"), row("c", "-"), row("d", "c")];
    check(&links, "a b c d", &[(2, PathFaultKind::BrokenChain)]);
    check(&[row("a", "-"), leaf("L", "-"), row("c", "-")], "c", &[]);
}

#[test]
fn an_unknown_parent_is_the_row_before() {
    let unknown = |parent: &str| PathFaultKind::UnknownParent {
        parent: parent.into(),
    };
    check(
        &[row("a", "-"), row("b", "call_7"), row("c", "b")],
        "a b c",
        &[(1, unknown("call_7"))],
    );
    check(
        &[row("a", "session"), row("b", "a")],
        "a b",
        &[(0, unknown("session"))],
    );
}

#[test]
fn a_parent_further_down_makes_no_cycle() {
    let links = [row("a", "b"), row("b", "a")];
    check(
        &links,
        "a b",
        &[(0, PathFaultKind::UnknownParent { parent: "b".into() })],
    );
    check(
        &[row("a", "a")],
        "a",
        &[(0, PathFaultKind::UnknownParent { parent: "a".into() })],
    );
}

#[test]
fn a_leaf_row_moves_the_end_and_stands_for_its_target() {
    let start = [row("a", "-"), row("b", "a"), row("c", "b")];
    let with = |more: &[Link]| [&start[..], more].concat();
    check(&with(&[leaf("L", "b")]), "a b", &[]);
    check(&with(&[leaf("L", "b"), row("d", "L")]), "a b d", &[]);
    check(&with(&[leaf("L", "b"), row("d", "")]), "a b d", &[]);
    check(&with(&[leaf("L", "-")]), "", &[]);
    check(&with(&[leaf("L", "-"), row("d", "L")]), "d", &[]);
    check(&with(&[leaf("L", "b"), leaf("M", "L")]), "a b", &[]);
    let unknown = PathFaultKind::UnknownLeafTarget { target: "z".into() };
    check(
        &with(&[leaf("L", "z"), row("d", "L")]),
        "a b c d",
        &[(3, unknown)],
    );
}

#[test]
fn a_leaf_row_says_where_the_next_row_goes() {
    let mut links = vec![row("a", "-"), row("b", "a"), leaf("L", "a")];
    assert_eq!(active_path(&links).append_parent.as_deref(), Some("a"));
    links[2].node = Node::Leaf {
        target: Some("a".into()),
        append_parent: Some("b".into()),
    };
    assert_eq!(active_path(&links).append_parent.as_deref(), Some("b"));
    links[2].node = Node::Leaf {
        target: Some("a".into()),
        append_parent: Some("gone".into()),
    };
    assert_eq!(active_path(&links).append_parent.as_deref(), Some("a"));
}

#[test]
fn what_is_written_aside_waits_for_a_leaf_row() {
    let links = [
        row("a", "-"),
        row("b", "a"),
        aside("x", "a"),
        aside("y", "x"),
    ];
    check(&links, "a b", &[]);
    check(
        &[&links[..], &[leaf("L", "y"), row("c", "y")]].concat(),
        "a x y c",
        &[],
    );
    check(
        &[&links[..], &[leaf("L", "y"), row("c", "x")]].concat(),
        "a x c",
        &[],
    );
    let aside_parent = PathFaultKind::SideParent { parent: "y".into() };
    check(
        &[&links[..], &[row("c", "y")]].concat(),
        "a b c",
        &[(4, aside_parent)],
    );
}

#[test]
fn a_rewrite_from_the_root_replaces_the_whole_path() {
    let links = [
        row("a", "-"),
        row("b", "a"),
        aside("x", "-"),
        aside("y", "x"),
        leaf("L", "y"),
    ];
    check(&links, "x y", &[]);
}

#[test]
fn nothing_leads_behind_a_reset() {
    let start = [row("a", "-"), row("b", "a"), reset("r", "b")];
    let with = |more: &[Link]| [&start[..], more].concat();
    check(&with(&[row("c", "r"), row("d", "r")]), "a b r d", &[]);
    check(
        &with(&[row("c", "a")]),
        "a b r c",
        &[(3, PathFaultKind::BehindReset)],
    );
    check(
        &with(&[leaf("L", "a"), row("c", "L")]),
        "a b r c",
        &[(3, PathFaultKind::LeafBehindReset)],
    );
    check(
        &with(&[leaf("L", "-")]),
        "a b r",
        &[(3, PathFaultKind::LeafBehindReset)],
    );
    check(&with(&[row("c", "r"), leaf("L", "r")]), "a b r", &[]);
}

#[test]
fn a_rewrite_may_copy_a_reset() {
    let copied_reset = Link {
        side: true,
        ..reset("r2", "b2")
    };
    let links = [
        row("a", "-"),
        row("b", "a"),
        reset("r", "b"),
        aside("b2", "a"),
        copied_reset,
        leaf("L", "r2"),
    ];
    check(&links, "a b2 r2", &[]);
}

#[test]
fn opaque_rows_hold_a_chain_but_are_not_on_the_path() {
    check(
        &[row("a", "-"), opaque("f", "a"), row("b", "f")],
        "a b",
        &[],
    );
    check(&[row("a", "-"), opaque("f", "a")], "a", &[]);
    check(
        &[
            row("a", "-"),
            row("b", "a"),
            opaque("f", "a"),
            leaf("L", "f"),
            row("c", "f"),
        ],
        "a c",
        &[],
    );
    let unknown = PathFaultKind::UnknownParent { parent: "f".into() };
    check(
        &[row("a", "-"), opaque("f", "-"), row("b", "f")],
        "a b",
        &[(2, unknown)],
    );
}

#[test]
fn the_first_row_with_an_id_counts() {
    let fault = PathFaultKind::DuplicateId {
        id: "b".into(),
        first: 1,
    };
    check(
        &[row("a", "-"), row("b", "a"), row("b", "a"), row("c", "b")],
        "a b c",
        &[(2, fault)],
    );
}

#[test]
fn a_file_without_ids_is_one_path() {
    let links = [row("", ""), row("", ""), opaque("", ""), row("", "")];
    let path = active_path(&links);
    assert_eq!(path.rows, [0, 1, 3]);
    assert_eq!((path.leaf, path.tip(&links)), (None, Tip::Flat));
}

/// Cases F-4, F-12: the first row with an id took the whole history before it off the path.
#[test]
fn rows_without_ids_stay_on_the_path_when_rows_with_ids_follow() {
    let flat = [row("", ""), row("", "-"), opaque("", ""), row("", "x")];
    let with = |more: &[Link]| [&flat[..], more].concat();
    check(&with(&[row("a", "-")]), "? ? ? a", &[]);
    check(&with(&[row("a", "")]), "? ? ? a", &[]);
    check(
        &with(&[row("a", "-"), row("b", "a"), row("c", "a")]),
        "? ? ? a c",
        &[],
    );
    let unknown = PathFaultKind::UnknownParent { parent: "x".into() };
    check(&with(&[row("a", "x")]), "? ? ? a", &[(4, unknown)]);
    check(
        &with(&[row("a", "-"), row("b", "-")]),
        "? ? ? a b",
        &[(5, PathFaultKind::BrokenChain)],
    );
    // Behind rows with ids nothing says where a row without one belongs.
    check(
        &with(&[row("a", "-"), row("", ""), row("b", "a")]),
        "? ? ? a b",
        &[],
    );
    // A row written aside, a row of another kind and a leaf row that leads nowhere end no path.
    let unknown = PathFaultKind::UnknownLeafTarget { target: "z".into() };
    check(
        &with(&[
            aside("x", "-"),
            opaque("o", ""),
            leaf("L", "z"),
            row("", ""),
            row("a", "-"),
        ]),
        "? ? ? ? a",
        &[(6, unknown)],
    );
    check(&with(&[leaf("L", "-"), row("a", "-")]), "a", &[]);
}

#[test]
fn a_reset_without_an_id_holds_as_one_with_an_id_does() {
    check(
        &[row("", ""), reset("", ""), row("", ""), leaf("L", "-")],
        "? ? ?",
        &[(3, PathFaultKind::LeafBehindReset)],
    );
}

#[test]
fn links_survive_a_store() {
    for link in [
        row("a", "-"),
        aside("b", "a"),
        reset("r", ""),
        leaf("L", "-"),
        opaque("o", "a"),
    ] {
        let stored = serde_json::to_string(&link).unwrap();
        assert_eq!(serde_json::from_str::<Link>(&stored).unwrap(), link);
    }
}

/// Case F-7.
#[test]
fn a_long_chain_needs_no_deep_stack() {
    let links: Vec<_> = (0..200_000usize)
        .map(|n| row(&n.to_string(), &n.wrapping_sub(1).to_string()))
        .collect();
    assert_eq!(active_path(&links).rows.len(), links.len());
}

fn any_link() -> impl Strategy<Value = Link> {
    let id = "[a-f]";
    let parent = prop_oneof!["[a-f]", Just("-".to_owned()), Just(String::new())];
    (0..9, id, parent, "[a-f-]").prop_map(|(kind, id, parent, target)| match kind {
        8 => row("", &parent),
        0 => aside(&id, &parent),
        1 => reset(&id, &parent),
        2 => opaque(&id, &parent),
        3 => leaf(&id, &target),
        _ => row(&id, &parent),
    })
}

/// Gives every link an id of its own; parents still name single letters.
fn with_own_ids(mut links: Vec<Link>) -> Vec<Link> {
    for (index, link) in links.iter_mut().enumerate().filter(|(index, _)| *index > 5) {
        if link.id.is_some() {
            link.id = Some(format!("n{index}"));
        }
    }
    links
}

proptest! {
    #[test]
    fn what_a_row_does_to_a_path_is_what_the_rule_says(
        links in prop::collection::vec(any_link(), 0..12),
        next in any_link(),
        last: bool,
    ) {
        let mut links = with_own_ids(links);
        let before = active_path(&links);
        let mut next = next;
        next.id = next.id.map(|_| "next".to_owned());
        if last && next.node == Node::Content {
            next.parent = before.append_parent.clone().map_or(Parent::Null, Parent::Id);
        }
        links.push(next.clone());
        let after = active_path(&links);
        let end = |named: Option<&str>| {
            let position = match named {
                None => 0,
                Some(id) => 1 + before.rows.iter().position(|row| links[*row].id.as_deref() == Some(id))?,
            };
            let is_reset = |row: &usize| links[*row].node == Node::Reset;
            (!before.rows[position..].iter().any(is_reset)).then_some(position)
        };
        let tip = before.tip(&links[..links.len() - 1]);
        let (kept, grows, parent) = match growth(&tip, &next) {
            Growth::Nothing => (before.rows.len(), false, before.append_parent.clone()),
            Growth::Extend => (before.rows.len(), true, next.id.clone()),
            Growth::Branch { behind } => match end(Some(behind)) {
                Some(end) => (end, true, next.id.clone()),
                None => return Ok(()),
            },
            Growth::Move { to } => match end(to) {
                Some(end) => (end, false, to.map(str::to_owned)),
                None => return Ok(()),
            },
            Growth::Unknown => return Ok(()),
        };
        let mut expected = before.rows[..kept].to_vec();
        expected.extend(grows.then_some(links.len() - 1));
        prop_assert_eq!(&after.rows, &expected);
        prop_assert_eq!(&after.append_parent, &parent);
        if growth(&tip, &next) != Growth::Nothing {
            prop_assert_eq!(&after.faults, &before.faults);
        }
        let tip = match (expected.last(), tip) {
            (None, _) => Tip::Empty,
            (Some(_), Tip::Flat) => Tip::Flat,
            (Some(row), _) => Tip::At(links[*row].id.clone().unwrap_or_default()),
        };
        prop_assert_eq!(after.tip(&links), tip);
    }

    /// What a host does that knows no more than the path: it names the last id, or null when there is none.
    #[test]
    fn the_next_row_takes_nothing_off_the_path(links in prop::collection::vec(any_link(), 0..12)) {
        let mut links = with_own_ids(links);
        let before = active_path(&links);
        links.push(row("next", before.append_parent.as_deref().unwrap_or("-")));
        let after = active_path(&links);
        prop_assert_eq!(&after.rows[..after.rows.len() - 1], before.rows);
        prop_assert_eq!(after.faults, before.faults);
    }

    #[test]
    fn a_path_runs_forward_and_ends_at_its_leaf(links in prop::collection::vec(any_link(), 0..20)) {
        let path = active_path(&links);
        prop_assert!(path.rows.is_sorted());
        prop_assert!(path.rows.iter().all(|row| *row < links.len()));
        if path.tip(&links) == Tip::Empty {
            prop_assert_eq!(path.rows, Vec::<usize>::new());
        }
    }
}
