//! `queue = { kind = … }`.

use laxity::units::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Count, Limit, Number, Quantity, Word};

/// Who gets into a queue, and how much of it there may be. Which keys apply depends on `kind`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Queue {
    /// Who gets in.
    pub kind: Word<QueueKind>,
    /// How much fits: packets as in 100, or bytes as in "64kB".
    pub limit: At<Limit>,
    /// `red`, `choke`: the average length from which on packets are dropped.
    pub min: Option<At<Limit>>,
    /// `red`, `choke`: the average length at which `max-p` is reached, measured like `min`.
    pub max: Option<At<Limit>>,
    /// `red`, `choke`: the probability of a drop just below `max`. Default 0.1.
    pub max_p: Option<At<Number>>,
    /// `red`, `choke`: what one arrival counts in the average. Default 0.002.
    pub weight: Option<At<Number>>,
    /// `red`, `choke`: above `max` the probability grows to 1 at twice `max`, instead of being 1.
    /// Default true.
    pub gentle: Option<At<bool>>,
    /// `red`, `choke`: how drops are spread. Default uniform.
    pub spacing: Option<At<Word<Spacing>>>,
    /// `choke`: how many queued packets an arriving one is compared with. Default 1.
    pub candidates: Option<At<Count>>,
    /// `codel`: the waiting time that is tolerated. Default 5ms.
    pub target: Option<Quantity<Nanos>>,
    /// `codel`: for how long packets may wait longer than that. Default 100ms.
    pub interval: Option<Quantity<Nanos>>,
    /// `red`, `choke`, `codel`: packets that are capable of ECN are marked instead of dropped.
    /// Default false.
    pub ecn: Option<At<bool>>,
}

/// `kind = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueKind {
    /// A packet that would exceed the limit is dropped.
    Droptail,
    /// Random early detection: packets are dropped by chance when the queue is long on average.
    Red,
    /// The same, and packets that meet another of their flow are dropped together with it.
    Choke,
    /// Controlled delay: packets are dropped when they have waited for too long.
    Codel,
}

/// `spacing = …`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// At a probability p, 1 to 1/p packets from one drop to the next, all alike.
    Uniform,
    /// 1/p to 2/p packets, all alike.
    Wait,
}
