//! `[class.NAME]`.

use std::fmt;

use laxity::units::{Bytes, Nanos, Rate};
use schemars::{JsonSchema, json_schema};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected};

use super::code_point::CodePoint;
use super::curve::Curve;
use super::form::{Form, schema};
use super::lists::{LinkFrames, LinkTimes};
use super::queue::Queue;
use super::scheduler::Scheduler;
use super::stream::Loss;
use super::values::{At, Count, Number, Quantity, Table, Unit, Word, quantity};
use super::words::{Late, Police};
use crate::keys::table;

table! {
    /// A class of traffic: real-time with a deadline, best effort without. What takes much room and
    /// few classes have is boxed, for a plan may have a million of them.
    pub(crate) struct Class {
        /// The class that it is part of, by name. Default none: it shares the link itself.
        pub parent: Option<At<String>>,
        /// The service that it is guaranteed and shares by: `real-time` (of a class without classes
        /// below it) and `link-share` at once.
        pub curve: Option<Box<At<Curve>>>,
        /// The service that it is guaranteed whatever the others do; not for a class with classes
        /// below it.
        pub real_time: Option<Box<At<Curve>>>,
        /// Its share of what its parent gets.
        pub link_share: Option<Box<At<Curve>>>,
        /// The service that it gets at most by sharing; needs `link-share` or `curve`.
        pub upper_limit: Option<Box<At<Curve>>>,
        /// The delay that its packets are promised; needs `arrival`.
        pub deadline: Option<Quantity<Nanos>>,
        /// The delay that its packets are promised over single links, in place of `deadline`; in a
        /// network.
        pub deadline_over: Option<Box<At<LinkTimes>>>,
        /// The time frame in which each link sends its first packet, counted from 0; under `tdp`.
        /// Default those that are found.
        pub frame_at: Option<Box<At<LinkFrames>>>,
        /// The delay that its packets are promised over the whole of their path; in a network.
        pub end_to_end: Option<Quantity<Nanos>>,
        /// Its side of the contract: the traffic that it may send.
        pub arrival: Option<Box<At<Arrivals>>>,
        /// Its share where classes share by weight, more than 0 and at most 4000. Default 1.
        pub weight: Option<At<Number>>,
        /// Its level, 0 to 255: 0 goes first. Default behind all that have one; where no
        /// class has, by their deadlines.
        pub level: Option<Box<At<Count>>>,
        /// The code point of its packets, such as "ef" or 46; it is their tin under `cake`. Default
        /// "be".
        pub dscp: Option<At<CodePoint>>,
        /// Which packets of a capture or a live link belong to it, such as `udp dport 4000`.
        pub r#match: Option<At<String>>,
        /// What happens to packets that break `arrival`. Default count.
        pub police: Option<At<Word<Police>>>,
        /// How much of it may be queued. Default no limit.
        pub queue: Option<Box<At<Table<Queue>>>>,
        /// How many alike streams it has; a packet's stream is its flow number modulo this. Default
        /// 1.
        pub count: Option<At<Count>>,
        /// The time between the deadlines of two packets of a stream; with `loss` under any
        /// discipline.
        pub gap: Option<Quantity<Nanos>>,
        /// How many of a stream's consecutive packets may be late or lost, such as "1/80"; needs
        /// `gap` or `deadline`.
        pub loss: Option<At<Loss>>,
        /// What becomes of late packets; needs `gap` or `deadline`. Default drop with `loss`,
        /// send without.
        pub late: Option<At<Word<Late>>>,
        /// The scheduler that it holds, for its own packets or for the classes below it; with
        /// `kind = "wf2q"` in `[scheduler]`, and for flows of classes without others below with
        /// `hfsc` and `drr`. Default fifo for a class without classes below it.
        pub scheduler: Option<Box<At<Table<Scheduler>>>>,
    }
}

/// One token bucket, or several that all hold at once.
#[derive(Debug)]
pub(crate) enum Arrivals {
    One(Bucket),
    Several(Vec<Table<Bucket>>),
}

/// A token bucket: in any interval of length t at most `bucket + rate t`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Bucket {
    /// The burst.
    pub bucket: Quantity<Bytes>,
    /// The sustained rate.
    pub rate: Quantity<Rate>,
    /// The largest packet of the class, or the shortest and the largest. Default the link's
    /// `min-packet` and `max-packet`.
    pub packet: Option<At<Lengths>>,
    /// The peak rate; needs `packet`.
    pub peak: Option<Quantity<Rate>>,
}

/// How long the packets of a class are.
#[derive(Debug)]
pub(crate) enum Lengths {
    AtMost(Unit<Bytes>),
    Range(LengthRange),
}

/// The shortest and the largest packet of a class.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Between")]
pub(crate) struct LengthRange {
    /// The shortest packet. Default the link's `min-packet`.
    pub at_least: Option<Quantity<Bytes>>,
    /// The largest packet. Default the link's `max-packet`.
    pub at_most: Option<Quantity<Bytes>>,
}

impl<'de> Form<'de> for Lengths {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as \"1500b\", or { at-least = \"64b\", at-most = \"1500b\" }")
    }
    fn text<E: Error>(text: &str) -> Result<Self, E> {
        quantity(text).map(|size| Lengths::AtMost(Unit(size)))
    }
    fn number<E: Error>(digits: &str, _: Unexpected<'_>) -> Result<Self, E> {
        Self::text(digits)
    }
    fn table<A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        LengthRange::deserialize(MapAccessDeserializer::new(table)).map(Lengths::Range)
    }
}

schema!(Lengths, "PacketLengths", generator => {
    let most = generator.subschema_for::<Unit<Bytes>>();
    let range = generator.subschema_for::<LengthRange>();
    json_schema!({ "anyOf": [most, range] })
});

impl<'de> Form<'de> for Arrivals {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ bucket = \"300b\", rate = \"150kB/s\" } or a list of such tables")
    }
    fn table<A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        Bucket::deserialize(MapAccessDeserializer::new(table)).map(Arrivals::One)
    }
    fn list<A: SeqAccess<'de>>(buckets: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(buckets)).map(Arrivals::Several)
    }
}

schema!(Arrivals, "Arrival", generator => {
    let one = generator.subschema_for::<Bucket>();
    json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
});
