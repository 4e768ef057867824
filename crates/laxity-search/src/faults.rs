//! Faults planted on purpose. The search has to find each of them.
//!
//! A fault lies in the proof, in the plan that schedulers are built from, or in the schedulers. The
//! searched plan does not show it.

mod books;
mod built;
mod calls;
mod nested;
mod proved;

use laxity_answers::reservations::calls::{Change, Rules};
use laxity_plan::{Plan, PlanError};

use self::books::Misbehaviour::{Exchanges, Loses, Rests};
use self::books::faulty;
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
    /// What is proved, and the plans that schedulers are built from.
    Whole(fn(&mut Subject)),
    /// The plan that the schedulers of each output are built from.
    Plans(fn(&mut Plan)),
    /// The bounds at outputs: takes this time from the bound of an output and a class.
    Bounds(fn(&Subject, usize, usize) -> u64),
    /// How a scheduler is built from a plan.
    Scheduler(fn(&Plan) -> Built),
    /// How flows come and go.
    Calls(CallsFault),
}

/// A fault in how flows come and go.
#[derive(Debug)]
pub struct CallsFault {
    /// The discipline that it is planted in, as plans have it; `None` for any.
    pub scheduler: Option<&'static str>,
    /// The rules by which calls are granted.
    pub rules: fn(Rules) -> Rules,
    /// What occupies the link from a time on.
    pub change: fn(&mut Change),
    /// The plan that a scheduler is built from.
    pub plan: fn(&mut Plan),
}

const fn fault(discipline: Discipline, name: &'static str, spoils: Spoils) -> Fault {
    Fault { name, discipline, spoils }
}

impl Fault {
    /// Plants it in what is proved, and in what schedulers are built from.
    fn spoil(&self, subject: &mut Subject) {
        match self.spoils {
            Whole(spoil) => spoil(subject),
            Plans(spoil) => subject.outputs.iter_mut().for_each(|output| spoil(&mut output.plan)),
            Bounds(time) => proved::shorten(subject, time),
            Scheduler(build) => subject.build = build,
            Calls(_) => {}
        }
    }

