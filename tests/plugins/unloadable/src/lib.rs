//! An engine whose note says that it may be unmapped. It adds the text of its build to the system prompt; a test makes
//! another build by overwriting that text in the file. A build named `fails-<where>` fails there. The setting `hold` makes
//! an instance leave something behind that keeps the library mapped. With the setting `commits`, a directory, it writes down
//! there which turns it was given, a file a session and a line a turn: its key and
//! the first word of what was asked.

use openclaw_interface::model::{CommitParams, CompactParams, CompactResult, SessionParams};
use openclaw_interface::{
    AssembleRequest, Assembly, BootstrapResult, CommitResult, CommitStatus, ContextEngine,
    CreateContext, EngineError, Host, Info, Messages, export_engine,
};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Found in the file by what it starts with.
#[used]
static BUILD: [u8; 32] = *b"@@build:first                   ";

/// A counter of its own for each copy of this library.
static INSTANCES: AtomicU64 = AtomicU64::new(0);

fn build() -> &'static str {
    let text = std::str::from_utf8(std::hint::black_box(&BUILD)).unwrap_or_default();
    text.trim_start_matches("@@build:").trim_end()
}

fn fails(place: &str) -> Result<(), EngineError> {
    if build() == format!("fails-{place}") {
        return Err(EngineError::failed(format!("this build fails in {place}")));
    }
    Ok(())
}

/// Has a destructor that is the library's own code.
struct Held(String);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.clear();
        std::hint::black_box(&self.0);
    }
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

struct Unloadable {
    settings: Map<String, Value>,
    number: u64,
}

export_engine!(Unloadable, unloadable);

impl Unloadable {
    fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).and_then(Value::as_str)
    }

    /// Writes a turn down. Tells whether it was new.
    fn keep(
        directory: &Path,
        messages: Messages<'_>,
        params: &CommitParams,
    ) -> Result<bool, EngineError> {
        fs::create_dir_all(directory)?;
        let path = directory.join(&params.session_id);
        let key = &params.advancement_key;
        let known = fs::read_to_string(&path).unwrap_or_default();
        if known.lines().any(|line| line.starts_with(key)) {
            return Ok(false);
        }
        let asked = messages.iter().next().map_or("null", |it| it.json());
        let asked: Value = serde_json::from_str(asked)?;
        let text = asked["content"].as_str().unwrap_or_default();
        let line = format!("{key} {}\n", text.split(' ').next().unwrap_or_default());
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(line.as_bytes())?;
        Ok(true)
    }

    /// Leaves behind what the setting asks for.
    fn hold(&self) {
        match self.setting("hold") {
            Some("thread-local") => HELD.set(Some(Held("held".into()))),
            Some("thread") => {
                // Parked until the process ends.
                std::thread::spawn(|| {
                    loop {
                        std::thread::park();
                    }
                });
            }
            _ => {}
        }
    }
}

impl ContextEngine for Unloadable {
    const ID: &'static str = "unloadable";

    fn info() -> Info {
        if build() == "fails-info" {
            panic!("this build fails in info");
        }
        let id = if build() == "fails-contract" {
            "another"
        } else {
            Self::ID
        };
        Info::new(id, "Unloadable engine")
            .version(build())
            .durable_turns()
    }

    fn create(context: CreateContext, _host: Host) -> Result<Self, EngineError> {
        fails("create")?;
        Ok(Self {
            settings: context.settings,
            number: INSTANCES.fetch_add(1, Ordering::SeqCst),
        })
    }

    fn bootstrap(&mut self, _params: &SessionParams) -> Result<BootstrapResult, EngineError> {
        self.hold();
        fails("bootstrap")?;
        Ok(BootstrapResult::default())
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        if build() == "fails-assemble" {
            panic!("this build fails in assemble");
        }
        Ok(Assembly {
            system_prompt_addition: Some(format!("build={} instance={}", build(), self.number)),
            ..Assembly::pass_through(request.messages)
        })
    }

    fn commit_turn(
        &mut self,
        messages: Messages<'_>,
        params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        fails("commit")?;
        let is_new = match self.setting("commits") {
            Some(directory) => Self::keep(Path::new(directory), messages, params)?,
            None => true,
        };
        Ok(CommitResult {
            status: if is_new {
                CommitStatus::Committed
            } else {
                CommitStatus::Duplicate
            },
        })
    }

    fn compact(&mut self, _params: &CompactParams) -> Result<CompactResult, EngineError> {
        if build() == "fails-compact" {
            panic!("this build fails in compact");
        }
        Err(EngineError::unsupported("compact"))
    }

    fn dispose(&mut self) -> Result<(), EngineError> {
        fails("dispose")
    }
}
