//! Link-sharing: bounded unfairness (Theorem 3), upper limits, and no idle link.

use std::collections::BTreeMap;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::cases::{
    Case, Scale, Step, What, guaranteed_curves, hierarchies, interior_curves, leaf_curves,
    ordinary_scales, share_curves, traffic,
};
use super::guarantees::fit;
use super::{Event, play, play_on, virtual_time};
use crate::curve::{Exact, exact, exact_nanos};
use crate::packet::{ClassId, Packet};
use crate::sched::Hfsc;
use crate::sched::hfsc::{ClassSpec, Curves};
use crate::scheduler::{Criterion, Dispatch, Scheduler};
use crate::service::ServiceCurve;
use crate::testing::{Arrival, drive};
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// Makes the guarantees of leaves, as much as a link has, their shares too.
fn share_guarantees(mut case: Case) -> Case {
    fit(&mut case.classes, case.rate);
    for class in &mut case.classes {
        class.curves.link_share = class.curves.real_time.or(class.curves.link_share);
    }
    case
}

/// Leaves that share what they are guaranteed and that all become backlogged at one instant.
fn backlogged() -> impl Strategy<Value = Case> {
    let step = |length| {
        let what = What::ArriveEverywhere { length };
        Step { at: Nanos::ZERO, after_choice: false, what }
    };
    let case = move |scale: Scale, classes, lengths: Vec<u32>| {
        let steps = lengths.into_iter().map(step).collect();
        share_guarantees(Case { rate: scale.rate(), classes, steps })
    };
    ordinary_scales().prop_flat_map(move |scale| {
        let classes = hierarchies(6, guaranteed_curves(scale), share_curves(scale));
        let lengths = vec(scale.lengths(), 1..=40);
        (classes, lengths).prop_map(move |(classes, lengths)| case(scale, classes, lengths))
    })
}

/// Leaves at the top that share what they are guaranteed.
fn flat() -> impl Strategy<Value = Case> {
    traffic(8, 200, guaranteed_curves, guaranteed_curves).prop_map(|mut case| {
        case.classes.iter_mut().for_each(|class| class.parent = None);
        share_guarantees(case)
    })
}

fn longest(case: &Case) -> u32 {
    let length = |step: &Step| match step.what {
        What::Arrive { length, .. } | What::ArriveEverywhere { length } => length,
        _ => 0,
    };
    case.steps.iter().map(length).max().unwrap_or(0)
}

/// Runs a case and returns the greatest lead in virtual time for every ordered pair of siblings. A
/// pair counts while both are active.
fn spreads(case: &Case) -> BTreeMap<(ClassId, ClassId), u128> {
    let mut spreads = BTreeMap::new();
    let all = || (0..case.classes.len() as u32).map(ClassId);
    let parent = |id: ClassId| case.classes[id.index()].parent;
    play_on(&mut Hfsc::new(&case.classes).unwrap(), case, |hfsc, _| {
        let active = || all().filter_map(|id| Some((id, virtual_time(hfsc, id)?)));
        for (ahead, later) in active() {
            for (behind, earlier) in active().filter(|(other, _)| parent(*other) == parent(ahead)) {
                let spread: &mut u128 = spreads.entry((ahead, behind)).or_default();
                *spread = later.saturating_sub(earlier).max(*spread);
            }
        }
    });
    spreads
}

/// Greatest advance in virtual time for one packet.
///
/// It is a flat piece, and the packet at the smallest slope above zero.
fn advance(curve: ServiceCurve, length: u32) -> Exact {
    exact_nanos(curve.flat()) + at_rate(length, curve.m2())
}

