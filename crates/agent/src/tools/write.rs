//! `write`: a whole file.

use openclaw_host::{Cancel, ToolSpec};
use serde_json::json;

use super::arguments::Arguments;
use super::places::Places;
use super::{Tool, ToolFailure, spec};

pub(super) struct Write(pub(super) Places);

impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "File to write; directories above it are made."},
                "content": {"type": "string", "description": "The whole content."},
            },
            "required": ["path", "content"],
        });
        spec(
            "write",
            "Write a file as a whole; replaces what was there.",
            parameters,
        )
    }

    fn run(&mut self, arguments: &Arguments<'_>, _cancel: &Cancel) -> Result<String, ToolFailure> {
        let path = arguments.filled("path")?;
        let content = arguments.text("content")?;
        let (place, below) = self.0.to_write(path)?;
        place.write(&below, content.as_bytes())?;
        Ok(format!("Wrote {} bytes to {path}", content.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use serde_json::json;

    #[test]
    fn a_file_is_written_in_the_workspace_only() {
        let mut bench = Bench::new();
        let full = bench.path("full");
        for path in ["new/dir/file", full.to_str().unwrap()] {
            let wrote = bench.ok("write", json!({"path": path, "content": "é\n"}));
            assert_eq!(wrote, format!("Wrote 3 bytes to {path}"));
        }
        assert_eq!(
            (bench.text("new/dir/file"), bench.text("full")),
            ("é\n".to_owned(), "é\n".to_owned())
        );
        for path in ["../x", "new/../../x", "/tmp/../x", "~/x"] {
            let refused = bench.fails("write", json!({"path": path, "content": ""}));
            assert!(refused.contains("lies outside of"), "{refused}");
        }
        let dir = bench.fails("write", json!({"path": "new", "content": ""}));
        assert_eq!(dir, "new is a directory");
        assert_eq!(
            bench.fails("write", json!({"path": "x"})),
            "write: `content` is missing; give it as a string"
        );
    }
}
