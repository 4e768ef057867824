//! Classes of htb as service curves (iproute2, tc/q_htb.c).

use laxity::units::Rate;
use laxity_plan::error::Fault;

use crate::args::Args;
use crate::curves::{Curve, Curves};
use crate::error::Read;
use crate::units;

/// A class of htb.
#[derive(Debug)]
pub struct Class {
    /// `rate` guaranteed and shared by, `ceil` as the limit.
    pub curves: Curves,
    pub priority: u32,
    /// The options that have no counterpart.
    pub lost: Vec<&'static str>,
}

/// Options that have one value and no counterpart, some of them with other names for them.
const LOST: [(&str, &[&str]); 7] = [
    ("burst", &["buffer", "maxburst"]),
    ("cburst", &["cbuffer", "cmaxburst"]),
    ("quantum", &[]),
    ("mtu", &[]),
    ("mpu", &[]),
    ("overhead", &[]),
    ("linklayer", &[]),
];
const OPTIONS: &str = "rate, ceil, prio, burst, cburst, quantum, mtu, mpu, overhead, linklayer";

pub fn class(args: &mut Args<'_>) -> Read<Class> {
    let span = args.span();
    let (mut rate, mut ceil, mut priority, mut lost) = (0, 0, 0, Vec::new());
    while let Some(word) = args.next() {
        let is = |(name, others): &&(&str, &[&str])| {
            word.means(name) || others.contains(&word.text.as_str())
        };
        match word.text.as_str() {
            "rate" => rate = units::rate(args.value("rate")?)?,
            "ceil" => ceil = units::rate(args.value("ceil")?)?,
            _ if word.means("prio") => {
                priority = units::whole(args.value("prio")?, 10, "a priority")?
            }
            _ => match LOST.iter().find(is) {
                Some((name, _)) => {
                    args.value(name)?;
                    lost.push(*name);
                }
                None => return Err(word.no_keyword("a class of htb", OPTIONS)),
            },
        }
    }
    let linear = |rate| Some(Curve::Linear(Rate(rate)));
    let (Some(rate), ceil) =
        (Some(rate).filter(|rate| *rate > 0), if ceil > 0 { ceil } else { rate })
    else {
        return Err(Fault::at(&span, "this class has no `rate`, which htb needs")
            .help("add `rate` with one such as 1mbit"));
    };
    let curves =
        Curves { real_time: linear(rate), link_share: linear(rate), upper_limit: linear(ceil) };
    Ok(Class { curves, priority, lost })
}
