//! Theorems 1 and 2: service curves of leaves hold to within a packet, whatever the others do.

use std::vec::Vec;

use proptest::prelude::*;

use super::cases::{Case, interior_curves, leaf_curves, traffic};
use super::{Event, play};
use crate::curve::{Curve, Exact, exact, exact_nanos};
use crate::sched::hfsc::ClassSpec;
use crate::service::ServiceCurve;
use crate::units::{Nanos, Rate};

/// Hierarchies whose real-time curves together are as steep as a link allows.
fn admitted() -> impl Strategy<Value = Case> {
    traffic(12, 120, leaf_curves, interior_curves).prop_map(|mut case| {
        fit(&mut case.classes, case.rate);
        case
    })
}

/// Scales the slopes of all real-time curves so that their sum touches the link's line `C t`.
pub(super) fn fit(classes: &mut [ClassSpec], rate: Rate) {
    let (sum, link) = (sum(classes), Curve::line(rate));
    let corners = sum.pieces().iter().skip(1);
    let loads = corners.map(|piece| &piece.value / link.value(&piece.start));
    let slopes = [sum.slope_after(&exact(0)), sum.final_slope().clone()];
    let load = loads.chain(slopes.map(|slope| slope / link.final_slope())).max().unwrap();
    let scaled = |slope: u64| (exact(slope) / &load).floor().to_integer().try_into().unwrap();
    for curve in classes.iter_mut().filter_map(|class| class.curves.real_time.as_mut()) {
        let (m1, m2) = (scaled(curve.m1()), Rate(scaled(curve.m2().0)));
        *curve = ServiceCurve::two_piece(m1, curve.d(), m2).unwrap();
    }
    let room = link.sub(&self::sum(classes)).minimum_from(&exact(0)).unwrap();
    assert!(room.value >= exact(0));
}

fn sum(classes: &[ClassSpec]) -> Curve {
    Curve::sum(real_time(classes).map(|curve| curve.curve()))
}

fn real_time(classes: &[ClassSpec]) -> impl Iterator<Item = ServiceCurve> {
    classes.iter().filter_map(|class| class.curves.real_time)
}

/// What a leaf with a real-time curve was sent and promised.
struct Leaf {
    curve: Curve,
    /// When each backlogged period began, and how much had been sent before.
    periods: Vec<(Nanos, u64)>,
    arrived: u64,
    sent: u64,
}

impl Leaf {
    fn new(curve: ServiceCurve) -> Self {
        Leaf { curve: curve.curve(), periods: Vec::new(), arrived: 0, sent: 0 }
    }

    fn arrive(&mut self, now: Nanos, length: u32) {
        if self.arrived == self.sent {
            self.periods.push((now, self.sent));
        }
        self.arrived += u64::from(length);
    }

    /// By when all that was sent so far must have been, if the curve is guaranteed (Eqs. 1, 2):
    /// for some backlogged period's beginning a, all since then has been sent by the time t with
    /// `S(t - a)` equal to it. `None` for never.
    fn deadline(&self) -> Option<Exact> {
        let due = |&(begin, before): &(Nanos, u64)| {
            Some(exact_nanos(begin) + self.curve.lower_pseudo_inverse(&exact(self.sent - before))?)
        };
        self.periods.iter().map(due).collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}

/// How much later than due a packet is at most, in ns, and what the largest packet takes.
fn lateness(case: &Case) -> (Exact, Exact) {
    let new = |class: &ClassSpec| class.curves.real_time.map(Leaf::new);
    let mut leaves: Vec<_> = case.classes.iter().map(new).collect();
    let (mut latest, mut longest) = (exact(0), 0);
    for event in play(case) {
        match event {
            Event::Arrival(packet) => {
                longest = longest.max(packet.length);
                if let Some(leaf) = &mut leaves[packet.class.index()] {
                    leaf.arrive(packet.arrival, packet.length);
                }
            }
            Event::Sent { dispatch, departure, .. } => {
                let Some(leaf) = &mut leaves[dispatch.packet.class.index()] else { continue };
                leaf.sent += u64::from(dispatch.packet.length);
                let due = leaf.deadline();
                let assigned = dispatch.deadline.expect("it has a real-time curve");
                // What link-sharing sent makes deadlines earlier, not later.
                assert!(due.as_ref().is_none_or(|due| exact_nanos(assigned) <= due.ceil()));
                latest = latest.max(exact_nanos(departure) - exact_nanos(assigned));
            }
        }
    }
    let longest = exact(longest.into()) / Curve::line(case.rate).final_slope();
    (latest, longest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// But for the link, which begins to send at whole nanoseconds only.
    #[test]
    fn no_deadline_is_missed_by_more_than_a_packet(case in admitted()) {
        let (latest, longest) = lateness(&case);
        prop_assert!(latest <= longest.ceil());
    }
}
