//! The state of a network while it runs.

use laxity::police::Policer;
use laxity::units::Nanos;

use super::hosts::{Hosts, Upcoming};
use super::plane::DataPlane;
use super::plane::prefetch::Prefetch;
use super::run::NetworkRun;

/// A network, or a part of it, while it runs: the data plane, and the hosts at its ends.
pub(crate) struct Simulation<'a, O> {
    pub(super) run: NetworkRun<'a>,
    pub(super) plane: DataPlane<'a, O>,
    pub(super) hosts: Hosts,
    pub(super) policer: Policer,
    pub(super) prefetch: Prefetch,
    /// The time of the last event before the run was over.
    pub(super) last: Nanos,
    /// What comes next to the only link, in a run over one.
    pub(super) single: Option<Box<Upcoming>>,
}

impl<O> Simulation<'_, O> {
    /// The observer, which has heard everything up to now.
    pub(crate) fn observer(&mut self) -> &mut O {
        &mut self.plane.books.observer
    }
}
