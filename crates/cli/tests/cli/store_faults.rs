//! Disks and stores that are bad: what the command says, and that nothing is changed.

use crate::home::{Home, Ran, write};
use std::fs;
use std::path::PathBuf;

fn store(home: &Home) -> PathBuf {
    home.state_dir().join("native/agents/main/sessions.sqlite")
}

fn said(id: usize, text: &str) -> String {
    format!(r#"{{"type":"message","id":"e{id}","message":{{"role":"user","content":"{text}"}}}}"#)
}

/// A transcript of messages with much text each.
fn transcript(home: &Home, file: &str, rows: usize) -> String {
    let id = file.trim_end_matches(".jsonl");
    let text = "word ".repeat(400);
    let mut lines =
        format!(r#"{{"type":"session","version":4,"id":"{id}","timestamp":"","cwd":"/"}}"#) + "\n";
    for row in 0..rows {
        lines += &(said(row, &format!("{row} {text}")) + "\n");
    }
    write(&home.path(file), &lines);
    lines
}

/// Damages the store, and checks that a turn, the doctor and an import name file and cure and leave it alone.
#[track_caller]
fn check_damage(damage: impl Fn(&mut Vec<u8>), lost: bool) {
    let home = Home::new().probed();
    let lines = transcript(&home, "a.jsonl", 100);
    home.run("sessions import a.jsonl --session-key k")
        .succeeds();
    let path = store(&home);
    let mut bytes = fs::read(&path).unwrap();
    damage(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    for line in [
        "agent -m hello",
        "doctor",
        "sessions import a.jsonl",
        "sessions list",
    ] {
        home.run(line)
            .fails()
            .shows(&["sessions.sqlite", "damaged", "openclaw sessions repair"]);
        assert_eq!(fs::read(&path).unwrap(), bytes, "{line} changed it");
    }
    let ran = home.run("sessions repair --json").succeeds();
    let document = ran.json();
    assert_eq!(document["outcome"], "replaced", "{document}");
    let aside = document["setAside"].as_str().unwrap();
    let name = PathBuf::from(aside).file_name().unwrap().to_owned();
    assert_eq!(fs::read(path.with_file_name(name)).unwrap(), bytes);
    home.run("doctor").succeeds();
    home.run("agent -m hello").succeeds();
    if lost {
        assert!(
            document["lostEntries"].as_u64().unwrap() > 0 || document["sessions"] == 0,
            "{document}"
        );
    } else {
        assert_eq!(home.run("sessions export k").succeeds().stdout, lines);
    }
    home.run("sessions repair").succeeds().shows(&["is sound"]);
}

#[test]
fn damaged_store_stops_turns_and_is_set_aside_by_repair_alone() {
    check_damage(|bytes| bytes[..100].fill(b'x'), false);
    check_damage(|bytes| bytes.truncate(bytes.len() / 2 / 4096 * 4096), true);
    check_damage(Vec::clear, true);
}

#[test]
fn store_that_is_locked_is_told_with_file_and_cure() {
    let home = Home::new().probed();
    home.run("agent -m hello").succeeds();
    let lock = rusqlite::Connection::open(store(&home)).unwrap();
    lock.execute_batch(
        "PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE; UPDATE sessions SET tip = tip; COMMIT",
    )
    .unwrap();
    let run = |line: &str| {
        let mut command = home.command(line.split(' '));
        home.finish(command.env("OPENCLAW_STORE_WAIT_MS", "50"))
    };
    for line in ["agent -m hello", "sessions list", "doctor"] {
        run(line).fails().shows(&[
            "sessions.sqlite",
            "another process has it locked",
            "OPENCLAW_STORE_WAIT_MS",
        ]);
    }
    drop(lock);
    run("agent -m hello").succeeds();
}

#[test]
fn store_of_another_program_or_a_newer_version_is_left_alone() {
    for (sql, text) in [
        (
            "CREATE TABLE notes (text TEXT)",
            "another program's database",
        ),
        (
            "CREATE TABLE notes (text TEXT); PRAGMA user_version = 99",
            "its schema is version 99",
        ),
    ] {
        let home = Home::new().probed();
        let path = store(&home);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch(sql).unwrap();
        other.close().unwrap();
        let before = fs::read(&path).unwrap();
        for line in [
            "agent -m hello",
            "doctor",
            "sessions list",
            "sessions repair",
        ] {
            home.run(line).fails().shows(&["sessions.sqlite", text]);
            assert_eq!(fs::read(&path).unwrap(), before);
        }
    }
}

#[test]
fn many_first_turns_at_once_meet_no_lock() {
    let home = Home::new().probed();
    let turns: Vec<_> = (0..6)
        .map(|number| {
            let key = format!("agent:main:{number}");
            let mut command = home.command(["agent", "-m", "hello", "--session-key", &key]);
            let piped = std::process::Stdio::piped;
            command.stdout(piped()).stderr(piped()).spawn().unwrap()
        })
        .collect();
    for turn in turns {
        let output = turn.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        assert!(!stderr.contains("locked"), "{stderr}");
    }
    let list = home.run("sessions list --json").json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 6);
}

/// A shell limits how large a file may get: what a full disk is to a process.
#[cfg(target_os = "linux")]
#[test]
fn full_disk_keeps_a_transcript_out_and_the_store_whole() {
    let home = Home::new().probed();
    home.run("agent -m hello").succeeds();
    transcript(&home, "large.jsonl", 6_000);
    let limited = |line: &str, blocks: &str| -> Ran {
        let mut command = std::process::Command::new("sh");
        let openclaw = home.command([""; 0]);
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {line}");
        command
            .args(["-c", &script])
            .arg(openclaw.get_program())
            .env_clear()
            .envs(
                openclaw
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .current_dir(openclaw.get_current_dir().unwrap());
        home.finish(&mut command)
    };
    limited("sessions import large.jsonl", "8000")
        .fails()
        .shows(&["sessions.sqlite", "large.jsonl"]);
    home.run("doctor").succeeds();
    let list = home.run("sessions list --json").json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{list}");
    home.run("sessions import large.jsonl").succeeds();
    limited("sessions export large --out out.jsonl", "2000")
        .fails()
        .shows(&["out.jsonl"]);
    assert_eq!(here(&home), ["large.jsonl"]);
}

/// Names in the current directory of the command, sorted.
fn here(home: &Home) -> Vec<String> {
    let names = fs::read_dir(home.path("")).unwrap().flatten();
    let mut names: Vec<String> = names
        .map(|name| name.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn export_replaces_nothing_and_leaves_no_part() {
    let home = Home::new().probed();
    let text = transcript(&home, "a.jsonl", 3);
    home.run("sessions import a.jsonl").succeeds();
    home.run("sessions export a --out b.jsonl").succeeds();
    assert_eq!(fs::read_to_string(home.path("b.jsonl")).unwrap(), text);
    write(&home.path("c.jsonl"), "mine");
    home.run("sessions export a --out c.jsonl")
        .fails()
        .shows(&["c.jsonl"]);
    assert_eq!(fs::read_to_string(home.path("c.jsonl")).unwrap(), "mine");
    home.run("sessions export a --out no/d.jsonl")
        .fails()
        .shows(&["d.jsonl"]);
    assert_eq!(here(&home), ["a.jsonl", "b.jsonl", "c.jsonl"]);
}

#[cfg(target_os = "linux")]
#[test]
fn export_into_a_closed_pipe_ends_quietly_and_into_a_full_disk_with_an_error() {
    use std::process::Stdio;
    let home = Home::new().probed();
    transcript(&home, "a.jsonl", 300);
    home.run("sessions import a.jsonl").succeeds();
    let run = |stdout: Stdio| {
        let mut command = home.command(["sessions", "export", "a"]);
        let child = command
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), stderr)
    };
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(run(writer.into()), (Some(0), String::new()));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let (code, stderr) = run(full.into());
    assert_eq!(code, Some(1));
    assert!(stderr.contains("No space left"), "{stderr}");
}

/// Root may write anywhere: then there is no such directory.
#[cfg(unix)]
#[test]
fn directory_that_may_only_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new().probed();
    home.run("agent -m hello").succeeds();
    let directory = home.state_dir().join("native/agents/main");
    let allow = |mode| fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
    // A file where the directory of locks should be is what every user meets alike.
    fs::remove_dir_all(directory.join("locks")).unwrap();
    write(&directory.join("locks"), "");
    transcript(&home, "a.jsonl", 1);
    for line in ["agent -m hello", "sessions import a.jsonl"] {
        home.run(line).fails().shows(&["locks"]);
    }
    allow(0o500);
    let is_root = fs::write(directory.join("probe"), "").is_ok();
    if !is_root {
        home.run("agent -m hello").fails().shows(&["agents/main"]);
        home.run("sessions list").succeeds();
    }
    allow(0o700);
}
