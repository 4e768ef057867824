//! What routers do is what the simulator says of the same plan and the same arrivals.

use std::collections::HashMap;

use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Hop, Network};
use laxity_search::Generator;
use laxity_sim::network::NetworkRun;
use laxity_sim::record::{Fate, Observer, Record};
use proptest::prelude::*;
use rand::SeedableRng;

use crate::network::{Lost, World, datagram};
use crate::plans;

#[derive(Default)]
pub(crate) struct Records(pub Vec<Record>);

impl Observer for Records {
    fn record(&mut self, record: &Record) {
        self.0.push(*record);
    }
}

pub(crate) const DURATION: Nanos = Nanos(60_000_000);

pub(crate) fn simulated(plan: &Plan, seed: u64) -> Vec<Record> {
    let mut records = Records::default();
    let on = plan.network_plan().expect("a network").analysis();
    let run = NetworkRun::new(&on, Some(DURATION), seed);
    run.simulate(&mut records, &mut laxity_sim::to_the_end).expect("a network that was there");
    records.0
}

/// Hosts send into the world what they send in the simulation.
pub(crate) fn put_in(plan: &Plan, world: &mut World, records: &[Record]) {
    let network = plan.network.as_ref().expect("a network");
    let from_host =
        |record: &&Record| record.hop.is_some_and(|hop| network.ends(hop)[0].starts_with('h'));
    let mut sent: Vec<_> = records
        .iter()
        .filter(from_host)
        .filter_map(|record| {
            let (hop, Fate::Sent { departure, .. }) = (record.hop?, record.fate) else {
                return None;
            };
            let comes = departure + network.links[hop.link.index()].delay;
            Some((comes, hop, record.packet))
        })
        .collect();
    sent.sort_by_key(|(comes, ..)| *comes);
    for (number, (comes, hop, packet)) in sent.into_iter().enumerate() {
        let port = plans::port(packet.class.index());
        world.put_in(hop, comes, datagram(number, port, packet.length));
    }
}

/// What became of a packet at an output: its class, its length, its arrival, when it was sent.
pub(crate) type SentPacket = (usize, u32, Nanos, [Nanos; 2]);

/// By hop from routers, what was sent by the end and what was dropped in all.
pub(crate) type Fates = (HashMap<Hop, Vec<SentPacket>>, Vec<(usize, u32, Nanos, DropReason)>);

/// Whether routers send over a hop as the simulator has it: all over one link.
fn is_compared(network: &Network, hop: Hop) -> bool {
    !network.links[hop.link.index()].private && network.ends(hop)[0].starts_with('r')
}

pub(crate) fn of_simulator(plan: &Plan, records: &[Record]) -> Fates {
    let network = plan.network.as_ref().expect("a network");
    let (mut sent, mut dropped): Fates = Default::default();
    for Record { packet, hop, fate, .. } in records {
        let Some(hop) = *hop else { continue };
        if !is_compared(network, hop) {
            continue;
        }
        let (class, length) = (packet.class.index(), packet.length);
        match *fate {
            Fate::Sent { start, departure } if departure < DURATION => {
                let one = (class, length, packet.arrival, [start, departure]);
                sent.entry(hop).or_default().push(one);
            }
            Fate::Dropped(reason) => dropped.push((class, length, packet.arrival, reason)),
            Fate::Sent { .. } | Fate::Queued => {}
        }
    }
    sorted((sent, dropped))
}

pub(crate) fn of_routers(plan: &Plan, world: &World) -> Fates {
    let network = plan.network.as_ref().expect("a network");
    let (mut sent, mut dropped): Fates = Default::default();
    for fate in &world.fates {
        let packet = &fate.sent.packet;
        if is_compared(network, fate.hop) && fate.sent.departure < DURATION {
            let times = [fate.sent.start, fate.sent.departure];
            let one = (packet.class.index(), packet.length, packet.arrival, times);
            sent.entry(fate.hop).or_default().push(one);
        }
    }
    for Lost { packet, reason, .. } in &world.dropped {
        dropped.push((packet.class.index(), packet.length, packet.arrival, *reason));
    }
    sorted((sent, dropped))
}

fn sorted((mut sent, mut dropped): Fates) -> Fates {
    sent.values_mut().for_each(|sent| sent.sort_by_key(|one| one.3));
    dropped.sort_by_key(|one| (one.2, one.0));
    (sent, dropped)
}

/// All that was sent, one after the other, and dropped.
pub(crate) fn is_same(simulated: &Fates, routed: &Fates) -> Result<(), TestCaseError> {
    for (hop, sent) in &simulated.0 {
        let routed = routed.0.get(hop).map_or(&[][..], |sent| sent);
        for (at, (simulated, routed)) in sent.iter().zip(routed).enumerate() {
            prop_assert_eq!(simulated, routed, "{} at {:?}", at, hop);
        }
        prop_assert_eq!(sent.len(), routed.len(), "{:?}", hop);
    }
    prop_assert_eq!(&simulated.1, &routed.1);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// At every output between routers the same packets start and end at the same nanoseconds, best
    /// effort and reserved.
    #[test]
    fn the_simulator_sends_the_same_packets_at_the_same_times(seed: u64) {
        let plan = plans::draw(&mut Generator::seed_from_u64(seed));
        let records = simulated(&plan, seed);
        let mut world = World::new(&plan);
        put_in(&plan, &mut world, &records);
        world.run(DURATION, || Nanos::ZERO);
        let (simulated, routed) = (of_simulator(&plan, &records), of_routers(&plan, &world));
        prop_assert_eq!(world.skipped, 0);
        is_same(&simulated, &routed)?;
    }
}

/// The runs have in them what they are to try.
#[test]
fn the_runs_try_everything() {
    let (mut reserved, mut best_effort, mut hops) = (0, 0, 0);
    for seed in 0..20 {
        let plan = plans::draw(&mut Generator::seed_from_u64(seed));
        let records = simulated(&plan, seed);
        let mut world = World::new(&plan);
        put_in(&plan, &mut world, &records);
        world.run(DURATION, || Nanos::ZERO);
        reserved += world.fates.iter().filter(|fate| fate.sent.due.is_some()).count();
        best_effort += world.fates.iter().filter(|fate| fate.sent.due.is_none()).count();
        hops += of_simulator(&plan, &records).0.len();
    }
    assert!(
        reserved > 1_000 && best_effort > 1_000 && hops > 40,
        "{reserved} {best_effort} {hops}"
    );
}
