//! `hosts = …`.

use std::fmt;

use schemars::json_schema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, SeqAccess};

use super::form::{Form, schema};
use super::values::Pair;

/// The names of two hosts: who sends, and who receives.
#[derive(Debug)]
pub(crate) struct HostPair(pub [String; 2]);

impl<'de> Form<'de> for HostPair {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("two names such as [\"laptop\", \"internet\"]")
    }
    fn list<A: SeqAccess<'de>>(names: A) -> Result<Self, A::Error> {
        let Pair(source, destination) = Pair::deserialize(SeqAccessDeserializer::new(names))?;
        Ok(HostPair([source, destination]))
    }
}

schema!(HostPair, _ => json_schema!({
    "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2
}));
