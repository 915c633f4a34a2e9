//! Who may change a plugin, and whether it is the one that was allowed.
//!
//! The rules of the original: whoever may write the directory or the library may run code as the user of this host. They
//! are read off the file system before anything runs, and off the hash of the very bytes that will run.

mod fault;
mod files;

pub use fault::TrustFault;
pub use files::check_file;

use crate::directory::BuildDirectory;
use crate::error::{LoadError, LoadErrorKind};
use std::collections::BTreeSet;

/// What the operator and the record of the installation say of a plugin's library. The default allows any link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The only libraries that may be loaded, by SHA-256 in lower-case hex. `None` allows all.
    pub allowed: Option<BTreeSet<String>>,
    /// How the plugin came here.
    pub provenance: Provenance,
}

/// How a plugin came here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// Its files were copied at installation: nobody has a reason to change them.
    Copied {
        /// SHA-256 of the library as it was copied, lower-case hex.
        sha256: String,
    },
    /// It is used where it was built, and built again at will.
    Linked {
        /// SHA-256 of the library as it was linked, lower-case hex; `None` when nobody recorded it.
        sha256: Option<String>,
    },
}

impl Default for Provenance {
    fn default() -> Self {
        Self::Linked { sha256: None }
    }
}

impl Trust {
    /// Whether the library with this hash is another one than was linked. Information, and never a refusal.
    #[must_use]
    pub fn is_changed_since_linked(&self, sha256: &str) -> bool {
        let Provenance::Linked { sha256: linked } = &self.provenance else {
            return false;
        };
        linked.as_ref().is_some_and(|linked| linked != sha256)
    }

    /// Judges files and hash.
    pub(crate) fn check(&self, plugin: &BuildDirectory) -> Result<(), LoadError> {
        files::check(&plugin.path, &plugin.library)?;
        self.check_hash(&plugin.sha256)
            .map_err(|fault| LoadErrorKind::Untrusted(fault).at(&plugin.library))
    }

    fn check_hash(&self, found: &str) -> Result<(), TrustFault> {
        if let Provenance::Copied { sha256 } = &self.provenance
            && sha256 != found
        {
            return Err(TrustFault::Changed {
                found: found.to_owned(),
                installed: sha256.clone(),
            });
        }
        match &self.allowed {
            Some(allowed) if !allowed.contains(found) => Err(TrustFault::NotAllowed {
                sha256: found.to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_judged_by_provenance_and_by_the_operators_list() {
        let linked = |sha256: Option<&str>| Provenance::Linked {
            sha256: sha256.map(str::to_owned),
        };
        let copied = |sha256: &str| Provenance::Copied {
            sha256: sha256.into(),
        };
        let code = |provenance: Provenance, allowed: Option<&[&str]>| {
            let allowed = allowed.map(|hashes| hashes.iter().map(ToString::to_string).collect());
            let trust = Trust {
                allowed,
                provenance,
            };
            (
                trust.check_hash("a").err().map(|fault| fault.code()),
                trust.is_changed_since_linked("a"),
            )
        };
        for (provenance, allowed, expected) in [
            (linked(None), None, (None, false)),
            (linked(Some("a")), None, (None, false)),
            (linked(Some("b")), None, (None, true)),
            (copied("a"), None, (None, false)),
            (copied("b"), None, (Some("load/changed"), false)),
            (linked(None), Some(&["a", "b"][..]), (None, false)),
            (
                linked(Some("a")),
                Some(&["b"]),
                (Some("load/not-allowed"), false),
            ),
            (copied("a"), Some(&[]), (Some("load/not-allowed"), false)),
        ] {
            let text = format!("{provenance:?}, {allowed:?}");
            assert_eq!(code(provenance, allowed), expected, "{text}");
        }
    }
}
