//! What the test promises, links keep.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{Admission, Hierarchy, Inside, Member, is_leaf, scheduler};
use crate::admit::Traffic;
use crate::admit::edf::{RealTime, System};
use crate::curve::Curve;
use crate::police::{Meter, TokenBucket};
use crate::sched::Share;
use crate::sched::edf::Assign;
use crate::testing::trees::{Sum, Tree, trees};
use crate::testing::{Arrival, LARGEST, Proportions, Way, any_class, arrivals, drive};
use crate::units::{Bytes, Nanos};

/// A leaf before it has a rate.
#[derive(Clone, Debug)]
enum Drawn {
    Flood(u64),
    Fifo(Vec<Proportions>),
    Edf { classes: Vec<Proportions>, best_effort: Option<u64>, way: Way, is_tight: bool },
}

fn any_leaf() -> impl Strategy<Value = Drawn> {
    let classes = || vec(any_class(), 1..=3);
    let best_effort = prop::option::weighted(0.8, 64..=u64::from(LARGEST));
    prop_oneof![
        1 => (1..=u64::from(LARGEST)).prop_map(Drawn::Flood),
        1 => classes().prop_map(Drawn::Fifo),
        3 => (classes(), best_effort, Way::any(), any::<bool>()).prop_map(
            |(classes, best_effort, way, is_tight)| {
                Drawn::Edf { classes, best_effort, way, is_tight }
            }
        ),
    ]
}

/// What best-effort deadlines are made from.
fn demand(way: Way) -> fn(&System) -> Curve {
    match way {
        Way::Background => |system| Way::Background.curve(system),
        Way::TotalBandwidth => |system| Way::TotalBandwidth.curve(system),
        Way::ShiftedLine => |system| Way::ShiftedLine.curve(system),
        Way::TwoLines => |system| Way::TwoLines.curve(system),
        Way::TwoLineFast => |system| Way::TwoLineFast.curve(system),
        Way::Exact => |system| Way::Exact.curve(system),
    }
}

/// A system all of whose leaves are admitted, and how each serves best effort.
#[derive(Clone, Debug)]
struct Plan {
    system: Hierarchy,
    ways: Vec<Way>,
}

fn plan((tree, drawn): (Tree, Vec<Drawn>)) -> Plan {
    let inside = |(share, drawn): (&Share, &Drawn)| {
        let in_proportion = |classes: &[Proportions]| -> Vec<RealTime> {
            let part = 1000 * classes.len() as u64;
            classes.iter().map(|class| class.clone().on_link(share.rate, part)).collect()
        };
        let inside = match drawn {
            Drawn::Flood(packet) => Inside::Nothing { packet: Bytes(*packet) },
            Drawn::Fifo(classes) => {
                let traffic =
                    |RealTime { arrival, packet, .. }: RealTime| Traffic { arrival, packet };
                Inside::Fifo(in_proportion(classes).into_iter().map(traffic).collect())
            }
            Drawn::Edf { classes, best_effort, way, .. } => Inside::Edf {
                real_time: in_proportion(classes),
                best_effort_packet: best_effort.map(Bytes),
                best_effort_demand: demand(*way),
            },
        };
        Member { share: *share, inside }
    };
    let members = tree.shares.iter().zip(&drawn).map(inside).collect();
    let mut system = Hierarchy { rate: tree.rate, members };
    allow_for_latency(&mut system);
    leave_out_what_does_not_fit(&mut system);
    tighten(&mut system, &drawn);
    let way = |drawn: &Drawn| match drawn {
        Drawn::Edf { way, .. } => *way,
        _ => Way::Background,
    };
    Plan { system, ways: drawn.iter().map(way).collect() }
}

/// Deadlines that were drawn for a link count from when the service begins.
fn allow_for_latency(system: &mut Hierarchy) {
    let leaves = system.test().leaves;
    for (member, leaf) in system.members.iter_mut().zip(leaves) {
        if let (Inside::Edf { real_time, .. }, Ok(leaf)) = (&mut member.inside, leaf) {
            real_time.iter_mut().for_each(|class| class.deadline += leaf.latency);
        }
    }
}

