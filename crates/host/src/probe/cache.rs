//! Verdicts on disk, by library and settings: what was found once is not looked for again.
//!
//! A file that is damaged, of another format or of other probes counts as no verdict.

use super::verdict::Verdict;
use crate::store::make_private_directory;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Goes up when a probe is added or changed, so that engines are probed anew.
const REVISION: u32 = 1;

/// Verdicts that are kept; a library that is built again and again leaves one each time.
const KEPT: usize = 200;

/// The verdicts of one state directory.
#[derive(Clone, Debug)]
pub struct ProbeCache {
    directory: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    revision: u32,
    #[serde(flatten)]
    verdict: Verdict,
}

impl ProbeCache {
    /// The verdicts below `<state dir>/native`.
    #[must_use]
    pub fn new(native_dir: &Path) -> Self {
        Self {
            directory: native_dir.join("probes"),
        }
    }

    /// What is known of a library with these settings.
    #[must_use]
    pub fn read(&self, library_sha256: &str, settings: &Value) -> Option<Verdict> {
        let text = fs::read(self.path(library_sha256, settings)).ok()?;
        let file: File = serde_json::from_slice(&text).ok()?;
        (file.revision == REVISION && file.verdict.library_sha256 == library_sha256)
            .then_some(file.verdict)
    }

    /// Keeps a verdict, for the owner's eyes only.
    ///
    /// # Errors
    ///
    /// The file or its directory cannot be written.
    pub fn write(&self, verdict: &Verdict, settings: &Value) -> io::Result<()> {
        make_private_directory(&self.directory)?;
        let file = File {
            revision: REVISION,
            verdict: verdict.clone(),
        };
        let path = self.path(&verdict.library_sha256, settings);
        let staged = path.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options
            .open(&staged)?
            .write_all(&serde_json::to_vec_pretty(&file)?)?;
        fs::rename(&staged, &path)?;
        self.forget_oldest();
        Ok(())
    }

    fn path(&self, library_sha256: &str, settings: &Value) -> PathBuf {
        let digest = Sha256::digest(canonical(settings).to_string().as_bytes());
        let hash: String = digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.directory.join(format!("{library_sha256}-{hash}.json"))
    }

    fn forget_oldest(&self) {
        let entries = fs::read_dir(&self.directory)
            .into_iter()
            .flatten()
            .flatten();
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort_unstable();
        let surplus = files.len().saturating_sub(KEPT);
        for (_, path) in files.drain(..surplus) {
            // One that stays costs a few hundred bytes.
            let _ = fs::remove_file(path);
        }
    }
}

/// Settings with sorted keys; none at all are an empty object.
fn canonical(settings: &Value) -> Value {
    match settings {
        Value::Null => Value::Object(Map::new()),
        other => sorted(other),
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            let fields = fields
                .into_iter()
                .map(|(key, value)| (key.clone(), sorted(value)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, ProbeOutcome};
    use super::*;
    use serde_json::json;

    fn verdict(sha256: &str) -> Verdict {
        let outcome = |name: &str, finding| ProbeOutcome {
            name: name.into(),
            finding,
        };
        Verdict {
            engine_id: "e".into(),
            library_sha256: sha256.into(),
            probed_at_ms: 1,
            elapsed_ms: 2,
            probes: vec![
                outcome("one", Finding::Passed),
                outcome("two", Finding::Failed("because".into())),
                outcome("three", Finding::NotApplicable("of two".into())),
            ],
        }
    }

    #[test]
    fn verdict_is_found_by_library_and_settings_alone() {
        let home = tempfile::tempdir().unwrap();
        let cache = ProbeCache::new(home.path());
        assert_eq!(cache.read("aa", &Value::Null), None);
        cache
            .write(&verdict("aa"), &json!({"a": 1, "b": {"c": 2, "d": 3}}))
            .unwrap();
        let same = json!({"b": {"d": 3, "c": 2}, "a": 1});
        assert_eq!(cache.read("aa", &same), Some(verdict("aa")));
        assert_eq!(cache.read("aa", &same).unwrap().failed().unwrap().0, "two");
        assert_eq!(cache.read("aa", &json!({"a": 2})), None, "other settings");
        assert_eq!(cache.read("ab", &same), None, "other library");
        cache.write(&verdict("aa"), &Value::Null).unwrap();
        assert_eq!(cache.read("aa", &json!({})), Some(verdict("aa")));
    }

    #[test]
    fn damaged_and_foreign_files_are_no_verdict() {
        let home = tempfile::tempdir().unwrap();
        let cache = ProbeCache::new(home.path());
        cache.write(&verdict("aa"), &Value::Null).unwrap();
        let path = cache.path("aa", &Value::Null);
        let whole = fs::read_to_string(&path).unwrap();
        let is_read = |text: &str| {
            fs::write(&path, text).unwrap();
            cache.read("aa", &Value::Null).is_some()
        };
        assert!(is_read(&whole));
        assert!(!is_read(&whole[..whole.len() / 2]), "cut");
        assert!(!is_read(""), "empty");
        assert!(!is_read("{}"), "of something else");
        assert!(
            !is_read(&whole.replace("\"revision\": 1", "\"revision\": 0")),
            "of older probes"
        );
        assert!(
            !is_read(&whole.replace("\"aa\"", "\"bb\"")),
            "renamed from another library"
        );
    }

    #[cfg(unix)]
    #[test]
    fn verdicts_are_for_the_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let cache = ProbeCache::new(home.path());
        cache.write(&verdict("aa"), &Value::Null).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&cache.directory), 0o700);
        assert_eq!(mode(&cache.path("aa", &Value::Null)), 0o600);
        let left = fs::read_dir(&cache.directory).unwrap().count();
        assert_eq!(left, 1, "no staged file stays");
    }
}
