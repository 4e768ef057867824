//! Disciplines, their parameters each as the kernel's own struct or attributes.

use laxity::units::{Nanos, Rate};

use super::attributes::{self, Attributes, bytes, find, find_u32, u32_of, words};
use super::object::{OPTIONS, Object, STAB, Sort};
use super::{cake, size_table};
use crate::setup::units::{self, bytes_a_second, codel_time_shown};
use crate::setup::{CoDel, FqCodel, Handle, Pie, Prio, Qdisc, QdiscKind, Red, Tbf};

/// The object of a qdisc: its kind, its own number, its parent and its parameters.
pub(super) fn object(qdisc: &Qdisc) -> Object {
    let options = match &qdisc.kind {
        QdiscKind::Hfsc { default } => {
            u16::try_from(*default).unwrap_or_default().to_ne_bytes().to_vec()
        }
        QdiscKind::Htb { default, r2q } => htb(*default, *r2q),
        QdiscKind::Prio(Prio { bands, priomap }) => {
            [&u32::from(*bands).to_ne_bytes()[..], priomap].concat()
        }
        QdiscKind::Tbf(of) => tbf(of),
        QdiscKind::Cake(of) => cake::options(of),
        kind @ QdiscKind::FqCodel(_) => numbered(kind, &FQ_CODEL, None),
        kind @ QdiscKind::CoDel(_) => numbered(kind, &CODEL, None),
        kind @ QdiscKind::Pie(_) => numbered(kind, &PIE, None),
        QdiscKind::Red(of) | QdiscKind::Choke(of) => red(of),
        QdiscKind::Pfifo { limit: Some(limit) } | QdiscKind::Bfifo { limit } => {
            limit.to_ne_bytes().to_vec()
        }
        // Those that have no parameters, and those that are read and never given to the kernel.
        QdiscKind::Drr
        | QdiscKind::Qfq
        | QdiscKind::Pfifo { limit: None }
        | QdiscKind::Mq
        | QdiscKind::Netem(_)
        | QdiscKind::Other { .. } => Vec::new(),
    };
    let object = Object::new(Sort::Qdisc, qdisc.handle, qdisc.parent, qdisc.kind.name());
    let object = if options.is_empty() { object } else { object.with(OPTIONS, &options) };
    match &qdisc.stab {
        Some(stab) => object.with(STAB, &size_table::attributes(stab)),
        None => object,
    }
}

pub(super) fn read(object: &Object) -> Option<Qdisc> {
    let options = object.options();
    let number = || words(options).map(|[number]| number);
    let kind = match object.kind().as_str() {
        "hfsc" => QdiscKind::Hfsc { default: u16::from_ne_bytes(*options.first_chunk()?).into() },
        "htb" => {
            let (default, r2q) = read_htb(options)?;
            QdiscKind::Htb { default, r2q }
        }
        "drr" => QdiscKind::Drr,
        "qfq" => QdiscKind::Qfq,
        "prio" => QdiscKind::Prio(Prio {
            bands: number()?.try_into().ok()?,
            priomap: *options.get(4..)?.first_chunk()?,
        }),
        "tbf" => QdiscKind::Tbf(read_tbf(options)?),
        "fq_codel" => QdiscKind::FqCodel(read_fq_codel(options)?),
        "cake" => QdiscKind::Cake(cake::read(options)?),
        "codel" => QdiscKind::CoDel(read_codel(options)?),
        "pie" => QdiscKind::Pie(read_pie(options)?),
        "red" => QdiscKind::Red(read_red(options)?),
        "choke" => QdiscKind::Choke(read_red(options)?),
        "pfifo" => QdiscKind::Pfifo { limit: Some(number()?) },
        "bfifo" => QdiscKind::Bfifo { limit: number()? },
        _ => return None,
    };
    let stab = find(&object.attributes, STAB);
    let stab = stab.map_or(Some(None), |stab| size_table::read(stab).map(Some))?;
    let parent = if object.parent == Handle(0) { Handle::ROOT } else { object.parent };
    Some(Qdisc { handle: object.handle, parent, kind, stab })
}

