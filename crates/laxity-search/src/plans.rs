//! Plans drawn at random, a file for each discipline.

mod dwcs;
mod edf;
mod fair;
mod hfsc;
mod nested;
mod network;
mod parts;
mod priority;
mod tdp;

use crate::Generator;
use crate::discipline::Discipline;
use crate::draft::Draft;

/// A plan under a discipline, as yet perhaps not admitted.
pub fn draw(discipline: Discipline, draw: &mut Generator) -> Draft {
    match discipline {
        Discipline::Edf => edf::draw(draw),
        Discipline::Hfsc => hfsc::draw(draw),
        Discipline::Wf2q => fair::wf2q(draw),
        Discipline::Wfq => fair::flat("wfq", draw),
        Discipline::Drr => fair::flat("drr", draw),
        Discipline::Qfq => fair::flat("qfq", draw),
        Discipline::Priority => priority::draw(draw),
        Discipline::Nested => nested::draw(draw),
        Discipline::Dwcs => dwcs::draw(draw),
        Discipline::Network => network::draw(draw),
        Discipline::Tdp => tdp::draw(draw),
    }
}
