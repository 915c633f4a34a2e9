//! Reads a patch, and applies the changes of one file to its text. Pure; touches no file.

/// What a patch does to one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change<'a> {
    Add {
        path: &'a str,
        text: String,
    },
    Delete {
        path: &'a str,
    },
    Update {
        path: &'a str,
        moved_to: Option<&'a str>,
        chunks: Vec<Chunk<'a>>,
    },
}

/// Lines that stand together in a file, and what takes their place.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    /// A line above the chunk, to find it by.
    below: Option<&'a str>,
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    at_end: bool,
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// The changes of a patch, in order.
pub(super) fn parse(patch: &str) -> Result<Vec<Change<'_>>, String> {
    let mut lines = patch.trim().lines().enumerate().peekable();
    if lines.next().map(|(_, line)| line.trim_end()) != Some(BEGIN) {
        return Err(format!("the first line has to be `{BEGIN}`"));
    }
    let mut changes = Vec::new();
    while let Some((number, line)) = lines.next() {
        let line = line.trim_end();
        if line == END {
            return match (lines.next(), changes.is_empty()) {
                (Some((number, _)), _) => {
                    Err(format!("line {}: nothing may follow `{END}`", number + 1))
                }
                (None, true) => Err("it changes nothing".to_owned()),
                (None, false) => Ok(changes),
            };
        }
        let mut body = Vec::new();
        let is_header = |line: &str| line.starts_with("*** ") && line.trim_end() != END_OF_FILE;
        while let Some((number, line)) =
            lines.next_if(|(_, line)| !is_header(line) || line.starts_with("*** Move to: "))
        {
            body.push((number + 1, line));
        }
        changes.push(change(number + 1, line, &body)?);
    }
    Err(format!(
        "the last line has to be `{END}`; send the whole patch again"
    ))
}

fn change<'a>(
    number: usize,
    header: &'a str,
    body: &[(usize, &'a str)],
) -> Result<Change<'a>, String> {
    if let Some(path) = header.strip_prefix("*** Add File: ") {
        let mut text = String::new();
        for (number, line) in body {
            let Some(line) = line.strip_prefix('+') else {
                return Err(format!(
                    "line {number}: each line of a new file begins with `+`"
                ));
            };
            text.push_str(line);
            text.push('\n');
        }
        return Ok(Change::Add { path, text });
    }
    if let Some(path) = header.strip_prefix("*** Delete File: ") {
        return match body.first() {
            Some((number, _)) => Err(format!(
                "line {number}: nothing may follow the deletion of a file"
            )),
            None => Ok(Change::Delete { path }),
        };
    }
    if let Some(path) = header.strip_prefix("*** Update File: ") {
        let moved_to = body
            .first()
            .and_then(|(_, line)| line.strip_prefix("*** Move to: "));
        let chunks = chunks(&body[usize::from(moved_to.is_some())..])?;
        if chunks.is_empty() && moved_to.is_none() {
            return Err(format!("line {number}: no changes for {path}"));
        }
        return Ok(Change::Update {
            path,
            moved_to: moved_to.map(str::trim_end),
            chunks,
        });
    }
    Err(format!(
        "line {number}: expected `*** Add File: `, `*** Update File: `, `*** Delete File: ` or `{END}`"
    ))
}

fn chunks<'a>(body: &[(usize, &'a str)]) -> Result<Vec<Chunk<'a>>, String> {
    let mut chunks: Vec<Chunk<'a>> = Vec::new();
    let mut open = false;
    for &(number, line) in body {
        if let Some(below) = line.strip_prefix("@@") {
            let below = Some(below.strip_prefix(' ').unwrap_or(below))
                .filter(|below| !below.trim().is_empty());
            chunks.push(Chunk {
                below,
                ..Chunk::default()
            });
            open = true;
            continue;
        }
        if !open {
            chunks.push(Chunk::default());
            open = true;
        }
        let Some(chunk) = chunks.last_mut() else {
            continue;
        };
        if line.trim_end() == END_OF_FILE {
            chunk.at_end = true;
            open = false;
            continue;
        }
        match line.split_at_checked(1) {
            // An empty line of context often comes without its space.
            None => {
                chunk.old.push("");
                chunk.new.push("");
            }
            Some((" ", text)) => {
                chunk.old.push(text);
                chunk.new.push(text);
            }
            Some(("-", text)) => chunk.old.push(text),
            Some(("+", text)) => chunk.new.push(text),
            Some(_) => {
                return Err(format!(
                    "line {number}: it begins with none of ` `, `-`, `+`, `@@`"
                ));
            }
        }
    }
    chunks.retain(|chunk| chunk.old != chunk.new);
    Ok(chunks)
}

