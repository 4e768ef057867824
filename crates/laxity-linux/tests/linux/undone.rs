//! Frames that are not finished when they are captured come out finished, also behind a VLAN tag,
//! which the kernel takes out of them and the backend puts back.

use std::process::Command;

use laxity_linux::frames::{Backend, Side};
use laxity_linux::interface::Interface;
use laxity_linux::packet::{Mmsg, Options, Ring};

use crate::laboratory::{Tap, bridged, ends, namespace_for_taps};

#[test]
fn recvmmsg_finishes_frames_behind_tags() {
    for bypass_qdisc in [false, true] {
        let options = Options { bypass_qdisc, ..Options::default() };
        finish(|ends| Mmsg::open(ends, &options).expect("opened"));
    }
}

#[test]
fn the_ring_finishes_frames_behind_tags() {
    finish(|ends| Ring::open(ends, &Options::default()).expect("opened"));
}

fn finish<B: Backend + Send>(open: impl FnOnce([&Interface; 2]) -> B + Send) {
    let Some(here) = namespace_for_taps() else { return };
    let taps = [Tap::unfinished(&here, "a", 1500), Tap::new(&here, "b", 1500)];
    let [a, b] = ends(&here);
    let mut backend = here.run(|| open([&a, &b])).expect("entered");
    let tags: [&[u8]; 3] = [&[], &[0x81, 0, 0x60, 5], &[0x88, 0xa8, 0, 6]];
    bridged(&mut backend, || tags.map(|tag| (one_checksum(&taps, tag), segments(&taps, tag))));
}

/// TCP within IP or GRE that a kernel has merged: what cannot be sent so is dropped and counted,
/// and what comes behind it passes.
#[test]
fn segments_within_tunnels_end_nothing() {
    let Some(here) = namespace_for_taps() else { return };
    let [from, to] = [Tap::unfinished(&here, "a", 1500), Tap::new(&here, "b", 1500)];
    let [a, b] = ends(&here);
    // Without a queueing discipline, as veth has none, the sender hears what becomes of a frame.
    let tc = || Command::new("tc").args("qdisc replace dev b root noqueue".split(' ')).status();
    if !here.run(tc).expect("entered").is_ok_and(|status| status.success()) {
        eprintln!("skipped: `tc` is not there");
        return;
    }
    for bypass_qdisc in [false, true] {
        let options = Options { bypass_qdisc, ..Options::default() };
        let open = || Mmsg::open([&a, &b], &options).expect("opened");
        let mut backend = here.run(open).expect("entered");
        bridged(&mut backend, || {
            for (protocol, header) in [(4, &[][..]), (47, &[0, 0, 8, 0][..])] {
                tunnelled(&from, protocol, header);
            }
            let plain = frame(&[], UDP, &[7; 100]);
            from.write(&[[0; 10].as_slice(), &plain].concat());
            while to.read().expect("what comes behind passes") != plain {}
        });
        assert!(backend.statistics(Side::B).expect("counted").refused > 0);
    }
}

/// Writes merged segments of TCP within a tunnel of this protocol, with this header.
fn tunnelled(from: &Tap, protocol: u8, header: &[u8]) {
    let mut segment = vec![0x12, 0x34, 0x56, 0x78, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 1, 0];
    segment.extend(pseudo_sum(TCP, 2520).to_be_bytes());
    segment.extend([0, 0]);
    segment.extend([9; 2500]);
    let inner = &frame(&[], TCP, &segment)[14..];
    let whole = frame(&[], protocol, &[header, inner].concat());
    let start = 14 + 20 + header.len() as u16 + 20;
    const TCP_IN_IPV4: u8 = 1;
    let undone = before([start + 20, 1000, start, 16], TCP_IN_IPV4);
    from.try_write(&[undone.as_slice(), &whole].concat());
}

const UDP: u8 = 17;
const TCP: u8 = 6;

