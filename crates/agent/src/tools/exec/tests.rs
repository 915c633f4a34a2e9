//! Commands that behave and commands that do not.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::testing::Bench;

/// Whether the process whose number a command wrote into a file is still there.
fn is_alive(bench: &Bench, file: &str) -> bool {
    let pid: i32 = bench.text(file).trim().parse().expect("a process number");
    let pid = rustix::process::Pid::from_raw(pid).expect("not 0");
    rustix::process::test_kill_process(pid).is_ok() && !is_zombie(pid)
}

/// An ended process whose parent has not looked yet.
fn is_zombie(pid: rustix::process::Pid) -> bool {
    let stat =
        std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| rest.starts_with('Z'))
}

fn is_gone(bench: &Bench, file: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while is_alive(bench, file) {
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn output_and_exit_code_come_back() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.ok("exec", json!({"command": "echo out; echo err >&2"})),
        "out\nerr"
    );
    assert_eq!(bench.ok("exec", json!({"command": "true"})), "(no output)");
    assert_eq!(
        bench.fails("exec", json!({"command": "echo no; exit 3"})),
        "no\n\n[exit code 3]"
    );
    let died = bench.fails("exec", json!({"command": "kill -9 $$"}));
    assert!(died.contains("[died: signal: 9"), "{died}");
    // Nobody answers a question.
    assert_eq!(
        bench.fails("exec", json!({"command": "read answer"})),
        "(no output)\n\n[exit code 1]"
    );
}

#[test]
fn commands_start_in_the_workspace_and_nowhere_else() {
    let mut bench = Bench::new();
    let root = bench.path("").canonicalize().unwrap();
    std::fs::create_dir(bench.path("dir")).unwrap();
    std::os::unix::fs::symlink("/", bench.path("out")).unwrap();
    assert_eq!(
        bench.ok("exec", json!({"command": "pwd -P"})),
        root.to_str().unwrap()
    );
    let inside = bench.ok("exec", json!({"command": "pwd -P", "workdir": "dir"}));
    assert_eq!(inside, root.join("dir").to_str().unwrap());
    for workdir in ["..", "/", "out", "dir/../.."] {
        let refused = bench.fails("exec", json!({"command": "pwd", "workdir": workdir}));
        assert!(refused.contains("lies outside of"), "{refused}");
    }
    assert!(
        bench
            .fails("exec", json!({"command": "pwd", "workdir": "none"}))
            .contains("does not exist")
    );
}

#[test]
fn no_secret_of_this_process_is_inherited() {
    let secret: (OsString, OsString) = ("ACME_API_KEY".into(), "made-up-key".into());
    let mut bench = Bench::with(|settings| settings.environment.push(secret));
    let environment = bench.ok("exec", json!({"command": "env"}));
    assert!(
        environment.contains("PATH=") && environment.contains("TERM=dumb"),
        "{environment}"
    );
    assert!(
        !environment.contains("made-up-key") && !environment.contains("CARGO"),
        "{environment}"
    );
}

#[test]
fn a_huge_output_is_cut_in_the_middle() {
    let mut bench = Bench::new();
    let output = bench.ok(
        "exec",
        json!({"command": "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last"}),
    );
    assert!(output.starts_with("first\nxxx") && output.ends_with("x\nlast"));
    assert!(output.contains(" bytes of output left out ...]"));
    assert!(output.len() < 50_000, "{}", output.len());
}

/// The shell waits for a child, and the child would hold the output open.
#[test]
fn a_hanging_command_ends_with_all_it_started() {
    let mut bench = Bench::new();
    let command = "echo begun; sleep 1000 & echo $! > child; echo $$ > shell; trap '' TERM; wait";
    let ended = bench.fails("exec", json!({"command": command, "timeout": 3}));
    assert_eq!(ended, "begun\n\n[ended after the timeout of 3 s]");
    assert!(is_gone(&bench, "child") && is_gone(&bench, "shell"));
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let mut bench = Bench::new();
    let command = "sleep 1000 & echo $! > child; echo done";
    assert_eq!(bench.ok("exec", json!({"command": command})), "done");
    assert!(is_gone(&bench, "child"));
}

