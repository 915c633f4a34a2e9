//! Refused files have run no instruction: a constructor that leaves a mark proves it.

use openclaw_loader::inspect;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Build, build_directory, library, load};

/// Names the file that the constructors of `noteless` and `constructor` write.
const MARK: &str = "NOTELESS_MARK";
const THIS: &str = "loading::never_run::refused_libraries_have_run_no_instruction";

fn command(mark: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([THIS, "--exact"]).env(MARK, mark);
    command
}

/// A whole engine whose constructor leaves a mark, and what is made of it.
fn refused_files() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let whole = Build::of("constructor").bytes().to_vec();
    let note = whole.windows(8).position(|it| it == b"OCENGINE").unwrap();
    let with = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        bytes
    };
    let without = |text: &[u8]| {
        let mut bytes = whole.clone();
        let found: Vec<usize> = bytes
            .windows(text.len())
            .enumerate()
            .filter_map(|(at, it)| (it == text).then_some(at))
            .collect();
        for at in found {
            bytes[at] = b'x';
        }
        bytes
    };
    let mut files = vec![
        ("empty", Vec::new(), "load/not-a-library"),
        (
            "text",
            b"#!/bin/sh\ntouch \"$NOTELESS_MARK\"\n".to_vec(),
            "load/not-a-library",
        ),
        ("archive", b"!<arch>\n".to_vec(), "load/not-a-library"),
        (
            "no note",
            fs::read(library("noteless")).unwrap(),
            "load/no-library",
        ),
        ("contract", with(note + 8, 2), "load/contract-version"),
        ("abort", with(note + 12, 2), "load/panic-abort"),
        ("pointers", with(note + 13, 4), "load/architecture"),
        ("note", with(note, b'X'), "load/damaged"),
        ("engine id", with(note + 80, b'x'), "load/no-library"),
        (
            "no entry",
            without(b"OPENCLAW_ENGINE_ROOT_V1\0"),
            "load/no-root-symbol",
        ),
        (
            "executable",
            fs::read(std::env::current_exe().unwrap()).unwrap(),
            "load/not-a-library",
        ),
    ];
    if cfg!(target_os = "linux") {
        let machine = if cfg!(target_arch = "x86_64") {
            183
        } else {
            62
        };
        files.push(("machine", with(18, machine), "load/architecture"));
        files.push(("32 bits", with(4, 1), "load/architecture"));
        files.push(("object file", with(16, 1), "load/not-a-library"));
        files.push((
            "stack",
            with_executable_stack(&whole),
            "load/executable-stack",
        ));
    }
    files.push((
        "last byte",
        whole[..whole.len() - 1].to_vec(),
        "load/truncated",
    ));
    files
}

/// The flags of the stack's program header with the bit for execution.
fn with_executable_stack(whole: &[u8]) -> Vec<u8> {
    const PT_GNU_STACK: u32 = 0x6474_e551;
    let mut bytes = whole.to_vec();
    let at = bytes
        .chunks_exact(4)
        .position(|word| word == PT_GNU_STACK.to_le_bytes())
        .unwrap();
    bytes[at * 4 + 4] |= 1;
    bytes
}

/// Cases. What opens is the same file as it was built, so that the mark means something.
#[test]
fn refused_libraries_have_run_no_instruction() {
    // A child, because this process must not change its environment.
    let Some(mark) = std::env::var_os(MARK).map(PathBuf::from) else {
        let home = tempfile::tempdir().unwrap();
        let mark = home.path().join("mark");
        let output = command(&mark).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        assert!(mark.exists(), "the constructor works at all");
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("constructor", home.path());
    let file = directory.join(library("constructor").file_name().unwrap());
    let refuse = |what: &str, bytes: &[u8], codes: &[&str]| {
        fs::write(&file, bytes).unwrap();
        let error = load(&directory).unwrap_err();
        assert!(codes.contains(&error.code()), "{what}: {error}");
        assert!(!mark.exists(), "{what}: a refused library was opened");
    };
    for (what, bytes, code) in refused_files() {
        refuse(what, &bytes, &[code]);
    }
    let whole = Build::of("constructor");
    let whole = whole.bytes();
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let odd = (0..200).map(|_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 20) as usize % whole.len()
    });
    for end in (0..whole.len()).step_by(4096).chain(odd) {
        let codes = ["load/truncated", "load/not-a-library", "load/damaged"];
        assert!(
            codes.contains(&inspect(&whole[..end]).unwrap_err().code()),
            "cut at {end}"
        );
        if end % 16 == 0 {
            refuse("cut", &whole[..end], &codes);
        }
    }
    // Not a file, and a link that leads nowhere.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(load(&directory).unwrap_err().code(), "load/no-library");
    fs::remove_dir(&file).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", &file).unwrap();
        let error = load(&directory).unwrap_err();
        assert_eq!(error.code(), "load/unreadable", "{error}");
        assert_eq!(error.path, file);
        fs::remove_file(&file).unwrap();
    }
    assert!(!mark.exists());
    fs::write(&file, whole).unwrap();
    load(&directory).unwrap();
    assert!(mark.exists(), "the same file as it was built is opened");
}
