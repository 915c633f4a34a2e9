//! The child's side: loads the library with the same checks as a turn, and does what the script says.
//!
//! Engines get no services, as hosts without them exist.

use super::material::{self, MARK, Made};
use super::script::{Addition, Answer, Refusal, Reply, Script, Shown, Step};
use openclaw_interface::hosting::{AssemblyView, EngineInstance, NoServices};
use openclaw_interface::model::{CommitStatus, CreateContext};
use openclaw_interface::{EngineError, Message};
use openclaw_loader::{Libraries, Plugin, Trust, Vetted};
use sha2::{Digest, Sha256};
use std::io::{self, BufRead};
use std::time::Instant;

/// Characters of a prompt addition that the parent gets, to tell a difference in it.
const START_CHARS: usize = 8 * 1024;

/// Runs the script that stands on the first line of `input`, and says on `say`, line by line, what comes of it. `input`
/// stays open for as long as the parent lives.
///
/// # Errors
///
/// The line is no script.
pub fn run_probe_script(
    input: &mut dyn BufRead,
    say: &mut dyn FnMut(&str),
) -> Result<(), io::Error> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let script: Script = serde_json::from_str(&line)?;
    let mut say = |reply: &Reply| {
        // A reply is numbers and text: it can always be written.
        say(&serde_json::to_string(reply).unwrap_or_default());
    };
    let plugin = match load(&script) {
        Ok(plugin) => plugin,
        Err(refusal) => {
            say(&Reply::Refused(refusal));
            return Ok(());
        }
    };
    say(&Reply::Loaded {
        info: Box::new(plugin.info.clone()),
        sha256: plugin.sha256.clone(),
    });
    let mut player = Player {
        plugin,
        script: &script,
        instance: None,
    };
    for step in &script.steps {
        if *step == Step::Hold {
            // Ends with the parent, which has the other end.
            io::copy(input, &mut io::sink())?;
            return Ok(());
        }
        match player.play(step, &mut say) {
            Ok((answer, elapsed_us)) => say(&Reply::Done { answer, elapsed_us }),
            Err(error) => {
                let reason = error.to_string();
                say(&Reply::Failed { reason });
                return Ok(());
            }
        }
    }
    Ok(())
}

fn load(script: &Script) -> Result<Plugin, Refusal> {
    // Whether the operator allows the library is asked by the parent, which compares the hash.
    let libraries = Libraries::below(&script.scratch.join("run"));
    Vetted::read(&script.directory, &script.settings, &Trust::default())
        .and_then(|vetted| vetted.load(&libraries))
        .map_err(|error| Refusal {
            code: error.code().to_owned(),
            text: crate::registry::one_line(&error),
            help: error.help(),
        })
}

struct Player<'s> {
    plugin: Plugin,
    script: &'s Script,
    instance: Option<EngineInstance>,
}

impl Player<'_> {
    fn play(
        &mut self,
        step: &Step,
        say: &mut dyn FnMut(&Reply),
    ) -> Result<(Answer, u64), EngineError> {
        match step {
            Step::Create => {
                self.instance = None;
                let context = self.context();
                let factory = &self.plugin.factory;
                let (made, elapsed) = timed(|| factory.create(&context, NoServices));
                self.instance = Some(made?);
                Ok((Answer::Ended, elapsed))
            }
            Step::Bootstrap => self.call(|engine| {
                let answer = engine.bootstrap(&material::session());
                answer.map(|_| Answer::Ended)
            }),
            Step::Maintain => self.call(|engine| {
                let answer = engine.maintain(&material::session());
                answer.map(|_| Answer::Ended)
            }),
            Step::Assemble { turn, prompt } => {
                let history = material::history(*turn);
                let views = views(&history);
                let params = material::assembly(*turn, prompt.as_deref());
                let budget = Some(material::BUDGET_TOKENS);
                self.call(|engine| {
                    let shown = engine.assemble_with(&views, budget, &params, shown)?;
                    Ok(Answer::Shown(shown))
                })
            }
            Step::Commit { turn, other } => {
                let messages = material::messages(*turn, *other);
                let views = views(&messages);
                let params = material::commit(*turn, &messages);
                say(&Reply::Begins);
                self.call(|engine| {
                    let result = engine.commit_turn(&views, &params)?;
                    Ok(match result.status {
                        CommitStatus::Committed => Answer::Committed,
                        CommitStatus::Duplicate => Answer::Duplicate,
                    })
                })
            }
            Step::Compact => self.call(|engine| {
                let result = engine.compact(&material::compaction())?;
                Ok(Answer::Compacted {
                    ok: result.ok,
                    compacted: result.compacted,
                    reason: result.reason,
                })
            }),
            Step::Dispose => {
                let done = self.call(|engine| engine.dispose().map(|()| Answer::Ended));
                self.instance = None;
                done
            }
            Step::Hold => Ok((Answer::Ended, 0)),
        }
    }

    fn call(
        &mut self,
        call: impl FnOnce(&mut EngineInstance) -> Result<Answer, EngineError>,
    ) -> Result<(Answer, u64), EngineError> {
        let Some(instance) = &mut self.instance else {
            return Err(EngineError::failed("the script has made no instance"));
        };
        let (answer, elapsed) = timed(|| call(instance));
        match answer {
            Err(error) if error.is_unsupported() => Ok((Answer::Absent, elapsed)),
            answer => Ok((answer?, elapsed)),
        }
    }

    fn context(&self) -> CreateContext {
        CreateContext {
            settings: self.plugin.settings.clone(),
            agent_dir: Some(self.script.scratch.join("agent")),
            workspace_dir: Some(self.script.scratch.join("workspace")),
            ..CreateContext::default()
        }
    }
}

fn timed<T>(call: impl FnOnce() -> T) -> (T, u64) {
    let started = Instant::now();
    let value = call();
    let elapsed = started.elapsed().as_micros();
    (value, u64::try_from(elapsed).unwrap_or(u64::MAX))
}

fn views(messages: &[Made]) -> Vec<Message<'_>> {
    messages.iter().map(Made::view).collect()
}

fn shown(view: AssemblyView<'_>) -> Shown {
    let fresh: Vec<&str> = view.new_messages().collect();
    let picked = view.picks().iter().map(|pick| {
        let text = fresh
            .get(pick.index as usize)
            .filter(|_| pick.is_new_message());
        match text {
            Some(text) => format!("a new message ({})", identity(text)),
            None if pick.is_input() => format!("message {} of the history", pick.index),
            None => format!("message {} of list {}", pick.index, pick.kind),
        }
    });
    let addition = view.system_prompt_addition();
    Shown {
        messages: picked.collect(),
        addition: addition.map(|text| Addition {
            start: text
                .chars()
                .take(START_CHARS)
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect(),
            identity: identity(text),
        }),
        has_mark_in_messages: fresh.iter().any(|text| text.contains(MARK)),
        has_mark_in_addition: addition.is_some_and(|text| text.contains(MARK)),
    }
}

/// Size and hash of a text.
fn identity(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let hash: String = digest[..4]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{} bytes, hash {hash}", text.len())
}
