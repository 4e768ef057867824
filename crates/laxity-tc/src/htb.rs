//! Classes of htb as service curves (iproute2, tc/q_htb.c; Linux, net/sched/sch_htb.c).

mod flooded;
mod lending;

use laxity::units::{Bytes, Rate};
use laxity_plan::error::Fault;

use crate::args::Args;
use crate::command::Word;
use crate::error::Read;
use crate::setup::Discipline;
use crate::units;
pub use lending::{lend, said};

/// What Linux divides rates in bytes a second by to get quanta, unless a script says `r2q`.
const R2Q: u32 = 10;

/// The least and the greatest quantum that Linux makes of a rate (`htb_change_class`).
const QUANTA: (u64, u64) = (1_000, 200_000);

/// What tc takes for `cburst`, on a kernel with timers of high resolution.
const CBURST: Bytes = Bytes(1_600);

/// A class of htb.
#[derive(Clone, Debug)]
pub struct Class {
    pub rate: Rate,
    /// `rate` where it is not said.
    pub ceil: Rate,
    pub priority: u32,
    /// The greater of `burst` and `cburst`.
    pub burst: Option<Bytes>,
    /// What it sends at once at its `ceil`.
    pub cburst: Bytes,
    pub quantum: Option<u32>,
    /// The options that have no counterpart.
    pub lost: Vec<&'static str>,
}

impl Class {
    /// What it sends of its own, whatever is above it.
    fn own(&self) -> Rate {
        self.rate.min(self.ceil)
    }
}

/// Bytes that a class sends in a turn of what it borrows.
fn quantum(class: &Class, r2q: u32) -> u64 {
    let by_rate = class.rate.0 / 8 / u64::from(r2q.max(1));
    class.quantum.map_or(by_rate.clamp(QUANTA.0, QUANTA.1), u64::from)
}

/// Options that have one value and no counterpart.
const LOST: [&str; 4] = ["mtu", "mpu", "overhead", "linklayer"];
const BURSTS: [&str; 6] = ["burst", "buffer", "maxburst", "cburst", "cbuffer", "cmaxburst"];
const OPTIONS: &str = "rate, ceil, prio, burst, cburst, quantum, mtu, mpu, overhead, linklayer";

/// The words after `htb` at the root.
pub fn root(args: &mut Args<'_>) -> Read<Discipline> {
    let (mut default, mut r2q) = (None, R2Q);
    while let Some(word) = args.next() {
        match word {
            word if word.means("default") => {
                default = Some(units::whole(args.value("default")?, 16, "a class")?);
            }
            word if word.means("r2q") => r2q = units::whole(args.value("r2q")?, 10, "a divisor")?,
            word if word.means("offload") => {}
            word if ["debug", "direct_qlen"].iter().any(|name| word.means(name)) => {
                args.value(&word.text)?;
            }
            word => return Err(word.no_keyword("qdisc htb", "default CLASS, r2q NUMBER")),
        }
    }
    Ok(Discipline::Htb { default, r2q })
}

/// The words after `htb` of a class.
pub fn class(args: &mut Args<'_>) -> Read<Class> {
    let span = args.span();
    let (mut rate, mut ceil, mut priority) = (0, 0, 0);
    let (mut burst, mut quantum, mut lost) = (None, None, Vec::new());
    let mut cburst = None;
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "rate" => rate = units::rate(args.value("rate")?)?,
            "ceil" => ceil = units::rate(args.value("ceil")?)?,
            name if BURSTS.contains(&name) || word.means("burst") || word.means("cburst") => {
                // It may be followed by the size of a table's cell.
                let value = args.value("burst")?;
                let size = value.text.split_once('/').map_or(&value.text[..], |(size, _)| size);
                let size = units::size(&Word { text: size.into(), ..value.clone() })?;
                burst = burst.max(Some(size));
                if word.text.starts_with('c') {
                    cburst = Some(size);
                }
            }
            _ if word.means("prio") => {
                priority = units::whole(args.value("prio")?, 10, "a priority")?
            }
            _ if word.means("quantum") => {
                quantum = Some(units::whole(args.value("quantum")?, 0, "a number of bytes")?);
            }
            _ => match LOST.iter().find(|name| word.means(name)) {
                Some(name) => {
                    args.value(name)?;
                    lost.push(*name);
                }
                None => return Err(word.no_keyword("a class of htb", OPTIONS)),
            },
        }
    }
    if rate == 0 {
        return Err(Fault::at(&span, "this class has no `rate`, which htb needs")
            .help("add `rate` with one such as 1mbit"));
    }
    let (rate, ceil) = (Rate(rate), Rate(if ceil > 0 { ceil } else { rate }));
    let (quantum, cburst) = (quantum.filter(|quantum| *quantum > 0), cburst.unwrap_or(CBURST));
    Ok(Class { rate, ceil, priority, burst, cburst, quantum, lost })
}
