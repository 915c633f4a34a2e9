//! Header and Rust mirror are the same bytes.

use super::{built, cc, compile, has_compiler, odd_source, place};
use openclaw_interface::abi::{MsgView, c};
use openclaw_loader::{inspect, library_file_name};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::mem::offset_of;
use std::process::Command;

const STRICT: [&str; 5] = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Struct name to its size and the offsets of its members.
type Layouts = BTreeMap<&'static str, (usize, Vec<(&'static str, usize)>)>;

macro_rules! layout {
    ($layouts:ident, $name:literal, $type:ty, $($member:ident),+ $(,)?) => {
        let members = vec![$((stringify!($member), offset_of!($type, $member))),+];
        $layouts.insert($name, (size_of::<$type>(), members));
    };
}

fn ours() -> Layouts {
    let mut layouts = Layouts::new();
    layout!(layouts, "ce_msg", MsgView<'_>, id, json, role, tokens);
    layout!(
        layouts,
        "ce_request",
        c::Request<'_>,
        size,
        is_heartbeat,
        params_json,
        messages,
        token_budget,
        session_id,
        session_key,
        advancement_key,
        method,
    );
    layout!(
        layouts,
        "ce_create",
        c::Create<'_>,
        size,
        reserved,
        context_json,
        settings_json,
        agent_dir,
        workspace_dir,
    );
    layout!(
        layouts,
        "ce_sink",
        c::Sink,
        size,
        reserved,
        write,
        error,
        pick,
        new_message,
        prompt_addition,
        estimated_tokens,
    );
    layout!(
        layouts,
        "ce_host",
        c::Host,
        size,
        reserved,
        log,
        cancelled,
        count_tokens,
        call_json
    );
    layout!(
        layouts,
        "ce_engine_api",
        c::EngineApi,
        size,
        reserved,
        info_json,
        create,
        destroy,
        assemble,
        bootstrap,
        maintain,
        ingest,
        ingest_batch,
        after_turn,
        commit_turn,
        compact,
        prepare_subagent_spawn,
        rollback_subagent_spawn,
        on_subagent_ended,
        dispose,
        call_json,
        tools_json,
        execute_tool,
    );
    layouts
}

/// A program that prints what the header makes of it.
fn program(layouts: &Layouts) -> String {
    let mut text =
        String::from("#include \"openclaw_engine.h\"\n#include <stdio.h>\nint main(void) {\n");
    for (name, (_, members)) in layouts {
        writeln!(text, "printf(\"{name} %zu\\n\", sizeof({name}));").unwrap();
        for (member, _) in members {
            writeln!(
                text,
                "printf(\"{name}.{member} %zu\\n\", offsetof({name}, {member}));"
            )
            .unwrap();
        }
    }
    for (name, _) in NUMBERS {
        writeln!(
            text,
            "printf(\"{name} %llu\\n\", (unsigned long long){name});"
        )
        .unwrap();
    }
    text + "return 0; }\n"
}

const NUMBERS: [(&str, u64); 13] = [
    ("CE_OK", c::OK as u64),
    ("CE_FAILED", c::FAILED as u64),
    ("CE_UNSUPPORTED", c::UNSUPPORTED as u64),
    ("CE_INVALID_PARAMS", c::INVALID_PARAMS as u64),
    ("CE_GONE", c::GONE as u64),
    ("CE_INVALID_ANSWER", c::INVALID_ANSWER as u64),
    ("CE_MAX_ANSWER_BYTES", c::MAX_ANSWER_BYTES as u64),
    ("CE_MAX_NEW_MESSAGES", c::MAX_NEW_MESSAGES as u64),
    ("CE_MAX_ERROR_BYTES", c::MAX_ERROR_BYTES as u64),
    ("CE_MAX_LOG_BYTES", c::MAX_LOG_BYTES as u64),
    ("CE_MAX_TABLE_BYTES", c::MAX_TABLE_BYTES as u64),
    (
        "CE_CONTRACT_MAJOR",
        openclaw_interface::CONTRACT_MAJOR as u64,
    ),
    (
        "CE_CONTRACT_MINOR",
        openclaw_interface::CONTRACT_MINOR as u64,
    ),
];

#[test]
fn header_and_mirror_are_the_same_bytes() {
    let home = tempfile::tempdir().unwrap();
    let layouts = ours();
    let (source, binary) = (home.path().join("layout.c"), home.path().join("layout"));
    fs::write(&source, program(&layouts)).unwrap();
    compile(&cc(), &STRICT, &source, &binary);
    let theirs = String::from_utf8(Command::new(binary).output().unwrap().stdout).unwrap();
    let mut expected = String::new();
    for (name, (size, members)) in &layouts {
        writeln!(expected, "{name} {size}").unwrap();
        for (member, offset) in members {
            writeln!(expected, "{name}.{member} {offset}").unwrap();
        }
    }
    for (name, number) in NUMBERS {
        writeln!(expected, "{name} {number}").unwrap();
    }
    assert_eq!(theirs, expected);
}

/// A struct that grows in the header grows in the mirror: nothing lies behind the last member that both know.
#[test]
fn mirror_ends_where_its_last_member_does() {
    for (name, (size, members)) in ours() {
        let (last, offset) = members[members.len() - 1];
        assert!(size - offset <= 16, "{name} has something behind {last}");
    }
}

/// Roles have the numbers of the Rust side.
#[test]
fn roles_have_one_numbering() {
    use openclaw_interface::Role;
    use openclaw_interface::abi::RoleCode;
    let header = fs::read_to_string(place("crates/interface/include/openclaw_engine.h")).unwrap();
    for (name, role) in [
        ("USER", Role::User),
        ("ASSISTANT", Role::Assistant),
        ("TOOL_RESULT", Role::ToolResult),
        ("CUSTOM", Role::Custom),
        ("COMPACTION_SUMMARY", Role::CompactionSummary),
        ("BRANCH_SUMMARY", Role::BranchSummary),
        ("BASH_EXECUTION", Role::BashExecution),
    ] {
        let line = format!("#define CE_ROLE_{name} {}u", RoleCode::from(role).0);
        assert!(header.contains(&line), "{line}");
    }
    assert_eq!(RoleCode::from(Role::Other).0, u32::MAX);
    assert!(header.contains("#define CE_ROLE_OTHER UINT32_MAX"));
}

#[test]
fn engines_compile_without_a_warning() {
    let home = tempfile::tempdir().unwrap();
    let own = cc();
    let arguments = [
        &STRICT[..],
        &["-shared", "-fPIC", "-fvisibility=hidden", "-O2"],
    ]
    .concat();
    for compiler in [own.as_str(), "gcc", "clang"] {
        if compiler != own && !has_compiler(compiler) {
            continue;
        }
        for source in [odd_source(), place("examples/c-engine/engine.c")] {
            compile(compiler, &arguments, &source, &home.path().join("engine"));
        }
    }
}

/// The example in the header's own comment is an engine, and the header is C++.
#[test]
fn header_is_cpp_and_its_example_compiles() {
    let home = tempfile::tempdir().unwrap();
    let header = fs::read_to_string(place("crates/interface/include/openclaw_engine.h")).unwrap();
    let example: String = header
        .lines()
        .skip_while(|line| !line.contains("#include \"openclaw_engine.h\""))
        .take_while(|line| !line.contains("Build it with"))
        .map(|line| line.trim_start_matches(" *").to_owned() + "\n")
        .collect();
    let source = home.path().join("keep-all.c");
    fs::write(&source, &example).unwrap();
    let library = home.path().join("keep-all");
    compile(
        &cc(),
        &[&STRICT[..], &["-shared", "-fPIC"]].concat(),
        &source,
        &library,
    );
    for compiler in ["c++", "clang++"] {
        if !has_compiler(compiler) {
            continue;
        }
        let source = home.path().join("engine.cpp");
        let text = "#include \"openclaw_engine.h\"\nOPENCLAW_ENGINE_NOTE(\"cpp\");\n\
                    const ce_engine_api *openclaw_engine_c_v1() { return nullptr; }\n";
        fs::write(&source, text).unwrap();
        for standard in ["-std=c++11", "-std=c++17", "-std=c++20"] {
            let arguments = [
                standard,
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pedantic",
                "-fsyntax-only",
            ];
            compile(compiler, &arguments, &source, &home.path().join("none"));
        }
    }
}

/// The macro writes what `export_engine!` writes, and no usual flag loses it.
#[test]
fn note_of_the_macro_reads_like_that_of_the_rust_door() {
    let home = tempfile::tempdir().unwrap();
    let stripping = ["-ffunction-sections", "-Wl,--gc-sections", "-s"];
    let linux: [&[&str]; 3] = [&[], &["-flto"], &stripping];
    let flags = if cfg!(target_os = "linux") {
        &linux[..]
    } else {
        &linux[..1]
    };
    for flags in flags {
        let directory = built(home.path(), "odd", &odd_source(), flags);
        let library = fs::read(directory.join(library_file_name("odd"))).unwrap();
        let note = inspect(&library).unwrap().note;
        assert_eq!(note.engine_id, "odd");
        assert_eq!((note.contract_major, note.contract_minor), (1, 0));
        assert_eq!(note.pointer_bytes as usize, size_of::<usize>());
        let compilers = ["gcc ", "clang "];
        let compiler = compilers
            .iter()
            .find(|name| note.toolchain.starts_with(*name));
        assert!(compiler.is_some(), "{note:?}");
    }
}
