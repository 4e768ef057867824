//! The kinds of value that a plan's keys take, each read strictly and named in its errors.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use laxity::units::{Bytes, Nanos, Rate, UnitError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, Deserializer, Error, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected,
};

use super::form::{Form, schema};
use crate::error::{Fault, Span};
use crate::matching::{Match, MatchError};

/// The longest text that is a number with its unit, or two numbers with a stroke between them.
pub(super) const LONGEST_UNIT: usize = 64;

/// A value and the bytes of the file that it was written in.
#[derive(Debug)]
pub(crate) struct At<T> {
    pub value: T,
    pub span: Span,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let spanned = toml::Spanned::<T>::deserialize(from)?;
        Ok(At { span: spanned.span(), value: spanned.into_inner() })
    }
}

/// Gives a wrapper the schema of what it wraps.
macro_rules! schema_of_inner {
    ($wrapper:ident) => {
        impl<T: JsonSchema> JsonSchema for $wrapper<T> {
            fn inline_schema() -> bool {
                T::inline_schema()
            }
            fn schema_name() -> Cow<'static, str> {
                T::schema_name()
            }
            fn schema_id() -> Cow<'static, str> {
                T::schema_id()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                T::json_schema(generator)
            }
        }
    };
}

schema_of_inner!(At);
schema_of_inner!(Table);
schema_of_inner!(Word);

/// A table, and never an array in its place.
#[derive(Debug)]
pub(crate) struct Table<T>(pub T);

impl<'de, T: Deserialize<'de>> Form<'de> for Table<T> {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of keys and values")
    }
    fn table<A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(table)).map(Table)
    }
}

/// One of a few words, in quotes.
#[derive(Debug)]
pub(crate) struct Word<T>(pub T);

impl<'de, T: Deserialize<'de>> Form<'de> for Word<T> {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word in quotes")
    }
    fn text<E: Error>(word: &str) -> Result<Self, E> {
        T::deserialize(word.into_deserializer()).map(Word)
    }
}

/// A quantity that is written with its unit, as a string.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit<T>(pub T);

/// A quantity with its unit and its place.
pub(crate) type Quantity<T> = At<Unit<T>>;

/// What reading, errors and the schema say of a quantity.
pub(crate) trait Measure: FromStr<Err = UnitError> + Copy {
    /// Its name in the schema.
    const NAME: &'static str;
    /// What is accepted, with an example.
    const EXPECTED: &'static str;
    /// What it looks like, as a regular expression for editors.
    const PATTERN: &'static str;
    /// The number of its smallest units.
    fn units(self) -> u64;
}

impl Measure for Rate {
    const NAME: &'static str = "Rate";
    const EXPECTED: &'static str = "a rate such as \"10mbit\" or \"1.25MB/s\"";
    const PATTERN: &'static str = r"^\s*[0-9]*\.?[0-9]*\s*((bit|kbit|[Mm]bit|[Gg]bit|[Tt]bit)|(bit|kbit|Mbit|Gbit|Tbit|B|kB|MB|GB|TB)/s)$";
    fn units(self) -> u64 {
        self.0
    }
}

impl Measure for Nanos {
    const NAME: &'static str = "Time";
    const EXPECTED: &'static str = "a time such as \"5ms\" or \"250us\"";
    const PATTERN: &'static str = r"^\s*[0-9]*\.?[0-9]*\s*(ns|us|ms|s|min)$";
    fn units(self) -> u64 {
        self.0
    }
}

impl Measure for Bytes {
    const NAME: &'static str = "Size";
    const EXPECTED: &'static str = "a size such as \"1536b\" or \"30kB\"";
    const PATTERN: &'static str = r"^\s*[0-9]*\.?[0-9]*\s*(b|B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$";
    fn units(self) -> u64 {
        self.0
    }
}

/// The slope of a curve's first piece, in bits a second: a rate that may be zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slope(pub u64);

impl FromStr for Slope {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        match text.parse() {
            Ok(Rate(bits)) => Ok(Slope(bits)),
            Err(UnitError::Zero { .. }) => Ok(Slope(0)),
            Err(error) => Err(error),
        }
    }
}

impl Measure for Slope {
    const NAME: &'static str = "Slope";
    const EXPECTED: &'static str = "a rate such as \"256kbit\" or \"0bit\"";
    const PATTERN: &'static str = Rate::PATTERN;
    fn units(self) -> u64 {
        self.0
    }
}

