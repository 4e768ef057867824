//! `limit = …`, and other lengths of queues.

use std::borrow::Cow;
use std::fmt;

use laxity::units::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use super::values::{self, Unit};
use crate::model::QueueLimit;

impl<'de> Deserialize<'de> for QueueLimit {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct LimitVisitor;

        impl Visitor<'_> for LimitVisitor {
            type Value = QueueLimit;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("packets such as 100 or bytes such as \"64kB\"")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<QueueLimit, E> {
                let positive = u64::try_from(number).map(QueueLimit::Packets);
                positive
                    .map_err(|_| E::custom(format_args!("`{number}` is negative: a limit is not")))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<QueueLimit, E> {
                Ok(QueueLimit::Packets(number))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<QueueLimit, E> {
                values::quantity(text).map(QueueLimit::Bytes)
            }
        }

        from.deserialize_any(LimitVisitor)
    }
}

impl JsonSchema for QueueLimit {
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Unit<Bytes>>();
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, size] })
    }
}
