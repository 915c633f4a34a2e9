//! The binary layout of the contract, as committed in `abi.layout`. It changes together with the contract version.

#![cfg(test)]

use abi_stable::StableAbi;
use abi_stable::type_layout::{
    FieldAccessor, TLData, TLDataDiscriminant, TLField, TLFunction, TypeLayout,
};
use openclaw_interface::abi::{
    AssembleOut, AssembleReq, EngineError, EngineModuleRef, EngineObject, ErrCode, HostObject,
    MessagesReq, MsgView, NOTE_OWNER, Note, Pick, ROOT_SYMBOL, RoleCode,
};
use openclaw_interface::{CONTRACT_MAJOR, CONTRACT_MINOR, ErrorCode, Role};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const PACKAGE: &str = "openclaw-interface";

const WHAT_TO_DO: &str = "\
The binary layout of the contract differs from crates/interface/abi.layout.
Was that intended? docs/contract.md says which changes a minor version may make.
If so: bump `version` in crates/interface/Cargo.toml with CONTRACT_MAJOR and CONTRACT_MINOR in src/lib.rs, add a line under
\"ABI\" in CHANGELOG.md, and run `SNAPSHOTS=overwrite cargo test -p openclaw-interface --test layout`.
Only while this version is not released: remove abi.layout and run the same command.
";

fn version() -> String {
    format!("contract {CONTRACT_MAJOR}.{CONTRACT_MINOR}")
}

/// Every type of the contract that the root module leads to, by name.
#[derive(Default)]
struct Types(BTreeMap<String, &'static TypeLayout>);

impl Types {
    fn visit(&mut self, layout: &'static TypeLayout, seen: &mut Vec<&'static TypeLayout>) {
        if seen.contains(&layout) {
            return;
        }
        seen.push(layout);
        if layout.package().as_str() == PACKAGE {
            self.0.insert(name(layout), layout);
        }
        for parameter in layout.generics().type_params() {
            self.visit(parameter(), seen);
        }
        for field in fields(layout) {
            self.visit(field.layout(), seen);
            for function in field.function_range().iter() {
                for parameter in function.param_type_layouts.iter() {
                    self.visit(parameter(), seen);
                }
                if let Some(answer) = function.return_type_layout() {
                    self.visit(answer(), seen);
                }
            }
        }
    }
}

fn fields(layout: &TypeLayout) -> Vec<TLField> {
    let of_type = layout.get_fields().map(|fields| fields.to_vec());
    let mut fields = of_type.unwrap_or_default();
    fields.extend(layout.phantom_fields().iter());
    fields
}

/// `Engine_trait::VTable` for what the macro behind a trait makes, else the type's name.
fn name(layout: &TypeLayout) -> String {
    let path = layout.mod_path().to_string();
    let module = path.rsplit("::").next().unwrap_or_default();
    if module.ends_with("_trait") {
        format!("{module}::{}", layout.name())
    } else {
        layout.name().to_owned()
    }
}

/// A type as a person would write it, without lifetimes: `RVec<Pick>`. Parameters of types that are not ours are found
/// behind their pointers, markers and variants.
fn type_text(layout: &'static TypeLayout) -> String {
    const WHOLE: [&str; 4] = ["RStr", "RString", "RObject", "PrefixRef"];
    let own = layout.package().as_str() == PACKAGE || WHOLE.contains(&layout.name());
    let mut parameters = Vec::new();
    if !own {
        for field in fields(layout) {
            find_parameters(layout, field.layout(), &mut parameters);
        }
    }
    let parameters: Vec<_> = parameters.into_iter().map(type_text).collect();
    if parameters.is_empty() {
        name(layout)
    } else {
        format!("{}<{}>", name(layout), parameters.join(", "))
    }
}

fn find_parameters(
    of: &'static TypeLayout,
    field: &'static TypeLayout,
    found: &mut Vec<&'static TypeLayout>,
) {
    let is_marker =
        ["PhantomData", "NonNull", "*const", "*mut", "&", "&mut"].contains(&field.name());
    if is_marker {
        for inner in fields(field) {
            find_parameters(field, inner.layout(), found);
        }
    } else if (of.data_discriminant() == TLDataDiscriminant::Enum
        || of.data_discriminant() == TLDataDiscriminant::Primitive
        || of.name() == "PhantomData")
        && !found.contains(&field)
    {
        found.push(field);
    }
}

fn function_text(function: &TLFunction) -> String {
    let parameters: Vec<_> = function
        .param_type_layouts
        .iter()
        .map(|layout| type_text(layout()))
        .collect();
    let answer = function
        .return_type_layout()
        .map_or_else(|| "()".into(), |layout| type_text(layout()));
    let lifetimes = function.paramret_lifetime_indices;
    let lifetimes = lifetimes.as_slice().iter().map(|pair| format!("{pair:?}"));
    let lifetimes = lifetimes
        .collect::<String>()
        .replace("ANONYMOUS", "'_")
        .replace("NONE", "-");
    format!("fn({}) -> {answer} {lifetimes}", parameters.join(", "))
        .trim_end()
        .to_owned()
}

fn field_text(field: &TLField) -> String {
    if !field.is_function() {
        return type_text(field.layout());
    }
    let functions = field.function_range();
    let functions: Vec<_> = functions.iter().map(|f| function_text(&f)).collect();
    functions.join(", ")
}

fn write_type(text: &mut String, name: &str, layout: &TypeLayout) {
    let (size, align) = (layout.size(), layout.alignment());
    let repr = layout.repr_attr();
    writeln!(
        text,
        "\n{name}: {size} bytes, aligned to {align}, {repr:?}, {:?}",
        layout.data_discriminant()
    )
    .unwrap();
    let first_suffix_field = match layout.data() {
        TLData::PrefixType(prefix) => Some(usize::from(prefix.first_suffix_field)),
        _ => None,
    };
    let mut offset = 0_usize;
    for (index, field) in layout
        .get_fields()
        .iter()
        .flat_map(|fields| fields.iter())
        .enumerate()
    {
        let of = field.layout();
        offset = offset.next_multiple_of(of.alignment());
        let part = match first_suffix_field {
            Some(first) if index >= first => " appended",
            Some(_) => " prefix",
            None => "",
        };
        let optional = match field.field_accessor() {
            FieldAccessor::MethodOption => " optional",
            _ => "",
        };
        writeln!(
            text,
            "  {offset:>3}{part}{optional} {}: {}",
            field.name(),
            field_text(&field)
        )
        .unwrap();
        offset += of.size();
    }
    if !matches!(layout.data(), TLData::PrefixType(_) | TLData::Enum(_)) {
        assert_eq!(
            offset.next_multiple_of(align),
            size,
            "{name} is not laid out as C does"
        );
    }
}

fn types() -> BTreeMap<String, &'static TypeLayout> {
    let mut types = Types::default();
    let mut seen = Vec::new();
    for root in [
        EngineModuleRef::LAYOUT,
        EngineObject::LAYOUT,
        HostObject::LAYOUT,
        AssembleReq::LAYOUT,
        AssembleOut::LAYOUT,
        MessagesReq::LAYOUT,
        MsgView::LAYOUT,
        Pick::LAYOUT,
        EngineError::LAYOUT,
        RoleCode::LAYOUT,
        ErrCode::LAYOUT,
    ] {
        types.visit(root, &mut seen);
    }
    types.0
}

