//! Plans as Linux carries them out.
//!
//! [`carried`] makes two things of a plan that belong together: the [`Tree`] that the kernel is given, and the plan
//! that this tree comes to: with the kernel's whole numbers, rounded as it rounds them, with the frames that it
//! queues, and with a timer that is late. What is proved of the second holds for the first, by the same proofs as for
//! any plan.
//!
//! What the kernel does differently, and where it stands (Linux 6.1):
//!
//! | what | where | here |
//! | --- | --- | --- |
//! | rates are whole bytes a second | `tc_ratespec`, `tc_service_curve` | the link's is rounded down, the classes' up |
//! | the link's rate is kept by tokens | net/sched/sch_tbf.c, `tbf_dequeue` | a burst that covers a late timer, so that nothing is lost |
//! | a timer wakes it, late | net/sched/sch_api.c, `qdisc_watchdog` | every packet is as much later ([`LinkSpec::stall`]) |
//! | time is counted in 64 ns | include/net/pkt_sched.h, `PSCHED_SHIFT` | five ticks more of that |
//! | slopes are whole parts | net/sched/sch_hfsc.c, `m2sm`, `m2ism`, `d2dx` | [`hfsc`]: the guaranteed curve, and what it may ask for |
//! | frames of several segments | net/core/dev.c, `qdisc_pkt_len_init` | the largest packet, unless tbf takes them apart (`tbf_segment`) |
//! | quanta have limits | net/sched/sch_drr.c, `drr_change_class` | no packet counts as shorter than the least; more than the greatest is refused |
//!
//! Link-sharing of `hfsc` leaves the paper where classes come back (`init_vf` takes the mean of the virtual times that it
//! finds): who gets what is left over may be wrong by some packets. No bound rests on it.
//!
//! [`LinkSpec::stall`]: laxity_plan::model::LinkSpec::stall

pub mod hfsc;
mod refusal;
#[cfg(test)]
mod tests;

use laxity::overhead::{Framing, Overhead};
use laxity::sched::hfsc::Curves;
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::{Class, LinkSpec, SchedulerSpec, TokenBucket, Weight};

use crate::tree::units::{TICK, whole_ticks};
use crate::tree::{self, ClassKind, Tree, policers};

pub use refusal::Refusal;

/// What a plan cannot say of the machine that carries it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linux {
    /// How late a timer of the kernel may wake it. Default 1 ms: with high-resolution timers it is what other work
    /// in interrupts takes; without them it is a tick, up to 10 ms where HZ is 100.
    pub timer: Nanos,
    /// Whether frames of several segments are handed to the interface, to be taken apart there (GSO, TSO), as `ethtool -k`
    /// says. Default yes.
    pub offload: bool,
    /// What filters are written as. Default flower.
    pub filters: Filters,
}

impl Default for Linux {
    fn default() -> Self {
        Linux { timer: Nanos(1_000_000), offload: true, filters: Filters::Flower }
    }
}

/// Kinds of filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filters {
    /// By fields, of which ports may be ranges.
    #[default]
    Flower,
    /// By bits, for kernels without flower.
    U32,
}

/// A plan in Linux.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// What is proved of it is proved of the kernel.
    pub plan: Plan,
    /// What the kernel is given.
    pub tree: Tree,
    /// What else there is to know, in sentences.
    pub remarks: Vec<String>,
}

/// As what a frame of several segments counts at most: 65 535 bytes of IP in segments of 1448, with the headers of 66
/// bytes of each (net/core/dev.c, qdisc_pkt_len_init).
const LONGEST_OFFLOADED: u32 = 14 + 65_535 + 45 * 66;
/// Rounding of times in hfsc: when a packet came, when it may be sent, when it is due (two divisions), and when
/// that is.
const ROUNDINGS: u64 = 5;
/// What rounding to whole microseconds and ticks takes of a curve.
const ROUNDED: u64 = 2_000;

/// The plan as Linux carries it out, and what is given to it for that.
///
/// # Errors
/// If the kernel has no such thing.
pub fn carried(plan: &Plan, linux: &Linux) -> Result<Carried, Refusal> {
    refusal::of(plan)?;
    let mut remarks = Vec::new();
    let mut plan = on_linux(plan, linux, &mut remarks);
    let tree = tree::build::tree(&plan, linux, &mut remarks)?;
    plan.classes.iter_mut().for_each(|class| class.inside = None);
    round(&mut plan, &tree)?;
    Ok(Carried { plan, tree, remarks })
}