fn leave_out_what_does_not_fit(system: &mut Hierarchy) {
    loop {
        let mut fits = true;
        let leaves = system.test().leaves;
        for (member, leaf) in system.members.iter_mut().zip(leaves) {
            let Ok(Admission::Edf { admission, .. }) = leaf.map(|leaf| leaf.inside) else {
                continue;
            };
            let Inside::Edf { real_time, best_effort_packet, .. } = &mut member.inside else {
                continue;
            };
            if !admission.admitted {
                real_time.pop();
                fits = false;
            }
            if real_time.is_empty() {
                let packet = best_effort_packet.unwrap_or(Bytes(1));
                member.inside = Inside::Nothing { packet };
            }
        }
        if fits {
            return;
        }
    }
}

/// The first class of some leaves is promised as little delay as there can be.
fn tighten(system: &mut Hierarchy, drawn: &[Drawn]) {
    let leaves = system.test().leaves;
    for ((member, leaf), drawn) in system.members.iter_mut().zip(leaves).zip(drawn) {
        let Ok(Admission::Edf { system, .. }) = leaf.map(|leaf| leaf.inside) else { continue };
        if let (Inside::Edf { real_time, .. }, Drawn::Edf { is_tight: true, .. }) =
            (&mut member.inside, drawn)
        {
            real_time[0].deadline = system.shortest_admitted_deadline(0).expect("it is admitted");
        }
    }
}

/// What a class may send, and what it is promised.
#[derive(Clone, Debug)]
struct Contract {
    /// Empty for a class without a promise.
    arrival: Vec<TokenBucket>,
    packet: Bytes,
    bound: Option<Nanos>,
    /// Whether its packets are never late for the deadlines that best effort gets.
    keeps_deadlines: bool,
}

/// By class, in the order of the scheduler's numbers.
fn contracts(plan: &Plan) -> Vec<Contract> {
    let mut contracts = Vec::new();
    let leaves = plan.system.test().leaves;
    let of_leaf = |number: &usize| is_leaf(&plan.system, *number);
    for number in (0..leaves.len()).filter(of_leaf) {
        let leaf = leaves[number].as_ref().expect("it is admitted");
        let free = |packet, keeps_deadlines| Contract {
            arrival: Vec::new(),
            packet,
            bound: None,
            keeps_deadlines,
        };
        match (&plan.system.members[number].inside, &leaf.inside) {
            (Inside::Nothing { packet }, _) => contracts.push(free(*packet, false)),
            (Inside::Fifo(traffic), Admission::Fifo(bound)) => {
                contracts.extend(traffic.iter().map(|Traffic { arrival, packet }| Contract {
                    arrival: arrival.clone(),
                    packet: *packet,
                    bound: bound.ok(),
                    keeps_deadlines: false,
                }));
            }
            (
                Inside::Edf { real_time, best_effort_packet, .. },
                Admission::Edf { admission, .. },
            ) => {
                for (class, guarantee) in real_time.iter().zip(&admission.classes) {
                    assert!(guarantee.bound.is_some_and(|bound| bound <= class.deadline));
                    contracts.push(Contract {
                        arrival: class.arrival.clone(),
                        packet: class.packet,
                        bound: guarantee.bound,
                        keeps_deadlines: true,
                    });
                }
                let way = plan.ways[number];
                let keeps = matches!(way, Way::ShiftedLine | Way::Exact);
                contracts.push(free(best_effort_packet.unwrap_or_default(), keeps));
            }
            _ => panic!("a leaf is tested for what is inside"),
        }
    }
    contracts
}

