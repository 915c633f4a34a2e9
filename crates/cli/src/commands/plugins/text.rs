//! Paths, sizes and times as people read them.

use std::path::{Component, Path, PathBuf};

/// A path as text, for documents: what is not UTF-8 in it is replaced.
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// A path as one word of a shell command.
pub(crate) fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,~".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// An absolute path without `.`, doubled and trailing slashes, and without `..` where that leads to the same place.
/// Symbolic links stay as they were given.
pub(super) fn tidy(path: &Path) -> PathBuf {
    let kept: PathBuf = path.components().collect();
    let mut short = PathBuf::new();
    for component in kept.components() {
        match component {
            Component::ParentDir => {
                short.pop();
            }
            other => short.push(other),
        }
    }
    match (short.canonicalize(), kept.canonicalize()) {
        (Ok(one), Ok(other)) if one == other => short,
        _ => kept,
    }
}

/// A size in bytes, kB or MB.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// When a file was last written, in UTC.
pub(super) fn modified(path: &Path) -> Option<String> {
    let time = path.metadata().ok()?.modified().ok()?;
    let timestamp = jiff::Timestamp::try_from(time).ok()?;
    Some(format!("{timestamp:.0}"))
}

/// The last part of a path.
pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_cut_them() {
        let check = |path: &str, expected: &str| assert_eq!(word(Path::new(path)), expected);
        check("/tmp/plügin-漢字_1.x", "/tmp/plügin-漢字_1.x");
        check("/tmp/my plugin", "'/tmp/my plugin'");
        check("/tmp/it's", r"'/tmp/it'\''s'");
        check("/tmp/#(1)", "'/tmp/#(1)'");
    }

    #[test]
    fn paths_are_tidied_and_links_stay() {
        let root = tempfile::tempdir().expect("a temporary directory can be made");
        let at = |path: &str| root.path().join(path);
        std::fs::create_dir_all(at("a/b")).expect("a directory can be made");
        assert_eq!(tidy(&at("a/./b//")), at("a/b"));
        assert_eq!(tidy(&at("a/../a/b")), at("a/b"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("a/b"), at("link")).expect("a link can be made");
            assert_eq!(tidy(&at("link/")), at("link"));
            assert_eq!(tidy(&at("link/../b")), at("link/../b"));
        }
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(size(999), "999 bytes");
        assert_eq!(size(45_678), "45 kB");
        assert_eq!(size(3_450_000), "3.4 MB");
    }
}
