//! A chain of outputs, each behind the one before: what is reserved through it, recovered from
//! marks at every node, varies by less than two frames (section II.B).

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::{Contract, Edge, Upstream};
use super::{Coming, CommonTime, Tdp, TdpSettings, send};
use crate::admit::tdp::{Flow, Hop, Ledger, OutputId, Reservation};
use crate::packet::{ClassId, Packet};
use crate::sched::Late;
use crate::units::{Bytes, Nanos, Rate};

const CYCLES: u64 = 16;
/// When all nodes are in step.
const IN_STEP: u64 = 6;
/// The shortest packet, padding included, in bytes. At the fastest rate it takes a nanosecond; a
/// shorter one would leave at the instant when it begins.
const SHORTEST: u32 = 3;

#[derive(Clone, Debug)]
struct Chain {
    settings: TdpSettings,
    /// For each node, how much later than the node before its clock shows the time at which a bit
    /// arrives, and how many frames more than needed it takes to forward.
    nodes: Vec<(u64, u32)>,
    flows: Vec<ChainFlow>,
    /// For each node: when a best-effort packet comes, and how long it is.
    best_effort: Vec<Vec<(u64, u32)>>,
}

/// A flow from one node of the chain to a later one.
#[derive(Clone, Debug)]
struct ChainFlow {
    ends: (usize, usize),
    packets: u32,
    length: u32,
    /// By how many frames each node may forward it later than at once.
    spare: u32,
    first: u64,
    /// By how much packets come later than they might.
    pauses: Vec<u64>,
}

fn chains() -> impl Strategy<Value = Chain> {
    let shape = (300..1_500u64, 8..14u32, 2..6usize, 4_000_000_000..20_000_000_000u64);
    shape.prop_flat_map(|(frame, frames, nodes, rate)| {
        let time = CommonTime { frame: Nanos(frame), frames, cycles: 3 };
        let cycle = frame * u64::from(frames);
        let pause = prop_oneof![2 => Just(0), 1 => 0..cycle];
        let flow =
            ((0..nodes, 0..nodes), 1..6u32, SHORTEST..500u32, 0..3u32, 0..cycle, vec(pause, 40));
        let flow = flow.prop_map(|((one, other), packets, length, spare, first, pauses)| {
            let ends = (one.min(other), one.max(other));
            ChainFlow { ends, packets, length, spare, first, pauses }
        });
        let best_effort = vec(vec((0..CYCLES * cycle, 1..1_000u32), 0..60), nodes);
        let nodes = vec((0..3 * frame, 0..3u32), nodes);
        (0..=frame / 2, nodes, vec(flow, 1..20), best_effort).prop_map(
            move |(guard, nodes, flows, best_effort)| {
                let guard = Nanos(guard);
                let delay = 8;
                let settings =
                    TdpSettings { time, rate: Rate(rate), delay, guard, late: Late::Drop };
                Chain { settings, nodes, flows, best_effort }
            },
        )
    })
}

