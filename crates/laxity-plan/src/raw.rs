//! The plan as it is written: one field for every key, in the order of the reference.
//!
//! These types are the single list of what a plan may say. Reading refuses every key that is not
//! here, and [`schema`] turns them, with their comments, into the JSON Schema for editors. What a key
//! means that some queue managements or models of sources have is said in their rooms.

mod curve;
mod dist;
mod lists;
mod network;
mod queue;
mod stream;
mod values;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use laxity::units::{Bytes, Nanos, Rate};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::discipline::Kind;
use crate::keys::Written;
use crate::model::{Assignment, BestEffort, BestEffortOrder, TcpVariant};
use crate::source;
pub use curve::{Curve, Pieces};
pub use dist::Distribution;
pub use lists::{Classes, Links, Nodes, Sources};
pub use network::{Clock, NetworkLink, Node, WireLoss};
pub use queue::{Queue, Spacing};
pub use stream::Loss;
pub use values::{At, Count, Measure, Number, Quantity, Slope, Table, Unit, Word};
pub use words::{Late, Police, Precedence, Violation};

/// The JSON Schema of a plan, for editors that complete and check TOML.
pub fn schema() -> Schema {
    SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(without_null))
        .into_generator()
        .into_root_schema_for::<Plan>()
}

/// Takes `null`, which TOML has not, out of what an optional key may be.
fn without_null(schema: &mut Schema) {
    if let Some(kinds) = schema.get_mut("type").and_then(|kinds| kinds.as_array_mut()) {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            schema.insert("type".into(), kind);
        }
    }
    if let Some(any) = schema.get_mut("anyOf").and_then(|any| any.as_array_mut()) {
        any.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
        if let [one] = &mut any[..]
            && let Some(reference) = one.get_mut("$ref").map(|reference| reference.take())
        {
            schema.remove("anyOf");
            schema.insert("$ref".into(), reference);
        }
    }
}

/// A Laxity plan: a link, the classes that share it, the scheduler that shares it among them, and
/// for a simulation the sources.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// The version of the plan format: 1.
    #[schemars(extend("const" = 1))]
    #[expect(dead_code, reason = "a plan of another version is refused before its keys are read")]
    pub version: Count,
    /// What the plan is about, for headings.
    pub title: Option<String>,
    /// The link that is shared.
    pub link: Table<Link>,
    /// The discipline that shares it.
    pub scheduler: At<Table<Scheduler>>,
    /// The classes of traffic, by name; their order in the file is the order of every table.
    #[serde(default)]
    pub class: Classes,
    /// Defaults of a simulation.
    pub run: Option<Table<Run>>,
    /// The links of a network, by name; without any, all traffic shares one link. Simulation only.
    #[serde(default)]
    pub network: Links,
    /// What nodes of the network have of their own, by name.
    #[serde(default)]
    pub node: Nodes,
    /// The traffic of a simulation.
    #[serde(default)]
    pub source: Sources,
}

/// The link that is shared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Link {
    /// Its rate.
    pub rate: Quantity<Rate>,
    /// The propagation delay of a network's links. Default 0s.
    pub delay: Option<Quantity<Nanos>>,
    /// The largest packet that any class may send. Default 1514b.
    pub max_packet: Option<Quantity<Bytes>>,
    /// The shortest packet; shorter lengths that a model draws are raised to it. Default 40b.
    pub min_packet: Option<Quantity<Bytes>>,
}

