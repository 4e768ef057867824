//! Classes of drr: what they send in a turn (iproute2, tc/q_drr.c; Linux, net/sched/sch_drr.c).

use crate::args::Args;
use crate::error::Read;
use crate::units;

/// What a class has that says nothing, on an interface of Ethernet (drr_change_class: psched_mtu).
const DEFAULT_QUANTUM: u32 = 1514;

/// The words after `drr`: the quantum.
pub fn class(args: &mut Args<'_>) -> Read<u32> {
    let mut quantum = DEFAULT_QUANTUM;
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "quantum" => {
                let value = args.value("quantum")?;
                let size = units::size(value)?.0;
                let fits = u32::try_from(size).ok().filter(|size| *size > 0);
                quantum = fits.ok_or_else(|| {
                    value.fault("a quantum", "drr takes one above 0 and below 2^32 bytes")
                })?;
            }
            _ => return Err(word.no_keyword("a class of drr", "quantum")),
        }
    }
    Ok(quantum)
}

/// The largest weight of a plan, in millionths.
const LARGEST: u64 = 4_000_000_000;

/// The weight of a quantum among those from `least` to `greatest`, as a plan writes it: 1 for the least, or less where
/// the greatest would be too large then. Rounded down, which gives the quantum back: a plan's are rounded up, and a
/// packet is less than a million bytes.
pub fn weight(quantum: u32, least: u32, greatest: u32) -> String {
    let least = u64::from(least.max(1));
    let one = (LARGEST * least / u64::from(greatest.max(1))).min(1_000_000);
    let millionths = (u64::from(quantum) * one / least).max(1);
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