/// A packet's way, by the clocks of the nodes.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    flow: usize,
    arrival: Nanos,
    start: Option<Nanos>,
    departure: Option<Nanos>,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn delays_through_a_chain_vary_by_less_than_two_frames(chain in chains()) {
        let Chain { settings, nodes, flows, best_effort } = chain;
        let time = settings.time;
        let delay = |node: usize| {
            let (latency, more) = nodes[node];
            (1 + latency.div_ceil(time.frame.0)) as u32 + more
        };
        let capacities = std::vec![settings.capacity(); nodes.len()];
        let mut ledger = Ledger::new(time.frames, &capacities);
        let mut reserved: Vec<(ChainFlow, Flow, Reservation)> = Vec::new();
        for wanted in flows {
            let (entry, exit) = wanted.ends;
            let hops = entry..=exit;
            let spare = wanted.spare;
            let hop = |node| {
                let output = OutputId::from_index(node);
                Hop { output, delay: delay(node), spare, propagation: 0 }
            };
            let packet = Bytes(wanted.length.into());
            let flow = Flow { path: hops.map(hop).collect(), packets: wanted.packets, packet };
            if let Ok(reservation) = ledger.reserve(&flow) {
                reserved.push((wanted, flow, reservation));
            }
        }

        // Handles below the number of reserved packets are places among these.
        let mut ways: Vec<Way> = Vec::new();
        let cycle = u64::from(time.frames) * time.frame.0;
        let end = Nanos((CYCLES + IN_STEP) * cycle);
        for (number, (wanted, ..)) in reserved.iter().enumerate() {
            let gap = cycle.div_ceil(wanted.packets.into());
            let mut now = IN_STEP * cycle + wanted.first;
            for pause in &wanted.pauses {
                if now < CYCLES * cycle {
                    ways.push(Way { flow: number, arrival: Nanos(now), ..Way::default() });
                }
                now += gap + pause;
            }
        }

        let contracts: Vec<_> = reserved
            .iter()
            .map(|(wanted, _, reservation)| {
                let packet = Bytes(wanted.length.into());
                Some(Contract { slots: reservation.slots, packet })
            })
            .collect();
        let mut from_before: Vec<Coming> = Vec::new();
        for node in 0..nodes.len() {
            let mut edge = Edge::new(time, 4 * time.frames, &contracts).unwrap();
            let mut coming = from_before;
            let mut entering: Vec<_> =
                (0..ways.len()).filter(|&way| reserved[ways[way].flow].0.ends.0 == node).collect();
            entering.sort_by_key(|&way| ways[way].arrival);
            for way in entering {
                let Way { flow, arrival, .. } = ways[way];
                let packet = Packet {
                    class: ClassId(flow as u32),
                    length: reserved[flow].0.length,
                    arrival,
                    handle: way as u64,
                    ..Packet::default()
                };
                let frame = edge.frame_of(arrival, &packet);
                prop_assert!(frame.is_some());
                coming.push(Coming { time: arrival, packet, frame });
            }
            coming.extend(best_effort[node].iter().map(|&(at, length)| {
                let packet = Packet { length, handle: u64::MAX, ..Packet::default() };
                Coming { time: Nanos(at), packet, frame: None }
            }));
            coming.sort_by_key(|one| one.time);

            // An edge holds packets for their frames; so every node here can.
            let settings = TdpSettings { delay: 4 * time.frames, ..settings };
            let (sent, dropped) = send(&mut Tdp::new(settings).unwrap(), &coming, Some(SHORTEST), end);
            prop_assert!(dropped.iter().all(|(packet, _)| packet.handle == u64::MAX));
            let mut input = Upstream::new(time).unwrap();
            from_before = Vec::new();
            for one in sent {
                let packet = one.dispatch.map(|dispatch| dispatch.packet);
                let packet = packet.filter(|packet| packet.handle != u64::MAX);
                if let Some(packet) = packet {
                    let way = &mut ways[packet.handle as usize];
                    way.start.get_or_insert(one.start);
                    way.departure = Some(one.departure);
                }
                let (Some(mark), true) = (one.mark, node + 1 < nodes.len()) else { continue };
                let arrival = one.departure + Nanos(nodes[node + 1].0);
                let frame = input.receive(arrival, mark);
                let Some(packet) = packet else { continue };
                prop_assert_eq!(frame, Some(time.frame_at(one.start)));
                let (wanted, _, reservation) = &reserved[packet.class.index()];
                let (entry, exit) = wanted.ends;
                if exit > node {
                    let delay = reservation.delays[node + 1 - entry];
                    let frame = frame.map(|frame| frame + u64::from(delay));
                    from_before.push(Coming { time: arrival, packet, frame });
                }
            }
            prop_assert_eq!(input.losses(), 0);
        }

        for (number, (_, flow, reservation)) in reserved.iter().enumerate() {
            let bounds = flow.bounds(&time, reservation);
            let mut delays = Vec::new();
            for way in ways.iter().filter(|way| way.flow == number) {
                let (Some(start), Some(departure)) = (way.start, way.departure) else {
                    panic!("a reserved packet is lost");
                };
                let first = time.frame_at(start);
                prop_assert!(time.start(first) <= way.arrival + bounds.shaping);
                prop_assert!(departure <= time.start(first) + bounds.transit);
                prop_assert!(departure > time.start(first + flow.frames(reservation)));
                delays.push(departure.0 - start.0);
            }
            if let (Some(least), Some(greatest)) = (delays.iter().min(), delays.iter().max()) {
                prop_assert!(greatest - least < bounds.jitter.0);
            }
        }
    }
}
