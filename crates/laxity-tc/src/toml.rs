//! Items of a set-up as values of a plan, in TOML.

mod curve;
mod queue;

use laxity::overhead::{Framing, Overhead};
use laxity::units::Bytes;

use crate::notes::NotMapped;
use crate::setup::{FqCodel, SizeTable};

pub(crate) use curve::{Curve, Curves};
pub(crate) use laxity_plan::written::{key, overhead as overhead_value, quoted};
pub(crate) use queue::Queue;

/// The keys of a scheduler that is `fq-codel`, each with its value.
pub(crate) fn flows(flows: &FqCodel) -> [String; 7] {
    let FqCodel { limit, flows, quantum, target, interval, ecn } = flows;
    [
        "kind = \"fq-codel\"".into(),
        format!("limit = {limit}"),
        format!("flows = {flows}"),
        format!("quantum = \"{quantum}b\""),
        format!("target = \"{target}\""),
        format!("interval = \"{interval}\""),
        format!("ecn = {ecn}"),
    ]
}

/// A size in `b`, or in a larger unit where that is a whole number.
pub(crate) fn size(bytes: Bytes) -> String {
    match (bytes.0 % 1000, bytes.0 % 1024) {
        (0, _) => bytes.to_string(),
        (_, 0) => format!("{}KiB", bytes.0 >> 10),
        _ => format!("{}b", bytes.0),
    }
}

/// The overhead that a size table comes to, and whether Linux looks lengths up in steps.
pub(crate) fn overhead(sizes: &SizeTable) -> Result<(Overhead, bool), NotMapped> {
    let SizeTable { overhead: bytes, mpu, atm, .. } = *sizes;
    if !(-64..=1000).contains(&bytes) || mpu > 1000 {
        let said = sizes.words(false);
        let text = format!("stab ({said}): a plan adds -64 to 1000 bytes, and pads to 1000");
        return Err(text.into());
    }
    // Without cells and a least length Linux adds the bytes alone, and has no table.
    let framing = if atm { Framing::Atm } else { Framing::Whole };
    Ok((Overhead { bytes, at_least: mpu, framing }, atm || mpu > 0))
}
