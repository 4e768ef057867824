//! Plans as Linux carries them out.
//!
//! [`linux_plan`] makes two things of a plan that belong together: the [`Setup`] that the kernel is
//! given, and the plan that this set-up comes to. That has the kernel's whole numbers, rounded as
//! the kernel rounds them, the frames that it queues, and a timer that is late. What is proved of
//! the plan holds for the set-up, by the same proofs as for any plan.
//!
//! What the kernel does differently, and where it stands (Linux 6.1):
//!
//! - Rates are whole bytes a second (`tc_ratespec`, `tc_service_curve`). The link's rate is rounded
//!   down, those of the classes up.
//! - Tokens keep the rate of the link (net/sched/sch_tbf.c, `tbf_dequeue`). The burst covers a late
//!   timer, so that nothing is lost.
//! - A timer wakes the link late (net/sched/sch_api.c, `qdisc_watchdog`). Every packet is as much
//!   later ([`LinkSpec::stall`]).
//! - Time is counted in ticks of 64 ns (include/net/pkt_sched.h, `PSCHED_SHIFT`). Five of them are
//!   added.
//! - Slopes are whole parts (net/sched/sch_hfsc.c, `m2sm`, `m2ism`, `d2dx`). [`hfsc`] has the curve
//!   that is guaranteed and the one that a class may ask for.
//! - Frames may have several segments (net/core/dev.c, `qdisc_pkt_len_init`). They are the largest
//!   packet, unless tbf takes them apart (`tbf_segment`).
//! - Quanta have limits (net/sched/sch_drr.c, `drr_change_class`). No packet counts as shorter than
//!   the least, and more than the greatest is refused.
//!
//! Link-sharing of `hfsc` leaves the paper where classes come back: `init_vf` takes the mean of the
//! virtual times that it finds. Shares of what is left over may be wrong by some packets. No bound
//! rests on them.
//!
//! [`LinkSpec::stall`]: laxity_plan::model::LinkSpec::stall

mod cake;
mod filter;
pub mod hfsc;
mod machine;
mod queue;
mod refusal;
mod setup;
#[cfg(test)]
mod tests;
mod weight;

use laxity::overhead::{Framing, Overhead};
use laxity::sched::hfsc::Curves;
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::{LinkSpec, SchedulerSpec, TokenBucket};

use crate::setup::units::TICK;
use crate::setup::{ClassKind, Handle, HfscCurve, Setup};
use filter::policers;
use hfsc::Integers;
use weight::{QFQ_PACKETS, for_qfq};

pub use machine::{Filters, Linux};
pub use refusal::Refusal;
pub(crate) use setup::{handles, tin_handle};

/// A plan as Linux carries it out.
#[derive(Clone, Debug, PartialEq)]
pub struct LinuxPlan {
    /// The plan with the kernel's numbers: its proofs hold for the kernel.
    pub plan: Plan,
    /// The set-up that the kernel is given.
    pub setup: Setup,
    /// What else there is to know, in sentences.
    pub remarks: Vec<String>,
}

/// The most that a frame of several segments counts for: 65 535 bytes of IP in segments of 1448,
/// with headers of 66 bytes each (net/core/dev.c, qdisc_pkt_len_init).
const LONGEST_OFFLOADED: u32 = 14 + 65_535 + 45 * 66;
/// The ticks that rounding takes in hfsc: when a packet came, when it may be sent, when it is due
/// (two divisions), and when that is.
const ROUNDINGS: u64 = 5;
/// Nanoseconds that rounding to whole microseconds and ticks takes of a curve.
const ROUNDED: u64 = 2_000;

/// Finds the set-up for a plan, and the plan that this set-up comes to.
///
/// # Errors
/// If the kernel has no such thing.
pub fn linux_plan(plan: &Plan, linux: &Linux) -> Result<LinuxPlan, Refusal> {
    refusal::check(plan)?;
    let mut remarks = Vec::new();
    let mut plan = on_linux(plan, linux, &mut remarks);
    let setup = setup::setup(&plan, linux, &mut remarks)?;
    for class in &mut plan.classes {
        class.inside = None;
    }
    round(&mut plan, &setup)?;
    Ok(LinuxPlan { plan, setup, remarks })
}

