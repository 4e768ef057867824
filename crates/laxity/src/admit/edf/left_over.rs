//! The service that EDF leaves to classes with one deadline.
//!
//! Classes with the same deadline d are served in the order of arrival: of two packets, the one
//! that came first is due first. Let p be such a packet. It comes at a and has not left at t. Let b
//! be the last moment up to a at which no packet that is due by a + d waited or was under
//! transmission. From b on the link sends one packet that is due later, or best effort without a
//! deadline, and then only packets that came at b or later and are due by a + d: those of class j
//! came by `a + d - d_j`, and by t, as they go first. Of the classes with deadline d, these are the
//! x bytes that end with p, less a part of p. So with tau = t - b, since a <= t,
//!
//! ```text
//! C tau < max { s_j : d_j > d } + x + sum over d_j /= d of A_j(min(tau, tau + d - d_j))
//! ```
//!
//! In other words, these classes together have the service curve
//!
//! ```text
//! S(tau) = C tau - max { s_j : d_j > d } - sum over d_j < d of A_j(tau)
//!                                        - sum over d_j > d of A_j(tau - (d_j - d))
//! ```
//!
//! This is the service curve of a Δ-scheduler, with theta = 0 and Δ_j = d - d_j, for packets
//! (Liebeherr, Ghiassi-Farrokhfal, Burchard 2011, "On the impact of link scheduling on end-to-end
//! delays in large networks"). It holds whether or not the classes are admitted, and
//! together with first-in, first-out service it is all that bounds along paths need.
//!
//! All classes with deadlines together have the link, less one packet of best effort. That service
//! is strict.
//!
//! Best effort with deadlines of its own may take all that the deadlines of others leave. There a
//! class has its deadline and no more.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use num_traits::Zero;

use super::System;
use crate::admit::{MOST_PIECES, Service, arrival_curve};
use crate::curve::{Curve, Exact, exact_nanos};
use crate::units::{Bytes, Nanos};

/// Packets are chosen at whole nanoseconds.
const ROUNDING: Nanos = Nanos(1);

/// Classes times deadlines: more would take too long.
const MOST: usize = 10_000;

impl System {
    /// The service of each class, in their order, if all others keep to their arrival curves and
    /// best effort has no deadlines. `None` if these leave nothing in the long run, for a class
    /// that sends nothing, and if classes that send times their deadlines are more than 10 000.
    pub fn own_services(&self) -> Vec<Option<Service>> {
        self.services(|left, arrivals, alike| {
            // Each is a curve of its own.
            let left = left.coarsened_below(MOST_PIECES);
            alike.iter().map(|class| service(&left.add(&arrivals[*class]))).collect()
        })
    }

    /// For each class, in their order, the joint service of all classes with its deadline, whose
    /// packets are served in the order of arrival, where best effort has no deadlines. `None` if
    /// the others leave nothing in the long run, for a class that sends nothing, and if classes
    /// that send times their deadlines are more than 10 000.
    pub fn queue_services(&self) -> Vec<Option<Service>> {
        self.services(|left, arrivals, alike| {
            let own = Curve::sum(alike.iter().map(|class| &arrivals[*class]));
            vec![service(&left.add(&own).coarsened_below(MOST_PIECES)); alike.len()]
        })
    }

    /// The services of all classes, by those of classes with one deadline: `of` gets what all
    /// classes leave together, all arrival curves, and which classes these are.
    fn services(
        &self,
        of: impl Fn(&Curve, &[Curve], &[usize]) -> Vec<Option<Service>>,
    ) -> Vec<Option<Service>> {
        let mut all = vec![None; self.real_time.len()];
        // Those that send nothing here may be many.
        let is_present = |class: &usize| !self.real_time[*class].is_absent();
        let present: Vec<usize> = (0..all.len()).filter(is_present).collect();
        let mut of_deadlines: BTreeMap<Nanos, Vec<usize>> = BTreeMap::new();
        for &class in &present {
            of_deadlines.entry(self.real_time[class].deadline).or_default().push(class);
        }
        if of_deadlines.len() * present.len() > MOST {
            return all;
        }
        let arrivals: Vec<_> =
            self.real_time.iter().map(|class| arrival_curve(&class.arrival)).collect();
        for (deadline, alike) in of_deadlines {
            let first = present.iter().map(|&class| {
                // How much earlier a packet has to come than one of theirs to go first.
                let earlier = self.real_time[class].deadline.saturating_sub(deadline);
                arrivals[class].shift(&exact_nanos(earlier))
            });
            let blocking = self.blocking().value(&exact_nanos(deadline));
            let blocking = Curve::affine(blocking, Exact::zero());
            // Less than nothing, where they count among those that go first.
            let left = self.service().sub(&Curve::sum(first)).sub(&blocking);
            let services = of(&left, &arrivals, &alike);
            for (class, service) in alike.into_iter().zip(services) {
                all[class] = service;
            }
        }
        all
    }

    /// The joint service of all classes, for any order among them, where best effort has no
    /// deadlines. The curve is strict.
    pub fn aggregate_service(&self) -> Service {
        let packet = Curve::constant(self.best_effort_packet.unwrap_or(Bytes(0)));
        Service { curve: self.service().sub(&packet).clamp_at_zero(), late: ROUNDING }
    }
}

/// What is left, as a service of packets; `None` if that is nothing in the long run.
fn service(left: &Curve) -> Option<Service> {
    let curve = left.nondecreasing_lower_closure()?.clamp_at_zero();
    Some(Service { curve, late: ROUNDING })
}
