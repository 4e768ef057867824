//! The words of `cake` (iproute2, tc/q_cake.c).

use laxity::overhead::{Framing, Overhead};
use laxity::sched::cake::{Diffserv, Isolation};
use laxity::units::{Nanos, Rate};
use laxity_plan::error::Fault;

use super::command::{Args, Word};
use super::quantity::{self, listed, number, signed, small, whole};
use crate::setup::Cake;
use crate::setup::cake::{ACK_FILTER, FRAMING, HEADER, OVERHEADS};

/// Round-trip times by their names, in microseconds.
const ROUND_TRIPS: &str = "datacentre 100 lan 1000 metro 10000 regional 30000 internet 100000 \
    oceanic 300000 satellite 1000000 interplanetary 3600000000";
/// Words that say nothing, or what holds anyway.
const SILENT: [&str; 2] = ["egress", "via-ethernet"];

/// Reads the words behind `cake`. What no plan has is told.
pub(super) fn cake(args: &mut Args<'_>, lost: &mut Vec<String>) -> Result<Cake, Fault> {
    let (mut cake, mut is_raw) = (Cake::DEFAULT, false);
    while let Some(word) = args.next() {
        let text = word.text.as_str();
        if let Some(micros) = listed(ROUND_TRIPS, text).and_then(|micros| number::<u64>(micros, 10))
        {
            cake.rtt = Nanos(micros * 1_000);
        } else if let Some(diffserv) = Diffserv::from_word(text) {
            cake.diffserv = diffserv;
        } else if let Some(isolation) = Isolation::from_word(text) {
            cake.isolation = isolation;
        } else if let Some((_, filter)) = ACK_FILTER.iter().find(|(known, _)| *known == text) {
            cake.ack_filter = *filter;
        } else if let Some((_, framing)) = FRAMING.iter().find(|(known, _)| *known == text) {
            framed(&mut cake).framing = *framing;
        } else if let Some((_, named)) = Overhead::NAMED.iter().find(|(known, _)| *known == text) {
            let Overhead { at_least, .. } = *named;
            // Ethernet pads frames; the others leave what was said.
            let least = if text == "ethernet" { 84 } else { at_least };
            let before = cake.overhead.map_or(0, |overhead| overhead.at_least);
            cake.overhead = Some(Overhead { at_least: before.max(least), ..*named });
        } else if !SILENT.contains(&text) {
            match text {
                "bandwidth" => cake.rate = Rate(quantity::rate(args.value("bandwidth")?)?),
                "unlimited" => cake.rate = Rate(0),
                "rtt" => {
                    let time = quantity::time(args.value("rtt")?)?;
                    cake.rtt = Nanos((time.0 / 1_000).max(1) * 1_000);
                }
                "overhead" => {
                    let bytes = within(args.value(text)?, *OVERHEADS.start())?;
                    // What is raw is shown with an overhead of nothing.
                    if !(is_raw && bytes == 0) {
                        framed(&mut cake).bytes = bytes - HEADER;
                    }
                }
                "mpu" => {
                    let least = within(args.value(text)?, 0)?;
                    framed(&mut cake).at_least = least.unsigned_abs();
                }
                "ether-vlan" => framed(&mut cake).bytes += 4,
                "conservative" => {
                    let bytes = 48 - HEADER;
                    cake.overhead = Some(Overhead { bytes, at_least: 0, framing: Framing::Atm });
                }
                "raw" => (cake.overhead, is_raw) = (None, true),
                "nat" | "nonat" => cake.nat = text == "nat",
                "wash" | "nowash" => cake.wash = text == "wash",
                "split-gso" | "no-split-gso" => cake.split_gso = text == "split-gso",
                "ingress" => cake.ingress = true,
                "memlimit" => cake.memory = small(quantity::size(args.value(text)?)?),
                "fwmark" => cake.fwmark = whole(args.value(text)?, 16, "a mask")?,
                "diffserv-llt" => lost.push("diffserv-llt: the tins are those of diffserv3".into()),
                "autorate-ingress" => lost.push(
                    "autorate-ingress: the rate stays as it is; `rate = { from = …, to = …, by = \"delay\" }` finds one"
                        .into(),
                ),
                _ => {
                    let accepted =
                        "bandwidth, rtt, overhead, mpu, memlimit and the words of tc-cake(8)";
                    return Err(word.no_keyword("qdisc cake", accepted));
                }
            }
        }
    }
    Ok(cake)
}

/// What `tc` shows of `cake`, up to what is no word of it: statistics.
pub(crate) fn shown(words: &[&str]) -> Vec<String> {
    let mut known = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if VALUES.contains(word) {
            let Some(value) = rest.next() else { break };
            known.extend([(*word).to_string(), (*value).to_string()]);
        } else if is_flag(word) {
            known.push((*word).to_string());
        } else {
            break;
        }
    }
    known
}

/// Words with a value behind, and those that stand alone.
const VALUES: [&str; 6] = ["bandwidth", "rtt", "overhead", "mpu", "memlimit", "fwmark"];
const FLAGS: [&str; 12] = [
    "unlimited",
    "raw",
    "nat",
    "nonat",
    "wash",
    "nowash",
    "split-gso",
    "no-split-gso",
    "ingress",
    "egress",
    "autorate-ingress",
    "diffserv-llt",
];

fn is_flag(word: &str) -> bool {
    FLAGS.contains(&word)
        || Diffserv::from_word(word).is_some()
        || Isolation::from_word(word).is_some()
        || ACK_FILTER.iter().any(|(known, _)| *known == word)
        || FRAMING.iter().any(|(known, _)| *known == word)
}

/// A number of bytes, from this one to the most that `cake` takes.
fn within(word: &Word, least: i32) -> Result<i32, Fault> {
    let range = least..=*OVERHEADS.end();
    let number = signed(word, "a number of bytes")?;
    if !range.contains(&number) {
        let accepted = format!("a number from {least} to {}", range.end());
        return Err(word.fault("what cake takes", &accepted));
    }
    Ok(number)
}

/// What frames count for, from the IP packet on if nothing was said before.
fn framed(cake: &mut Cake) -> &mut Overhead {
    cake.overhead.get_or_insert(Overhead { bytes: -HEADER, ..Overhead::NONE })
}
