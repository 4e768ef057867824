//! `rate = …` of a link: a rate, or a table for one that nobody knows.

use std::fmt;

use laxity::units::{Bytes, Nanos, Rate};
use schemars::{JsonSchema, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected};

use super::dist::Distribution;
use super::form::{Form, schema};
use super::values::{At, Measure, Number, Quantity, Table, Unit, Word, quantity};

/// The rate of a link.
#[derive(Debug)]
pub(crate) enum LinkRate {
    /// It is known.
    Fixed(Rate),
    /// A controller finds it while packets are sent.
    Found(Box<Autorate>),
}

impl LinkRate {
    /// The rate that the link always carries.
    pub(crate) fn least(&self) -> Rate {
        match self {
            LinkRate::Fixed(rate) => *rate,
            LinkRate::Found(autorate) => autorate.from.value.0,
        }
    }
}

/// A rate that nobody knows, between two that are known.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Autorate {
    /// What the link always carries; the plan is proved for it.
    pub from: Quantity<Rate>,
    /// The most that it is given.
    pub to: Quantity<Rate>,
    /// How the rate is found. Default delay.
    pub by: Option<Word<Rule>>,
    /// The rate at the beginning. Default the geometric mean of `from` and `to`.
    pub start: Option<Quantity<Rate>>,
    /// The delay that may stand behind the shaper; with `cake-autorate` the one from which a probe
    /// counts as delayed. Default 10ms, with `cake-autorate` 30ms.
    pub delay: Option<Quantity<Nanos>>,
    /// The time between two probes. Default 50ms.
    pub interval: Option<Quantity<Nanos>>,
    /// The most by which the rate rises at once. Default 0.25, with `cake-autorate` 0.04.
    pub rise: Option<At<Number>>,
    /// The most by which it falls at once, with `delay` below the measured capacity. Default 0.75,
    /// with `cake-autorate` 0.25.
    pub fall: Option<At<Number>>,
    /// `delay`: the time in which a queue that is too long is drained. Default 100ms.
    pub drain: Option<Quantity<Nanos>>,
    /// Live: the hosts that answer probes, by address. Default none: time stamps of TCP alone.
    #[serde(default)]
    pub reflectors: Vec<At<String>>,
    /// What a simulation puts behind the shaper. Default a link that sends as `rate-trace` says,
    /// else at `to`, without limit to its queue.
    pub behind: Option<Table<Behind>>,
}

/// How the rate of a link is found.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rule {
    /// The capacity is measured while a queue stands behind the shaper.
    Delay,
    /// Steps up and down, as cake-autorate makes them.
    CakeAutorate,
}

impl From<Rule> for laxity::autorate::Rule {
    fn from(word: Rule) -> Self {
        match word {
            Rule::Delay => laxity::autorate::Rule::Delay,
            Rule::CakeAutorate => laxity::autorate::Rule::CakeAutorate,
        }
    }
}

/// The link behind a shaper, in a simulation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Behind {
    /// How much waits there at most; more is lost. Default no limit.
    pub buffer: Option<Quantity<Bytes>>,
    /// How long a probe takes to a reflector and back if nothing waits. Default 30ms.
    pub round_trip: Option<Quantity<Nanos>>,
    /// How much longer it takes by chance. Default not at all.
    pub jitter: Option<At<Distribution<Nanos>>>,
}

impl<'de> Form<'de> for LinkRate {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, or a table such as {{ from = \"5mbit\", to = \"40mbit\" }}", Rate::EXPECTED)
    }
    fn text<E: Error>(text: &str) -> Result<Self, E> {
        quantity(text).map(LinkRate::Fixed)
    }
    fn number<E: Error>(digits: &str, _: Unexpected<'_>) -> Result<Self, E> {
        Self::text(digits)
    }
    fn table<A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        Autorate::deserialize(MapAccessDeserializer::new(table)).map(Box::new).map(LinkRate::Found)
    }
}

schema!(LinkRate, "LinkRate", generator => json_schema!({
    "description": "The rate of a link, or a table for one that nobody knows.",
    "anyOf": [generator.subschema_for::<Unit<Rate>>(), generator.subschema_for::<Autorate>()],
}));
