use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::message::{
    Adspec, ErrorSpec, Filter, Flowspec, General, GuaranteedTerms, Hop, Object, Rspec,
    ServiceTerms, Session, Style, Tspec,
};

const SECOND: u64 = 1_000_000_000;
const SENDER: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);
const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 2);
const LAN: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
const WAN: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 1);
const TSPEC: Tspec = Tspec { rate: 1e5, bucket: 2e3, peak: 2e5, least: 100, most: 500 };

/// A machine whose link has room for some flows and for deadlines from some time on.
#[derive(Debug)]
struct Machine {
    most: usize,
    earliest: Nanos,
    has_link: bool,
    reserved: BTreeMap<Flow, Contract>,
}

impl Machine {
    fn new(most: usize) -> Machine {
        Machine { most, earliest: Nanos(0), has_link: true, reserved: BTreeMap::new() }
    }

    fn ask(&self, contract: &Contract, others: usize) -> Result<(), Refusal> {
        match others < self.most {
            _ if contract.deadline < self.earliest => Err(Refusal::Late(self.earliest)),
            true => Ok(()),
            false => Err(Refusal::Full),
        }
    }
}

impl Host for Machine {
    fn route(&mut self, destination: Ipv4Addr) -> Option<Route> {
        let link = Link {
            delay: Nanos(1_000_500),
            lateness: Nanos(500_000),
            bandwidth: 1e6,
            mtu: 1500,
            has_header: true,
            overhead: Overhead::NONE,
        };
        match destination.octets() {
            [10, 0, 1, _] => Some(Route { address: LAN, interface: 1, link: None }),
            [10, 0, 2, _] => {
                Some(Route { address: WAN, interface: 2, link: self.has_link.then_some(link) })
            }
            _ => None,
        }
    }

    fn reserve(&mut self, flow: &Flow, contract: &Contract, _: Nanos) -> Result<(), Refusal> {
        assert!(!self.reserved.contains_key(flow));
        self.ask(contract, self.reserved.len())?;
        self.reserved.insert(*flow, contract.clone());
        Ok(())
    }

    fn change(&mut self, flow: &Flow, contract: &Contract, _: Nanos) -> Result<(), Refusal> {
        assert!(self.reserved.contains_key(flow));
        self.ask(contract, self.reserved.len() - 1)?;
        self.reserved.insert(*flow, contract.clone());
        Ok(())
    }

    fn renew(&mut self, flow: &Flow, _: Nanos) -> bool {
        self.reserved.contains_key(flow)
    }

    fn release(&mut self, flow: &Flow) {
        assert!(self.reserved.remove(flow).is_some());
    }
}

fn flow(number: u16) -> Flow {
    let session = Session { destination: RECEIVER, protocol: 17, port: 5000 };
    Flow { session, sender: Filter { source: SENDER, port: 4000 + number } }
}

fn router(seed: u64) -> Router {
    Router::new(Settings { refresh: Nanos(30 * SECOND), seed })
}

fn adspec(hops: u32) -> Object {
    let general = General { is_broken: false, hops, bandwidth: 1e9, latency: 0, mtu: 9000 };
    let terms = GuaranteedTerms { c_sum: 100, d_sum: 200, ..GuaranteedTerms::default() };
    Object::Adspec(Adspec { general, services: vec![ServiceTerms::Guaranteed(terms)] })
}

fn path(flow: Flow, previous: Ipv4Addr, kind: Kind) -> Message {
    let objects = vec![
        Object::Session(flow.session),
        Object::Hop(Hop { address: previous, handle: 7 }),
        Object::RefreshTime(30_000),
        Object::Sender(flow.sender),
        Object::SenderTspec(TSPEC),
        adspec(0),
    ];
    Message { kind, send_ttl: 64, objects }
}

fn resv(flow: Flow, rate: f32, slack: u32, kind: Kind) -> Message {
    let rspec = Rspec { rate, slack };
    let objects = vec![
        Object::Session(flow.session),
        Object::Hop(Hop { address: RECEIVER, handle: 2 }),
        Object::RefreshTime(30_000),
        Object::Style(Style::Fixed),
        Object::Flowspec(Flowspec::Guaranteed { tspec: TSPEC, rspec }),
        Object::Filter(flow.sender),
    ];
    Message { kind, send_ttl: 63, objects }
}