/// The text of a file with the chunks applied, in order from its top.
pub(super) fn apply(text: &str, chunks: &[Chunk<'_>]) -> Result<String, String> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let lines: Vec<&str> = text.lines().collect();
    let (mut out, mut from): (Vec<&str>, usize) = (Vec::new(), 0);
    for chunk in chunks {
        let mut at = from;
        if let Some(below) = chunk.below {
            at = find(&lines, &[below], from, false)
                .map(|line| line + 1)
                .ok_or_else(|| not_found(&[below]))?;
        }
        let at = if !chunk.old.is_empty() {
            find(&lines, &chunk.old, at, chunk.at_end).ok_or_else(|| not_found(&chunk.old))?
        } else if chunk.below.is_some() && !chunk.at_end {
            at
        } else {
            lines.len()
        };
        out.extend(&lines[from..at]);
        out.extend(&chunk.new);
        from = at + chunk.old.len();
    }
    out.extend(&lines[from..]);
    let mut text = out.join(line_end);
    if !out.is_empty() {
        text.push_str(line_end);
    }
    Ok(text)
}

fn not_found(lines: &[&str]) -> String {
    format!(
        "these lines do not stand in it behind the changes before:\n{}",
        lines.join("\n")
    )
}

/// Where the lines stand from `from` on: as they are, else without white space at their ends, else around them too.
fn find(lines: &[&str], wanted: &[&str], from: usize, at_end: bool) -> Option<usize> {
    let last = lines.len().checked_sub(wanted.len())?;
    let first = if at_end { last.max(from) } else { from };
    let looks: [fn(&str) -> &str; 3] = [|line| line, str::trim_end, str::trim];
    looks.into_iter().find_map(|look| {
        (first..=last).find(|&at| {
            lines[at..]
                .iter()
                .zip(wanted)
                .all(|(line, wanted)| look(line) == look(wanted))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updated(text: &str, body: &str) -> Result<String, String> {
        let patch = format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch");
        match parse(&patch)?.as_slice() {
            [Change::Update { chunks, .. }] => apply(text, chunks),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn chunks_are_found_and_replaced() {
        let check = |text: &str, body: &str, expected: &str| {
            assert_eq!(updated(text, body).as_deref(), Ok(expected), "{body}");
        };
        check("a\nb\nc\n", "@@\n a\n-b\n+x\n c", "a\nx\nc\n");
        check("a\nb\na\nb\n", "@@ a\n-b\n+1\n@@ a\n-b\n+2", "a\n1\na\n2\n");
        check("a\nb\na\n", "@@\n-a\n+z\n*** End of File", "a\nb\nz\n");
        check("a\n", "@@\n+b", "a\nb\n");
        check("f()\nend\n", "@@ f()\n+  new", "f()\n  new\nend\n");
        check("a  \nb\n", "-a\n+x", "x\nb\n");
        check("a\r\nb\r\n", "-b\n+x", "a\r\nx\r\n");
        check("a\n\nb\n", " a\n\n-b\n+x", "a\n\nx\n");
        check("a\nb\n", "-a\n-b", "");
    }

    #[test]
    fn broken_patches_say_where() {
        let check = |patch: &str, reason: &str| {
            let error = parse(patch).unwrap_err();
            assert!(error.starts_with(reason), "{patch}: {error}");
        };
        check("", "the first line has to be");
        check("*** Begin Patch\n*** End Patch", "it changes nothing");
        check(
            "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b",
            "the last line has to be",
        );
        check(
            "*** Begin Patch\n*** Add File: f\nx\n*** End Patch",
            "line 3: each line",
        );
        check(
            "*** Begin Patch\n*** Rename: f\n*** End Patch",
            "line 2: expected",
        );
        check(
            "*** Begin Patch\n*** Update File: f\n?x\n*** End Patch",
            "line 3: it begins",
        );
        check(
            "*** Begin Patch\n*** Update File: f\n a\n*** End Patch",
            "line 2: no changes",
        );
        let missing = updated("a\n", "@@\n-zzz\n+y").unwrap_err();
        assert!(missing.ends_with("zzz"), "{missing}");
        assert!(updated("", "-a").is_err());
    }
}
