//! Classes of htb as service curves (iproute2, tc/q_htb.c; Linux, net/sched/sch_htb.c).

mod flooded;
mod lending;

use laxity::units::Rate;

use crate::assembly::Node;
use crate::setup::{ClassKind, Htb};

pub(super) use lending::{lend, note_rest};

/// The least and the greatest quantum that Linux makes of a rate (`htb_change_class`).
const QUANTA: (u64, u64) = (1_000, 200_000);

/// The `cburst` that tc takes by default, on a kernel with timers of high resolution.
const CBURST: u32 = 1_600;

/// The parameters of a class, if it is of htb.
pub(super) fn htb(node: &Node) -> Option<&Htb> {
    match &node.class.kind {
        ClassKind::Htb(htb) => Some(htb),
        ClassKind::Hfsc(_) | ClassKind::Drr { .. } | ClassKind::Qfq { .. } | ClassKind::Own => None,
    }
}

/// The rate that a class sends without borrowing.
pub(super) fn own(htb: &Htb) -> Rate {
    htb.rate.min(htb.ceil)
}

/// Bytes that a class sends in a turn of what it borrows.
pub(super) fn quantum(htb: &Htb, r2q: u32) -> u64 {
    if htb.quantum > 0 {
        return htb.quantum.into();
    }
    (htb.rate.0 / 8 / u64::from(r2q.max(1))).clamp(QUANTA.0, QUANTA.1)
}

/// Bytes that a class sends at once at its `ceil`.
pub(super) fn cburst(htb: &Htb) -> u32 {
    if htb.cburst > 0 { htb.cburst } else { CBURST }
}