fn give(router: &mut Router, at: u64, message: &Message, host: &mut Machine) -> Vec<Message> {
    let bytes = message.bytes().unwrap();
    let arrival = Arrival { source: SENDER, ttl: 64, bytes: &bytes };
    read(&router.receive(Nanos(at), arrival, host).unwrap())
}

fn read(out: &[Datagram]) -> Vec<Message> {
    out.iter().map(|datagram| Message::parse(&datagram.bytes).unwrap()).collect()
}

fn kinds(messages: &[Message]) -> Vec<Kind> {
    messages.iter().map(|message| message.kind).collect()
}

#[test]
fn a_state_is_refreshed_at_random_times_around_its_period() {
    for seed in 0..20 {
        let (mut router, mut host) = (router(seed), Machine::new(1));
        let message = path(flow(0), SENDER, Kind::Path);
        assert_eq!(kinds(&give(&mut router, 0, &message, &mut host)), [Kind::Path]);
        let (mut now, mut gaps) = (0, Vec::new());
        while gaps.len() < 200 {
            let next = router.next_timer().unwrap().0;
            gaps.push(next - now);
            now = next;
            assert_eq!(kinds(&read(&router.tick(Nanos(now), &mut host))), [Kind::Path]);
            // What is refreshed goes on with the next timer alone.
            assert_eq!(give(&mut router, now, &message, &mut host), []);
        }
        assert!(gaps.iter().all(|gap| (15 * SECOND..=45 * SECOND).contains(gap)));
        let mean = gaps.iter().sum::<u64>() / 200;
        assert!((28 * SECOND..32 * SECOND).contains(&mean), "{mean}");
    }
}

#[test]
fn states_survive_two_lost_refreshes_and_no_more() {
    let (mut router, mut host) = (router(1), Machine::new(1));
    give(&mut router, 0, &path(flow(0), SENDER, Kind::Path), &mut host);
    give(&mut router, 0, &resv(flow(0), 2e5, 0, Kind::Resv), &mut host);
    let lasts = 5_250_000_000 * 30;
    // Late by half a period: the third comes in time.
    assert!(lasts >= 3 * 45 * SECOND);
    give(&mut router, SECOND, &path(flow(0), SENDER, Kind::Path), &mut host);
    router.tick(Nanos(lasts - 1), &mut host);
    assert_eq!(host.reserved.len(), 1);
    let out = read(&router.tick(Nanos(lasts), &mut host));
    assert!(kinds(&out).contains(&Kind::ResvTear), "{out:?}");
    assert_eq!((host.reserved.len(), router.flows().count()), (0, 1));
    let out = read(&router.tick(Nanos(lasts + SECOND), &mut host));
    assert_eq!(kinds(&out), [Kind::PathTear]);
    assert_eq!((router.flows().count(), router.next_timer()), (0, None));
}

#[test]
fn what_a_path_offers_is_added_up() {
    let mut host = Machine::new(1);
    let offered = |host: &mut Machine, ttl: u8| {
        let bytes = path(flow(0), SENDER, Kind::Path).bytes().unwrap();
        let arrival = Arrival { source: SENDER, ttl, bytes: &bytes };
        let out = read(&router(1).receive(Nanos(0), arrival, host).unwrap());
        out[0].adspec().unwrap().clone()
    };
    let Adspec { general, services } = offered(&mut host, 64);
    let expected = General { is_broken: false, hops: 1, bandwidth: 1e6, latency: 0, mtu: 1500 };
    assert_eq!(general, expected);
    let terms = GuaranteedTerms {
        is_broken: false,
        c_total: 2000,
        d_total: 1501,
        c_sum: 2100,
        d_sum: 1701,
        others: vec![],
    };
    assert_eq!(services, [ServiceTerms::Guaranteed(terms)]);
    // It came through a router that does not know RSVP.
    assert!(offered(&mut host, 63).general.is_broken);
    // It goes where nothing is reserved.
    host.has_link = false;
    assert!(offered(&mut host, 64).guaranteed().unwrap().is_broken);
    let bytes = path(flow(0), SENDER, Kind::Path).bytes().unwrap();
    let last = Arrival { source: SENDER, ttl: 1, bytes: &bytes };
    assert_eq!(router(1).receive(Nanos(0), last, &mut host), Err(Discard::NoRoute));
}

