//! The list of skills in a prompt, cut to its limits. Pure.

use std::path::Path;

use super::Skill;
use crate::utf16::{head, utf16_len};

const DEFAULT_MAX_CHARS: usize = 18_000;
const LONGEST_CUT: usize = 220;
const SHORTEST_CUT: usize = 4;
const SHORTEST_CUT_FOR_WINDOW: usize = 64;
/// The share of a window that the list may take, in chars a token.
const WINDOW_SHARE: u64 = 5;

const GUIDANCE: &str = "\
Each skill below is a file of instructions for one kind of task.
When a task matches a description, read the file at its location first and follow it.
Paths inside a skill are relative to the folder of its file.";

/// What the list may take, in chars.
#[derive(Clone, Copy, Debug)]
pub struct SkillLimits {
    /// For any model.
    pub max_chars: usize,
    /// The window of the model at hand, which shortens descriptions further.
    pub window_tokens: Option<u64>,
}

impl Default for SkillLimits {
    fn default() -> Self {
        Self {
            max_chars: DEFAULT_MAX_CHARS,
            window_tokens: None,
        }
    }
}

/// The list as it stands in the prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillCatalogue {
    /// The text; empty without skills.
    pub text: String,
    /// Name of each listed skill, and the chars of its entry.
    pub entries: Vec<(String, usize)>,
}

/// How the entries are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Descriptions {
    Whole,
    Cut(usize),
    None,
}

/// Writes the list. `home` becomes `~` in locations.
#[must_use]
pub fn skill_catalogue(
    skills: &[Skill],
    limits: SkillLimits,
    home: Option<&Path>,
) -> SkillCatalogue {
    if skills.is_empty() {
        return SkillCatalogue::default();
    }
    let list = List { skills, home };
    let fits = |descriptions| list.chars(skills.len(), descriptions) <= limits.max_chars;
    let mut descriptions = Descriptions::Whole;
    let mut shown = skills.len();
    if !fits(descriptions) {
        descriptions =
            longest_cut(SHORTEST_CUT, fits).map_or(Descriptions::None, Descriptions::Cut);
        if descriptions == Descriptions::None {
            let counts: Vec<usize> = (1..=skills.len()).collect();
            shown = counts
                .partition_point(|&shown| list.chars(shown, descriptions) <= limits.max_chars);
        }
    }
    if let Some(window) = limits.window_tokens
        && descriptions != Descriptions::None
    {
        let target = usize::try_from(window / WINDOW_SHARE).unwrap_or(usize::MAX);
        let fits = |descriptions| list.chars(shown, descriptions) <= target;
        if !fits(descriptions) {
            let cut = longest_cut(SHORTEST_CUT_FOR_WINDOW, fits).unwrap_or(SHORTEST_CUT_FOR_WINDOW);
            descriptions = match descriptions {
                Descriptions::Cut(shorter) => Descriptions::Cut(cut.min(shorter)),
                Descriptions::Whole | Descriptions::None => Descriptions::Cut(cut),
            };
        }
    }
    list.catalogue(shown, descriptions)
}

/// A shorter cut never makes a longer list, so that halving finds the longest.
fn longest_cut(shortest: usize, fits: impl Fn(Descriptions) -> bool) -> Option<usize> {
    let cuts: Vec<usize> = (shortest..=LONGEST_CUT).collect();
    let fitting = cuts.partition_point(|&chars| fits(Descriptions::Cut(chars)));
    fitting.checked_sub(1).map(|at| cuts[at])
}

struct List<'a> {
    skills: &'a [Skill],
    home: Option<&'a Path>,
}

