//! Curves that do something that their author may not expect. They are kept as they are written.

use alloc::vec::Vec;

use super::System;
use crate::admit::Interval;
use crate::admit::tree::Tree;
use crate::curve::{ceil_nanos, exact_bytes};
use crate::packet::ClassId;
use crate::police::TokenBucket;
use crate::sched::hfsc::Curves;
use crate::service::ServiceCurve;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// A curve with a surprising effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The class; `None` for the link.
    pub class: Option<ClassId>,
    /// The effect.
    pub kind: TrapKind,
}

/// The kinds of traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new trap has to be named and explained wherever one is matched"
)]
pub enum TrapKind {
    /// A leaf's real-time curve exceeds its own link-sharing curve, or the real-time curves of the
    /// leaves below a class sum to more than its link-sharing curve. Real-time service counts as
    /// shared service, so the class runs ahead of its siblings, which have to wait meanwhile; then
    /// they catch up, and the class gets by link-sharing nothing.
    RealTimeAboveShare {
        /// By how much.
        excess: Excess,
        /// A leaf below the class that exceeds the curve all alone.
        alone: Option<ClassId>,
    },
    /// The link-sharing curves of a class's children, or those at the top, sum to more than the
    /// class, or the link, has: each gets less than its own curve says, in proportion.
    SharesAboveParent {
        /// By how much.
        excess: Excess,
    },
    /// A leaf's real-time curve, or the sum of those below a class, exceeds its upper limit.
    /// Real-time service ignores limits.
    LimitBelowRealTime {
        /// By how much.
        excess: Excess,
    },
    /// In the long run the upper limit is below the class's own link-sharing curve, which it can
    /// never reach.
    LimitBelowShare {
        /// The limit.
        limit: Rate,
        /// The share.
        share: Rate,
    },
    /// The upper limit is nowhere below that of a class above, which holds too.
    LimitAboveAncestor {
        /// The class above.
        ancestor: ClassId,
    },
    /// A leaf with only a real-time curve gets none of the excess: it never sends faster than its
    /// curve, even on an idle link.
    NoShare,
    /// A leaf with a link-sharing curve alone, where the real-time curves of others take the whole
    /// link in the long run: as long as those are busy it gets nothing.
    Starved,
    /// The burst that a concave real-time curve serves within d is less than a packet, so the
    /// packet is due later than that.
    BurstBelowPacket {
        /// Bytes that the curve serves within d, rounded down.
        burst: Bytes,
        /// The length d of its first piece.
        delay: Nanos,
        /// The class's largest packet.
        packet: Bytes,
        /// When the curve has served one of those, rounded up; `None` if never.
        due: Option<Nanos>,
    },
    /// More may arrive in the long run than the real-time curve serves, so no delay is bounded.
    ArrivalAboveRealTime {
        /// The sustained rate of the arrivals.
        arrival: Rate,
        /// That of the curve.
        real_time: Rate,
    },
    /// The upper limit begins with nothing: whenever the class becomes active, link-sharing passes
    /// it over for that long.
    LimitStartsLate {
        /// For how long.
        delay: Nanos,
    },
    /// Even with packets waiting in every class, the upper limits, and the real-time curves of
    /// leaves that have nothing else, let less than the link's rate through in the long run.
    LimitsIdleLink {
        /// The rate that they let through.
        most: Rate,
    },
}

/// By how much one curve exceeds another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it lasts or it passes")]
pub enum Excess {
    /// In the long run.
    Lasting {
        /// The rate of the one that is too high.
        asked: Rate,
        /// The rate of the other.
        given: Rate,
    },
    /// For a time only. This is where it is the most.
    Passing(Interval),
}

impl Excess {
    /// By how much the sum of some curves exceeds another, if anywhere.
    fn find(asked: &[ServiceCurve], given: &ServiceCurve) -> Option<Excess> {
        let long_run = rate(asked.iter().map(ServiceCurve::m2));
        if long_run > given.m2() {
            return Some(Excess::Lasting { asked: long_run, given: given.m2() });
        }
        let (time, left) = least_left(asked, given)?;
        (left < 0).then(|| {
            let capacity = work(given, time);
            let demand = capacity + left.unsigned_abs();
            let demand = bytes(demand.div_ceil(u128::from(NANOBITS_PER_BYTE)));
            Excess::Passing(Interval { length: time, capacity: whole_bytes(capacity), demand })
        })
    }

    fn is_lasting(&self) -> bool {
        matches!(self, Excess::Lasting { .. })
    }
}

