//! A room for each discipline.
//!
//! A room holds its words and keys, how it is built, what it guarantees, and on which classes that
//! depends.
//!
//! To add a discipline, write its room, and add its word and its variant next to [`SchedulerSpec`].
//! The matches below do not compile without them.

mod cake;
mod drr;
mod dualpi2;
mod dwcs;
mod edf;
mod fifo;
mod fq_codel;
mod hfsc;
mod priority;
mod qfq;
pub(crate) mod tdp;
mod wf2q;
mod wfq;

mod growth;
mod names;
mod room;

use crate::model::SchedulerSpec;
pub use crate::model::scheduler::Kind;
pub use growth::Growth;
pub use names::{UnknownScheduler, accepted};
pub use room::{
    Aftermath, Bounds, Discipline, Holders, Proof, Queue, Queues, Room, Services, WaitsBehind,
};

impl Kind {
    /// Its room.
    pub fn room(self) -> &'static Room {
        match self {
            Kind::Fifo => &fifo::ROOM,
            Kind::Wfq => &wfq::ROOM,
            Kind::Wf2q => &wf2q::ROOM,
            Kind::Drr => &drr::ROOM,
            Kind::Qfq => &qfq::ROOM,
            Kind::Hfsc => &hfsc::ROOM,
            Kind::Priority => &priority::ROOM,
            Kind::FqCodel => &fq_codel::ROOM,
            Kind::DualPi2 => &dualpi2::ROOM,
            Kind::Cake => &cake::ROOM,
            Kind::Edf => &edf::ROOM,
            Kind::Dwcs => &dwcs::ROOM,
            Kind::Tdp => &tdp::ROOM,
        }
    }
}

impl Kind {
    /// How a plan says it, for messages.
    pub(crate) fn written(self) -> String {
        format!("`kind = \"{}\"`", self.word())
    }
}

impl SchedulerSpec {
    /// What is the same of its kind whatever its settings.
    pub fn room(&self) -> &'static Room {
        self.kind().room()
    }

    /// What it does to a plan.
    pub fn discipline(&self) -> &dyn Discipline {
        match self {
            SchedulerSpec::Fifo => &fifo::Fifo,
            SchedulerSpec::Wfq => &wfq::Wfq,
            SchedulerSpec::Wf2q => &wf2q::Wf2q,
            SchedulerSpec::Drr => &drr::Drr,
            SchedulerSpec::Qfq => &qfq::Qfq,
            SchedulerSpec::Hfsc => &hfsc::Hfsc,
            SchedulerSpec::Priority => &priority::Priority,
            SchedulerSpec::FqCodel(fq_codel) => fq_codel,
            SchedulerSpec::DualPi2(dualpi2) => dualpi2,
            SchedulerSpec::Cake(cake) => cake,
            SchedulerSpec::Edf(edf) => edf,
            SchedulerSpec::Dwcs(dwcs) => dwcs,
            SchedulerSpec::Tdp(tdp) => tdp,
        }
    }
}
