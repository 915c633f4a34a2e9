//! What surrounds a turn: the workspace, its files and skills, the tools, and the system prompt made of them.

use crate::context::{AGENT_ID, Context, variable};
use crate::error::CliError;
use crate::output::Output;
use crate::tools;
use jiff::ZonedDateTime;
use jiff::tz::TimeZone;
use openclaw_agent::{
    ApiKey, BootstrapLimits, Edition, PromptFacts, SkillLimits, SkillRoot, ToolSet, ToolSettings,
    WarningMode, Workspace, analyze_budget, find_skills, inject, read_bootstrap_files,
    skill_catalogue, system_prompt, truncation_notice,
};
use openclaw_config::{Models, PromptSettings, ToolPolicy};
use openclaw_host::{ModelInfo, SystemPrompt, Tools};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXEC_TIMEOUT: Duration = Duration::from_secs(300);
const SKILLS_DIR: &str = "skills";
/// What OpenClaw notes down when a workspace is set up.
const WORKSPACE_STATE: &str = ".openclaw/workspace-state.json";

/// The workspace of an agent and what comes with it.
pub(super) struct Surroundings {
    workspace: Workspace,
    /// Skills of all workspaces; absent when there are none.
    shared_skills: Option<Workspace>,
    home: PathBuf,
    tools: ToolSet,
    settings: PromptSettings,
    warning_mode: WarningMode,
    zone: TimeZone,
    /// Truncations the model was told of.
    told: Vec<String>,
    /// What was said about files and skills; each thing is said once.
    said: Vec<String>,
}

impl Surroundings {
    /// Opens the workspace, which is made when it is not there.
    pub(super) fn open(
        context: &Context,
        dir: &Path,
        output: &mut Output,
    ) -> Result<Self, CliError> {
        let config = context.config()?;
        let (settings, policy) = (config.prompt_settings()?, config.tool_policy()?);
        let workspace = std::fs::create_dir_all(dir).and_then(|()| Workspace::open(dir)).map_err(|error| {
            CliError::new(
                format!("cannot open the workspace {}: {error}", dir.display()),
                "set `agents.defaults.workspace` in openclaw.json to a directory that can be written",
            )
        })?;
        let shared_skills = Workspace::open(&context.paths.state_dir.join(SKILLS_DIR)).ok();
        let (names, warnings) = tools::offered(&policy);
        for warning in warnings {
            output.warning(&warning);
        }
        let tools = ToolSet::new(
            &tool_settings(
                context,
                &policy,
                workspace.clone(),
                shared_skills.clone(),
                secrets(&config.models()?),
            ),
            |name| names.contains(&name),
        );
        Ok(Self {
            workspace,
            shared_skills,
            home: context.paths.home.clone(),
            tools,
            warning_mode: warning_mode(&settings, output),
            zone: zone(&settings, output),
            settings,
            told: Vec::new(),
            said: Vec::new(),
        })
    }

    /// The tools of the agent.
    pub(super) fn tools(&mut self) -> &mut ToolSet {
        &mut self.tools
    }

    /// The system prompt of the next turn, from what the workspace holds now.
    pub(super) fn system_prompt(
        &mut self,
        model: &ModelInfo,
        session_key: &str,
        output: &mut Output,
    ) -> SystemPrompt {
        let chars = |chars: Option<u64>| chars.and_then(|chars| usize::try_from(chars).ok());
        let limits = BootstrapLimits::new(
            chars(self.settings.bootstrap_max_chars),
            chars(self.settings.bootstrap_total_max_chars),
        );
        let is_first_run = !is_set_up(self.workspace.root());
        let (files, faults) = read_bootstrap_files(&self.workspace, Edition::Current, is_first_run);
        let injection = inject(&files, limits);
        let budget = analyze_budget(&files, &injection, limits);
        let notice = truncation_notice(&budget, self.warning_mode, &self.told);
        if let Some(signature) = notice.signature.filter(|it| !self.told.contains(it)) {
            self.told.push(signature);
        }
        for note in faults
            .iter()
            .map(ToString::to_string)
            .chain(injection.notes.iter().cloned())
        {
            self.say(note, output);
        }

        let skills = self.skills(model, output);
        let dir = self.workspace.root().display().to_string();
        let date = date(&ZonedDateTime::now().with_time_zone(self.zone.clone()));
        let model_name = format!("{}/{}", model.provider, model.id);
        let os = format!("{} ({})", std::env::consts::OS, std::env::consts::ARCH);
        let facts = PromptFacts {
            workspace_dir: &dir,
            tools: self.tools.specs(),
            skills: &skills,
            is_first_run: is_first_run
                && injection
                    .files
                    .iter()
                    .any(|file| file.name == "BOOTSTRAP.md"),
            files: &injection.files,
            truncation_notice: notice.lines,
            date: &date,
            runtime: &[
                ("agent", AGENT_ID),
                ("session", session_key),
                ("os", &os),
                ("model", &model_name),
            ],
        };
        system_prompt(&facts).prompt
    }

