//! Queue managements as disciplines at a leaf.

use laxity::aqm::{Choke, Fraction, Limit, Measure};
use laxity::units::Nanos;
use laxity_plan::model::{LinkSpec, QueueLimit, QueueSpec};

use super::refusal::Refusal;
use crate::setup::units::{codel_time, micros, ticks};
use crate::setup::{CoDel, Pie, QdiscKind, Red};

/// The discipline of a queue. `class` is the name of its class, for messages.
pub(super) fn queue(
    queue: &QueueSpec,
    link: &LinkSpec,
    class: &str,
    remarks: &mut Vec<String>,
) -> Result<QdiscKind, Refusal> {
    let packets = |limit: Limit, kind: &str| match limit {
        Limit::Packets(packets) => Ok(small(packets)),
        Limit::Bytes(_) | Limit::None => Err(Refusal::new(
            format!("the limit of {class}'s queue is not in packets"),
            format!("{kind} of the kernel counts packets"),
            "write `limit` as a number of packets",
        )),
    };
    Ok(match queue {
        QueueSpec::DropTail(droptail) => {
            if droptail.mark.is_some() {
                return Err(Refusal::new(
                    format!("`mark` of {class}'s queue"),
                    "pfifo and bfifo mark nothing",
                    "write `kind = \"codel\"` or `kind = \"red\"` with `ecn = true`",
                ));
            }
            match droptail.limit {
                QueueLimit::Packets(packets) => QdiscKind::Pfifo { limit: Some(small(packets)) },
                QueueLimit::Bytes(bytes) => QdiscKind::Bfifo { limit: small(bytes.0) },
            }
        }
        QueueSpec::CoDel(codel) => QdiscKind::CoDel(CoDel {
            limit: packets(codel.limit, "codel")?,
            target: held(codel.target),
            interval: held(codel.interval),
            ecn: codel.ecn,
        }),
        QueueSpec::Pie(pie) => {
            // The kernel has sixteenths, and the plan millionths.
            let gain = |millionths: u32| {
                let sixteenths = (u64::from(millionths) * 16 + 500_000) / 1_000_000;
                sixteenths.clamp(1, 32) as u32
            };
            QdiscKind::Pie(Pie {
                limit: packets(pie.limit, "pie")?,
                target: whole_micros(pie.target),
                tupdate: whole_micros(pie.update),
                alpha: gain(pie.alpha),
                beta: gain(pie.beta),
                ecn: pie.ecn,
            })
        }
        QueueSpec::Red(red) => {
            let (Measure::Bytes, Limit::Bytes(limit)) = (red.measure, red.limit) else {
                return Err(Refusal::new(
                    format!("RED of {class}'s queue counts packets"),
                    "red of the kernel counts bytes",
                    "write `min`, `max` and `limit` as sizes, such as `min = \"30kB\"`",
                ));
            };
            QdiscKind::Red(early(red, limit, link, class, remarks))
        }
        QueueSpec::Choke(Choke { red, .. }) => {
            let (Measure::Packets, Limit::Packets(limit)) = (red.measure, red.limit) else {
                return Err(Refusal::new(
                    format!("CHOKe of {class}'s queue counts bytes"),
                    "choke of the kernel counts packets",
                    "write `min`, `max` and `limit` as numbers of packets",
                ));
            };
            QdiscKind::Choke(early(red, limit, link, class, remarks))
        }
    })
}

/// The parameters of early detection as `tc` computes them (iproute2, tc/tc_red.c).
fn early(
    red: &laxity::aqm::Red,
    limit: u64,
    link: &LinkSpec,
    class: &str,
    remarks: &mut Vec<String>,
) -> Red {
    let wlog = power(red.weight);
    if Fraction::ONE.parts() >> wlog != red.weight.parts() {
        remarks.push(format!(
            "{class}'s queue: the weight of its average is 1/{}, the nearest that the kernel has.",
            1u64 << wlog
        ));
    }
    if red.gentle {
        remarks.push(format!(
            "{class}'s queue: above `max` the kernel drops everything, a gentle RED does not."
        ));
    }
    let (min, max) = (small(red.min), small(red.max));
    let max_p = u32::try_from(red.max_p.parts()).unwrap_or(u32::MAX);
    let packet = small(link.max_packet.0);
    Red {
        limit: small(limit),
        min,
        max,
        wlog,
        plog: plog(max.saturating_sub(min), red.max_p),
        cell_log: cell_log(wlog, packet, link),
        max_p,
        packet,
        ecn: red.ecn,
    }
}

/// The power of two whose reciprocal is nearest to a weight.
fn power(weight: Fraction) -> u8 {
    let one = Fraction::ONE.parts();
    (1..=31).min_by_key(|log| (one >> log).abs_diff(weight.parts())).unwrap_or(9)
}

/// `tc_red_eval_P`: the power of two above (max - min) / probability.
fn plog(between: u32, max_p: Fraction) -> u8 {
    let one = u128::from(Fraction::ONE.parts());
    let parts = u128::from(max_p.parts());
    (0u8..32).find(|log| (parts << log) > one * u128::from(between.max(1))).unwrap_or(31)
}

/// `tc_red_eval_idle_damping`: how coarse the times of an idle queue may be such that 256 steps
/// reach the end of the average.
fn cell_log(wlog: u8, packet: u32, link: &LinkSpec) -> u8 {
    let ticks = ticks(link.rate, packet).max(1);
    let weight = 0.5f64.powi(wlog.into());
    let longest = f64::from(ticks) * 31.0 * std::f64::consts::LN_2 / -(1.0 - weight).ln();
    (0u8..31).find(|log| longest / f64::from(1u32 << log) < 512.0).unwrap_or(31)
}

/// A time that the kernel holds in 1024 ns.
pub(super) fn held(time: Nanos) -> Nanos {
    codel_time(micros(time).max(1))
}

fn whole_micros(time: Nanos) -> Nanos {
    Nanos(u64::from(micros(time).max(1)) * 1_000)
}

/// A number that the kernel has 32 bits for.
pub(super) fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
