//! `fq_codel` at the root: all traffic, by flows (iproute2, tc/q_fq_codel.c; Linux,
//! net/sched/sch_fq_codel.c).

use laxity::units::Nanos;

use crate::args::Args;
use crate::command::Word;
use crate::error::Read;
use crate::units::{self, whole};

/// Linux raises a quantum below this one to it, in bytes.
const LEAST_QUANTUM: u32 = 256;
/// What Linux takes by default, in bytes and packets.
const MEMORY: u64 = 32 << 20;
const DROP_BATCH: u32 = 64;

/// Its options as a plan has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodel {
    limit: u32,
    flows: u32,
    quantum: u32,
    target: Nanos,
    interval: Nanos,
    ecn: bool,
}

impl FqCodel {
    /// What Linux takes by default, on an interface of Ethernet.
    pub const DEFAULT: FqCodel = FqCodel {
        limit: 10_240,
        flows: 1024,
        quantum: 1514,
        target: Nanos(5_000_000),
        interval: Nanos(100_000_000),
        ecn: true,
    };

    /// With an interval, of which the target is a twentieth.
    pub fn of_interval(interval: Nanos) -> FqCodel {
        FqCodel { interval, target: Nanos((interval.0 / 20).max(1)), ..FqCodel::DEFAULT }
    }

    /// The words after `fq_codel`, which change these, and what of them is not kept.
    pub fn read(mut self, args: &mut Args<'_>) -> Read<(Self, Vec<String>)> {
        let mut lost = Vec::new();
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "limit" => self.limit = positive(args.value("limit")?, "a number of packets")?,
                "flows" => {
                    let value = args.value("flows")?;
                    self.flows = positive(value, "a number of flows")?;
                    if self.flows > 65_536 {
                        return Err(value.fault("a number of flows", "fq_codel has 1 to 65536"));
                    }
                }
                "quantum" => {
                    let quantum = whole(args.value("quantum")?, 0, "a number of bytes")?;
                    self.quantum = quantum.max(LEAST_QUANTUM);
                }
                "target" => self.target = time(args.value("target")?)?,
                "interval" => self.interval = time(args.value("interval")?)?,
                "ecn" | "noecn" => self.ecn = word.text == "ecn",
                "ce_threshold" => {
                    let threshold = units::time(args.value("ce_threshold")?)?;
                    lost.push(format!("ce_threshold {threshold}: no packet is marked by it"));
                }
                "ce_threshold_selector" => {
                    args.value("ce_threshold_selector")?;
                }
                "memory_limit" => {
                    let memory = units::size(args.value("memory_limit")?)?;
                    if memory.0 != MEMORY {
                        lost.push("memory_limit: a plan limits by packets alone".into());
                    }
                }
                "drop_batch" => {
                    let batch = whole(args.value("drop_batch")?, 0, "a number of packets")?;
                    if batch != DROP_BATCH {
                        lost.push("drop_batch: at its limit a plan drops packet by packet".into());
                    }
                }
                _ => {
                    let accepted = "limit, flows, quantum, target, interval, ecn, noecn, \
                                    ce_threshold, memory_limit, drop_batch";
                    return Err(word.no_keyword("qdisc fq_codel", accepted));
                }
            }
        }
        Ok((self, lost))
    }

    /// The keys of a scheduler, each with its value.
    pub fn toml(&self) -> [String; 7] {
        let FqCodel { limit, flows, quantum, target, interval, ecn } = self;
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
}

fn positive(word: &Word, what: &str) -> Read<u32> {
    match whole(word, 0, what)? {
        0 => Err(word.fault(what, "a plan takes one above 0")),
        number => Ok(number),
    }
}

fn time(word: &Word) -> Read<Nanos> {
    match units::time(word)? {
        Nanos::ZERO => Err(word.fault("a time to wait", "a plan takes one above 0")),
        time => Ok(time),
    }
}
