//! What teaches the command line: help, completion, the manual. And what none of them does: run anything.

use crate::home::Home;
use std::fs;

/// Case N-18.
#[test]
fn help_teaches_and_runs_nothing() {
    let home = Home::new();
    home.run("--help").succeeds().shows(&[
        "Exit codes:",
        "  2  the command line",
        "plugins init demo",
    ]);
    for (line, texts) in [
        (
            "plugins init --help",
            &["Examples:", "openclaw plugins init demo", "--directory"][..],
        ),
        ("plugins init demo --help", &["Examples:"]),
        (
            "plugins install -l nowhere --build --help",
            &["openclaw plugins install -l . --build"],
        ),
        (
            "doctor --fix --help",
            &["openclaw doctor --fix", "--no-run"],
        ),
    ] {
        home.run(line).succeeds().shows(texts);
    }
    assert!(!home.state_dir().exists());
    assert!(!home.path("demo").exists());
}

#[test]
fn shells_complete_every_command() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = home.run(&format!("completion --shell {shell}")).succeeds();
        for word in ["openclaw", "init", "inspect", "recommit", "no-run"] {
            assert!(ran.stdout.contains(word), "{shell} knows no {word}");
        }
        assert!(!ran.stdout.contains('\u{fffd}'), "{shell}");
        let document = home
            .run(&format!("completion --shell {shell} --json"))
            .succeeds()
            .json();
        assert_eq!(document["script"].as_str().unwrap(), ran.stdout, "{shell}");
    }
    let mut command = home.command(["completion"]);
    let ran = home.finish(command.env("SHELL", "/bin/fish")).succeeds();
    assert!(ran.stdout.contains("complete -c openclaw"), "{ran:#?}");
    home.run("completion")
        .fails()
        .shows(&["it is not known which shell", "--shell zsh"]);
    home.run("completion --shell vi").refused();
    assert!(!home.state_dir().exists());
}

#[test]
fn manual_has_a_page_for_each_command_and_none_for_hidden_ones() {
    let home = Home::new();
    home.run("man")
        .succeeds()
        .shows(&[".TH openclaw 1", "Exit codes"]);
    home.run("man --out pages")
        .succeeds()
        .shows(&["pages to ~~/here/pages"]);
    let page = |name: &str| fs::read_to_string(home.path("pages").join(name));
    assert!(
        page("openclaw-plugins-inspect.1")
            .unwrap()
            .contains("openclaw plugins inspect")
    );
    assert!(
        page("openclaw-sessions-export.1")
            .unwrap()
            .contains("Examples")
    );
    assert!(page("openclaw-probe-engine.1").is_err());
    assert!(page("openclaw-help.1").is_err());
}

/// Nothing colours what is not a terminal, whatever the environment says of it.
#[test]
fn pipes_get_no_colour() {
    let home = Home::new();
    for line in [
        "--help",
        "doctor --no-run",
        "plugins list",
        "plugins inspect ghost",
        "plugins init ../x",
    ] {
        let mut command = home.command(line.split(' '));
        let ran = home.finish(command.env("NO_COLOR", "1").env("TERM", "xterm-256color"));
        assert!(
            !ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'),
            "{line}: {ran:#?}"
        );
    }
}