/// TC_LINKLAYER_ETHERNET.
const ETHERNET: u8 = 1;

/// `tc_ratespec` of a rate.
pub(super) fn rate_spec(rate: Rate) -> Vec<u8> {
    let rate = u32::try_from(bytes_a_second(rate)).unwrap_or(u32::MAX);
    [&[0, ETHERNET, 0, 0, 0, 0, 0, 0][..], &rate.to_ne_bytes()].concat()
}

/// The rate of a `tc_ratespec`, or of the attribute that stands beside one that is too large for
/// it. `None` if it has more than a rate.
pub(super) fn rate_of(spec: &[u8], large: Option<&[u8]>) -> Option<Rate> {
    let (spec, _) = spec.split_first_chunk::<12>()?;
    let [overhead, mpu] = [[spec[2], spec[3]], [spec[6], spec[7]]];
    if overhead != [0, 0] || mpu != [0, 0] || spec[1] & 0xf > ETHERNET {
        return None;
    }
    let bytes = match large {
        Some(large) => large.try_into().ok().map(u64::from_ne_bytes),
        None => words(&spec[8..]).map(|[rate]| rate.into()),
    };
    bytes.map(units::rate_of)
}

/// The attribute beside a `tc_ratespec` that is too small for a rate.
pub(super) fn large_rate(rate: Rate) -> Option<[u8; 8]> {
    let bytes = bytes_a_second(rate);
    (bytes > u32::MAX.into()).then(|| bytes.to_ne_bytes())
}

/// `tc_htb_glob`, TCA_HTB_INIT.
const HTB_INIT: u16 = 2;
/// The version of the kernel's HTB (TC_HTB_PROTOVER).
const HTB_VERSION: u32 = 3;

fn htb(default: u32, r2q: u32) -> Vec<u8> {
    Attributes::default().with(HTB_INIT, &bytes(&[HTB_VERSION, r2q, default, 0, 0])).0
}

fn read_htb(options: &[u8]) -> Option<(u32, u32)> {
    let [_, r2q, default] = words(find(options, HTB_INIT)?)?;
    Some((default, r2q))
}

/// TCA_TBF_PARMS and RATE64.
const TBF: [u16; 2] = [1, 4];

fn tbf(tbf: &Tbf) -> Vec<u8> {
    let Tbf { rate, burst, limit } = *tbf;
    let sizes = bytes(&[limit, units::ticks(rate, burst), 0]);
    let none = [0; 12];
    let parameters = [&rate_spec(rate), &none[..], &sizes].concat();
    Attributes::default().with(TBF[0], &parameters).with_some(TBF[1], large_rate(rate)).0
}

fn read_tbf(options: &[u8]) -> Option<Tbf> {
    let parameters = find(options, TBF[0])?;
    let rate = rate_of(parameters, find(options, TBF[1]))?;
    let [peak] = words(parameters.get(20..)?)?;
    let [limit, buffer, _] = words(parameters.get(24..)?)?;
    let burst = units::bytes(rate, buffer);
    (peak == 0).then_some(Tbf { rate, burst, limit })
}

/// Parameters of `fq_codel`, `codel` and `pie` in the order of their attributes, which are numbered
/// from 1: TCA_FQ_CODEL_TARGET and so on.
pub(super) const FQ_CODEL: [&str; 6] = ["target", "limit", "interval", "ecn", "flows", "quantum"];
const CODEL: [&str; 4] = ["target", "limit", "interval", "ecn"];
const PIE: [&str; 6] = ["target", "limit", "tupdate", "alpha", "beta", "ecn"];
/// TCA_FQ_CODEL_DROP_BATCH_SIZE and MEMORY_LIMIT with their defaults.
const FQ_CODEL_DEFAULTS: [(u16, u32); 2] = [(8, 64), (9, 32 << 20)];
/// TCA_PIE_BYTEMODE and DQ_RATE_ESTIMATOR, which are off by default.
const PIE_DEFAULTS: [(u16, u32); 2] = [(7, 0), (8, 0)];

