//! The set-up of a plan. The link is a token bucket at the root, for the interface is faster. The
//! discipline that shares it hangs below.

use std::collections::BTreeMap;

use laxity::aqm::Limit;
use laxity::overhead::{Framing, Overhead};
use laxity::packet::ClassId;
use laxity::sched::fq_codel::FqCodelSettings;
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_plan::matching::Match;
use laxity_plan::model::{Class as PlanClass, SchedulerSpec, Weight};

use super::cake;
use super::filter::filters;
use super::hfsc::{Integers, slope_for};
use super::machine::Linux;
use super::queue::{held, queue, small};
use super::refusal::Refusal;
use crate::setup::{
    Class, ClassKind, FqCodel, Handle, HfscCurve, HfscCurves, Prio, Qdisc, QdiscKind, Setup,
    SizeTable, Tbf,
};

/// The token bucket's own handle, and the class below it.
const LINK: u16 = 1;
/// What shares the link.
const SHARED: u16 = 2;
/// The first class's number; its queue has the same as its handle.
const FIRST: usize = 0x10;
/// The last class's number: the handles of queues stay below those that the kernel gives
/// (net/sched/sch_api.c, qdisc_alloc_handle).
const LAST: usize = 0x7fff;
/// The longest frame and the number of entries that `tc` gives a table of sizes by default.
const SIZES: (u32, u32) = (2_048, 512);

/// The set-up of a plan that is written in the kernel's words already.
pub(super) fn setup(
    plan: &Plan,
    linux: &Linux,
    remarks: &mut Vec<String>,
) -> Result<Setup, Refusal> {
    if let SchedulerSpec::Cake(spec) = &plan.scheduler {
        return cake::setup(plan, spec, Handle::new(LINK, 0));
    }
    let rate = plan.link.rate;
    let burst = linux.link_burst(rate, plan.link.max_packet);
    let mut setup = Setup::default();
    setup.qdiscs.push(Qdisc {
        handle: Handle::new(LINK, 0),
        parent: Handle::ROOT,
        kind: QdiscKind::Tbf(Tbf { rate, burst, limit: burst.saturating_mul(2).max(1 << 16) }),
        stab: stab(&plan.link.overhead, plan.link.max_packet)?,
    });
    let numbers = numbers(plan)?;
    let any = plan.leaves().find(|(_, class)| class.matching == Some(Match::ANY));
    let rest = any.map_or(0, |(id, _)| numbers[id.index()].minor());
    let shared = match plan.scheduler {
        SchedulerSpec::Hfsc => QdiscKind::Hfsc { default: rest.into() },
        SchedulerSpec::Drr => QdiscKind::Drr,
        SchedulerSpec::Qfq => QdiscKind::Qfq,
        SchedulerSpec::Priority => {
            let bands = plan.leaves().map(|(id, _)| numbers[id.index()].minor()).max().unwrap_or(1);
            let bands = (bands as u8).max(Prio::BANDS.0);
            // What no filter takes goes last, unless a class takes the rest.
            let rest = if rest == 0 { bands - 1 } else { rest as u8 - 1 };
            QdiscKind::Prio(Prio { bands, priomap: [rest; 16] })
        }
        SchedulerSpec::FqCodel(settings) => fq_codel(&settings),
        SchedulerSpec::Fifo => match &plan.queue {
            Some(spec) => queue(spec, &plan.link, "the link", remarks)?,
            None => {
                remarks.push(
                    "The queue of the link has no limit in the plan and 1000 packets here.".into(),
                );
                QdiscKind::Pfifo { limit: Some(1_000) }
            }
        },
        SchedulerSpec::Wfq
        | SchedulerSpec::Wf2q
        | SchedulerSpec::Edf(_)
        | SchedulerSpec::Dwcs(_)
        | SchedulerSpec::DualPi2(_)
        | SchedulerSpec::Cake(_)
        | SchedulerSpec::Tdp(_) => {
            return Err(Refusal::new(
                format!("`kind = \"{}\"`", plan.scheduler),
                "the kernel has no such discipline",
                "choose hfsc, drr, qfq, priority, fifo or fq-codel",
            ));
        }
    };
    let (handle, parent) = (Handle::new(SHARED, 0), Handle::new(LINK, 1));
    setup.qdiscs.push(Qdisc { handle, parent, kind: shared, stab: None });
    let has_classes = !matches!(plan.scheduler, SchedulerSpec::Fifo | SchedulerSpec::FqCodel(_));
    if has_classes && any.is_none() {
        let fate = match plan.scheduler {
            SchedulerSpec::Priority => "is queued with the last class",
            _ => "is dropped, ARP among it",
        };
        remarks.push(format!("No class has `match = \"any\"`: what no filter takes {fate}."));
    }
    if has_classes {
        classes(plan, &numbers, &mut setup)?;
        queues_of_classes(plan, &numbers, &mut setup, remarks)?;
        setup.filters = filters(plan, &numbers, linux, remarks)?;
    }
    Ok(setup)
}

