//! A token bucket at the root: the link (iproute2, tc/q_tbf.c).

use laxity::overhead::Overhead;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::error::Fault;

use crate::args::Args;
use crate::command::Word;
use crate::error::Read;
use crate::setup::Shaper;
use crate::units;

/// Options that have one value and no effect on a plan: how much it lets through at once is not the link's rate.
const OTHERS: [&str; 2] = ["mtu", "minburst"];

/// The words after `tbf`.
pub fn read(args: &mut Args<'_>, overhead: Overhead, major: u16, line: usize) -> Read<Shaper> {
    let span = args.span();
    let (mut rate, mut burst, mut limit, mut latency) = (0, Bytes(0), None, None);
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "rate" => rate = units::rate(args.value("rate")?)?,
            // A second bucket, which makes nothing slower in the long run.
            "peakrate" => {
                args.value("peakrate")?;
            }
            "burst" | "buffer" | "maxburst" => {
                let value = args.value("burst")?;
                let size = value.text.split_once('/').map_or(&value.text[..], |(size, _)| size);
                burst = units::size(&Word { text: size.into(), ..value.clone() })?;
            }
            "limit" => limit = Some(units::size(args.value("limit")?)?),
            "latency" | "lat" => latency = Some(units::time(args.value("latency")?)?),
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
    let within = |latency: Nanos| {
        let bytes = u128::from(rate) * u128::from(latency.0) / 8_000_000_000;
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(burst.0))
    };
    let limit = limit.or(latency.map(within)).filter(|limit| *limit > Bytes(0));
    Ok(Shaper { rate: Rate(rate), overhead, major, line, limit, of: "tbf".into() })
}