#[test]
fn a_reservation_goes_to_the_node_that_the_flow_comes_from_now() {
    let (mut router, mut host) = (router(1), Machine::new(1));
    give(&mut router, 0, &path(flow(0), SENDER, Kind::Path), &mut host);
    let out = give(&mut router, 0, &resv(flow(0), 2e5, 9, Kind::Resv), &mut host);
    assert_eq!(out[0].hop(), Some(Hop { address: LAN, handle: 7 }));
    assert_eq!(give(&mut router, 1, &resv(flow(0), 2e5, 9, Kind::Resv), &mut host), []);
    let other = Ipv4Addr::new(10, 0, 1, 9);
    give(&mut router, 2, &path(flow(0), other, Kind::Path), &mut host);
    let out = router.tick(Nanos(2), &mut host);
    assert_eq!(out.iter().map(|it| it.destination).collect::<Vec<_>>(), [other]);

    // Errors go on, too: about the reservation to the receiver, about the path to the node before.
    let mut error = resv(flow(0), 2e5, 9, Kind::ResvErr);
    let spec = ErrorSpec { node: other, flags: 0, code: 1, value: 2 };
    error.objects.insert(2, Object::Error(spec));
    let out = give(&mut router, 3, &error, &mut host);
    assert_eq!((out[0].kind, out[0].error()), (Kind::ResvErr, Some(spec)));
    assert_eq!(out[0].hop(), Some(Hop { address: WAN, handle: 2 }));
    let out = give(&mut router, 3, &path(flow(0), SENDER, Kind::PathErr), &mut host);
    assert_eq!(kinds(&out), [Kind::PathErr]);

    // Neither ends by a message of another node.
    let stray = path(flow(0), SENDER, Kind::PathTear).bytes().unwrap();
    let arrival = Arrival { source: SENDER, ttl: 64, bytes: &stray };
    assert_eq!(router.receive(Nanos(4), arrival, &mut host), Err(Discard::Unknown));
    assert_eq!(host.reserved.len(), 1);
}

#[test]
fn of_the_slack_as_much_is_used_as_it_takes() {
    let (mut router, mut host) = (router(1), Machine::new(1));
    give(&mut router, 0, &path(flow(0), SENDER, Kind::Path), &mut host);
    // C / R + D is 11.501 ms. The link is asked for 0.5 ms less, as it may be late.
    host.earliest = Nanos(14_500_500);
    let out = give(&mut router, 0, &resv(flow(0), 2e5, 3_499, Kind::Resv), &mut host);
    assert_eq!((out[0].kind, out[0].error().map(|it| it.value)), (Kind::ResvErr, Some(1)));
    let out = give(&mut router, 0, &resv(flow(0), 2e5, 3_600, Kind::Resv), &mut host);
    let Some(Flowspec::Guaranteed { rspec, .. }) = out[0].flows()[0].1 else { panic!() };
    assert_eq!(*rspec, Rspec { rate: 2e5, slack: 100 });
    assert_eq!(host.reserved[&flow(0)].deadline, host.earliest);
    // Asked for again, it is the same one.
    host.earliest = Nanos(0);
    assert_eq!(give(&mut router, 1, &resv(flow(0), 2e5, 3_600, Kind::Resv), &mut host), []);
    assert_eq!(host.reserved[&flow(0)].deadline, Nanos(14_500_500));
    // Without slack it is another one, and there is room by now.
    let out = give(&mut router, 1, &resv(flow(0), 2e5, 0, Kind::Resv), &mut host);
    assert_eq!(kinds(&out), [Kind::Resv]);
    assert_eq!(host.reserved[&flow(0)].deadline, Nanos(11_001_000));
}