/// Reads the quantity of a key that cannot be zero.
pub(crate) fn positive<T: Measure>(key: &str) -> impl Fn(&Quantity<T>) -> Result<T, Fault> {
    move |quantity| match quantity.value.0.units() {
        0 => Err(Fault::zero(key, &quantity.span)),
        _ => Ok(quantity.value.0),
    }
}

/// Reads the quantity of a key that cannot be zero, if it is written.
pub(crate) fn positive_or<T: Measure>(
    key: &str,
    written: &Option<Quantity<T>>,
    default: T,
) -> Result<T, Fault> {
    written.as_ref().map_or(Ok(default), positive(key))
}

/// Reads the number of a key within limits.
pub(crate) fn within(
    key: &str,
    At { value: Count(count), span }: &At<Count>,
    limits: RangeInclusive<u64>,
    help: impl FnOnce() -> String,
) -> Result<u32, Fault> {
    match u32::try_from(*count) {
        Ok(number) if limits.contains(count) => Ok(number),
        Ok(0) => Err(Fault::zero(key, span)),
        _ => Err(Fault::at(span, format!("`{key}` is {count}")).help(help())),
    }
}

/// Reads a match expression; its error points into the string.
pub(crate) fn matching(raw: &At<String>, text: &str) -> Result<Match, Fault> {
    raw.value.parse().map_err(|error: MatchError| {
        let quoted = text.get(raw.span.clone()).unwrap_or_default();
        let plain = quoted.len() == raw.value.len() + 2 && quoted[1..].starts_with(&raw.value);
        let begin = raw.span.start + 1;
        let span =
            if plain { begin + error.span.start..begin + error.span.end } else { raw.span.clone() };
        Fault::at(&span, format!("`match`: {}", error.message()))
            .help(format!("accepted here: {}", error.expected))
    })
}

/// Reads a quantity from a TOML string. Bare numbers come here as well, to be told that their
/// unit is missing.
pub(super) fn quantity<T: Measure, E: Error>(text: &str) -> Result<T, E> {
    if text.len() > LONGEST_UNIT {
        return Err(E::custom(format_args!("this text is too long for {}", T::EXPECTED)));
    }
    text.parse().map_err(E::custom)
}

impl<T: Measure> Form<'_> for Unit<T> {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }
    fn text<E: Error>(text: &str) -> Result<Self, E> {
        quantity(text).map(Unit)
    }
    fn number<E: Error>(digits: &str, _: Unexpected<'_>) -> Result<Self, E> {
        Self::text(digits)
    }
}

impl<T: Measure> JsonSchema for Unit<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": format!("{}.", T::EXPECTED),
            "pattern": T::PATTERN,
        })
    }
}

/// A finite number, written as an integer or with a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub f64);

impl Form<'_> for Number {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number such as 0.5, without quotes")
    }
    fn integer<E: Error>(number: i128) -> Result<Self, E> {
        Ok(Number(number as f64))
    }
    fn float<E: Error>(number: f64) -> Result<Self, E> {
        if number.is_finite() {
            Ok(Number(number))
        } else {
            Err(E::custom(format_args!("`{number}` is not a finite number: write one such as 0.5")))
        }
    }
}

schema!(Number, _ => json_schema!({ "type": "number" }));

/// A whole number, zero or more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count(pub u64);

impl Form<'_> for Count {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number such as 100, without quotes")
    }
    fn integer<E: Error>(number: i128) -> Result<Self, E> {
        u64::try_from(number).map(Count).map_err(|_| {
            E::custom(format_args!("`{number}` is negative: write a whole number from 0"))
        })
    }
}

schema!(Count, _ => json_schema!({ "type": "integer", "minimum": 0 }));

/// Two values in brackets, no fewer and no more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<A, B>(pub A, pub B);

impl<'de, A: Deserialize<'de>, B: Deserialize<'de>> Form<'de> for Pair<A, B> {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("two values in brackets")
    }
    fn list<S: SeqAccess<'de>>(mut seq: S) -> Result<Self, S::Error> {
        let few = || S::Error::custom("too few values: write two in brackets");
        let first = seq.next_element()?.ok_or_else(few)?;
        let second = seq.next_element()?.ok_or_else(few)?;
        match seq.next_element::<IgnoredAny>()? {
            None => Ok(Pair(first, second)),
            Some(_) => Err(S::Error::custom("too many values: write two in brackets")),
        }
    }
}
