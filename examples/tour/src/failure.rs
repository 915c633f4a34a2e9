//! Why the tour ends early.

/// An answer that is not what it must be, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) text: String,
    pub(crate) help: Option<String>,
}

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Goes on only when `holds`; `found` says what is there instead.
pub(crate) fn require(holds: bool, found: impl FnOnce() -> String) -> Result<(), Failure> {
    if holds {
        return Ok(());
    }
    Err(Failure::new(found()).help("run again with --keep and look into the home it names"))
}
