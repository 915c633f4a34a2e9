//! The turn limit that the settings of a channel give a session.

use serde_json::Value;

use super::limit::TurnLimit;

/// The limit for a session; `None` when it has none.
///
/// - `session_key`: with or without `agent:<id>:` in front; a thread or topic at its end does not count.
/// - `channels`: the object `channels` of the configuration. For a direct chat the peer's own
///   `dms.<peer>.historyLimit` counts, then `dmHistoryLimit` of the account, then of the channel; elsewhere
///   `historyLimit` of the account, then of the channel. What is no number is not there.
///
/// Source: legacy engine, "Limit".
#[must_use]
pub fn turn_limit(session_key: &str, channels: &Value) -> Option<TurnLimit> {
    let place = Place::of(session_key)?;
    let channel = channels.get(place.channel)?;
    let account = place
        .account
        .and_then(|id| channel.get("accounts")?.get(id));
    let settings = [account, Some(channel)];
    let field = if place.direct {
        "dmHistoryLimit"
    } else {
        "historyLimit"
    };
    let of_peer = place
        .direct
        .then(|| {
            peer(channel.get("dms")?, place.peer)?
                .get("historyLimit")?
                .as_f64()
        })
        .flatten();
    let turns = of_peer.or_else(|| {
        settings
            .into_iter()
            .flatten()
            .find_map(|settings| settings.get(field)?.as_f64())
    });
    TurnLimit::new(turns?)
}

/// The settings of a peer. Keys of sessions are in lower case, ids in a configuration need not be.
fn peer<'a>(dms: &'a Value, id: &str) -> Option<&'a Value> {
    dms.get(id).or_else(|| {
        let mut all = dms.as_object()?.iter();
        all.find(|(name, _)| name.eq_ignore_ascii_case(id))
            .map(|(_, settings)| settings)
    })
}

/// Where a session takes place.
struct Place<'a> {
    channel: &'a str,
    account: Option<&'a str>,
    direct: bool,
    peer: &'a str,
}

impl<'a> Place<'a> {
    fn of(session_key: &'a str) -> Option<Self> {
        let rest = match session_key.strip_prefix("agent:") {
            Some(rest) => rest.split_once(':')?.1,
            None => session_key,
        };
        let (channel, rest) = rest.split_once(':')?;
        let (first, after) = rest.split_once(':')?;
        let (account, kind, peer) = match direct(first) {
            Some(direct) => (None, direct, after),
            None => {
                let (kind, after) = after.split_once(':')?;
                (Some(first), direct(kind)?, after)
            }
        };
        let end = [":thread:", ":topic:"]
            .iter()
            .filter_map(|mark| peer.rfind(mark))
            .min();
        Some(Self {
            channel,
            account,
            direct: kind,
            peer: &peer[..end.unwrap_or(peer.len())],
        })
    }
}

/// Whether a kind of chat is a direct one; `None` for what is no kind.
fn direct(kind: &str) -> Option<bool> {
    match kind {
        "direct" | "dm" => Some(true),
        "group" | "channel" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_nearest_setting_counts() {
        let channels = json!({
            "irc": {
                "dmHistoryLimit": 4, "historyLimit": 8,
                "dms": {"Ann:home": {"historyLimit": 2}, "bo": {"historyLimit": "9"}},
                "accounts": {"work": {"dmHistoryLimit": 5, "historyLimit": 6}}
            },
            "mail": {"dmHistoryLimit": 0}
        });
        for (key, expected) in [
            ("agent:main:irc:direct:ann:home", Some(2)),
            ("irc:dm:ann:home:thread:5", Some(2)),
            ("agent:main:irc:direct:bo", Some(4)),
            ("agent:x:irc:work:direct:cy", Some(5)),
            ("agent:x:irc:play:direct:cy", Some(4)),
            ("agent:x:irc:work:channel:c:topic:1", Some(6)),
            ("agent:x:irc:group:c", Some(8)),
            ("agent:x:mail:direct:cy", None),
            ("agent:x:mail:group:c", None),
            ("agent:main:main", None),
            ("agent:main:subagent:7", None),
            ("agent:main", None),
            ("agent:", None),
            ("", None),
        ] {
            let expected = expected.and_then(|turns: i32| TurnLimit::new(turns.into()));
            assert_eq!(turn_limit(key, &channels), expected, "{key}");
        }
        assert_eq!(turn_limit("irc:dm:ann", &Value::Null), None);
        assert_eq!(turn_limit("irc:dm:ann", &json!({"irc": 7})), None);
    }
}