/// How many bands of prio the leaves of a plan take, and the band of each class, from 0.
pub(super) fn bands(plan: &Plan) -> (usize, Vec<usize>) {
    let levels = plan.priority_levels();
    let mut used: Vec<u32> = plan.leaves().map(|(id, _)| levels[id.index()]).collect();
    used.sort_unstable();
    used.dedup();
    let band = |level| used.partition_point(|other| *other < level);
    (used.len(), levels.into_iter().map(band).collect())
}

/// The number of a tin of cake, as a packet's priority says it.
pub(crate) fn tin_handle(major: u16, tin: usize) -> Handle {
    Handle::new(major, tin as u16 + 1)
}

/// The handle of each class of the plan.
fn numbers(plan: &Plan) -> Result<Vec<Handle>, Refusal> {
    let mut numbers = vec![Handle::new(SHARED, 0); plan.classes.len()];
    if plan.scheduler == SchedulerSpec::Priority {
        let (count, bands) = bands(plan);
        if count > usize::from(Prio::BANDS.1) {
            return Err(Refusal::new(
                format!("the classes have {count} levels"),
                format!("prio has at most {} bands", Prio::BANDS.1),
                "give some classes the same `level`",
            ));
        }
        for (number, band) in numbers.iter_mut().zip(bands) {
            *number = Handle::new(SHARED, band as u16 + 1);
        }
        return Ok(numbers);
    }
    if plan.classes.len() > LAST - FIRST {
        return Err(Refusal::new(
            format!("the plan has {} classes", plan.classes.len()),
            format!("{} have numbers in one discipline, with one for a queue each", LAST - FIRST),
            "join classes",
        ));
    }
    for (at, class) in plan.top_down().into_iter().enumerate() {
        numbers[class.index()] = Handle::new(SHARED, (FIRST + at) as u16);
    }
    Ok(numbers)
}

fn classes(plan: &Plan, numbers: &[Handle], setup: &mut Setup) -> Result<(), Refusal> {
    let curves = match plan.scheduler {
        SchedulerSpec::Hfsc => curves(plan)?,
        _ => Vec::new(),
    };
    let quanta = plan.drr_quanta();
    for at in plan.top_down().into_iter().map(ClassId::index) {
        let class = &plan.classes[at];
        let kind = match plan.scheduler {
            SchedulerSpec::Hfsc => ClassKind::Hfsc(curves[at]),
            SchedulerSpec::Drr => ClassKind::Drr { quantum: quanta[at] },
            SchedulerSpec::Qfq => ClassKind::Qfq {
                weight: class.weight.0 / Weight::ONE.0,
                lmax: u32::try_from(plan.max_packet(class).0).unwrap_or(u32::MAX),
            },
            // prio has its classes by itself.
            _ => continue,
        };
        let parent = class.parent.map_or(Handle::new(SHARED, 0), |parent| numbers[parent.index()]);
        setup.classes.push(Class {
            handle: numbers[at],
            parent,
            kind,
            name: Some(class.name.clone()),
        });
    }
    Ok(())
}

