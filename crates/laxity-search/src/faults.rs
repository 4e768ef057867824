//! Faults planted on purpose. The search has to find each of them.
//!
//! A fault lies in the proof, in the plan that schedulers are built from, or in the schedulers. The
//! searched plan does not show it.

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
pub struct Fault {
    /// What it is.
    pub name: &'static str,
    /// The plans that it is planted in.
    pub discipline: Discipline,
    /// What it does.
    spoils: Spoils,
}

#[derive(Debug)]
enum Spoils {
    /// To what is proved, and to the plans that schedulers are built from.
    Plan(fn(&mut Subject)),
    /// To how a scheduler is built from a plan.
    Scheduler(fn(&Plan) -> Built),
}

impl Fault {
    const fn plan(discipline: Discipline, name: &'static str, spoil: fn(&mut Subject)) -> Fault {
        Fault { name, discipline, spoils: Spoils::Plan(spoil) }
    }

    const fn scheduler(
        discipline: Discipline,
        name: &'static str,
        build: fn(&Plan) -> Built,
    ) -> Fault {
        Fault { name, discipline, spoils: Spoils::Scheduler(build) }
    }

    /// Plants it in what is proved, and in what schedulers are built from.
    fn spoil(&self, subject: &mut Subject) {
        match self.spoils {
            Spoils::Plan(spoil) => spoil(subject),
            Spoils::Scheduler(build) => subject.build = build,
        }
    }
}

/// The plan of a draft, with a fault planted in what is proved or built.
///
/// # Errors
/// If the plan is refused.
pub fn with_fault(draft: &Draft, fault: Option<&Fault>) -> Result<Subject, PlanError> {
    let mut subject = Subject::new(draft)?;
    if let Some(fault) = fault {
        fault.spoil(&mut subject);
    }
    Ok(subject)
}

use Discipline::{Kind as Of, Nested, Network};
use laxity_plan::discipline::Kind::{Drr, Dwcs, Edf, Fifo, Hfsc, Priority, Qfq, Tdp, Wf2q, Wfq};

/// All of them.
pub static ALL: &[Fault] = &[
    Fault::plan(Of(Fifo), "paths without one hop's packet", proved::shorter_paths),
    Fault::plan(Of(Fifo), "outputs' bounds a packet too short", proved::less_a_packet),
    Fault::plan(Of(Edf), "bounds a packet too short", proved::less_a_packet),
    Fault::plan(Of(Edf), "best effort's curve without the packet that blocks", built::no_blocking),
    Fault::plan(Of(Edf), "best effort's curve of a faster link", built::faster_link),
    Fault::plan(Of(Edf), "best effort's curve without one class", built::class_left_out),
    Fault::plan(Of(Edf), "the deadlines of two classes exchanged", built::exchanged_deadlines),
    Fault::plan(Of(Edf), "ties in the wrong order", built::ties),
    Fault::scheduler(Of(Edf), "a packet in a thousand lost", books::losing),
    Fault::scheduler(Of(Edf), "two packets of a class exchanged", books::exchanging),
    Fault::scheduler(Of(Edf), "the link left idle now and then", books::idling),
    Fault::plan(Of(Hfsc), "bounds a packet too short", proved::less_a_packet),
    Fault::plan(Of(Hfsc), "the curves of two classes exchanged", built::exchanged_curves),
    Fault::plan(Of(Hfsc), "curves without their first slope", built::straight_curves),
    Fault::plan(Of(Hfsc), "sharing alone", built::no_real_time),
    Fault::plan(Of(Wf2q), "bounds without the own packet at the own rate", proved::less_own_packet),
    Fault::plan(Of(Wf2q), "the rates of two classes exchanged", built::exchanged_curves),
    Fault::plan(Of(Wf2q), "bounds as if there were one level", proved::less_levels),
    Fault::plan(Of(Wf2q), "another class's rate doubled", built::doubled_rate),
    Fault::scheduler(Nested, "best effort inside without the latency", nested::without_latency),
    Fault::plan(Nested, "bounds without the share's latency", proved::less_latency),
    Fault::plan(Nested, "the rates of two shares exchanged", built::exchanged_shares),
    Fault::plan(Of(Wfq), "bounds a packet too short", proved::less_a_packet),
    Fault::plan(Of(Wfq), "the weights of two classes exchanged", built::exchanged_weights),
    Fault::plan(Of(Drr), "bounds without one round of the others", proved::less_a_round),
    Fault::plan(Of(Drr), "the quanta of two classes exchanged", built::exchanged_weights),
    Fault::plan(Of(Qfq), "bounds without the slots", proved::less_slots),
    Fault::plan(Of(Qfq), "the weights of two classes exchanged", built::exchanged_weights),
    Fault::plan(
        Of(Priority),
        "bounds without the packet that blocks",
        proved::less_a_packet_behind,
    ),
    Fault::plan(Of(Priority), "the levels of two classes exchanged", built::exchanged_levels),
    Fault::plan(Of(Dwcs), "a loss more than tolerated", built::looser_windows),
    Fault::plan(Of(Dwcs), "gaps a quarter too long", built::longer_gaps),
    Fault::plan(Of(Dwcs), "a stream more than admitted", built::another_stream),
    Fault::plan(Of(Dwcs), "precedence by loss", built::loss_first),
    Fault::plan(Network, "paths without one hop's packet", proved::shorter_paths),
    Fault::plan(Network, "outputs' bounds a packet too short", proved::less_a_packet),
    Fault::plan(Network, "outputs set up for what enters the network", built::for_what_enters),
    Fault::plan(Network, "jitter as if no packets were short", proved::no_short_packets),
    Fault::plan(Network, "regulators that hold nothing", built::unregulated),
    Fault::plan(Network, "regulators of curves a packet higher", built::looser_regulators),
    Fault::plan(Of(Tdp), "paths a frame too short", proved::less_a_frame),
    Fault::plan(Of(Tdp), "frames reserved for half of what is sent", built::half_reserved),
];
