//! Networks as a plan writes them.

use laxity::units::{Nanos, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    At, Count, Distribution, Duplicate, LinkRate, Number, Quantity, Reorder, Scheduler, Table,
    WireLoss,
};

/// A link of a network, for both directions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct NetworkLink {
    /// The two nodes that it joins, such as ["r1", "r2"]; none for a link of `topology`.
    #[schemars(extend("minItems" = 2, "maxItems" = 2))]
    pub between: Option<At<Vec<At<String>>>>,
    /// Its rate in each direction; a table if nobody knows it in the direction of `between`.
    /// Default that of `[link]`.
    pub rate: Option<At<LinkRate>>,
    /// A file that says how the rate changes over time in either direction; `rate` is then what
    /// schedulers count on. Default that of `[link]` for links without a `rate` of their own.
    pub rate_trace: Option<At<String>>,
    /// How late it may be with what is due at its rate, as a device is that takes its time. Default
    /// not at all.
    pub latency: Option<Quantity<Nanos>>,
    /// The highest rate at which it sends, where `rate` is only what it is sure of. Default `rate`.
    pub peak: Option<Quantity<Rate>>,
    /// Its propagation delay. Default that of `[link]`.
    pub delay: Option<Quantity<Nanos>>,
    /// Whether every flow has such a link of its own, as hosts have access links. Default false.
    pub private: Option<At<bool>>,
    /// The discipline at both of its ends. Default that of the node, and fifo for a private link.
    pub scheduler: Option<At<Table<Scheduler>>>,
    /// Packets that are lost under way. Default none.
    pub loss: Option<Table<WireLoss>>,
    /// How much longer than `delay` a packet is under way. It stays behind those that were sent
    /// before it. Default not at all.
    pub jitter: Option<At<Distribution<Nanos>>>,
    /// Packets that are held up under way and passed by those behind them. Default none.
    pub reorder: Option<Table<Reorder>>,
    /// Packets that arrive twice. Default none.
    pub duplicate: Option<Table<Duplicate>>,
    /// Whether packets that come to it from other nodes are held until they keep to the `arrival`
    /// of their class again. Default false.
    pub regulate: Option<At<bool>>,
}

/// A node of a network.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Node {
    /// The discipline of its outputs. Default that of `[scheduler]`.
    pub scheduler: Option<At<Table<Scheduler>>>,
    /// `tdp`: how many frames after the previous node it sends a packet. Default that of
    /// `[scheduler]`.
    pub forwarding_delay: Option<At<Count>>,
    /// `tdp`: how its clock differs from the common time reference. Default not at all.
    pub clock: Option<Table<Clock>>,
}

/// A clock that is not perfect.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Clock {
    /// By how much it is ahead of the reference just after it was set.
    pub ahead: Option<Quantity<Nanos>>,
    /// By how much it is behind, in place of `ahead`.
    pub behind: Option<Quantity<Nanos>>,
    /// By how many millionths it is fast or, if negative, slow. Default 0.
    pub drift: Option<At<Number>>,
    /// How often it is set. Default 1s.
    pub sync: Option<Quantity<Nanos>>,
}
