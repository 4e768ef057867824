//! Classes of qfq: weights and largest packets (iproute2, tc/q_qfq.c; Linux, net/sched/sch_qfq.c).

use std::ops::RangeInclusive;

use crate::args::Args;
use crate::command::Word;
use crate::error::Read;
use crate::units::whole;

/// What Linux accepts.
const WEIGHTS: RangeInclusive<u32> = 1..=1024;
const PACKETS: RangeInclusive<u32> = 512..=65_536;
/// The largest packet of a class that says none, on an interface of Ethernet.
const DEFAULT_PACKET: u32 = 1514;

/// The words after `qfq`: the weight, and what has no counterpart.
pub fn class(args: &mut Args<'_>) -> Read<(u32, Option<String>)> {
    let (mut weight, mut packet) = (1, DEFAULT_PACKET);
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "weight" => weight = number(args.value("weight")?, "a weight", WEIGHTS)?,
            "maxpkt" => packet = number(args.value("maxpkt")?, "a largest packet", PACKETS)?,
            _ => return Err(word.no_keyword("a class of qfq", "weight, maxpkt")),
        }
    }
    let lost = (packet != DEFAULT_PACKET)
        .then(|| format!("maxpkt {packet}: a plan has it as `packet` of the class's `arrival`"));
    Ok((weight, lost))
}

fn number(value: &Word, what: &str, accepted: RangeInclusive<u32>) -> Read<u32> {
    let number = whole(value, 10, what)?;
    if accepted.contains(&number) {
        return Ok(number);
    }
    let (least, most) = accepted.into_inner();
    Err(value.fault(what, &format!("qfq takes {least} to {most}")))
}