/// The discipline that shares the link.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scheduler {
    /// Which discipline.
    pub kind: Word<Kind>,
    /// How best-effort packets get deadlines; `edf` only. Default exact.
    pub best_effort: Option<At<Word<BestEffort>>>,
    /// How best-effort classes are ordered among themselves; `edf`, `tdp`. Default wfq.
    pub best_effort_order: Option<At<Word<BestEffortOrder>>>,
    /// What becomes of real-time packets whose deadline or frame is over; `edf`, `tdp`. Default
    /// send.
    pub late: Option<At<Word<Late>>>,
    /// The queue that all classes share that have none of their own. Default no limit.
    pub queue: Option<At<Table<Queue>>>,
    /// What goes first; `dwcs` only. Default loss-first.
    pub precedence: Option<At<Word<Precedence>>>,
    /// What becomes of a stream that has lost more than it may; `dwcs` only. Default reset.
    pub violation: Option<At<Word<Violation>>>,
    /// After how many services it looks for passed deadlines; `dwcs` only. Default 1.
    pub check_every: Option<At<Count>>,
    /// `fq-codel`: how much a flow may send in its turn. Default 1514b.
    pub quantum: Option<Quantity<Bytes>>,
    /// `fq-codel`: how much all flows may have queued, in packets or bytes. Default 10240.
    pub limit: Option<At<Limit>>,
    /// `fq-codel`: how long a flow's packets may wait in the long run. Default 5ms.
    pub target: Option<Quantity<Nanos>>,
    /// `fq-codel`: for how long they may wait longer. Default 100ms.
    pub interval: Option<Quantity<Nanos>>,
    /// `fq-codel`: how many queues the flows are hashed into. Default 1024.
    pub flows: Option<At<Count>>,
    /// `fq-codel`: whether packets are marked that allow it, instead of dropped. Default true.
    pub ecn: Option<At<bool>>,
    /// `tdp`: how long a time frame is, such as "250us".
    pub frame: Option<Quantity<Nanos>>,
    /// `tdp`: how many frames make a cycle: 3 to 65536.
    pub frames: Option<At<Count>>,
    /// `tdp`: how many cycles make a super cycle, after which reservations repeat. Default 1.
    pub cycles: Option<At<Count>>,
    /// `tdp`: so many frames after the node before a node sends a packet. Default the fewest that
    /// its links allow.
    pub forwarding_delay: Option<At<Count>>,
    /// `tdp`: so many frames more a node may delay the packets of a flow, as is reserved for it.
    /// Default 0, which is immediate forwarding.
    pub spare: Option<At<Count>>,
    /// `tdp`: by how much best effort may run into a reserved frame. Default 0s.
    pub guard: Option<Quantity<Nanos>>,
    /// `tdp`: the error of nodes' clocks that the network is to bear. Default the largest that the
    /// nodes' clocks have.
    pub clock_error: Option<Quantity<Nanos>>,
    /// `tdp`: how frames are assigned to flows. Default quick.
    pub assignment: Option<At<Word<Assignment>>>,
}

impl Scheduler {
    /// The keys that not every discipline takes, and where they stand.
    pub fn options(&self) -> [Written<'_>; 20] {
        // Taken apart, so that none is forgotten.
        let Scheduler {
            kind: _,
            queue: _,
            best_effort,
            best_effort_order,
            late,
            precedence,
            violation,
            check_every,
            quantum,
            limit,
            target,
            interval,
            flows,
            ecn,
            frame,
            frames,
            cycles,
            forwarding_delay,
            spare,
            guard,
            clock_error,
            assignment,
        } = self;
        [
            ("best-effort", span(best_effort)),
            ("best-effort-order", span(best_effort_order)),
            ("late", span(late)),
            ("precedence", span(precedence)),
            ("violation", span(violation)),
            ("check-every", span(check_every)),
            ("quantum", span(quantum)),
            ("limit", span(limit)),
            ("target", span(target)),
            ("interval", span(interval)),
            ("flows", span(flows)),
            ("ecn", span(ecn)),
            ("frame", span(frame)),
            ("frames", span(frames)),
            ("cycles", span(cycles)),
            ("forwarding-delay", span(forwarding_delay)),
            ("spare", span(spare)),
            ("guard", span(guard)),
            ("clock-error", span(clock_error)),
            ("assignment", span(assignment)),
        ]
    }
}

