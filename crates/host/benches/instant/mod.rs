//! A model that answers at once and a host in a directory: what is measured with them is the host's own.

use openclaw_host::compaction::CompactionPolicy;
use openclaw_host::{
    Ambient, Block, Host, HostSettings, Model, ModelError, ModelInfo, ModelReply, ModelRequest,
    Slot, Stop,
};
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Always says the same, at once.
pub(crate) struct Instantly {
    info: ModelInfo,
    reply: String,
}

impl Instantly {
    pub(crate) fn new(context_window_tokens: u64, reply: &str) -> Self {
        Self {
            info: ModelInfo {
                provider: "none".into(),
                id: "instant".into(),
                api: "none".into(),
                context_window_tokens,
                max_output_tokens: Some(8_000),
            },
            reply: reply.to_owned(),
        }
    }
}

impl Model for Instantly {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn respond(
        &mut self,
        request: ModelRequest<'_>,
        _on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError> {
        black_box(request.messages);
        Ok(ModelReply {
            content: vec![Block::Text(self.reply.clone())],
            stop: Stop::Stop,
            usage: None,
            response_id: None,
        })
    }
}

/// A host with the built-in engine. Its ids are those of no other host of this run.
pub(crate) fn open(native_dir: &Path) -> Host {
    let ids = AtomicU64::new(0);
    let opened = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let opened = opened.map_or(0, |time| time.as_nanos());
    Host::open(HostSettings {
        native_dir: native_dir.to_owned(),
        agent_id: "main".into(),
        workspace_dir: None,
        slot: Slot::Default,
        plugins: Vec::new(),
        strict: false,
        lane_wait: Duration::from_secs(1),
        handover_wait: Duration::ZERO,
        leaked_generations: 1,
        compaction: CompactionPolicy::default(),
        ambient: Ambient::new(
            || 1_777_629_600_000,
            move || format!("{opened:x}-{:x}", ids.fetch_add(1, Ordering::Relaxed)),
        ),
    })
    .expect("the store opens")
}
