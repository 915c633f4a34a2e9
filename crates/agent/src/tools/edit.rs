//! `edit`: exact pieces of a file replaced, all of them or none.

use std::ops::Range;
use std::path::Path;

use openclaw_host::{Cancel, ToolSpec};
use serde_json::json;

use super::arguments::Arguments;
use super::places::Places;
use super::{Tool, ToolFailure, fail, spec};
use crate::workspace::Workspace;

const MAX_FILE_BYTES: u64 = 16 << 20;

pub(super) struct Edit(pub(super) Places);

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "File to change."},
                "edits": {
                    "type": "array",
                    "description": "Replacements; each is looked up in the file as it is now.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "oldText": {"type": "string", "description": "Text that stands in the file exactly once."},
                            "newText": {"type": "string", "description": "What takes its place."},
                        },
                        "required": ["oldText", "newText"],
                    },
                },
            },
            "required": ["path", "edits"],
        });
        spec(
            "edit",
            "Replace exact pieces of a text file; all of them or none.",
            parameters,
        )
    }

    fn run(&mut self, arguments: &Arguments<'_>, _cancel: &Cancel) -> Result<String, ToolFailure> {
        let path = arguments.filled("path")?;
        let mut edits = Vec::new();
        for (number, entry) in arguments.list("edits")?.iter().enumerate() {
            let entry = arguments.nested(entry, &format!("edits[{number}]"))?;
            edits.push((entry.text("oldText")?, entry.text("newText")?));
        }
        let (place, below) = self.0.to_write(path)?;
        let text = text_file(place, &below, path)?;
        let changed = replaced(path, &text, &edits)?;
        if changed == text {
            return fail(format!(
                "{path} stays as it is: every newText equals its oldText"
            ));
        }
        place.write(&below, changed.as_bytes())?;
        Ok(format!("Replaced {} in {path}", pieces(edits.len())))
    }
}

/// A file as text; editing a binary one would damage it.
pub(super) fn text_file(
    place: &Workspace,
    below: &Path,
    path: &str,
) -> Result<String, ToolFailure> {
    let bytes = place.read(below, MAX_FILE_BYTES)?;
    String::from_utf8(bytes)
        .or_else(|_| fail(format!("{path} is no UTF-8 text; it cannot be edited")))
}

fn pieces(count: usize) -> String {
    if count == 1 {
        "1 piece".to_owned()
    } else {
        format!("{count} pieces")
    }
}

fn replaced(path: &str, text: &str, edits: &[(&str, &str)]) -> Result<String, ToolFailure> {
    let mut found: Vec<(Range<usize>, String, usize)> = Vec::new();
    for (number, (old, new)) in edits.iter().enumerate() {
        let (at, new) = find(path, text, number, old, new)?;
        found.push((at, new, number));
    }
    found.sort_by_key(|(at, ..)| at.start);
    let (mut changed, mut from) = (String::with_capacity(text.len()), 0);
    for (at, new, number) in &found {
        if at.start < from {
            return fail(format!(
                "edits[{number}] overlaps with another edit of {path}; make them one"
            ));
        }
        changed.push_str(&text[from..at.start]);
        changed.push_str(new);
        from = at.end;
    }
    changed.push_str(&text[from..]);
    Ok(changed)
}

/// Where a piece stands, and its replacement in the line ends of the file.
fn find(
    path: &str,
    text: &str,
    number: usize,
    old: &str,
    new: &str,
) -> Result<(Range<usize>, String), ToolFailure> {
    if old.is_empty() {
        return fail(format!(
            "edits[{number}]: `oldText` is empty; to write a whole file use `write`"
        ));
    }
    // Models write plain line feeds.
    let with_returns = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    let (old, new) = if text.contains("\r\n") && !text.contains(old) {
        (with_returns(old), with_returns(new))
    } else {
        (old.to_owned(), new.to_owned())
    };
    let mut places = text.match_indices(old.as_str());
    match (places.next(), places.count()) {
        (None, _) => fail(format!(
            "edits[{number}]: `oldText` does not stand in {path}; read the file and copy the text with its white space"
        )),
        (Some((at, _)), 0) => Ok((at..at + old.len(), new)),
        (Some(_), more) => fail(format!(
            "edits[{number}]: `oldText` stands {} times in {path}; add lines around it until it is unique",
            more + 1
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use serde_json::json;

    #[test]
    fn pieces_are_replaced_all_or_none() {
        let mut bench = Bench::new();
        bench.file("a.txt", "one two three two\n");
        let edit = |old: &str, new: &str| json!({"oldText": old, "newText": new});
        let done = bench.ok(
            "edit",
            json!({"path": "a.txt", "edits": [edit("three", "3"), edit("one", "1")]}),
        );
        assert_eq!(
            (done.as_str(), bench.text("a.txt").as_str()),
            ("Replaced 2 pieces in a.txt", "1 two 3 two\n")
        );
        for (edits, reason) in [
            (
                json!([edit("1", "x"), edit("nine", "9")]),
                "edits[1]: `oldText` does not stand in a.txt",
            ),
            (
                json!([edit("two", "2")]),
                "edits[0]: `oldText` stands 2 times in a.txt",
            ),
            (
                json!([edit("1 two", "x"), edit("two 3", "y")]),
                "edits[1] overlaps",
            ),
            (json!([edit("", "x")]), "edits[0]: `oldText` is empty"),
            (json!([edit("1", "1")]), "a.txt stays as it is"),
            (json!([{"oldText": "1"}]), "edit: `newText` is missing"),
            (json!(["1"]), "edit: `edits[0]` has to be an object"),
        ] {
            let refused = bench.fails("edit", json!({"path": "a.txt", "edits": edits}));
            assert!(refused.starts_with(reason), "{refused}");
            assert_eq!(bench.text("a.txt"), "1 two 3 two\n");
        }
    }

    #[test]
    fn line_ends_of_the_file_stay() {
        let mut bench = Bench::new();
        bench.file("dos.txt", "a\r\nb\r\nc\r\n");
        let edits = json!([{"oldText": "a\nb\n", "newText": "x\ny\n"}]);
        bench.ok("edit", json!({"path": "dos.txt", "edits": edits}));
        assert_eq!(bench.text("dos.txt"), "x\r\ny\r\nc\r\n");
    }

    #[test]
    fn files_that_are_no_text_stay_whole() {
        let mut bench = Bench::new();
        bench.file("latin", [b'a', 0xE9]);
        let edits = json!([{"oldText": "a", "newText": "b"}]);
        let refused = bench.fails("edit", json!({"path": "latin", "edits": edits}));
        assert_eq!(refused, "latin is no UTF-8 text; it cannot be edited");
        let refused = bench.fails("edit", json!({"path": "../x", "edits": edits}));
        assert!(refused.contains("lies outside of"), "{refused}");
    }
}