/// The burst of the token bucket that keeps the link's rate: the longest packet, and what comes in while the timer is
/// late, so that no part of the rate is lost then.
pub(crate) fn link_burst(rate: u64, packet: Bytes, timer: Nanos) -> u32 {
    let late = (u128::from(rate) * u128::from(timer.0)).div_ceil(1_000_000_000);
    let least = u128::from(packet.0) + late;
    whole_ticks(rate, u32::try_from(least).unwrap_or(u32::MAX))
}

/// The plan's words as far as the kernel has others for them: whole bytes a second, frames of several segments, a
/// late timer, and qfq for fair queueing.
fn on_linux(plan: &Plan, linux: &Linux, remarks: &mut Vec<String>) -> Plan {
    let mut plan = plan.clone();
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
    let burst = link_burst(bytes.max(1), plan.link.max_packet, linux.timer);
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
    match plan.scheduler {
        SchedulerSpec::Wfq => {
            remarks.push(
                "The kernel has no WFQ: it is qfq, whose bounds stand here; they grow with the largest packets of \
                 all classes."
                    .into(),
            );
            plan.scheduler = SchedulerSpec::Qfq;
        }
        SchedulerSpec::Wf2q if plan.has_shares() => {
            remarks.push(
                "The kernel has no hierarchy of WF2Q+: it is hfsc, with every leaf's rate as a real-time curve."
                    .into(),
            );
            hfsc_of_rates(&mut plan);
        }
        SchedulerSpec::Wf2q => {
            remarks.push(
                "The kernel has no WF2Q+: it is qfq, which rounds shares to powers of two; its bounds stand here."
                    .into(),
            );
            plan.scheduler = SchedulerSpec::Qfq;
        }
        _ => {}
    }
    match plan.scheduler {
        SchedulerSpec::Qfq => for_qfq(&mut plan),
        SchedulerSpec::Drr => {
            plan.link.max_packet = plan.link.max_packet.max(Bytes(DRR_QUANTA.0.into()));
        }
        _ => {}
    }
    if plan.scheduler == SchedulerSpec::Hfsc {
        // Curves that come from deadlines are due a little sooner, for what rounding takes.
        let stall = plan.link.stall;
        plan.link.stall = Nanos(stall.0.saturating_add(ROUNDED));
        let specs = plan.hfsc_classes();
        plan.link.stall = stall;
        plan.classes.iter_mut().zip(specs).for_each(|(class, spec)| class.curves = spec.curves);
    }
    for at in 0..plan.classes.len() {
        let police = policers(&plan, &plan.classes[at], tree::Handle(0));
        let arrival = plan.classes[at].arrival.iter_mut().flat_map(|arrival| &mut arrival.buckets);
        for (bucket, passed) in arrival.zip(police) {
            // What the policer lets through is what others have to bear.
            *bucket =
                TokenBucket { bucket: Bytes(passed.burst.into()), rate: Rate(passed.rate * 8) };
        }
    }
    plan
}

/// Packet transfer mode, for which the kernel has no table: a byte more for each frame at 64 of 65 parts of the rate. A frame
/// of w bytes then takes as long as 65/64 (w + 1) of the link, and never less than the w + ceil(w / 64) that it has.
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

/// Rates of a hierarchy as curves that say the same.
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

/// The largest weight (net/sched/sch_qfq.c, QFQ_MAX_WEIGHT), and the most of all together (QFQ_MAX_WSUM).
const QFQ_WEIGHT: u64 = 1 << 10;
const QFQ_WEIGHTS: u64 = 64 * QFQ_WEIGHT;
/// The shortest and the longest of a class's longest packets (QFQ_MIN_LMAX, QFQ_MTU_SHIFT).
const QFQ_PACKETS: (u64, u64) = (512, 1 << 16);

/// What the kernel makes the least and the greatest of a quantum (net/sched/sch_drr.c, drr_change_class, as of
/// 6.1.192; before, it took any).
const DRR_QUANTA: (u32, u32) = (256, 1 << 20);

