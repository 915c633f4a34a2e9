//! `apply_patch`: changes to several files; nothing is written unless all of them fit.

use std::collections::BTreeMap;
use std::path::PathBuf;

use openclaw_host::{Cancel, ToolSpec};
use serde_json::json;

use super::arguments::Arguments;
use super::edit::text_file;
use super::patch::{Change, apply, parse};
use super::places::Places;
use super::{Tool, ToolFailure, fail, spec};

pub(super) struct ApplyPatch(pub(super) Places);

impl Tool for ApplyPatch {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({
            "type": "object",
            "properties": {
                "input": {
                    "type": "string",
                    "description": "From `*** Begin Patch` to `*** End Patch`; in between `*** Add File: <path>` with `+` \
                                    lines, `*** Delete File: <path>`, `*** Update File: <path>` with optional \
                                    `*** Move to: <path>` and chunks of ` `, `-` and `+` lines under `@@`.",
                },
            },
            "required": ["input"],
        });
        spec(
            "apply_patch",
            "Change several files with one patch; all of it or none.",
            parameters,
        )
    }

    fn run(&mut self, arguments: &Arguments<'_>, _cancel: &Cancel) -> Result<String, ToolFailure> {
        let changes = match parse(arguments.filled("input")?) {
            Ok(changes) => changes,
            Err(reason) => return arguments.refuse(format!("the patch cannot be read: {reason}")),
        };
        let mut plan = Plan {
            places: &self.0,
            after: BTreeMap::new(),
            report: Vec::new(),
        };
        for change in &changes {
            plan.add(change)?;
        }
        plan.carry_out()
    }
}

/// What the files will be; `None` for one that goes.
struct Plan<'a> {
    places: &'a Places,
    after: BTreeMap<PathBuf, Option<String>>,
    report: Vec<String>,
}

impl Plan<'_> {
    fn add(&mut self, change: &Change<'_>) -> Result<(), ToolFailure> {
        match change {
            Change::Add { path, text } => {
                if self.text(path).is_ok() {
                    return fail(format!("{path} is there already; use `*** Update File`"));
                }
                self.set(path, Some(text.clone()))?;
                self.report.push(format!("A {path}"));
            }
            Change::Delete { path } => {
                self.text(path)?;
                self.set(path, None)?;
                self.report.push(format!("D {path}"));
            }
            Change::Update {
                path,
                moved_to,
                chunks,
            } => {
                let text = self.text(path)?;
                let text =
                    apply(&text, chunks).or_else(|reason| fail(format!("{path}: {reason}")))?;
                match moved_to {
                    Some(target) => {
                        if target != path && self.text(target).is_ok() {
                            return fail(format!(
                                "{target} is there already; nothing is moved over it"
                            ));
                        }
                        self.set(path, None)?;
                        self.set(target, Some(text))?;
                        self.report.push(format!("M {path} -> {target}"));
                    }
                    None => {
                        self.set(path, Some(text))?;
                        self.report.push(format!("M {path}"));
                    }
                }
            }
        }
        Ok(())
    }

    /// The text of a file as the changes before leave it.
    fn text(&self, path: &str) -> Result<String, ToolFailure> {
        let (place, below) = self.places.to_write(path)?;
        match self.after.get(&below) {
            Some(Some(text)) => Ok(text.clone()),
            Some(None) => fail(format!("{path} was deleted by this patch")),
            None => text_file(place, &below, path),
        }
    }

    fn set(&mut self, path: &str, text: Option<String>) -> Result<(), ToolFailure> {
        let (place, below) = self.places.to_write(path)?;
        // A link or a directory under the name of a new file is found before anything is written.
        if text.is_some() && place.has(&below) {
            text_file(place, &below, path)?;
        }
        self.after.insert(below, text);
        Ok(())
    }

    fn carry_out(self) -> Result<String, ToolFailure> {
        let (place, _) = self.places.to_write(".")?;
        let mut done: Vec<String> = Vec::new();
        for (path, text) in &self.after {
            let outcome = match text {
                Some(text) => place.write(path, text.as_bytes()),
                None => place.remove(path),
            };
            if let Err(error) = outcome {
                let before = if done.is_empty() {
                    "nothing".to_owned()
                } else {
                    done.join(", ")
                };
                return fail(format!("{error}; changed before that: {before}"));
            }
            done.push(path.display().to_string());
        }
        Ok(self.report.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use serde_json::json;

    #[test]
    fn a_patch_changes_several_files() {
        let mut bench = Bench::new();
        bench.file("a", "1\n2\n");
        bench.file("b", "x\n");
        bench.file("c", "y\n");
        let input = "*** Begin Patch\n*** Update File: a\n@@\n-2\n+two\n*** Add File: dir/new\n+n\n*** Delete File: b\n\
                     *** Update File: c\n*** Move to: d\n-y\n+z\n*** End Patch";
        let report = bench.ok("apply_patch", json!({"input": input}));
        assert_eq!(report, "M a\nA dir/new\nD b\nM c -> d");
        assert_eq!(
            (bench.text("a"), bench.text("dir/new"), bench.text("d")),
            ("1\ntwo\n".into(), "n\n".into(), "z\n".into())
        );
        let mut names = bench.names();
        names.sort();
        assert_eq!(names, ["a", "d", "dir"]);
    }

    #[test]
    fn a_patch_that_does_not_fit_changes_nothing() {
        let mut bench = Bench::new();
        bench.file("a", "1\n");
        for (rest, reason) in [
            ("*** Update File: a\n-9\n+8", "a: these lines do not stand"),
            ("*** Update File: none\n-9\n+8", "none does not exist"),
            ("*** Add File: a\n+x", "a is there already"),
            ("*** Add File: ../x\n+x", "../x lies outside of"),
            (
                "*** Update File: a\n*** Move to: ../x\n-1\n+2",
                "../x lies outside of",
            ),
        ] {
            let input = format!("*** Begin Patch\n*** Add File: first\n+x\n{rest}\n*** End Patch");
            let refused = bench.fails("apply_patch", json!({"input": input}));
            assert!(refused.starts_with(reason), "{refused}");
            assert_eq!(bench.names(), ["a"]);
        }
        assert_eq!(bench.text("a"), "1\n");
    }
}