/// Writes the plan in the kernel's words: whole bytes a second, frames of several segments, a late
/// timer, and qfq for fair queueing.
fn on_linux(plan: &Plan, linux: &Linux, remarks: &mut Vec<String>) -> Plan {
    let mut plan = plan.clone();
    if let SchedulerSpec::Cake(spec) = &mut plan.scheduler {
        cake::round(&mut plan.link, spec, linux, remarks);
        return plan;
    }
    round_link(&mut plan, linux, remarks);
    replace_discipline(&mut plan, remarks);
    if plan.scheduler == SchedulerSpec::Qfq {
        for_qfq(&mut plan);
    }
    if plan.scheduler == SchedulerSpec::Drr {
        plan.link.max_packet = plan.link.max_packet.max(Bytes(DRR_QUANTA.0.into()));
    }
    if plan.scheduler == SchedulerSpec::Hfsc {
        // Curves that come from deadlines are due a little sooner, for what rounding takes.
        let stall = plan.link.stall;
        plan.link.stall = Nanos(stall.0.saturating_add(ROUNDED));
        let specs = plan.hfsc_classes();
        plan.link.stall = stall;
        for (class, spec) in plan.classes.iter_mut().zip(specs) {
            class.curves = spec.curves;
        }
    }
    for at in 0..plan.classes.len() {
        let police = policers(&plan, &plan.classes[at], Handle::NONE);
        let arrival = plan.classes[at].arrival.iter_mut().flat_map(|arrival| &mut arrival.buckets);
        for (bucket, passed) in arrival.zip(police) {
            // What the policer lets through is what others have to bear.
            *bucket = TokenBucket { bucket: Bytes(passed.burst.into()), rate: passed.rate };
        }
    }
    plan
}

/// Gives the link whole bytes a second, frames of several segments, and a late timer.
fn round_link(plan: &mut Plan, linux: &Linux, remarks: &mut Vec<String>) {
    if plan.link.overhead.framing == Framing::Ptm {
        count_ptm_by_rate(&mut plan.link, remarks);
    }
    let bytes = plan.link.rate.0 / 8;
    if !plan.link.rate.0.is_multiple_of(8) {
        remarks.push(format!(
            "The link has {} instead of {}: the kernel counts whole bytes a second.",
            Rate(bytes * 8),
            plan.link.rate
        ));
    }
    plan.link.rate = Rate((bytes * 8).max(8));
    let offloaded = Bytes(plan.link.accounted(LONGEST_OFFLOADED).into());
    let burst = linux.link_burst(plan.link.rate, plan.link.max_packet);
    if linux.offload
        && u64::from(burst) >= offloaded.0.min(65_536)
        && plan.link.max_packet < offloaded
    {
        remarks.push(format!(
            "Frames of several segments count as one packet of up to {offloaded}: at this rate the token bucket \
             of the link is too large to take them apart. `ethtool -K DEV tso off gso off`, and --offload off here, \
             lowers the bounds."
        ));
        plan.link.max_packet = offloaded;
    }
    if linux.offload && plan.link.overhead != Overhead::NONE {
        remarks.push(
            "`overhead` is counted once for a frame of several segments, and not for what the token bucket makes of \
             one: such traffic takes more of the link than is counted. `ethtool -K DEV tso off gso off`, and --offload \
             off here, has each packet counted whole."
                .into(),
        );
    }
    plan.link.stall = Nanos(linux.timer.0.saturating_add(ROUNDINGS * TICK));
}

/// Puts a discipline of the kernel in the place of one that it does not have.
fn replace_discipline(plan: &mut Plan, remarks: &mut Vec<String>) {
    if plan.scheduler == SchedulerSpec::Wfq {
        remarks.push(
            "The kernel has no WFQ: it is qfq, whose bounds stand here; they grow with the largest packets of \
             all classes."
                .into(),
        );
        plan.scheduler = SchedulerSpec::Qfq;
    } else if plan.scheduler == SchedulerSpec::Wf2q && plan.has_shares() {
        remarks.push(
            "The kernel has no hierarchy of WF2Q+: it is hfsc, with every leaf's rate as a real-time curve."
                .into(),
        );
        hfsc_of_rates(plan);
    } else if plan.scheduler == SchedulerSpec::Wf2q {
        remarks.push(
            "The kernel has no WF2Q+: it is qfq, which rounds shares to powers of two; its bounds stand here."
                .into(),
        );
        plan.scheduler = SchedulerSpec::Qfq;
    }
}