/// What arrives when those with a bound keep to their contracts by waiting, and others do as they
/// like.
fn conforming(contracts: &[Contract], wishes: &[Arrival]) -> Vec<Arrival> {
    let meter = |contract: &Contract| (Meter::new(contract.arrival.iter().copied()), Nanos::ZERO);
    let mut meters: Vec<_> = contracts.iter().map(meter).collect();
    let mut arrivals = Vec::new();
    for wish in wishes {
        let class = wish.class as usize % contracts.len();
        let Contract { packet, bound, .. } = &contracts[class];
        let length = wish.length.min(packet.0 as u32);
        let mut arrival = Arrival { class: class as u32, length, demoted: false, ..*wish };
        if length == 0 {
            continue;
        }
        if bound.is_some() {
            let (meter, last) = &mut meters[class];
            arrival.time = meter.earliest(wish.time.max(*last), length).expect("a packet fits");
            assert!(meter.consume(arrival.time, length));
            *last = arrival.time;
        }
        arrivals.push(arrival);
    }
    arrivals.sort_by_key(|arrival| arrival.time);
    arrivals
}

fn plans() -> impl Strategy<Value = (Plan, Vec<Arrival>)> {
    let plan = (trees(3, Sum::NoMore), vec(any_leaf(), 10)).prop_map(plan);
    plan.prop_flat_map(|plan| {
        let unit = plan.system.rate.time_for(Bytes(LARGEST.into())).0;
        (Just(plan), arrivals(1000, 1..=LARGEST, 1, unit, 120))
    })
}

/// All at one time: a packet of each class that is promised nothing, and when the link has chosen
/// one of them as much as everybody may send, and those who may send anything a lot.
fn flood(contracts: &[Contract], time: Nanos) -> Vec<Arrival> {
    let packets = |count: usize, is_free: bool, after_choice: bool| {
        let those =
            (0..).zip(contracts).filter(move |(_, contract)| contract.bound.is_none() == is_free);
        those.flat_map(move |(class, contract)| {
            let length = contract.packet.0 as u32;
            vec![Arrival { time, class, length, after_choice, ..Arrival::default() }; count]
        })
    };
    packets(1, true, false).chain(packets(8, false, true)).chain(packets(40, true, true)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// No packet with a bound is later, whatever best effort in its own class and others do; and
    /// where best-effort deadlines come from a curve below the residual capacity everywhere, they
    /// hold too.
    #[test]
    fn every_packet_is_in_time((plan, wishes) in plans(), flood_at in prop::option::of(0..20u64)) {
        let contracts = contracts(&plan);
        let mut wishes = wishes;
        if let Some(packets) = flood_at {
            let from = plan.system.rate.time_for(Bytes(packets * u64::from(LARGEST)));
            wishes.extend(flood(&contracts, from));
            wishes.sort_by_key(|wish| wish.time);
        }
        let arrivals = conforming(&contracts, &wishes);
        let leaves = plan.system.test().leaves;
        let assign = |leaf: usize| -> Assign {
            match leaves[leaf].as_ref().map(|leaf| &leaf.inside) {
                Ok(Admission::Edf { system, .. }) => plan.ways[leaf].assign(system),
                _ => Assign::Background,
            }
        };
        let sent = drive(&mut scheduler(&plan.system, assign), plan.system.rate, &arrivals).sent;
        prop_assert_eq!(sent.len(), arrivals.len());
        for sent in &sent {
            let packet = &sent.dispatch.packet;
            let contract = &contracts[packet.class.index()];
            let in_time = contract.bound.is_none_or(|bound| sent.delay() <= bound);
            prop_assert!(in_time, "{:?} {:?}", sent, contract);
            let due = sent.dispatch.deadline.filter(|_| contract.keeps_deadlines);
            prop_assert!(due.is_none_or(|due| sent.departure <= due), "{:?}", sent);
        }
    }
}

#[test]
fn most_plans_have_promises() {
    let mut runner = TestRunner::deterministic();
    let promised = (0..100).filter(|_| {
        let (plan, _) = plans().new_tree(&mut runner).unwrap().current();
        contracts(&plan).iter().filter(|contract| contract.bound.is_some()).count() >= 2
    });
    assert!(promised.count() >= 60);
}
