//! What happens to packets under way.

use laxity::units::Nanos;

use super::Dist;

/// What the wire behind a link does to packets. By default nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WireSpec {
    /// Propagation: the least time that a packet takes.
    pub delay: Nanos,
    /// Packets that are lost under way.
    pub loss: Option<WireLoss>,
    /// By how much longer than `delay` packets are under way. They arrive in the order in which
    /// they were sent.
    pub jitter: Option<Dist<Nanos>>,
    /// Packets that others pass under way.
    pub reorder: Option<Reorder>,
    /// The share of packets that arrive twice, above 0 and at most 1.
    pub duplicate: Option<f64>,
}

impl WireSpec {
    /// Whether it delays packets by chance, or doubles them.
    pub fn disturbs(&self) -> bool {
        self.jitter.is_some() || self.reorder.is_some() || self.duplicate.is_some()
    }
}

/// `loss = { … }` of a link: losses in runs, each as likely to begin at any packet that is not in
/// one and to end after any packet of one (Gilbert 1960).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WireLoss {
    /// The share of packets that are lost, between 0 and 1.
    pub share: f64,
    /// The mean number of consecutive packets that are lost, at least 1 and such that `share` can
    /// be reached. Default as independent losses have it.
    pub run: f64,
}

/// `reorder = { … }` of a link: packets that are held up under way, each as likely whatever becomes
/// of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// The share of packets, above 0 and at most 1.
    pub share: f64,
    /// By how much longer they are under way.
    pub by: Dist<Nanos>,
}
