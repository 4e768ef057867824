//! Parameters of classes.

use super::attributes::{Attributes, bytes, find, find_u32, words};
use super::object::{OPTIONS, Object, Sort};
use super::queues::{rate_of, rate_spec};
use crate::tree::units;
use crate::tree::{Class, ClassKind, HfscCurve, HfscCurves, Htb};

/// Disciplines whose classes are added; others have those that they make.
pub(super) const ADDED: [&str; 5] = ["hfsc", "htb", "drr", "qfq", "cbq"];

/// TCA_HFSC_RSC, FSC and USC.
const CURVES: [u16; 3] = [1, 2, 3];
/// TCA_HTB_PARMS, RATE64 and CEIL64.
const HTB: [u16; 3] = [1, 6, 7];
/// TCA_DRR_QUANTUM.
const DRR_QUANTUM: u16 = 1;
/// TCA_QFQ_WEIGHT and LMAX.
const QFQ: [u16; 2] = [1, 2];

pub(super) fn object(class: &Class) -> Object {
    let options = match class.kind {
        ClassKind::Hfsc(curves) => hfsc(&curves),
        ClassKind::Htb(htb) => htb_options(&htb),
        ClassKind::Drr { quantum } => Attributes::default().with_u32(DRR_QUANTUM, quantum),
        ClassKind::Qfq { weight, lmax } => {
            Attributes::default().with_u32(QFQ[0], weight).with_u32(QFQ[1], lmax)
        }
    };
    Object::new(Sort::Class, class.handle, class.parent, class.kind.name())
        .with(OPTIONS, &options.0)
}

pub(super) fn read_class(object: &Object) -> Option<ClassKind> {
    let options = object.options();
    Some(match object.kind().as_str() {
        "hfsc" => ClassKind::Hfsc(read_hfsc(options)?),
        "htb" => ClassKind::Htb(read_htb(options)?),
        "drr" => ClassKind::Drr { quantum: find_u32(options, DRR_QUANTUM)? },
        "qfq" => {
            let [weight, lmax] = QFQ.map(|kind| find_u32(options, kind));
            ClassKind::Qfq { weight: weight?, lmax: lmax? }
        }
        _ => return None,
    })
}

pub(super) fn read(object: &Object) -> Option<Class> {
    let kind = read_class(object)?;
    let parent = above(object);
    Some(Class { handle: object.handle, parent, kind, name: None })
}

/// What it is part of. The kernel shows those at the top of htb, drr and qfq as if they were roots.
fn above(object: &Object) -> crate::tree::Handle {
    use crate::tree::Handle;
    match object.parent {
        Handle::ROOT => Handle::new(object.handle.major(), 0),
        parent => parent,
    }
}

fn hfsc(curves: &HfscCurves) -> Attributes {
    let curves = [curves.rsc, curves.fsc, curves.usc];
    CURVES.into_iter().zip(curves).fold(Attributes::default(), |all, (kind, curve)| match curve {
        Some(HfscCurve { m1, d, m2 }) => all.with(kind, &bytes(&[m1, d, m2])),
        None => all,
    })
}

fn read_hfsc(options: &[u8]) -> Option<HfscCurves> {
    let curve = |kind| match find(options, kind) {
        Some(value) => words(value).map(|[m1, d, m2]| Some(HfscCurve { m1, d, m2 })),
        None => Some(None),
    };
    let [rsc, fsc, usc] = CURVES.map(curve);
    Some(HfscCurves { rsc: rsc?, fsc: fsc?, usc: usc? })
}

fn htb_options(htb: &Htb) -> Attributes {
    let Htb { rate, ceil, burst, cburst, quantum, prio } = *htb;
    let buffers = [units::ticks(rate, burst), units::ticks(ceil, cburst), quantum, 0, prio];
    let parameters = [rate_spec(rate), rate_spec(ceil), bytes(&buffers)].concat();
    let mut options = Attributes::default().with(HTB[0], &parameters);
    for (kind, rate) in HTB[1..].iter().zip([rate, ceil]) {
        if rate > u32::MAX.into() {
            options = options.with(*kind, &rate.to_ne_bytes());
        }
    }
    options
}

fn read_htb(options: &[u8]) -> Option<Htb> {
    let parameters = find(options, HTB[0])?;
    let rate = rate_of(parameters, find(options, HTB[1]))?;
    let ceil = rate_of(parameters.get(12..)?, find(options, HTB[2]))?;
    let [buffer, cbuffer, quantum, _, prio] = words(parameters.get(24..)?)?;
    let (burst, cburst) = (units::bytes(rate, buffer), units::bytes(ceil, cbuffer));
    Some(Htb { rate, ceil, burst, cburst, quantum, prio })
}
