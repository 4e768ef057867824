//! The wire behind a live link, again.

use std::collections::BTreeMap;

use laxity::units::Nanos;
use laxity_plan::model::Plan;
use laxity_plan::wire::{Arrivals, MOST_UNDER_WAY, Wire};

use crate::record::WireFate;

/// What is on the wire, and what it does to what follows.
pub(super) struct WireReplay {
    disturbances: Option<(Nanos, Wire)>,
    /// Number of the packet and whether it is a copy, by the time when it is due and the order in
    /// which it was put there.
    under_way: BTreeMap<(Nanos, u64), (u64, bool)>,
    launched: u64,
}

impl WireReplay {
    /// With nothing on it.
    pub(super) fn new(plan: &Plan, seed: u64) -> WireReplay {
        let disturbances = disturbances(plan, seed);
        WireReplay { disturbances, under_way: BTreeMap::new(), launched: 0 }
    }

    /// Goes on as the wire of another plan.
    pub(super) fn change_to(&mut self, plan: &Plan, seed: u64) {
        let mut next = disturbances(plan, seed);
        if let (Some((_, next)), Some((_, before))) = (&mut next, &self.disturbances) {
            next.follow(before);
        }
        self.disturbances = next;
    }

    /// Puts a packet on the wire whose last bit leaves the link at `departure`. Returns its fate if
    /// it is lost.
    pub(super) fn launch(&mut self, number: u64, departure: Nanos) -> Option<WireFate> {
        let (delay, wire) = self.disturbances.as_mut()?;
        let Some(Arrivals { first, copy }) = wire.next(departure.saturating_add(*delay)) else {
            return Some(WireFate::Lost);
        };
        let arrivals = [Some((first, false)), copy.map(|copy| (copy, true))];
        let arrivals = arrivals.into_iter().flatten();
        if self.under_way.len() + arrivals.clone().count() > MOST_UNDER_WAY {
            return Some(WireFate::NoRoom);
        }
        for (due, is_copy) in arrivals {
            self.under_way.insert((due, self.launched), (number, is_copy));
            self.launched += 1;
        }
        None
    }

    /// Takes the next packet out, if it is due.
    pub(super) fn land(&mut self, now: Nanos) -> Option<(u64, WireFate)> {
        let first = self.under_way.first_entry().filter(|first| first.key().0 <= now)?;
        let ((due, _), (number, is_copy)) = first.remove_entry();
        Some((number, WireFate::Delivered { due, is_copy }))
    }
}

fn disturbances(plan: &Plan, seed: u64) -> Option<(Nanos, Wire)> {
    plan.link.wire.as_ref().map(|spec| (spec.delay, Wire::drawing(spec, seed, 0)))
}
