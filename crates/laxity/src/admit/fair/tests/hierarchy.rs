//! WF2Q+ on several levels.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{
    Arrival, ClassId, Hierarchy, LARGEST, Member, Proportions, Rate, Share, Traffic, arrival,
    conforming, late, proportions, rates,
};
use crate::admit::Unbounded;
use crate::admit::fair::Overbooking;
use crate::police::TokenBucket;
use crate::sched::Wf2q;
use crate::testing::{arrivals, drive};
use crate::units::Bytes;

/// Trees of up to ten classes on up to four levels, whose rates sum to their parents' or less.
fn hierarchies() -> impl Strategy<Value = Hierarchy> {
    let class = (prop::option::weighted(0.8, any::<u8>()), 1..=50u64, proportions());
    (rates(), vec(class, 1..=10)).prop_map(|(rate, drawn)| {
        let mut parents: Vec<Option<usize>> = Vec::new();
        for (at, (parent, ..)) in drawn.iter().enumerate() {
            let parent = parent.filter(|_| at > 0).map(|parent| usize::from(parent) % at);
            let deep = |parent: &usize| {
                core::iter::successors(Some(*parent), |up| parents[*up]).count() < 4
            };
            parents.push(parent.filter(deep));
        }
        let mut rates: Vec<Rate> = Vec::new();
        for (at, parent) in parents.iter().enumerate() {
            let whole = parent.map_or(rate, |parent| rates[parent]);
            let weight = |at: usize| drawn[at].1;
            let siblings = (0..drawn.len()).filter(|other| parents[*other] == *parent);
            let all = siblings.map(weight).sum::<u64>();
            rates.push(Rate((whole.0 / all * weight(at)).max(1)));
        }
        let member = |(at, (_, _, traffic)): (usize, (Option<u8>, u64, Proportions))| Member {
            share: Share { parent: parents[at].map(|at| ClassId(at as u32)), rate: rates[at] },
            traffic: traffic.of_rate(rates[at]),
        };
        Hierarchy { rate, classes: drawn.into_iter().enumerate().map(member).collect() }
    })
}

fn leaves(system: &Hierarchy) -> Vec<(ClassId, &Traffic)> {
    let leaf =
        |class: ClassId| system.classes.iter().all(|member| member.share.parent != Some(class));
    let all = (0..).map(ClassId).zip(&system.classes);
    all.filter(|(class, _)| leaf(*class)).map(|(class, member)| (class, &member.traffic)).collect()
}

fn wf2q(system: &Hierarchy) -> Wf2q {
    Wf2q::new(system.rate, &system.classes.iter().map(|class| class.share).collect::<Vec<_>>())
        .unwrap()
}

fn plans() -> impl Strategy<Value = (Hierarchy, Vec<Arrival>)> {
    hierarchies().prop_flat_map(|system| {
        let unit = system.rate.time_for(Bytes(LARGEST)).0;
        (Just(system), arrivals(10, 1..=LARGEST as u32, 1, unit, 100))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn hierarchies_keep_their_bounds((system, wishes) in plans()) {
        let guarantees = system.test();
        // Rates of a bit/s may be more than there is.
        prop_assume!(guarantees.overbooked.is_empty());
        let arrivals = conforming(&leaves(&system), &guarantees.bounds, &wishes);
        let sent = drive(&mut wf2q(&system), system.rate, &arrivals).sent;
        prop_assert_eq!(late(&sent, &guarantees.bounds), None);
    }
}

fn member(parent: Option<u32>, rate: u64, packet: u64) -> Member {
    let share = Share { parent: parent.map(ClassId), rate: Rate(rate) };
    let bucket = TokenBucket { bucket: Bytes(packet), rate: Rate(rate) };
    Member { share, traffic: Traffic { arrival: vec![bucket], packet: Bytes(packet) } }
}

#[test]
fn overbooked_classes_are_named_and_have_no_bounds_below() {
    let system = Hierarchy {
        rate: Rate(10_000_000),
        classes: vec![
            member(None, 4_500_000, 0),
            member(Some(0), 4_000_000, 1_000),
            member(Some(0), 564_000, 1_000),
            member(None, 5_500_000, 1_000),
        ],
    };
    let guarantees = system.test();
    let place =
        Overbooking { class: Some(ClassId(0)), asked: Rate(4_564_000), given: Rate(4_500_000) };
    assert_eq!(guarantees.overbooked, [place]);
    let refused = Err(Unbounded::NotAdmitted);
    assert_eq!(guarantees.bounds[1..3], [refused, refused]);
    assert!(guarantees.bounds[3].is_ok());
}

/// A leaf's packet comes just after its parent, which has been served ahead, has chosen another
/// one: two thirds of the bound are taken.
#[test]
fn the_bound_of_a_hierarchy_comes_near() {
    let system = Hierarchy {
        rate: Rate(8_000_000),
        classes: vec![
            member(None, 4_000_000, 1_000),
            member(None, 4_000_000, 1_000),
            member(Some(1), 2_000_000, 1_000),
            member(Some(1), 2_000_000, 1_000),
        ],
    };
    let mut arrivals = vec![arrival(3, 1_000); 20];
    arrivals.push(arrival(2, 1_000));
    arrivals.extend(vec![arrival(0, 1_000); 20]);
    let sent = drive(&mut wf2q(&system), system.rate, &arrivals).sent;
    let sent = sent.iter().find(|sent| sent.dispatch.packet.class.0 == 2).unwrap();
    let bound = system.test().bounds[2].unwrap();
    assert!(sent.delay() <= bound && sent.delay().0 >= bound.0 * 66 / 100);
}
