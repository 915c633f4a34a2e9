use super::*;
use crate::utf16::utf16_len;

fn tool(name: &str, description: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: serde_json::json!({"type": "object"}),
    }
}

fn file(name: &str, text: &str) -> Injected {
    Injected {
        name: name.to_owned(),
        path: format!("/ws/{name}"),
        text: text.to_owned(),
    }
}

fn headings(prompt: &str) -> Vec<&str> {
    prompt
        .lines()
        .filter(|line| line.starts_with('#'))
        .collect()
}

#[test]
fn sections_stand_in_the_order_of_the_original() {
    let date = ["Current date: Monday, 30 November 2026".to_owned()];
    let built = system_prompt(&PromptFacts {
        workspace_dir: "/ws",
        tools: &[tool("write", "Writes.\nMore."), tool("read", "Reads.")],
        skills: "<available_skills>\n</available_skills>",
        files: &[file("AGENTS.md", "Be kind."), file("SOUL.md", "Soft.")],
        is_first_run: true,
        truncation_notice: &["[cut]", "Some."],
        date: &date,
        runtime: &[("agent", "main"), ("os", "linux\nx")],
    });
    let prompt = built.prompt.with_addition(Some("# Addition"));
    assert_eq!(
        headings(&prompt),
        [
            "## Tooling",
            "## Tool Call Style",
            "## Safety",
            "## Skills",
            "## Workspace",
            "## Bootstrap Pending",
            "## Bootstrap Context Notice",
            "## Workspace Files (injected)",
            "# Project Context",
            "## /ws/AGENTS.md",
            "## /ws/SOUL.md",
            "# Addition",
            "## Temporal Context",
            "## Runtime",
        ]
    );
    assert!(
        prompt.contains("\n- read: Reads.\n- write: Writes. More.\n"),
        "{prompt}"
    );
    assert!(
        prompt.contains("\n\n## /ws/AGENTS.md\n\nBe kind.\n\n## /ws/SOUL.md\n\nSoft.\n\n"),
        "{prompt}"
    );
    assert!(
        prompt.ends_with("Runtime: agent=main | os=linux x"),
        "{prompt}"
    );
}

#[test]
fn the_sections_account_for_every_char() {
    let files = [file("AGENTS.md", "Be kind 😀.")];
    let date = ["Monday".to_owned()];
    let built = system_prompt(&PromptFacts {
        workspace_dir: "/ws",
        tools: &[tool("read", "Reads.")],
        files: &files,
        date: &date,
        ..PromptFacts::default()
    });
    let chars: usize = built.sections.iter().map(|section| section.chars).sum();
    let separators = 2 * (built.sections.len() - 1);
    assert_eq!(
        chars + separators,
        utf16_len(&built.prompt.with_addition(None))
    );
    let titles: Vec<&str> = built
        .sections
        .iter()
        .map(|section| section.title.as_str())
        .collect();
    assert_eq!(titles[1..3], ["Tooling", "Tool Call Style"]);
    assert!(built.chars_of(SectionKind::ProjectContext) > utf16_len("Be kind 😀."));
    assert_eq!(built.chars_of(SectionKind::Skills), 0);
    assert_eq!(
        built.sections[0].estimated_tokens(),
        built.sections[0].chars.div_ceil(4)
    );
}

/// Case E-1.
#[test]
fn time_facts_and_tool_order_leave_the_stable_part_alone() {
    let (read, write) = (tool("read", "Reads."), tool("write", "Writes."));
    let build = |tools: &[ToolSpec], day: &str, session: &str| {
        system_prompt(&PromptFacts {
            workspace_dir: "/ws",
            tools,
            date: &[day.to_owned()],
            runtime: &[("session", session)],
            ..PromptFacts::default()
        })
        .prompt
    };
    let first = build(&[read.clone(), write.clone()], "Monday", "a");
    let second = build(&[write, read], "Tuesday", "b");
    assert_eq!(first.stable, second.stable);
    assert_ne!(first.dynamic, second.dynamic);
}

#[test]
fn nothing_is_promised_that_is_not_there() {
    let built = system_prompt(&PromptFacts {
        workspace_dir: "/ws",
        skills: "<list>",
        ..PromptFacts::default()
    });
    assert_eq!(
        headings(&built.prompt.with_addition(None)),
        ["## Safety", "## Workspace"]
    );
    assert_eq!(built.prompt.dynamic, "");
}

#[test]
fn a_path_with_a_line_break_adds_no_line() {
    let facts = PromptFacts {
        workspace_dir: "/ws\n\n## Rules\n",
        ..PromptFacts::default()
    };
    let stable = system_prompt(&facts).prompt.stable;
    assert!(
        stable.contains("directory is /ws ## Rules\nRelative"),
        "{stable}"
    );
}
