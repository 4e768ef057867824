//! `dscp = …`.

use std::fmt;

use schemars::json_schema;
use serde::de::Error;

use super::form::{Form, schema};
use crate::matching;

/// A code point of six bits, by name or number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodePoint(pub u8);

/// The largest code point.
const MOST: u8 = 63;

impl Form<'_> for CodePoint {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a code point such as \"ef\" or 46")
    }
    fn integer<E: Error>(number: i128) -> Result<Self, E> {
        match u8::try_from(number) {
            Ok(number @ 0..=MOST) => Ok(CodePoint(number)),
            _ => Err(E::custom(format_args!("`{number}` is no code point: there are 0 to {MOST}"))),
        }
    }
    fn text<E: Error>(name: &str) -> Result<Self, E> {
        let number = matching::code_point(name).and_then(|number| u8::try_from(number).ok());
        number.map(CodePoint).ok_or_else(|| {
            E::custom("this is no name of a code point: write one such as \"ef\", or its number")
        })
    }
}

schema!(CodePoint, _ => json_schema!({
    "anyOf": [{ "type": "integer", "minimum": 0, "maximum": MOST }, { "type": "string" }]
}));
