//! Link types of captures: contents of frames, their lengths, and refusals.

use laxity_plan::encapsulation::{Inside, Opaque};
use laxity_plan::matching::{Headers, Ports};
use laxity_plan::model::Overhead;
use proptest::prelude::*;

use super::recordings::{arrival, av_plan, read, refusal, remarks_of};
use crate::source::Remarks;
use crate::source::links::{look, named, read as kinds};
use crate::source::tests::testing::{pcap, udp};

/// What stands before a packet of IPv4 in a frame of a link of this type, and what behind it.
pub(super) fn before_and_behind() -> Vec<(u32, Vec<u8>, Vec<u8>)> {
    let snap = [0xaa, 0xaa, 0x03, 0, 0, 0, 8, 0];
    let cooked = [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0][..], &[8, 0]].concat();
    let cooked2 = [&[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6][..], &[2, 0, 0, 0, 0, 1, 0, 0]].concat();
    let wifi = |kind: u8, flags: u8, more: usize| {
        [&[kind, flags, 0, 0][..], &[2; 18], &[0, 0], &vec![0; more]].concat()
    };
    let radiotap = |header: &[u8], frame: Vec<u8>| [header, &frame, &snap].concat();
    let plain: &[u8] = &[0, 0, 8, 0, 0, 0, 0, 0];
    // The time, the flags with one of a checksum, and another word of flags.
    let flags: &[u8] = &[
        0, 0, 32, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0, 0, 0,
        0, 0, 0, 0,
    ];
    let padded: &[u8] = &[0, 0, 9, 0, 2, 0, 0, 0, 0x20];
    let prism = |order: fn(u32) -> [u8; 4]| {
        [&order(0x44)[..], &order(144), &[0; 136], &wifi(0x08, 1, 0), &snap].concat()
    };
    let direct = |types: &[u32]| types.iter().map(|of| (*of, vec![], vec![])).collect::<Vec<_>>();
    let mut links = direct(&[101, 12, 14, 228]);
    let rows: Vec<(u32, Vec<u8>)> = vec![
        (1, [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..], &[8, 0]].concat()),
        (113, cooked.clone()),
        (113, [&cooked[..14], &[0x81, 0, 0, 7, 8, 0]].concat()),
        (113, [&cooked[..14], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 30, 0, 0x21]].concat()),
        (113, [&cooked[..14], &[0, 4], &snap].concat()),
        (276, cooked2.clone()),
        (276, [&[0x88, 0x47], &cooked2[2..], &[0, 1, 1, 64]].concat()),
        (0, vec![2, 0, 0, 0]),
        (0, vec![0, 0, 0, 2]),
        (108, vec![0, 0, 0, 2]),
        (9, vec![0xff, 3, 0, 0x21]),
        (9, vec![0, 0x21]),
        (9, vec![0xff, 3, 2, 0x81, 0, 1, 1, 64]),
        (50, vec![0xff, 3, 0, 0x21]),
        (50, vec![0x0f, 0, 8, 0]),
        (104, vec![0x0f, 0, 8, 0]),
        (204, vec![1, 0xff, 3, 0, 0x21]),
        (51, vec![0x11, 0, 0, 1, 0, 30, 0, 0x21]),
        (105, [&wifi(0x08, 1, 0)[..], &snap].concat()),
        (105, [&wifi(0x88, 2, 2)[..], &snap].concat()),
        (105, [&wifi(0x08, 3, 6)[..], &snap].concat()),
        (127, radiotap(plain, wifi(0x08, 1, 0))),
        (127, radiotap(plain, wifi(0x88, 1, 2))),
        (127, radiotap(padded, wifi(0x88, 1, 4))),
        (119, prism(u32::to_le_bytes)),
        (119, prism(u32::to_be_bytes)),
        (100, snap.to_vec()),
        (10, [&[0x50; 13], &snap[..]].concat()),
        (138, [&[2; 16][..], &[8, 0]].concat()),
        (123, [&[2, 0, 0, 32][..], &snap].concat()),
        (107, vec![0x18, 0x41, 0x03, 0xcc]),
        (107, vec![0x18, 0x41, 0x03, 0x00, 0x80, 0, 0, 0, 8, 0]),
        (107, vec![0x18, 0x41, 8, 0]),
        (6, [&[0x10, 0x40][..], &[2; 12], &snap].concat()),
        (6, [&[0x10, 0x40][..], &[2; 6], &[0x82; 6], &[6, 0x30, 0, 1, 0, 2], &snap].concat()),
        (239, [&[2, 0, 0, 0][..], &[5, 0, 10, 0, 0, 0, 0, 0], &[32, 0, 9, 0]].concat()),
        (117, [&[61, 2, 1, 0][..], &[0; 60]].concat()),
        (109, [&[2, 0, 0, 0][..], &[0; 8]].concat()),
    ];
    links.extend(rows.into_iter().map(|(of, before)| (of, before, vec![])));
    links.push((127, radiotap(flags, wifi(0x08, 1, 0)), vec![9; 4]));
    links
}

#[test]
fn a_packet_is_found_and_is_as_long_on_all_links() {
    let packet = udp(1, 4000)[14..].to_vec();
    for (link_type, before, behind) in before_and_behind() {
        let frame = [&before[..], &packet, &behind].concat();
        let around = (before.len() + behind.len()) as u32;
        let arrived = read(&pcap(link_type, &[(0, 200 + around, &frame)]), &av_plan()).unwrap();
        let length = if link_type == 1 { 200 + around } else { 200 };
        assert_eq!(arrived, [arrival(0, 1, 0, length)], "{link_type}: {before:x?}");
    }
}