/// The curves of `hfsc`. Classes that are promised a delay keep at least what they asked for.
/// Others give way by some bytes where the kernel's whole numbers come to more than the link.
fn curves(plan: &Plan) -> Result<Vec<HfscCurves>, Refusal> {
    let mut all = Vec::with_capacity(plan.classes.len());
    for class in &plan.classes {
        let laxity::sched::hfsc::Curves { real_time, link_share, upper_limit } = class.curves;
        let of =
            |curve: Option<ServiceCurve>| curve.map(|curve| curve_of(class, curve)).transpose();
        let (rsc, mut fsc) = (of(real_time)?, of(link_share)?);
        if upper_limit.is_some() && fsc.is_none() {
            // The kernel refuses a limit of what is not shared.
            fsc = Some(HfscCurve::from_kernel([0, 0, 1]));
        }
        all.push(HfscCurves { rsc, fsc, usc: of(upper_limit)? });
    }
    give_way(plan, &mut all);
    Ok(all)
}

/// Takes what the real-time curves come to beyond the link in the long run from the largest of
/// those that promise no delay.
fn give_way(plan: &Plan, all: &mut [HfscCurves]) {
    let slopes = all.iter().filter_map(|curves| curves.rsc);
    let asked: u64 = slopes
        .map(|curve| {
            let integers = Integers::from(curve);
            integers.kept().m2().0 + integers.beyond()
        })
        .sum();
    let beyond = asked.saturating_sub(plan.link.rate.0).div_ceil(8);
    let largest = all
        .iter_mut()
        .zip(&plan.classes)
        .filter(|(_, class)| class.arrival.is_none())
        .filter_map(|(curves, _)| curves.rsc.as_mut())
        .max_by_key(|curve| curve.m2);
    // By more than rounding it is the plan that asks for too much.
    let rounding = 2 * plan.classes.len() as u64 + plan.link.rate.0 / 8_000;
    if let Some(curve) = largest
        && beyond > 0
        && beyond < rounding
        && curve.m2.0 / 8 > 2 * beyond
    {
        let less = 8 * (beyond + 1);
        if curve.m1 == curve.m2 {
            curve.m1.0 -= less;
        }
        curve.m2.0 -= less;
    }
}

fn curve_of(class: &PlanClass, curve: ServiceCurve) -> Result<HfscCurve, Refusal> {
    let (m1, d, m2) = (curve.m1(), curve.d(), curve.m2().0);
    let arrival = class.arrival.iter().flat_map(|arrival| &arrival.buckets);
    let stable =
        arrival.map(|bucket| bucket.rate.0).filter(|rate| *rate <= m2.div_ceil(8) * 8).min();
    let second = match &class.arrival {
        // What comes at the curve's own rate is served at it.
        Some(_) => m2.div_ceil(8).max(stable.map_or(0, slope_for)),
        None => (m2 / 8).max(1),
    };
    let is_line = d == Nanos::ZERO;
    let (first, micros) = match () {
        () if is_line => (0, 0),
        () if m1 == 0 => (0, d.0 / 1_000),
        // A first piece of a broken number of microseconds is made a little shorter and steeper.
        () if d.0 % 1_000 != 0 && d.0 > 1_000 => {
            let micros = d.0 / 1_000;
            let work = u128::from(m1) * u128::from(d.0);
            let steeper = work.div_ceil(u128::from(micros) * 1_000);
            (slope_for(u64::try_from(steeper).unwrap_or(u64::MAX)), micros)
        }
        () => (m1.div_ceil(8), d.0.div_ceil(1_000)),
    };
    // Rounding may have made the first piece no steeper than the second.
    let is_line = is_line || micros == 0 || (m1 > 0 && first <= second);
    let whole = |value: u64| {
        u32::try_from(value).map_err(|_| {
            Refusal::new(
                format!("the curve of class {} is too steep", class.name),
                "hfsc has 32 bits for bytes a second and for microseconds",
                "write rates below 34gbit and times below 4294s",
            )
        })
    };
    let (first, micros) = if is_line { (0, 0) } else { (first, micros) };
    Ok(HfscCurve::from_kernel([whole(first)?, whole(micros)?, whole(second)?]))
}