#[test]
fn there_are_never_more_flows_than_are_kept() {
    let (mut router, mut host) = (router(1), Machine::new(0));
    for number in 0..Router::MOST as u16 {
        give(&mut router, 0, &path(flow(number), SENDER, Kind::Path), &mut host);
    }
    let bytes = path(flow(Router::MOST as u16), SENDER, Kind::Path).bytes().unwrap();
    let arrival = Arrival { source: SENDER, ttl: 64, bytes: &bytes };
    assert_eq!(router.receive(Nanos(0), arrival, &mut host), Err(Discard::TooMany));
    give(&mut router, 0, &path(flow(3), SENDER, Kind::Path), &mut host);
}

#[test]
fn flows_that_are_not_served() {
    let unserved = |change: fn(&mut Flow)| {
        let mut flow = flow(0);
        change(&mut flow);
        let bytes = path(flow, SENDER, Kind::Path).bytes().unwrap();
        let arrival = Arrival { source: SENDER, ttl: 64, bytes: &bytes };
        router(1).receive(Nanos(0), arrival, &mut Machine::new(1)).is_err()
    };
    assert!(!unserved(|_| {}));
    assert!(!unserved(|flow| flow.sender.port = 0));
    assert!(unserved(|flow| flow.session.destination = [239, 1, 1, 1].into()));
    assert!(unserved(|flow| flow.session.destination = WAN));
    assert!(unserved(|flow| flow.session.destination = [192, 0, 2, 1].into()));
    assert!(unserved(|flow| flow.session.protocol = 0));
    assert!(unserved(|flow| flow.session.protocol = 1));
    assert!(unserved(|flow| flow.session.port = 0));
}

#[derive(Clone, Debug)]
enum Event {
    Message(Message),
    Wait(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let flow = || (0u16..3).prop_map(flow);
    let hops = prop_oneof![Just(SENDER), Just(Ipv4Addr::new(10, 0, 1, 9))];
    let paths = prop_oneof![4 => Just(Kind::Path), 1 => Just(Kind::PathTear)];
    let resvs = prop_oneof![4 => Just(Kind::Resv), 1 => Just(Kind::ResvTear)];
    let rates = prop_oneof![Just(1e4f32), Just(2e5), Just(4e5)];
    prop_oneof![
        (flow(), hops, paths)
            .prop_map(|(flow, previous, kind)| Event::Message(path(flow, previous, kind))),
        (flow(), rates, 0u32..20_000, resvs)
            .prop_map(|(flow, rate, slack, kind)| Event::Message(resv(flow, rate, slack, kind))),
        (0u64..100).prop_map(|seconds| Event::Wait(seconds * SECOND)),
    ]
}

proptest! {
    /// Whatever comes, the machine has reserved what the router says, and nothing in the end.
    #[test]
    fn the_link_has_what_the_states_say(
        events in proptest::collection::vec(event(), 0..60),
        most in 0usize..4,
        earliest in 0u64..20_000_000,
        seed in any::<u64>(),
    ) {
        let (mut router, mut host) = (router(seed), Machine::new(most));
        host.earliest = Nanos(earliest);
        let mut now = 0;
        for event in events {
            match event {
                Event::Message(message) => {
                    let bytes = message.bytes().unwrap();
                    let arrival = Arrival { source: SENDER, ttl: 64, bytes: &bytes };
                    if let Ok(out) = router.receive(Nanos(now), arrival, &mut host) {
                        read(&out);
                    }
                }
                Event::Wait(time) => {
                    now += time;
                    read(&router.tick(Nanos(now), &mut host));
                    prop_assert!(router.next_timer().is_none_or(|next| next > Nanos(now)));
                }
            }
            let said = router.flows().filter_map(|(flow, it)| Some((*flow, it?.clone())));
            prop_assert_eq!(said.collect::<BTreeMap<_, _>>(), host.reserved.clone());
        }
        router.end(&mut host);
        prop_assert!(host.reserved.is_empty() && router.flows().count() == 0);
    }
}