/// A log may have another byte order than its file.
#[test]
fn a_log_is_read_in_either_order_of_bytes() {
    let header = [&[2, 0, 0, 0][..], &[0, 5, 0, 10, 0, 0, 0, 0], &[0, 32, 0, 9]].concat();
    let frame = [&header[..], &udp(1, 4000)[14..]].concat();
    let file = pcap(239, &[(0, frame.len() as u32, &frame)]);
    assert_eq!(read(&file, &av_plan()).unwrap(), [arrival(0, 1, 0, 28)]);
}

#[test]
fn frames_of_80211_that_hide_their_packets_are_counted() {
    let packet = udp(1, 4000)[14..].to_vec();
    let frame = |kind: u8, flags: u8, quality: u8| {
        let header = [&[kind, flags, 0, 0][..], &[2; 18], &[0, 0], &[quality, 0]].concat();
        [&header[..], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &packet].concat()
    };
    let seen = frame(0x88, 1, 0);
    // Encrypted, aggregated, a beacon, data without data, an acknowledgement, a later fragment.
    let (encrypted, aggregated) = (frame(0x88, 0x41, 0), frame(0x88, 1, 0x80));
    let (beacon, null) = (frame(0x80, 0, 0), seen_null());
    let acknowledgement = vec![0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 1];
    let mut fragment = seen.clone();
    fragment[22] = 1;
    let all = [seen, encrypted, aggregated, beacon, null, acknowledgement, fragment];
    let frames: Vec<(u64, u32, &[u8])> =
        all.iter().map(|frame| (0, frame.len() as u32, &frame[..])).collect();
    let (arrivals, remarks) = remarks_of(&pcap(105, &frames), &av_plan());
    assert_eq!(arrivals, [arrival(0, 1, 0, packet.len() as u32)]);
    let mut expected = Remarks { unmatched: 6, ..Remarks::default() };
    expected.opaque[Opaque::EncryptedWifi as usize] = 1;
    expected.opaque[Opaque::AggregatedWifi as usize] = 1;
    assert_eq!(remarks, expected);
}

fn seen_null() -> Vec<u8> {
    [&[0x48, 1, 0, 0][..], &[2; 20]].concat()
}

#[test]
fn tunnels_are_counted_and_matched_by_their_outer_packets() {
    let mut gre = udp(1, 4000);
    gre[23] = 47;
    let (arrivals, remarks) = remarks_of(&pcap(1, &[(0, 100, &gre)]), &av_plan());
    assert_eq!(arrivals, []);
    assert_eq!((remarks.unmatched, remarks.opaque[Opaque::Tunnel as usize]), (1, 1));
}

#[test]
fn what_is_no_packet_on_a_link_is_no_reason_to_stop() {
    // LCP, a family that is not IP, IPv6 in a frame that holds nothing.
    let frames: [(u32, &[u8]); 3] = [(9, &[0xc0, 0x21]), (0, &[7, 0, 0, 0]), (105, &seen_null())];
    for (link_type, frame) in frames {
        let file = pcap(link_type, &[(0, frame.len() as u32, frame)]);
        assert_eq!(read(&file, &av_plan()).unwrap(), []);
    }
    let runt = pcap(113, &[(0, 16, &[&[0; 14][..], &[8, 0]].concat())]);
    assert_eq!(read(&runt, &av_plan()).unwrap(), []);
}

#[test]
fn a_link_that_is_not_read_is_named_beside_those_that_are() {
    let refused = refusal(&pcap(220, &[(0, 64, &[0; 64])]), &av_plan());
    let expected = "in: frame 1: it was recorded on a link of type 220 (USB_LINUX_MMAPPED): these are read: Ethernet (1), raw IP (101, ";
    assert!(refused.starts_with(expected), "{refused}");
    assert!(
        refusal(&pcap(150, &[(0, 64, &[0; 64])]), &av_plan()).contains("type 150 (private use)")
    );
    assert!(refusal(&pcap(4095, &[(0, 64, &[0; 64])]), &av_plan()).contains("type 4095: these"));
    assert!(kinds().contains("802.11 with radiotap (127)"), "{}", kinds());
}

/// Names are looked up by halving, so that they must be in order.
#[test]
fn every_link_that_is_read_has_a_name() {
    for link_type in (0..400).filter(|of| look(*of, &[]).is_some()) {
        // The numbers of BSD for raw IP and ATM are not among those of files.
        assert_eq!(named(link_type).is_empty(), [11, 12, 14].contains(&link_type), "{link_type}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_frame_of_any_link(
        link in any::<prop::sample::Index>(), kept in 0..200usize,
        bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0..300u32,
    ) {
        let links = before_and_behind();
        let (link_type, before, _) = &links[link.index(links.len())];
        let frame = [&before[..kept.min(before.len())], &bytes].concat();
        let content = look(*link_type, &frame).unwrap();
        let headers = Headers::within(&frame, &content.encapsulation);
        prop_assert!(headers.ip.is_none() || content.encapsulation.inside == Inside::Ip);
        prop_assert!((1..=length.max(1)).contains(&content.length(length, &Overhead::NONE)));
    }

    #[test]
    fn what_is_cut_short_has_no_other_headers(link in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>()) {
        let links = before_and_behind();
        let (link_type, before, _) = &links[link.index(links.len())];
        let frame = [&before[..], &udp(1, 4000)[14..]].concat();
        let content = |frame: &[u8]| Headers::within(frame, &look(*link_type, frame).unwrap().encapsulation);
        prop_assert_eq!(content(&frame).ports, Some(Ports { source: 1, destination: 4000 }));
        let short = content(&frame[..cut.index(frame.len())]);
        prop_assert!(short.ip.is_none() || short.ip == content(&frame).ip);
    }
}
