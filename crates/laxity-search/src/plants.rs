//! Faults planted on purpose, each of which the search has to find.
//!
//! A fault lies in what is proved, in the plan that schedulers are built from, or in the schedulers.
//! What is searched does not know of it.

mod books;
mod built;
mod nested;
mod proved;

use laxity_plan::{Plan, PlanError};

use crate::discipline::Discipline;
use crate::draft::Draft;
use crate::subject::{Built, Subject};

/// A fault between a plan, its proof and its schedulers.
#[derive(Debug)]
pub struct Plant {
    /// What it is.
    pub name: &'static str,
    /// The plans that it is planted in.
    pub discipline: Discipline,
    /// What it does.
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// To what is proved, and to the plans that schedulers are built from.
    Plan(fn(&mut Subject)),
    /// To how a scheduler is built from a plan.
    Scheduler(fn(&Plan) -> Built),
}

impl Plant {
    const fn plan(discipline: Discipline, name: &'static str, spoil: fn(&mut Subject)) -> Plant {
        Plant { name, discipline, kind: Kind::Plan(spoil) }
    }

    const fn scheduler(
        discipline: Discipline,
        name: &'static str,
        build: fn(&Plan) -> Built,
    ) -> Plant {
        Plant { name, discipline, kind: Kind::Scheduler(build) }
    }

    /// Plants it in what is proved, and in what schedulers are built from.
    fn spoil(&self, subject: &mut Subject) {
        match self.kind {
            Kind::Plan(spoil) => spoil(subject),
            Kind::Scheduler(build) => subject.build = build,
        }
    }
}

/// The plan of a draft, with a fault planted in what is proved or built.
///
/// # Errors
/// If the plan is refused.
pub fn planted(draft: &Draft, plant: Option<&Plant>) -> Result<Subject, PlanError> {
    let mut subject = Subject::of(draft)?;
    if let Some(plant) = plant {
        plant.spoil(&mut subject);
    }
    Ok(subject)
}

use Discipline::{Drr, Dwcs, Edf, Hfsc, Nested, Network, Priority, Tdp, Wf2q, Wfq};

/// All of them.
pub static ALL: &[Plant] = &[
    Plant::plan(Edf, "bounds a packet too short", proved::less_a_packet),
    Plant::plan(Edf, "best effort's curve without the packet that blocks", built::no_blocking),
    Plant::plan(Edf, "best effort's curve of a faster link", built::faster_link),
    Plant::plan(Edf, "best effort's curve without one class", built::class_left_out),
    Plant::plan(Edf, "the deadlines of two classes exchanged", built::exchanged_deadlines),
    Plant::plan(Edf, "ties in the wrong order", built::ties),
    Plant::scheduler(Edf, "a packet in a thousand lost", books::losing),
    Plant::scheduler(Edf, "two packets of a class exchanged", books::exchanging),
    Plant::scheduler(Edf, "the link left idle now and then", books::idling),
    Plant::plan(Hfsc, "bounds a packet too short", proved::less_a_packet),
    Plant::plan(Hfsc, "the curves of two classes exchanged", built::exchanged_curves),
    Plant::plan(Hfsc, "curves without their first slope", built::straight_curves),
    Plant::plan(Hfsc, "sharing alone", built::no_real_time),
    Plant::plan(Wf2q, "bounds without the own packet at the own rate", proved::less_own_packet),
    Plant::plan(Wf2q, "the rates of two classes exchanged", built::exchanged_curves),
    Plant::plan(Wf2q, "bounds as if there were one level", proved::less_levels),
    Plant::plan(Wf2q, "another class's rate doubled", built::doubled_rate),
    Plant::scheduler(Nested, "best effort inside without the latency", nested::without_latency),
    Plant::plan(Nested, "bounds without the share's latency", proved::less_latency),
    Plant::plan(Nested, "the rates of two shares exchanged", built::exchanged_shares),
    Plant::plan(Wfq, "bounds a packet too short", proved::less_a_packet),
    Plant::plan(Wfq, "the weights of two classes exchanged", built::exchanged_weights),
    Plant::plan(Drr, "bounds without one round of the others", proved::less_a_round),
    Plant::plan(Drr, "the quanta of two classes exchanged", built::exchanged_weights),
    Plant::plan(Priority, "bounds without the packet that blocks", proved::less_a_packet_behind),
    Plant::plan(Priority, "the levels of two classes exchanged", built::exchanged_levels),
    Plant::plan(Dwcs, "a loss more than tolerated", built::looser_windows),
    Plant::plan(Dwcs, "gaps a quarter too long", built::longer_gaps),
    Plant::plan(Dwcs, "a stream more than admitted", built::another_stream),
    Plant::plan(Dwcs, "precedence by loss", built::loss_first),
    Plant::plan(Network, "paths without one hop's packet", proved::shorter_paths),
    Plant::plan(Network, "outputs' bounds a packet too short", proved::less_a_packet),
    Plant::plan(Network, "outputs set up for what enters the network", built::for_what_enters),
    Plant::plan(Tdp, "paths a frame too short", proved::less_a_frame),
    Plant::plan(Tdp, "frames reserved for half of what is sent", built::half_reserved),
];
