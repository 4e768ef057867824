//! Service curves as a plan writes them: `"64kbit"`, `{ burst, delay, rate }` or `{ m1, d, m2 }`.

use std::fmt;

use laxity::units::{Bytes, Nanos, Rate};
use schemars::{JsonSchema, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Error, MapAccess, Unexpected};

use super::form::{Form, schema};
use super::values::{Quantity, Slope, Unit, quantity};

/// A service curve.
#[derive(Debug)]
pub(crate) enum Curve {
    /// The same rate always.
    Linear(Rate),
    /// Two straight pieces.
    Pieces(Pieces),
}

/// Two straight pieces: either a burst that is served within a delay, then a rate; or slope m1 for
/// a time d, then slope m2.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "maxProperties" = 3,
    "oneOf" = [{ "required": ["burst", "delay", "rate"] }, { "required": ["m1", "d", "m2"] }],
))]
pub(crate) struct Pieces {
    /// The work that is served within `delay`.
    pub burst: Option<Quantity<Bytes>>,
    /// The time within which `burst` is served.
    pub delay: Option<Quantity<Nanos>>,
    /// The rate in the long run.
    pub rate: Option<Quantity<Rate>>,
    /// The slope at first: at least `m2`, or "0bit".
    pub m1: Option<Quantity<Slope>>,
    /// How long the first slope holds.
    pub d: Option<Quantity<Nanos>>,
    /// The slope from then on: the rate in the long run.
    pub m2: Option<Quantity<Rate>>,
}

impl<'de> Form<'de> for Curve {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate such as \"64kbit\" or a curve such as ")?;
        f.write_str("{ burst = \"160b\", delay = \"5ms\", rate = \"64kbit\" }")
    }
    fn text<E: Error>(text: &str) -> Result<Self, E> {
        quantity(text).map(Curve::Linear)
    }
    fn number<E: Error>(digits: &str, _: Unexpected<'_>) -> Result<Self, E> {
        Self::text(digits)
    }
    fn table<A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        Pieces::deserialize(MapAccessDeserializer::new(table)).map(Curve::Pieces)
    }
}

schema!(Curve, "Curve", generator => {
    let linear = generator.subschema_for::<Unit<Rate>>();
    let pieces = generator.subschema_for::<Pieces>();
    json_schema!({ "anyOf": [linear, pieces] })
});
