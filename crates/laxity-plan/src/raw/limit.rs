//! `limit = …`, and other lengths of queues.

use std::fmt;

use laxity::units::Bytes;
use schemars::json_schema;
use serde::de::Error;

use super::form::{Form, schema};
use super::values::{self, Unit};
use crate::model::QueueLimit;

/// `limit = 100` packets or `limit = "64kB"`.
impl Form<'_> for QueueLimit {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("packets such as 100 or bytes such as \"64kB\"")
    }
    fn integer<E: Error>(number: i128) -> Result<Self, E> {
        let positive = u64::try_from(number).map(QueueLimit::Packets);
        positive.map_err(|_| E::custom(format_args!("`{number}` is negative: a limit is not")))
    }
    fn text<E: Error>(text: &str) -> Result<Self, E> {
        values::quantity(text).map(QueueLimit::Bytes)
    }
}

schema!(QueueLimit, "Limit", generator => {
    let size = generator.subschema_for::<Unit<Bytes>>();
    json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, size] })
});