fn one_checksum([from, to]: &[Tap; 2], tag: &[u8]) {
    let payload: Vec<u8> = (0..333).map(|at| at as u8).collect();
    let length = 8 + payload.len() as u16;
    let mut datagram = [[0x12, 0x34], [0x56, 0x78], length.to_be_bytes()].concat();
    datagram.extend(pseudo_sum(UDP, length).to_be_bytes());
    datagram.extend(&payload);
    let frame = frame(tag, UDP, &datagram);
    let start = 14 + tag.len() as u16 + 20;
    from.write(&[before([0, 0, start, 6], 0).as_slice(), &frame].concat());

    let finished = to.read().expect("it passes");
    let (headers, packet) = finished.split_at(14 + tag.len());
    assert_eq!((headers, finished.len()), (&frame[..14 + tag.len()], frame.len()));
    assert_eq!(packet[28..], payload, "tag {tag:02x?}");
    assert_eq!(sum(&packet[20..], pseudo_sum(UDP, length)), 0xffff, "tag {tag:02x?}");
}

fn segments([from, to]: &[Tap; 2], tag: &[u8]) {
    let payload: Vec<u8> = (0..2500).map(|at| (at % 251) as u8).collect();
    let mut segment = vec![0x12, 0x34, 0x56, 0x78, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 1, 0];
    let length = 20 + payload.len() as u16;
    segment.extend(pseudo_sum(TCP, length).to_be_bytes());
    segment.extend([0, 0]);
    segment.extend(&payload);
    let start = 14 + tag.len() as u16 + 20;
    const TCP_IN_IPV4: u8 = 1;
    let frame = frame(tag, TCP, &segment);
    from.write(&[before([start + 20, 1000, start, 16], TCP_IN_IPV4).as_slice(), &frame].concat());

    let mut arrived: Vec<u8> = Vec::new();
    for size in [1000, 1000, 500] {
        let finished = to.read().expect("it passes");
        let (headers, packet) = finished.split_at(14 + tag.len());
        assert_eq!(headers, &frame[..14 + tag.len()]);
        assert_eq!(packet.len(), 40 + size, "tag {tag:02x?}");
        assert_eq!(packet[2..4], (40 + size as u16).to_be_bytes());
        assert_eq!(sum(&packet[20..], pseudo_sum(TCP, 20 + size as u16)), 0xffff);
        arrived.extend(&packet[40..]);
    }
    assert_eq!(arrived, payload);
}

/// What is to be done: header length, segment size, where the sum begins, where it is put.
fn before(words: [u16; 4], segments: u8) -> [u8; 10] {
    const NEEDS_CHECKSUM: u8 = 1;
    let mut bytes = [0; 10];
    bytes[..2].copy_from_slice(&[NEEDS_CHECKSUM, segments]);
    bytes[2..].copy_from_slice(words.map(u16::to_ne_bytes).as_flattened());
    bytes
}

const FROM: [u8; 4] = [10, 0, 0, 1];
const TO: [u8; 4] = [10, 0, 0, 2];

fn frame(tag: &[u8], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend((20 + payload.len() as u16).to_be_bytes());
    packet.extend([0, 1, 0x40, 0, 64, protocol, 0, 0]);
    packet.extend([FROM, TO].concat());
    let checksum = !sum(&packet, 0);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    let addresses = [[2, 0, 0, 0, 0, 0x0b], [2, 0, 0, 0, 0, 0x0a]].concat();
    [&addresses, tag, &[8, 0], &packet, payload].concat()
}

fn pseudo_sum(protocol: u8, length: u16) -> u16 {
    let header = [FROM, TO, [0, protocol, length.to_be_bytes()[0], length.to_be_bytes()[1]]];
    sum(header.as_flattened(), 0)
}

/// The sum of RFC 1071.
fn sum(bytes: &[u8], start: u16) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |b| u32::from(*b)));
    let mut sum = words.sum::<u32>() + u32::from(start);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
