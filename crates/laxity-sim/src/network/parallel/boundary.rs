//! The outputs at the boundary of a part of a network.

use laxity::units::Nanos;

use crate::network::ids::PortId;
use crate::network::layout::topology::Topology;
use crate::network::output::Output;

/// By part: the outputs here whose links end there. None if there are more than [`MOST`].
pub(super) struct Boundary(Vec<Vec<PortId>>);

/// The largest number of outputs that is looked at for each other part.
const MOST: usize = 16;

impl Boundary {
    /// The boundary of a part.
    pub(super) fn new(topology: &Topology<'_>) -> Self {
        let here = topology.here;
        let mut exits = vec![Vec::new(); here.partition.parts as usize];
        for (port, output) in (0..).map(PortId).zip(&topology.outputs) {
            let [begin, _] = topology.ends(port);
            if here.has(begin) && output.lands_in != here.part {
                exits[output.lands_in.index()].push(port);
            }
        }
        exits.iter_mut().filter(|exits| exits.len() > MOST).for_each(Vec::clear);
        Boundary(exits)
    }

    /// By part: a lower bound on arrivals there that are not posted yet.
    pub(super) fn free(&self, topology: &Topology<'_>) -> impl Iterator<Item = Nanos> {
        let free = |Output { link, delay, .. }: &Output| link.free_at().saturating_add(*delay);
        let free = move |exit: &PortId| free(&topology.outputs[exit.index()]);
        self.0.iter().map(move |exits| exits.iter().map(free).min().unwrap_or(Nanos::ZERO))
    }
}
