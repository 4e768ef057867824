//! `path = …`: the nodes of a path, or the word for the shortest one.

use std::fmt;

use schemars::json_schema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Error, SeqAccess};

use super::form::{Form, schema};
use super::values::At;

/// The word for the path of the least propagation.
const SHORTEST: &str = "shortest";

/// `path = ["a", "b"]` or `path = "shortest"`.
#[derive(Debug)]
pub(crate) enum Way {
    Nodes(Vec<At<String>>),
    Shortest,
}

impl<'de> Form<'de> for Way {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nodes such as [\"a\", \"b\"], or \"shortest\"")
    }
    fn text<E: Error>(word: &str) -> Result<Self, E> {
        match word {
            SHORTEST => Ok(Way::Shortest),
            _ => Err(E::unknown_variant(word, &[SHORTEST])),
        }
    }
    fn list<A: SeqAccess<'de>>(nodes: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(nodes)).map(Way::Nodes)
    }
}

schema!(Way, generator => {
    let nodes = generator.subschema_for::<Vec<String>>();
    json_schema!({ "anyOf": [nodes, { "const": SHORTEST }] })
});
