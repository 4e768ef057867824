//! Plans drawn at random, a file for each sort.

mod cake;
mod dwcs;
mod edf;
mod fair;
mod fifo;
mod hfsc;
pub(crate) mod nested;
pub(crate) mod network;
mod parts;
pub mod place;
mod priority;
mod tdp;

use laxity_plan::discipline::Kind;

use crate::Generator;
use crate::draft::Draft;

/// Draws a plan.
pub type Drawing = fn(&mut Generator) -> Draft;

/// Draws plans under a discipline: of one link, or of a network if it has no others. `None` if it
/// promises nothing that traffic could break.
pub fn drawing(kind: Kind) -> Option<Drawing> {
    match kind {
        Kind::Fifo => Some(fifo::draw),
        Kind::Wfq => Some(|draw| fair::flat("wfq", draw)),
        Kind::Wf2q => Some(fair::wf2q),
        Kind::Drr => Some(|draw| fair::flat("drr", draw)),
        Kind::Qfq => Some(|draw| fair::flat("qfq", draw)),
        Kind::Hfsc => Some(hfsc::draw),
        Kind::Priority => Some(priority::draw),
        // Their queues are for short waits on average.
        Kind::FqCodel | Kind::DualPi2 => None,
        Kind::Cake => Some(cake::draw),
        Kind::Edf => Some(edf::draw),
        Kind::Dwcs => Some(dwcs::draw),
        Kind::Tdp => Some(tdp::draw),
    }
}