/// The parameters of these names, but for the one that is not to be told again.
pub(super) fn numbered(kind: &QdiscKind, names: &[&str], without: Option<&str>) -> Vec<u8> {
    let parameters = kind.parameters();
    let number = |name: &str| {
        let value = parameters.iter().find(|(known, _)| *known == name && Some(name) != without);
        value.and_then(|(_, value)| value.number())
    };
    let all = names.iter().zip(1..).filter_map(|(name, kind)| Some((kind, number(name)?)));
    all.fold(Attributes::default(), |all, (kind, number)| all.with_u32(kind, number)).0
}

/// The numbers of the first attributes, if there are no others but these with these values.
fn numbers<const N: usize>(options: &[u8], others: &[(u16, u32)]) -> Option<[u32; N]> {
    let mut found = [0; N];
    for (number, kind) in found.iter_mut().zip(1..) {
        *number = find_u32(options, kind)?;
    }
    let is_known = |(kind, value): (u16, &[u8])| {
        (1..=N).contains(&kind.into())
            || others.iter().any(|(other, is)| *other == kind && u32_of(value) == Some(*is))
    };
    attributes::read(options).all(is_known).then_some(found)
}

fn read_fq_codel(options: &[u8]) -> Option<FqCodel> {
    let [target, limit, interval, ecn, flows, quantum] = numbers(options, &FQ_CODEL_DEFAULTS)?;
    let [target, interval] = [target, interval].map(codel_time_shown);
    Some(FqCodel { limit, flows, quantum, target, interval, ecn: ecn != 0 })
}

fn read_codel(options: &[u8]) -> Option<CoDel> {
    let [target, limit, interval, ecn] = numbers(options, &[])?;
    let [target, interval] = [target, interval].map(codel_time_shown);
    Some(CoDel { limit, target, interval, ecn: ecn != 0 })
}

fn read_pie(options: &[u8]) -> Option<Pie> {
    let [target, limit, tupdate, alpha, beta, ecn] = numbers(options, &PIE_DEFAULTS)?;
    let [target, tupdate] = [target, tupdate].map(|micros| Nanos(u64::from(micros) * 1_000));
    Some(Pie { limit, target, tupdate, alpha, beta, ecn: ecn != 0 })
}

/// TCA_RED_PARMS, STAB and MAX_P; those of choke have the same numbers.
const RED: [u16; 3] = [1, 2, 3];
/// TC_RED_ECN.
const RED_ECN: u8 = 1;
/// What an average of nothing has fallen to.
const RED_IDLE: u8 = 31;

fn red(of: &Red) -> Vec<u8> {
    let flags = if of.ecn { RED_ECN } else { 0 };
    let parameters = bytes(&[of.limit, of.min, of.max]);
    let parameters = [&parameters[..], &[of.wlog, of.plog, of.cell_log, flags]].concat();
    let options = Attributes::default().with(RED[0], &parameters).with(RED[1], &idle_table());
    options.with_u32(RED[2], of.max_p).0
}

/// How far each step of idle time shifts the average down. The kernel never shows the table. Its
/// step is the shortest with which 256 to 512 steps take the average to nothing; the table falls as
/// in the middle of these.
fn idle_table() -> [u8; 256] {
    let mut table = [0; 256];
    for (step, shift) in table.iter_mut().enumerate() {
        *shift = (step * usize::from(RED_IDLE) / 384) as u8;
    }
    table[255] = RED_IDLE;
    table
}

fn read_red(options: &[u8]) -> Option<Red> {
    let parameters = find(options, RED[0])?;
    let [limit, min, max] = words(parameters)?;
    let [wlog, plog, cell_log, flags] = *parameters.get(12..)?.first_chunk()?;
    let max_p = find_u32(options, RED[2])?;
    let ecn = flags & RED_ECN != 0;
    let known = flags & !RED_ECN == 0;
    known.then_some(Red { limit, min, max, wlog, plog, cell_log, max_p, packet: 0, ecn })
}