fn at_rate(length: u32, rate: Rate) -> Exact {
    exact(u64::from(length)) * exact(NANOBITS_PER_BYTE) / exact(rate.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// With link-sharing alone, at any level, no class leads a sibling by more than one packet.
    ///
    /// The class that is served had the smallest virtual time. A class that comes back takes a
    /// virtual time between those of the others or keeps its own.
    #[test]
    fn siblings_are_at_most_a_packet_apart(case in traffic(12, 200, share_curves, share_curves)) {
        let longest = longest(&case);
        let advance = |spec: &ClassSpec| advance(spec.curves.link_share.unwrap(), longest);
        let siblings = |class: ClassId| {
            let parent = case.classes[class.index()].parent;
            case.classes.iter().filter(move |other| other.parent == parent)
        };
        for ((ahead, behind), spread) in spreads(&case) {
            let most = siblings(ahead).map(advance).max().unwrap().ceil();
            prop_assert!(Exact::from_integer(spread.into()) <= most, "{} {}", ahead.0, behind.0);
        }
    }

    /// Leaves that are backlogged from the same instant on stay together in virtual time. Their
    /// guarantees sum to the link's capacity, and their shares equal their guarantees.
    ///
    /// Link-sharing serves leaf i and puts it ahead by at most a packet. Afterwards only the
    /// real-time criterion serves it: by time t `E_i(t)` and a packet. Meanwhile the deadlines of
    /// theorem 2 give leaf j `D_j` up to a packet's time ago, less a packet. In virtual time both
    /// advance as real time does, except for packets and two differences. One is the flat piece by
    /// which E is ahead of D where S is convex. The other is the excess slope of the first piece of
    /// a concave S, since i may be further along its V than along its D.
    #[test]
    fn backlogged_leaves_stay_together_in_virtual_time(case in backlogged()) {
        let longest = longest(&case);
        for ((ahead, behind), spread) in spreads(&case) {
            if case.is_leaf(ahead) && case.is_leaf(behind) {
                let slack = |class: ClassId| slack(&case.classes[class.index()], longest);
                let most = slack(ahead) + slack(behind) + rounded(at_rate(longest, case.rate));
                prop_assert!(Exact::from_integer(spread.into()) <= most, "{} {}", ahead.0, behind.0);
            }
        }
    }

    /// Leaves that come and go begin at the mean of the least and the greatest virtual time. So
    /// they meet at most half the gap. The gap never exceeds twice the distance of backlogged
    /// leaves, however long it goes on.
    #[test]
    fn leaves_that_come_and_go_stay_together_in_virtual_time(case in flat()) {
        let longest = longest(&case);
        let slack = case.classes.iter().map(|class| slack(class, longest)).max().unwrap();
        let apart = &slack + &slack + rounded(at_rate(longest, case.rate));
        let spread = spreads(&case).into_values().max().unwrap_or(0);
        prop_assert!(Exact::from_integer(spread.into()) <= &apart + &apart);
    }
}

/// By how much virtual time a leaf may be further or less far than its guarantee has it.
fn slack(class: &ClassSpec, longest: u32) -> Exact {
    let curve = class.curves.link_share.unwrap();
    let steeper = exact(curve.m1().saturating_sub(curve.m2().0));
    let first = exact_nanos(curve.d()) * steeper / exact(curve.m2().0);
    advance(curve, longest) + at_rate(longest, curve.m2()) + first
}

/// Times are rounded up to whole ns: those of two classes, and that of the packet on the link.
fn rounded(time: Exact) -> Exact {
    time + exact(3)
}

/// A class with an upper limit.
struct Limited {
    limit: ServiceCurve,
    /// Packets of leaves that share below.
    queued: usize,
    served: u64,
    /// When each time of sharing began, and how much had been served before.
    periods: Vec<(Nanos, u64)>,
}

/// Whether link-sharing never takes anything from a class that has more than its limit allows since
/// any time at which it became active.
fn is_limited(case: &Case) -> bool {
    let limited = |spec: &ClassSpec| {
        let limit = spec.curves.upper_limit?;
        Some(Limited { limit, queued: 0, served: 0, periods: Vec::new() })
    };
    let mut limited: Vec<_> = case.classes.iter().map(limited).collect();
    let parent = |id: &ClassId| case.classes[id.index()].parent;
    let shares = |leaf: ClassId| case.classes[leaf.index()].curves.link_share.is_some();
    play(case).into_iter().all(|event| match event {
        Event::Arrival(packet) => {
            for id in std::iter::successors(Some(packet.class), parent) {
                let Some(class) = limited[id.index()].as_mut().filter(|_| shares(packet.class))
                else {
                    continue;
                };
                if class.queued == 0 {
                    class.periods.push((packet.arrival, class.served));
                }
                class.queued += 1;
            }
            true
        }
        Event::Sent { dispatch: Dispatch { packet, criterion, .. }, start, .. } => {
            std::iter::successors(Some(packet.class), parent).all(|id| {
                let Some(class) = &mut limited[id.index()] else { return true };
                let within = |&(begin, before): &(Nanos, u64)| {
                    let most = class.limit.curve().value(&exact_nanos(start - begin));
                    exact(class.served - before) <= most
                };
                let fits = criterion == Criterion::RealTime || class.periods.iter().all(within);
                class.queued -= usize::from(shares(packet.class));
                class.served += u64::from(packet.length);
                fits
            })
        }
    })
}

/// Classes that all share, some with guarantees, none with a limit.
fn unlimited() -> impl Strategy<Value = Case> {
    traffic(8, 100, leaf_curves, interior_curves).prop_map(|mut case| {
        for Curves { real_time, link_share, upper_limit } in
            case.classes.iter_mut().map(|class| &mut class.curves)
        {
            *link_share = link_share.or(*real_time);
            *upper_limit = None;
        }
        case
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn link_sharing_keeps_upper_limits(case in traffic(8, 100, leaf_curves, interior_curves)) {
        prop_assert!(is_limited(&case));
    }

    #[test]
    fn without_limits_the_link_is_never_idle_with_a_backlog(case in unlimited()) {
        let arrival = |step: &Step| match step.what {
            What::Arrive { class, length } if case.is_leaf(class) => {
                let after_choice = step.after_choice;
                let class = class.0;
                Some(Arrival { time: step.at, class, length, after_choice, ..Arrival::default() })
            }
            _ => None,
        };
        let arrivals: Vec<_> = case.steps.iter().filter_map(arrival).collect();
        drive(&mut Hfsc::new(&case.classes).unwrap(), case.rate, &arrivals);
    }
}

/// A million packets on classes with awkward rates, all of them always backlogged, at the top and
/// below a class: of two, neither is ever ahead in normalised service by more than its packet.
#[test]
fn rates_share_exactly_after_a_million_packets() {
    const RATES: [u64; 3] = [333_333_333, 7, 1_000_003];
    const LENGTHS: [u32; 3] = [1_499, 1, 997];
    for depth in 0..=1u32 {
        let share = |rate| Some(ServiceCurve::linear(Rate(rate)));
        let class = |parent, rate| ClassSpec {
            parent,
            curves: Curves { link_share: share(rate), ..Curves::default() },
        };
        let top = (0..depth).map(|_| class(None, 1_000_000_007));
        let parent = (depth > 0).then_some(ClassId(0));
        let classes: Vec<_> = top.chain(RATES.map(|rate| class(parent, rate))).collect();
        let mut hfsc = Hfsc::new(&classes).unwrap();
        let mut now = Nanos(9_007_199_254_740_993);
        let packet = |leaf: usize, arrival| Packet {
            class: ClassId(leaf as u32 + depth),
            length: LENGTHS[leaf],
            arrival,
            ..Packet::default()
        };
        for leaf in [0, 0, 1, 1, 2, 2] {
            hfsc.enqueue(now, packet(leaf, now), &mut |_, _| {});
        }
        let mut served = [0u64; 3];
        for _ in 0..500_000 {
            let dispatch = hfsc.dequeue(now, &mut |_, _| {}).unwrap();
            let leaf = (dispatch.packet.class.0 - depth) as usize;
            served[leaf] += u64::from(dispatch.packet.length);
            now += Rate(1_000_000_007).time_for(Bytes(dispatch.packet.length.into()));
            hfsc.enqueue(now, packet(leaf, now), &mut |_, _| {});
            for other in 0..3 {
                // In nanobits; virtual times are whole ns, rounded up.
                let ahead = i128::from(served[leaf]) * i128::from(RATES[other])
                    - i128::from(served[other]) * i128::from(RATES[leaf]);
                let packet = i128::from(LENGTHS[leaf]) * i128::from(RATES[other]);
                let rounding = i128::from(RATES[leaf]) * i128::from(RATES[other]);
                assert!((ahead - packet) * i128::from(NANOBITS_PER_BYTE) <= rounding);
            }
        }
    }
}
