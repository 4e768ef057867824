//! Parameters of classes.

use super::attributes::{Attributes, bytes, find, find_u32, words};
use super::object::{OPTIONS, Object, Sort};
use super::qdisc::{large_rate, rate_of, rate_spec};
use crate::setup::{Class, ClassKind, Handle, HfscCurve, HfscCurves, Htb, units};

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
        ClassKind::Own => Attributes::default(),
    };
    Object::new(Sort::Class, class.handle, class.parent, class.kind.name())
        .with(OPTIONS, &options.0)
}

pub(super) fn read(object: &Object) -> Option<Class> {
    let options = object.options();
    let kind = match object.kind().as_str() {
        "hfsc" => ClassKind::Hfsc(read_hfsc(options)?),
        "htb" => ClassKind::Htb(read_htb(options)?),
        "drr" => ClassKind::Drr { quantum: find_u32(options, DRR_QUANTUM)? },
        "qfq" => {
            let [weight, lmax] = QFQ.map(|kind| find_u32(options, kind));
            ClassKind::Qfq { weight: weight?, lmax: lmax? }
        }
        _ => return None,
    };
    // The kernel shows those at the top of htb, drr and qfq as if they were roots.
    let parent = match object.parent {
        Handle::ROOT => Handle::new(object.handle.major(), 0),
        parent => parent,
    };
    Some(Class { handle: object.handle, parent, kind, name: None })
}

fn hfsc(curves: &HfscCurves) -> Attributes {
    let curves = [curves.rsc, curves.fsc, curves.usc];
    CURVES.into_iter().zip(curves).fold(Attributes::default(), |all, (kind, curve)| {
        all.with_some(kind, curve.map(|curve| bytes(&curve.kernel())))
    })
}

fn read_hfsc(options: &[u8]) -> Option<HfscCurves> {
    let curve = |value| words(value).map(|slopes| Some(HfscCurve::from_kernel(slopes)));
    let [rsc, fsc, usc] = CURVES.map(|kind| find(options, kind).map_or(Some(None), curve));
    Some(HfscCurves { rsc: rsc?, fsc: fsc?, usc: usc? })
}

fn htb_options(htb: &Htb) -> Attributes {
    let Htb { rate, ceil, burst, cburst, quantum, prio } = *htb;
    let buffers = [units::ticks(rate, burst), units::ticks(ceil, cburst), quantum, 0, prio];
    let parameters = [rate_spec(rate), rate_spec(ceil), bytes(&buffers)].concat();
    Attributes::default()
        .with(HTB[0], &parameters)
        .with_some(HTB[1], large_rate(rate))
        .with_some(HTB[2], large_rate(ceil))
}

fn read_htb(options: &[u8]) -> Option<Htb> {
    let parameters = find(options, HTB[0])?;
    let rate = rate_of(parameters, find(options, HTB[1]))?;
    let ceil = rate_of(parameters.get(12..)?, find(options, HTB[2]))?;
    let [buffer, cbuffer, quantum, _, prio] = words(parameters.get(24..)?)?;
    let (burst, cburst) = (units::bytes(rate, buffer), units::bytes(ceil, cbuffer));
    Some(Htb { rate, ceil, burst, cburst, quantum, prio })
}