impl List<'_> {
    fn chars(&self, shown: usize, descriptions: Descriptions) -> usize {
        utf16_len(&self.catalogue(shown, descriptions).text)
    }

    fn catalogue(&self, shown: usize, descriptions: Descriptions) -> SkillCatalogue {
        let mut text = String::from(GUIDANCE);
        let total = self.skills.len();
        let how = match descriptions {
            Descriptions::Whole => "",
            Descriptions::Cut(_) => "; descriptions are shortened",
            Descriptions::None => "; descriptions are left out",
        };
        if descriptions != Descriptions::Whole || shown < total {
            text.push_str(&format!("\n⚠️ {shown} of {total} skills are listed{how}."));
        }
        text.push_str("\n\n<available_skills>");
        let mut entries = Vec::new();
        for skill in &self.skills[..shown] {
            let block = self.block(skill, descriptions);
            text.push_str(&format!("\n  {block}"));
            entries.push((skill.name.clone(), utf16_len(&block)));
        }
        text.push_str("\n</available_skills>");
        SkillCatalogue { text, entries }
    }

    fn block(&self, skill: &Skill, descriptions: Descriptions) -> String {
        let description = match descriptions {
            Descriptions::Whole => Some(skill.description.clone()),
            Descriptions::Cut(chars) => Some(shortened(&skill.description, chars)),
            Descriptions::None => None,
        };
        let description = description.map_or_else(String::new, |text| {
            format!("    <description>{}</description>\n", escaped(&text))
        });
        format!(
            "<skill>\n    <name>{}</name>\n{description}    <location>{}</location>\n  </skill>",
            escaped(&skill.name),
            escaped(&self.location(&skill.path))
        )
    }

    fn location(&self, path: &Path) -> String {
        let below = self.home.and_then(|home| path.strip_prefix(home).ok());
        below.map_or_else(
            || path.display().to_string(),
            |below| format!("~/{}", below.display()),
        )
    }
}

fn shortened(text: &str, chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    if utf16_len(&text) <= chars {
        return text;
    }
    format!("{}...", head(&text, chars.saturating_sub(3)).trim_end())
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skills(count: usize, description: &str) -> Vec<Skill> {
        let skill = |number| Skill {
            name: format!("s{number:03}"),
            description: description.to_owned(),
            path: format!("/home/ada/skills/s{number:03}/SKILL.md").into(),
        };
        (0..count).map(skill).collect()
    }

    #[test]
    fn the_list_shows_name_description_and_location() {
        let home = Some(Path::new("/home/ada"));
        let list = skill_catalogue(&skills(1, "<b> & 'c'"), SkillLimits::default(), home);
        let block = "<skill>\n    <name>s000</name>\n    <description>&lt;b&gt; &amp; &apos;c&apos;</description>\n    \
                     <location>~/skills/s000/SKILL.md</location>\n  </skill>";
        assert_eq!(
            list.text,
            format!("{GUIDANCE}\n\n<available_skills>\n  {block}\n</available_skills>")
        );
        assert_eq!(list.entries, [("s000".to_owned(), block.len())]);
        assert_eq!(
            skill_catalogue(&[], SkillLimits::default(), home),
            SkillCatalogue::default()
        );
    }

    #[test]
    fn a_long_list_loses_words_then_descriptions_then_skills() {
        let check = |count, max_chars, words: &str| {
            let limits = SkillLimits {
                max_chars,
                window_tokens: None,
            };
            let list = skill_catalogue(&skills(count, &"word ".repeat(60)), limits, None);
            assert!(utf16_len(&list.text) <= max_chars, "{count}");
            assert!(list.text.contains(words), "{}", &list.text[..400]);
            list
        };
        let cut = check(
            100,
            18_000,
            "⚠️ 100 of 100 skills are listed; descriptions are shortened.",
        );
        assert!(cut.text.contains("...</description>"));
        // One char more in each description would not fit.
        assert!(utf16_len(&cut.text) + 100 > 18_000);
        let bare = check(
            150,
            16_000,
            "⚠️ 150 of 150 skills are listed; descriptions are left out.",
        );
        assert!(!bare.text.contains("<description>"));
        let fewer = check(
            150,
            5_000,
            "of 150 skills are listed; descriptions are left out.",
        );
        assert!(fewer.entries.len() < 60 && !fewer.entries.is_empty());
    }

    #[test]
    fn a_small_window_shortens_descriptions_down_to_a_limit() {
        let list = |window_tokens, count| {
            let limits = SkillLimits {
                window_tokens: Some(window_tokens),
                ..SkillLimits::default()
            };
            skill_catalogue(&skills(count, &"x".repeat(300)), limits, None).text
        };
        let text = list(20_000, 15);
        assert!(
            utf16_len(&text) <= 4_000 && utf16_len(&text) + 15 > 4_000,
            "{}",
            utf16_len(&text)
        );
        let text = list(1_000, 20);
        assert!(text.contains(&format!(">{}...<", "x".repeat(61))), "{text}");
        assert!(!list(200_000, 20).contains("..."));
    }
}
