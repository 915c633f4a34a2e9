//! What surrounds a turn: the model it talks to, the system prompt it starts with, the tools it may use, and what a
//! message may ask for besides.
//!
//! - Models: [`OfflineModel`] computes its answer from the request and asks nobody; it is what runs when nothing is
//!   configured. [`ProviderModel`] speaks to the one server it was given, in its [`Dialect`].
//! - Prompt: [`system_prompt`] puts together what [`read_bootstrap_files`], [`inject`] and [`find_skills`] bring.
//! - Tools: [`ToolSet`] reads and writes in a [`Workspace`] and runs commands.
//! - Messages: [`take_directives`] and [`take_shortcut`].
//!
//! Takes plain values: this crate reads no config file and prints nothing. It reads files of a [`Workspace`] only. Of the
//! environment it uses the proxy variables; what commands get is handed in. It opens connections to the configured
//! server only.
//!
//! # Invariants
//!
//! - An answer that broke off is an error, never a reply.
//! - The key and the headers of a provider appear in no error, no `Debug` text and no log, and follow no redirect.
//! - An answer without text and without calls is an error.
//! - The same request gives the same bytes on the wire, and a longer history only adds to its message list; a mark for a
//!   provider's cache may move.
//! - A message leaves as it is in the transcript: no trimming, no stamps, no special tokens.
//! - Nothing of a [`Workspace`] is read or written outside of its directory, whatever a path, a link or a race says.
//! - What is shown of a file, a skill or an output is never above its limit, and says that it was cut.
//! - A command ends with its process group, and inherits only variables known to be harmless.
//!
//! # Limits
//!
//! A cancelled request returns within a twentieth of a second, but the connection behind it lives on until the server
//! sends its next piece or the idle limit passes. What the server does with a request it has seen is out of reach.
//!
//! A command has the rights of the user: it starts in the workspace and may leave it. A process that leaves its group
//! with `setsid` outlives its command. Hard links and mounts inside a workspace are followed.
//!
//! # Example
//!
//! ```
//! use openclaw_agent::{OfflineModel, PromptFacts, system_prompt};
//! use openclaw_host::{Block, Model, ModelRequest};
//!
//! let facts = PromptFacts { workspace_dir: "/ws", ..PromptFacts::default() };
//! let prompt = system_prompt(&facts).prompt.with_addition(None);
//! let message = r#"{"role":"user","content":"Hello"}"#;
//! let request = ModelRequest { system_prompt: &prompt, messages: &[message], tools: &[], is_cancelled: &|| false };
//!
//! let mut streamed = String::new();
//! let reply = OfflineModel::new(8_000).respond(request, &mut |text| streamed.push_str(text))?;
//! assert_eq!(reply.content, [Block::Text(streamed)]);
//! # Ok::<(), openclaw_host::ModelError>(())
//! ```

#![forbid(unsafe_code)]

mod bootstrap;
mod content;
mod directives;
mod format;
mod line;
mod offline;
mod provider;
mod secret;
mod skills;
mod surrogates;
mod system_prompt;
mod tools;
mod utf16;
mod workspace;

pub use bootstrap::{
    BootstrapFault, BootstrapFile, BootstrapLimits, BudgetAnalysis, CutCause, Edition, FileBudget,
    FileText, Injected, Injection, TruncationNotice, WarningMode, analyze_budget, inject,
    read_bootstrap_files, truncation_notice,
};
pub use directives::{
    Directives, Elevated, ExecAsk, ExecDirective, ExecHost, ExecOption, ExecSecurity, Fast,
    Leveled, ModelDirective, ModelScope, QueueDirective, QueueDrop, QueueMode, Reasoning, Shortcut,
    Thinking, Trace, Verbose, take_directives, take_shortcut, take_status,
};
pub use format::format_token_count;
pub use offline::{OFFLINE_MODEL, OFFLINE_PROVIDER, OfflineModel};
pub use provider::{Dialect, ProviderModel, ProviderSettings, SettingsError, SettingsErrorKind};
pub use secret::{ApiKey, Header};
pub use skills::{
    Skill, SkillCatalogue, SkillFault, SkillFaultKind, SkillLimits, SkillRoot, find_skills,
    skill_catalogue,
};
pub use surrogates::heal_half_surrogates;
pub use system_prompt::{BuiltPrompt, PromptFacts, PromptSection, SectionKind, system_prompt};
pub use tools::{TOOL_NAMES, ToolSet, ToolSettings, schema_chars};
pub use workspace::{AccessError, Workspace};
