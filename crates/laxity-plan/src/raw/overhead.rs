//! `overhead = …` of a link: bytes, the name of a kind of link, or a table.

use std::fmt;

use laxity::overhead;
use laxity::units::Bytes;
use schemars::{JsonSchema, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess};

use super::form::{Form, in_forms, schema};
use super::values::quantity;
use super::words::Framing;

/// The most that a frame is said to grow by, or to be padded to.
const MOST: u64 = 1000;
/// The most that it is said to shrink by.
const MOST_LESS: u64 = 64;

/// What a link adds to frames.
#[derive(Debug)]
pub(crate) struct Overhead(pub overhead::Overhead);

/// `{ bytes = …, at-least = …, framing = … }`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Parts {
    /// What is added to every frame, such as "18b"; "-6b" where it becomes shorter. Default 0b.
    #[schemars(with = "Option<String>")]
    bytes: Option<SignedBytes>,
    /// The least that a frame takes, such as "64b". Default 0b.
    #[schemars(with = "Option<String>")]
    at_least: Option<SignedBytes>,
    /// What frames are cut into. Default whole.
    framing: Option<Framing>,
}

/// Bytes that may be less than none.
struct SignedBytes(i32);

impl Form<'_> for SignedBytes {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as \"18b\" or \"-6b\"")
    }
    fn text<E: Error>(text: &str) -> Result<Self, E> {
        let (sign, size, limit) = match text.trim_start().strip_prefix('-') {
            Some(size) => (-1, size, MOST_LESS),
            None => (1, text, MOST),
        };
        match quantity::<Bytes, E>(size)? {
            Bytes(bytes) if bytes <= limit => Ok(SignedBytes(sign * bytes as i32)),
            _ => Err(E::custom(format_args!(
                "`{text}` is no overhead: -{MOST_LESS}b to {MOST}b are accepted"
            ))),
        }
    }
}

in_forms! {
    [] SignedBytes;
}

impl<'de> Form<'de> for Overhead {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a size such as \"24b\", a kind of link ({}), or a table", names().join(", "))
    }
    fn text<E: Error>(text: &str) -> Result<Self, E> {
        let named = overhead::Overhead::NAMED.iter().find(|(name, _)| *name == text);
        match named {
            Some((_, overhead)) => Ok(Overhead(*overhead)),
            None if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                let names = names().join(", ");
                Err(E::custom(format_args!("`{text}` is no kind of link: accepted are {names}")))
            }
            None => {
                let SignedBytes(bytes) = SignedBytes::text(text)?;
                Ok(Overhead(overhead::Overhead { bytes, ..overhead::Overhead::NONE }))
            }
        }
    }

    fn table<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let Parts { bytes, at_least, framing } =
            Parts::deserialize(MapAccessDeserializer::new(map))?;
        let at_least = at_least.map_or(0, |SignedBytes(bytes)| bytes);
        Ok(Overhead(overhead::Overhead {
            bytes: bytes.map_or(0, |SignedBytes(bytes)| bytes),
            at_least: u32::try_from(at_least)
                .map_err(|_| A::Error::custom("`at-least` is negative: a length is not"))?,
            framing: framing.unwrap_or(Framing::Whole).into(),
        }))
    }
}

fn names() -> Vec<&'static str> {
    overhead::Overhead::NAMED.iter().map(|(name, _)| *name).collect()
}

schema!(Overhead, "Overhead", generator => json_schema!({
    "description": "What a link adds to frames: bytes, the name of a kind of link, or a table.",
    "anyOf": [
        { "enum": names() },
        { "type": "string", "pattern": r"^\s*-?\s*[0-9]*\.?[0-9]*\s*(b|B|kB|KB|KiB)$" },
        generator.subschema_for::<Parts>(),
    ],
}));
