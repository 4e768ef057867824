//! Words behind the kind of a class (iproute2, tc/q_hfsc.c, q_htb.c, q_drr.c and q_qfq.c).

use std::ops::RangeInclusive;

use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};
use laxity_plan::error::Fault;

use super::WithLosses;
use super::command::{Args, Word};
use super::quantity::{self, small, whole};
use crate::setup::{ClassKind, HfscCurve, HfscCurves, Htb};

/// The longest packet on an interface of Ethernet, which classes of drr and qfq have by default.
pub(crate) const PACKET: u32 = 1514;

/// Reads the words behind a kind; `None` if no class is of this kind.
pub(crate) fn kind(
    kind: &Word,
    args: &mut Args<'_>,
) -> Result<Option<WithLosses<ClassKind>>, Fault> {
    Ok(Some(match kind.text.as_str() {
        "hfsc" => (ClassKind::Hfsc(hfsc(args)?), Vec::new()),
        "htb" => {
            let (class, lost) = htb(args)?;
            let lost = (!lost.is_empty()).then(|| format!("{} of htb", lost.join(", ")));
            (ClassKind::Htb(class), lost.into_iter().collect())
        }
        "drr" => (drr(args)?, Vec::new()),
        "qfq" => (qfq(args)?, Vec::new()),
        _ => return Ok(None),
    }))
}

fn drr(args: &mut Args<'_>) -> Result<ClassKind, Fault> {
    let mut quantum = PACKET;
    while let Some(word) = args.next() {
        if word.text != "quantum" {
            return Err(word.no_keyword("a class of drr", "quantum"));
        }
        let value = args.value("quantum")?;
        let fits = u32::try_from(quantity::size(value)?.0).ok().filter(|size| *size > 0);
        quantum = fits.ok_or_else(|| {
            value.fault("a quantum", "drr takes one above 0 and below 2^32 bytes")
        })?;
    }
    Ok(ClassKind::Drr { quantum })
}

fn qfq(args: &mut Args<'_>) -> Result<ClassKind, Fault> {
    let number = |value: &Word, what: &str, accepted: RangeInclusive<u32>| {
        let number = whole(value, 10, what)?;
        let (least, most) = accepted.into_inner();
        if (least..=most).contains(&number) {
            return Ok(number);
        }
        Err(value.fault(what, &format!("qfq takes {least} to {most}")))
    };
    let (mut weight, mut lmax) = (1, PACKET);
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "weight" => weight = number(args.value("weight")?, "a weight", 1..=1024)?,
            "maxpkt" => lmax = number(args.value("maxpkt")?, "a largest packet", 512..=65_536)?,
            _ => return Err(word.no_keyword("a class of qfq", "weight, maxpkt")),
        }
    }
    Ok(ClassKind::Qfq { weight, lmax })
}

/// Options of htb that have one value and no counterpart in a plan.
const LOST: [&str; 4] = ["mtu", "mpu", "overhead", "linklayer"];
const BURSTS: [&str; 6] = ["burst", "buffer", "maxburst", "cburst", "cbuffer", "cmaxburst"];
const OPTIONS: &str = "rate, ceil, prio, burst, cburst, quantum, mtu, mpu, overhead, linklayer";