/// What the leaves queue in, where the plan says so.
fn queues_of_classes(
    plan: &Plan,
    numbers: &[Handle],
    setup: &mut Setup,
    remarks: &mut Vec<String>,
) -> Result<(), Refusal> {
    let mut by_class: BTreeMap<Handle, (&str, QdiscKind)> = BTreeMap::new();
    for (id, class) in plan.leaves() {
        let inside = class.inside.as_ref().map(|inside| inside.scheduler);
        let kind = match (inside, &class.queue) {
            (Some(SchedulerSpec::FqCodel(settings)), _) => fq_codel(&settings),
            (_, Some(spec)) => queue(spec, &plan.link, &class.name, remarks)?,
            (_, None) => continue,
        };
        let handle = numbers[id.index()];
        match by_class.get(&handle) {
            Some((other, before)) if *before != kind => {
                return Err(Refusal::new(
                    format!(
                        "classes {other} and {} are on one level with queues of their own",
                        class.name
                    ),
                    "a band of prio has one queue",
                    "give them the same `queue`, or levels of their own",
                ));
            }
            _ => by_class.insert(handle, (&class.name, kind)),
        };
    }
    let offset = if plan.scheduler == SchedulerSpec::Priority { FIRST as u16 } else { 0 };
    setup.qdiscs.extend(by_class.into_iter().map(|(parent, (_, kind))| Qdisc {
        handle: Handle::new(parent.minor() + offset, 0),
        parent,
        kind,
        stab: None,
    }));
    Ok(())
}

fn fq_codel(settings: &FqCodelSettings) -> QdiscKind {
    let limit = match settings.codel.limit {
        Limit::Packets(packets) => packets,
        // As many packets as would be that many bytes.
        Limit::Bytes(bytes) => bytes / settings.codel.max_packet.0.max(1),
        _ => u64::from(u32::MAX),
    };
    QdiscKind::FqCodel(FqCodel {
        limit: small(limit).max(1),
        flows: u32::try_from(settings.queues).unwrap_or(65_536).min(65_536),
        quantum: settings.quantum.max(FqCodel::LEAST_QUANTUM),
        target: held(settings.codel.target),
        interval: held(settings.codel.interval),
        ecn: settings.codel.ecn,
    })
}

/// What the link adds to frames. The kernel needs a table for cells and for a least length only.
fn stab(overhead: &Overhead, packet: Bytes) -> Result<Option<SizeTable>, Refusal> {
    let Overhead { bytes, at_least, framing } = *overhead;
    let atm = match framing {
        Framing::Whole => false,
        Framing::Atm => true,
        _ => {
            return Err(Refusal::new(
                "the link's overhead is of PTM",
                "stab knows Ethernet and ATM",
                "leave it out and lower `rate` by a 65th; what is added to each frame stays",
            ));
        }
    };
    if *overhead == Overhead::NONE {
        return Ok(None);
    }
    let (mtu, tsize) = if atm || at_least > 0 { SIZES } else { (0, 0) };
    let mtu = if mtu == 0 { 0 } else { mtu.max(small(packet.0)) };
    Ok(Some(SizeTable { overhead: bytes, mpu: at_least, atm, mtu, tsize }))
}

/// The classes of a plan with their numbers, each after the one that it is part of. `carried` is
/// the plan as Linux carries it out.
pub(crate) fn handles(plan: &Plan, carried: &Plan, setup: &Setup) -> Vec<(usize, Handle)> {
    if let SchedulerSpec::Cake(_) = carried.scheduler {
        let tin = |(id, class): (ClassId, &PlanClass)| {
            Some((id.index(), tin_handle(LINK, carried.tin(class)?)))
        };
        return carried.leaves().filter_map(tin).collect();
    }
    let shares = setup.qdiscs.get(1).map(|qdisc| &qdisc.kind);
    let has_classes = matches!(
        shares,
        Some(QdiscKind::Hfsc { .. } | QdiscKind::Drr | QdiscKind::Qfq | QdiscKind::Prio(_))
    );
    let Ok(numbers) = numbers(carried) else { return Vec::new() };
    let known = |class: &usize| {
        has_classes && (plan.classes[*class].is_leaf() || carried.scheduler.room().has_levels)
    };
    let classes = plan.top_down().into_iter().map(ClassId::index).filter(known);
    classes.map(|class| (class, numbers[class])).collect()
}