/// The least that a curve is above the sum of others at any bend, and where; in nanobits.
fn least_left(asked: &[ServiceCurve], given: &ServiceCurve) -> Option<(Nanos, i128)> {
    let bend = |curve: &ServiceCurve, sign: i128| {
        (curve.d(), sign * (i128::from(curve.m2().0) - i128::from(curve.m1())))
    };
    let mut bends: Vec<_> = asked.iter().map(|curve| bend(curve, -1)).collect();
    bends.push(bend(given, 1));
    bends.sort_unstable_by_key(|(time, _)| *time);
    let first = asked.iter().map(|curve| i128::from(curve.m1())).sum::<i128>();
    let mut slope = i128::from(given.m1()) - first;
    let (mut now, mut left) = (Nanos::ZERO, 0);
    let at_bends = bends.into_iter().map(|(time, change)| {
        left += slope * i128::from((time - now).0);
        slope += change;
        now = time;
        (time, left)
    });
    at_bends.min_by_key(|(_, left)| *left)
}

/// Work served by a curve within a time, in nanobits.
fn work(curve: &ServiceCurve, time: Nanos) -> u128 {
    let first = time.min(curve.d()).0;
    u128::from(curve.m1()) * u128::from(first)
        + u128::from(curve.m2().0) * u128::from(time.0 - first)
}

fn whole_bytes(nanobits: u128) -> Bytes {
    bytes(nanobits / u128::from(NANOBITS_PER_BYTE))
}

fn bytes(size: u128) -> Bytes {
    Bytes(size.try_into().unwrap_or(u64::MAX))
}

fn rate(rates: impl Iterator<Item = Rate>) -> Rate {
    Rate(rates.map(|rate| rate.0).fold(0, u64::saturating_add))
}

impl System {
    /// The surprising curves, in order of the classes; those of the link come last.
    pub fn traps(&self) -> Vec<Trap> {
        let all_promised = rate(self.real_time().map(ServiceCurve::m2)) >= self.rate;
        let search = Search { system: self, tree: self.tree(), all_promised };
        let mut traps = Vec::new();
        let mut classes = search.tree.top_down.clone();
        classes.sort_unstable();
        for class in classes {
            search.class(class, &mut traps);
        }
        search.link(&mut traps);
        traps
    }
}

/// A system that is searched for traps.
struct Search<'a> {
    system: &'a System,
    tree: Tree,
    /// Whether the real-time curves leave nothing in the long run.
    all_promised: bool,
}

