//! `queue = { kind = … }`.

use laxity::units::Nanos;

use super::values::{At, Count, Number, Quantity, Word};
use super::words::Spacing;
use crate::keys::table;
use crate::model::QueueLimit;
use crate::model::queue::Kind;

table! {
    /// Who gets into a queue, and how much of it there may be. Which keys apply depends on `kind`.
    pub(crate) struct Queue {
        /// Who gets in.
        pub kind: Word<Kind>,
        /// How much fits: packets as in 100, or bytes as in "64kB".
        pub limit: At<QueueLimit>,
        /// `droptail`: a packet that would exceed this is marked, if it is capable of ECN: what
        /// DCTCP lives on (RFC 8257). Below `limit`, and measured alike. Default none is.
        pub mark: Option<At<QueueLimit>>,
        /// `red`, `choke`: the average length from which on packets are dropped.
        pub min: Option<At<QueueLimit>>,
        /// `red`, `choke`: the average length at which `max-p` is reached, measured like `min`.
        pub max: Option<At<QueueLimit>>,
        /// `red`, `choke`: the probability of a drop just below `max`. Default 0.1.
        pub max_p: Option<At<Number>>,
        /// `red`, `choke`: what one arrival counts in the average. Default 0.002.
        pub weight: Option<At<Number>>,
        /// `red`, `choke`: above `max` the probability grows to 1 at twice `max`, instead of being
        /// 1. Default true.
        pub gentle: Option<At<bool>>,
        /// `red`, `choke`: how drops are spread. Default uniform.
        pub spacing: Option<At<Word<Spacing>>>,
        /// `choke`: how many queued packets an arriving one is compared with. Default 1.
        pub candidates: Option<At<Count>>,
        /// `codel`: the waiting time that is tolerated. Default 5ms. `pie`: the waiting time that
        /// is aimed at. Default 15ms.
        pub target: Option<Quantity<Nanos>>,
        /// `codel`: for how long packets may wait longer than that. Default 100ms.
        pub interval: Option<Quantity<Nanos>>,
        /// `pie`: how often the probability of a drop is moved. Default 15ms.
        pub update: Option<Quantity<Nanos>>,
        /// `pie`: what a second of waiting above `target` adds to the probability. Default 0.125.
        pub alpha: Option<At<Number>>,
        /// `pie`: what a second by which waiting has grown adds to it. Default 1.25.
        pub beta: Option<At<Number>>,
        /// `pie`: for how long nothing is dropped at first. Default 150ms.
        pub burst: Option<Quantity<Nanos>>,
        /// `red`, `choke`, `codel`, `pie`: packets that are capable of ECN are marked instead of
        /// dropped. Default false.
        pub ecn: Option<At<bool>>,
    }
}
