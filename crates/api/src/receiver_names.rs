//! The receivers that a sender may name: one, or all of a fan-out.

use baton_core::workflow::FanOut;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// An agent, or a list of agents: the receivers of a fan-out, all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ReceiverNames {
    One(String),
    All(Vec<String>),
}

impl ReceiverNames {
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::All(names) => names,
        }
    }
}

impl<'de> Deserialize<'de> for ReceiverNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReceiversVisitor)
    }
}

struct ReceiversVisitor;

impl<'de> Visitor<'de> for ReceiversVisitor {
    type Value = ReceiverNames;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an agent, or a list of 1 to 16 agents")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(ReceiverNames::One(name.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut names: Vec<String> = Vec::new();
        while let Some(name) = items.next_element()? {
            names.push(name);
            if names.len() > FanOut::MOST_BRANCHES {
                return Err(A::Error::invalid_length(names.len(), &self));
            }
        }
        if names.is_empty() {
            return Err(A::Error::invalid_length(0, &self));
        }
        Ok(ReceiverNames::All(names))
    }
}

impl PartialSchema for ReceiverNames {
    fn schema() -> RefOr<Schema> {
        let name = || {
            let name = ObjectBuilder::new().schema_type(Type::String).max_length(Some(64));
            name.pattern(Some("^[a-z0-9]+(-[a-z0-9]+)*$"))
        };
        let most = Some(FanOut::MOST_BRANCHES);
        let all = ArrayBuilder::new().items(name()).min_items(Some(1)).max_items(most);
        let about = "An agent, or a list of agents: the receivers of a fan-out, all of them.";
        AnyOfBuilder::new().item(name()).item(all).description(Some(about)).into()
    }
}

impl ToSchema for ReceiverNames {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<ReceiverNames, String> {
        serde_json::from_str(json).map_err(|it: serde_json::Error| it.to_string())
    }

    #[test]
    fn a_name_or_a_list_of_names_is_read() {
        assert_eq!(read("\"a\""), Ok(ReceiverNames::One("a".to_owned())));
        let both = ReceiverNames::All(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(read("[\"a\", \"b\"]"), Ok(both));
        let many = format!("[{}\"a\"]", "\"a\",".repeat(16));
        for bad in ["[]", "7", "{}", "[7]", &many] {
            let refused = read(bad).unwrap_err();
            assert!(refused.contains("agent") || refused.contains("a string"), "{bad}: {refused}");
        }
    }
}
