//! What goes to which stream, and what happens when a stream takes nothing. Arguments and variables that are no text.

use crate::home::{Home, select_unruly, write};
use serde_json::{Value, json};

/// Case J-1.
#[cfg(unix)]
#[test]
fn what_a_plugin_prints_goes_to_stderr() {
    let home = Home::new().probed();
    select_unruly(&home, "unruly", json!({ "assemble": "print" }));
    let ran = home.run("agent -m hello --json").succeeds();
    assert_eq!(ran.json()["turn"]["served"]["engineId"], "unruly");
    ran.shows(&["unruly prints"]);
    let ran = home.run("agent -m hello").succeeds();
    assert!(!ran.stdout.contains("unruly"), "{ran:#?}");
    assert!(ran.stdout.contains("hello"), "{ran:#?}");
    assert!(ran.stderr.contains("unruly prints"), "{ran:#?}");
    let ran = home.run("sessions recommit --json").succeeds();
    assert_eq!(ran.json()["ok"], true);
    for line in [
        "doctor --json",
        "plugins reload unruly --json",
        "plugins doctor --json",
    ] {
        let ran = home.run(line).succeeds();
        assert_eq!(ran.json()["ok"], true, "{line}");
    }
    // A panic is reported by whoever panics.
    let mut command = home.command(["plugins", "inspect", "unruly", "--runtime", "--json"]);
    let ran = home
        .finish(command.env("UNRULY_INFO_PANICS", "1"))
        .succeeds();
    assert_eq!(ran.json()["plugin"]["status"], "error");
    assert_eq!(ran.json()["plugin"]["failurePhase"], "register");
}

#[cfg(target_os = "linux")]
mod full_and_closed {
    use super::*;
    use std::fs::File;
    use std::io::pipe;
    use std::process::Stdio;

    fn full() -> Stdio {
        let full = File::options().write(true).open("/dev/full");
        full.expect("Linux has /dev/full").into()
    }

    /// A pipe whose reader is gone.
    fn closed() -> Stdio {
        let (_, writer) = pipe().expect("a pipe can be made");
        writer.into()
    }

    #[track_caller]
    fn run(home: &Home, line: &str, stdout: Stdio, stderr: Stdio) -> crate::home::Ran {
        let mut command = home.command(line.split(' '));
        let child = command.stdout(stdout).stderr(stderr).spawn();
        let output = child.and_then(std::process::Child::wait_with_output);
        let output = output.expect("the command can be run");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ran = crate::home::Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        };
        assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
        ran
    }

    #[test]
    fn full_disk_behind_stdout_is_an_error_after_the_work() {
        let home = Home::new().probed();
        for line in [
            "agent -m hello",
            "agent -m hello --json",
            "doctor",
            "--help",
            "plugins list",
        ] {
            run(&home, line, full(), Stdio::piped())
                .fails()
                .shows(&["error: cannot write to stdout: No space left"]);
        }
        let kept = home.run("sessions export").succeeds();
        let turns = kept.stdout.matches(r#""role":"assistant""#);
        assert_eq!(turns.count(), 2, "{kept:#?}");
    }

    #[test]
    fn reader_that_went_away_ends_the_output_quietly() {
        let home = Home::new().probed();
        for line in [
            "agent -m hello",
            "agent -m hello --json",
            "doctor",
            "--help",
            "plugins list",
        ] {
            let ran = run(&home, line, closed(), Stdio::piped()).succeeds();
            assert!(!ran.stderr.contains("error"), "{ran:#?}");
        }
        run(
            &home,
            "agent -m hello --model no/no",
            closed(),
            Stdio::piped(),
        )
        .fails();
    }

    #[test]
    fn stderr_that_takes_nothing_changes_nothing() {
        let home = Home::new().probed();
        for stderr in [full, closed] {
            for line in ["agent -m hello", "agent -m hello -vv"] {
                let ran = run(&home, line, Stdio::piped(), stderr()).succeeds();
                assert!(ran.stdout.contains("hello"), "{ran:#?}");
            }
            run(
                &home,
                "agent -m hello --model no/no",
                Stdio::piped(),
                stderr(),
            )
            .fails();
            run(&home, "agent --no", Stdio::piped(), stderr()).refused();
        }
    }
}

