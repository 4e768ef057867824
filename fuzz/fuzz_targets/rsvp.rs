//! Messages of RSVP, one behind the other: each begins with the two bytes of its length. What is
//! read is written and read again, and a router follows it. Checksums are left out, so that what is
//! changed gets read.
#![no_main]

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use laxity::overhead::Overhead;
use laxity::units::Nanos;
use laxity_rsvp::guaranteed::Contract;
use laxity_rsvp::message::Message;
use laxity_rsvp::router::{Arrival, Flow};
use laxity_rsvp::{Host, Link, Refusal, Route, Router, Settings};

/// Every other subnet is behind the link, which has room for three flows.
#[derive(Default)]
struct Machine(BTreeSet<Flow>);

impl Host for Machine {
    fn route(&mut self, destination: Ipv4Addr) -> Option<Route> {
        let subnet = destination.octets()[2];
        let [delay, lateness] = [1_000_000, 5_000].map(Nanos);
        let overhead = Overhead::NONE;
        let link = Link { delay, lateness, bandwidth: 1e6, mtu: 1500, has_header: true, overhead };
        let address = [10, 0, subnet, 1].into();
        let link = (subnet % 2 == 0).then_some(link);
        Some(Route { address, interface: subnet.into(), link })
    }

    fn reserve(&mut self, flow: &Flow, contract: &Contract, _: Nanos) -> Result<(), Refusal> {
        let longest = contract.packet;
        assert!(contract.buckets.iter().all(|bucket| bucket.bucket >= longest));
        if self.0.len() == 3 {
            return Err(Refusal::Full);
        }
        assert!(self.0.insert(*flow));
        Ok(())
    }

    fn change(&mut self, flow: &Flow, contract: &Contract, _: Nanos) -> Result<(), Refusal> {
        assert!(self.0.contains(flow));
        Err(Refusal::Late(contract.deadline.saturating_add(Nanos(1))))
    }

    fn renew(&mut self, flow: &Flow, _: Nanos) -> bool {
        self.0.contains(flow)
    }

    fn release(&mut self, flow: &Flow) {
        assert!(self.0.remove(flow));
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut router = Router::new(Settings { refresh: Nanos(30_000_000_000), seed: 1 });
    let (mut host, mut rest, mut now) = (Machine::default(), bytes, Nanos(0));
    while let Some((length, behind)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_be_bytes(*length)).min(behind.len());
        let (message, others) = behind.split_at(length);
        rest = others;
        let mut message = message.to_vec();
        if let Some(checksum) = message.get_mut(2..4) {
            checksum.fill(0);
        }
        if let Ok(read) = Message::parse(&message) {
            let written = read.bytes().expect("no longer than what was read");
            let again = Message::parse(&written).expect("it was written");
            assert_eq!(again.bytes(), Some(written));
        }
        let arrival = Arrival { source: [10, 0, 1, 2].into(), ttl: 64, bytes: &message };
        let out = router.receive(now, arrival, &mut host).unwrap_or_default();
        now = now.saturating_add(Nanos(7_000_000_000));
        for sent in [out, router.tick(now, &mut host)].concat() {
            assert!(Message::parse(&sent.bytes).is_ok());
        }
        let reserved = router.flows().filter(|(_, contract)| contract.is_some()).count();
        assert_eq!(reserved, host.0.len());
    }
    router.end(&mut host);
    assert!(host.0.is_empty());
});