/// A class of traffic: real-time with a deadline, best effort without. What takes much room and few
/// classes have is boxed, for a plan may have a million of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Class {
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
    /// The delay that its packets are promised over the whole of their path; in a network.
    pub end_to_end: Option<Quantity<Nanos>>,
    /// Its side of the contract: the traffic that it may send.
    pub arrival: Option<Box<At<Arrivals>>>,
    /// Its share where classes share by weight, more than 0 and at most 4000. Default 1.
    pub weight: Option<At<Number>>,
    /// Its level under `priority`, 0 to 255: 0 goes first. Default behind all that have one; where no
    /// class has, by their deadlines.
    pub level: Option<Box<At<Count>>>,
    /// Which packets of a capture or a live link belong to it, such as `udp dport 4000`.
    #[serde(rename = "match")]
    pub matching: Option<At<String>>,
    /// What happens to packets that break `arrival`. Default count.
    pub police: Option<At<Word<Police>>>,
    /// How much of it may be queued. Default no limit.
    pub queue: Option<Box<At<Table<Queue>>>>,
    /// How many alike streams it has; a packet's stream is its flow number modulo this. Default 1.
    pub count: Option<At<Count>>,
    /// The time between the deadlines of two packets of a stream.
    pub gap: Option<Quantity<Nanos>>,
    /// How many of a stream's consecutive packets may be late or lost, such as "1/80"; needs
    /// `gap` or `deadline`.
    pub loss: Option<At<Loss>>,
    /// What `dwcs` does with late packets; needs `gap` or `deadline`. Default drop with `loss`,
    /// send without.
    pub late: Option<At<Word<Late>>>,
    /// The scheduler that it holds, for its own packets or for the classes below it; with
    /// `kind = "wf2q"` in `[scheduler]`. Default fifo for a class without classes below it.
    pub scheduler: Option<Box<At<Table<Scheduler>>>>,
}

/// One token bucket, or several that all hold at once.
#[derive(Debug)]
pub enum Arrivals {
    One(Bucket),
    Several(Vec<Table<Bucket>>),
}

/// A token bucket: in any interval of length t at most `bucket + rate t`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bucket {
    /// The burst.
    pub bucket: Quantity<Bytes>,
    /// The sustained rate.
    pub rate: Quantity<Rate>,
    /// The largest packet of the class. Default the link's `max-packet`.
    pub packet: Option<Quantity<Bytes>>,
    /// The peak rate; needs `packet`.
    pub peak: Option<Quantity<Rate>>,
}

/// `limit = 100` packets or `limit = "64kB"`.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    Packets(u64),
    Bytes(Bytes),
}

/// Defaults of a simulation.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Run {
    /// How long sources send. Default 10s for models, all of a recording.
    pub duration: Option<Quantity<Nanos>>,
    /// Packets that arrive before are sent but not measured. Default 0s.
    pub warm_up: Option<Quantity<Nanos>>,
    /// The seed of every random draw. Default 1.
    pub seed: Option<Count>,
}

/// Traffic: a model that feeds one class, or a recording. Which keys apply depends on `model`.
// What the keys of some models mean is said in the rooms of these models.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(transform = source::describe)]
pub struct Source {
    /// The class that it feeds; models only, a recording is sorted by the classes' `match`.
    pub class: Option<At<String>>,
    /// When it sends.
    pub model: At<Word<source::Kind>>,
    /// Lengths of its packets.
    pub packet: Option<At<Distribution<Bytes>>>,
    /// How many independent copies there are. Default as many as the class has streams.
    pub count: Option<At<Count>>,
    /// When it begins. Default 0s.
    pub start: Option<Quantity<Nanos>>,
    /// The time over which the beginnings of its copies, or of its connections, are spread at random.
    /// Default 0s.
    pub stagger: Option<Quantity<Nanos>>,
    /// When it ends. Default never.
    pub stop: Option<Quantity<Nanos>>,
    pub burst: Option<At<Distribution<Nanos>>>,
    pub spacing: Option<At<Distribution<Nanos>>>,
    pub rate: Option<Quantity<Rate>>,
    pub jitter: Option<At<Distribution<Nanos>>>,
    pub on: Option<At<Distribution<Nanos>>>,
    pub off: Option<At<Distribution<Nanos>>>,
    pub shape: Option<At<Number>>,
    pub window: Option<At<Count>>,
    /// In a network: the nodes that its packets pass, from the first to the last.
    pub path: Option<At<Vec<At<String>>>>,
    /// How often its packets pass the path, which then ends where it begins. Default 1.
    pub laps: Option<At<Count>>,
    pub variant: Option<At<Word<TcpVariant>>>,
    pub ack: Option<Quantity<Bytes>>,
    pub transfer: Option<At<Distribution<Bytes>>>,
    pub pause: Option<At<Distribution<Nanos>>>,
    pub initial_window: Option<At<Count>>,
    pub delayed_acks: Option<At<bool>>,
    pub limited_transmit: Option<At<bool>>,
    pub ecn: Option<At<bool>>,
    pub min_timeout: Option<Quantity<Nanos>>,
    pub tick: Option<Quantity<Nanos>>,
    pub file: Option<At<String>>,
    #[serde(rename = "match")]
    pub matching: Option<At<String>>,
    pub sort: Option<At<bool>>,
}