    fn skills(&mut self, model: &ModelInfo, output: &mut Output) -> String {
        let mut roots = vec![SkillRoot {
            place: &self.workspace,
            below: SKILLS_DIR,
        }];
        roots.extend(
            self.shared_skills
                .as_ref()
                .map(|place| SkillRoot { place, below: "." }),
        );
        let (skills, faults) = find_skills(&roots);
        let defaults = SkillLimits::default();
        let max_chars = self
            .settings
            .max_skills_chars
            .and_then(|chars| usize::try_from(chars).ok());
        let limits = SkillLimits {
            max_chars: max_chars
                .filter(|chars| *chars > 0)
                .unwrap_or(defaults.max_chars),
            window_tokens: Some(model.context_window_tokens),
        };
        let text = skill_catalogue(&skills, limits, Some(&self.home)).text;
        for fault in faults {
            self.say(fault.to_string(), output);
        }
        text
    }

    fn say(&mut self, words: String, output: &mut Output) {
        if !self.said.contains(&words) {
            output.talk(&words);
            self.said.push(words);
        }
    }
}

fn tool_settings(
    context: &Context,
    policy: &ToolPolicy,
    workspace: Workspace,
    shared_skills: Option<Workspace>,
    secrets: Vec<ApiKey>,
) -> ToolSettings {
    ToolSettings {
        workspace,
        readable: shared_skills.into_iter().collect(),
        home: Some(context.paths.home.clone()),
        environment: std::env::vars_os().collect(),
        secrets,
        exec_timeout: policy
            .exec_timeout_secs
            .map_or(EXEC_TIMEOUT, Duration::from_secs),
    }
}

/// What the configured providers are paid with. A provider that cannot be resolved has no key to show.
fn secrets(models: &Models) -> Vec<ApiKey> {
    let mut secrets = Vec::new();
    let endpoints = models
        .providers
        .iter()
        .filter_map(|provider| provider.resolve(&variable).ok());
    for endpoint in endpoints {
        let headers = endpoint.headers.iter();
        let told = headers.filter(|(name, _)| is_for_a_secret(name));
        for value in endpoint.api_key.iter().chain(told.map(|(_, value)| value)) {
            let words = value.expose().split_whitespace();
            secrets.extend(
                words
                    .filter(|word| *word != "Bearer")
                    .filter_map(ApiKey::new),
            );
        }
    }
    secrets
}

/// Other headers hold ordinary words, which results must be free to show.
fn is_for_a_secret(header: &str) -> bool {
    let header = header.to_lowercase();
    ["auth", "key", "token", "secret", "cookie"]
        .iter()
        .any(|word| header.contains(word))
}

fn warning_mode(settings: &PromptSettings, output: &mut Output) -> WarningMode {
    let Some(word) = &settings.truncation_warning else {
        return WarningMode::default();
    };
    WarningMode::parse(word).unwrap_or_else(|| {
        let default = WarningMode::default();
        output.warning(&format!(
            "`agents.defaults.bootstrapPromptTruncationWarning` is \"{word}\", none of off, once, always: `{}` is used",
            default.as_str()
        ));
        default
    })
}

fn zone(settings: &PromptSettings, output: &mut Output) -> TimeZone {
    let Some(name) = &settings.user_timezone else {
        return TimeZone::system();
    };
    TimeZone::get(name).unwrap_or_else(|error| {
        output.warning(&format!(
            "`agents.defaults.userTimezone`: {error}; the zone of this machine is used"
        ));
        TimeZone::system()
    })
}

/// Date and zone of the user, and the date in UTC where it is another.
fn date(now: &ZonedDateTime) -> Vec<String> {
    let day = |time: &ZonedDateTime| time.strftime("%A, %-d %B %Y").to_string();
    let zone = now
        .time_zone()
        .iana_name()
        .map_or_else(|| now.strftime("%:z").to_string(), str::to_owned);
    vec![
        format!("Current date: {}", day(now)),
        format!("Time zone: {zone}"),
        format!("Date in UTC: {}", day(&now.with_time_zone(TimeZone::UTC))),
    ]
}

/// Whether the first conversation of a workspace is behind it.
fn is_set_up(workspace: &Path) -> bool {
    let state = std::fs::read_to_string(workspace.join(WORKSPACE_STATE)).unwrap_or_default();
    let state: Value = serde_json::from_str(&state).unwrap_or_default();
    ["setupCompletedAt", "onboardingCompletedAt"]
        .iter()
        .any(|key| state[*key].as_str().is_some_and(|time| !time.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_told_in_both_zones() {
        let at: ZonedDateTime = "2026-11-30T23:30:00-08:00[America/Los_Angeles]"
            .parse()
            .unwrap();
        assert_eq!(
            date(&at),
            [
                "Current date: Monday, 30 November 2026",
                "Time zone: America/Los_Angeles",
                "Date in UTC: Tuesday, 1 December 2026"
            ]
        );
    }
}
