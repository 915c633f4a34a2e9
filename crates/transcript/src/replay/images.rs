//! Images an API would refuse become a text that says so.

use openclaw_interface::Role;

use super::draft::Verdict;
use crate::base64;
use crate::blocks::{self, Fate};
use crate::json::Object;
use crate::message::{Message, is_type};

/// What is too large to be looked into.
const MAX_INPUT_BYTES: usize = 10 * 1024 * 1024;
/// What APIs take at most. Making an image smaller is not for this crate.
const MAX_IMAGE_BYTES: usize = 5_242_880;

/// Replaces images without data, type or valid base64, and those that are too large.
///
/// Image blocks that refer to their data (`source`, `url`) instead of holding it are left alone.
pub(super) fn check(message: &Message) -> Verdict {
    let hears = matches!(message.role(), Role::User | Role::ToolResult);
    if !hears || !blocks::mentions(message, "image") {
        return Verdict::Keep;
    }
    let object = message.object();
    let edited = blocks::edited(&object, |block| {
        let refused = (is_type(block, "image") && !refers(block))
            .then(|| refusal(block))
            .flatten();
        refused.map_or(Fate::Keep, |what| {
            Fate::Become(blocks::text_block(&format!("[session:history] {what}")))
        })
    });
    edited.map_or(Verdict::Keep, |left| {
        Verdict::Change(blocks::with_blocks(&object, &left))
    })
}

fn refers(block: &Object<'_>) -> bool {
    block.get("data").is_none()
        && ["source", "url", "image_url"]
            .iter()
            .any(|field| block.get(field).is_some())
}

/// Why no API would take this image.
fn refusal(block: &Object<'_>) -> Option<String> {
    let Some((data, _)) = block.string("data").zip(block.filled("mimeType")) else {
        return Some("omitted image payload: no data or no MIME type".into());
    };
    if data.trim().is_empty() {
        return Some("omitted empty image payload".into());
    }
    let most_bytes = data.len() / 4 * 3;
    let bytes = if most_bytes > MAX_INPUT_BYTES + 3 {
        most_bytes
    } else {
        match base64::decoded_bytes(&data) {
            None => return Some("omitted image payload: invalid base64".into()),
            Some(bytes) => bytes,
        }
    };
    (bytes > MAX_IMAGE_BYTES).then(|| {
        format!("omitted image payload: {bytes} bytes, at most {MAX_IMAGE_BYTES} can be sent")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::{changed, message};

    fn with_image(members: &str) -> String {
        format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"see"}},{{"type":"image"{members}}}]}}"#
        )
    }

    #[test]
    fn refused_images_become_a_text_with_the_reason() {
        let large = "A".repeat(7_000_000);
        let huge = "A".repeat(20_000_000);
        for (members, reason) in [
            ("", "no data or no MIME type"),
            (r#","data":"AAAA""#, "no data or no MIME type"),
            (
                r#","data":7,"mimeType":"image/png""#,
                "no data or no MIME type",
            ),
            (
                r#","data":" ","mimeType":"image/png""#,
                "omitted empty image payload",
            ),
            (r#","data":"A","mimeType":"image/png""#, "invalid base64"),
            (
                &format!(r#","data":"{large}","mimeType":"image/png""#),
                "5250000 bytes",
            ),
            (
                &format!(r#","data":"{huge}","mimeType":"image/png""#),
                "15000000 bytes",
            ),
        ] {
            let after = changed(check, &with_image(members));
            let texts = blocks::texts(&after.object()).join("|");
            assert!(texts.starts_with("see|[session:history] "), "{texts}");
            assert!(texts.contains(reason), "{texts}");
        }
    }

    #[test]
    fn images_that_can_be_sent_stay() {
        for members in [
            r#","data":"AAAA","mimeType":"image/png""#,
            r#","source":{"path":"a.png"}"#,
        ] {
            assert!(matches!(
                check(&message(&with_image(members))),
                Verdict::Keep
            ));
        }
    }
}