fn rendered() -> String {
    let mut text = format!("{}\n\n", version());
    writeln!(text, "root symbol {ROOT_SYMBOL}").unwrap();
    writeln!(text, "note {NOTE_OWNER}: {} bytes", size_of::<Note>()).unwrap();
    // What an open number means is part of the contract, and no layout check sees it.
    for number in 0..64 {
        let role = Role::from(RoleCode(number));
        if role != Role::Other {
            writeln!(text, "role {number}: {}", role.name()).unwrap();
        }
    }
    for number in 0..64 {
        let code = ErrorCode::from(ErrCode(number));
        if !matches!(code, ErrorCode::Other(_)) {
            writeln!(text, "error {number}: {code:?}").unwrap();
        }
    }
    for (name, layout) in types() {
        write_type(&mut text, &name, layout);
    }
    text
}

#[cfg(target_pointer_width = "64")]
#[test]
fn layout_changes_together_with_the_contract_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("abi.layout");
    let (kept, current) = (fs::read_to_string(&path).unwrap_or_default(), rendered());
    let kept_version = kept.lines().next().unwrap_or_default();
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|word| word == "overwrite");
    if overwrite && kept_version != version() {
        fs::write(&path, current).unwrap();
        return;
    }
    let differing = differing_lines(&kept, &current);
    assert!(
        kept == current,
        "{WHAT_TO_DO}\nThe file says `{kept_version}`, the crate is `{}`.\n{}",
        version(),
        differing.join("\n")
    );
}

/// The lines that only one of two texts has.
fn differing_lines(kept: &str, current: &str) -> Vec<String> {
    let only = |a: &str, b: &str, sign: char| {
        let b: Vec<_> = b.lines().collect();
        a.lines()
            .filter(|line| !b.contains(line))
            .map(|line| format!("{sign} {line}"))
            .collect::<Vec<_>>()
    };
    let mut lines = only(kept, current, '-');
    lines.extend(only(current, kept, '+'));
    lines
}

#[test]
fn crate_version_is_the_contract_version() {
    let expected = format!("{CONTRACT_MAJOR}.{CONTRACT_MINOR}.");
    assert!(
        env!("CARGO_PKG_VERSION").starts_with(&expected),
        "`version` in Cargo.toml is {}, CONTRACT_MAJOR and CONTRACT_MINOR are {expected}x",
        env!("CARGO_PKG_VERSION")
    );
    let changelog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CHANGELOG.md");
    let changelog = fs::read_to_string(changelog).unwrap();
    let told = changelog
        .split("### ABI")
        .skip(1)
        .filter_map(|section| section.split("\n#").next())
        .any(|section| section.to_lowercase().contains(&version()));
    assert!(
        told,
        "CHANGELOG.md has no line on {} under \"ABI\"",
        version()
    );
}

/// What an older library lacks must answer `None`, or run a default body; the other choice of the macros is a panic.
#[test]
fn what_is_appended_may_be_missing() {
    for (name, layout) in types() {
        let TLData::PrefixType(prefix) = layout.data() else {
            continue;
        };
        let appended = prefix
            .fields
            .iter()
            .skip(usize::from(prefix.first_suffix_field));
        for field in appended {
            assert_eq!(
                field.field_accessor(),
                FieldAccessor::MethodOption,
                "{name}.{} needs a default body, or `missing_field(option)`",
                field.name()
            );
        }
    }
}
