//! What classes of alike streams may lose.

use std::borrow::Cow;
use std::fmt;

use laxity::window;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use super::values::LONGEST_UNIT;

/// `loss = "1/80"`: of any 80 consecutive packets at most one may be late or lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss(pub window::Loss);

impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct LossVisitor;

        impl Visitor<'_> for LossVisitor {
            type Value = Loss;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a loss tolerance such as \"1/80\", one of any 80 packets")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Loss, E> {
                if text.len() > LONGEST_UNIT {
                    return Err(E::custom(
                        "this text is too long for a loss tolerance: write one such as \"1/80\"",
                    ));
                }
                text.parse().map(Loss).map_err(E::custom)
            }
        }

        from.deserialize_any(LossVisitor)
    }
}

impl JsonSchema for Loss {
    fn schema_name() -> Cow<'static, str> {
        "Loss".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A loss tolerance such as \"1/80\": of any 80 consecutive packets at most one may be late or lost.",
            "pattern": "^[0-9]+/[0-9]+$",
        })
    }
}
