//! `ls`: what is in a directory.

use openclaw_host::{Cancel, ToolSpec};
use serde_json::json;

use super::arguments::Arguments;
use super::places::Places;
use super::{Tool, ToolFailure, spec};

const DEFAULT_LIMIT: u64 = 500;
/// Names looked at; a directory may hold millions.
const MAX_NAMES: usize = 20_000;

pub(super) struct Ls(pub(super) Places);

impl Tool for Ls {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Directory; the workspace when left out."},
                "limit": {"type": "integer", "minimum": 1, "description": "Most entries to list; 500 when left out."},
            },
            "required": [],
        });
        spec(
            "ls",
            "List a directory, sorted by name; directories end with a slash.",
            parameters,
        )
    }

    fn run(&mut self, arguments: &Arguments<'_>, _cancel: &Cancel) -> Result<String, ToolFailure> {
        let (place, below) = self
            .0
            .to_read(arguments.optional_text("path")?.unwrap_or("."))?;
        let limit = arguments
            .optional_number("limit")?
            .unwrap_or(DEFAULT_LIMIT)
            .max(1);
        let mut names: Vec<String> = place
            .names(&below, MAX_NAMES)?
            .into_iter()
            .map(|entry| {
                if entry.is_dir {
                    format!("{}/", entry.name)
                } else {
                    entry.name
                }
            })
            .collect();
        names.sort();
        if names.is_empty() {
            return Ok("(empty directory)".to_owned());
        }
        let left = names
            .len()
            .saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        names.truncate(names.len() - left);
        if left > 0 {
            names.push(format!("[{left} more entries; raise `limit` to see them]"));
        }
        Ok(names.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use serde_json::json;

    #[test]
    fn entries_are_sorted_and_limited() {
        let mut bench = Bench::new();
        assert_eq!(bench.ok("ls", json!({})), "(empty directory)");
        std::fs::create_dir(bench.path("dir")).unwrap();
        for name in ["b", "a", ".hidden"] {
            bench.file(name, "");
        }
        assert_eq!(bench.ok("ls", json!({"path": "."})), ".hidden\na\nb\ndir/");
        assert_eq!(
            bench.ok("ls", json!({"limit": 2})),
            ".hidden\na\n[2 more entries; raise `limit` to see them]"
        );
        let outside = bench.fails("ls", json!({"path": "dir/../.."}));
        assert!(outside.contains("lies outside of"), "{outside}");
        assert!(
            bench
                .fails("ls", json!({"path": "/"}))
                .contains("lies outside of")
        );
        assert!(
            bench
                .fails("ls", json!({"path": "none"}))
                .contains("does not exist")
        );
        assert!(!bench.fails("ls", json!({"path": "a"})).is_empty());
    }
}