fn htb(args: &mut Args<'_>) -> Result<(Htb, Vec<&'static str>), Fault> {
    let span = args.span();
    let (mut rate, mut ceil, mut lost) = (0, 0, Vec::new());
    let (mut burst, mut cburst, mut quantum, mut prio) = (0, 0, 0, 0);
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "rate" => rate = quantity::rate(args.value("rate")?)?,
            "ceil" => ceil = quantity::rate(args.value("ceil")?)?,
            name if BURSTS.contains(&name) || word.means("burst") || word.means("cburst") => {
                let size = small(quantity::burst(args.value("burst")?)?);
                *(if name.starts_with('c') { &mut cburst } else { &mut burst }) = size;
            }
            _ if word.means("prio") => prio = whole(args.value("prio")?, 10, "a priority")?,
            _ if word.means("quantum") => {
                quantum = whole(args.value("quantum")?, 0, "a number of bytes")?;
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
    Ok((Htb { rate, ceil, burst, cburst, quantum, prio }, lost))
}

const FORMS: &str = "[[m1 RATE] d TIME] m2 RATE, or [[umax SIZE] dmax TIME] rate RATE";

/// Reads `rt`, `ls`, `sc` and `ul` with their curves.
fn hfsc(args: &mut Args<'_>) -> Result<HfscCurves, Fault> {
    let mut curves = HfscCurves::default();
    let span = args.span();
    while let Some(keyword) = args.next() {
        let kinds = ["rt", "ls", "sc", "ul"];
        let Some(kind) = kinds.into_iter().find(|kind| keyword.means(kind)) else {
            return Err(keyword.no_keyword("a class of hfsc", "rt, ls, sc, ul, each with a curve"));
        };
        let curve = Some(curve(args)?);
        match kind {
            "rt" => curves.rsc = curve,
            "ls" => curves.fsc = curve,
            "ul" => curves.usc = curve,
            _ => (curves.rsc, curves.fsc) = (curve, curve),
        }
    }
    match curves {
        HfscCurves { rsc: None, fsc: None, usc: None } => {
            Err(Fault::at(&span, "this class has no curves").help("tc takes rt, ls, sc and ul"))
        }
        HfscCurves { fsc: None, usc: Some(_), .. } => {
            Err(Fault::at(&span, "`ul` without `ls` or `sc`: tc refuses a limit alone")
                .help("add `ls m2 RATE`"))
        }
        curves => Ok(curves),
    }
}

fn curve(args: &mut Args<'_>) -> Result<HfscCurve, Fault> {
    let mut other = args.clone();
    if let Some(slopes) = slopes(args)? {
        return Ok(slopes);
    }
    let burst = point(&mut other)?;
    *args = other;
    Ok(burst)
}

/// `[[m1 RATE] d TIME] m2 RATE`; `None` if it is the other form.
fn slopes(args: &mut Args<'_>) -> Result<Option<HfscCurve>, Fault> {
    let (mut m1, mut d) = (0, Nanos::ZERO);
    let begins = args.clone();
    let has_m1 = args.take("m1");
    if has_m1 {
        m1 = quantity::rate(args.value("m1")?)?;
    }
    if args.take("d") {
        d = quantity::time(args.value("d")?)?;
    }
    if !args.take("m2") {
        let missing = || Fault::at(&args.span(), "`m2` is missing here");
        return if has_m1 { Err(missing().help(format!("a curve is {FORMS}"))) } else { Ok(None) };
    }
    let m2 = quantity::rate(args.value("m2")?)?;
    match (m1, m2) {
        (0, 0) => Err(Fault::at(&begins.span(), "both slopes of this curve are zero")
            .help("give `m2` a rate such as 1mbit")),
        _ => Ok(Some(HfscCurve::new(Rate(m1), d, Rate(m2)))),
    }
}

/// `[[umax SIZE] dmax TIME] rate RATE`.
fn point(args: &mut Args<'_>) -> Result<HfscCurve, Fault> {
    let begins = args.clone();
    let (mut umax, mut dmax) = (Bytes(0), Nanos::ZERO);
    if args.take("umax") {
        umax = quantity::size(args.value("umax")?)?;
    }
    if args.take("dmax") {
        dmax = quantity::time(args.value("dmax")?)?;
    }
    if !args.take("rate") {
        return Err(match args.peek() {
            Some(word) => word.no_keyword("a curve", FORMS),
            None => Fault::at(&args.span(), "the curve is missing").help(format!("write {FORMS}")),
        });
    }
    let rate = Rate(quantity::rate(args.value("rate")?)?);
    let fault = |message: &str| Fault::at(&begins.span(), message);
    let work = u128::from(umax.0) * u128::from(NANOBITS_PER_BYTE);
    match (umax, dmax, rate) {
        (Bytes(0), _, Rate(0)) => {
            Err(fault("both slopes of this curve are zero").help("give `rate` one such as 1mbit"))
        }
        (Bytes(1..), Nanos::ZERO, _) => {
            Err(fault("`umax` without a `dmax`: tc refuses it").help("add `dmax`, such as 10ms"))
        }
        (Bytes(1..), ..) if work.div_ceil(u128::from(dmax.0)) > u128::from(Rate::LIMIT.0) => {
            let help = format!("the highest rate that a plan has is {}", Rate::LIMIT);
            Err(fault("`umax` within `dmax` is too much").help(help))
        }
        (Bytes(0), ..) => Ok(HfscCurve::new(Rate(0), dmax, rate)),
        (_, _, Rate(0)) => Ok(HfscCurve { point: None, ..HfscCurve::from_point(umax, dmax, rate) }),
        _ => Ok(HfscCurve::from_point(umax, dmax, rate)),
    }
}
