//! Congestion on a link, as hosts hear of it.

use std::path::Path;
use std::time::{Duration, Instant};

use etherparse::{Ipv4HeaderSlice, PacketBuilder};
use laxity::packet::Ecn;
use laxity::units::Nanos;
use laxity_forward::{Event, ds};
use laxity_linux::frames::{Backend, Side};
use laxity_live::Way;
use laxity_plan::Plan;

use crate::hosts::Hosts;
use crate::traffic::{scheduled, start};
use crate::wire::{receive, send, wire};

/// 60 packets are 240 ms.
const PLAN: &str = "version = 1
link.rate = '2mbit'
scheduler.kind = 'fifo'
[class.all]
queue = { kind = 'codel', limit = 400, target = '1ms', interval = '5ms', ecn = true }
";

/// A datagram with these bits of ECN.
fn frame(number: usize, ecn: etherparse::IpEcn) -> Vec<u8> {
    let header = etherparse::Ipv4Header {
        source: [10, 0, 0, 1],
        destination: [10, 0, 0, 2],
        time_to_live: 9,
        ecn,
        ..Default::default()
    };
    let [_, _, _, _, _, _, high, low] = number.to_be_bytes();
    let begin = PacketBuilder::ethernet2([6, 0xc0, 0, 0, high, low], [2, 0, 0, 0, 0, 1]);
    let ip = etherparse::IpHeaders::Ipv4(header, Default::default());
    let mut frame = Vec::new();
    begin.ip(ip).udp(4000, 9).write(&mut frame, &[7; 958]).expect("a frame");
    frame
}

/// A queue that is congested marks packets that are capable of that, and drops others.
#[test]
fn who_is_capable_of_it_hears_of_congestion_instead_of_losing_packets() {
    let Some(hosts) = Hosts::new() else { return };
    let plan = Plan::parse(PLAN, "plan.toml", Path::new("")).expect("a plan");
    let (forwarding, mut recorder) = start(hosts.ring(), [scheduled(&plan), Way::Plain]);
    let (mut near, mut far) = (wire(&hosts.a), wire(&hosts.b));
    for number in 0..60 {
        // ECT(0), not capable, ECT(1), not capable, and again.
        let [zero, one, two] = [0u8, 1, 2].map(|bits| bits.try_into().expect("two bits"));
        send(&mut near, &frame(number, [two, zero, one, zero][number % 4]));
    }
    assert_eq!(near.flush(Side::A).expect("sent"), 0);
    let mut came = Vec::new();
    let until = Instant::now() + Duration::from_millis(1500);
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
        receive(&mut far, &mut came);
    }
    forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");

    let (mut marked, mut dropped) = (0, 0);
    recorder.read(|report| match &report.event.event {
        Event::Sent(sent) => marked += usize::from(sent.packet.ecn == Ecn::Experienced),
        Event::Dropped(lost) => {
            assert_eq!(lost.packet.ecn, Ecn::NotCapable);
            dropped += 1;
        }
        _ => {}
    });
    let of = |ecn| came.iter().filter(|frame| ds::ecn(frame) == ecn).count();
    assert!(marked > 0 && dropped > 0, "{marked} {dropped}");
    assert_eq!(of(Ecn::Experienced), marked);
    assert!(of(Ecn::Capable) < 15 && of(Ecn::L4s) < 15, "some of either kind are marked");
    assert_eq!(of(Ecn::Capable) + of(Ecn::L4s) + marked, 30, "none that is capable is lost");
    assert_eq!(of(Ecn::NotCapable) + dropped, 30);
    for frame in &came {
        let header = Ipv4HeaderSlice::from_slice(&frame[14..]).expect("a header").to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
    }
}
