//! The book of paths beside the test of every whole link.

use std::vec::Vec;

use proptest::prelude::*;
use proptest::sample::Index;

use super::{Link, LinkId, NodeId, PathBook, PathRefusal, Split};
use crate::admit::edf::{RealTime, System};
use crate::curve::Curve;
use crate::police::TokenBucket;
use crate::testing::{any_class, rounds};
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

const NODES: u32 = 5;
const RATE: Rate = Rate(10_000_000);

/// What is asked of a book.
#[derive(Clone, Debug)]
enum Request {
    /// A kind of flow from a node on, over links by choice, with so much more than the shortest
    /// delay, in nanoseconds.
    Admit(Index, u32, Vec<Index>, i64, bool),
    Release(Index),
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let ways = || prop::collection::vec(any::<Index>(), 1..4);
    let slack = prop_oneof![Just(-1i64), Just(0), Just(1), 0..3_000_000i64];
    let admit = (any::<Index>(), 0..NODES, ways(), slack, any::<bool>());
    let request = prop_oneof![
        4 => admit.prop_map(|(kind, from, way, slack, evenly)| {
            Request::Admit(kind, from, way, slack, evenly)
        }),
        1 => any::<Index>().prop_map(Request::Release),
    ];
    prop::collection::vec(request, 1..25)
}

fn links() -> impl Strategy<Value = Vec<Link>> {
    let link = (0..NODES, 1..NODES, 1..4u64, 0..2_000_000u64, prop::option::of(64..1500u64));
    let link = link.prop_map(|(from, by, times, delay, packet)| Link {
        from: NodeId(from),
        to: NodeId((from + by) % NODES),
        rate: Rate(RATE.0 * times),
        latency: Nanos(delay / 7),
        delay: Nanos(delay),
        best_effort_packet: packet.map(Bytes),
    });
    prop::collection::vec(link, 3..10)
}

/// The links with the flows on each, tested as a whole.
struct Naive {
    links: Vec<(Link, System)>,
}

impl Naive {
    fn new(links: &[Link]) -> Self {
        let system = |link: &Link| System {
            rate: link.rate,
            latency: link.latency,
            max_packet: Bytes(1500),
            real_time: Vec::new(),
            best_effort_packet: link.best_effort_packet,
        };
        Naive { links: links.iter().map(|link| (*link, system(link))).collect() }
    }

    /// A way from a node on, without a link twice.
    fn path(&self, mut from: NodeId, choices: &[Index]) -> Vec<LinkId> {
        let mut path: Vec<LinkId> = Vec::new();
        for choice in choices {
            let leaves = |id: &LinkId| self.links[id.index()].0.from == from && !path.contains(id);
            let out: Vec<_> = (0..self.links.len() as u32).map(LinkId).filter(leaves).collect();
            if out.is_empty() {
                break;
            }
            let next = out[choice.index(out.len())];
            from = self.links[next.index()].0.to;
            path.push(next);
        }
        path
    }

    fn shortest(&self, link: LinkId, flow: &RealTime) -> Option<Nanos> {
        let mut system = self.links[link.index()].1.clone();
        system.real_time.push(flow.clone());
        system.shortest_admitted_deadline(system.real_time.len() - 1)
    }

    fn within(&self, path: &[LinkId], flow: &RealTime) -> Option<Nanos> {
        let takes = |link: &LinkId| {
            Some(self.shortest(*link, flow)?.saturating_add(self.links[link.index()].0.delay))
        };
        path.iter().map(takes).try_fold(Nanos::ZERO, |sum, one| Some(sum.saturating_add(one?)))
    }

