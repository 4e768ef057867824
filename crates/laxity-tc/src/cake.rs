//! `cake` as what of it plans have: a shaper, and flow queues with controlled delay (iproute2, tc/q_cake.c).

use laxity::overhead::Overhead;
use laxity::units::{Nanos, Rate};

use crate::args::Args;
use crate::error::Read;
use crate::fq_codel::FqCodel;
use crate::notes::Notes;
use crate::setup::Shaper;
use crate::units;

/// Round-trip times by their names, in microseconds.
const TIMES: [(&str, u64); 8] = [
    ("datacentre", 100),
    ("lan", 1_000),
    ("metro", 10_000),
    ("regional", 30_000),
    ("internet", 100_000),
    ("oceanic", 300_000),
    ("satellite", 1_000_000),
    ("interplanetary", 3_600_000_000),
];
/// How flows are told apart, and by which classes.
const TURNS: [&str; 9] = [
    "flowblind",
    "srchost",
    "dsthost",
    "hosts",
    "flows",
    "dual-srchost",
    "dual-dsthost",
    "triple-isolate",
    "autorate-ingress",
];
const TINS: [&str; 6] =
    ["diffserv3", "diffserv4", "diffserv8", "diffserv-llt", "precedence", "besteffort"];
/// What changes nothing in a plan.
const OTHERS: [&str; 12] = [
    "nat",
    "nonat",
    "wash",
    "nowash",
    "split-gso",
    "no-split-gso",
    "ingress",
    "egress",
    "no-ack-filter",
    "raw",
    "unlimited",
    "conservative",
];
/// What a frame counts for, which `[link] overhead` says.
const FRAMING: [&str; 17] = [
    "atm",
    "noatm",
    "ptm",
    "via-ethernet",
    "ethernet",
    "ether-vlan",
    "docsis",
    "pppoe-ptm",
    "bridged-ptm",
    "ipoa-vcmux",
    "ipoa-llcsnap",
    "bridged-vcmux",
    "bridged-llcsnap",
    "pppoa-vcmux",
    "pppoa-llc",
    "pppoe-vcmux",
    "pppoe-llcsnap",
];

/// The words after `cake`: flow queues, and what it shapes to.
pub fn read(
    args: &mut Args<'_>,
    line: usize,
    notes: &mut Notes,
) -> Read<(FqCodel, Option<Shaper>)> {
    let (mut rate, mut interval, mut framing) = (0, Nanos(100_000_000), Vec::new());
    let mut tins = "diffserv3";
    while let Some(word) = args.next() {
        let text = word.text.as_str();
        let known = |names: &[&'static str]| names.iter().copied().find(|name| *name == text);
        if let Some((_, micros)) = TIMES.iter().find(|(name, _)| *name == text) {
            interval = Nanos(micros * 1_000);
        } else if let Some(name) = known(&TINS) {
            tins = name;
        } else if let Some(name) = known(&FRAMING) {
            framing.push(name.to_string());
        } else if known(&OTHERS).is_none() && known(&TURNS).is_none() {
            match text {
                "bandwidth" => rate = units::rate(args.value("bandwidth")?)?,
                "rtt" => interval = units::time(args.value("rtt")?)?.max(Nanos(1_000)),
                "overhead" | "mpu" => {
                    framing
                        .push(format!("{text} {}", crate::error::plain(&args.value(text)?.text)));
                }
                "memlimit" | "fwmark" => {
                    args.value(text)?;
                }
                "ack-filter" | "ack-filter-aggressive" => {
                    notes.not_mapped(line, "cake: ack-filter: a plan drops no acknowledgements");
                }
                _ => {
                    let accepted =
                        "bandwidth, rtt, overhead, mpu, memlimit and the words of tc-cake(8)";
                    return Err(word.no_keyword("qdisc cake", accepted));
                }
            }
        }
    }
    notes.reading(
        line,
        "cake as fq-codel, which is the nearest: flows take turns, each with controlled delay",
    );
    let mut lost = vec!["turns among hosts"];
    if tins != "besteffort" {
        lost.insert(0, "tins by DSCP");
    }
    notes.not_mapped(line, format!("cake: {}", lost.join(", ")));
    if !framing.is_empty() {
        let text = format!(
            "cake: {}: write what the link adds to frames as `overhead` of `[link]`",
            framing.join(" ")
        );
        notes.not_mapped(line, text);
    }
    let shaper = (rate > 0).then(|| Shaper {
        rate: Rate(rate),
        overhead: Overhead::NONE,
        line,
        of: "cake".into(),
        ..Shaper::none()
    });
    Ok((FqCodel::of_interval(interval), shaper))
}