/// Whole weights that the kernel takes, in proportion as near as they come and none less than its share.
fn for_qfq(plan: &mut Plan) {
    let weights = plan.flat_weights();
    let leaves: Vec<usize> = plan.leaves().map(|(id, _)| id.index()).collect();
    let largest = leaves.iter().map(|leaf| weights[*leaf]).max().unwrap_or(1);
    let all: u128 = leaves.iter().map(|leaf| u128::from(weights[*leaf])).sum();
    // Where many weigh as much as the largest, their sum is what counts.
    let by_sum = u128::from(QFQ_WEIGHTS - leaves.len().min(1 << 15) as u64) * u128::from(largest);
    let scale = QFQ_WEIGHT.min(u64::try_from(by_sum / all.max(1)).unwrap_or(u64::MAX)).max(1);
    let exact = exact_weights(&leaves, &weights);
    let scaled = |leaf: usize| {
        let scaled = u128::from(weights[leaf]) * u128::from(scale);
        u64::try_from(scaled / u128::from(largest)).unwrap_or(QFQ_WEIGHT).max(1)
    };
    let whole: Vec<u64> = leaves
        .iter()
        .map(|leaf| match &exact {
            Some(divisor) => weights[*leaf] / divisor,
            None => scaled(*leaf),
        })
        .collect();
    // In lowest terms, so that what comes back is written the same again.
    let common = whole.iter().copied().fold(0, gcd).max(1);
    for (leaf, weight) in leaves.into_iter().zip(whole) {
        let weight = weight / common;
        let class = &mut plan.classes[leaf];
        class.weight = Weight(weight as u32 * Weight::ONE.0);
        class.curves = Curves::default();
        if let Some(arrival) = &mut class.arrival {
            let packet = arrival.packet.map_or(plan.link.max_packet.0, |packet| packet.0);
            arrival.packet = Some(Bytes(packet.max(QFQ_PACKETS.0)));
        }
    }
    plan.link.max_packet = plan.link.max_packet.max(Bytes(QFQ_PACKETS.0));
}

/// The greatest common divisor.
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The greatest number that divides all weights, if what is left of each is one that the kernel takes.
fn exact_weights(leaves: &[usize], weights: &[u64]) -> Option<u64> {
    let divisor = leaves.iter().map(|leaf| weights[*leaf]).fold(0, gcd).max(1);
    let whole = leaves.iter().map(|leaf| weights[*leaf] / divisor);
    let fits =
        whole.clone().all(|weight| weight <= QFQ_WEIGHT) && whole.sum::<u64>() <= QFQ_WEIGHTS;
    fits.then_some(divisor)
}

/// The plan with what the kernel makes of the tree's numbers.
fn round(plan: &mut Plan, tree: &Tree) -> Result<(), Refusal> {
    if plan.scheduler == SchedulerSpec::Hfsc {
        round_curves(plan, tree);
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
        let levels = plan.priority_levels();
        let mut bands: Vec<u32> = plan.leaves().map(|(id, _)| levels[id.index()]).collect();
        bands.sort_unstable();
        bands.dedup();
        for (class, level) in plan.classes.iter_mut().zip(levels) {
            class.level = Some(bands.partition_point(|band| *band < level) as u8);
        }
    }
    Ok(())
}

/// What the kernel guarantees by its integers, and less of a link by what their rounding may ask for beyond that:
/// then the curves that it works with fit the link if those that it guarantees fit the rest.
fn round_curves(plan: &mut Plan, tree: &Tree) {
    let mut beyond = 0;
    let given = tree.classes.iter().filter_map(|class| match &class.kind {
        ClassKind::Hfsc(curves) => Some((class.name.as_deref()?, curves)),
        ClassKind::Htb(_) | ClassKind::Drr { .. } | ClassKind::Qfq { .. } => None,
    });
    for ((name, given), class) in given.zip(tree_order(plan)) {
        let class = &mut plan.classes[class];
        debug_assert_eq!(class.name, name);
        let kept = |curve: tree::HfscCurve| hfsc::Integers::of(curve).kept();
        beyond += given.rsc.map_or(0, |curve| hfsc::Integers::of(curve).beyond());
        class.curves = Curves {
            real_time: given.rsc.map(kept),
            link_share: given.fsc.map(kept),
            upper_limit: given.usc.map(kept),
        };
    }
    plan.link.rate = Rate(plan.link.rate.0.saturating_sub(beyond).max(1));
}

/// The classes in the order in which a tree has them.
pub(crate) fn tree_order(plan: &Plan) -> Vec<usize> {
    plan.top_down().into_iter().map(|class| class.index()).collect()
}

/// Bytes a second, rounded up.
pub(crate) fn bytes_up(bits: u64) -> u64 {
    bits.div_ceil(8)
}

/// Whether a class has something to lose by a lower rate: a bound.
pub(crate) fn has_contract(class: &Class) -> bool {
    class.arrival.is_some()
}
