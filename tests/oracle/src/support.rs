//! Runs a comparison group, or says why not.

mod captured;
mod json;
mod stored;
mod tally;
mod transcripts;

use captured::Captured;
pub(crate) use json::{field, json_lines, list, loaded, parsed, text, with_plain_ids};
pub(crate) use stored::Stored;
pub(crate) use tally::Tally;
pub(crate) use transcripts::{CapturedTranscript, IMPORT_AFTER, IMPORT_BEFORE, REAL};

/// Runs one group of comparisons; fails when anything differs, is missing, or nothing was compared.
pub(crate) fn oracle(name: &str, compare: impl FnOnce(&Captured, &mut Tally)) {
    let captured = match Captured::from_environment() {
        Ok(Some(captured)) => captured,
        Ok(None) => return println!("skipped: {} is not set", captured::FOLDER),
        Err(reason) => panic!("{name}: {reason}"),
    };
    let mut tally = Tally::default();
    compare(&captured, &mut tally);
    match tally.verdict() {
        Ok(comparisons) => println!("oracle ran: {name} ({comparisons} comparisons)"),
        Err(reason) => panic!("{name}: {reason}"),
    }
}