    /// The shortest delay over all paths that pass no node twice.
    fn fastest(&self, from: NodeId, to: NodeId, flow: &RealTime, gone: &[NodeId]) -> Option<Nanos> {
        let ids = (0..self.links.len() as u32).map(LinkId);
        ids.filter_map(|id| {
            let link = self.links[id.index()].0;
            if link.from != from || gone.contains(&link.to) {
                return None;
            }
            let here = self.within(&[id], flow)?;
            if link.to == to {
                return Some(here);
            }
            let gone = [gone, &[link.to]].concat();
            Some(here.saturating_add(self.fastest(link.to, to, flow, &gone)?))
        })
        .min()
    }
}

fn nanobits(size: Bytes) -> i128 {
    i128::from(size.0) * i128::from(NANOBITS_PER_BYTE)
}

fn with(flow: &RealTime, deadline: Nanos) -> RealTime {
    RealTime { deadline, ..flow.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(rounds(128, 40_000)))]

    /// A flow is admitted if and only if the shortest deadlines of all links leave time for it.
    /// What is promised adds up to what was asked for, and every link passes the test with it.
    #[test]
    fn answers_are_those_of_the_tests_of_all_links(
        links in links(),
        kinds in prop::collection::vec(any_class(), 1..5),
        requests in requests(),
    ) {
        let kinds: Vec<RealTime> =
            kinds.into_iter().map(|kind| kind.on_link(RATE, 4000)).collect();
        let (mut naive, mut book) = (Naive::new(&links), PathBook::new(links.iter().copied()));
        let mut flows: Vec<(Vec<LinkId>, RealTime, Vec<Nanos>)> = Vec::new();
        for request in requests {
            let (kind, from, way, slack, evenly) = match request {
                Request::Admit(kind, from, way, slack, evenly) => (kind, from, way, slack, evenly),
                Request::Release(_) if flows.is_empty() => continue,
                Request::Release(which) => {
                    let (path, flow, deadlines) = flows.swap_remove(which.index(flows.len()));
                    prop_assert!(book.release(&path, &flow, &deadlines));
                    prop_assert!(!book.release(&path, &with(&flow, Nanos(1)), &[]));
                    for (link, deadline) in path.iter().zip(&deadlines) {
                        let system = &mut naive.links[link.index()].1;
                        let is_it = |one: &RealTime| *one == with(&flow, *deadline);
                        let place = system.real_time.iter().position(is_it).unwrap();
                        system.real_time.swap_remove(place);
                    }
                    continue;
                }
            };
            let path = naive.path(NodeId(from), &way);
            if path.is_empty() {
                continue;
            }
            let mut flow = kinds[kind.index(kinds.len())].clone();
            let within = naive.within(&path, &flow);
            let asked = within.unwrap_or(Nanos(50_000_000)).0.saturating_add_signed(slack);
            flow.deadline = Nanos(asked);
            let split = if evenly { Split::Evenly } else { Split::ByLoad };
            match book.admit(&path, &flow, split) {
                Ok(deadlines) => {
                    prop_assert!(within <= Some(flow.deadline));
                    let delays = path.iter().map(|link| naive.links[link.index()].0.delay.0);
                    let promised = deadlines.iter().map(|deadline| deadline.0).chain(delays);
                    prop_assert_eq!(promised.sum::<u64>(), asked);
                    for (link, deadline) in path.iter().zip(&deadlines) {
                        let system = &mut naive.links[link.index()].1;
                        system.real_time.push(with(&flow, *deadline));
                        prop_assert!(system.test(&Curve::zero()).admitted);
                    }
                    flows.push((path, flow, deadlines));
                }
                Err(PathRefusal::NoRoom(no_room)) => {
                    prop_assert!(within.is_none_or(|within| within > flow.deadline));
                    prop_assert_eq!(no_room.within, within);
                    for (link, shortest) in path.iter().zip(&no_room.shortest) {
                        prop_assert_eq!(*shortest, naive.shortest(*link, &flow));
                    }
                }
                Err(other) => return Err(TestCaseError::fail(std::format!("{other}"))),
            }
        }
        for (number, (_, system)) in naive.links.iter().enumerate() {
            let flows = book.on_link(LinkId(number as u32)).flows();
            prop_assert_eq!(flows as usize, system.real_time.len());
        }
    }

    /// No path is faster than the fastest one.
    #[test]
    fn the_fastest_path_is_the_best_of_all(
        links in links(),
        kinds in prop::collection::vec(any_class(), 1..8),
        ends in (0..NODES, 1..NODES),
    ) {
        let kinds: Vec<RealTime> =
            kinds.into_iter().map(|kind| kind.on_link(RATE, 4000)).collect();
        let (mut naive, mut book) = (Naive::new(&links), PathBook::new(links.iter().copied()));
        for (number, flow) in kinds.iter().enumerate() {
            let link = LinkId((number % links.len()) as u32);
            if book.enter(&[link], flow, &[flow.deadline]).is_ok() {
                naive.links[link.index()].1.real_time.push(flow.clone());
            }
        }
        let [from, to] = [NodeId(ends.0), NodeId((ends.0 + ends.1) % NODES)];
        let found = book.fastest(from, to, &kinds[0]);
        let best = naive.fastest(from, to, &kinds[0], &[from]);
        prop_assert_eq!(found.as_ref().map(|(_, within)| *within), best);
        if let Some((path, within)) = found {
            prop_assert_eq!(naive.within(&path, &kinds[0]), Some(within));
            let asked = with(&kinds[0], within);
            prop_assert!(book.clone().admit(&path, &asked, Split::Evenly).is_ok());
        }
    }

    /// What has ended is felt on no link for longer than is counted.
    #[test]
    fn the_settling_time_covers_that_of_every_link(
        links in links(),
        kinds in prop::collection::vec(any_class(), 1..6),
    ) {
        let mut book = PathBook::new(links.iter().copied());
        let mut on_first: Vec<RealTime> = Vec::new();
        for kind in kinds {
            let flow = kind.on_link(RATE, 4000);
            if book.enter(&[LinkId(0)], &flow, &[flow.deadline]).is_ok() {
                on_first.push(flow);
            }
        }
        let Some(counted) = book.settling_time(&[LinkId(0)], &[Nanos::ZERO]) else { return Ok(()) };
        let packets = on_first.iter().map(|flow| flow.packet);
        let packet = packets.chain(links[0].best_effort_packet).max().unwrap_or_default();
        // From then on the link has sent what comes within t and what was queued.
        for at in [counted.0, 2 * counted.0] {
            let within = |flow: &RealTime| {
                let line = |line: &TokenBucket| {
                    nanobits(line.bucket) + i128::from(line.rate.0) * i128::from(at + flow.deadline.0)
                };
                flow.arrival.iter().map(line).min().unwrap()
            };
            let comes: i128 = on_first.iter().map(within).sum();
            let sent = i128::from(links[0].rate.0) * (i128::from(at) - i128::from(links[0].latency.0));
            prop_assert!(comes + nanobits(packet) <= sent, "{at}");
        }
    }
}

#[test]
fn what_is_no_path_is_refused() {
    let link = |from, to| Link {
        from: NodeId(from),
        to: NodeId(to),
        rate: RATE,
        latency: Nanos::ZERO,
        delay: Nanos::ZERO,
        best_effort_packet: None,
    };
    let mut book = PathBook::new([link(0, 1), link(1, 0), link(1, 2)]);
    let flow = RealTime {
        deadline: Nanos(1_000_000_000),
        arrival: std::vec![TokenBucket { bucket: Bytes(1000), rate: Rate(1000) }],
        packet: Bytes(1000),
    };
    for path in [&[][..], &[0, 0], &[0, 1, 0], &[1, 2], &[3]] {
        let path: Vec<_> = path.iter().map(|link| LinkId(*link)).collect();
        assert_eq!(book.admit(&path, &flow, Split::Evenly), Err(PathRefusal::NoPath));
    }
    assert!(book.admit(&[LinkId(0), LinkId(2)], &flow, Split::Evenly).is_ok());
}