/// Case O-5.
#[test]
fn a_cancelled_command_ends() {
    let mut bench = Bench::new();
    let cancel = bench.cancel.clone();
    let started = bench.path("started");
    let watcher = std::thread::spawn(move || {
        while !started.exists() {
            std::thread::yield_now();
        }
        cancel.cancel();
    });
    let ended = bench.fails(
        "exec",
        json!({"command": "echo $$ > shell; touch started; sleep 1000"}),
    );
    assert_eq!(ended, "(no output)\n\n[cancelled by the user]");
    watcher.join().unwrap();
    assert!(is_gone(&bench, "shell"));
}

#[test]
fn background_jobs_are_looked_after() {
    let mut bench = Bench::new();
    let started = bench.ok(
        "exec",
        json!({"command": "echo hi; read line; echo got $line", "background": true}),
    );
    assert!(started.contains("session job-1"), "{started}");
    assert_eq!(
        bench.ok("process", json!({"action": "list"})),
        "job-1 [running] echo hi; read line; echo got $line"
    );
    bench.ok(
        "process",
        json!({"action": "write", "sessionId": "job-1", "data": "word\n", "eof": true}),
    );
    let polled = bench.ok(
        "process",
        json!({"action": "poll", "sessionId": "job-1", "wait": 60}),
    );
    assert_eq!(polled, "hi\ngot word\n\n[exit code 0]");
    let again = bench.ok("process", json!({"action": "poll", "sessionId": "job-1"}));
    assert_eq!(again, "(no new output)\n\n[exit code 0]");
    assert_eq!(
        bench.ok("process", json!({"action": "log", "sessionId": "job-1"})),
        "hi\ngot word\n\n[exit code 0]"
    );
    let closed = bench.fails(
        "process",
        json!({"action": "write", "sessionId": "job-1", "data": "x"}),
    );
    assert!(closed.contains("reads no input"), "{closed}");
    bench.ok("process", json!({"action": "remove", "sessionId": "job-1"}));
    assert_eq!(
        bench.ok("process", json!({"action": "list"})),
        "(no background jobs)"
    );
    let unknown = bench.fails("process", json!({"action": "poll", "sessionId": "job-9"}));
    assert!(
        unknown.starts_with("process: there is no session `job-9`"),
        "{unknown}"
    );
    assert!(
        bench
            .fails("process", json!({"action": "dance"}))
            .contains("there is no action `dance`")
    );
    let both = bench.fails(
        "exec",
        json!({"command": "true", "background": true, "timeout": 1}),
    );
    assert!(both.contains("has no timeout"), "{both}");
}

/// Case O-6.
#[test]
fn jobs_end_when_killed_and_with_their_tools() {
    let mut bench = Bench::new();
    for file in ["one", "two"] {
        let command = format!("sleep 1000 & echo $! > {file}.tmp; mv {file}.tmp {file}; wait");
        bench.ok("exec", json!({"command": command, "background": true}));
        while !bench.path(file).exists() {
            std::thread::yield_now();
        }
    }
    assert_eq!(
        bench.ok("process", json!({"action": "kill", "sessionId": "job-1"})),
        "job-1: killed"
    );
    assert!(is_gone(&bench, "one") && is_alive(&bench, "two"));
    bench.tools = super::super::ToolSet::new(&bench.settings, |_| true);
    assert!(is_gone(&bench, "two"));
}

#[test]
fn a_job_that_does_not_read_holds_nobody_up() {
    let mut bench = Bench::new();
    bench.ok("exec", json!({"command": "sleep 1000", "background": true}));
    for _ in 0..3 {
        bench.ok(
            "process",
            json!({"action": "write", "sessionId": "job-1", "data": "x".repeat(100_000)}),
        );
    }
    bench.ok("process", json!({"action": "remove", "sessionId": "job-1"}));
}

#[test]
fn jobs_have_a_limit() {
    let mut bench = Bench::new();
    for _ in 0..16 {
        bench.ok("exec", json!({"command": "sleep 1000", "background": true}));
    }
    let refused = bench.fails("exec", json!({"command": "sleep 1000", "background": true}));
    assert!(refused.contains("16 background sessions"), "{refused}");
}