/// Counts PTM, for which the kernel has no table, by a byte more for each frame at 64/65 of the
/// rate. A frame of w bytes then takes as long as 65/64 (w + 1) of the link, and never less than
/// the w + ceil(w / 64) that it has.
fn count_ptm_by_rate(link: &mut LinkSpec, remarks: &mut Vec<String>) {
    let rate = Rate(u64::try_from(u128::from(link.rate.0) * 64 / 65).unwrap_or(u64::MAX).max(8));
    remarks.push(format!(
        "The kernel does not know PTM, which sends 65 bytes for 64: the link has {rate} instead of {}, and a byte more \
         counts for each frame.",
        link.rate
    ));
    link.rate = rate;
    let Overhead { bytes, at_least, .. } = link.overhead;
    let at_least = if at_least > 0 { at_least + 1 } else { 0 };
    link.overhead = Overhead { bytes: bytes + 1, at_least, framing: Framing::Whole };
}

/// Writes the rates of a hierarchy as curves that say the same.
fn hfsc_of_rates(plan: &mut Plan) {
    let rates = plan.guaranteed_rates();
    for (class, rate) in plan.classes.iter_mut().zip(rates) {
        let curve = ServiceCurve::linear(rate);
        class.curves = Curves {
            real_time: class.is_leaf().then_some(curve),
            link_share: Some(curve),
            upper_limit: None,
        };
    }
    plan.scheduler = SchedulerSpec::Hfsc;
}

/// The least and the greatest quantum that the kernel takes (net/sched/sch_drr.c, drr_change_class,
/// as of 6.1.192; before, it took any).
const DRR_QUANTA: (u32, u32) = (256, 1 << 20);

/// Rounds the numbers of a plan as the kernel rounds those of its set-up.
fn round(plan: &mut Plan, setup: &Setup) -> Result<(), Refusal> {
    if plan.scheduler == SchedulerSpec::Hfsc {
        round_curves(plan, setup);
    }
    if plan.scheduler == SchedulerSpec::Qfq
        && let Some(class) =
            plan.classes.iter().find(|class| plan.max_packet(class).0 > QFQ_PACKETS.1)
    {
        return Err(Refusal::new(
            format!("class {} may send packets of {}", class.name, plan.max_packet(class)),
            "qfq takes packets of up to 65536 bytes",
            "switch offloads off (`ethtool -K DEV tso off gso off`) and say so with --offload off",
        ));
    }
    if plan.scheduler == SchedulerSpec::Drr
        && let Some((class, quantum)) =
            plan.classes.iter().zip(plan.drr_quanta()).find(|(_, quantum)| *quantum > DRR_QUANTA.1)
    {
        return Err(Refusal::new(
            format!(
                "class {} would send {quantum} bytes in a turn, for one with less weight has to send a packet of {}",
                class.name, plan.link.max_packet
            ),
            format!("drr takes quanta of up to {} bytes", DRR_QUANTA.1),
            "bring the weights nearer to each other or write `kind = \"qfq\"`; packets are shorter with offloads off \
             (`ethtool -K DEV tso off gso off`) and --offload off",
        ));
    }
    if plan.scheduler == SchedulerSpec::Priority {
        let (_, bands) = setup::bands(plan);
        for (class, band) in plan.classes.iter_mut().zip(bands) {
            class.level = Some(band as u8);
        }
    }
    Ok(())
}

/// Gives classes the curves that the kernel guarantees with its integers, and reduces the link by
/// the largest excess of the kernel's own curves over them. If the guaranteed curves fit the
/// reduced link, the kernel's curves fit the link.
fn round_curves(plan: &mut Plan, setup: &Setup) {
    let mut beyond = 0;
    for (class, given) in plan.top_down().into_iter().zip(&setup.classes) {
        let ClassKind::Hfsc(given) = &given.kind else { continue };
        let class = &mut plan.classes[class.index()];
        let kept = |curve: HfscCurve| Integers::from(curve).kept();
        beyond += given.rsc.map_or(0, |curve| Integers::from(curve).beyond());
        class.curves = Curves {
            real_time: given.rsc.map(kept),
            link_share: given.fsc.map(kept),
            upper_limit: given.usc.map(kept),
        };
    }
    plan.link.rate = Rate(plan.link.rate.0.saturating_sub(beyond).max(1));
}