impl Source {
    /// The keys that not every model takes, and where they stand.
    pub fn options(&self) -> [Written<'_>; 29] {
        // Taken apart, so that none is forgotten.
        let Source {
            model: _,
            class,
            packet,
            count,
            start,
            stop,
            laps,
            burst,
            spacing,
            rate,
            jitter,
            on,
            off,
            shape,
            window,
            path,
            variant,
            ack,
            transfer,
            pause,
            initial_window,
            delayed_acks,
            limited_transmit,
            ecn,
            min_timeout,
            tick,
            stagger,
            file,
            matching,
            sort,
        } = self;
        [
            ("class", span(class)),
            ("packet", span(packet)),
            ("count", span(count)),
            ("start", span(start)),
            ("stop", span(stop)),
            ("laps", span(laps)),
            ("burst", span(burst)),
            ("spacing", span(spacing)),
            ("rate", span(rate)),
            ("jitter", span(jitter)),
            ("on", span(on)),
            ("off", span(off)),
            ("shape", span(shape)),
            ("window", span(window)),
            ("path", span(path)),
            ("variant", span(variant)),
            ("ack", span(ack)),
            ("transfer", span(transfer)),
            ("pause", span(pause)),
            ("initial-window", span(initial_window)),
            ("delayed-acks", span(delayed_acks)),
            ("limited-transmit", span(limited_transmit)),
            ("ecn", span(ecn)),
            ("min-timeout", span(min_timeout)),
            ("tick", span(tick)),
            ("stagger", span(stagger)),
            ("file", span(file)),
            ("match", span(matching)),
            ("sort", span(sort)),
        ]
    }
}

/// Where a key stands, if it is written.
fn span<T>(key: &Option<At<T>>) -> Option<&Range<usize>> {
    key.as_ref().map(|at| &at.span)
}

impl<'de> Deserialize<'de> for Arrivals {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ArrivalsVisitor;

        impl<'de> Visitor<'de> for ArrivalsVisitor {
            type Value = Arrivals;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("{ bucket = \"300b\", rate = \"150kB/s\" } or a list of such tables")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Arrivals, A::Error> {
                Bucket::deserialize(MapAccessDeserializer::new(map)).map(Arrivals::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Arrivals, A::Error> {
                let mut buckets = Vec::new();
                while let Some(bucket) = seq.next_element()? {
                    buckets.push(bucket);
                }
                Ok(Arrivals::Several(buckets))
            }
        }

        from.deserialize_any(ArrivalsVisitor)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct LimitVisitor;

        impl Visitor<'_> for LimitVisitor {
            type Value = Limit;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("packets such as 100 or bytes such as \"64kB\"")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Limit, E> {
                let positive = u64::try_from(number).map(Limit::Packets);
                positive
                    .map_err(|_| E::custom(format_args!("`{number}` is negative: a limit is not")))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Limit, E> {
                Ok(Limit::Packets(number))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Limit, E> {
                values::quantity(text).map(Limit::Bytes)
            }
        }

        from.deserialize_any(LimitVisitor)
    }
}

impl JsonSchema for Arrivals {
    fn schema_name() -> Cow<'static, str> {
        "Arrival".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Bucket>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}

impl JsonSchema for Limit {
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Unit<Bytes>>();
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, size] })
    }
}
