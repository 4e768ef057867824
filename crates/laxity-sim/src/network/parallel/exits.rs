//! Where packets leave a part of the network for another.

use laxity::units::Nanos;

use crate::network::output::Output;
use crate::network::simulation::{Here, hop_of};
use crate::network::topology::Topology;

/// The outputs of a part whose links end in each other part; none where they are many, or there are
/// none.
pub(super) struct Exits(Vec<Vec<u32>>);

/// How many outputs are looked at for each other part at the end of a window.
const MOST: usize = 16;

impl Exits {
    /// Those of this part.
    pub(super) fn of(topology: &Topology<'_>, here: Here<'_>) -> Self {
        let mut exits = vec![Vec::new(); here.partition.parts as usize];
        for (number, output) in (0..).zip(&topology.outputs) {
            let is_here = here.has(topology.begins(hop_of(output.books)));
            if is_here && output.lands_in != here.part {
                exits[output.lands_in as usize].push(number);
            }
        }
        exits.iter_mut().filter(|exits| exits.len() > MOST).for_each(Vec::clear);
        Exits(exits)
    }

    /// By part, before when nothing arrives there that is not sent yet, whenever it will be.
    pub(super) fn free(&self, topology: &Topology<'_>) -> impl Iterator<Item = Nanos> {
        let free = |Output { link, delay, .. }: &Output| link.free_at().saturating_add(*delay);
        let free = move |exit: &u32| free(&topology.outputs[*exit as usize]);
        self.0.iter().map(move |exits| exits.iter().map(free).min().unwrap_or(Nanos::ZERO))
    }
}