    /// The fault, if it is one in how flows come and go.
    pub fn of_calls(&self) -> Option<&CallsFault> {
        match &self.spoils {
            Calls(fault) => Some(fault),
            Whole(_) | Plans(_) | Bounds(_) | Scheduler(_) => None,
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

use Discipline::{Kind as Of, Nested, Network, Reservations};
use Spoils::{Bounds, Calls, Plans, Scheduler, Whole};
use laxity_plan::discipline::Kind::{
    Cake, Drr, Dwcs, Edf, Fifo, Hfsc, Priority, Qfq, Tdp, Wf2q, Wfq,
};

/// All of them.
pub static ALL: &[Fault] = &[
    fault(Of(Fifo), "paths without one hop's packet", Whole(proved::shorter_paths)),
    fault(Of(Fifo), "outputs' bounds a packet too short", Bounds(proved::less_a_packet)),
    fault(Of(Edf), "bounds a packet too short", Bounds(proved::less_a_packet)),
    fault(Of(Edf), "best effort's curve without the packet that blocks", Plans(built::no_blocking)),
    fault(Of(Edf), "best effort's curve of a faster link", Plans(built::faster_link)),
    fault(Of(Edf), "best effort's curve without one class", Plans(built::class_left_out)),
    fault(Of(Edf), "the deadlines of two classes exchanged", Plans(built::exchanged_deadlines)),
    fault(Of(Edf), "ties in the wrong order", Plans(built::ties)),
    fault(Of(Edf), "a packet in a thousand lost", Scheduler(|plan| faulty(plan, Loses))),
    fault(Of(Edf), "two packets of a class exchanged", Scheduler(|plan| faulty(plan, Exchanges))),
    fault(Of(Edf), "the link left idle now and then", Scheduler(|plan| faulty(plan, Rests))),
    fault(Of(Hfsc), "bounds a packet too short", Bounds(proved::less_a_packet)),
    fault(Of(Hfsc), "the curves of two classes exchanged", Plans(built::exchanged_curves)),
    fault(Of(Hfsc), "curves without their first slope", Plans(built::straight_curves)),
    fault(Of(Hfsc), "sharing alone", Plans(built::no_real_time)),
    fault(
        Of(Wf2q),
        "bounds without the own packet at the own rate",
        Bounds(proved::less_own_packet),
    ),
    fault(Of(Wf2q), "the rates of two classes exchanged", Plans(built::exchanged_curves)),
    fault(Of(Wf2q), "bounds as if there were one level", Bounds(proved::less_levels)),
    fault(Of(Wf2q), "another class's rate doubled", Plans(built::doubled_rate)),
    fault(Nested, "best effort inside without the latency", Scheduler(nested::without_latency)),
    fault(Nested, "bounds without the share's latency", Bounds(proved::less_latency)),
    fault(Nested, "the rates of two shares exchanged", Plans(built::exchanged_shares)),
    fault(Of(Wfq), "bounds a packet too short", Bounds(proved::less_a_packet)),
    fault(Of(Wfq), "the weights of two classes exchanged", Plans(built::exchanged_weights)),
    fault(Of(Drr), "bounds without one round of the others", Bounds(proved::less_a_round)),
    fault(Of(Drr), "the quanta of two classes exchanged", Plans(built::exchanged_weights)),
    fault(Of(Qfq), "bounds without the slots", Bounds(proved::less_slots)),
    fault(Of(Qfq), "the weights of two classes exchanged", Plans(built::exchanged_weights)),
    fault(
        Of(Priority),
        "bounds without the packet that blocks",
        Bounds(proved::less_a_packet_behind),
    ),
    fault(Of(Priority), "the levels of two classes exchanged", Plans(built::exchanged_levels)),
    fault(Of(Cake), "bounds a packet too short", Bounds(proved::less_a_packet)),
    fault(Of(Dwcs), "a loss more than tolerated", Plans(built::looser_windows)),
    fault(Of(Dwcs), "gaps a quarter too long", Plans(built::longer_gaps)),
    fault(Of(Dwcs), "a stream more than admitted", Whole(built::another_stream)),
    fault(Of(Dwcs), "precedence by loss", Plans(built::loss_first)),
    fault(Network, "paths without one hop's packet", Whole(proved::shorter_paths)),
    fault(Network, "outputs' bounds a packet too short", Bounds(proved::less_a_packet)),
    fault(Network, "outputs set up for what enters the network", Whole(built::for_what_enters)),
    fault(Network, "jitter as if no packets were short", Whole(proved::no_short_packets)),
    fault(Network, "paths without the jitter of inner links", Whole(proved::less_jitter)),
    fault(Network, "paths as if all deadlines were one", Whole(proved::one_deadline)),
    fault(Network, "regulators that hold nothing", Whole(built::unregulated)),
    fault(Network, "regulators of curves a packet higher", Whole(built::looser_regulators)),
    fault(
        Network,
        "paths as if CAKE kept the packets of a class in order",
        Whole(proved::in_order_behind_cake),
    ),
    fault(Of(Tdp), "paths a frame too short", Whole(proved::less_a_frame)),
    fault(Of(Tdp), "frames reserved for half of what is sent", Whole(built::half_reserved)),
    fault(
        Reservations,
        "EDF: what has ended is free at once",
        Calls(calls::free_at_once(calls::EDF)),
    ),
    fault(
        Reservations,
        "EDF: what has ended is free a packet too early",
        Calls(calls::free_early(calls::EDF)),
    ),
    fault(
        Reservations,
        "best effort keeps its deadlines while something settles",
        Calls(calls::KEPT_DEADLINES),
    ),
    fault(Reservations, "a newcomer begins at its grant", Calls(calls::NO_WAIT)),
    fault(Reservations, "best effort by the curve before a call joined", Calls(calls::OLD_CURVE)),
    fault(
        Reservations,
        "background: what has ended is free at once",
        Calls(calls::free_at_once(calls::BACKGROUND)),
    ),
    fault(
        Reservations,
        "static priority: what has ended is free at once",
        Calls(calls::free_at_once(calls::PRIORITY)),
    ),
    fault(
        Reservations,
        "WF2Q+: what has ended is free at once",
        Calls(calls::free_at_once(calls::WF2Q)),
    ),
    fault(
        Reservations,
        "WF2Q+: what has ended is free after half of its time",
        Calls(calls::free_halfway(calls::WF2Q)),
    ),
    fault(
        Reservations,
        "WFQ: what has ended is free at once",
        Calls(calls::free_at_once(calls::WFQ)),
    ),
    fault(
        Reservations,
        "QFQ+: what has ended is free at once",
        Calls(calls::free_at_once(calls::QFQ)),
    ),
    fault(
        Reservations,
        "H-FSC: what has ended is free at once",
        Calls(calls::free_at_once(calls::HFSC)),
    ),
    fault(
        Reservations,
        "CAKE: what has ended is free at once",
        Calls(calls::free_at_once(calls::CAKE)),
    ),
    fault(
        Reservations,
        "DRR: what has ended is free at once",
        Calls(calls::free_at_once(calls::DRR)),
    ),
];
