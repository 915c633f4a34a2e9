//! `read`: lines of a text file.

use openclaw_host::{Cancel, ToolSpec};
use serde_json::json;

use super::arguments::Arguments;
use super::places::Places;
use super::{Tool, ToolFailure, fail, spec};

const MAX_FILE_BYTES: u64 = 16 << 20;
const MAX_LINES: usize = 2_000;
const MAX_BYTES: usize = 50 << 10;

pub(super) struct Read(pub(super) Places);

impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "File to read."},
                "offset": {"type": "integer", "minimum": 1, "description": "First line, counted from 1."},
                "limit": {"type": "integer", "minimum": 1, "description": "Most lines to read."},
            },
            "required": ["path"],
        });
        let description =
            "Read a text file. Shows 2000 lines or 50 KiB at most; continue with `offset`.";
        spec("read", description, parameters)
    }

    fn run(&mut self, arguments: &Arguments<'_>, _cancel: &Cancel) -> Result<String, ToolFailure> {
        let path = arguments.filled("path")?;
        let number = |name| -> Result<Option<usize>, ToolFailure> {
            Ok(arguments
                .optional_number(name)?
                .map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
        };
        let first = number("offset")?.unwrap_or(1).max(1);
        let limit = number("limit")?.unwrap_or(MAX_LINES).clamp(1, MAX_LINES);
        let (place, below) = self.0.to_read(path)?;
        let bytes = place.read(&below, MAX_FILE_BYTES)?;
        if bytes.contains(&0) {
            return fail(format!(
                "{path} is a binary file of {} bytes; read it with a command instead",
                bytes.len()
            ));
        }
        page(path, &String::from_utf8_lossy(&bytes), first, limit)
    }
}

fn page(path: &str, text: &str, first: usize, limit: usize) -> Result<String, ToolFailure> {
    let total = text.lines().count();
    if text.is_empty() {
        return Ok("(empty file)".to_owned());
    }
    if first > total {
        return fail(format!(
            "{path} has {total} lines; `offset` {first} is behind its end"
        ));
    }
    let (mut shown, mut last) = (String::new(), first - 1);
    for line in text.split_inclusive('\n').skip(first - 1).take(limit) {
        if shown.len() + line.len() > MAX_BYTES {
            break;
        }
        shown.push_str(line);
        last += 1;
    }
    if last < first {
        let line = text.lines().nth(first - 1).unwrap_or_default();
        let end = (0..=MAX_BYTES)
            .rev()
            .find(|&end| line.is_char_boundary(end))
            .unwrap_or(0);
        let bytes = line.len();
        return Ok(format!(
            "{}\n\n[line {first} has {bytes} bytes; its first {end} are shown]",
            &line[..end]
        ));
    }
    if last < total {
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.push_str(&format!(
            "\n[lines {first}-{last} of {total}; continue with offset={}]",
            last + 1
        ));
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    #[test]
    fn a_large_file_is_read_page_by_page() {
        let mut bench = Bench::new();
        let text: String = (1..=4_500).map(|line| format!("line {line}\n")).collect();
        bench.file("long.txt", &text);
        let mut read = String::new();
        let mut offset = 1;
        loop {
            let page = bench.ok("read", json!({"path": "long.txt", "offset": offset}));
            assert!(page.len() <= MAX_BYTES + 100);
            let Some((lines, notice)) = page.split_once("\n[lines ") else {
                read.push_str(&page);
                break;
            };
            read.push_str(lines);
            offset = notice
                .rsplit('=')
                .next()
                .unwrap()
                .trim_end_matches(']')
                .parse()
                .unwrap();
        }
        assert_eq!(read, text);
        let some = bench.ok(
            "read",
            json!({"path": "long.txt", "offset": 10, "limit": "1"}),
        );
        assert_eq!(
            some,
            "line 10\n\n[lines 10-10 of 4500; continue with offset=11]"
        );
        let behind = bench.fails("read", json!({"path": "long.txt", "offset": 4_501}));
        assert_eq!(
            behind,
            "long.txt has 4500 lines; `offset` 4501 is behind its end"
        );
    }

    #[test]
    fn binary_and_endless_lines_do_no_harm() {
        let mut bench = Bench::new();
        bench.file("bin", [b'E', 0, 1, 2]);
        assert_eq!(
            bench.fails("read", json!({"path": "bin"})),
            "bin is a binary file of 4 bytes; read it with a command instead"
        );
        bench.file("latin", [b'a', 0xE9, b'\n']);
        assert_eq!(bench.ok("read", json!({"path": "latin"})), "a\u{FFFD}\n");
        bench.file("line", "é".repeat(100_000));
        let shown = bench.ok("read", json!({"path": "line"}));
        assert!(
            shown.ends_with("[line 1 has 200000 bytes; its first 51200 are shown]"),
            "{}",
            &shown[51_000..]
        );
        bench.file("empty", "");
        assert_eq!(bench.ok("read", json!({"path": "empty"})), "(empty file)");
        bench.file("huge", vec![b'x'; (16 << 20) + 1]);
        assert!(
            bench
                .fails("read", json!({"path": "huge"}))
                .contains("has 16777217 bytes, more than")
        );
    }

    #[test]
    fn skills_elsewhere_can_be_read_and_nothing_beside_them() {
        let mut bench = Bench::new();
        std::fs::write(bench.home.path().join("skills/SKILL.md"), "how").unwrap();
        std::fs::write(bench.home.path().join("secret"), "made-up").unwrap();
        let skill = bench.home.path().join("skills/SKILL.md");
        for path in ["~/skills/SKILL.md", skill.to_str().unwrap()] {
            assert_eq!(bench.ok("read", json!({"path": path})), "how");
            assert!(
                bench
                    .fails("write", json!({"path": path, "content": ""}))
                    .contains("lies outside of")
            );
        }
        let secret = bench.home.path().join("secret");
        for path in [
            "~/secret",
            "~/skills/../secret",
            "../secret",
            secret.to_str().unwrap(),
            "/etc/passwd",
        ] {
            let refused = bench.fails("read", json!({"path": path}));
            assert!(refused.contains("lies outside of"), "{refused}");
        }
    }
}
