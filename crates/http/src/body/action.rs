//! The `action` of a pipeline API request, which says how the rest of it is read.

use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

/// The `action` of a JSON object, without reading what stands behind it: the body is read once more,
/// and whole, as that action has it. None where there is none, or the text before it is broken.
pub(super) fn first_action(document: &str) -> Option<String> {
    let mut found = None;
    // An error where members follow, because none of them was read.
    let _ = serde_json::Deserializer::from_str(document).deserialize_map(UpToAction(&mut found));
    found
}

struct UpToAction<'a>(&'a mut Option<String>);

impl<'de> Visitor<'de> for UpToAction<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if name == "action" {
                *self.0 = members.next_value()?;
                return Ok(());
            }
            members.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_action_is_found_wherever_it_stands_and_what_follows_is_not_read() {
        for (document, action) in [
            (r#"{"action": "accept", "handoffId": 1}"#, Some("accept")),
            (r#" {"payload": {"action": "reject"}, "\u0061ction": "create"}"#, Some("create")),
            (r#"{"action": "accept", broken"#, Some("accept")),
            (r#"{broken, "action": "accept"}"#, None),
            (r#"{"action": null}"#, None),
            (r#"{"action": 3}"#, None),
            (r#"["accept"]"#, None),
            ("", None),
        ] {
            assert_eq!(first_action(document).as_deref(), action, "{document}");
        }
    }
}
