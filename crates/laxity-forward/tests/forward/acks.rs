//! Acknowledgements that later ones make superfluous do not wait for a slow link.

use std::path::Path;

use etherparse::{PacketBuilder, TcpHeader};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, Settings, ds};
use laxity_plan::Plan;
use laxity_plan::acks::AckTable;
use laxity_plan::matching::Headers;

const COUNT: u32 = 40;

/// A segment of a host's connection.
fn segment(host: u8, acknowledged: u32, payload: &[u8], is_fin: bool) -> Vec<u8> {
    let mut header = TcpHeader::new(80, 5_000, 7, 1_000);
    (header.ack, header.acknowledgment_number, header.fin) = (true, acknowledged, is_fin);
    let mut frame = Vec::new();
    PacketBuilder::ethernet2([1; 6], [2; 6])
        .ipv4([10, 0, 0, host], [10, 9, 9, 9], 9)
        .tcp_header(header)
        .write(&mut frame, payload)
        .unwrap();
    frame
}

/// Which of these segments are sent, by their places, where all of them come at once.
fn sent(filter: &str, segments: &[Vec<u8>]) -> Vec<u64> {
    let text = format!(
        "version = 1\nlink = {{ rate = \"1mbit\", max-packet = \"1514b\" }}\n\
         scheduler = {{ kind = \"cake\", ack-filter = \"{filter}\", rtt = \"1000s\" }}\n[class.all]\n"
    );
    let plan = Plan::parse(&text, "test.toml", Path::new(".")).expect("a plan");
    let mut forwarder = Forwarder::new(plan, Settings::default()).unwrap();
    assert_eq!(forwarder.filters_acks(), filter != "off");
    let mut acks = AckTable::new(1);
    let (mut sent, mut dropped) = (Vec::new(), 0);
    let mut sink = |event: &Event| match event {
        Event::Sent(packet) => sent.push(packet.packet.handle),
        Event::Dropped(packet) => {
            assert_eq!(packet.reason, DropReason::AckFilter);
            dropped += 1;
        }
        _ => {}
    };
    for (handle, bytes) in (0..).zip(segments) {
        let headers = Headers::from_ethernet(bytes);
        let ack = acks.tag(&headers, &bytes[14..]);
        let (ecn, length) = (ds::ecn(bytes), bytes.len() as u32);
        forwarder.arrive(
            Nanos(0),
            Frame { headers, ecn, ack, length, handle, ..Frame::default() },
            &mut sink,
        );
    }
    let mut next = forwarder.poll(Nanos(0), &mut sink);
    while let Some(time) = next {
        next = forwarder.poll(time, &mut sink);
    }
    assert_eq!(sent.len() + dropped, segments.len());
    sent
}

#[test]
fn the_last_acknowledgements_say_it_all() {
    let segments: Vec<_> =
        (0..COUNT).map(|number| segment(1, 1_000 * number, &[], false)).collect();
    let count = u64::from(COUNT);
    assert_eq!(sent("off", &segments).len(), segments.len());
    assert_eq!(sent("on", &segments), [count - 2, count - 1]);
    assert_eq!(sent("aggressive", &segments), [count - 1]);
}

#[test]
fn what_says_something_else_stays() {
    // Duplicates, data, and the end of a connection, of two hosts.
    let segments: Vec<_> = [1, 2]
        .into_iter()
        .flat_map(|host| {
            let ack = |acknowledged| segment(host, acknowledged, &[], false);
            let data = segment(host, 1_000, b"data", false);
            let end = segment(host, 4_000, &[], true);
            [ack(1_000), data, ack(2_000), ack(2_000), ack(2_000), ack(3_000), end]
        })
        .collect();
    let mut left = sent("aggressive", &segments);
    left.sort_unstable();
    let of_one: Vec<u64> = left.iter().copied().filter(|handle| *handle < 7).collect();
    // Every one of the duplicates went with one that came later.
    assert!(of_one.contains(&1) && of_one.contains(&6), "{left:?}");
    assert_eq!(left.len() % 2, 0, "{left:?}");
    assert!(of_one.len() < 7, "{left:?}");
}
