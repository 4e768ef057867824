//! The service that EDF leaves to classes with one deadline.
//!
//! Classes with the same deadline d are served in the order of arrival: of two packets, the one
//! that came first is due first. Let p be such a packet. It comes at a and has not left at t. Let b
//! be the last moment up to a at which no packet that is due by a + d waited or was under
//! transmission. From b on the link sends one packet that is due later, or best effort without a
//! deadline, and then only packets that came at b or later and are due by a + d: those of class j
//! came by `a + d - d_j`, and by t, as they go first. Of the classes with deadline d, these are the
//! x bytes that end with p, not all of which are sent. So with tau = t - b, since a <= t,
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

use alloc::vec::Vec;

use num_traits::Zero;

use super::System;
use crate::admit::{Service, arrival_curve};
use crate::curve::{Curve, Exact, exact_nanos};
use crate::units::{Bytes, Nanos};

/// Packets are chosen at whole nanoseconds.
const ROUNDING: Nanos = Nanos(1);

impl System {
    /// The joint service of all classes with this deadline, which are served in the order of
    /// arrival, where best effort has no deadlines. `None` if the others leave nothing in the long
    /// run.
    pub fn queue_service(&self, deadline: Nanos) -> Option<Service> {
        self.left_by(deadline, |class| self.real_time[class].deadline != deadline)
    }

    /// The service of each class, where best effort has no deadlines and the others keep to their
    /// arrival curves. `None` if these leave nothing in the long run.
    pub fn services(&self) -> Vec<Option<Service>> {
        let service =
            |class: usize| self.left_by(self.real_time[class].deadline, |other| other != class);
        (0..self.real_time.len()).map(service).collect()
    }

    /// The joint service of all classes, for any order among them, where best effort has no
    /// deadlines. The curve is strict.
    pub fn aggregate_service(&self) -> Service {
        let packet = Curve::constant(self.best_effort_packet.unwrap_or(Bytes(0)));
        Service { curve: self.service().sub(&packet).clamp_at_zero(), late: ROUNDING }
    }

    /// What some classes leave to the rest, which all have this deadline.
    fn left_by(&self, deadline: Nanos, takes: impl Fn(usize) -> bool) -> Option<Service> {
        let others = (0..self.real_time.len()).filter(|class| takes(*class));
        let first = others.map(|class| {
            let class = &self.real_time[class];
            // How much earlier a packet has to come than one of theirs to go first.
            let earlier = class.deadline.saturating_sub(deadline);
            arrival_curve(&class.arrival).shift(&exact_nanos(earlier))
        });
        let first = Curve::sum(first);
        let blocking = self.blocking().value(&exact_nanos(deadline));
        let blocking = Curve::affine(blocking, Exact::zero());
        let left = self.service().sub(&first).sub(&blocking);
        let curve = left.nondecreasing_lower_closure()?.clamp_at_zero();
        Some(Service { curve, late: ROUNDING })
    }
}
