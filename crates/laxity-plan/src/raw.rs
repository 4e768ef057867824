//! The plan as it is written: one field for every key, in the order of the reference.
//!
//! These types are the single list of what a plan may say. Reading refuses every key that is not
//! here, and [`schema`](crate::schema()) turns them, with their comments, into the JSON Schema for
//! editors.

mod class;
mod code_point;
mod curve;
mod dist;
mod form;
mod fragments;
mod host;
mod limit;
mod lists;
mod network;
mod overhead;
mod queue;
mod rate;
pub(crate) mod request;
mod scheduler;
mod source;
mod stream;
pub(crate) mod toml_error;
mod topology;
mod values;
mod way;
mod wire;
mod words;

use laxity::units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::QueueLimit;

pub(crate) use class::{Arrivals, Bucket, Class, Lengths};
use code_point::CodePoint;
pub(crate) use curve::{Curve, Pieces};
pub(crate) use dist::Distribution;
pub(crate) use fragments::{Fragments, SourceTables};
pub(crate) use host::HostPair;
pub(crate) use lists::{Classes, LinkFrames, LinkTimes, Links, Nodes, Requests, Sources};
pub(crate) use network::{Clock, NetworkLink, Node};
pub(crate) use overhead::Overhead;
pub(crate) use queue::Queue;
pub(crate) use rate::{Autorate, Behind, LinkRate};
pub(crate) use scheduler::Scheduler;
pub(crate) use source::{Kind as ModelKind, Source};
pub(crate) use stream::Loss;
pub(crate) use topology::{Drawn, Kind as Shape, Topology};
pub(crate) use values::{
    At, Count, Measure, Number, Quantity, Slope, Table, Unit, Word, matching, positive,
    positive_or, within,
};
pub(crate) use way::Way;
pub(crate) use wire::{Duplicate, Reorder, WireLoss};

form::in_forms! {
    [] Arrivals;
    [] Classes;
    [] CodePoint;
    [] Count;
    [] Curve;
    [] Lengths;
    [] HostPair;
    [] LinkFrames;
    [] Links;
    [] LinkTimes;
    [] LinkRate;
    [] Loss;
    [] Nodes;
    [] Number;
    [] Overhead;
    [] QueueLimit;
    [] Requests;
    [] Sources;
    [] Topology;
    [] Way;
    [A: Deserialize<'de>, B: Deserialize<'de>] values::Pair<A, B>;
    [T: Deserialize<'de>] Table<T>;
    [T: Deserialize<'de>] Word<T>;
    [T: Measure] Distribution<T>;
    [T: Measure] Unit<T>;
}

/// The most classes that a plan has, and the most streams and the most sources that all of its
/// counts make.
pub(crate) const MOST: usize = 1_000_000;

/// A Laxity plan: a link, the classes that share it, the scheduler that shares it among them, and
/// for a simulation the sources.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Plan {
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
    /// The links of a network that are not written one by one: a file, GraphML or CSV, or what is
    /// drawn by a rule.
    pub topology: Option<At<Topology>>,
    /// The links of a network, by name; without any, all traffic shares one link. Simulation only.
    #[serde(default)]
    pub network: Links,
    /// What nodes of the network have of their own, by name.
    #[serde(default)]
    pub node: Nodes,
    /// The traffic of a simulation.
    #[serde(default)]
    pub source: Sources,
    /// The calls of a simulation.
    #[serde(default)]
    pub request: Requests,
}

/// The link that is shared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Link {
    /// Its rate; a table if nobody knows it.
    pub rate: At<LinkRate>,
    /// A file that says how the rate changes over time; `rate` is then what schedulers count on. If
    /// that is a table, the link behind the shaper changes so. Default not at all.
    pub rate_trace: Option<At<String>>,
    /// The propagation delay: of a network's links, else of the wire that `live` and `emulate` put
    /// behind the link. Default 0s.
    pub delay: Option<Quantity<Nanos>>,
    /// Packets that are lost on this wire. Default none.
    pub loss: Option<At<Table<WireLoss>>>,
    /// How much longer than `delay` a packet is on this wire. It stays behind those that were sent
    /// before it. Default not at all.
    pub jitter: Option<At<Distribution<Nanos>>>,
    /// Packets that are held up on this wire and passed by those behind them. Default none.
    pub reorder: Option<At<Table<Reorder>>>,
    /// Packets that arrive twice. Default none.
    pub duplicate: Option<At<Table<Duplicate>>>,
    /// What it adds to the frames of captures and interfaces: bytes, the name of a kind of link, or
    /// both in a table. Default 0b.
    pub overhead: Option<At<Overhead>>,
    /// The largest packet that any class may send, with its overhead. Default 1514b with its
    /// overhead.
    pub max_packet: Option<Quantity<Bytes>>,
    /// The shortest packet; shorter lengths that a model draws are raised to it. Default 40b.
    pub min_packet: Option<Quantity<Bytes>>,
    /// How many threads serve it in `live`, up to 64, each with a scheduler of its own and the
    /// flows that fall to it. The plan is proved for what one of them can count on, its part of the
    /// rate. Default 1.
    pub threads: Option<At<Count>>,
}

/// Defaults of a simulation.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Run {
    /// How long sources send. Default 10s for models, all of a recording.
    pub duration: Option<Quantity<Nanos>>,
    /// Packets that arrive before are sent but not measured. Default 0s.
    pub warm_up: Option<Quantity<Nanos>>,
    /// The seed of every random draw. Default 1.
    pub seed: Option<Count>,
}