#[test]
fn wrong_usage_with_json_is_a_document() {
    let home = Home::new().probed();
    for line in [
        "agent --json",
        "--json",
        "plugins install --json",
        "agent --what --json",
    ] {
        let ran = home.run(line).refused();
        let document = ran.json();
        assert_eq!(document["ok"], false, "{line}");
        assert_eq!(document["error"]["code"], "usage", "{line}");
        let message = document["error"]["message"].as_str().unwrap();
        assert!(
            !message.is_empty() && !message.contains('\n'),
            "{message:?}"
        );
        assert_ne!(document["error"]["help"], Value::Null, "{line}");
        assert!(ran.stderr.contains("Usage"), "{ran:#?}");
    }
    let ran = home.run("agent").refused();
    assert_eq!(ran.stdout, "");
    let help = home.run("--json --help").succeeds();
    assert!(help.stdout.contains("Usage:"), "{help:#?}");
    let version = home.run("--json --version").succeeds();
    assert!(version.stdout.starts_with("openclaw "), "{version:#?}");
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_are_refused_at_the_edge() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new().probed();
    let bad = OsStr::from_bytes(b"/tmp/\xff");
    for variable in [
        "OPENCLAW_HOME",
        "OPENCLAW_STATE_DIR",
        "OPENCLAW_CONFIG_PATH",
    ] {
        for words in [["doctor", "--json"], ["sessions", "list"]] {
            let mut command = home.command(words);
            home.finish(command.env(variable, bad))
                .refused()
                .shows(&[variable, "UTF-8"]);
        }
    }
    let words = ["plugins", "install", "--json", "-l"].map(OsStr::new);
    let ran = home.finish(&mut home.command(words.into_iter().chain([bad])));
    let ran = ran.refused();
    assert_eq!(ran.json()["error"]["message"], "an argument is not UTF-8");
    for words in [["plugins", "build"], ["sessions", "import"]] {
        let words = words.map(OsStr::new).into_iter().chain([bad]);
        home.finish(&mut home.command(words))
            .refused()
            .shows(&["UTF-8"]);
    }
    let odd = home.path("").join(OsStr::from_bytes(b"odd\xff"));
    std::fs::create_dir(&odd).unwrap();
    let mut command = home.command(["agent", "-m", "hello", "--json"]);
    home.finish(command.current_dir(&odd))
        .fails()
        .shows(&["current directory", "UTF-8"]);
    // A link in UTF-8 to such a place works.
    let link = home.path("link");
    std::os::unix::fs::symlink(support::build_directory("window", &odd), &link).unwrap();
    let install = ["plugins", "install", "--json", "-l", link.to_str().unwrap()];
    home.finish(&mut home.command(install)).succeeds().json();
    let list = home.run("plugins list --json").succeeds().json();
    assert_eq!(list["plugins"][0]["id"], "window");
    home.run("agent -m hello --json").succeeds().json();
}

#[test]
fn texts_of_others_do_not_steer_the_terminal() {
    let home = Home::new().probed();
    home.write_config(r#"{"plugins": {"slots": {"contextEngine": "x\u001b[2Jy"}}}"#);
    for line in ["agent -m hello", "doctor", "plugins list", "sessions list"] {
        let ran = home.run(line);
        assert!(!ran.stdout.contains('\u{1b}'), "{ran:#?}");
        assert!(!ran.stderr.contains('\u{1b}'), "{ran:#?}");
    }
    for line in ["agent -m hello", "doctor", "plugins list"] {
        home.run(line).shows(&["x\u{fffd}[2Jy"]);
    }
}

/// Case M-1.
#[cfg(unix)]
#[test]
fn pipes_in_place_of_files_are_named_and_not_waited_for() {
    let home = Home::new().probed();
    let directory = select_unruly(&home, "unruly", json!({}));
    let pipe = |path: &std::path::Path| {
        let _ = std::fs::remove_file(path);
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.expect("mkfifo is there").success());
    };
    pipe(&directory.join("openclaw.plugin.json"));
    for line in ["agent -m hello", "doctor", "plugins list"] {
        home.run(line).shows(&["not a regular file"]);
    }
    home.write_config("{}");
    let native = home.state_dir().join("native/native.json5");
    write(&native, "");
    pipe(&native);
    home.run("agent -m hello")
        .fails()
        .shows(&["native.json5", "not a regular file"]);
    pipe(&home.config_path());
    for line in ["agent -m hello", "doctor", "plugins list"] {
        home.run(line)
            .shows(&["openclaw.json", "not a regular file"]);
    }
}