impl Search<'_> {
    fn curves(&self, class: usize) -> &Curves {
        &self.system.classes[class].spec.curves
    }

    /// The leaves below a class, or itself, that have real-time curves, and those.
    fn real_time(&self, class: usize) -> (Vec<usize>, Vec<ServiceCurve>) {
        let leaves = self.tree.leaves_below(class).into_iter();
        leaves.filter_map(|leaf| Some((leaf, self.curves(leaf).real_time?))).unzip()
    }

    fn class(&self, class: usize, traps: &mut Vec<Trap>) {
        let mut add = |kind: Option<TrapKind>| {
            let trap = |kind| Trap { class: Some(ClassId(class as u32)), kind };
            traps.extend(kind.map(trap));
        };
        let Curves { real_time, link_share, upper_limit } = *self.curves(class);
        if let Some(share) = &link_share {
            let above = self.real_time_above(class, share);
            add(above);
            // Sums for a time are bursts of the same curves, which have been reported.
            let sum = self.shares_above(self.tree.children(class), share);
            add(sum.filter(|excess| above.is_none() || excess.is_lasting()).map(shares_above));
        }
        if let Some(limit) = upper_limit {
            let excess = Excess::find(&self.real_time(class).1, &limit);
            add(excess.map(|excess| TrapKind::LimitBelowRealTime { excess }));
            let share = link_share.map(|share| share.m2()).filter(|share| *share > limit.m2());
            add(share.map(|share| TrapKind::LimitBelowShare { limit: limit.m2(), share }));
            let ancestor = self.limit_above(class, &limit);
            add(ancestor.map(|ancestor| TrapKind::LimitAboveAncestor { ancestor }));
            let late = limit.flat() > Nanos::ZERO;
            add(late.then(|| TrapKind::LimitStartsLate { delay: limit.flat() }));
        }
        if !self.tree.is_leaf(class) {
            return;
        }
        match (real_time, link_share) {
            (Some(_), None) => add(Some(TrapKind::NoShare)),
            (None, _) if self.all_promised => add(Some(TrapKind::Starved)),
            _ => {}
        }
        if let Some(curve) = real_time {
            add(self.burst_below_packet(class, &curve));
            add(self.arrival_above(class, &curve));
        }
    }

    fn link(&self, traps: &mut Vec<Trap>) {
        let link = self.system.rate;
        let sum = self.shares_above(self.tree.top(), &ServiceCurve::linear(link));
        let sum = sum.filter(Excess::is_lasting).map(shares_above);
        let idle = self.most().filter(|most| *most < link);
        let idle = idle.map(|most| TrapKind::LimitsIdleLink { most });
        traps.extend(sum.into_iter().chain(idle).map(|kind| Trap { class: None, kind }));
    }

    fn real_time_above(&self, class: usize, share: &ServiceCurve) -> Option<TrapKind> {
        let (leaves, curves) = self.real_time(class);
        let excess = Excess::find(&curves, share)?;
        let exceeds = |curve: &ServiceCurve| {
            let alone = Excess::find(&[*curve], share);
            alone.is_some_and(|alone| alone.is_lasting() == excess.is_lasting())
        };
        let alone = curves.iter().position(exceeds).map(|at| leaves[at]);
        let alone = alone.filter(|leaf| *leaf != class).map(|leaf| ClassId(leaf as u32));
        Some(TrapKind::RealTimeAboveShare { excess, alone })
    }

    fn shares_above(&self, children: &[usize], parent: &ServiceCurve) -> Option<Excess> {
        let shares = children.iter().filter_map(|child| self.curves(*child).link_share);
        Excess::find(&shares.collect::<Vec<_>>(), parent)
    }

    /// The nearest class above with an upper limit, if this limit exceeds it and is nowhere below.
    fn limit_above(&self, class: usize, limit: &ServiceCurve) -> Option<ClassId> {
        let above = |class: &ClassId| self.system.classes[class.index()].spec.parent;
        let ancestors = core::iter::successors(above(&ClassId(class as u32)), above);
        let mut limits =
            ancestors.filter_map(|class| Some((class, self.curves(class.index()).upper_limit?)));
        let (ancestor, upper) = limits.next()?;
        let nowhere_below = Excess::find(&[upper], limit).is_none();
        (*limit != upper && nowhere_below).then_some(ancestor)
    }

    fn burst_below_packet(&self, class: usize, curve: &ServiceCurve) -> Option<TrapKind> {
        let packet = self.system.classes[class].traffic.packet;
        let burst = whole_bytes(work(curve, curve.d()));
        (curve.is_concave() && burst < packet).then(|| {
            let due = curve.curve().lower_pseudo_inverse(&exact_bytes(packet));
            let due = due.and_then(|due| ceil_nanos(&due));
            TrapKind::BurstBelowPacket { burst, delay: curve.d(), packet, due }
        })
    }

    fn arrival_above(&self, class: usize, curve: &ServiceCurve) -> Option<TrapKind> {
        let buckets = &self.system.classes[class].traffic.arrival;
        let arrival = TokenBucket::slowest(buckets)?.rate;
        let real_time = curve.m2();
        (arrival > real_time).then_some(TrapKind::ArrivalAboveRealTime { arrival, real_time })
    }

    /// The most that the classes at the top can get together in the long run; `None` if there is no
    /// limit to it.
    fn most(&self) -> Option<Rate> {
        // For each class, the most it may get, and the most it gets without its own limit.
        let mut most = alloc::vec![(None, Rate(0)); self.system.classes.len()];
        let sum = |most: &[(Option<Rate>, Rate)], classes: &[usize]| {
            let each: Option<Vec<_>> = classes.iter().map(|class| most[*class].0).collect();
            (each.map(|each| rate(each.into_iter())), rate(classes.iter().map(|at| most[*at].1)))
        };
        for &class in self.tree.top_down.iter().rev() {
            let Curves { real_time, link_share, upper_limit } = *self.curves(class);
            let (below, promised) = match self.tree.children(class) {
                [] => {
                    let promised = real_time.map_or(Rate(0), |curve| curve.m2());
                    (link_share.is_none().then_some(promised), promised)
                }
                children => sum(&most, children),
            };
            let limit = upper_limit.map(|limit| limit.m2());
            let shared = below.into_iter().chain(limit).min();
            most[class] = (shared.map(|shared| shared.max(promised)), promised);
        }
        sum(&most, self.tree.top()).0
    }
}

fn shares_above(excess: Excess) -> TrapKind {
    TrapKind::SharesAboveParent { excess }
}
