//! `path = …`: the nodes of a path, or the word for the shortest one.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::values::At;

/// The word for the path of the least propagation.
const SHORTEST: &str = "shortest";

/// `path = ["a", "b"]` or `path = "shortest"`.
#[derive(Debug)]
pub(crate) enum Way {
    Nodes(Vec<At<String>>),
    Shortest,
}

impl<'de> Deserialize<'de> for Way {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct WayVisitor;

        impl<'de> Visitor<'de> for WayVisitor {
            type Value = Way;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("nodes such as [\"a\", \"b\"], or \"shortest\"")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<Way, E> {
                match word {
                    SHORTEST => Ok(Way::Shortest),
                    _ => Err(E::unknown_variant(word, &[SHORTEST])),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Way, A::Error> {
                let mut nodes = Vec::new();
                while let Some(node) = seq.next_element()? {
                    nodes.push(node);
                }
                Ok(Way::Nodes(nodes))
            }
        }

        from.deserialize_any(WayVisitor)
    }
}

impl JsonSchema for Way {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Way".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let nodes = generator.subschema_for::<Vec<String>>();
        json_schema!({ "anyOf": [nodes, { "const": SHORTEST }] })
    }
}
