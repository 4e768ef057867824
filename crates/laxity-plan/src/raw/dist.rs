//! Distributions as a plan writes them: `"5ms"` or `{ uniform = ["2ms", "4ms"] }`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, MapAccess, Unexpected};

use super::form::Form;
use super::values::{Measure, Number, Pair, Unit, quantity};
use crate::model::Dist;

/// A distribution of a quantity.
#[derive(Debug)]
pub(crate) struct Distribution<T>(pub Dist<T>);

/// The names of distributions.
#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Law {
    Uniform,
    Normal,
    Exponential,
    Pareto,
    LogNormal,
    Weibull,
}

impl<'de, T: Measure> Form<'de> for Distribution<T> {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} or a distribution such as {{ uniform = [from, to] }}", T::EXPECTED)
    }
    fn text<E: Error>(text: &str) -> Result<Self, E> {
        quantity(text).map(Dist::Constant).map(Distribution)
    }
    fn number<E: Error>(digits: &str, _: Unexpected<'_>) -> Result<Self, E> {
        Self::text(digits)
    }
    fn table<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let Some(law) = map.next_key::<Law>()? else {
            return Err(A::Error::custom(
                "this table is empty: write a distribution such as { uniform = [from, to] }",
            ));
        };
        let dist = match law {
            Law::Uniform => both(map.next_value()?, Dist::Uniform),
            Law::Normal => both(map.next_value()?, Dist::Normal),
            Law::Exponential => Dist::Exponential(map.next_value::<Unit<T>>()?.0),
            Law::Pareto => shaped(map.next_value()?, Dist::Pareto),
            Law::LogNormal => shaped(map.next_value()?, Dist::LogNormal),
            Law::Weibull => shaped(map.next_value()?, Dist::Weibull),
        };
        match map.next_key::<Law>()? {
            None => Ok(Distribution(dist)),
            Some(_) => Err(A::Error::custom("two distributions in one place: write one of them")),
        }
    }
}

fn both<T>(Pair(a, b): Pair<Unit<T>, Unit<T>>, make: fn(T, T) -> Dist<T>) -> Dist<T> {
    make(a.0, b.0)
}

fn shaped<T>(Pair(a, b): Pair<Unit<T>, Number>, make: fn(T, f64) -> Dist<T>) -> Dist<T> {
    make(a.0, b.0)
}

impl<T: Measure> JsonSchema for Distribution<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Distribution", T::NAME).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let unit = generator.subschema_for::<Unit<T>>();
        let pair = |description: &str, second: &Schema| {
            json_schema!({
                "type": "array",
                "description": description,
                "prefixItems": [unit, second],
                "minItems": 2,
                "maxItems": 2,
            })
        };
        let number = json_schema!({ "type": "number" });
        json_schema!({
            "description": format!("{}, or a distribution.", T::EXPECTED),
            "anyOf": [unit, {
                "type": "object",
                "properties": {
                    "uniform": pair("[from, to]", &unit),
                    "normal": pair("[mean, deviation]", &unit),
                    "exponential": unit,
                    "pareto": pair("[minimum, shape]", &number),
                    "lognormal": pair("[median, sigma]", &number),
                    "weibull": pair("[scale, shape]", &number),
                },
                "additionalProperties": false,
                "minProperties": 1,
                "maxProperties": 1,
            }],
        })
    }
}
