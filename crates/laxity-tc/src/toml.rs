//! Items of a set-up as values of a plan, in TOML.

mod curve;
mod queue;

use laxity::overhead::{Framing, Overhead};
use laxity::units::Bytes;

use crate::notes::NotMapped;
use crate::setup::{FqCodel, SizeTable};

pub(crate) use curve::{Curve, Curves};
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

/// A text as a value. It has no control characters.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A name as a key.
pub(crate) fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.chars().all(plain) { name.to_string() } else { quoted(name) }
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

/// The value of `overhead` in a plan; `None` for none.
pub(crate) fn overhead_value(overhead: &Overhead) -> Option<String> {
    let Overhead { bytes, at_least, framing } = *overhead;
    if *overhead == Overhead::NONE {
        return None;
    }
    if let Some((name, _)) = Overhead::NAMED.iter().find(|(_, named)| named == overhead) {
        return Some(format!("\"{name}\""));
    }
    let mut parts = vec![format!("bytes = \"{bytes}b\"")];
    if at_least > 0 {
        parts.push(format!("at-least = \"{at_least}b\""));
    }
    match framing {
        Framing::Atm => parts.push("framing = \"atm\"".into()),
        Framing::Ptm => parts.push("framing = \"ptm\"".into()),
        _ => {}
    }
    Some(match &parts[..] {
        [_] => format!("\"{bytes}b\""),
        parts => format!("{{ {} }}", parts.join(", ")),
    })
}
