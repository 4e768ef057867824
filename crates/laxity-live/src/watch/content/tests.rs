use laxity_forward::segment::{Offload, Segments};
use proptest::prelude::*;

use super::*;

const TCP: u8 = 6;
const UDP: u8 = 17;

fn keys(contents: &Contents, frame: &[u8]) -> Vec<Content> {
    cut(contents, frame, None)
}

fn cut(contents: &Contents, frame: &[u8], segments: Option<u16>) -> Vec<Content> {
    let mut all = Vec::new();
    contents.each_packet(frame, segments, |content| all.push(content));
    all
}

fn v4(protocol: u8, above: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend((20 + above.len() as u16).to_be_bytes());
    packet.extend([0x12, 0xff, 0x40, 0, 64, protocol, 0xaa, 0xbb, 10, 0, 0, 1, 10, 0, 0, 2]);
    [&[2; 12], &[8, 0][..], &packet, above].concat()
}

fn v6(protocol: u8, above: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((above.len() as u16).to_be_bytes());
    packet.extend([protocol, 64]);
    packet.extend([0xfd; 32]);
    [&[2; 12], &[0x86, 0xdd][..], &packet, above].concat()
}

fn udp(payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    [&[0x13, 0x88, 0x17, 0x70], &length[..], &[0xcc, 0xdd], payload].concat()
}

/// A segment with time stamps; its checksum is at 16.
fn tcp(flags: u8, payload: &[u8]) -> Vec<u8> {
    let ports_and_place = [0x13, 0x88, 0x17, 0x70, 0xff, 0xff, 0xff, 0, 0, 0, 0, 9];
    let rest = [0x80, flags, 1, 0, 0xee, 0xff, 0, 0];
    let options = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    [&ports_and_place[..], &rest, &options, payload].concat()
}

fn tagged(frame: &[u8], tag: [u8; 4]) -> Vec<u8> {
    [&frame[..12], &tag, &frame[12..]].concat()
}

#[test]
fn what_forwarders_change_does_not_tell_packets_apart() {
    let contents = Contents::default();
    let payload: Vec<u8> = (0..100).collect();
    for frame in [v4(UDP, &udp(&payload)), v4(TCP, &tcp(0x10, &payload))] {
        let same = keys(&contents, &frame);
        let checksum = if frame[23] == UDP { 34 + 6 } else { 34 + 16 };
        // Addresses of Ethernet, code point, hops, checksums.
        for byte in [0, 7, 15, 22, 24, 25, checksum, checksum + 1] {
            let mut changed = frame.clone();
            changed[byte] ^= 0x55;
            assert_eq!(keys(&contents, &changed), same, "byte {byte}");
        }
        let with_tag = keys(&contents, &tagged(&frame, [0x81, 0, 0, 7]));
        assert_eq!(with_tag[0].key, same[0].key);
        assert_eq!(with_tag[0].length, same[0].length + 4);
        let filled_up = [frame.as_slice(), &[0; 9]].concat();
        assert_eq!(keys(&contents, &filled_up)[0].key, same[0].key);
    }
}

#[test]
fn what_is_in_packets_tells_them_apart() {
    let contents = Contents::default();
    let payload: Vec<u8> = (0..100).collect();
    // The protocol, addresses, ports, identification or place in the stream, options, payload.
    let cases: [(Vec<u8>, &[usize]); 4] = [
        (v4(UDP, &udp(&payload)), &[19, 23, 29, 33, 35, 37, 42, 141]),
        (v4(TCP, &tcp(0x10, &payload)), &[23, 29, 33, 35, 37, 39, 43, 49, 60, 66, 165]),
        (v6(UDP, &udp(&payload)), &[20, 30, 50, 55, 57, 62, 161]),
        ([&[2; 12][..], &[8, 6], &[5; 28]].concat(), &[13, 14, 41]),
    ];
    for (frame, bytes) in cases {
        let same = keys(&contents, &frame)[0].key;
        for byte in bytes {
            let mut changed = frame.clone();
            changed[*byte] ^= 1;
            assert_ne!(keys(&contents, &changed)[0].key, same, "byte {byte} of {frame:02x?}");
        }
    }
}

#[test]
fn translated_packets_are_known_by_the_rest() {
    let (frame, contents) = (v4(UDP, &udp(b"voice")), Contents::new(true));
    let mut changed = frame.clone();
    for byte in [26, 27, 34, 35] {
        changed[byte] ^= 0x77;
    }
    assert_eq!(keys(&contents, &changed), keys(&contents, &frame));
    *changed.last_mut().expect("a byte") ^= 1;
    assert_ne!(keys(&contents, &changed), keys(&contents, &frame));
}

#[test]
fn a_syn_is_known_whatever_segments_it_is_clamped_to() {
    let contents = Contents::default();
    let syn = v4(TCP, &tcp(0x02, &[]));
    let mut clamped = syn.clone();
    clamped[60] ^= 1;
    assert_eq!(keys(&contents, &clamped), keys(&contents, &syn));
}

#[test]
fn what_is_not_ip_is_known_without_what_fills_it_up() {
    let contents = Contents::default();
    let arp = [&[2; 12][..], &[8, 6], &[5; 28]].concat();
    let on_the_wire = [&arp[..], &[0; 18]].concat();
    assert_eq!(keys(&contents, &arp)[0].key, keys(&contents, &on_the_wire)[0].key);
    assert_eq!(keys(&contents, &on_the_wire)[0].length, 60);
}

/// The frames that Linux cuts a frame into, each by itself.
fn each_by_itself(contents: &Contents, frame: &[u8], kind: u8, size: u16) -> Vec<Content> {
    let offload = Offload { checksum: None, gso_type: kind, gso_size: size };
    let segments = Segments::new(frame, &offload).expect("of its kind");
    let mut room = vec![0; segments.longest()];
    let part = |number| {
        let part = segments.write(number, &mut room).expect("there is one");
        keys(contents, part)[0]
    };
    (0..segments.count()).map(part).collect()
}

proptest! {
    /// Uncut, cut by a kernel and put together again are the same packets.
    #[test]
    fn a_frame_has_the_keys_of_what_it_is_cut_into(
        length in 1usize..9_000, size in 100u16..1_500, flags in any::<u8>(), tag in any::<bool>(),
    ) {
        let contents = Contents::default();
        let payload: Vec<u8> = (0..length).map(|at| ((at * 31) >> 3) as u8).collect();
        // A SYN carries nothing that is cut.
        let segment = tcp(flags & !2, &payload);
        for (frame, kind) in [
            (v4(TCP, &segment), 1),
            (v6(TCP, &segment), 4),
            (v4(UDP, &udp(&payload)), 5),
            (v6(UDP, &udp(&payload)), 5),
        ] {
            let frame = if tag { tagged(&frame, [0x81, 0, 0, 7]) } else { frame };
            let parts = each_by_itself(&contents, &frame, kind, size);
            prop_assert_eq!(cut(&contents, &frame, Some(size)), parts, "kind {}", kind);
        }
    }

    #[test]
    fn no_bytes_are_too_odd(mut frame in prop::collection::vec(any::<u8>(), 0..120), ip in 0u8..3) {
        if let (1.., Some(bytes)) = (ip, frame.get_mut(12..15)) {
            bytes.copy_from_slice(if ip == 1 { &[8, 0, 0x45] } else { &[0x86, 0xdd, 0x60] });
        }
        for segments in [None, Some(1), Some(50)] {
            prop_assert!(!cut(&Contents::default(), &frame, segments).is_empty());
        }
    }
}
