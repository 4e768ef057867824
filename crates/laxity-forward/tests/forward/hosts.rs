//! Hosts share a live link by their addresses, whatever the number of their flows.

use std::path::Path;

use etherparse::PacketBuilder;
use laxity::packet::Ecn;
use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, Settings};
use laxity_plan::Plan;
use laxity_plan::matching::Headers;

/// Flows of the first host; the second one has one.
const FLOWS: u64 = 8;
/// A packet takes a millisecond.
const TIME: u64 = 1_000_000;
const COUNT: u64 = 1_000;

/// What of the second host is sent, of all that is, while both send twice what the link takes.
fn share(scheduler: &str) -> f64 {
    let text = format!(
        "version = 1\nlink = {{ rate = \"8mbit\", max-packet = \"1000b\" }}\n\
         scheduler = {{ {scheduler} }}\n[class.all]\n"
    );
    let plan = Plan::parse(&text, "test.toml", Path::new(".")).expect("a plan");
    let mut forwarder = Forwarder::new(plan, Settings::default()).unwrap();
    let (mut sent, mut own) = (0, 0);
    for number in 0..COUNT {
        for (host, flow) in [(1, number % FLOWS), (2, 0)] {
            let mut frame = Vec::new();
            let builder = PacketBuilder::ethernet2([1; 6], [2; 6]);
            let builder = builder.ipv4([10, 0, 0, host], [10, 9, 9, host], 8);
            builder.udp(5_000 + flow as u16, 9).write(&mut frame, &[0; 958]).unwrap();
            let headers = Headers::from_ethernet(&frame);
            let handle = u64::from(host);
            let frame =
                Frame { headers, ecn: Ecn::NotCapable, length: 1_000, handle, ..Frame::default() };
            forwarder.arrive(Nanos(number * TIME), frame, &mut |_| {});
        }
        forwarder.poll(Nanos(number * TIME), &mut |event| {
            if let Event::Sent(packet) = event {
                sent += 1;
                own += u64::from(packet.packet.handle == 2);
            }
        });
    }
    assert!(sent >= COUNT - 1, "{sent}");
    own as f64 / sent as f64
}

#[test]
fn hosts_share_whatever_the_number_of_their_flows() {
    let patient = "rtt = \"1000s\"";
    for isolation in ["triple-isolate", "dual-srchost", "dual-dsthost"] {
        let share = share(&format!("kind = \"cake\", isolation = \"{isolation}\", {patient}"));
        assert!((share - 0.5).abs() < 0.02, "{isolation}: {share}");
    }
    let share = share(&format!("kind = \"cake\", isolation = \"flows\", {patient}"));
    assert!((share - 1.0 / 9.0).abs() < 0.02, "{share}");
}
