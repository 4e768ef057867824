//! A token bucket at the root: the link (iproute2, tc/q_tbf.c).

use laxity::overhead::Overhead;
use laxity::units::Rate;
use laxity_plan::error::Fault;

use crate::args::Args;
use crate::error::Read;
use crate::setup::Shaper;
use crate::units;

/// Options that have one value and no effect on a plan: how much it lets through at once is not the link's rate.
const OTHERS: [&str; 8] =
    ["limit", "latency", "burst", "buffer", "maxburst", "mtu", "minburst", "lat"];

/// The words after `tbf`.
pub fn read(args: &mut Args<'_>, overhead: Overhead, major: u16, line: usize) -> Read<Shaper> {
    let span = args.span();
    let mut rate = 0;
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "rate" => rate = units::rate(args.value("rate")?)?,
            // A second bucket, which makes nothing slower in the long run.
            "peakrate" => {
                args.value("peakrate")?;
            }
            name if OTHERS.contains(&name) => {
                args.value(name)?;
            }
            _ => {
                return Err(
                    word.no_keyword("qdisc tbf", "rate, burst, limit, latency, peakrate, mtu")
                );
            }
        }
    }
    if rate == 0 {
        return Err(
            Fault::at(&span, "this tbf has no `rate`").help("add one such as `rate 10mbit`")
        );
    }
    Ok(Shaper { rate: Rate(rate), overhead, major, line })
}
