//! The inspection on damaged files: it answers, whatever the bytes, and lets through only what is still an engine.

use openclaw_interface::{CONTRACT_MAJOR, CONTRACT_MINOR};
use openclaw_loader::inspect;
use proptest::prelude::*;
use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use support::library;

fn whole() -> &'static [u8] {
    static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
    WHOLE.get_or_init(|| fs::read(library("unruly")).unwrap())
}

/// What happened to the file.
#[derive(Clone, Debug)]
enum Damage {
    Flip {
        at: usize,
        bit: u8,
    },
    Word {
        at: usize,
        value: u64,
    },
    Cut {
        end: usize,
    },
    Append {
        bytes: Vec<u8>,
    },
    Move {
        from: usize,
        to: usize,
        count: usize,
    },
}

/// Where the parser looks: the headers in front, the tables of sections at the end, or anywhere.
fn place() -> impl Strategy<Value = usize> {
    let length = whole().len();
    prop_oneof![
        0..64_usize,
        64..1024_usize,
        length - 4096..length,
        0..length
    ]
}

fn damage() -> impl Strategy<Value = Damage> {
    let word = prop_oneof![
        any::<u64>(),
        Just(0),
        Just(u64::MAX),
        Just(1 << 63),
        (0..64_u32).prop_map(|shift| 1 << shift),
        0..whole().len() as u64
    ];
    prop_oneof![
        4 => (place(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        4 => (place(), word).prop_map(|(at, value)| Damage::Word { at: at & !7, value }),
        1 => place().prop_map(|end| Damage::Cut { end }),
        1 => prop::collection::vec(any::<u8>(), 1..512).prop_map(|bytes| Damage::Append { bytes }),
        1 => (place(), place(), 1..256_usize)
            .prop_map(|(from, to, count)| Damage::Move { from, to, count }),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    match damage {
        Damage::Flip { at, bit } => {
            if let Some(byte) = bytes.get_mut(*at) {
                *byte ^= 1 << bit;
            }
        }
        Damage::Word { at, value } => {
            if let Some(word) = bytes.get_mut(*at..at + 8) {
                word.copy_from_slice(&value.to_le_bytes());
            }
        }
        Damage::Cut { end } => bytes.truncate(*end),
        Damage::Append { bytes: more } => bytes.extend(more),
        Damage::Move { from, to, count } => {
            let fits = from.max(to) + count <= bytes.len();
            if fits {
                bytes.copy_within(*from..from + count, *to);
            }
        }
    }
}

/// Looks into `bytes`; what is let through has everything an engine library must have.
fn judge(bytes: &[u8]) -> Result<(), TestCaseError> {
    let started = Instant::now();
    match inspect(bytes) {
        Ok(facts) => {
            prop_assert_eq!(facts.note.contract_major, CONTRACT_MAJOR);
            prop_assert_eq!(usize::from(facts.note.pointer_bytes), size_of::<usize>());
            let kept: usize = facts.needed.iter().map(String::len).sum();
            prop_assert!(kept <= 512 * 4096, "{} bytes of names are kept", kept);
        }
        Err(fault) => {
            prop_assert!(fault.code().starts_with("load/"));
            prop_assert!(fault.to_string().len() < 1000, "{}", fault);
        }
    }
    prop_assert!(
        started.elapsed() < Duration::from_secs(20),
        "it took {:?}",
        started.elapsed()
    );
    Ok(())
}

/// The magic numbers of every format the inspection knows, followed by anything.
fn header() -> impl Strategy<Value = Vec<u8>> {
    let magic = prop_oneof![
        Just(vec![0x7F, b'E', b'L', b'F', 2, 1, 1, 0]),
        Just(vec![0x7F, b'E', b'L', b'F', 1, 1, 1, 0]),
        Just(vec![0x7F, b'E', b'L', b'F', 2, 2, 1, 0]),
        Just(vec![0xCF, 0xFA, 0xED, 0xFE]),
        Just(vec![0xFE, 0xED, 0xFA, 0xCF]),
        Just(vec![0xCE, 0xFA, 0xED, 0xFE]),
        Just(vec![0xCA, 0xFE, 0xBA, 0xBE]),
        Just(vec![0xCA, 0xFE, 0xBA, 0xBF]),
        Just(b"MZ".to_vec()),
        Just(b"!<arch>\n".to_vec()),
        Just(Vec::new()),
    ];
    let rest = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..2048),
        // Small numbers make tables that point at each other.
        prop::collection::vec(prop_oneof![3 => Just(0_u8), 1 => 0..128_u8], 0..2048),
    ];
    (magic, rest).prop_map(|(magic, rest)| [magic, rest].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_library_is_judged(damages in prop::collection::vec(damage(), 1..5)) {
        let mut bytes = whole().to_vec();
        for damage in &damages {
            apply(&mut bytes, damage);
        }
        judge(&bytes)?;
    }

    #[test]
    fn header_followed_by_anything_is_judged(bytes in header()) {
        prop_assert!(inspect(&bytes).is_err());
        judge(&bytes)?;
    }
}

/// A newer minor version is no other contract, whatever else the note grows by.
#[test]
fn newer_minor_version_of_the_contract_passes() {
    let mut bytes = whole().to_vec();
    let note = bytes.windows(8).position(|it| it == b"OCENGINE").unwrap();
    bytes[note + 10] = (CONTRACT_MINOR + 1) as u8;
    assert_eq!(
        inspect(&bytes).unwrap().note.contract_minor,
        CONTRACT_MINOR + 1
    );
}

/// The system makes the stack executable for a library that does not say that it need not be.
#[cfg(target_os = "linux")]
#[test]
fn library_that_is_silent_about_its_stack_is_refused() {
    const PT_GNU_STACK: u32 = 0x6474_e551;
    let mut bytes = whole().to_vec();
    let mut words = bytes.chunks_exact_mut(4);
    let header = words
        .find(|word| *word == PT_GNU_STACK.to_le_bytes())
        .unwrap();
    header.copy_from_slice(&0_u32.to_le_bytes());
    assert_eq!(inspect(&bytes).unwrap_err().code(), "load/executable-stack");
}
