//! Parameters of disciplines by their names.

use laxity::units::{Nanos, Rate};

use super::qdisc::QdiscKind;
use super::units::micros;

/// The value of a parameter.
pub(crate) enum Value {
    /// A number without a unit.
    Number(u32),
    /// A length.
    Bytes(u32),
    /// A rate.
    Rate(Rate),
    /// A time.
    Time(Nanos),
    /// Whether it is said: the name, or with `no` before it.
    Flag(bool),
    /// Numbers one after the other.
    Several(Vec<u8>),
}

/// A parameter: the name that `tc` has for it in words and in JSON, and its value.
pub(crate) type Parameter = (&'static str, Value);

impl Value {
    /// The number that the kernel is given, for a value that is one.
    pub(crate) fn number(&self) -> Option<u32> {
        match self {
            Value::Number(number) | Value::Bytes(number) => Some(*number),
            Value::Time(time) => Some(micros(*time)),
            Value::Flag(flag) => Some((*flag).into()),
            Value::Rate(_) | Value::Several(_) => None,
        }
    }
}

impl QdiscKind {
    /// The parameters that words and JSON have in common.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        match self {
            QdiscKind::Prio(prio) => vec![
                ("bands", Value::Number(prio.bands.into())),
                ("priomap", Value::Several(prio.priomap.to_vec())),
            ],
            QdiscKind::Tbf(tbf) => vec![
                ("rate", Value::Rate(tbf.rate)),
                ("burst", Value::Bytes(tbf.burst)),
                ("limit", Value::Bytes(tbf.limit)),
            ],
            QdiscKind::FqCodel(fq) => vec![
                ("limit", Value::Number(fq.limit)),
                ("flows", Value::Number(fq.flows)),
                ("quantum", Value::Number(fq.quantum)),
                ("target", Value::Time(fq.target)),
                ("interval", Value::Time(fq.interval)),
                ("ecn", Value::Flag(fq.ecn)),
            ],
            QdiscKind::CoDel(codel) => vec![
                ("limit", Value::Number(codel.limit)),
                ("target", Value::Time(codel.target)),
                ("interval", Value::Time(codel.interval)),
                ("ecn", Value::Flag(codel.ecn)),
            ],
            QdiscKind::Pie(pie) => vec![
                ("limit", Value::Number(pie.limit)),
                ("target", Value::Time(pie.target)),
                ("tupdate", Value::Time(pie.tupdate)),
                ("alpha", Value::Number(pie.alpha)),
                ("beta", Value::Number(pie.beta)),
                ("ecn", Value::Flag(pie.ecn)),
            ],
            QdiscKind::Bfifo { limit } => vec![("limit", Value::Bytes(*limit))],
            QdiscKind::Pfifo { limit } | QdiscKind::Other { limit, .. } => {
                limit.iter().map(|limit| ("limit", Value::Number(*limit))).collect()
            }
            QdiscKind::Hfsc { .. }
            | QdiscKind::Htb { .. }
            | QdiscKind::Drr
            | QdiscKind::Qfq
            | QdiscKind::Red(_)
            | QdiscKind::Choke(_)
            | QdiscKind::Cake(_)
            | QdiscKind::Mq
            | QdiscKind::Netem(_) => Vec::new(),
        }
    }
}
