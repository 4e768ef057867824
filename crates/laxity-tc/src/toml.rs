//! Items of a set-up as values of a plan, in TOML.

mod curve;
mod overhead;
mod queue;

use laxity::units::Bytes;

use crate::setup::FqCodel;

pub(crate) use curve::{Curve, Curves};
pub(crate) use overhead::{overhead, overhead_value};
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
