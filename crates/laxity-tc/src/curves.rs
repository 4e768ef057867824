//! Curves of hfsc and rates of htb as the service curves of a plan.

use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};
use laxity_plan::error::Fault;

use crate::args::Args;
use crate::error::Read;
use crate::units;

/// A service curve as a plan writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    Linear(Rate),
    Burst { burst: Bytes, delay: Nanos, rate: Rate },
    Pieces { m1: u64, d: Nanos, m2: Rate },
}

/// The three curves that a class may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Curves {
    pub real_time: Option<Curve>,
    pub link_share: Option<Curve>,
    pub upper_limit: Option<Curve>,
}

/// How a curve was simplified to become one of a plan, if it was.
pub type Simplification = Option<String>;

const FORMS: &str = "[[m1 RATE] d TIME] m2 RATE, or [[umax SIZE] dmax TIME] rate RATE";

impl Curve {
    /// The rate in the long run.
    pub fn rate(&self) -> Rate {
        match *self {
            Curve::Linear(rate) | Curve::Burst { rate, .. } | Curve::Pieces { m2: rate, .. } => {
                rate
            }
        }
    }

    /// The rate, if it is the same always.
    pub fn linear(&self) -> Option<Rate> {
        match self {
            Curve::Linear(rate) => Some(*rate),
            _ => None,
        }
    }

    /// The value of a key of a plan.
    pub fn toml(&self) -> String {
        match self {
            Curve::Linear(rate) => format!("\"{rate}\""),
            Curve::Burst { burst, delay, rate } => {
                format!("{{ burst = \"{}b\", delay = \"{delay}\", rate = \"{rate}\" }}", burst.0)
            }
            Curve::Pieces { m1, d, m2 } => {
                format!("{{ m1 = \"{}\", d = \"{d}\", m2 = \"{m2}\" }}", Rate(*m1))
            }
        }
    }
}

/// Reads `rt`, `ls`, `sc` and `ul` with their curves (iproute2, tc/q_hfsc.c), and tells what could
/// not be kept of each.
pub fn hfsc(args: &mut Args<'_>) -> Read<(Curves, Vec<String>)> {
    let (mut curves, mut bent) = (Curves::default(), Vec::new());
    let span = args.span();
    while let Some(keyword) = args.next() {
        let kinds = ["rt", "ls", "sc", "ul"];
        let Some(kind) = kinds.into_iter().find(|kind| keyword.means(kind)) else {
            return Err(keyword.no_keyword("a class of hfsc", "rt, ls, sc, ul, each with a curve"));
        };
        let (curve, change) = service_curve(args)?;
        bent.extend(change.map(|change| format!("{kind}: {change}")));
        match kind {
            "rt" => curves.real_time = Some(curve),
            "ls" => curves.link_share = Some(curve),
            "ul" => curves.upper_limit = Some(curve),
            _ => (curves.real_time, curves.link_share) = (Some(curve), Some(curve)),
        }
    }
    match curves {
        Curves { real_time: None, link_share: None, upper_limit: None } => {
            Err(Fault::at(&span, "this class has no curves").help("tc takes rt, ls, sc and ul"))
        }
        Curves { link_share: None, upper_limit: Some(_), .. } => {
            Err(Fault::at(&span, "`ul` without `ls` or `sc`: tc refuses a limit alone")
                .help("add `ls m2 RATE`"))
        }
        curves => Ok((curves, bent)),
    }
}

fn service_curve(args: &mut Args<'_>) -> Read<(Curve, Simplification)> {
    let mut other = args.clone();
    if let Some(slopes) = slopes(args)? {
        return Ok(slopes);
    }
    let burst = burst(&mut other)?;
    *args = other;
    Ok(burst)
}

/// `[[m1 RATE] d TIME] m2 RATE`; `None` if it is the other form.
fn slopes(args: &mut Args<'_>) -> Read<Option<(Curve, Simplification)>> {
    let (mut m1, mut d) = (0, Nanos::ZERO);
    let begins = args.clone();
    let has_m1 = args.take("m1");
    if has_m1 {
        m1 = units::rate(args.value("m1")?)?;
    }
    if args.take("d") {
        d = units::time(args.value("d")?)?;
    }
    if !args.take("m2") {
        let missing = || Fault::at(&args.span(), "`m2` is missing here");
        return if has_m1 { Err(missing().help(format!("a curve is {FORMS}"))) } else { Ok(None) };
    }
    let m2 = units::rate(args.value("m2")?)?;
    match (m1, m2) {
        (0, 0) => Err(Fault::at(&begins.span(), "both slopes of this curve are zero")
            .help("give `m2` a rate such as 1mbit")),
        _ => Ok(Some(two_piece(m1, d, m2))),
    }
}

/// `[[umax SIZE] dmax TIME] rate RATE`.
fn burst(args: &mut Args<'_>) -> Read<(Curve, Simplification)> {
    let begins = args.clone();
    let (mut umax, mut dmax) = (Bytes(0), Nanos::ZERO);
    if args.take("umax") {
        umax = units::size(args.value("umax")?)?;
    }
    if args.take("dmax") {
        dmax = units::time(args.value("dmax")?)?;
    }
    if !args.take("rate") {
        return Err(match args.peek() {
            Some(word) => word.no_keyword("a curve", FORMS),
            None => Fault::at(&args.span(), "the curve is missing").help(format!("write {FORMS}")),
        });
    }
    let rate = units::rate(args.value("rate")?)?;
    let fault = |message: &str| Fault::at(&begins.span(), message);
    let work = u128::from(umax.0) * u128::from(NANOBITS_PER_BYTE);
    match (umax, dmax, Rate(rate)) {
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
        (Bytes(0), d, Rate(rate)) => Ok(two_piece(0, d, rate)),
        (_, d, Rate(0)) => Ok(two_piece(work.div_ceil(u128::from(d.0)) as u64, d, 0)),
        (burst, delay, rate) => Ok((Curve::Burst { burst, delay, rate }, None)),
    }
}

/// Two slopes as the nearest curve below them that a plan takes.
fn two_piece(m1: u64, d: Nanos, m2: u64) -> (Curve, Simplification) {
    let Some(rate) = Some(Rate(m2)).filter(|rate| rate.0 > 0) else {
        let bent = "it ends flat, which no curve of a plan does: it goes on with 1 bit/s";
        let (curve, _) = two_piece(m1, d, 1);
        return (curve, Some(bent.into()));
    };
    if d == Nanos::ZERO || m1 == m2 {
        return (Curve::Linear(rate), None);
    }
    if m1 == 0 || m1 > m2 {
        return (Curve::Pieces { m1, d, m2: rate }, None);
    }
    // The second piece goes on down to zero: d (m2 - m1) / m2.
    let flat = (u128::from(d.0) * u128::from(m2 - m1)).div_ceil(u128::from(m2));
    let d = Nanos(u64::try_from(flat).unwrap_or(d.0));
    let bent = format!(
        "it starts with {}, slower than it goes on; a plan's convex curve starts flat, so it is {d} of \
         nothing, then the same {rate}",
        Rate(m1)
    );
    (Curve::Pieces { m1: 0, d, m2: rate }, Some(bent))
}
