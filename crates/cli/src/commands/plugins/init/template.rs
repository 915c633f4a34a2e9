//! The files of a new crate: `examples/minimal-engine` under another name.

use super::vendored::{self, INTERFACE};
use openclaw_loader::MANIFEST_FILE;
use serde_json::Value;

const SOURCE: &str = include_str!("../../../../../../examples/minimal-engine/src/lib.rs");
const MANIFEST: &str =
    include_str!("../../../../../../examples/minimal-engine/openclaw.plugin.json");
/// What the example calls itself, and how it is shown.
const EXAMPLE_ID: &str = "minimal-engine";
const EXAMPLE_TITLE: &str = "Newest messages";
/// The version of a new crate.
const VERSION: &str = "0.1.0";
/// Directory of the contract's crate.
const VENDOR: &str = "vendor/openclaw-interface";

/// What is written below the new directory: relative path and text.
pub(super) fn files(id: &str, title: &str) -> Vec<(String, String)> {
    let own = [
        ("Cargo.toml", cargo_toml(id)),
        ("Cargo.lock", vendored::lock(id, VERSION)),
        (MANIFEST_FILE, manifest(id, title)),
        ("src/lib.rs", source(id, title)),
        ("README.md", readme(id, title)),
        (".gitignore", "/target\n".to_owned()),
    ];
    let own = own.map(|(path, text)| (path.to_owned(), text));
    let contract = vendored::files().into_iter();
    let contract = contract.map(|(path, text)| (format!("{VENDOR}/{path}"), text));
    own.into_iter().chain(contract).collect()
}

fn cargo_toml(id: &str) -> String {
    let [edition, rust_version] = ["edition", "rust-version"].map(vendored::package_value);
    format!(
        r#"[package]
name = "{id}"
description = "A context engine for OpenClaw"
version = "{VERSION}"
edition = {edition}
rust-version = {rust_version}
publish = false

[lib]
crate-type = ["cdylib"]

[dependencies]
# The contract, as the `openclaw` that made this crate has it. A checkout of openclaw-native does as well:
# {INTERFACE} = {{ path = "../openclaw-native/crates/interface" }}
{INTERFACE} = {{ path = "{VENDOR}" }}

[dev-dependencies]
{INTERFACE} = {{ path = "{VENDOR}", features = ["testing"] }}
tempfile = "3"

[profile.release]
strip = true
# A panic is caught at the boundary; one that aborts would end the host, so the host refuses such a library.
panic = "unwind"

[workspace]
"#
    )
}

fn source(id: &str, title: &str) -> String {
    let title = format!("{title:?}");
    SOURCE
        .replace(&format!("\"{EXAMPLE_TITLE}\""), &title)
        .replace(EXAMPLE_ID, id)
}

fn manifest(id: &str, title: &str) -> String {
    let title = Value::from(title).to_string();
    MANIFEST
        .replace(&format!("\"{EXAMPLE_TITLE}\""), &title)
        .replace(EXAMPLE_ID, id)
}

fn readme(id: &str, title: &str) -> String {
    format!(
        r#"# {title}

A context engine for OpenClaw: it shows the model the newest messages that fit, and stores each turn once. `src/lib.rs` is
all of it.

```sh
openclaw plugins install -l . --build
openclaw agent -m "hello"
```

builds it, tries out what it promises, selects it, and runs a turn through it. `openclaw chat` follows each new build, and
`openclaw doctor` tells what serves and why.

```sh
cargo test
```

runs it in a host in memory that names the rule an engine breaks.

| file | what it is |
| --- | --- |
| `src/lib.rs` | the engine; `ID` in it is `{id}`, and so is `id` in the manifest |
| `{MANIFEST_FILE}` | what is read without running it: id, kind, and the JSON schema of its settings |
| `{VENDOR}` | the contract, so that no network and no checkout is needed; `cargo doc -p {INTERFACE} --open` reads it |
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_loader::Manifest;

    #[test]
    fn title_is_text_in_every_file() {
        let title = "My \"best\" \\ engine";
        let files = files("my-best", title);
        let find = |name: &str| &files.iter().find(|(it, _)| it == name).unwrap().1;
        let manifest = Manifest::parse(find(MANIFEST_FILE)).unwrap();
        assert_eq!(
            (manifest.id.as_str(), manifest.name.as_str()),
            ("my-best", title)
        );
        assert!(find("src/lib.rs").contains(r#"Info::new(Self::ID, "My \"best\" \\ engine")"#));
        assert!(find("src/lib.rs").contains(r#"const ID: &'static str = "my-best""#));
        for (path, text) in files.iter().filter(|(path, _)| !path.starts_with(VENDOR)) {
            assert!(!text.contains(EXAMPLE_ID), "{path}");
        }
        let _: toml::Value = toml::from_str(find("Cargo.toml")).unwrap();
    }
}
