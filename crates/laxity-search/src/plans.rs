//! Plans drawn at random, a file for each sort.

mod dwcs;
mod edf;
mod fair;
mod fifo;
mod hfsc;
mod nested;
mod network;
mod parts;
pub mod place;
mod priority;
mod tdp;

use laxity_plan::discipline::Kind;

use crate::Generator;
use crate::discipline::Discipline;
use crate::draft::Draft;
use place::Place;

/// Draws a plan.
pub type Drawing = fn(&mut Generator) -> Draft;

/// A plan of a sort, as yet perhaps not admitted.
pub fn draw(discipline: Discipline, draw: &mut Generator) -> Draft {
    match discipline {
        Discipline::Kind(kind) => {
            let drawing = drawing(kind).expect("only what promises anything is searched");
            let draft = drawing(draw);
            // First come, first served bounds nothing on a link.
            if kind == Kind::Fifo { Place::Links.of(draft, draw) } else { draft }
        }
        Discipline::Nested => nested::draw(draw),
        Discipline::Network => network::draw(draw),
    }
}

/// How plans of one link under a discipline are drawn, or of a network where it has only these;
/// `None` if it promises nothing that traffic could break.
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
        Kind::Edf => Some(edf::draw),
        Kind::Dwcs => Some(dwcs::draw),
        Kind::Tdp => Some(tdp::draw),
    }
}
