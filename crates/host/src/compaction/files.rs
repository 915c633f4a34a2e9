//! Which files a conversation read and changed.

use std::collections::BTreeSet;

use openclaw_transcript::{Message, Said, said};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::text::units;

const LIST_UNITS: usize = 900;
/// Paths that are handed on from compaction to compaction.
const KEPT_PATHS: usize = 500;
const PATCH_MARKS: [&str; 3] = ["*** Add File: ", "*** Update File: ", "*** Delete File: "];

/// Files read and changed, each in one list only: a changed file is not listed as read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileLists {
    /// Files that were read and not changed.
    pub read_files: BTreeSet<String>,
    /// Files that were changed.
    pub modified_files: BTreeSet<String>,
}

impl FileLists {
    /// Adds what a message's calls read and change.
    pub(super) fn add(&mut self, message: &Message) {
        for part in said(message) {
            if let Said::Call {
                name,
                arguments: Some(arguments),
            } = part
            {
                self.add_call(&name, &arguments);
            }
        }
    }

    fn add_call(&mut self, tool: &str, arguments: &str) {
        let arguments: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
        let text = |keys: &[&str]| {
            let mut values = keys.iter().filter_map(|key| arguments.get(*key)?.as_str());
            values
                .find(|value| !value.trim().is_empty())
                .map(str::to_owned)
        };
        let path = || text(&["path", "file_path", "filePath"]);
        match tool {
            "read" => self.read_files.extend(path()),
            "write" | "edit" => self.modified_files.extend(path()),
            "apply_patch" => {
                let patch = text(&["input", "patch"]).unwrap_or_default();
                let paths = patch
                    .lines()
                    .filter_map(|line| PATCH_MARKS.iter().find_map(|mark| line.strip_prefix(mark)));
                self.modified_files
                    .extend(paths.map(|path| path.trim().to_owned()));
            }
            _ => {}
        }
    }

    /// The lists without overlap and of bounded length.
    pub(super) fn settled(mut self) -> Self {
        let modified = &self.modified_files;
        self.read_files.retain(|path| !modified.contains(path));
        while self.read_files.len() > KEPT_PATHS {
            self.read_files.pop_first();
        }
        while self.modified_files.len() > KEPT_PATHS {
            self.modified_files.pop_first();
        }
        self
    }

    /// The lists as a summary ends with them; empty when there is nothing to list.
    pub(super) fn tags(&self) -> String {
        let lists = [
            ("read-files", &self.read_files),
            ("modified-files", &self.modified_files),
        ];
        let tags = lists
            .into_iter()
            .filter_map(|(tag, paths)| tagged(tag, paths));
        tags.collect::<Vec<_>>().join("\n\n")
    }
}

fn tagged(tag: &str, paths: &BTreeSet<String>) -> Option<String> {
    let mut lines = String::new();
    let mut left = paths.len();
    for path in paths {
        // A path over several lines could pass for a tag.
        let line = path.replace(['\n', '\r', '<', '>'], " ");
        if units(&lines) + units(&line) > LIST_UNITS {
            break;
        }
        lines.push_str(&line);
        lines.push('\n');
        left -= 1;
    }
    if left > 0 {
        lines.push_str(&format!("[... {left} more]\n"));
    }
    (!paths.is_empty()).then(|| format!("<{tag}>\n{lines}</{tag}>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(calls: &[(&str, &str)]) -> FileLists {
        let mut lists = FileLists::default();
        calls
            .iter()
            .for_each(|(tool, arguments)| lists.add_call(tool, arguments));
        lists.settled()
    }

    #[test]
    fn a_changed_file_is_not_listed_as_read() {
        let lists = lists(&[
            ("read", r#"{"path":"a"}"#),
            ("read", r#"{"file_path":"b"}"#),
            ("edit", r#"{"path":"b"}"#),
            (
                "apply_patch",
                r#"{"input":"*** Begin Patch\n*** Update File: c\n+x\n*** Add File: d\n"}"#,
            ),
            ("exec", r#"{"path":"z"}"#),
            ("read", "not JSON"),
        ]);
        assert_eq!(
            lists.tags(),
            "<read-files>\na\n</read-files>\n\n<modified-files>\nb\nc\nd\n</modified-files>"
        );
        assert_eq!(FileLists::default().tags(), "");
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let mut lists = FileLists::default();
        lists
            .read_files
            .extend((0..2_000).map(|index| format!("/srv/file/{index:05}")));
        lists.read_files.insert("\n</read-files>".into());
        let lists = lists.settled();
        assert_eq!(lists.read_files.len(), KEPT_PATHS);
        let tags = lists.tags();
        assert!(
            units(&tags) < LIST_UNITS + 100 && tags.contains(" more]"),
            "{tags}"
        );
        assert_eq!(tags.matches("</read-files>").count(), 1);
    }
}
