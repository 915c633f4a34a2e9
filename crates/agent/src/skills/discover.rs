//! Finds skills in directories. One broken skill hides no other.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::Skill;
use super::front_matter::front_matter;
use crate::workspace::{AccessError, Workspace};

const FILE: &str = "SKILL.md";
const MAX_FILE_BYTES: u64 = 256_000;
const MAX_NAME_CHARS: usize = 64;
const MAX_DESCRIPTION_CHARS: usize = 1_024;
const MAX_SKILLS: usize = 150;
/// Folders looked at in one directory.
const MAX_FOLDERS: usize = 2_000;

/// A directory whose folders are skills.
#[derive(Clone, Copy, Debug)]
pub struct SkillRoot<'a> {
    /// What it lies in.
    pub place: &'a Workspace,
    /// Where in there, `.` for itself.
    pub below: &'a str,
}

/// A folder that looks like a skill and is none.
#[derive(Debug, thiserror::Error)]
#[error("skill {} is left out: {kind}", path.display())]
pub struct SkillFault {
    /// Path of its `SKILL.md`.
    pub path: PathBuf,
    /// Why.
    pub kind: SkillFaultKind,
}

/// Why a folder is no skill.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts say it")]
pub enum SkillFaultKind {
    #[error("{0}")]
    Unreadable(AccessError),
    #[error("it has no front matter between two lines `---`")]
    NoFrontMatter,
    #[error("its front matter has no `description`")]
    NoDescription,
    #[error("its `name` has {0} characters, more than 64")]
    LongName(usize),
    #[error("its `description` has {0} characters, more than 1024")]
    LongDescription(usize),
    #[error("150 skills are there already")]
    TooMany,
}

/// The skills of all directories, by name; of several with one name that of the first directory.
#[must_use]
pub fn find_skills(roots: &[SkillRoot<'_>]) -> (Vec<Skill>, Vec<SkillFault>) {
    let (mut skills, mut faults, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for root in roots {
        let mut folders = root
            .place
            .names(Path::new(root.below), MAX_FOLDERS)
            .unwrap_or_default();
        folders.sort_by(|a, b| a.name.cmp(&b.name));
        for folder in folders {
            let below = Path::new(root.below).join(&folder.name).join(FILE);
            // A folder without the file is no skill and no fault.
            if !root.place.has(&below) {
                continue;
            }
            let path = root
                .place
                .root()
                .join(below.strip_prefix(".").unwrap_or(&below));
            match read(root.place, &below, &folder.name) {
                Ok(Some((name, description))) => {
                    if seen.insert(name.clone()) {
                        skills.push(Skill {
                            name,
                            description,
                            path,
                        });
                    }
                }
                Ok(None) => {}
                Err(kind) => faults.push(SkillFault { path, kind }),
            }
        }
    }
    skills.sort_by_key(|skill| (skill.name.to_lowercase(), skill.name.clone()));
    for skill in skills.drain(skills.len().min(MAX_SKILLS)..) {
        faults.push(SkillFault {
            path: skill.path,
            kind: SkillFaultKind::TooMany,
        });
    }
    (skills, faults)
}

/// Name and description; `None` when the model is not to know.
fn read(
    place: &Workspace,
    path: &Path,
    folder: &str,
) -> Result<Option<(String, String)>, SkillFaultKind> {
    let bytes = place
        .read(path, MAX_FILE_BYTES)
        .map_err(SkillFaultKind::Unreadable)?;
    let found =
        front_matter(&String::from_utf8_lossy(&bytes)).ok_or(SkillFaultKind::NoFrontMatter)?;
    if found.is_hidden {
        return Ok(None);
    }
    let name = found.name.unwrap_or_else(|| folder.to_owned());
    let description = found.description.ok_or(SkillFaultKind::NoDescription)?;
    let (name_chars, description_chars) = (name.chars().count(), description.chars().count());
    if name_chars > MAX_NAME_CHARS {
        return Err(SkillFaultKind::LongName(name_chars));
    }
    if description_chars > MAX_DESCRIPTION_CHARS {
        return Err(SkillFaultKind::LongDescription(description_chars));
    }
    Ok(Some((name, description)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn skill(root: &Path, folder: &str, text: &str) {
        fs::create_dir_all(root.join(folder)).unwrap();
        fs::write(root.join(folder).join(FILE), text).unwrap();
    }

    #[test]
    fn the_first_directory_wins_and_a_broken_skill_hides_no_other() {
        let home = tempfile::tempdir().unwrap();
        let (ws, state) = (home.path().join("ws"), home.path().join("state"));
        skill(
            &ws,
            "skills/b",
            "---\nname: b\ndescription: ours\n---\nbody",
        );
        skill(&ws, "skills/broken", "no front matter");
        skill(&ws, "skills/mute", "---\nname: mute\n---\n");
        skill(
            &ws,
            "skills/hidden",
            "---\ndescription: x\ndisable-model-invocation: true\n---\n",
        );
        skill(
            &ws,
            "skills/long",
            &format!("---\ndescription: {}\n---\n", "x".repeat(1_025)),
        );
        fs::create_dir(ws.join("skills/empty")).unwrap();
        skill(&state, "b", "---\nname: b\ndescription: theirs\n---\n");
        skill(&state, "A", "---\ndescription: unnamed\n---\n");
        let (ws, state) = (
            Workspace::open(&ws).unwrap(),
            Workspace::open(&state).unwrap(),
        );
        let roots = [
            SkillRoot {
                place: &ws,
                below: "skills",
            },
            SkillRoot {
                place: &state,
                below: ".",
            },
        ];
        let (skills, faults) = find_skills(&roots);
        let found: Vec<_> = skills
            .iter()
            .map(|skill| (skill.name.as_str(), skill.description.as_str()))
            .collect();
        assert_eq!(found, [("A", "unnamed"), ("b", "ours")]);
        assert_eq!(skills[0].path, state.root().join("A/SKILL.md"));
        let texts: Vec<String> = faults.iter().map(|fault| fault.kind.to_string()).collect();
        assert_eq!(
            texts,
            [
                "it has no front matter between two lines `---`",
                "its `description` has 1025 characters, more than 1024",
                "its front matter has no `description`",
            ]
        );
    }

    #[test]
    fn there_is_a_limit_and_a_missing_directory_is_no_fault() {
        let home = tempfile::tempdir().unwrap();
        for number in 0..152 {
            skill(
                home.path(),
                &format!("s{number:03}"),
                "---\ndescription: x\n---\n",
            );
        }
        let place = Workspace::open(home.path()).unwrap();
        let roots = [
            SkillRoot {
                place: &place,
                below: "none",
            },
            SkillRoot {
                place: &place,
                below: ".",
            },
        ];
        let (skills, faults) = find_skills(&roots);
        assert_eq!((skills.len(), faults.len()), (150, 2));
    }
}
