//! What a provider is sent of captured sessions: valid, inside the budget, and the same bytes turn by turn.

use crate::support::{CapturedTranscript, oracle};
use serde_json::Value;
use support::{Home, Lister, ScriptedModel, call, import, refusal, request, say};

const KEY: &str = "agent:main:main";

#[test]
fn captured_sessions_are_shown_as_their_provider_takes_them() {
    oracle("requests of captured sessions", |captured, tally| {
        for transcript in CapturedTranscript::all(captured) {
            for (provider, api) in [
                ("scripted", "openai-completions"),
                ("anthropic", "anthropic-messages"),
            ] {
                for engine in [None, Some("window")] {
                    let home = match engine {
                        None => Home::new(),
                        Some(name) => Home::new().with_engine(name, Value::Null),
                    };
                    let host = home.host();
                    import(&mut host.store(), "s", &transcript.bytes, Some(KEY));
                    let script = [Ok(say("yes")), Ok(call("c1", "ls")), Ok(say("a file"))];
                    let mut model = ScriptedModel::new(1_000_000, script).at(provider, api);
                    let name = format!("{} at {provider} with {engine:?}", transcript.path);
                    for question in ["one", "two", "three"] {
                        let mut tools = Lister::saying("README.md");
                        let outcome =
                            host.turn(request(question), &mut model, &mut tools, &mut |_| {});
                        let context = outcome.expect("a turn goes well").record.context;
                        let fits = context.assembled_tokens <= context.budget_tokens;
                        tally.same(&name, "in budget", true, fits);
                    }
                    let mut earlier: Option<&[Value]> = None;
                    for (_, messages) in &model.requests {
                        tally.same(&name, "refusal", None, refusal(messages, api));
                        if let Some(earlier) = earlier {
                            let same = messages.len() > earlier.len()
                                && first_difference(earlier, messages).is_none_or(is_image_or_join);
                            tally.same(&name, "same bytes", true, same);
                        }
                        earlier = Some(messages);
                    }
                }
            }
        }
    });
}

/// The first message of the earlier request that another one stands for in the later.
fn first_difference<'a>(earlier: &'a [Value], later: &[Value]) -> Option<&'a Value> {
    let mut both = earlier.iter().zip(later);
    both.find(|(a, b)| a != b).map(|(before, _)| before)
}

/// What changes by rule: images get old, and a question that nobody had answered is joined with the next.
fn is_image_or_join(before: &Value) -> bool {
    before["role"] == "user" || before.to_string().contains("\"image\"")
}
